"""How many requests a provider allows."""

from collections.abc import Mapping
from fnmatch import fnmatchcase

from pydantic import Field

from coupled_arena.records import Given


class Limit(Given):
    """What models that share a limit may send together; None is no bound."""

    concurrency: int | None = Field(default=None, ge=1, le=100_000)
    """Requests in flight."""
    requests_per_minute: int | None = Field(default=None, ge=1)
    """Requests in any 60 seconds."""
    tokens_per_minute: int | None = Field(default=None, ge=1)
    """Tokens read and written in any 60 seconds."""


def patterns_for(name: str, limits: Mapping[str, Limit]) -> list[str]:
    """Return the patterns that fit a model string, the narrowest (longest) first.

    Patterns are those of `fnmatch`, upper and lower case kept apart: `*`, `?` and `[...]` stand for more than
    themselves, and `*` also for `/`.

    >>> patterns_for("openai/gpt-4o", {"*": Limit(), "openai/*": Limit(), "OpenAI/*": Limit()})
    ['openai/*', '*']
    """
    return sorted((pattern for pattern in limits if fnmatchcase(name, pattern)), key=lambda text: (-len(text), text))
