"""The only place that imports LiteLLM: late (it takes seconds), offline and quiet."""

import functools
import logging
import os
from typing import Any

LOGGERS = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy")
"""Loggers that would otherwise write two messages for every call."""


@functools.cache
def load_litellm() -> Any:
    """Import LiteLLM and return it; its price table comes from the package, not from the network.

    A `.env` file in the working folder is read by LiteLLM here, so keys are looked for only after this.
    """
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    import litellm

    litellm.suppress_debug_info = True
    for name in LOGGERS:
        logging.getLogger(name).setLevel(logging.WARNING)
    return litellm
