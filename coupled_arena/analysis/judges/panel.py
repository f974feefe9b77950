"""How far the judges of a committee agree, beyond chance and beyond what they share."""

import numpy as np

from coupled_arena.analysis.judges.company import SAME, beyond_chance, counted
from coupled_arena.analysis.judges.estimate import Estimate, Floats, by_question, jackknife, ratio_of
from coupled_arena.analysis.judges.slopes import summed
from coupled_arena.analysis.judges.table import Flags, Opinions, When
from coupled_arena.analysis.labels import Codes

NO_PAIRS = "no battle has two verdicts in one order"

_SURE = 1e-12


def agreement(table: Opinions, *, when: When = "alone", level: float = 0.95) -> Estimate:
    """Return the share of pairs of judges that say the same of one battle in one order, in [0, 1]."""
    counts, groups = _items(table, when)
    labels = counts.sum(axis=1)
    alike = (counts * (counts - 1)).sum(axis=1)
    sums, _ = by_question(groups, alike, labels * (labels - 1))
    return ratio_of(sums, level=level, trials=int(labels @ (labels - 1)) // 2, none=table.looks.why(when, NO_PAIRS))


def fleiss(table: Opinions, *, when: When = "alone", level: float = 0.95) -> Estimate:
    """Return Fleiss' kappa of the committee, at most 1.

    The mean over items of the share of agreeing pairs, beyond what labels drawn from the shares of all verdicts would
    agree on (Fleiss 1971, Psychological Bulletin 76). Committees may differ from item to item; where their sizes do,
    `basis` says so, since Fleiss knew one size only.
    """
    counts, groups = _items(table, when)
    labels = counts.sum(axis=1)
    alike = (counts * (counts - 1)).sum(axis=1) / (labels * (labels - 1))
    sums, trials = by_question(groups, np.ones(len(labels)), alike, *counts.T)

    def kappa(sums: Floats) -> Floats:
        shares = sums[..., 2:] / sums[..., 2:].sum(axis=-1, keepdims=True)
        return beyond_chance(sums[..., 1] / sums[..., 0], (shares**2).sum(axis=-1))

    none = SAME if trials else table.looks.why(when, NO_PAIRS)
    basis = "committees of one size" if len(np.unique(labels)) < 2 else "committees of several sizes"
    return jackknife(sums, kappa, level=level, trials=trials, none=none, bounds=(-1.0, 1.0), basis=basis)


def alpha(table: Opinions, *, when: When = "alone", level: float = 0.95) -> Estimate:
    """Return Krippendorff's alpha of the committee for nominal labels, at most 1; missing verdicts are let be.

    As `analysis.krippendorff_alpha`, with the interval of this study.
    """
    counts, groups = _items(table, when)
    labels = counts.sum(axis=1)
    alike = (counts * (counts - 1)).sum(axis=1) / (labels - 1)
    sums, trials = by_question(groups, alike, *counts.T)

    def coefficient(sums: Floats) -> Floats:
        shares, total = sums[..., 1:], sums[..., 1:].sum(axis=-1)
        chance = (shares * (shares - 1)).sum(axis=-1) / (total * (total - 1))
        return beyond_chance(sums[..., 0] / total, chance)

    none = SAME if trials else table.looks.why(when, NO_PAIRS)
    return jackknife(sums, coefficient, level=level, trials=trials, none=none, bounds=(-1.0, 1.0))


def effective_judges(table: Opinions, *, when: When = "alone", level: float = 0.95) -> Estimate:
    """Return how many judges with independent errors would be worth as much as the committee.

    `n / (1 + (n - 1) r)` for committees of n judges on average and r the mean correlation of two judges' errors: the
    mean product of two judges' residuals on one item over their mean square. Residuals are scores less the truth, where
    it is known of every battle that counts, else less the mean score of the pair of models; either is told of the side
    shown first and taken about each judge's own mean, so that a constant bias for it is no error in common. Without the
    truth, what makes all judges see one and the same battle alike counts as dependence, and the number is a lower
    bound. Above n where judges err in opposite ways.
    """
    looks = table.looks
    score = looks.scores(when)
    known = ~np.isnan(score)
    truth = table.truth[looks.battle]
    basis = "truth"
    if np.isnan(truth[known]).any() or not known.any():
        truth, basis = _of_pair(table, score, known), "pairs of models"
    own = np.flatnonzero(known)
    rest = _less_mean(looks.shown(score - truth + 0.5)[own], looks.judge[own])
    items = looks.item[own]
    size = int(items.max(initial=-1)) + 1
    count, total, squares = summed(np.stack([np.ones(len(own)), rest, rest**2], axis=1), items, size).T
    group = np.zeros(size, dtype=np.intp)
    group[items] = looks.question[own]
    paired = count >= 2
    pairs = count * (count - 1)
    columns = np.stack([np.ones(size), count, pairs, total**2 - squares, squares], axis=1)[paired]
    sums, trials = by_question(group[paired], *columns.T)

    def effective(sums: Floats) -> Floats:
        items, labels, pairs, products, square = np.moveaxis(sums, -1, 0)
        shared = (products / pairs) / (square / labels)
        number = labels / items
        worth = 1 + (number - 1) * shared
        worth = np.where(worth > _SURE, worth, np.nan)
        found: Floats = number / worth
        return found

    none = "judges never err" if trials else looks.why(when, NO_PAIRS)
    return jackknife(sums, effective, level=level, trials=trials, none=none, bounds=(0.0, np.inf), basis=basis)


def _items(table: Opinions, when: When) -> tuple[Floats, Codes]:
    """Return counts of B, tie and A of every item with two verdicts, and its question."""
    looks = table.looks
    counts = counted(looks, looks.scores(when))
    group = np.zeros(len(counts), dtype=np.intp)
    group[looks.item] = looks.question
    paired = counts.sum(axis=1) >= 2
    return counts[paired], group[paired]


def _of_pair(table: Opinions, score: Floats, known: Flags) -> Floats:
    """Return the mean score of A of every look's pair of models, over all judges."""
    looks = table.looks
    a, b = table.a[looks.battle], table.b[looks.battle]
    sign = np.where(a < b, 1.0, -1.0)
    pair = np.minimum(a, b) * len(table.models) + np.maximum(a, b)
    size = len(table.models) ** 2
    first = np.where(known, sign * (score - 0.5), 0.0)
    number = np.maximum(np.bincount(pair, known, size), 1)
    mean: Floats = 0.5 + sign * (np.bincount(pair, first, size) / number)[pair]
    return mean


def _less_mean(values: Floats, groups: Codes) -> Floats:
    mean = np.bincount(groups, values) / np.maximum(np.bincount(groups), 1)
    return values - mean[groups]
