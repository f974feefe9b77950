"""What a server allows its clients."""

from dataclasses import dataclass, fields

from coupled_arena.errors import ConfigurationError, Problem


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Bounds on requests and on time; none of them changes a reply.

    A value below 1 raises `ConfigurationError` with every problem found.

    Example:
        >>> ServerSettings(grace_seconds=1).most_requests
        1024
    """

    most_bytes: int = 4 << 20
    """Largest body of a request."""
    most_requests: int = 1024
    """Completions in work at the same time, those that wait for a sequence included."""
    read_seconds: int = 30
    """Seconds a client may take to send a request."""
    write_seconds: int = 60
    """Seconds a client may take to read what was written for it."""
    grace_seconds: int = 10
    """Seconds for replies in work to end once the server is told to stop."""

    def __post_init__(self) -> None:
        problems = [
            Problem("ServerSettings", field.name, f"must be at least 1, not {value}")
            for field in fields(self)
            if (value := getattr(self, field.name)) < 1
        ]
        if problems:
            raise ConfigurationError(problems)
