"""Every model meets every other."""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from coupled_arena.tournaments.schedules.rule import NamedRule
from coupled_arena.tournaments.schedules.standings import Pairing, Standings, pairing


class RoundRobin(NamedRule):
    """Every model meets every other once, by the circle method; an odd field has a bye each round.

    Example:
        >>> [p[:2] for p in RoundRobin().next_round(Standings(("x", "y", "z"), seed=0))]
        [('x', None), ('y', 'z')]
    """

    kind: Literal["round_robin"] = Field(default="round_robin", repr=False)
    """Name of the rule in a file."""

    def matches(self, models: int) -> tuple[int, int]:
        """Return how many matches are played: in all, and by one model."""
        return models * (models - 1) // 2, models - 1

    def next_round(self, standings: Standings) -> Sequence[Pairing]:
        """Return the pairings of the next round."""
        circle: list[str | None] = [*standings.models]
        if len(circle) % 2:
            circle.append(None)
        number = len(standings.rounds)
        if number >= len(circle) - 1:
            return ()
        turning = circle[1:]
        turned = [circle[0], *turning[len(turning) - number :], *turning[: len(turning) - number]]
        half = len(turned) // 2
        return tuple(pairing(x, y) for x, y in zip(turned[:half], reversed(turned[half:]), strict=True))
