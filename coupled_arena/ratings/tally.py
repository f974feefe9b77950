"""Battles counted by pair and outcome: all that a fit without covariates needs to know of them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

OUTCOMES = 3
"""A lost, tied or won: twice its score."""

_NEAR = 1 << 14
"""Battles coded at a time: they stay in the processor's cache."""


def added(code: NDArray[np.intp], values: NDArray[np.float64], codes: int = 0) -> NDArray[np.float64]:
    """Return the sum of the values of every code, shape (codes,)."""
    return np.bincount(code, values, codes).astype(np.float64, copy=False)


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """Battles by side A, side B and outcome."""

    code: NDArray[np.intp]
    """`(a * models + b) * 3 + outcome` of every battle, shape (battles,): where it is counted."""
    battles: NDArray[np.intp]
    """How many, shape (models, models, 3): by A, by B, by outcome."""
    won: NDArray[np.float64]
    """Weight of each row model's wins over each column model, on either side, shape (models, models)."""
    tied: NDArray[np.float64]
    """Weight of the ties of each two models, shape (models, models)."""

    @classmethod
    def of(
        cls,
        models: int,
        a: NDArray[np.intp],
        b: NDArray[np.intp],
        score: NDArray[np.float64],
        weight: NDArray[np.float64],
    ) -> "Tally":
        """Return the tally of columns as in `RatingInput`."""
        code = np.empty(len(a), dtype=np.intp)
        for begin in range(0, len(a), _NEAR):
            rows = slice(begin, begin + _NEAR)
            part = code[rows]
            np.multiply(a[rows], models, out=part)
            part += b[rows]
            part *= OUTCOMES
            part += (2 * score[rows]).astype(np.intp)
        shape = (models, models, OUTCOMES)
        battles = np.bincount(code, minlength=models * models * OUTCOMES)
        if len(weight) and weight.min() == weight.max():
            total = (battles * weight[0]).astype(np.float64)
        else:
            total = added(code, weight, models * models * OUTCOMES)
        total = total.reshape(shape)
        lost, tied, won = (np.ascontiguousarray(total[:, :, outcome]) for outcome in range(OUTCOMES))
        return cls(code, battles.reshape(shape), won + lost.T, tied + tied.T)

    @property
    def counts(self) -> NDArray[np.intp]:
        """Battles that each model lost, tied and won, shape (models, 3)."""
        # Sums along the last axis are the fast ones, and three numbers make too short an axis.
        on_side_a = np.stack([self.battles[:, :, outcome].sum(axis=1) for outcome in range(OUTCOMES)], axis=1)
        counts: NDArray[np.intp] = on_side_a + self.battles.sum(axis=0)[:, ::-1]
        return counts
