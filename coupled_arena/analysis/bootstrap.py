"""Intervals from resamples of the questions."""

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from coupled_arena.analysis.moments import Floats
from coupled_arena.ratings.student import t_reach

MOST_OFF = 0.01
"""A smaller share of draws on one side of the estimate is taken for this one: it is too few draws to go by."""


def resampled(rows: Floats, resamples: int, rng: np.random.Generator) -> tuple[Floats, NDArray[np.int64]]:
    """Return the distinct rows and how often each comes in every resample of the questions.

    Questions with equal rows are one to a bootstrap, which makes it as cheap for 10,000 questions of right and wrong
    answers as for 100, and keeps it from depending on their order.

    Args:
        rows: what is known of every question, shape (questions, columns).
        resamples: how many.
        rng: where they are drawn from.

    Returns:
        Distinct rows, shape (distinct, columns), and counts, shape (resamples, distinct).
    """
    distinct, times = np.unique(rows, axis=0, return_counts=True)
    return distinct, rng.multinomial(len(rows), times / len(rows), size=resamples)


def bootstrap_interval(draws: Floats, estimate: float, level: float, questions: int) -> tuple[float, float]:
    """Return the ends of an interval for an estimate that was drawn again from resamples of the questions.

    The percentiles are taken where the share of draws below the estimate says that they are off centre (Efron 1987,
    Journal of the American Statistical Association 82, bias-corrected percentiles), and further out by the factor by
    which `sqrt(G / (G - 1))` times Student's quantile exceeds the normal one for G questions (Hesterberg 2015, The
    American Statistician 69): plain percentiles are too narrow in small samples.

    Args:
        draws: the estimate in every resample, shape (resamples,).
        estimate: from the questions themselves.
        level: coverage, between 0 and 1.
        questions: how many there are, at least 2.

    Example:
        >>> draws = np.linspace(-3, 3, 6001)
        >>> [round(end, 2) for end in bootstrap_interval(draws, 0.0, 0.95, 16)]
        [-2.92, 2.92]
    """
    normal = NormalDist()
    below = float((draws < estimate).mean() + (draws == estimate).mean() / 2)
    centre = 2 * normal.inv_cdf(min(max(below, MOST_OFF), 1 - MOST_OFF))
    reach = math.sqrt(questions / (questions - 1)) * t_reach(level, questions - 1)
    low, high = np.quantile(draws, [normal.cdf(centre - reach), normal.cdf(centre + reach)])
    return float(low), float(high)
