"""A model's mean score, with an interval for more questions like these."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from coupled_arena.analysis.levels import require_level
from coupled_arena.ratings.student import t_reach


@dataclass(frozen=True, slots=True)
class Mean:
    """The mean score of one model."""

    value: float | None
    """Mean over the questions of the mean over their replicates; None without any score."""
    low: float | None
    """Lower end of the question-clustered interval, at least 0; None with one question or without spread."""
    high: float | None
    """Upper end of the interval, at most 1; None as `low`."""
    questions: int
    """Questions with a score."""


def mean_score(scores: ArrayLike, *, level: float = 0.95) -> Mean:
    """Return a model's mean score; the replicates of a question may depend on each other in any way.

    Args:
        scores: from 0 to 1, shape (questions, replicates); NaN where there is none.
        level: coverage of the interval, between 0 and 1.

    Raises:
        ConfigurationError: the level is out of range.

    Example:
        >>> found = mean_score([[1, 1], [0, 1], [1, 1], [0, 0], [1, 0]])
        >>> f"{found.value:.2f} [{found.low:.2f}, {found.high:.2f}]"
        '0.60 [0.08, 1.00]'
    """
    require_level("mean_score", level)
    array = np.asarray(scores, dtype=np.float64)
    known = array[~np.isnan(array).all(axis=1)]
    number = len(known)
    if not number:
        return Mean(None, None, None, 0)
    means = np.nanmean(known, axis=1)
    value = float(means.mean())
    spread = float(means.std(ddof=1)) if number > 1 else 0.0
    if not spread:
        return Mean(value, None, None, number)
    reach = t_reach(level, number - 1) * spread / math.sqrt(number)
    return Mean(value, max(0.0, value - reach), min(1.0, value + reach), number)
