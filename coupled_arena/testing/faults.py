"""Faults on a share of all calls, which follow from a seed and the call and from nothing else."""

import hashlib
from dataclasses import dataclass

from coupled_arena.errors import ConfigurationError, Problem
from coupled_arena.testing import behaviours
from coupled_arena.testing.behaviours import Behaviour
from coupled_arena.testing.script import problems_of

PASSING: tuple[Behaviour, ...] = (
    behaviours.error(429, retry_after=0),
    behaviours.error(500),
    behaviours.error(502),
    behaviours.error(503),
    behaviours.reset(),
    behaviours.close(),
    behaviours.half_body(),
)
"""Faults after which the same request may succeed; none makes a client wait for its own time-out."""


@dataclass(frozen=True, slots=True)
class Faults:
    """Which requests fail before they reach their model's script.

    A call is everything in a request's body, so that repeated requests belong to one call. The chosen calls fail at
    their first 1 to `most_in_a_row` attempts, then never again. Whether a call is chosen, how often it fails and how is
    a function of the seed and the call: neither the order of arrival nor other calls matter.

    Example:
        >>> Faults(share=0.3, most_in_a_row=2, seed=1).fault(b"some call", attempt=3) is None
        True
    """

    share: float = 0.3
    """Share of the calls that fail at first, from 0 to 1."""
    most_in_a_row: int = 2
    """Most failed attempts of one call, at least 1."""
    seed: int = 0
    """Which calls; any whole number."""
    kinds: tuple[Behaviour | str, ...] = PASSING
    """What happens instead of an answer: one of these per attempt."""

    def __post_init__(self) -> None:
        problems = []
        if not 0 <= self.share <= 1:
            problems.append(Problem("Faults", "share", f"must be from 0 to 1, not {self.share}"))
        if self.most_in_a_row < 1:
            problems.append(Problem("Faults", "most_in_a_row", f"must be at least 1, not {self.most_in_a_row}"))
        if not self.kinds:
            problems.append(Problem("Faults", "kinds", "must name at least one behaviour"))
        problems += [Problem("Faults", "kinds", problem) for kind in self.kinds for problem in problems_of(kind)]
        if problems:
            raise ConfigurationError(problems)

    def fault(self, call: bytes, attempt: int) -> Behaviour | str | None:
        """Return what happens to an attempt (from 1) of a call, None for nothing."""
        if attempt > self.most_in_a_row or self._chance(call, "share") >= self.share:
            return None
        if attempt > 1 + int(self._chance(call, "length") * self.most_in_a_row):
            return None
        return self.kinds[int(self._chance(call, f"kind {attempt}") * len(self.kinds))]

    def _chance(self, call: bytes, name: str) -> float:
        """Return a number in [0, 1) that follows from the seed, the call and the name of what is decided."""
        text = f"{self.seed}\n{name}\n".encode()
        digest = hashlib.blake2b(text + call, digest_size=7, person=b"ca fake faults").digest()
        return int.from_bytes(digest) / (1 << 56)
