"""Quantiles of Student's t distribution, and how far intervals reach by them."""

import math
from functools import lru_cache

from coupled_arena.errors import RatingError

MANY = 100_000
"""Degrees of freedom from which on an interval no longer changes by more than a part in 50,000."""

_TINY = 1e-300
_PRECISION = 1e-15


@lru_cache(maxsize=1024)
def t_quantile(probability: float, degrees: int) -> float:
    """Return the quantile of Student's t distribution, to about ten digits.

    Args:
        probability: in [0.5, 1).
        degrees: degrees of freedom, at least 1.

    Raises:
        RatingError: the probability is out of range.

    Example:
        >>> round(t_quantile(0.975, 10), 4)
        2.2281
    """
    if not 0.5 <= probability < 1:
        raise RatingError(f"a quantile is asked for a probability in [0.5, 1), not {probability}: a level is a share")
    tail, found = 1 - probability, 0.0
    # The upper tail is convex, so that Newton's steps from 0 come nearer from one side and never pass the quantile.
    while True:
        step = (_upper_tail(found, degrees) - tail) / _density(found, degrees)
        found += step
        if not step > _PRECISION * found:
            return found


def t_reach(level: float, degrees: int) -> float:
    """Return how many standard errors an interval reaches to either side; degrees beyond `MANY` count as so many.

    Args:
        level: coverage of the interval, between 0 and 1.
        degrees: degrees of freedom, at least 1.

    Example:
        >>> round(t_reach(0.95, 10), 4)
        2.2281
    """
    return t_quantile((1 + level) / 2, min(degrees, MANY))


def _density(t: float, degrees: int) -> float:
    front = math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2) - math.log(degrees * math.pi) / 2
    return math.exp(front - (degrees + 1) / 2 * math.log1p(t * t / degrees))


def _upper_tail(t: float, degrees: int) -> float:
    """P(T > t) for t >= 0 (Abramowitz and Stegun 26.5.27)."""
    return _incomplete_beta(degrees / (degrees + t * t), t * t / (degrees + t * t), degrees / 2, 0.5) / 2


def _incomplete_beta(x: float, rest: float, a: float, b: float) -> float:
    """Regularised incomplete beta function; `rest` is 1 - x without its cancellation."""
    if x <= 0 or rest <= 0:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):
        return 1 - _incomplete_beta(rest, x, b, a)
    front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log(rest)
    return math.exp(front) / a * _fraction(x, a, b)


def _fraction(x: float, a: float, b: float) -> float:
    """The continued fraction of the incomplete beta function (DLMF 8.17.22) by the modified Lentz method."""
    numerator, denominator = 1.0, 1 / _away(1 - (a + b) * x / (a + 1))
    value, step = denominator, 0
    while True:
        step += 1
        even = step * (b - step) * x / ((a + 2 * step - 1) * (a + 2 * step))
        odd = -(a + step) * (a + b + step) * x / ((a + 2 * step) * (a + 2 * step + 1))
        for term in (even, odd):
            denominator = 1 / _away(1 + term * denominator)
            numerator = _away(1 + term / numerator)
            value *= numerator * denominator
        if abs(numerator * denominator - 1) < _PRECISION:
            return value


def _away(value: float) -> float:
    """Keep a divisor away from zero."""
    return value if abs(value) > _TINY else _TINY
