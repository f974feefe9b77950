"""Every model meets one that is the measure of all."""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from coupled_arena.records import Name
from coupled_arena.tournaments.schedules.rule import NamedRule
from coupled_arena.tournaments.schedules.standings import Pairing, Standings


class Against(NamedRule):
    """Every other model meets the baseline, in one round.

    This is the cheapest connected design, and the one that tells least: what it knows of two other models goes through
    the baseline alone, so that their difference is as uncertain as both of their scores together, and a further model
    adds nothing to what is known of the others.

    Example:
        >>> Against(baseline="y").next_round(Standings(("x", "y", "z"), seed=0))
        (Pairing(a='x', b='y', questions=None), Pairing(a='z', b='y', questions=None))
    """

    kind: Literal["against"] = Field(default="against", repr=False)
    """Name of the rule in a file."""
    baseline: Name
    """Name of the model that all others meet."""

    @property
    def always(self) -> tuple[str, ...]:
        """The baseline, which plays in every match."""
        return (self.baseline,)

    @property
    def caveat(self) -> str:
        """What this schedule cannot tell."""
        return (
            f"all meet {self.baseline} alone: two other models are compared through it only, and a further model "
            "tells nothing about them"
        )

    def matches(self, models: int) -> tuple[int, int]:
        """Return how many matches are played: in all, and by one model, the baseline."""
        return models - 1, models - 1

    def next_round(self, standings: Standings) -> Sequence[Pairing]:
        """Return the pairings of the one round."""
        if standings.rounds:
            return ()
        return tuple(Pairing(model, self.baseline) for model in standings.models if model != self.baseline)
