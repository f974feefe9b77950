"""Whether a judge says the same again with new dice, and how much of two judges' disagreement that explains."""

from typing import NamedTuple

import numpy as np

from coupled_arena.analysis.judges.company import counted_by
from coupled_arena.analysis.judges.estimate import Estimate, Floats, by_question, jackknife, mean_of, ratio
from coupled_arena.analysis.judges.slopes import summed
from coupled_arena.analysis.judges.table import Opinions
from coupled_arena.analysis.labels import Codes

NEW_DICE = "new dice"
STATED = "stated probabilities"

_NONE = "no battle was judged twice by it with new dice, and it states no probabilities"
_NO_PAIRS = "no two judges rolled new dice, or stated probabilities, on one battle in one order"


class _Laws(NamedTuple):
    """What is known of the law of single verdicts: one row for a judge before a battle in one order."""

    judge: Codes
    shown: Codes
    """Battle and order."""
    question: Codes
    shares: Floats
    """Shares of B, tie and A, shape (rows, 3)."""
    repeats: Floats
    """Chance that two draws are the same, without bias."""
    basis: str


def repeatability(table: Opinions, *, level: float = 0.95) -> dict[str, Estimate]:
    """Return for every judge the chance that it says the same alone, with new dice on the same battle, in [0, 1].

    From several draws of its dice on one battle in one order (column `dice`) if there are any, else from the
    probabilities that it states: `sum_v p_v^2`.
    """
    laws, found = _laws(table), {}
    for code, name in enumerate(table.judges):
        own = laws.judge == code
        found[name] = mean_of(laws.repeats[own], laws.question[own], level=level, none=_NONE, basis=laws.basis)
    return found


def share_of_dice(table: Opinions, *, level: float = 0.95) -> Estimate:
    """Return how much of the disagreement of two judges alone is dice, in [0, 1].

    Two judges with the same law disagree as often as one of them disagrees with itself. Of the chance that two judges
    disagree on one battle in one order, this is the share that their own chances to disagree with themselves make up,
    half of either's: what is left is `1/2 sum_v (p_v - q_v)^2`, the judges' different minds. Estimated without
    bias from few draws, it may come out above 1 by chance.
    """
    laws = _laws(table)
    shown = np.unique(laws.shown, return_inverse=True)[1]
    size = int(shown.max(initial=-1)) + 1
    same = (laws.shares**2).sum(axis=1)
    columns = np.concatenate([np.stack([np.ones(len(same)), same, 1 - laws.repeats], axis=1), laws.shares], axis=1)
    judges, squares, dice, *shares = summed(columns, shown, size).T
    pairs = judges * (judges - 1)
    disagreement = pairs - (sum(share**2 for share in shares) - squares)
    group = np.zeros(size, dtype=np.intp)
    group[shown] = laws.question
    met = pairs > 0
    sums, trials = by_question(group[met], (dice * (judges - 1))[met], disagreement[met])
    none = "judges never disagree" if trials else _NO_PAIRS
    ends = (0.0, np.inf)
    return jackknife(sums, ratio, level=level, trials=trials, none=none, bounds=ends, basis=laws.basis)


def _laws(table: Opinions) -> _Laws:
    looks = table.looks
    shown = looks.battle * 2 + looks.turned
    valid = np.flatnonzero(~np.isnan(looks.alone))
    key = looks.judge[valid] * (2 * table.battles) + shown[valid]
    cells, at = np.unique(key, return_inverse=True)
    counts = counted_by(at, looks.alone[valid], len(cells))
    number = counts.sum(axis=1)
    twice = number > 1
    if twice.any():
        counts, number, cells = counts[twice], number[twice], cells[twice]
        repeats = (counts * (counts - 1)).sum(axis=1) / (number * (number - 1))
        judge, place = np.divmod(cells, 2 * table.battles)
        return _Laws(judge, place, table.question[place // 2], counts / number[:, None], repeats, NEW_DICE)
    stated = np.flatnonzero(~np.isnan(looks.chances).any(axis=1))
    shares = looks.chances[stated][:, ::-1]
    shares = shares / np.maximum(shares.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
    repeats = (shares**2).sum(axis=1)
    return _Laws(looks.judge[stated], shown[stated], looks.question[stated], shares, repeats, STATED)
