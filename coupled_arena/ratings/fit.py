"""The Bradley-Terry fit, with ties and covariates: damped Newton to the maximum of the likelihood."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coupled_arena.ratings.cells import Cells
from coupled_arena.ratings.tally import added

_TOLERANCE = 1e-12
"""Largest gradient at the maximum, relative to the weight of the busiest model's battles."""

_MOST_ITERATIONS = 100
_MANY = 200
"""So many parameters, and steps are found by conjugate gradients."""
_MOST_ROUNDS = 60
"""Rounds of conjugate gradients before a step is found directly after all."""
_SMALLEST_STEP = 2.0**-30

_Vector = NDArray[np.float64]


class Chances(NamedTuple):
    """What a fit expects of comparisons, each of the shape of their difference in log odds."""

    score: _Vector
    """Expected score of the first model, a tie being one half."""
    tie: _Vector
    """Chance of a tie; 0 where a tie is half a win for both."""
    spread: _Vector
    """Variance of the score: the information on the difference."""
    joint: _Vector
    """Covariance of score and tie."""
    total: _Vector
    """Logarithm of what the chances are in proportion to, added up."""


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """A maximum of the likelihood, on the natural scale: log odds, mean 0."""

    strength: _Vector
    """Log strength of every model, shape (models,)."""
    log_tie: float | None
    """Logarithm of Davidson's tie parameter; None where a tie is half a win."""
    effects: _Vector
    """Log odds per unit of each standardised covariate, shape (covariates,)."""
    information: _Vector
    """Negative second derivative on strengths of mean 0, tie parameter, effects, in this order, made invertible along
    the common shift of the strengths; shape (parameters, parameters)."""
    bread: _Vector
    """Its inverse."""
    iterations: int
    """Newton steps taken."""
    converged: bool
    """Whether the gradient vanished."""


def fit(cells: Cells, *, davidson: bool = False, virtual_ties: float = 0.0) -> Fit:
    """Maximise the Bradley-Terry likelihood over strengths of mean 0.

    With d the difference of two log strengths, plus covariates times their effects, the first wins with a chance in
    proportion to exp(d / 2), the second to exp(-d / 2) (Bradley and Terry 1952). A tie is half a win for both, or comes
    with a chance in proportion to a parameter that is estimated too (Davidson 1970). With a prior each model also half
    wins, half loses so many battles against a model at the mean, whatever ties are. The likelihood is concave; a
    maximum exists if the models are comparable (`connectivity`) or there is a prior.

    Args:
        cells: the comparisons.
        davidson: whether ties have a parameter; there must be some, and not only ties.
        virtual_ties: weight of each model's battles with a model at the mean, at least 0.
    """
    models, ties = cells.models, int(davidson)
    point = _start(cells, davidson)
    busiest = added(cells.a, cells.weight, models) + added(cells.b, cells.weight, models)
    flat = _TOLERANCE * float(busiest.max() + virtual_ties)
    chances = expected(*_split(cells, point, davidson))
    level, iterations = _likelihood(cells, chances, point, davidson, virtual_ties), 0
    while True:
        gradient = _gradient(cells, chances, point, davidson, virtual_ties)
        information = _information(cells, chances, point, davidson, virtual_ties)
        converged = bool(np.abs(gradient).max() <= flat)
        if converged or iterations == _MOST_ITERATIONS:
            return Fit(
                strength=point[:models],
                log_tie=float(point[models]) if davidson else None,
                effects=point[models + ties :],
                information=information,
                bread=_inverse(information),
                iterations=iterations,
                converged=converged,
            )
        iterations += 1
        step = _solved(information, gradient, float(np.abs(gradient).max()) / (flat / _TOLERANCE))
        step[:models] -= step[:models].mean()
        # Near the maximum the likelihood is flat to rounding, so a loss within rounding is no reason to turn back.
        floor = level - 1e-12 * abs(level)
        length = 1.0
        while True:
            there = point + length * step
            chances = expected(*_split(cells, there, davidson))
            level = _likelihood(cells, chances, there, davidson, virtual_ties)
            if level >= floor or length <= _SMALLEST_STEP:
                break
            length /= 2
        point = there


def _solved(information: _Vector, gradient: _Vector, steepness: float) -> _Vector:
    """Return Newton's step: directly for few parameters, by preconditioned conjugate gradients for many.

    The latter (Hestenes and Stiefel 1952) end at an error in proportion to the gradient, so that Newton's steps still
    converge quadratically (Dembo, Eisenstat and Steihaug 1982, theorem 3.3), and give way where they take too long.
    """
    if len(gradient) < _MANY:
        return np.linalg.solve(information, gradient).astype(np.float64, copy=False)
    scale = 1 / np.diag(information)
    step, left = np.zeros(len(gradient)), gradient
    along = scale * left
    size = float(left @ along)
    goal = size * min(1e-2, steepness) ** 2
    for _ in range(_MOST_ROUNDS):
        turned = information @ along
        curvature = float(along @ turned)
        if not curvature > 0:
            break
        step = step + size / curvature * along
        left = left - size / curvature * turned
        scaled = scale * left
        size, before = float(left @ scaled), size
        if size <= goal:
            return step
        along = scaled + size / before * along
    return np.linalg.solve(information, gradient).astype(np.float64, copy=False)


def _inverse(information: _Vector) -> _Vector:
    """Return the inverse of a positive definite matrix; a large one by halves, which takes half the work."""
    half = len(information) // 2
    if len(information) < _MANY:
        return np.linalg.inv(information).astype(np.float64, copy=False)
    first = _inverse(information[:half, :half])
    across = information[half:, :half] @ first
    second = _inverse(information[half:, half:] - across @ information[:half, half:])
    between = -second @ across
    return np.block([[first - across.T @ between, between.T], [between, second]])


def information_at(cells: Cells, *, davidson: bool = False, virtual_ties: float = 0.0) -> _Vector:
    """Return the information where a fit starts: all models equal, covariates without effect."""
    point = _start(cells, davidson)
    return _information(cells, expected(*_split(cells, point, davidson)), point, davidson, virtual_ties)


def _start(cells: Cells, davidson: bool) -> _Vector:
    point = np.zeros(cells.models + davidson + cells.covariates.shape[1])
    if davidson:
        point[cells.models] = np.log(2 * cells.tied.sum() / (cells.weight.sum() - cells.tied.sum()))
    return point


def expected(difference: _Vector, log_tie: float | None) -> Chances:
    """Return what is expected of comparisons with these differences in log odds; without a `log_tie` nothing ties."""
    # Exponents are taken relative to the largest, so that none overflows and small chances keep all their digits.
    half = np.abs(difference) / 2
    first = difference >= 0
    if log_tie is None:
        behind = np.exp(-2 * half)
        better = 1 / (1 + behind)
        worse = behind * better
        nothing = np.zeros_like(half)
        score = np.where(first, better, worse)
        return Chances(score, nothing, better * worse, nothing, half + np.log1p(behind))
    top = np.maximum(half, log_tie)
    better, worse, tie = np.exp(half - top), np.exp(-half - top), np.exp(log_tie - top)
    whole = better + worse + tie
    better, worse, tie = better / whole, worse / whole, tie / whole
    win = np.where(first, better, worse)
    joint = tie * np.where(first, worse - better, better - worse) / 2
    return Chances(win + tie / 2, tie, better * worse + (better + worse) * tie / 4, joint, top + np.log(whole))


def information_of(
    cells: Cells, chances: Chances, davidson: bool, part: NDArray[np.intp] | None = None, parts: int = 1
) -> _Vector:
    """Return the information of each part of the comparisons, shape (parts, parameters, parameters).

    Args:
        cells: the comparisons.
        chances: what is expected of them.
        davidson: whether ties have a parameter.
        part: the part that each comparison belongs to, shape (cells,); by default there is one.
        parts: how many there are.
    """
    models, ties, covariates = cells.models, int(davidson), cells.covariates.shape[1]
    size = models + ties + covariates
    start = np.zeros(len(cells.a), dtype=np.intp) if part is None else part
    found = np.zeros((parts, size, size))
    spread, joint = cells.weight * chances.spread, cells.weight * chances.joint
    pairs = added((start * models + cells.a) * models + cells.b, spread, parts * models * models)
    pairs = pairs.reshape(parts, models, models)
    pairs = pairs + pairs.transpose(0, 2, 1)
    found[:, :models, :models] = -pairs
    diagonal = np.arange(models)
    found[:, diagonal, diagonal] += pairs.sum(axis=2)
    # Every further parameter has a derivative of the difference of its own; that of ties has none.
    crossed = [joint] * ties + [spread * column for column in cells.covariates.T]
    for place, column in enumerate(crossed, models):
        by_model = added(start * models + cells.a, column, parts * models)
        by_model -= added(start * models + cells.b, column, parts * models)
        found[:, place, :models] = found[:, :models, place] = by_model.reshape(parts, models)
        for other, factor in enumerate(cells.covariates.T, models + ties):
            found[:, place, other] = found[:, other, place] = added(start, column * factor, parts)
    if davidson:
        own = cells.weight * chances.tie * (1 - chances.tie)
        found[:, models, models] = added(start, own, parts)
    return found


def _split(cells: Cells, point: _Vector, davidson: bool) -> tuple[_Vector, float | None]:
    """Return the differences of comparisons, and the logarithm of the tie parameter."""
    difference = point[cells.a] - point[cells.b]
    if cells.covariates.shape[1]:
        difference = difference + cells.covariates @ point[cells.models + davidson :]
    return difference, float(point[cells.models]) if davidson else None


def _likelihood(cells: Cells, chances: Chances, point: _Vector, davidson: bool, virtual_ties: float) -> float:
    difference, log_tie = _split(cells, point, davidson)
    score = cells.won + cells.tied / 2
    found = 0.0 if log_tie is None else log_tie * float(cells.tied.sum())
    found += float(((score - cells.weight / 2) * difference - cells.weight * chances.total).sum())
    if virtual_ties:
        found -= virtual_ties * float(expected(point[: cells.models], None).total.sum())
    return found


def _gradient(cells: Cells, chances: Chances, point: _Vector, davidson: bool, virtual_ties: float) -> _Vector:
    models, found = cells.models, np.zeros(len(point))
    left = cells.won + cells.tied / 2 - cells.weight * chances.score
    found[:models] = added(cells.a, left, models) - added(cells.b, left, models)
    if virtual_ties:
        found[:models] += virtual_ties * (0.5 - expected(point[:models], None).score)
    found[:models] -= found[:models].mean()
    if davidson:
        found[models] = (cells.tied - cells.weight * chances.tie).sum()
    found[models + davidson :] = cells.covariates.T @ left
    return found


def _information(cells: Cells, chances: Chances, point: _Vector, davidson: bool, virtual_ties: float) -> _Vector:
    models = cells.models
    found: _Vector = information_of(cells, chances, davidson)[0]
    strengths = found[:models, :models]
    if virtual_ties:
        own = expected(point[:models], None).spread
        strengths[np.diag_indices(models)] += virtual_ties * own
        strengths -= strengths.mean(axis=0)
        strengths -= strengths.mean(axis=1, keepdims=True)
    strengths += float(np.trace(strengths)) / models**2
    return found
