"""Battles where they most reduce the uncertainty of the ranking, until it is resolved."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from coupled_arena.coupling import noise_key, permutation
from coupled_arena.ratings.cells import Cells
from coupled_arena.ratings.fit import expected, fit
from coupled_arena.ratings.sequences import capital, threshold
from coupled_arena.records import Name
from coupled_arena.tournaments.schedules.goals import Goal, Relation, closed
from coupled_arena.tournaments.schedules.rule import NamedRule
from coupled_arena.tournaments.schedules.standings import Pairing, Standings

GROWTH = 4
"""A pair meets on a new question for every so many it met on, at least: what takes long is looked at less often."""

_DIGITS = 6
_VIRTUAL_TIES = 1.0

_Table = NDArray[np.float64]


class Adaptive(NamedRule):
    """Models meet where battles most reduce the uncertainty of the ranking, on fresh questions, until it is resolved.

    What is resolved is decided by confidence sequences on the scores per question of every pair, which hold at all
    looks and, by Bonferroni's inequality, for all pairs that can be asked about. A model that is above another one is
    taken to be above all below that: this assumes that the models have an order, and is what makes a ranking
    affordable.

    In each round every model plays at most one match, over `batch` questions, or a quarter of those that the pair met
    on already. Matches are chosen one by one: that which takes most from the expected misorder of the models, under a
    Bradley-Terry model with a weak prior, among the pairs that still matter and have questions left.

    Example:
        >>> Adaptive(top=1).next_round(Standings(("x", "y", "z"), seed=0, questions=40))
        (Pairing(a='x', b='y', questions=8),)
    """

    kind: Literal["adaptive"] = Field(default="adaptive", repr=False)
    """Name of the rule in a file."""
    confidence: float = Field(default=0.95, ge=0.5, lt=1)
    """Probability that nothing false is ever called resolved, at least."""
    top: int | None = Field(default=None, ge=1, le=10_000)
    """Only which models are the best so many is to be resolved; None is the whole ranking."""
    pair: tuple[Name, Name] | None = None
    """Only which of these two models is better is to be resolved."""
    batch: int = Field(default=8, ge=1, le=10_000)
    """On how many fresh questions a pair meets in a round, at least; one of each of eight domains by default."""
    rounds: int | None = Field(default=None, ge=1, le=1_000_000)
    """Rounds after which to stop in any case."""

    @model_validator(mode="after")
    def _one_target(self) -> Self:
        if self.top is not None and self.pair is not None:
            raise ValueError("give either top or pair, or neither for the whole ranking")
        if self.pair is not None and self.pair[0] == self.pair[1]:
            raise ValueError(f"pair has {self.pair[0]!r} twice; name two models")
        return self

    @property
    def target(self) -> str:
        """What is to be resolved, in words."""
        if self.pair is not None:
            return f"{self.pair[0]} against {self.pair[1]}"
        return "the ranking" if self.top is None else f"the top {self.top}"

    @property
    def always(self) -> tuple[str, ...]:
        """The two models that play in every match, where only these are to be told apart."""
        return self.pair or ()

    def comparisons(self, models: int) -> int:
        """Return how many pairs can be asked about, which the confidence is shared among."""
        return 1 if self.pair is not None else models * (models - 1) // 2

    def level(self, models: int) -> float:
        """Return the level of the sequence of one pair."""
        return 1 - (1 - self.confidence) / max(1, self.comparisons(models))

    def goal(self, names: Sequence[str]) -> Goal:
        """Return what is to be known of models in this order."""
        pair = None if self.pair is None else (names.index(self.pair[0]), names.index(self.pair[1]))
        return Goal(top=self.top, pair=pair)

    def matches(self, models: int) -> tuple[int, int]:
        """Return how many whole matches are played at most: in all, and by one model."""
        return self.comparisons(models), 1 if self.pair is not None else models - 1

    def next_round(self, standings: Standings) -> Sequence[Pairing]:
        """Return the pairings of the next round."""
        if self.rounds is not None and len(standings.rounds) >= self.rounds:
            return ()
        # In the first round nothing is known, and all pairs are worth the same: the first of this order are taken.
        key = noise_key(seed=standings.seed, scope=("schedule",), role=("adaptive",), label=("models",), part="order")
        names = sorted(standings.models)
        names = [names[place] for place in permutation(len(names), key)]
        met = Met.of(names, standings)
        return tuple(
            Pairing(min(names[i], names[j]), max(names[i], names[j]), questions)
            for i, j, questions in chosen(met, self.goal(names), self.level(len(names)), self.batch)
        )


@dataclass(frozen=True, slots=True, eq=False)
class Met:
    """What pairs of models did against each other; all tables have the shape (models, models)."""

    score: _Table
    """What the model of the row scored against that of the column, summed over questions."""
    questions: _Table
    """On how many questions they have a score, symmetric."""
    capital: _Table
    """Evidence that the model of the row is above that of the column, as `sequences.capital` gives it."""
    fresh: NDArray[np.intp]
    """On how many questions they have not met, symmetric."""

    @classmethod
    def of(cls, names: Sequence[str], standings: Standings) -> Self:
        """Return what the standings say of the models in this order."""
        size, place = len(names), {name: index for index, name in enumerate(names)}
        score, questions, evidence = (np.zeros((size, size)) for _ in range(3))
        fresh = np.full((size, size), standings.questions)
        for (a, b), count in standings.asked.items():
            i, j = place[a], place[b]
            fresh[i, j] = fresh[j, i] = standings.questions - count
        for (a, b), scores in standings.scores.items():
            i, j = place[a], place[b]
            questions[i, j] = questions[j, i] = len(scores)
            score[i, j] = sum(scores.values())
            score[j, i] = len(scores) - score[i, j]
            evidence[i, j], evidence[j, i] = both_sides(Counter(scores.values()))
        return cls(score, questions, evidence, fresh)

    def above(self, level: float) -> Relation:
        """Return who is known to be above whom, at this level for each pair, with all that follows from it."""
        return closed(self.capital >= threshold(level))


def both_sides(counts: Mapping[float, float]) -> tuple[float, float]:
    """Return the evidence that a mean is above one half, and that it is below, from how often each score was seen.

    >>> [round(side, 2) for side in both_sides({1.0: 8, 0.5: 3})]
    [4.31, -1.63]
    """
    values, seen = np.array([*counts]), np.array([*counts.values()], dtype=np.float64)
    return float(capital(values, seen)), float(capital(1 - values, seen))


def chosen(met: Met, goal: Goal, level: float, batch: int) -> list[tuple[int, int, int]]:
    """Return the matches of the next round, `(model, model, questions)`; none when there is nothing left to be known.

    Args:
        met: what pairs did so far; models stand in the order in which equally good matches are taken.
        goal: what is to be known.
        level: level of the sequence of one pair.
        batch: fewest questions of a match.
    """
    above = met.above(level)
    if goal.is_reached(above):
        return []
    open_pairs = goal.open_pairs(above) & (met.fresh > 0)
    if not open_pairs.any():
        return []
    looks = np.minimum(met.fresh, np.maximum(batch, np.ceil(met.questions / GROWTH).astype(np.intp)))
    if open_pairs.sum() == 2:
        ((i, j), _) = np.argwhere(open_pairs).tolist()
        return [(i, j, int(looks[i, j]))]
    strength, covariance = _rated(met)
    matters = goal.matters(strength)
    # Where estimates and evidence disagree on the best models there may be nothing open between these and the others.
    wanted = open_pairs & matters if (open_pairs & matters).any() else open_pairs
    worth = _worth(strength, covariance, matters, looks)
    first, second = np.nonzero(np.triu(wanted))
    order = np.argsort(-np.round(worth[first, second] / worth.max(), _DIGITS), kind="stable")
    free, found = np.ones(len(above), dtype=bool), []
    for i, j in zip(first[order].tolist(), second[order].tolist(), strict=True):
        if free[i] and free[j]:
            free[[i, j]] = False
            found.append((i, j, int(looks[i, j])))
    return found


def _rated(met: Met) -> tuple[_Table, _Table]:
    """Return log strengths and their covariance, from the curvature of the posterior."""
    first, second = np.nonzero(np.triu(met.questions))
    won, played = met.score[first, second], met.questions[first, second]
    cells = Cells(len(met.score), first, second, won, np.zeros_like(won), played, np.zeros((len(won), 0)))
    found = fit(cells, virtual_ties=_VIRTUAL_TIES)
    return found.strength, found.bread


def _worth(strength: _Table, covariance: _Table, matters: Relation, looks: NDArray[np.intp]) -> _Table:
    """Return how much each match is expected to take from the misorder of the pairs that matter.

    The misorder of a pair is how far the one that looks worse is expected to be above the other. It falls with the
    variance v of their difference by `phi(z) / (2 sqrt(v))` for each unit, phi being the normal density and z the
    difference in standard errors. A match of i and j with the information I on their difference takes
    `(c_a - c_b)^2 / (1 / I + v_ij)` from the variance of the difference of a and b, with c column i less column j of
    the covariance. Summed over all pairs this is a quadratic form of c, with one matrix for all matches.
    """
    difference = strength[:, None] - strength
    variance = np.maximum(_spread(covariance), np.finfo(np.float64).tiny)
    gain = np.where(matters, np.exp(-(difference**2) / (2 * variance)) / np.sqrt(variance), 0.0)
    form = covariance @ (np.diag(gain.sum(axis=1)) - gain) @ covariance
    said = np.maximum(looks, 1) * expected(difference, None).spread
    worth: _Table = _spread(form) / (1 / said + variance)
    return worth


def _spread(form: _Table) -> _Table:
    """Return the value of a quadratic form for the difference of every two models."""
    own = np.diag(form)
    found: _Table = own[:, None] + own - form - form.T
    return found
