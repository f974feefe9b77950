"""How local models use this machine."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from coupled_arena.errors import ConfigurationError, Problem

MEBIBYTE = 1 << 20
"""Bytes in the unit of every `_mb` setting."""

_FALLBACK_MEMORY_MB = 4096
"""Memory budget where the machine does not say how much it has."""


@dataclass(frozen=True, slots=True)
class LocalSettings:
    """Threads and memory of local models; a value out of range raises `ConfigurationError` with every problem found.

    Only `context` can change a reply: a call that does not fit fails.

    Example:
        >>> LocalSettings(threads=1, cache_mb=64).cache_mb
        64
        >>> LocalSettings(threads=0)
        Traceback (most recent call last):
        coupled_arena.errors.ConfigurationError: LocalSettings: threads: must be at least 1, not 0
    """

    threads: int | None = None
    """Threads of the engine; None times one thread against all cores and keeps the faster."""
    context: int = 8192
    """Most tokens a sequence may hold, prompt and reply together; a model trained for fewer holds fewer."""
    cache_mb: int = 256
    """Mebibytes of prompt prefixes kept per model; 0 keeps none."""
    memory_mb: int | None = None
    """Mebibytes for all loaded models with their caches; None takes half of the machine's memory."""

    def __post_init__(self) -> None:
        least = {"threads": 1, "context": 64, "cache_mb": 0, "memory_mb": 1}
        problems = [
            Problem("LocalSettings", name, f"must be at least {bound}, not {value}")
            for name, bound in least.items()
            if (value := getattr(self, name)) is not None and value < bound
        ]
        if problems:
            raise ConfigurationError(problems)

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Self:
        """Return the settings that `COUPLED_ARENA_THREADS`, `_CONTEXT`, `_CACHE_MB` and `_MEMORY_MB` ask for.

        Raises:
            ConfigurationError: a variable is not a whole number, or out of range.

        Example:
            >>> LocalSettings.from_environment({"COUPLED_ARENA_THREADS": "1"}).threads
            1
        """
        values: dict[str, int] = {}
        problems = []
        for name in ("threads", "context", "cache_mb", "memory_mb"):
            variable = f"COUPLED_ARENA_{name.upper()}"
            text = environment.get(variable, "").strip()
            if text.isascii() and text.isdigit():
                values[name] = int(text)
            elif text:
                problems.append(Problem("environment", variable, f"must be a whole number, not {text!r}"))
        if problems:
            raise ConfigurationError(problems)
        return cls(**values)

    @property
    def memory_bytes(self) -> int:
        """The memory budget in bytes."""
        if self.memory_mb is not None:
            return self.memory_mb * MEBIBYTE
        try:
            return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
        except (AttributeError, ValueError, OSError):
            return _FALLBACK_MEMORY_MB * MEBIBYTE
