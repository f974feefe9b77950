"""The Bradley-Terry fit: damped Newton on aggregated wins, with a sandwich covariance clustered by question."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coupled_arena.ratings.table import RatingInput

_TOLERANCE = 1e-12
"""Largest gradient at the maximum, relative to the weight of the busiest model's battles."""

_MOST_ITERATIONS = 100
_SMALLEST_STEP = 2.0**-30

_MOST_CELLS = 1 << 22
"""Cells (clusters x models) summed at a time, 32 MiB."""


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """A maximum of the likelihood, on the natural scale: log odds, mean 0."""

    strength: NDArray[np.float64]
    """Log strength of every model, shape (models,)."""
    bread: NDArray[np.float64]
    """Inverse information on the differences of strengths, shape (models, models)."""
    iterations: int
    """Newton steps taken."""
    converged: bool
    """Whether the gradient vanished."""


def fit(wins: NDArray[np.float64], virtual_ties: float) -> Fit:
    """Maximise the half-win Bradley-Terry likelihood over strengths of mean 0.

    The log likelihood is `sum wins[i, j] log P(i beats j)` with `P = 1 / (1 + exp(s_j - s_i))` (Bradley and Terry
    1952), a tie being half a win for both; with a prior each model also ties so many times with a model at the mean.
    It is concave; a maximum exists if the models are comparable (`connectivity.comparable`) or there is a prior.

    Args:
        wins: weight of the row model's wins over the column model, shape (models, models).
        virtual_ties: weight of each model's ties with a model at the mean, at least 0.
    """
    size = len(wins)
    strength = np.zeros(size)
    met = wins + wins.T
    flat = _TOLERANCE * float(met.sum(axis=1).max() + virtual_ties)
    level = _likelihood(strength, wins, virtual_ties)
    iterations = 0
    while True:
        chance = win_chance(strength)
        share = np.exp(-np.logaddexp(0, -strength))
        gradient = (wins - met * chance).sum(axis=1) + virtual_ties * (0.5 - share)
        gradient -= gradient.mean()
        information = _information(met * chance * chance.T, virtual_ties * share * (1 - share))
        converged = bool(np.abs(gradient).max() <= flat)
        if converged or iterations == _MOST_ITERATIONS:
            bread = np.linalg.inv(information).astype(np.float64)
            return Fit(strength, bread, iterations, converged)
        iterations += 1
        step = np.linalg.solve(information, gradient)
        step -= step.mean()
        # Near the maximum the likelihood is flat to rounding, so a loss within rounding is no reason to turn back.
        floor = level - 1e-12 * abs(level)
        length = 1.0
        while True:
            level = _likelihood(strength + length * step, wins, virtual_ties)
            if level >= floor or length <= _SMALLEST_STEP:
                break
            length /= 2
        strength = strength + length * step


def win_chance(strength: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the chance that the row model beats the column model, shape (models, models)."""
    return np.exp(-np.logaddexp(0, strength - strength[:, None]))


def _likelihood(strength: NDArray[np.float64], wins: NDArray[np.float64], virtual_ties: float) -> float:
    battles = -(wins * np.logaddexp(0, strength - strength[:, None])).sum()
    return float(battles - virtual_ties * (np.logaddexp(0, strength) + np.logaddexp(0, -strength)).sum() / 2)


def _information(pairs: NDArray[np.float64], own: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the negative second derivative on strengths of mean 0, made invertible along their common shift."""
    information = np.diag(pairs.sum(axis=1) + own) - pairs
    information -= information.mean(axis=0)
    information -= information.mean(axis=1, keepdims=True)
    return information + float(np.trace(information)) / len(own) ** 2


def sandwich(table: RatingInput, fitted: Fit) -> NDArray[np.float64]:
    """Return the covariance of the strengths, robust to any dependence within a cluster.

    `B (sum_g S_g S_g') B * G / (G - 1)`, S_g being the score of cluster g (Liang and Zeger 1986), shape
    (models, models). A single cluster has none: all entries are NaN.
    """
    size = len(table.names)
    present = np.bincount(table.cluster) > 0
    clusters = int(np.count_nonzero(present))
    if clusters < 2:
        return np.full((size, size), np.nan)
    cluster = (np.cumsum(present) - 1)[table.cluster]
    chance = win_chance(fitted.strength).ravel()
    residual = table.weight * (table.score - chance[table.a * size + table.b])
    if clusters == len(table):
        return fitted.bread @ _meat_of_single(table, residual) @ fitted.bread * (clusters / (clusters - 1))
    meat = np.zeros((size, size))
    for rows, first, count in _chunks(cluster, clusters, max(1, _MOST_CELLS // size)):
        at, cells = (cluster[rows] - first) * size, count * size
        scores = np.bincount(at + table.a[rows], residual[rows], cells)
        scores -= np.bincount(at + table.b[rows], residual[rows], cells)
        scores = scores.reshape(count, size)
        meat += scores.T @ scores
    return fitted.bread @ meat @ fitted.bread * (clusters / (clusters - 1))


def _meat_of_single(table: RatingInput, residual: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum of score products where every battle is a cluster of its own."""
    size = len(table.names)
    squares = np.bincount(table.a * size + table.b, residual**2, size * size).reshape(size, size)
    squares = squares + squares.T
    return np.diag(squares.sum(axis=1)) - squares


def _chunks(cluster: NDArray[np.intp], clusters: int, most: int) -> list[tuple[NDArray[np.intp] | slice, int, int]]:
    """Return (rows, first cluster, clusters) of parts with at most so many clusters each."""
    if clusters <= most:
        return [(slice(None), 0, clusters)]
    order = np.argsort(cluster, kind="stable")
    starts = np.arange(0, clusters, most)
    edges = np.searchsorted(cluster[order], np.append(starts, clusters))
    return [
        (order[edges[part] : edges[part + 1]], int(start), min(most, clusters - int(start)))
        for part, start in enumerate(starts)
    ]
