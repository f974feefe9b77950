"""Models with close points meet: each round of a Swiss tournament is one matching problem."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Literal

import networkx as nx
from pydantic import Field

from coupled_arena.coupling import noise_key, permutation
from coupled_arena.tournaments.schedules.rule import NamedRule
from coupled_arena.tournaments.schedules.scores import Scores
from coupled_arena.tournaments.schedules.standings import Pairing, Standings, pairing

POINT_STEPS = 1000
"""Points are compared in steps of a thousandth."""


class Swiss(NamedRule):
    """Models with close points meet; nobody meets twice or sits out twice if that can be avoided.

    Each round is one minimum-cost perfect matching with lexicographic costs: fewest rematches, no second bye, closest
    points (a bye goes to the fewest points), closest in the order of points, ratings and names. The first round is
    paired by a seeded permutation, or by `scores`.
    """

    kind: Literal["swiss"] = Field(default="swiss", repr=False)
    """Name of the rule in a file."""
    rounds: int | None = Field(default=None, ge=1, le=1_000)
    """Number of rounds; None is ceil(log2(models))."""
    scores: Scores = None
    """Scores that seed the first round, by model name, or a CSV, JSONL or JSON file of them; models without one stand
    at the median."""

    def length(self, models: int) -> int:
        """Return the number of rounds."""
        return self.rounds or max(1, math.ceil(math.log2(max(2, models))))

    def matches(self, models: int) -> tuple[int, int]:
        """Return how many matches are played at most: in all, and by one model."""
        return self.length(models) * (models // 2), self.length(models)

    def next_round(self, standings: Standings) -> Sequence[Pairing]:
        """Return the pairings of the next round."""
        if len(standings.rounds) >= self.length(len(standings.models)):
            return ()
        order = self._order(standings)
        # One node per model, in seeding order, and one more that stands for the bye of an odd field.
        seats: list[str | None] = [*order, *([None] if len(order) % 2 else [])]
        costs = _costs(seats, standings)
        worst = max(costs.values(), default=0)
        graph = nx.Graph()
        for (i, j), cost in costs.items():
            graph.add_edge(i, j, weight=worst + 1 - cost)
        matched = {(min(edge), max(edge)) for edge in nx.max_weight_matching(graph, maxcardinality=True)}
        return tuple(pairing(seats[i], seats[j]) for i, j in costs if (i, j) in matched)

    def _order(self, standings: Standings) -> list[str]:
        """Return the models from the first seed to the last."""
        if standings.ratings is not None:
            ratings = standings.ratings
            return sorted(standings.models, key=lambda m: (-standings.points.get(m, 0.0), -ratings.get(m, 0.0), m))
        if self.scores:
            scores = self.scores
            median = sorted(scores.values())[len(scores) // 2]
            return sorted(standings.models, key=lambda m: (-scores.get(m, median), m))
        key = noise_key(seed=standings.seed, scope=("schedule",), role=("swiss",), label=("first round",), part="order")
        names = sorted(standings.models)
        return [names[index] for index in permutation(len(names), key)]


def _costs(seats: Sequence[str | None], standings: Standings) -> dict[tuple[int, int], int]:
    """Return the cost of every pairing of seats, which stand in seeding order.

    The terms are digits of one number: a unit of one term outweighs all lower terms of a whole round together.
    """
    size = len(seats)
    points = [round(POINT_STEPS * standings.points.get(model, 0.0)) if model else 0 for model in seats]
    per_point = 1 + size**3
    per_bye = per_point * (1 + size * max(points, default=0) ** 2)
    per_rematch = per_bye * (1 + len(standings.rounds) * size)
    met = Counter(frozenset((a, b)) for played in standings.rounds for a, b, _ in played)
    costs = {}
    for i, a in enumerate(seats):
        for j, b in enumerate(seats[i + 1 :], i + 1):
            if a is None:
                continue
            # A bye counts as meeting somebody without points who stands last.
            cost = (points[i] - points[j]) ** 2 * per_point + (i - j) ** 2
            cost += (per_bye if b is None else per_rematch) * met[frozenset((a, b))]
            costs[i, j] = cost
    return costs
