"""Moments within and between questions of two models' scores: what every paired statistic is made of."""

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from coupled_arena.ratings.student import t_quantile

Floats = NDArray[np.float64]

ROUNDING = 1e-12
"""Share of the square of a score below which a variance is none."""

MOST_OFF = 0.01
"""A smaller share of draws on one side of the estimate is taken for this one: it is too few draws to go by."""


@dataclass(frozen=True, slots=True)
class Moments:
    """Moments of every question, each of shape (questions,)."""

    mean: Floats
    """Mean difference of the replicates that have both scores."""
    within: Floats
    """Variance of the difference within the question, unbiased; where a question has one replicate, the mean of the
    others'."""
    covariance: Floats
    """Covariance of the two scores within the question, likewise; zeros where dice were not shared."""
    count: Floats
    """Replicates that have both scores."""
    replicated: bool
    """Whether some question has two replicates; without, `within` and `covariance` are zeros."""
    floor: float
    """A variance of at most this is rounding: a share of `ROUNDING` of the largest square of a score."""

    @classmethod
    def of(cls, a: Floats, b: Floats, *, shared: bool) -> "Moments":
        """Take the moments of scores of shape (questions, replicates); questions without a common score are left out.

        Without shared dice no two replicates belong together, and the variance of the difference within a question is
        the sum of the models' own.
        """
        valid = ~(np.isnan(a) | np.isnan(b))
        kept = valid.any(axis=1)
        valid = valid[kept]
        count = valid.sum(axis=1).astype(np.float64)
        (mean_a, off_a), (mean_b, off_b) = (_centred(scores[kept], valid, count) for scores in (a, b))
        mean = mean_a - mean_b
        floor = ROUNDING * max(float(np.where(valid, scores[kept] ** 2, 0.0).max(initial=0.0)) for scores in (a, b))
        several = count > 1
        if not several.any():
            return cls(mean, np.zeros(len(mean)), np.zeros(len(mean)), count, replicated=False, floor=floor)
        free = np.maximum(count - 1, 1)
        covariance = (off_a * off_b).sum(axis=1) / free if shared else np.zeros(len(mean))
        within = ((off_a - off_b) ** 2 if shared else off_a**2 + off_b**2).sum(axis=1) / free
        for moment in (covariance, within):
            moment[~several] = moment[several].mean()
        return cls(mean, within, covariance, count, replicated=True, floor=floor)

    @property
    def rest(self) -> Floats:
        """The part of `within` that the spread of the questions' means does not hold already."""
        return self.within * (1 - 1 / self.count)


def _centred(scores: Floats, valid: NDArray[np.bool_], count: Floats) -> tuple[Floats, Floats]:
    mean = np.where(valid, scores, 0.0).sum(axis=1) / count
    return mean, np.where(valid, scores - mean[:, None], 0.0)


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
    reach = math.sqrt(questions / (questions - 1)) * t_quantile((1 + level) / 2, questions - 1)
    low, high = np.quantile(draws, [normal.cdf(centre - reach), normal.cdf(centre + reach)])
    return float(low), float(high)
