"""Sampling settings: temperature and candidate filters."""

import math
from dataclasses import dataclass
from typing import Any

from coupled_arena.errors import ConfigurationError, Problem


def _is_number(value: Any) -> bool:
    return isinstance(value, float | int) and not isinstance(value, bool) and math.isfinite(value)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


@dataclass(frozen=True, slots=True)
class Sampling:
    """How tokens are drawn from a model's law; a bad value raises `ConfigurationError` with every problem found.

    Filters apply in the order of the fields, after the end tokens of a model were merged into one candidate.

    Example:
        >>> Sampling(temperature=1, top_k=50)
        Sampling(temperature=1.0, top_k=50, top_p=None, min_p=None)
        >>> Sampling(top_p=1.5)
        Traceback (most recent call last):
        coupled_arena.errors.ConfigurationError: Sampling: top_p: must lie in (0, 1] or be None, not 1.5
    """

    temperature: float = 0.7
    """Divides the logits; finite, at least 0; 0 is greedy."""
    top_k: int | None = None
    """Keep the k likeliest candidates, at least 1; None keeps all."""
    top_p: float | None = None
    """Keep the smallest set of likeliest candidates with at least this probability, in (0, 1]; None keeps all."""
    min_p: float | None = None
    """Keep candidates at least this likely relative to the likeliest, in (0, 1]; None keeps all."""

    def __post_init__(self) -> None:
        problems: list[tuple[str, str, Any]] = []
        if not _is_number(self.temperature) or self.temperature < 0:
            problems.append(("temperature", "must be finite and at least 0", self.temperature))
        if self.top_k is not None and not _is_count(self.top_k):
            problems.append(("top_k", "must be a whole number of at least 1 or None", self.top_k))
        problems.extend(
            (name, "must lie in (0, 1] or be None", value)
            for name, value in (("top_p", self.top_p), ("min_p", self.min_p))
            if value is not None and not (_is_number(value) and 0 < value <= 1)
        )
        if problems:
            raise ConfigurationError(
                [Problem("Sampling", name, f"{rule}, not {got!r}") for name, rule, got in problems]
            )
        # Equal settings must look equal wherever they are written down, so 1 becomes 1.0.
        for name in ("temperature", "top_p", "min_p"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, float(value))
