"""What an adaptive schedule wants to know: which pairs matter to it still, and whether it is known.

Relations between models are boolean matrices: row i, column j says that model i is known to be above model j.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Relation = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Goal:
    """The ranking of all models, or the set of the best ones, or which of two models is better."""

    top: int | None = None
    """How many models the wanted set holds."""
    pair: tuple[int, int] | None = None
    """Places of the two models, if only these matter."""

    def is_reached(self, above: Relation) -> bool:
        """Return whether a relation, closed, answers the question.

        One in which a model is above itself answers nothing: battles that go in a circle make no ranking.

        >>> above = closed(np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=bool))
        >>> Goal().is_reached(above), Goal(top=2).is_reached(above), Goal().is_reached(closed(above | above.T))
        (True, True, False)
        """
        if above.diagonal().any():
            return False
        if self.pair is not None:
            return bool(above[self.pair] or above[self.pair[::-1]])
        if self.top is not None:
            return int(_inside(above, self.top).sum()) == self.top
        return bool((above | above.T | np.eye(len(above), dtype=bool)).all())

    def open_pairs(self, above: Relation) -> Relation:
        """Return the pairs whose order is not known and matters, shape (models, models), symmetric.

        For a set of the best models these leave out two models that are known to be outside it, and those that are
        known to be inside: whoever belongs there too must be above the same others.
        """
        unknown: Relation = ~(above | above.T | np.eye(len(above), dtype=bool))
        if self.pair is not None:
            only: Relation = np.zeros(above.shape, dtype=bool)
            only[self.pair] = only[self.pair[::-1]] = unknown[self.pair]
            return only
        if self.top is None:
            return unknown
        inside, outside = _inside(above, self.top), above.sum(axis=0) >= self.top
        unknown &= ~(inside[:, None] | inside | (outside[:, None] & outside))
        return unknown

    def matters(self, strength: NDArray[np.float64]) -> Relation:
        """Return the pairs whose order is what is asked for if models are as strong as this, symmetric."""
        if self.top is None:
            return ~np.eye(len(strength), dtype=bool)
        inside = np.zeros(len(strength), dtype=bool)
        inside[np.argsort(-strength, kind="stable")[: self.top]] = True
        across: Relation = inside[:, None] != inside
        return across


def closed(above: Relation) -> Relation:
    """Return a relation with all that follows from it: who is above a model is above all below that."""
    found = above
    for step in range(len(above)):
        found = found | (found[:, step, None] & found[step])
    return found


def _inside(above: Relation, top: int) -> Relation:
    """Return which models are known to be among so many best: those above all but so many."""
    found: Relation = above.sum(axis=1) >= len(above) - top
    return found
