"""What discussion does to a judge: whether it moves, towards whom, and how much the others weigh with it."""

import numpy as np

from coupled_arena.analysis.judges.company import others
from coupled_arena.analysis.judges.estimate import Estimate, Floats, mean_of
from coupled_arena.analysis.judges.slopes import slope
from coupled_arena.analysis.judges.table import Flags, Opinions

_UNHEARD = "it was not heard again after a discussion"


def moved(table: Opinions, *, level: float = 0.95) -> dict[str, Estimate]:
    """Return for every judge the share of verdicts that are others after all discussion, in [0, 1].

    Only verdicts given anew count: one that was carried says nothing of whether its judge would have moved.
    """
    looks, found = table.looks, {}
    told, changed = _changes(table)
    for name, rows in looks.by_judge():
        own = np.flatnonzero(told[rows]) + rows.start
        found[name] = mean_of(changed[own], looks.question[own], level=level, none=looks.why("last", _UNHEARD))
    return found


def moved_to_others(table: Opinions, *, level: float = 0.95) -> dict[str, Estimate]:
    """Return of every judge's moves the share that came nearer to the first majority of the others, in [0, 1]."""
    return _nearer(table, others(table, "alone")[1], level)


def moved_to_truth(table: Opinions, *, level: float = 0.95) -> dict[str, Estimate]:
    """Return of every judge's moves the share that came nearer to the truth, in [0, 1].

    From a side to a tie is nearer to the other side, and from a tie to a side is away from a tie.
    """
    return _nearer(table, table.truth[table.looks.battle], level)


def conformity(table: Opinions, *, level: float = 0.95) -> dict[str, Estimate]:
    """Return how far every judge's vote moves, in the first round of discussion, for each unit of the others' mean.

    Least squares of the change of its vote (1 for the side shown first, 0 for a tie, -1) on the mean vote of the others
    alone, with its own vote alone and an intercept beside it. 0 for a judge that does not listen; its own vote is
    beside it because a vote can only move away from where it stands.
    """
    looks, found = table.looks, {}
    heard, mean, own_vote = (
        2 * looks.shown(score) - 1 for score in (looks.heard, others(table, "alone")[0], looks.alone)
    )
    change, regressors = heard - own_vote, np.stack([mean, own_vote], axis=1)
    known = ~np.isnan(change) & ~np.isnan(mean)
    for name, rows in looks.by_judge():
        own = np.flatnonzero(known[rows]) + rows.start
        none = "the others' mean vote never varies beside its own" if len(own) else looks.why("last", _UNHEARD)
        found[name] = slope(change[own], regressors[own], None, looks.question[own], level=level, none=none)
    return found


def _changes(table: Opinions) -> tuple[Flags, Floats]:
    """Return which looks were told anew after discussion, and which of them moved, as 1 and 0."""
    looks = table.looks
    told = ~np.isnan(looks.alone) & ~np.isnan(looks.last) & ~looks.carried
    return told, (told & (looks.alone != looks.last)).astype(np.float64)


def _nearer(table: Opinions, goal: Floats, level: float) -> dict[str, Estimate]:
    looks, found = table.looks, {}
    told, changed = _changes(table)
    moves = (changed == 1) & ~np.isnan(goal)
    nearer = (np.abs(looks.last - goal) < np.abs(looks.alone - goal)).astype(np.float64)
    for name, rows in looks.by_judge():
        own = np.flatnonzero(moves[rows]) + rows.start
        none = "it never moved where this is known" if told[rows].any() else looks.why("last", _UNHEARD)
        found[name] = mean_of(nearer[own], looks.question[own], level=level, none=none)
    return found
