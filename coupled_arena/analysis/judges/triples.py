"""Whether judges contradict themselves: three models each preferred to the next, in a circle."""

from dataclasses import dataclass

import numpy as np

from coupled_arena.analysis.judges.estimate import Estimate, Floats, ratio_of
from coupled_arena.analysis.judges.table import Flags, Opinions, When
from coupled_arena.analysis.labels import Codes
from coupled_arena.ratings.tally import added

_MOST = 1 << 20
"""Numbers (questions x models x models) in one array, 8 MiB; there are a few at a time."""

_NONE = "no judge preferred one side in all three battles of three models on one question"


@dataclass(frozen=True, slots=True)
class Triples:
    """How often preferences among three models go in a circle."""

    rate: Estimate
    """Share of triples that are intransitive, in [0, 1]; a triple is one judge, one question and three models of which
    it preferred one in each pair."""
    chance: Estimate
    """The same share if the three preferences were independent, each with the share of wins that the pair has with this
    judge on other questions (1/2 where there is no other)."""


def intransitive(table: Opinions, *, when: When = "alone", level: float = 0.95) -> Triples:
    """Return how often single judges prefer three models in a circle on one question, beside what chance makes of it.

    A preference is that of all verdicts of a judge on one pair, question and replicate, in whatever order; where they
    balance, or are ties, there is none. Circles come from close pairs as flips do: a rate says something of judges only
    beside that of independent verdicts with the same shares.
    """
    sums = np.zeros((table.questions, 3))
    looks = table.looks
    for _, rows in looks.by_judge():
        scores = looks.scores(when)[rows]
        known = np.flatnonzero(~np.isnan(scores))
        _add(sums, table, looks.battle[rows][known], scores[known])
    trials = round(float(sums[:, 1].sum()))
    rate, chance = (
        ratio_of(sums[:, [part, 1]], level=level, trials=trials, none=_NONE) for part in (0, 2)
    )  # fmt: skip
    return Triples(rate, chance)


def _add(sums: Floats, table: Opinions, battle: Codes, score: Floats) -> None:
    """Add one judge's circles, triples and expected circles on every question."""
    models = len(table.models)
    a, b = table.a[battle], table.b[battle]
    low, high = np.minimum(a, b), np.maximum(a, b)
    first = np.where(a < b, score - 0.5, 0.5 - score)
    question = np.unique(table.question, return_inverse=True)[1][battle]
    group = np.unique(np.stack([question, table.draw[battle]]), axis=1, return_inverse=True)[1].reshape(-1)
    cells, at = np.unique((group * models + low) * models + high, return_inverse=True)
    lead = np.sign(added(at, first, len(cells)))
    strict = lead != 0
    cells, lead = cells[strict], lead[strict]
    of_question = np.zeros(int(group.max(initial=-1)) + 1, dtype=np.intp)
    of_question[group] = question
    group, pair = np.divmod(cells, models * models)
    share = _elsewhere(pair, of_question[group], lead > 0, models * models)
    low, high = np.divmod(pair, models)
    step = max(1, _MOST // models**2)
    for start in range(0, len(of_question), step):
        own = (group >= start) & (group < start + step)
        size = min(step, len(of_question) - start)
        local, i, j = group[own] - start, low[own], high[own]
        wins, chances = np.zeros((size, models, models)), np.zeros((size, models, models))
        wins[local, i, j], wins[local, j, i] = lead[own] > 0, lead[own] < 0
        chances[local, i, j], chances[local, j, i] = share[own], 1 - share[own]
        both = wins + wins.transpose(0, 2, 1)
        parts = (_circles(wins) / 3, _circles(both) / 6, _circles(chances) / 3)
        for column, part in enumerate(parts):
            np.add.at(sums[:, column], of_question[start : start + size], part)


def _elsewhere(pair: Codes, question: Codes, won: Flags, size: int) -> Floats:
    """Return the share of wins of every preference's pair on other questions, 1/2 where there is none."""
    wins, number = added(pair, won.astype(np.float64), size)[pair], np.bincount(pair, minlength=size)[pair]
    here = np.unique(np.stack([pair, question]), axis=1, return_inverse=True)[1].reshape(-1)
    wins, number = wins - added(here, won.astype(np.float64))[here], number - np.bincount(here)[here]
    share: Floats = np.divide(wins, number, out=np.full(len(pair), 0.5), where=number > 0)
    return share


def _circles(matrices: Floats) -> Floats:
    """Return the trace of the cube of every matrix, shape (matrices,)."""
    cubes: Floats = np.einsum("gij,gji->g", matrices @ matrices, matrices)
    return cubes
