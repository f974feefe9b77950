"""What a schedule knows and what it answers with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol


class Pairing(NamedTuple):
    """Two models that meet in a round, or one that has a bye.

    Example:
        >>> Pairing("ada", "bob", questions=4)
        Pairing(a='ada', b='bob', questions=4)
    """

    a: str
    """The first model."""
    b: str | None
    """The second model; None for a bye."""
    questions: int | None = None
    """On how many questions they meet that they have not met on; None is all of them, or, if they have met on all, the
    next replicate of all."""


@dataclass(frozen=True, slots=True)
class Standings:
    """What a schedule may know: pure data, the same in every execution."""

    models: tuple[str, ...]
    """The models in listing order."""
    seed: int
    """The tournament's seed."""
    rounds: tuple[tuple[Pairing, ...], ...] = ()
    """The pairings of every round played."""
    points: Mapping[str, float] = field(default_factory=dict)
    """Pairing points: a match is worth one, split as its battles were (a tie is half a win)."""
    ratings: Mapping[str, float] | None = None
    """Ratings so far, or None before the first round."""
    questions: int = 0
    """How many questions there are."""
    asked: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """On how many questions two models, in order of their names, have met, void battles included."""
    scores: Mapping[tuple[str, str], Mapping[str, float]] = field(default_factory=dict)
    """What the first of two models, in order of their names, scored on each question that a battle of theirs was
    decided on, in [0, 1], in the order played: its mean over sides and replicates, a tie counted half."""

    def met(self, a: str, b: str) -> int:
        """Return how many matches two models have played."""
        return sum({a, b} == {pairing.a, pairing.b} for played in self.rounds for pairing in played)

    def byes(self, model: str) -> int:
        """Return how many byes a model has had."""
        return sum(pairing.a == model and pairing.b is None for played in self.rounds for pairing in played)

    def fresh(self, a: str, b: str) -> int:
        """Return how many questions there are on which two models have not met."""
        return self.questions - self.asked.get((min(a, b), max(a, b)), 0)


class Schedule(Protocol):
    """A rule that chooses the matches of the next round."""

    def next_round(self, standings: Standings) -> Sequence[Pairing]:
        """Return the pairings of the next round, or nothing when the tournament is over."""
        ...

    def matches(self, models: int) -> tuple[int, int]:
        """Return how many whole matches are played at most: in all, and by one model."""
        ...


def pairing(x: str | None, y: str | None) -> Pairing:
    """Return a pairing of two seats of which at most one is that of the bye, which comes second."""
    if x is None:
        x, y = y, x
    if x is None:
        raise ValueError("a bye cannot meet a bye")
    return Pairing(x, y)
