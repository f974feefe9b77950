"""One mechanism for every interval of a study of judges: the delete-one-question jackknife.

What is estimated is a smooth function of sums over questions. The function of all sums is the value; that of the sums
without each question in turn says how much the value depends on the questions that happened to be asked:
`se^2 = (G - 1) / G * sum_g (v_(-g) - mean)^2` over the G questions that bear on it (Efron and Tibshirani 1993, An
Introduction to the Bootstrap, chapter 11), and the interval takes Student's quantile with G - 1 degrees of freedom.
Battles on one question, judges of one battle, orders and draws of dice may thus depend on each other in any way.

Shares have Wilson's interval with the effective number of trials that this standard error implies (Korn and Graubard
1998, Survey Methodology 24). Other means of bounded values that never vary reach as far as Wilson's interval allows
some questions to say otherwise. What has neither says why it has no interval.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from coupled_arena.analysis.labels import Codes
from coupled_arena.ratings.student import t_reach
from coupled_arena.ratings.wilson import wilson

Floats = NDArray[np.float64]

_NO_SPREAD = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A number that a study of judges estimates, with its interval."""

    value: float | None = None
    """The number; None where nothing can be said, and `reason` says why."""
    low: float | None = None
    """Lower end of its question-clustered interval; None where there is none, and `reason` says why."""
    high: float | None = None
    """Upper end of its interval; None as `low`."""
    se: float | None = None
    """Its standard error; None with fewer than two questions."""
    trials: int = 0
    """Opinions, battles or pairs that it rests on, as the function that returns it says."""
    questions: int = 0
    """Questions that these belong to."""
    basis: str = ""
    """What it was computed from, where there is more than one way; empty otherwise."""
    reason: str = ""
    """Why there is no value or no interval; empty otherwise."""


def by_question(groups: Codes, *columns: Floats) -> tuple[Floats, int]:
    """Return the sums of columns over every question that has a row, shape (questions, columns), and the rows.

    >>> by_question(np.array([7, 7, 2]), np.array([1.0, 2.0, 3.0]))
    (array([[3.],
           [3.]]), 3)
    """
    if not len(groups):
        return np.zeros((0, len(columns))), 0
    place = np.unique(groups, return_inverse=True)[1]
    return np.stack([np.bincount(place, column) for column in columns], axis=1), len(groups)


def jackknife(
    sums: Floats,
    function: Callable[[Floats], Floats],
    *,
    level: float,
    trials: int,
    none: str,
    bounds: tuple[float, float] | None = None,
    basis: str = "",
) -> Estimate:
    """Return a function of sums with its interval.

    Args:
        sums: of every question, shape (questions, columns).
        function: takes sums of shape (..., columns) to values of shape (...), NaN where there is none.
        level: coverage of the interval, between 0 and 1.
        trials: what the sums were taken over.
        none: why there is no value where the function gives none.
        bounds: ends of the interval are kept within these.
        basis: what the result names as its basis.

    Example:
        >>> sums = np.array([[3.0, 4.0], [1.0, 4.0], [2.0, 4.0]])
        >>> found = jackknife(sums, lambda s: s[..., 0] / s[..., 1], level=0.95, trials=12, none="there is none")
        >>> f"{found.value:.2f} +- {found.se:.3f}"
        '0.50 +- 0.144'
    """
    total = sums.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = float(function(total)) if len(sums) else math.nan
        without = function(total - sums) if len(sums) > 1 else np.zeros(0)
    return spread(
        value, without, questions=len(sums), level=level, trials=trials, none=none, bounds=bounds, basis=basis
    )


def spread(
    value: float,
    without: Floats,
    *,
    questions: int,
    level: float,
    trials: int,
    none: str,
    bounds: tuple[float, float] | None = None,
    basis: str = "",
) -> Estimate:
    """Return a value with the interval that its values without each question in turn make, as `jackknife` does."""
    if not math.isfinite(value):
        return Estimate(trials=trials, questions=questions, reason=none, basis=basis)
    found = Estimate(value=value, trials=trials, questions=questions, basis=basis)
    if questions < 2:
        return replace(found, reason="a single question shows no spread")
    if not np.isfinite(without).all():
        return replace(found, reason="without one of the questions there is no value, so nothing tells how it varies")
    off = without - without.mean()
    se = math.sqrt((questions - 1) / questions * float(off @ off))
    found = replace(found, se=se)
    if se < _NO_SPREAD:
        return replace(found, reason="every question says the same, which leaves no spread to go by")
    reach = t_reach(level, questions - 1) * se
    low, high = bounds or (-math.inf, math.inf)
    return replace(found, low=max(low, value - reach), high=min(high, value + reach))


def mean_of(
    values: Floats,
    groups: Codes,
    *,
    level: float,
    none: str,
    bounds: tuple[float, float] = (0.0, 1.0),
    basis: str = "",
) -> Estimate:
    """Return the mean of bounded values; a share if the bounds are 0 and 1, which then has Wilson's interval.

    Args:
        values: one for each trial, none of them missing, shape (trials,).
        groups: question of each, shape (trials,).
        level: coverage of the interval, between 0 and 1.
        none: why there is no value where there is no trial.
        bounds: the least and the largest value there may be.
        basis: what the result names as its basis.

    Example:
        >>> found = mean_of(np.ones(12), np.arange(12), level=0.95, none="there is none")
        >>> f"{found.value:.2f} [{found.low:.2f}, {found.high:.2f}]"
        '1.00 [0.71, 1.00]'
    """
    sums, trials = by_question(groups, values, np.ones(len(values)))
    return ratio_of(sums, level=level, trials=trials, none=none, bounds=bounds, basis=basis)


def ratio_of(
    sums: Floats,
    *,
    level: float,
    trials: int,
    none: str,
    bounds: tuple[float, float] = (0.0, 1.0),
    basis: str = "",
) -> Estimate:
    """Return the mean of bounded values from their sum and their weight in every question, as `mean_of` does.

    Args:
        sums: sum and weight of every question, shape (questions, 2).
        level: coverage of the interval, between 0 and 1.
        trials: what the sums were taken over.
        none: why there is no value where nothing has weight.
        bounds: the least and the largest value there may be.
        basis: what the result names as its basis.
    """
    sums = sums[sums[:, 1] > 0]
    found = jackknife(sums, ratio, level=level, trials=trials, none=none, bounds=bounds, basis=basis)
    if found.value is None or found.se is None:
        return found
    value, reach, (least, most) = found.value, t_reach(level, found.questions - 1), bounds
    if found.se < _NO_SPREAD:
        others = wilson(0.0, found.questions, reach)[1]
        low, high = value - others * (value - least), value + others * (most - value)
        return replace(found, low=low, high=high, reason="")
    if bounds != (0.0, 1.0):
        return found
    effective = min(float(trials), value * (1 - value) / found.se**2)
    low, high = wilson(value, effective, reach)
    return replace(found, low=low, high=high)


def ratio(sums: Floats) -> Floats:
    """Return the first of two sums over the second, shape (...)."""
    found: Floats = sums[..., 0] / sums[..., 1]
    return found
