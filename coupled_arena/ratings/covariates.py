"""Covariates of battles: what they are scaled by, and when they cannot be told apart from the models or each other."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from coupled_arena.errors import RatingError
from coupled_arena.ratings.cells import SIDE, Cells
from coupled_arena.ratings.fit import Fit, fit, information_at
from coupled_arena.ratings.table import RatingInput

_VANISHING = 1e-9
"""Information on a parameter, over what it would be apart from the others or between equals, that is none."""

_PART = 0.1
"""A covariate takes part in a direction if it has so much of its largest entry."""


def scales_of(table: RatingInput, names: Sequence[str]) -> NDArray[np.float64]:
    """Return the root mean square of every covariate, shape (covariates,).

    Raises:
        RatingError: a covariate is named twice, there is none of this name, or it is 0 in every battle.
    """
    scales = []
    for name in names:
        if name != SIDE and name not in table.covariates:
            known = ", ".join(dict.fromkeys((*table.covariates, SIDE)))
            raise RatingError(f"the battles have no covariate {name!r}; there are {known}")
        scale = 1.0 if name == SIDE else float(np.sqrt(np.mean(table.covariates[name] ** 2))) if len(table) else 1.0
        if not scale:
            raise RatingError(f"the covariate {name} is 0 in every battle, so nothing tells its effect; leave it out")
        scales.append(scale)
    if len(set(names)) < len(names):
        raise RatingError(f"a covariate is named twice in {', '.join(names)}; name each once")
    return np.array(scales, dtype=np.float64)


def standardised(table: RatingInput, names: Sequence[str], scales: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the covariates over their scales, shape (battles, covariates)."""
    if not names:
        return np.zeros((len(table), 0))
    own = table.covariates
    # A column of one's own that is called side is what it says.
    columns = [own[name] if name in own else np.ones(len(table)) for name in names]
    return np.stack(columns, axis=1) / scales


def fit_with(cells: Cells, names: Sequence[str], *, davidson: bool, virtual_ties: float) -> Fit:
    """Fit comparisons with covariates, or say why there is no such fit.

    Raises:
        RatingError: a covariate cannot be told apart from the models or other covariates, or it separates the battles
            won from those lost, so that no finite effect fits best.
    """
    before = information_at(cells, davidson=davidson, virtual_ties=virtual_ties)
    each = np.sqrt(np.diag(before))
    values, directions = np.linalg.eigh(before / np.outer(each, each))
    if values[0] < _VANISHING:
        which = _taking_part(directions[:, 0], names)
        raise RatingError(
            f"the battles cannot tell the effect of {which} apart from the strengths of the models or from one "
            "another: leave one out"
        )
    try:
        found = fit(cells, davidson=davidson, virtual_ties=virtual_ties)
    except np.linalg.LinAlgError:
        raise RatingError(f"the effects of {', '.join(names)} have no finite best fit: leave one out") from None
    root = np.linalg.inv(np.linalg.cholesky(before))
    values, directions = np.linalg.eigh(root @ found.information @ root.T)
    if values[0] < _VANISHING or not found.converged:
        which = _taking_part((root.T @ directions[:, 0]) * each, names)
        raise RatingError(
            f"no finite effect of {which} fits best: it separates the battles won from those lost (near-separation, "
            f"after {found.iterations} steps); leave it out, or rate more battles"
        )
    return found


def _taking_part(direction: NDArray[np.float64], names: Sequence[str]) -> str:
    entries = np.abs(direction[-len(names) :])
    return " and ".join(name for name, entry in zip(names, entries, strict=True) if entry >= _PART * entries.max())
