"""How many requests a provider allows."""

from pydantic import Field

from coupled_arena.records import Record


class Limit(Record):
    """What models that share a limit may send together; None is no bound."""

    concurrency: int | None = Field(default=None, ge=1, le=100_000)
    """Requests in flight."""
    requests_per_minute: int | None = Field(default=None, ge=1)
    """Requests in any 60 seconds."""
    tokens_per_minute: int | None = Field(default=None, ge=1)
    """Tokens read and written in any 60 seconds."""
