"""Moments within and between questions of two models' scores: what every paired statistic is made of."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

ROUNDING = 1e-12
"""Share of the square of a score below which a variance is none."""


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

    @property
    def summands(self) -> Floats:
        """What each question adds to the total variance, shape (questions, 3): mean difference, its square, `rest`."""
        # Turned so that a beats b, resamples do not depend on which of the two is called a.
        turned = self.mean if self.mean.sum() >= 0 else -self.mean
        return np.column_stack([turned, turned**2, self.rest])


def _centred(scores: Floats, valid: NDArray[np.bool_], count: Floats) -> tuple[Floats, Floats]:
    mean = np.where(valid, scores, 0.0).sum(axis=1) / count
    return mean, np.where(valid, scores - mean[:, None], 0.0)


def total_variance(means: Floats, questions: int, *, redrawn: bool = False) -> Floats:
    """Return the total variance of the difference, from means of `Moments.summands` over so many questions.

    Args:
        means: shape (samples, 3).
        questions: how many there are, at least 2.
        redrawn: whether a sample was drawn from the questions; its spread falls short twice, as any sample's and as
            theirs.

    Returns:
        Shape (samples,).
    """
    mean, square, rest = means.T
    return np.asarray((square - mean**2) * (questions / (questions - 1)) ** (1 + redrawn) + rest)
