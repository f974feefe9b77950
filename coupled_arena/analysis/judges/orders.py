"""What the order in which a judge was shown the sides does to its verdicts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from coupled_arena.analysis.judges.estimate import Estimate, Floats, mean_of
from coupled_arena.analysis.judges.table import Looks, Opinions, When
from coupled_arena.analysis.labels import Codes

GAPS = (50.0, 100.0, 200.0, 400.0)
"""Ends of the classes of rating gaps, in points."""

NO_FLIPS = "no battle has two verdicts, one in each order"


@dataclass(frozen=True, slots=True)
class GapFlips:
    """How often verdicts flip between models that are so far apart."""

    judge: str
    """The judge, or empty for all of them together."""
    low: float
    """Least rating gap of the class, in points."""
    high: float | None
    """The gap that the class stays below; None for the last class."""
    rate: Estimate
    """Share of battles whose verdict is not the same in both orders."""


def position_effect(table: Opinions, *, when: When = "alone", level: float = 0.95) -> dict[str, Estimate]:
    """Return by how much every judge favours the side it was shown first, in [-0.5, 0.5].

    With both orders it is the mean score of the side shown first less 1/2, over battles with a verdict in each order:
    which side is better cancels. Where no battle has both, it is the same mean over all verdicts, and `basis` says
    `either order` (it holds if orders were given by chance) or `one order` (it holds the lead of the side that is
    always first as well: being shown first and being better cannot be told apart).
    """
    looks = table.looks
    score, found = looks.scores(when), {}
    first, second = both_orders(looks, score)
    for name, rows in looks.by_judge():
        own = slice(*np.searchsorted(first, (rows.start, rows.stop)))
        values, groups, basis = (score[first] - score[second])[own] / 2, looks.question[first][own], "both orders"
        if not len(values):
            valid = np.flatnonzero(~np.isnan(score[rows])) + rows.start
            turned = looks.turned[valid]
            values, groups = np.where(turned, 1 - score[valid], score[valid]) - 0.5, looks.question[valid]
            basis = "either order" if turned.any() and not turned.all() else "one order"
        found[name] = mean_of(values, groups, level=level, none="it gave no verdict", bounds=(-0.5, 0.5), basis=basis)
    return found


def flip_rate(table: Opinions, *, when: When = "alone", level: float = 0.95) -> dict[str, Estimate]:
    """Return for every judge the share of battles whose verdict is not the same in both orders, in [0, 1].

    A tie in one order and a side in the other is a flip. Battles without a verdict in either order do not count.
    """
    looks = table.looks
    score, found = looks.scores(when), {}
    first, second = both_orders(looks, score)
    flipped = (score[first] != score[second]).astype(np.float64)
    for name, rows in looks.by_judge():
        own = slice(*np.searchsorted(first, (rows.start, rows.stop)))
        found[name] = mean_of(flipped[own], looks.question[first][own], level=level, none=NO_FLIPS)
    return found


def flips_by_gap(
    table: Opinions, ratings: Mapping[str, float], *, edges: Sequence[float] = GAPS, level: float = 0.95
) -> tuple[GapFlips, ...]:
    """Return flip rates by how far the two models' ratings are apart, of all judges and of each.

    Verdicts flip where a battle is close: a judge's rate says little without the gaps it was asked about.

    Args:
        table: the opinions; those alone count.
        ratings: points by model; battles of others are left out.
        edges: ends of the classes, in points, ascending.
        level: coverage of the intervals, between 0 and 1.
    """
    looks = table.looks
    first, second = both_orders(looks, looks.alone)
    strength = np.array([ratings.get(model, np.nan) for model in table.models])
    gap = np.abs(strength[table.a] - strength[table.b])[looks.battle[first]]
    at = np.where(np.isnan(gap), -1, np.searchsorted(np.asarray(edges), gap, side="right"))
    flipped = (looks.alone[first] != looks.alone[second]).astype(np.float64)
    ends, found = [0.0, *edges, None], []
    for code, judge in enumerate(("", *table.judges), start=-1):
        for place, (low, high) in enumerate(pairwise(ends)):
            own = (at == place) & ((looks.judge[first] == code) | (code < 0))
            if own.any():
                rate = mean_of(flipped[own], looks.question[first][own], level=level, none=NO_FLIPS)
                found.append(GapFlips(judge, low or 0.0, high, rate))
    return tuple(found)


def both_orders(looks: Looks, score: Floats) -> tuple[Codes, Codes]:
    """Return the rows of looks at one battle with one draw of dice that have a verdict in either order: AB, BA."""
    first, second = looks.pairs()
    valid = ~np.isnan(score[first]) & ~np.isnan(score[second])
    return first[valid], second[valid]
