"""The only place that imports LiteLLM: late (it takes seconds), offline and quiet."""

import functools
import logging
import os
import warnings
from typing import Any

LOGGERS = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy")
"""Loggers that would otherwise write two messages for every call."""

PYDANTIC_COMPLAINT = "Items? .* on TypedDict class"
"""How Pydantic's warnings of LiteLLM's types begin."""


@functools.cache
def load_litellm() -> Any:
    """Import LiteLLM and return it; its price table comes from the package, not from the network.

    A `.env` file in the working folder is read by LiteLLM here, so keys are looked for only after this.
    """
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    # Pydantic warns of types inside LiteLLM, now and whenever LiteLLM imports more of itself; no user can act on it.
    warnings.filterwarnings("ignore", message=PYDANTIC_COMPLAINT, category=UserWarning)
    import litellm

    litellm.suppress_debug_info = True
    for name in LOGGERS:
        logging.getLogger(name).setLevel(logging.WARNING)
    return litellm
