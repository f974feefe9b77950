"""Strengths by labels and judges together: prediction-powered inference.

With x the design of a battle, s(x) the mean score that the strengths expect of it, m its score by the judges and y its
label, over N battles of which n drawn at random are labelled, strengths solve

    w / N sum_all x (m - s) + 1 / n sum_labelled x ((y - s) - w (m - s)) = 0

(Angelopoulos, Duchi and Zrnic 2023, PPI++: Efficient prediction-powered inference, arXiv 2311.01453, for generalised
linear models). Whatever the judges do, the mean of the left side at the strengths that labels of all battles would
give is 0; the weight w only decides how much the judges help: 0 leaves the labels alone, 1 takes the judges at their
word and corrects them by the labelled battles. The equation is the derivative of a concave function.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from coupled_arena.analysis.calibration.slice import Slice
from coupled_arena.analysis.correction.likelihood import mean_free, sigmoid
from coupled_arena.analysis.judges.estimate import Floats
from coupled_arena.analysis.labels import Codes

_TOLERANCE = 1e-10
"""Largest derivative at the solution, per battle."""

_MOST_ITERATIONS = 100
_SMALLEST_STEP = 2.0**-30
_ROUNDING = 1e-14

_SAME = 1e-6
"""Weights that differ by less are the same."""

_MOST_ROUNDS = 20
"""Times that the weight is chosen anew at the strengths that it led to."""

_FARTHEST = 15.0
"""Strengths further from the mean than so many log odds say that no finite ones fit."""


class Powered(NamedTuple):
    """Strengths by labels and judges."""

    strength: Floats
    """Log strength of every model, mean 0, shape (models,)."""
    covariance: Floats
    """Of the strengths, shape (models, models)."""
    weight: float
    """Weight of the judges, in [0, 1]."""


def powered(part: Slice, weight: float | None = None) -> Powered | None:
    """Return strengths and their covariance, or None where no finite strengths fit.

    The weight is the one that makes the sum of the variances of all strengths least. The covariance is that of one
    Newton step of the jackknife over questions, in which the weight is chosen anew without each question: so it holds
    the spread of the labels, of the judges and of the weight, and any dependence within a question.

    Args:
        part: battles with labels on some, all models connected by labelled battles.
        weight: of the judges, in [0, 1]; the best by default.
    """
    equation = _Equation.of(part)
    now, held = 0.5 if weight is None else weight, weight is not None
    point = equation.solved(now, np.zeros(equation.design.shape[1]))
    for _ in range(_MOST_ROUNDS):
        if point is None:
            return None
        best = now if held else equation.sums(point).best(equation.bread(point, now))
        if abs(best - now) < _SAME:
            break
        now, point = best, equation.solved(best, point)
    if point is None:
        return None
    basis = mean_free(len(part.models))
    steps = equation.without_each(point, now, held=held) @ basis.T
    return Powered(basis @ point, (len(steps) - 1) / len(steps) * steps.T @ steps, now)


@dataclass(frozen=True, slots=True, eq=False)
class _Sums:
    """What every question adds to the equation at some strengths, shapes (questions,) or (questions, coordinates)."""

    battles: Floats
    """Battles."""
    labels: Floats
    """Labelled battles."""
    judged: Floats
    """Sum of x (m - s) over its battles."""
    at_labels: Floats
    """The same over its labelled battles."""
    labelled: Floats
    """Sum of x (y - s) over its labelled battles."""

    def influences(self, bread: Floats) -> tuple[Floats, Floats]:
        """Return what every question moves the strengths by: by its labels, and by its judges per weight."""
        judges = _centred(self.judged, self.battles) - _centred(self.at_labels, self.labels)
        return _centred(self.labelled, self.labels) @ bread, judges @ bread

    def best(self, bread: Floats) -> float:
        """Return the weight that makes the sum of variances least."""
        labels, judges = self.influences(bread)
        size = float((judges**2).sum())
        return float(np.clip(-(labels * judges).sum() / size, 0.0, 1.0)) if size else 0.0

    def best_without_each(self, bread: Floats) -> Floats:
        """Return the best weight without each question in turn, shape (questions,)."""
        labels, judges = self.influences(bread)
        along, size = (labels * judges).sum(axis=1), (judges**2).sum(axis=1)
        left = size.sum() - size
        best: Floats = np.divide(along - along.sum(), left, out=np.zeros_like(left), where=left > 0)
        return best.clip(0.0, 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class _Equation:
    """The equation of a slice, as a function of coordinates of the strengths."""

    design: Floats
    """Shape (battles, coordinates)."""
    judged: Floats
    """Score by the judges, shape (battles,)."""
    label: Floats
    """Score by the label, 0 without one, shape (battles,)."""
    marked: Floats
    """1 where there is a label, else 0, shape (battles,)."""
    question: Codes
    """From 0 without a gap, shape (battles,)."""

    @classmethod
    def of(cls, part: Slice) -> "_Equation":
        """Return the equation of a slice."""
        marked = part.labelled
        return cls(
            part.design, part.judged, np.where(marked, part.label, 0.0), marked.astype(np.float64), part.question
        )

    def share(self, weight: float) -> Floats:
        """Return how much each battle counts for what the strengths expect, shape (battles,)."""
        count: Floats = weight / len(self.marked) + (1 - weight) * self.marked / self.marked.sum()
        return count

    def solved(self, weight: float, start: Floats) -> Floats | None:
        """Return the solution by damped Newton steps, or None where there is no finite one."""
        count, marked = self.share(weight), self.marked / self.marked.sum()
        score = weight * self.judged / len(marked) + marked * (self.label - weight * self.judged)
        point = start
        for _ in range(_MOST_ITERATIONS):
            difference = self.design @ point
            chance = sigmoid(difference)
            slope = (score - count * chance) @ self.design
            if np.abs(slope).max() <= _TOLERANCE:
                return point
            if np.abs(difference).max() > 2 * _FARTHEST:
                return None
            step = np.linalg.solve((self.design.T * (count * chance * (1 - chance))) @ self.design, slope)
            level, length = self._level(score, count, difference), 1.0
            while True:
                there = point + length * step
                if self._level(score, count, self.design @ there) >= level - _ROUNDING or length <= _SMALLEST_STEP:
                    break
                length /= 2
            point = there
        return None

    def _level(self, score: Floats, count: Floats, difference: Floats) -> float:
        return float(score @ difference - count @ np.logaddexp(0.0, difference))

    def sums(self, point: Floats) -> _Sums:
        """Return what every question adds."""
        left = sigmoid(self.design @ point)

        def added(values: Floats) -> Floats:
            return np.stack([np.bincount(self.question, column) for column in (self.design.T * values)], axis=1)

        return _Sums(
            np.bincount(self.question).astype(np.float64),
            np.bincount(self.question, self.marked).astype(np.float64),
            added(self.judged - left),
            added(self.marked * (self.judged - left)),
            added(self.marked * (self.label - left)),
        )

    def bread(self, point: Floats, weight: float) -> Floats:
        """Return the inverse of the negative derivative, shape (coordinates, coordinates)."""
        chance = sigmoid(self.design @ point)
        spread = self.share(weight) * chance * (1 - chance)
        return np.linalg.inv((self.design.T * spread) @ self.design).astype(np.float64, copy=False)

    def without_each(self, point: Floats, weight: float, *, held: bool) -> Floats:
        """Return how far the solution moves without each question, to first order, shape (questions, coordinates)."""
        sums = self.sums(point)
        weights = np.full(len(sums.battles), weight) if held else sums.best_without_each(self.bread(point, weight))
        battles, labels = sums.battles.sum() - sums.battles, sums.labels.sum() - sums.labels
        w = weights[:, None]
        judged, at_labels, labelled = (
            column.sum(axis=0) - column for column in (sums.judged, sums.at_labels, sums.labelled)
        )
        slope = w * judged / battles[:, None] + (labelled - w * at_labels) / labels[:, None]
        chance = sigmoid(self.design @ point)
        spread, marked = chance * (1 - chance), self.marked * chance * (1 - chance)
        whole, of_labels = ((self.design.T * values) @ self.design for values in (spread, marked))
        moved: Floats = slope @ self.bread(point, weight)
        # A question without a label is one of many, and its pull on the solution is nothing beside its score.
        for one in np.flatnonzero(sums.labels):
            rows = np.flatnonzero(self.question == one)
            own = self.design[rows]
            left = whole - (own.T * spread[rows]) @ own
            left_of_labels = of_labels - (own.T * marked[rows]) @ own
            curve = weights[one] * left / battles[one] + (1 - weights[one]) * left_of_labels / labels[one]
            moved[one] = np.linalg.solve(curve, slope[one])
        return moved


def _centred(sums: Floats, numbers: Floats) -> Floats:
    """Return what every question adds to the mean of a sum, less what as many others would."""
    centred: Floats = (sums - np.outer(numbers / numbers.sum(), sums.sum(axis=0))) / numbers.sum()
    return centred
