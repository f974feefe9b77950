"""The likelihood of single verdicts: strengths of the models, effects of the judges, and lapses.

With d the difference of two log strengths plus what the judge's effects add to it, a judge that lapses with the chance
e scores side A with the mean

    p = e / 2 + (1 - e) / (1 + exp(-d))

(Wichmann and Hill 2001, Perception & Psychophysics 63, for the lapse). A verdict with score y adds `y log p + (1 - y)
log(1 - p)`, so that a tie is half a win for both, as in `ratings.fit`; without lapses this is its likelihood. A prior
adds so many virtual ties of every model with a model at the mean.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from coupled_arena.analysis.correction.votes import Floats
from coupled_arena.analysis.labels import Codes

Parts = tuple[Floats, Floats, Floats]
"""On the difference, on difference and lapse, and on the lapse, each of shape (votes,)."""

_LEAST = 1e-100
"""A smaller chance is taken for so much, so that a verdict against all odds costs much and not without end."""


class Rows(NamedTuple):
    """The log likelihood of every verdict, and its derivatives on difference and lapse, each of shape (votes,)."""

    level: Floats
    """Its value."""
    on_difference: Floats
    """First derivative on the difference."""
    on_lapse: Floats
    """First derivative on the lapse."""
    expected: Parts
    """Expected information on the difference, on difference and lapse, and on the lapse."""
    observed: Parts
    """Negative second derivatives, in the same order."""


@dataclass(frozen=True, eq=False)
class Derivatives:
    """The log likelihood at a point, and its derivatives; the second ones take longest, and only when asked for."""

    level: float
    """Its value."""
    gradient: Floats
    """First derivative, shape (parameters,)."""
    information: Callable[[Parts], Floats]
    """Returns the information that the verdicts' own add up to, the prior's included."""
    rows: Rows
    """What every verdict adds."""

    @cached_property
    def expected(self) -> Floats:
        """Expected information: never negative, shape (parameters, parameters)."""
        return self.information(self.rows.expected)

    @cached_property
    def observed(self) -> Floats:
        """Negative second derivative, shape (parameters, parameters)."""
        return self.information(self.rows.observed)


@dataclass(frozen=True, slots=True, eq=False)
class Likelihood:
    """The likelihood of verdicts as a function of (strengths in a basis of those of mean 0, effects, lapses)."""

    basis: Floats
    """Orthonormal columns of mean 0, shape (models, models - 1): strengths are `basis @ coordinates`."""
    design: Floats
    """What coordinates and effects add to the difference of every verdict, shape (votes, coordinates + effects)."""
    score: Floats
    """Score of A, shape (votes,)."""
    lapse: Codes
    """Which lapse a verdict has, -1 for none, shape (votes,)."""
    lapses: int
    """How many there are."""
    virtual_ties: float
    """Weight of the prior."""

    @classmethod
    def of(
        cls, models: int, a: Codes, b: Codes, score: Floats, effects: Floats, lapse: Codes, virtual_ties: float
    ) -> "Likelihood":
        """Return the likelihood of columns of codes; `effects` has shape (votes, effects)."""
        basis = mean_free(models)
        design = np.concatenate([basis[a] - basis[b], effects], axis=1)
        return cls(basis, design, score, lapse, int(lapse.max(initial=-1)) + 1, virtual_ties)

    @property
    def size(self) -> int:
        """How many parameters there are."""
        return int(self.design.shape[1]) + self.lapses

    def part(self, chosen: Codes) -> "Likelihood":
        """Return the likelihood of some of the verdicts, without the prior."""
        return replace(
            self, design=self.design[chosen], score=self.score[chosen], lapse=self.lapse[chosen], virtual_ties=0.0
        )

    def rows(self, point: Floats) -> Rows:
        """Return what every verdict adds."""
        linear = self.design.shape[1]
        difference = self.design @ point[:linear]
        # Without a lapse the last entry is read, which is none.
        e = np.append(point[linear:], 0.0)[self.lapse]
        up, down = sigmoid(difference), sigmoid(-difference)
        p, q = (np.maximum(e / 2 + (1 - e) * side, _LEAST) for side in (up, down))
        y = self.score
        slope, away = (1 - e) * up * down, (down - up) / 2
        left = y / p - (1 - y) / q
        curve = y / p**2 + (1 - y) / q**2
        bend, cross = slope * (down - up), -up * down
        spread = 1 / (p * q)
        return Rows(
            level=y * np.log(p) + (1 - y) * np.log(q),
            on_difference=left * slope,
            on_lapse=left * away,
            expected=(spread * slope**2, spread * slope * away, spread * away**2),
            observed=(curve * slope**2 - left * bend, curve * slope * away - left * cross, curve * away**2),
        )

    def at(self, point: Floats) -> Derivatives:
        """Return the log likelihood and its derivatives."""
        rows = self.rows(point)
        coordinates = self.basis.shape[1]
        gradient = np.concatenate([rows.on_difference @ self.design, self._by_lapse(rows.on_lapse)])
        level = float(rows.level.sum())
        pull: Floats | None = None
        if self.virtual_ties:
            strength = self.basis @ point[:coordinates]
            up, down = sigmoid(strength), sigmoid(-strength)
            level += self.virtual_ties * float((np.log(up) + np.log(down)).sum()) / 2
            gradient[:coordinates] += self.virtual_ties * ((down - up) / 2) @ self.basis
            pull = self.virtual_ties * (self.basis.T * (up * down)) @ self.basis

        def information(parts: Parts) -> Floats:
            found = self._information(parts)
            if pull is not None:
                found[:coordinates, :coordinates] += pull
            return found

        return Derivatives(level, gradient, information, rows)

    def _by_lapse(self, values: Floats) -> Floats:
        return np.bincount(self.lapse + 1, values, self.lapses + 1)[1:].astype(np.float64, copy=False)

    def _information(self, parts: Parts) -> Floats:
        own, crossed, lapsing = parts
        linear = self.design.shape[1]
        found = np.zeros((self.size, self.size))
        found[:linear, :linear] = (self.design.T * own) @ self.design
        for lapse in range(self.lapses):
            rows = self.lapse == lapse
            column = crossed[rows] @ self.design[rows]
            found[:linear, linear + lapse] = found[linear + lapse, :linear] = column
            found[linear + lapse, linear + lapse] = lapsing[rows].sum()
        return found


def mean_free(models: int) -> Floats:
    """Return orthonormal columns that span all vectors of mean 0, shape (models, models - 1).

    >>> columns = mean_free(3)
    >>> bool(abs(columns.sum(axis=0)).max() < 1e-12), (columns.T @ columns).round(12).tolist()
    (True, [[1.0, 0.0], [0.0, 1.0]])
    """
    step = np.arange(1, models)
    columns: Floats = np.where(np.arange(models)[:, None] < step, 1.0, 0.0)
    columns[step, step - 1] = -step
    columns /= np.sqrt(step * (step + 1))
    return columns


def sigmoid(x: Floats) -> Floats:
    """Return 1 / (1 + exp(-x)), all digits of small ones kept."""
    # Exponents are never positive, so that none overflows.
    small = np.exp(-np.abs(x))
    return np.asarray(np.where(x >= 0, 1.0, small) / (1 + small), dtype=np.float64)
