"""A newcomer meets the models that are about as good as itself, as far as that is known."""

import math
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Literal

from pydantic import Field

from coupled_arena.records import Name
from coupled_arena.tournaments.schedules.rule import NamedRule
from coupled_arena.tournaments.schedules.scores import Scores
from coupled_arena.tournaments.schedules.standings import Pairing, Standings

_DIGITS = 6


class Insertion(NamedRule):
    """A newcomer meets ceil(log2(models)) of the others, one a round, itself counted among the models.

    The first opponent has the closest score, or, where scores or the newcomer's own are not known, the median rating;
    each further one has the closest rating of those it has not met, ratings refitted after every round. Equally close
    models go by name. The rule is Auto-Arena's (arXiv 2405.20267, section 3.3).

    Example:
        >>> field = Standings(("new", "x", "y", "z"), seed=0, ratings={"x": 1100.0, "y": 1000.0, "z": 900.0})
        >>> Insertion(newcomer="new").next_round(field)
        (Pairing(a='new', b='y', questions=None),)
    """

    kind: Literal["insertion"] = Field(default="insertion", repr=False)
    """Name of the rule in a file."""
    newcomer: Name
    """Name of the model that is inserted."""
    scores: Scores = None
    """Scores by model name, or a CSV, JSONL or JSON file of them, by which the first opponent is chosen."""

    @property
    def always(self) -> tuple[str, ...]:
        """The newcomer, which plays in every match."""
        return (self.newcomer,)

    def matches(self, models: int) -> tuple[int, int]:
        """Return how many matches are played: in all, and by one model, the newcomer."""
        rounds = max(1, math.ceil(math.log2(models)))
        return rounds, rounds

    def next_round(self, standings: Standings) -> Sequence[Pairing]:
        """Return the newcomer's next match."""
        others = [model for model in standings.models if model != self.newcomer]
        unmet = [model for model in others if not standings.met(self.newcomer, model)]
        if len(others) - len(unmet) >= self.matches(len(standings.models))[0]:
            return ()
        measure, own = self._measure(standings, others, began=len(unmet) < len(others))
        # Models of which nothing is known come last; what the last digits of two distances say is chance.
        opponent = min(unmet, key=lambda m: (m not in measure, round(abs(measure.get(m, own) - own), _DIGITS), m))
        return (Pairing(self.newcomer, opponent),)

    def _measure(
        self, standings: Standings, others: Sequence[str], *, began: bool
    ) -> tuple[Mapping[str, float], float]:
        """Return by what models are compared, and where on it the newcomer is taken to be."""
        ratings = standings.ratings or {}
        if began and self.newcomer in ratings:
            return ratings, ratings[self.newcomer]
        if self.scores and self.newcomer in self.scores:
            return self.scores, self.scores[self.newcomer]
        known = [ratings[model] for model in others if model in ratings]
        return ratings, median(known) if known else 0.0
