"""Every judge beside the others of its committee, and beside the truth."""

import numpy as np

from coupled_arena.analysis.judges.estimate import Estimate, Floats, by_question, jackknife, mean_of
from coupled_arena.analysis.judges.slopes import slope, summed
from coupled_arena.analysis.judges.table import Looks, Opinions, When
from coupled_arena.analysis.labels import Codes

VALUES = np.array([0.0, 0.5, 1.0])
"""The scores of B, tie and A."""

ALONE = "no other judge judged what it judged"

SAME = "all verdicts are one and the same: chance alone agrees on every one"

_SURE = 1e-12


def agreement_with_others(table: Opinions, *, when: When = "alone", level: float = 0.95) -> dict[str, Estimate]:
    """Return for every judge the share of verdicts that are those of the majority of the others, in [0, 1].

    The majority is that of the other judges of the item: the verdict that most of them gave, a tie where several did.
    """
    return _with(table, others(table, when)[1], table.looks.scores(when), level, table.looks.why(when, ALONE))


def kappa_with_others(table: Opinions, *, when: When = "alone", level: float = 0.95) -> dict[str, Estimate]:
    """Return for every judge Cohen's kappa of its verdicts with those of the majority of the others, at most 1."""
    looks, found = table.looks, {}
    score, majority = looks.scores(when), others(table, when)[1]
    known = ~np.isnan(score) & ~np.isnan(majority)
    for name, rows in looks.by_judge():
        own = np.flatnonzero(known[rows]) + rows.start
        found[name] = kappa_of(score[own], majority[own], looks.question[own], level=level, none=looks.why(when, ALONE))
    return found


def discrimination(table: Opinions, *, when: When = "alone", level: float = 0.95) -> dict[str, Estimate]:
    """Return the slope of every judge's score of the side shown first on the mean score of the others of the item.

    0 for a judge that says the same whatever the others see, above 1 for one that tells sides apart more sharply than
    their mean does. The others' mean of a small committee is itself a matter of chance, which draws slopes towards 0:
    compare judges of one committee, not of committees of different sizes.
    """
    looks, found = table.looks, {}
    score, mean = (looks.shown(values) for values in (looks.scores(when), others(table, when)[0]))
    known = ~np.isnan(score) & ~np.isnan(mean)
    for name, rows in looks.by_judge():
        own = np.flatnonzero(known[rows]) + rows.start
        none = "the others' mean score never varies" if len(own) else looks.why(when, ALONE)
        found[name] = slope(score[own], mean[own][:, None], None, looks.question[own], level=level, none=none)
    return found


def accuracy(table: Opinions, *, when: When = "alone", level: float = 0.95) -> dict[str, Estimate]:
    """Return for every judge the share of verdicts that are the truth, in [0, 1], over battles where that is known."""
    return _with(
        table,
        table.truth[table.looks.battle],
        table.looks.scores(when),
        level,
        table.looks.why(when, "the truth is not known"),
    )


def ties(table: Opinions, *, when: When = "alone", level: float = 0.95) -> dict[str, Estimate]:
    """Return for every judge the share of verdicts that are ties, in [0, 1]."""
    return _with(table, np.full(len(table.looks), 0.5), table.looks.scores(when), level, "it gave no verdict")


def others(table: Opinions, when: When) -> tuple[Floats, Floats]:
    """Return the mean score and the majority of the others of every look's item, NaN without any; shape (looks,)."""
    looks = table.looks
    counts = counted(looks, looks.scores(when))[looks.item]
    valid = np.flatnonzero(~np.isnan(looks.scores(when)))
    counts[valid, (2 * looks.scores(when)[valid]).astype(np.intp)] -= 1
    number = counts.sum(axis=1)
    mean = np.divide(counts @ VALUES, number, out=np.full(len(looks), np.nan), where=number > 0)
    return mean, majority_of(counts)


def counted(looks: Looks, score: Floats) -> Floats:
    """Return how often B, tie and A were said of every item, shape (items, 3)."""
    return counted_by(looks.item, score, int(looks.item.max(initial=-1)) + 1)


def counted_by(at: Codes, score: Floats, size: int) -> Floats:
    """Return how often B, tie and A were said of everything that is labelled, shape (size, 3)."""
    return summed((score[:, None] == VALUES).astype(np.float64), at, size)


def majority_of(counts: Floats) -> Floats:
    """Return the score of the verdict with the most votes, a tie where several have; NaN without a vote.

    >>> majority_of(np.array([[0.0, 0, 2], [1, 0, 1], [0, 0, 0]]))
    array([1. , 0.5, nan])
    """
    most = counts.max(axis=1, keepdims=True)
    leading = (counts == most).sum(axis=1)
    found = np.where(leading > 1, 0.5, counts.argmax(axis=1) / 2)
    return np.where(most[:, 0] > 0, found, np.nan)


def kappa_of(a: Floats, b: Floats, groups: Codes, *, level: float, none: str) -> Estimate:
    """Return Cohen's kappa of two rows of scores without gaps."""
    cells = (2 * a).astype(np.intp) * 3 + (2 * b).astype(np.intp)
    sums, trials = by_question(groups, *(cells[:, None] == np.arange(9)).T.astype(np.float64))
    return jackknife(sums, _kappa, level=level, trials=trials, none=SAME if trials else none, bounds=(-1.0, 1.0))


def beyond_chance(observed: Floats, expected: Floats) -> Floats:
    """Return how far shares of agreement go beyond those expected by chance: 1 if always, NaN if chance always does."""
    beyond: Floats = np.where(1 - expected < _SURE, np.nan, (observed - expected) / (1 - expected))
    return beyond


def _kappa(sums: Floats) -> Floats:
    table = sums.reshape(*sums.shape[:-1], 3, 3)
    table = table / table.sum(axis=(-2, -1), keepdims=True)
    observed = np.trace(table, axis1=-2, axis2=-1)
    expected = (table.sum(axis=-1) * table.sum(axis=-2)).sum(axis=-1)
    return beyond_chance(observed, expected)


def _with(table: Opinions, wanted: Floats, score: Floats, level: float, none: str) -> dict[str, Estimate]:
    """Return for every judge the share of scores that are the wanted ones."""
    looks, found = table.looks, {}
    known, hit = ~np.isnan(score) & ~np.isnan(wanted), (score == wanted).astype(np.float64)
    for name, rows in looks.by_judge():
        own = np.flatnonzero(known[rows]) + rows.start
        found[name] = mean_of(hit[own], looks.question[own], level=level, none=none)
    return found
