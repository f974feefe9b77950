"""What two models' scores on the same questions say about their difference, and what shared dice saved.

A score is drawn for a question and a replicate. The variance of the difference of two scores has two parts: data noise
(questions differ) and prediction noise (the dice of one question fall otherwise the next time). Shared dice take twice
the covariance within a question off the second (arXiv 2502.01754, proposition 1, with the covariance taken within the
question). Both arms follow from one coupled run: replicate r of a model beside another replicate of the other model,
same question, is a pair with dice of their own.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from coupled_arena.analysis.bootstrap import bootstrap_interval, resampled
from coupled_arena.analysis.levels import level_problems
from coupled_arena.analysis.moments import Floats, Moments, total_variance
from coupled_arena.errors import ConfigurationError, Problem
from coupled_arena.ratings.student import t_reach

RESAMPLES = 2000
"""Resamples of the cluster bootstrap."""

FEWEST_RESAMPLES = 100

_SAME = 1e-12
"""Shares that differ by less are one, but for rounding."""


@dataclass(frozen=True, slots=True)
class Paired:
    """The difference of two models' scores, a minus b; every variance is that of one (question, replicate) draw."""

    difference: float | None
    """Mean over the questions of the mean difference of their replicates; None without a question both answered."""
    low: float | None
    """Lower end of the question-clustered interval; None with fewer than two questions or where no two differ."""
    high: float | None
    """Upper end of the interval; None as `low`."""
    se_coupled: float | None
    """Standard error of the difference with shared dice, clustered by question; None where dice were not shared."""
    se_independent: float | None
    """Standard error of the difference of as many questions and replicates with dice of each model's own.

    From a coupled run it is estimated by pairing different replicates; None with one replicate, or where the estimate
    of its square is not above 0."""
    covariance: float | None
    """Mean over the questions of the covariance of the two scores within a question (C)."""
    variance: float | None
    """Total variance of the difference over (question, replicate) draws, with the dice as they were (V)."""
    data_noise: float | None
    """Variance of the difference between questions, unbiased: it may come out below 0."""
    prediction_noise: float | None
    """Mean variance of the difference within a question, unbiased; the two noises sum to `variance`."""
    saved: float | None
    """Share of the samples that shared dice make unnecessary, `2 C / (V + 2 C)`, at most 1; below 0 they cost some."""
    saved_low: float | None
    """Lower end of its interval, from a bootstrap over questions; None where the difference never varies, or
    what was saved is the same in every resample."""
    saved_high: float | None
    """Upper end of its interval."""
    saved_within: float | None
    """The share of prediction noise alone that shared dice take away: `saved` with the variance within questions."""
    questions: int
    """Questions with at least one replicate that both models have a score for."""
    replicates: int
    """Replicates of a question, those without a score included."""
    dropped: int
    """Replicates left out because a score was missing."""
    level: float
    """Coverage of both intervals."""
    shared: bool
    """Whether the models shared their dice; if not, nothing is said of savings."""
    notes: tuple[str, ...]
    """What could not be estimated, and why."""


def paired(
    a: ArrayLike,
    b: ArrayLike,
    *,
    shared: bool = True,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Paired:
    """Compare two models by their scores on the same questions, replicate by replicate.

    The interval of the difference is that of the questions' mean differences with Student's quantile: the replicates of
    a question may depend on each other in any way. What was saved has bias-corrected percentiles of a bootstrap
    over questions, taken further out the fewer they are (`bootstrap.bootstrap_interval`).

    Args:
        a: scores of one model, shape (questions, replicates); NaN where there is none.
        b: scores of the other, same shape; with `shared`, equal places are equal noise keys.
        shared: whether the models shared their dice.
        level: coverage of the intervals, between 0 and 1.
        resamples: of the bootstrap, at least 100.
        seed: of the bootstrap.

    Raises:
        ConfigurationError: shapes do not fit, a score is infinite, or a setting is out of range.

    Example:
        >>> a = [[1, 0, 1, 1], [0, 0, 1, 0], [1, 1, 1, 1], [0, 1, 0, 1]]
        >>> b = [[1, 0, 0, 1], [0, 0, 1, 0], [1, 1, 1, 0], [0, 0, 0, 1]]
        >>> found = paired(a, b)
        >>> f"{found.difference:.4f} [{found.low:.3f}, {found.high:.3f}]", f"saved {found.saved:.0%}"
        ('0.1875 [-0.011, 0.386]', 'saved 65%')
    """
    first, second = checked("paired", a, b, level, resamples)
    moments = Moments.of(first, second, shared=shared)
    questions = len(moments.mean)
    difference = float(moments.mean.mean()) if questions else None
    spread = float(moments.mean.var(ddof=1)) if questions > 1 else None
    if spread is not None and spread <= moments.floor:
        spread = 0.0
    error = None if spread is None else math.sqrt(spread / questions)
    reach = t_reach(level, questions - 1) * error if error else None
    noise = _noise(moments, spread, shared=shared)
    variance, within = noise.variance, noise.within
    saved = _share(noise.covariance, variance, moments.floor)
    ends = None
    if saved is not None and variance is not None and variance > moments.floor:
        ends = _saved_interval(moments, saved, level, resamples, np.random.default_rng(seed))
    return Paired(
        difference=difference,
        low=None if difference is None or reach is None else difference - reach,
        high=None if difference is None or reach is None else difference + reach,
        se_coupled=error if shared else None,
        se_independent=noise.independent if shared else error,
        covariance=noise.covariance,
        variance=variance,
        data_noise=None if variance is None or within is None else variance - within,
        prediction_noise=within,
        saved=saved,
        saved_low=ends[0] if ends else None,
        saved_high=ends[1] if ends else None,
        saved_within=_share(noise.covariance, within, moments.floor),
        questions=questions,
        replicates=first.shape[1],
        dropped=int((np.isnan(first) | np.isnan(second)).sum()),
        level=level,
        shared=shared,
        notes=tuple(_notes(moments, shared, len(first), error, saved, ends)),
    )


def checked(where: str, a: ArrayLike, b: ArrayLike, level: float, resamples: int) -> tuple[Floats, Floats]:
    """Return scores as arrays, or raise `ConfigurationError` with all that is wrong with them or the settings.

    Problems name the function that was called, `where`, as their place.
    """
    try:
        first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    except (TypeError, ValueError) as error:
        message = f"need numbers in as many replicates for every question, NaN where one is missing: {error}"
        raise ConfigurationError([Problem(where, "a, b", message)]) from None
    problems = []
    if first.ndim != 2 or first.shape != second.shape:
        message = f"need one shape (questions, replicates) for both, not {first.shape} and {second.shape}"
        problems.append(Problem(where, "a, b", message))
    if np.isinf(first).any() or np.isinf(second).any():
        problems.append(Problem(where, "a, b", "an infinite score has no mean; leave it out as NaN"))
    problems += level_problems(where, level)
    if resamples < FEWEST_RESAMPLES:
        problems.append(Problem(where, "resamples", f"needs at least {FEWEST_RESAMPLES}, not {resamples}"))
    if problems:
        raise ConfigurationError(problems)
    return first, second


class _Noise(NamedTuple):
    """What the scores of two models vary by."""

    variance: float | None
    """Variance of the difference of one replicate, without replicates that of the questions' mean differences."""
    within: float | None = None
    """Its part within questions."""
    covariance: float | None = None
    """Covariance of the scores within questions, where dice are shared."""
    independent: float | None = None
    """Standard error that the difference would have without shared dice."""


def _noise(moments: Moments, spread: float | None, *, shared: bool) -> _Noise:
    """Take variance apart; `spread` is that of the questions' mean differences."""
    if not moments.replicated:
        return _Noise(spread)
    within = float(moments.within.mean())
    covariance = float(moments.covariance.mean()) if shared else None
    if spread is None:
        return _Noise(None, within, covariance)
    questions = len(moments.mean)
    square = (spread + 2 * float((moments.covariance / moments.count).mean())) / questions
    independent = math.sqrt(square) if square > moments.floor / questions else None
    return _Noise(spread + float(moments.rest.mean()), within, covariance, independent)


def _share(covariance: float | None, variance: float | None, floor: float) -> float | None:
    if covariance is None or variance is None:
        return None
    independent = variance + 2 * covariance
    return 2 * covariance / independent if independent > floor else None


def _saved_interval(
    moments: Moments, saved: float, level: float, resamples: int, rng: np.random.Generator
) -> tuple[float, float] | None:
    """Return the ends of the bootstrap interval of `saved`; None where no resample changes it, which proves nothing."""
    questions = len(moments.mean)
    distinct, counts = resampled(np.column_stack([moments.summands, moments.covariance]), resamples, rng)
    means = counts @ distinct / questions
    covariance = means[:, 3]
    independent = total_variance(means[:, :3], questions, redrawn=True) + 2 * covariance
    varied = independent > moments.floor
    shares = 2 * covariance[varied] / independent[varied]
    if np.ptp(shares) < _SAME:
        return None
    return bootstrap_interval(shares, saved, level, questions)


def _notes(
    moments: Moments, shared: bool, asked: int, error: float | None, saved: float | None, ends: object
) -> Iterator[str]:
    questions = len(moments.mean)
    if questions < asked:
        yield f"{asked - questions} of {asked} questions left out: no replicate has both scores"
    if error is None:
        yield "no interval: it needs two questions"
    elif error == 0:
        yield "no interval: the difference is the same for every question"
    if not moments.replicated:
        yield "data noise, prediction noise and covariance cannot be told apart: no question has two replicates"
    if not shared:
        yield "nothing saved: dice were not shared"
    elif moments.replicated and error is not None and saved is None:
        yield "what was saved is unknown: neither score ever varies"
    elif saved is not None and ends is None:
        why = (
            "it is the same in every resample of the questions"
            if error
            else "the two scores never differ by more or less"
        )
        yield f"no interval of what was saved: {why}"
