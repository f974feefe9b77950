"""What a fit sums over: pairs of models with their outcomes, or single battles where covariates tell them apart."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coupled_arena.ratings.table import RatingInput
from coupled_arena.ratings.tally import Tally

SIDE = "side"
"""Name of the covariate that is 1 in every battle: what it is worth to be side A."""


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Comparisons of two models with equal covariates, added up."""

    models: int
    """How many models there are."""
    a: NDArray[np.intp]
    """Code of the first model, shape (cells,)."""
    b: NDArray[np.intp]
    """Code of the second model, shape (cells,)."""
    won: NDArray[np.float64]
    """Weight of the battles that the first won, shape (cells,)."""
    tied: NDArray[np.float64]
    """Weight of the ties, shape (cells,)."""
    weight: NDArray[np.float64]
    """Weight of all battles, shape (cells,)."""
    covariates: NDArray[np.float64]
    """First less second model, each column of mean square 1, shape (cells, covariates)."""

    @classmethod
    def of_pairs(cls, tally: Tally) -> "Cells":
        """Return one cell for each two models that met."""
        won, tied = tally.won, tally.tied
        weight = won + won.T + tied
        a, b = np.divmod(np.flatnonzero(weight > 0), len(won))
        upper = a < b
        a, b = a[upper], b[upper]
        return cls(len(won), a, b, won[a, b], tied[a, b], weight[a, b], np.zeros((len(a), 0)))

    @classmethod
    def of_battles(cls, table: RatingInput, covariates: NDArray[np.float64]) -> "Cells":
        """Return one cell for each battle; `covariates` has shape (battles, covariates)."""
        won, tied = table.weight * (table.score == 1), table.weight * (table.score == 0.5)
        return cls(len(table.names), table.a, table.b, won, tied, table.weight, covariates)
