"""Confidence sequences: what is known of a mean score after every look at the data, however often one looks.

An interval of fixed sample size holds once. Whoever looks after every few questions and stops when it excludes one half
is right less often than it says. A confidence sequence holds at all looks together, so that one may stop at any.

It comes from a bet. Whoever claims that the mean is m must find a bet on the scores fair that multiplies its stake by
`1 + c (x / m - 1)` on each score x, for any fraction c between 0 and 1: no fair bet reaches `1 / alpha` times its first
stake, ever, with a probability above alpha (Ville's inequality). Means at which it does are excluded. The stake is
spread over many fractions at once, and one half of it on the mirror image, which bets on a mean below m (Waudby-Smith
and Ramdas 2024, Journal of the Royal Statistical Society B 86, arXiv 2010.09686, section 4.4). The fractions do not
depend on the scores, so the result does not depend on their order.
"""

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coupled_arena.errors import RatingError
from coupled_arena.ratings.counting import MOST, more_until

BETS = 64
"""Fractions that the stake is spread over."""

# The nodes of Gauss and Chebyshev lie close at both ends: small fractions find small differences, large ones sweeps.
# Up to 127 scores the mean over them is exactly that over a fraction of distribution Beta(1/2, 1/2).
_FRACTIONS = np.sin(np.pi * (2 * np.arange(BETS) + 1) / (4 * BETS)) ** 2
_HALVINGS = 50

_Vector = NDArray[np.float64]


def capital(values: ArrayLike, counts: ArrayLike, mean: float = 0.5) -> _Vector:
    """Return the logarithm of what a stake of one becomes that is bet on a true mean above `mean`.

    Args:
        values: the different scores, in [0, 1], shape (values,).
        counts: how often each was seen, shape (..., values).
        mean: what is bet against, in (0, 1).

    Returns:
        one logarithm for each row of counts, shape (...); for the bet on a mean below, turn scores and mean about 1/2.

    Example:
        >>> won, drawn, lost = np.exp(capital([1, 0.5, 0], [[8, 0, 0], [0, 8, 0], [0, 0, 8]]))
        >>> f"{won:.1f} {drawn:.1f} {lost:.2f}"
        '74.1 1.0 0.20'
    """
    growth = np.log1p(np.asarray(values, dtype=np.float64)[:, None] * (_FRACTIONS / mean) - _FRACTIONS)
    grown: _Vector = np.asarray(counts, dtype=np.float64) @ growth
    top = grown.max(axis=-1, keepdims=True)
    total: _Vector = np.log(np.exp(grown - top).mean(axis=-1)) + top[..., 0]
    # What is exactly nothing must not come out as the last digit of a sum.
    return np.where(np.abs(total) < 1e-12, 0.0, total)


def threshold(level: float) -> float:
    """Return the logarithm that a bet on one side must reach to exclude a mean at this level.

    Raises:
        RatingError: the level does not lie between 0 and 1.

    >>> round(math.exp(threshold(0.95)))
    40
    """
    if not 0 < level < 1:
        raise RatingError(f"level must lie between 0 and 1, not {level!r}")
    return math.log(2 / (1 - level))


def mean_interval(scores: Iterable[float], level: float = 0.95) -> tuple[float, float]:
    """Return the interval of the mean of so many scores, from a sequence of intervals that all hold together.

    Args:
        scores: in [0, 1], in any order; those seen so far of a sequence in which each has the same mean given those
            before it.
        level: probability that all intervals of the sequence hold the mean, at least.

    Raises:
        RatingError: a score is not in [0, 1], or the level not between 0 and 1.

    Example:
        >>> [round(end, 3) for end in mean_interval([1, 1, 1, 0.5, 1, 1, 1, 1, 1])]
        [0.539, 1.0]
    """
    values, counts = _counted(scores)
    limit = threshold(level)

    def low_end(values: _Vector) -> float:
        # The higher the mean, the less becomes of a bet on a mean above it.
        low, high = 0.0, 1.0
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            excluded = float(capital(values, counts, middle)) >= limit
            low, high = (middle, high) if excluded else (low, middle)
        return low

    return low_end(values), 1.0 - low_end(1.0 - values)


def decided(scores: Iterable[float], level: float = 0.95) -> int:
    """Return 1 if the mean of the scores is above one half, -1 if it is below, 0 while that is not known.

    >>> decided([1] * 8), decided([0] * 8), decided([1] * 7), decided([0.5] * 100)
    (1, -1, 0, 0)
    """
    values, counts = _counted(scores)
    limit = threshold(level)
    return int(capital(values, counts) >= limit) - int(capital(1.0 - values, counts) >= limit)


def more_scores(scores: Iterable[float], level: float = 0.95) -> int | None:
    """Return about how many more scores decide whether the mean is above one half, if they go on as they are.

    Rounded up to two digits; 0 if it is decided; None where the scores are level or none, or beyond `counting.MOST`.

    >>> more_scores([1] * 6), more_scores([1, 1, 1, 0] * 5), more_scores([1, 0])
    (2, 20, None)
    """
    values, counts = _counted(scores)
    seen = float(counts.sum())
    lead = float(counts @ (values - 0.5))
    if abs(lead) < 1e-9:
        return None
    ahead, limit = (values if lead > 0 else 1.0 - values), threshold(level)

    def decides(number: int) -> bool:
        return float(capital(ahead, counts * (number / seen))) >= limit

    return more_until(decides, int(seen), MOST)


def _counted(scores: Iterable[float]) -> tuple[_Vector, _Vector]:
    """Return the different scores and how often each was seen; one score that was never seen where there are none."""
    found = np.array(list(scores), dtype=np.float64)
    if not np.all((found >= 0) & (found <= 1)):
        raise RatingError("scores must lie between 0 and 1; a void battle has none and is left out")
    if not len(found):
        return np.array([0.5]), np.zeros(1)
    values, counts = np.unique(found, return_counts=True)
    return values, counts.astype(np.float64)
