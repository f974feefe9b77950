"""How far every model's rank and rating move from one arm to another that was fought over the same questions."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coupled_arena.errors import RatingError
from coupled_arena.ratings.arms import in_arm, joined
from coupled_arena.ratings.bootstrap import bootstrap
from coupled_arena.ratings.rate import rate
from coupled_arena.ratings.result import Prior, Ratings
from coupled_arena.ratings.scale import spread
from coupled_arena.ratings.table import RatingInput
from coupled_arena.records import Battle

_EQUAL = 1e-6
"""Points by which redrawn ratings may differ by rounding."""

_NO_SPREAD = 1e-3
"""A move that varies by fewer points does not vary: the rest is rounding."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Shift:
    """How far one model moves; intervals hold for all models together."""

    model: str
    """Its name."""
    before: int | None
    """Its rank in the first arm, 1 for the best; None without a rating."""
    after: int | None
    """Its rank in the second arm; None without a rating."""
    low: int | None
    """Fewest ranks that it may have moved, negative for a rise; None where there is no interval."""
    high: int | None
    """Most ranks; None where there is no interval."""
    rating_before: float | None
    """Its rating in the first arm."""
    rating_after: float | None
    """Its rating in the second arm."""
    change_low: float | None
    """Lower end of the interval of `change`, in points; None where there is none."""
    change_high: float | None
    """Upper end of the interval; None where there is none."""

    @property
    def shift(self) -> int | None:
        """How many ranks it falls from the first arm to the second, negative for a rise; None without both."""
        return None if self.before is None or self.after is None else self.after - self.before

    @property
    def change(self) -> float | None:
        """How much larger its rating is in the second arm, in points; None without both."""
        if self.rating_before is None or self.rating_after is None:
            return None
        return self.rating_after - self.rating_before


def rank_shifts(
    battles: Iterable[Battle],
    first: str,
    second: str,
    *,
    models: Sequence[str],
    prior: Prior = "weak",
    level: float = 0.95,
    replicates: int = 2000,
) -> tuple[Shift, ...]:
    """Return how far every model moves from one arm to another, in the order of the second arm's ranking.

    Ranks and ratings are those of the arms by themselves. Intervals come from one table in which a model of one arm and
    of the other are two, so that what the arms share, their questions, is counted once: those of ratings from its
    covariance clustered by question, those of ranks from redrawn questions (percentiles of the shift; Efron and
    Tibshirani 1993, ch. 13). There are none where questions do not outnumber the models of both arms. Each holds with
    `1 - (1 - level) / models`, and so all together with `level` (Bonferroni). Between models that are nearly equal
    percentiles of ranks are a guide, not a promise.

    Args:
        battles: battles of both arms; others are left out.
        first: name of an arm, as in `Battle.arm`.
        second: name of the other arm.
        models: all models, by name.
        prior: as for `rate`, but never none.
        level: coverage of all intervals together, between 0 and 1.
        replicates: how often the questions are redrawn.

    Raises:
        RatingError: the arms are one, there is no prior, or `rate` refuses the battles.
    """
    if not prior or first == second:
        raise RatingError("ranks are compared between two arms that a prior connects; name two, and leave the prior in")
    own = [battle for battle in battles if battle.arm in (first, second)]
    alone = [
        rate(RatingInput.from_battles([b for b in own if b.arm == arm], models=models), prior=prior)
        for arm in (first, second)
    ]
    names = alone[0].names
    each = 1 - (1 - level) / max(1, len(names))
    table = joined(own, (first, second), names)
    both = rate(table, prior=prior)
    ranks = _shifted_ranks(table, both, (first, second), names, each, replicates)
    points = _reaches(table, both, (first, second), names, each)
    places = [{name: rank for rank, name in enumerate(found.ranking, 1)} for found in alone]
    shifts = []
    for index, name in enumerate(names):
        before, after = (found.rating(name) for found in alone)
        moves: tuple[int | None, int | None] = (None, None)
        ends: tuple[float | None, float | None] = (None, None)
        if before is not None and after is not None:
            moves, reach = ranks[index], points[index]
            ends = ends if reach is None else (after - before - reach, after - before + reach)
        ranked = (None if before is None else places[0][name], None if after is None else places[1][name])
        shifts.append(Shift(name, *ranked, *moves, before, after, *ends))
    return tuple(sorted(shifts, key=lambda shift: places[1][shift.model]))


def _enough(table: RatingInput, both: Ratings) -> bool:
    return table.clusters > len(both.names)


def _reaches(
    table: RatingInput, both: Ratings, arms: tuple[str, str], names: Sequence[str], level: float
) -> list[float | None]:
    """Return half the width of the interval of every model's change."""
    if not _enough(table, both):
        return [None] * len(names)
    place = {name: index for index, name in enumerate(both.names)}
    at = np.array([[place[in_arm(arm, name)] for name in names] for arm in arms])
    reaches = []
    for index in range(len(names)):
        contrast = np.zeros(len(both.names))
        for sign, places in zip((-1.0, 1.0), at, strict=True):
            # Each arm has its own mean.
            contrast[places] -= sign / len(names)
            contrast[places[index]] += sign
        _, reach = spread(float(contrast @ both.covariance @ contrast), table.clusters - 1, level)
        reaches.append(None if reach is None or reach < _NO_SPREAD else reach)
    return reaches


def _shifted_ranks(
    table: RatingInput, both: Ratings, arms: tuple[str, str], names: Sequence[str], level: float, replicates: int
) -> list[tuple[int | None, int | None]]:
    """Return the percentiles of how many ranks every model falls where questions are redrawn."""
    if not _enough(table, both):
        return [(None, None)] * len(names)
    found = bootstrap(table, both, replicates=replicates)
    place = {name: index for index, name in enumerate(found.names)}
    kept = found.draws[~np.isnan(found.draws).any(axis=1)]
    before, after = (_ranked(kept[:, [place[in_arm(arm, name)] for name in names]]) for arm in arms)
    moved = np.sort(after - before, axis=0)
    # A lost replicate lies beyond both ends.
    lost = replicates - len(kept)
    end = int((1 - level) / 2 * (replicates - 1)) - lost
    if end < 0 or not len(kept):
        return [(None, None)] * len(names)
    return [(int(column[end]), int(column[-1 - end])) for column in moved.T]


def _ranked(draws: Floats) -> NDArray[np.int64]:
    """Return the rank of every model in every replicate, shape (replicates, models); equal ratings share the better."""
    ranks = np.empty(draws.shape, dtype=np.int64)
    for index in range(draws.shape[1]):
        ranks[:, index] = 1 + (draws > draws[:, [index]] + _EQUAL).sum(axis=1)
    return ranks
