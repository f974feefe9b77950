"""Keeping secrets out of what is stored and shown."""

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

MASK = "***"
"""What stands where a secret stood."""

SHORTEST = 6
"""Values shorter than this are taken for placeholders (`none`, `x`): masking them would eat ordinary text."""

_SECRET_WORDS = frozenset({"key", "apikey", "token", "secret", "password", "authorization", "credentials", "bearer"})
_OF_MODELS = frozenset({"model", "api_base", "options"})
_SECRET_VARIABLE = re.compile(r"(API_?KEY|ACCESS_KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS)(_ID)?$")
_ADDRESS_USER = re.compile(r"(?<=://)[^/@\s]+(?=@)")
_ADDRESS_KEY = re.compile(r"(?i)(?<=[?&])([\w-]*(?:key|token|secret|password|signature|sig))=[^&\s\"'#]+")
_BEARER = re.compile(r"(?i)\b(bearer\s+)[\w.~+/=-]{6,}|\bsk-[\w-]{6,}")


def names_secret(name: str) -> bool:
    """Return whether a setting of this name holds a secret; `api_key_env` names a variable, which is none.

    >>> names_secret("api_key"), names_secret("api_key_env"), names_secret("max_tokens")
    (True, False, False)
    """
    words = re.split(r"[^a-z0-9]+", name.lower())
    return words[-1] != "env" and not _SECRET_WORDS.isdisjoint(words)


def without_secrets(value: Any) -> Any:
    """Return a copy of a tree of settings with the text under secret names masked, and users and keys in addresses.

    >>> without_secrets({"options": {"api_key": "abc", "seed": 1}, "api_base": "https://me:abc@host/v1"})
    {'options': {'api_key': '***', 'seed': 1}, 'api_base': 'https://***@host/v1'}
    """
    if isinstance(value, Mapping):
        return {
            name: MASK if isinstance(part, str) and names_secret(str(name)) else without_secrets(part)
            for name, part in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [without_secrets(part) for part in value]
    return _address(value) if isinstance(value, str) else value


def published(document: Any) -> Any:
    """Return a copy of a definition or manifest without the secrets of its models.

    Users and keys in addresses are masked in model strings, addresses and options only: a name, a domain or a question
    that looks like an address is the same wherever it stands. Text under secret names is masked everywhere.

    >>> published({"models": [{"name": "http://a@h", "model": "openai/x", "api_base": "http://a@h"}]})
    {'models': [{'name': 'http://a@h', 'model': 'openai/x', 'api_base': 'http://***@h'}]}
    """
    if isinstance(document, Mapping):
        of_model = isinstance(document.get("model"), str)
        return {
            name: without_secrets({name: part})[name]
            if (of_model and name in _OF_MODELS) or (isinstance(part, str) and names_secret(str(name)))
            else published(part)
            for name, part in document.items()
        }
    return [published(part) for part in document] if isinstance(document, (list, tuple)) else document


def masked(text: str, *, variable: str | None = None, options: Mapping[str, Any] | None = None) -> str:
    """Return text with every secret this process knows replaced by `***`.

    Known are the values of environment variables named like keys, of `variable`, of secret names in `options`, and
    anything written like a bearer token or like a user or a key in an address.
    """
    values = {value for name, value in os.environ.items() if name == variable or _SECRET_VARIABLE.search(name.upper())}
    values.update(_secrets_in(options or {}))
    for value in sorted(values, key=lambda value: (-len(value), value)):
        if len(value) >= SHORTEST:
            text = text.replace(value, MASK).replace(quote(value, safe=""), MASK)
    return _address(_BEARER.sub(lambda found: (found[1] or "") + MASK, text))


def _address(text: str) -> str:
    """Mask users in addresses, and keys in their queries."""
    return _ADDRESS_KEY.sub(lambda found: f"{found[1]}={MASK}", _ADDRESS_USER.sub(MASK, text))


def _secrets_in(settings: Any) -> Iterator[str]:
    if isinstance(settings, Mapping):
        for name, value in settings.items():
            if isinstance(value, str) and names_secret(name):
                yield value.removeprefix("Bearer ")
            else:
                yield from _secrets_in(value)
    elif isinstance(settings, (list, tuple)):
        for value in settings:
            yield from _secrets_in(value)
