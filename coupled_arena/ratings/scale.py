"""The scale of ratings, and intervals on it: mean 1000, 400 points for a factor 10 of odds."""

import math

from coupled_arena.ratings.score import Score
from coupled_arena.ratings.student import t_reach

MEAN = 1000.0
"""Mean rating."""

POINTS = 400 / math.log(10)
"""Rating points of one unit of log odds: 400 points for a factor 10 of odds."""

_NO_SPREAD = 1e-6
"""A standard error of fewer points says that the battles do not vary, not that the rating is exact."""


def spread(variance: float, degrees: int | None, level: float) -> tuple[float, float] | tuple[None, None]:
    """Return the standard error and the half width of the interval, or None for both where there is no interval."""
    if degrees is None or not variance > _NO_SPREAD**2:
        return None, None
    se = math.sqrt(variance)
    return se, t_reach(level, degrees) * se


def ends_of(score: Score, tie: float | None = None) -> tuple[float | None, float | None]:
    """Return the interval of a score as one of the difference in rating, in points; None where it is open.

    Args:
        score: of one model against another.
        tie: Davidson's tie parameter, whatever its error; None where a tie is half a win.
    """
    low, high = (None if end is None else points_of(end, tie) for end in (score.low, score.high))
    return low, high


def points_of(share: float, tie: float | None = None) -> float | None:
    """Return the difference in rating behind a mean score, in points; None where nothing is lost, or nothing won.

    Args:
        share: in [0, 1].
        tie: Davidson's tie parameter; None where a tie is half a win.

    >>> round(points_of(0.75), 1), points_of(1.0)
    (190.8, None)
    """
    if not 0 < share < 1:
        return None
    # With z the root of the odds, the expected score is z (z + tie / 2) / (z^2 + tie z + 1).
    lean = (tie or 0.0) * (share - 0.5)
    return POINTS * 2 * math.log((lean + math.sqrt(lean * lean + 4 * share * (1 - share))) / (2 * (1 - share)))
