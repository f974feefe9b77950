"""Least squares with effects of cells absorbed, and what it comes to without each question in turn."""

import math

import numpy as np

from coupled_arena.analysis.judges.estimate import Estimate, Floats, spread
from coupled_arena.analysis.labels import Codes
from coupled_arena.ratings.tally import added

_COLLINEAR = 1e-10


def slope(
    score: Floats,
    regressors: Floats,
    cells: Codes | None,
    groups: Codes,
    *,
    level: float,
    none: str,
    basis: str = "",
) -> Estimate:
    """Return the coefficient of the first regressor beside the others and an intercept for every cell.

    Removing a question changes only the moments of the cells it has rows in, so that all fits without one question
    are exact and cost one pass over the rows. What the other regressors cannot be told apart in is shared among them
    and leaves the first one's coefficient as it is.

    Args:
        score: what is explained, shape (rows,).
        regressors: what explains it, shape (rows, regressors).
        cells: cell of every row; None for one intercept.
        groups: question of every row.
        level: coverage of the interval, between 0 and 1.
        none: why there is no coefficient where the first regressor does not vary by itself.
        basis: what the result names as its basis.

    Example:
        >>> x = np.array([0.0, 1, 2, 3, 4, 5])
        >>> y = 2 * x + np.array([0, 5, 0, 5, 0, 5]) + np.array([0.1, 0, 0, 0, 0, -0.1])
        >>> found = slope(y, x[:, None], np.array([0, 1, 0, 1, 0, 1]), np.arange(6), level=0.95, none="")
        >>> round(found.value, 3)
        1.975
    """
    if not len(score):
        return Estimate(reason=none, basis=basis)
    columns = np.concatenate([np.ones((len(score), 1)), regressors, score[:, None]], axis=1)
    cells = np.zeros(len(score), dtype=np.intp) if cells is None else cells
    group, cell = (np.unique(codes, return_inverse=True)[1] for codes in (groups, cells))
    questions, size = int(group.max()) + 1, int(cell.max()) + 1
    parts, at = np.unique(group * size + cell, return_inverse=True)
    of_cell, part = parts % size, summed((columns[:, :, None] * columns[:, None, :]), at, len(parts))
    whole = summed(part, of_cell, size)
    within = _about_means(whole)
    change = _about_means(whole[of_cell] - part) - within[of_cell]
    total = within.sum(axis=0)
    # What varies less than this beside its own size is what rounding leaves of a constant.
    least = _COLLINEAR * float(whole[:, 1, 1].sum())
    value = float(_first(total[None], least)[0])
    without = _first(total + summed(change, parts // size, questions), least)
    return spread(value, without, questions=questions, level=level, trials=len(score), none=none, basis=basis)


def summed(values: Floats, at: Codes, size: int) -> Floats:
    """Return the sums of the rows of every code, shape (size, ...)."""
    flat = values.reshape(len(values), math.prod(values.shape[1:]))
    sums: Floats = np.stack([added(at, column, size) for column in flat.T], axis=1)
    return sums.reshape(size, *values.shape[1:])


def _about_means(moments: Floats) -> Floats:
    """Return sums of products about the means, of those whose first row and column are number and sums."""
    sums = moments[:, 0, 1:]
    number = np.maximum(moments[:, 0, 0], 1)[:, None, None]
    about: Floats = moments[:, 1:, 1:] - sums[:, :, None] * sums[:, None, :] / number
    return about


def _first(moments: Floats, least: float) -> Floats:
    """Return the coefficient of the first regressor, NaN where it varies no more than `least`; shape (fits,)."""
    others = np.linalg.pinv(moments[:, 1:-1, 1:-1], hermitian=True, rcond=_COLLINEAR)
    along = moments[:, 0, None, 1:-1] @ others
    own = moments[:, 0, 0] - (along @ moments[:, 1:-1, 0, None])[:, 0, 0]
    joint = moments[:, 0, -1] - (along @ moments[:, 1:-1, -1, None])[:, 0, 0]
    found: Floats = np.divide(joint, own, out=np.full(len(own), np.nan), where=own > least)
    return found
