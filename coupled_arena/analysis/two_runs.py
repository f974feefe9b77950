"""What shared dice saved, from a run with them and another without."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from coupled_arena.analysis.bootstrap import bootstrap_interval, resampled
from coupled_arena.analysis.moments import Floats, Moments, total_variance
from coupled_arena.analysis.paired import RESAMPLES, checked
from coupled_arena.errors import ConfigurationError, Problem


@dataclass(frozen=True, slots=True)
class TwoRuns:
    """The share of samples saved, by comparing the variances of two runs."""

    saved: float | None
    """`1 - V_c / V_i`, at most 1, with the total variance V of the difference in the coupled and the other run; None
    where the other run's is 0 or fewer than two questions have scores in both."""
    low: float | None
    """Lower end of its interval, from a bootstrap over questions; None as `saved`."""
    high: float | None
    """Upper end of the interval."""
    questions: int
    """Questions with at least one replicate of both models in both runs."""


def two_runs(
    coupled: tuple[ArrayLike, ArrayLike],
    independent: tuple[ArrayLike, ArrayLike],
    *,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> TwoRuns:
    """Compare the variance of the difference of two models in two runs on the same questions.

    This is how published savings are computed (arXiv 2502.01754). It costs a second run and takes the chance of both
    into its answer: two runs without any covariance within questions may differ in variance by tens of percent.
    `paired` answers the same question from the coupled run alone, with a shorter interval.

    Args:
        coupled: scores of the two models with shared dice, each of shape (questions, replicates); NaN for none.
        independent: scores in the other run, for the same questions; replicates may differ in number.
        level: coverage of the interval, between 0 and 1.
        resamples: of the bootstrap, at least 100.
        seed: of the bootstrap.

    Raises:
        ConfigurationError: shapes do not fit, a score is infinite, or a setting is out of range.

    Example:
        >>> a = [[1, 0, 1, 1], [0, 0, 1, 0], [1, 1, 1, 1], [0, 1, 0, 1]]
        >>> b, c = [[1, 0, 0, 1], [0, 0, 1, 0], [1, 1, 1, 0], [0, 0, 0, 1]], [[0, 1, 0, 1], *[[0, 1, 1, 0]] * 3]
        >>> f"{two_runs((a, b), (a, c)).saved:.2f}"
        '0.69'
    """
    runs = [checked("two_runs", *run, level, resamples) for run in (coupled, independent)]
    if len(runs[0][0]) != len(runs[1][0]):
        message = f"need the same questions in both runs, not {len(runs[0][0])} and {len(runs[1][0])}"
        raise ConfigurationError([Problem("two_runs", "independent", message)])
    answered = [(~np.isnan(a + b)).any(axis=1) for a, b in runs]
    kept = answered[0] & answered[1]
    questions = int(kept.sum())
    if questions < 2:
        return TwoRuns(None, None, None, questions)
    moments = [Moments.of(a[kept], b[kept], shared=True) for a, b in runs]
    rows, floor = np.hstack([run.summands for run in moments]), moments[1].floor
    saved = _saved(rows.mean(axis=0)[None], questions, floor)
    if not len(saved):
        return TwoRuns(None, None, None, questions)
    distinct, counts = resampled(rows, resamples, np.random.default_rng(seed))
    draws = _saved(counts @ distinct / questions, questions, floor, redrawn=True)
    return TwoRuns(float(saved[0]), *bootstrap_interval(draws, float(saved[0]), level, questions), questions)


def _saved(means: Floats, questions: int, floor: float, *, redrawn: bool = False) -> Floats:
    """Return `1 - V_c / V_i` for each row of means of both runs' summands in which the second run varies."""
    coupled, independent = (total_variance(run, questions, redrawn=redrawn) for run in (means[:, :3], means[:, 3:]))
    varied = independent > floor
    return 1 - coupled[varied] / independent[varied]
