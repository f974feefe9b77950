"""The only place that imports LiteLLM: late (it takes seconds), offline and quiet."""

import functools
import logging
import os
import warnings
from typing import Any

from coupled_arena.models.redirects import guard_clients

LOGGERS = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy")
"""Loggers that would otherwise write two messages for every call, and more for every odd answer."""

PYDANTIC_COMPLAINT = "Items? .* on TypedDict class"
"""How Pydantic's warnings of LiteLLM's types begin."""

ODD_ANSWER = "Pydantic serializer warnings"
"""How Pydantic's warnings begin of an answer that is not quite in OpenAI's form; what it comes to is an outcome."""

CANCELLED_EARLY = "coroutine '.*acompletion' was never awaited"
"""How Python's warning begins of a request that was given up before LiteLLM had begun it."""

BOUNDLESS = "100000"
"""What bounds of LiteLLM's own are set to: `concurrency` and `limits` bound the requests."""

_BOUNDS = (
    "AIOHTTP_CONNECTOR_LIMIT",
    "AIOHTTP_CONNECTOR_LIMIT_PER_HOST",
    # Its bookkeeping after a call, which would pile up behind hundreds of calls at once.
    "LOGGING_WORKER_CONCURRENCY",
)


@functools.cache
def load_litellm() -> Any:
    """Import LiteLLM and return it; its price table comes from the package, not from the network.

    A `.env` file in the working folder is read by LiteLLM here, so keys are looked for only after this.
    """
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    # Read once, when LiteLLM is imported: a program that did so before keeps 500 connections to a host.
    for name in _BOUNDS:
        os.environ.setdefault(name, BOUNDLESS)
    # Pydantic warns of types inside LiteLLM, now and whenever LiteLLM imports more of itself; no user can act on it.
    for message in (PYDANTIC_COMPLAINT, ODD_ANSWER):
        warnings.filterwarnings("ignore", message=message, category=UserWarning)
    warnings.filterwarnings("ignore", message=CANCELLED_EARLY, category=RuntimeWarning)
    import litellm

    litellm.suppress_debug_info = True
    guard_clients()
    for name in LOGGERS:
        logging.getLogger(name).setLevel(logging.ERROR)
    return litellm
