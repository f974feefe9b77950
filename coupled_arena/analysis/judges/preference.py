"""Whether a judge prefers its family, itself, or whoever names it."""

from typing import Literal

import numpy as np

from coupled_arena.analysis.judges.estimate import Estimate, Floats, mean_of
from coupled_arena.analysis.judges.table import Flags, Opinions, When

Favour = Literal["family", "self", "name"]
"""Whom a judge may favour: models of its family (itself included), itself, or the side whose text names it."""

_NEVER = {
    "family": "it never judged one model of its family against one of another",
    "self": "it never judged itself against another model",
    "name": "no text of just one side names it",
}


def preference(table: Opinions, favour: Favour, *, when: When = "alone", level: float = 0.95) -> dict[str, Estimate]:
    """Return by how much more every judge scores a favoured side than uninvolved judges do, in [-1, 1].

    The mean, over opinions on battles with a favoured side on one side only, of its score less the mean score that the
    uninvolved judges of the same battle in the same order give it: judges of neither side's family, or, for `name`,
    judges whom no text or both texts name. Without such a judge a battle does not count. What a favoured side is truly
    better by is in both scores and cancels, as does what all judges have in common, such as a bias for being first. A
    judge that sees less than the others scores a favoured side nearer to 1/2 by that alone.
    """
    looks = table.looks
    score = looks.scores(when)
    favoured, uninvolved = _sides(table, favour)
    uninvolved &= ~np.isnan(score)
    # New dice of one judge are no other judge: all looks at a battle in one order are compared.
    shared = looks.battle * 2 + looks.turned
    count = np.bincount(shared, uninvolved, table.battles * 2)[shared]
    total = np.bincount(shared, np.where(uninvolved, score, 0), table.battles * 2)[shared]
    given = np.divide(total, count, out=np.full(len(looks), np.nan), where=count > 0)
    more = np.where(favoured == 1, 1, -1) * (score - given)
    met, known, found = ~np.isnan(favoured) & ~np.isnan(score), ~np.isnan(favoured) & ~np.isnan(more), {}
    for name, rows in looks.by_judge():
        own = np.flatnonzero(known[rows]) + rows.start
        none = "no uninvolved judge judged the same battles in the same order" if met[rows].any() else _NEVER[favour]
        if favour == "name" and "named" in table.absent:
            none = "nothing is known of which texts name it"
        values, groups = more[own], looks.question[own]
        found[name] = mean_of(values, groups, level=level, none=none, bounds=(-1.0, 1.0))
    return found


def _sides(table: Opinions, favour: Favour) -> tuple[Floats, Flags]:
    """Return of every look the score of A at which the favoured side wins, NaN without one, and if it has no part."""
    looks = table.looks
    if favour == "name":
        return looks.named, np.isnan(looks.named)
    own, related = _relations(table)
    on_a, on_b = (related[looks.judge, side[looks.battle]] for side in (table.a, table.b))
    uninvolved = ~on_a & ~on_b
    if favour == "self":
        on_a, on_b = (own[looks.judge, side[looks.battle]] for side in (table.a, table.b))
    return np.where(on_a == on_b, np.nan, on_a.astype(np.float64)), uninvolved


def _relations(table: Opinions) -> tuple[Flags, Flags]:
    """Return which model is which judge itself, and which is of its family, each of shape (judges, models)."""
    shape = (len(table.judges), len(table.models))
    own = np.array([[judge == model for model in table.models] for judge in table.judges], dtype=np.bool_)
    families = [[bool(j) and j == m for m in table.model_family] for j in table.judge_family]
    return own.reshape(shape), own.reshape(shape) | np.array(families, dtype=np.bool_).reshape(shape)
