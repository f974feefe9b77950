"""The maximum of the likelihood of single verdicts, lapses kept within their bounds."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coupled_arena.analysis.correction.likelihood import Derivatives, Likelihood
from coupled_arena.analysis.correction.votes import Floats

MOST_LAPSE = 0.9
"""Beyond so many lapses a judge says nothing from which its effects could be told."""

_TOLERANCE = 1e-9
"""Largest gradient at the maximum, relative to the number of verdicts."""

_MOST_ITERATIONS = 200
_SMALLEST_STEP = 2.0**-30
_LONGEST_STEP = 5.0

_FARTHEST = 100.0
"""Log odds beyond which there is no maximum to be found."""

_START = 0.05
"""Where lapses start; one that starts at 0 would stay there too easily."""


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """A maximum of the likelihood."""

    point: Floats
    """The parameters, shape (parameters,)."""
    free: NDArray[np.bool_]
    """Which of them are not held at a bound, shape (parameters,)."""
    bread: Floats
    """Inverse of the observed information on those that are free, 0 elsewhere, shape (parameters, parameters)."""
    information: Floats
    """The observed information, shape (parameters, parameters)."""
    iterations: int
    """Steps taken."""
    converged: bool
    """Whether the gradient vanished, at a maximum."""


def fit(likelihood: Likelihood, start: Floats | None = None) -> Fit:
    """Return the maximum by damped Newton steps, of expected information where the observed one is not definite.

    Without lapses the likelihood is concave and the maximum is the only one. Lapses stay in [0, `MOST_LAPSE`]: one that
    would leave is held there (a projected Newton method, Bertsekas 1982, SIAM Journal on Control and Optimization 20).

    Args:
        likelihood: what to maximise.
        start: coordinates and effects to start from; all equal by default.
    """
    linear = likelihood.size - likelihood.lapses
    point = np.full(likelihood.size, _START)
    point[:linear] = 0.0 if start is None else start
    flat, lapses = _TOLERANCE * max(1, len(likelihood.score)), slice(linear, None)
    here, iterations = likelihood.at(point), 0
    while True:
        free = np.ones(likelihood.size, dtype=np.bool_)
        rate, pull = point[lapses], here.gradient[lapses]
        free[lapses] = ~(((rate <= 0) & (pull <= 0)) | ((rate >= MOST_LAPSE) & (pull >= 0)))
        converged = bool(np.abs(here.gradient[free]).max(initial=0.0) <= flat)
        if converged or iterations == _MOST_ITERATIONS or np.abs(point).max() > _FARTHEST:
            break
        iterations += 1
        step = np.zeros(likelihood.size)
        step[free] = _step(here, free)
        step *= min(1.0, _LONGEST_STEP / float(np.abs(step).max()))
        floor, length = here.level - 1e-12 * abs(here.level), 1.0
        while True:
            there = point + length * step
            there[lapses] = np.clip(there[lapses], 0.0, MOST_LAPSE)
            found = likelihood.at(there)
            if found.level >= floor or length <= _SMALLEST_STEP:
                break
            length /= 2
        point, here = there, found
    bread, own = np.zeros_like(here.observed), np.ix_(free, free)
    definite = _definite(here.observed[own])
    if definite:
        bread[own] = np.linalg.inv(here.observed[own])
    return Fit(point, free, bread, here.observed, iterations, converged and definite)


def _step(here: Derivatives, free: NDArray[np.bool_]) -> Floats:
    own = np.ix_(free, free)
    observed, gradient = here.observed[own], here.gradient[free]
    if _definite(observed):
        return np.linalg.solve(observed, gradient).astype(np.float64, copy=False)
    # Where nothing pulls, nothing moves: the least step of all that are best.
    return np.linalg.lstsq(here.expected[own], gradient, rcond=None)[0].astype(np.float64, copy=False)


def _definite(matrix: Floats) -> bool:
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return False
    return True
