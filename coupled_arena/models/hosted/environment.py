"""What environment variables say of hosted models: whether the key is there, and where they are reached."""

import os
import re
from collections.abc import Mapping

from coupled_arena.models.litellm_loader import load_litellm
from coupled_arena.models.masking import names_secret
from coupled_arena.models.model import Model

_ADDRESS = re.compile(r"(?P<stem>[A-Z0-9_]+?)_(?:API_)?(?:BASE|BASE_URL|URL|ENDPOINT|HOST)")
_SHORTEST = 4
# Names that LiteLLM's variables have where they do not begin with the provider's.
_OTHERWISE: Mapping[str, tuple[str, ...]] = {
    "azuretext": ("AZURE",),
    "bedrock": ("AWSBEDROCKRUNTIME",),
    "customopenai": ("OPENAI",),
    "huggingface": ("HF",),
    "textcompletionopenai": ("OPENAI",),
    "volcengine": ("ARK",),
    "watsonx": ("WX", "WML"),
}


def missing_key(model: Model) -> str | None:
    """Return the name of the environment variable that a hosted model lacks its key in, or None; never its value.

    A string without a provider needs none that could be told.
    """
    if model.kind != "hosted" or "/" not in model.model:
        return None
    litellm = load_litellm()
    if model.api_key_env:
        return None if os.environ.get(model.api_key_env) else model.api_key_env
    missing: list[str] = litellm.validate_environment(model=model.model, api_base=model.api_base)["missing_keys"]
    if not any(names_secret(name) for name in missing):
        return None
    alternatives = all(name.endswith("_API_KEY") for name in missing)
    return (" or " if alternatives else ", ").join(sorted(missing))


def addresses_of(model: Model) -> dict[str, str]:
    """Return the variables that may say where a model is reached, with their values; none if the model says it itself.

    LiteLLM reads `OPENAI_BASE_URL` or `OPENAI_API_BASE` for `openai/...`, and so on for others. Which one it takes is
    not asked: a variable too many does no harm where addresses tell servers apart.
    """
    if model.api_base:
        return {}
    # It reads the `.env` file of the working folder when it is loaded: before, an address could be missing here.
    load_litellm()
    provider = re.sub("[^a-z0-9]", "", model.model.partition("/")[0].lower())
    return {
        name: value
        for name, value in sorted(os.environ.items())
        if value and (found := _ADDRESS.fullmatch(name)) and _belongs(found["stem"], provider)
    }


def _belongs(stem: str, provider: str) -> bool:
    stem = stem.replace("_", "")
    if stem in _OTHERWISE.get(provider, ()) or stem.lower() == provider:
        return True
    shorter, longer = sorted((stem.lower(), provider), key=len)
    return len(shorter) >= _SHORTEST and longer.startswith(shorter)
