"""Whether a judge is won by the longer text."""

import numpy as np

from coupled_arena.analysis.judges.estimate import Estimate
from coupled_arena.analysis.judges.slopes import slope
from coupled_arena.analysis.judges.table import Opinions, When

_NONE = "no two battles of one pair of models differ in the ratio of their lengths"


def length_effect(table: Opinions, *, when: When = "alone", level: float = 0.95) -> dict[str, Estimate]:
    """Return by how much every judge's score of a side rises where its text is twice as long beside the other's.

    Least squares of the score on the binary logarithm of the ratio of lengths, with effects of the pair of models, of
    being shown first and of speaking first. Without the pair's effects, a better model that also writes more would look
    like a bias; what a longer text of one and the same model is better by still does.
    """
    looks, found = table.looks, {}
    score = looks.scores(when)
    a, b = table.a[looks.battle], table.b[looks.battle]
    # Everything is told of the model that comes first by name, which side it is on.
    sign = np.where(a < b, 1.0, -1.0)
    length = table.length[looks.battle] * sign
    shown = np.where(looks.turned, -sign, sign)
    pair = np.minimum(a, b) * len(table.models) + np.maximum(a, b)
    regressors = np.stack([length, shown, sign], axis=1)
    of_first, known = 0.5 + sign * (score - 0.5), ~np.isnan(score) & ~np.isnan(length)
    for name, rows in looks.by_judge():
        own = np.flatnonzero(known[rows]) + rows.start
        none = _NONE if len(own) else "the lengths of texts are not known"
        found[name] = slope(of_first[own], regressors[own], pair[own], looks.question[own], level=level, none=none)
    return found
