"""How far the mean of n scores lies from the mean of all, and how many scores that saves: the paper's resampling rule.

The rule is that of the code published with arXiv 2502.01754: rows of a table of scores, one for every question and
replicate, are drawn without replacement; the error of a sample of n rows is the distance of its mean difference from
that of all rows; a saving is read off two such curves where they are level. It is kept to recompute published numbers:
the largest of many noisy readings, it finds a saving of about 10 % where nothing was shared. To know what shared dice
save, use `paired`.
"""

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coupled_arena.analysis.moments import Floats
from coupled_arena.errors import ConfigurationError, Problem

Method = Literal["replay", "expected"]
"""The draws of the published code over again, or what they come to on average."""

STEP = 20
"""Distance of the sample sizes, and the smallest of them."""

REPETITIONS = 1000

_ON_LATTICE = 1e-9


def sample_sizes(rows: int) -> NDArray[np.int64]:
    """Return the sizes of the paper's curves: 20, 40, ... below the number of rows."""
    return np.arange(STEP, rows, STEP)


def error_curves(
    arms: Sequence[ArrayLike],
    *,
    method: Method = "expected",
    sizes: ArrayLike | None = None,
    repetitions: int = REPETITIONS,
) -> Floats:
    """Return the mean absolute error of the mean difference of n rows, for every n.

    `replay` gives to rounding what the published code gives: repetition i draws n rows of each arm in turn by
    `groupby(...).sample(n, random_state=i)`. That is the beginning of a permutation which does not depend on n, so one
    permutation and its cumulative sums serve all sizes.

    `expected` is what that tends to with ever more repetitions: the mean of the absolute error's Edgeworth expansion,
    `sqrt(2 / pi) s (1 + (g^2 - k) / 24)` with the standard deviation s, skewness g and excess kurtosis k of the mean of
    n rows drawn without replacement (Isserlis 1931, Proceedings of the Royal Society A 132), less the term of
    Euler and Maclaurin for values that lie on a lattice, as those of right and wrong answers do. With ten
    rows or more in the sample and outside it, it is within 0.5 % where the sum of the sample has a standard deviation
    of two steps of the lattice, within 5 % from one step on, and rough below.

    Args:
        arms: differences of scores of each arm, shape (rows,) or (rows, pairs of models); rows = questions times
            replicates, no NaN; equally many rows in all arms.
        method: `replay` or `expected`.
        sizes: the n, each from 1 to the number of rows; None for `sample_sizes`.
        repetitions: of `replay`.

    Returns:
        Shape (arms, sizes), or (arms, sizes, pairs).

    Raises:
        ConfigurationError: the arms do not fit together, hold NaN, or a size or the method is none.

    Example:
        >>> differences = np.repeat([1.0, 0.0, -1.0], [20, 70, 10])
        >>> error_curves([differences], sizes=[10, 50]).round(4).tolist()
        [[0.1257, 0.0428]]
        >>> error_curves([differences], sizes=[10, 50], method="replay").round(4).tolist()
        [[0.1223, 0.0424]]
    """
    tables = [np.asarray(arm, dtype=np.float64) for arm in arms]
    rows = len(tables[0]) if tables and tables[0].ndim else 0
    taken = np.asarray(sample_sizes(rows) if sizes is None else sizes, dtype=np.int64)
    _check(tables, rows, taken, method, repetitions)
    if method == "replay":
        return _replayed(tables, taken, repetitions)
    return np.stack([_expected(table, taken) for table in tables])


def largest_gain(coupled: ArrayLike, independent: ArrayLike, *, threshold: float = 0.01) -> float | None:
    """Return the saving that the published code reads off two error curves (`get_max_gain`).

    Over all pairs of sizes n_c, n_i of the two curves whose errors differ by at most `threshold` times the smaller one,
    n_c not being the first size, it is the largest `(n_i - n_c) / n_i`; None where no pair is level.

    Args:
        coupled: errors with shared dice at the sizes of `sample_sizes`, shape (sizes,).
        independent: errors without, same shape.
        threshold: how level two errors have to be; the paper's code takes 0.005, 0.01 or 0.05, by pair of models.
    """
    shared, own = np.asarray(coupled, dtype=np.float64), np.asarray(independent, dtype=np.float64)
    best = None
    for place in range(1, len(shared)):
        level = np.abs(shared[place] - own) <= threshold * np.minimum(shared[place], own)
        if level.any():
            # The gain grows with the size of the independent sample: the largest level one has it.
            other = int(np.flatnonzero(level)[-1])
            gain = (other - place) / (other + 1)
            best = gain if best is None else max(best, gain)
    return best


def _check(tables: Sequence[Floats], rows: int, sizes: NDArray[np.int64], method: str, repetitions: int) -> None:
    problems = []
    if not rows or any(table.shape != tables[0].shape or table.ndim > 2 for table in tables):
        shapes = ", ".join(str(table.shape) for table in tables) or "none"
        problems.append(Problem("error_curves", "arms", f"need one shape (rows,) or (rows, pairs), not {shapes}"))
    elif not all(np.isfinite(table).all() for table in tables):
        problems.append(Problem("error_curves", "arms", "the rule knows no missing scores; leave their rows out"))
    elif sizes.ndim != 1 or not ((sizes >= 1) & (sizes <= rows)).all():
        problems.append(Problem("error_curves", "sizes", f"need sizes from 1 to {rows}, the number of rows"))
    if method not in ("replay", "expected"):
        problems.append(Problem("error_curves", "method", f"is 'replay' or 'expected', not {method!r}"))
    if repetitions < 1:
        problems.append(Problem("error_curves", "repetitions", f"need at least 1, not {repetitions}"))
    if problems:
        raise ConfigurationError(problems)


def _replayed(tables: Sequence[Floats], sizes: NDArray[np.int64], repetitions: int) -> Floats:
    # Columns are summed one by one: each fits a cache, all of them together do not.
    columns = [np.ascontiguousarray(table.reshape(len(table), -1).T) for table in tables]
    means = [table.mean(axis=1)[:, None] for table in columns]
    total = np.zeros((len(tables), len(columns[0]), len(sizes)))
    for repetition in range(repetitions):
        # The legacy generator: its stream is what the published numbers were drawn from.
        state = np.random.RandomState(repetition)
        for arm, (table, mean) in enumerate(zip(columns, means, strict=True)):
            order = state.permutation(table.shape[1])
            sums = np.stack([column[order].cumsum()[sizes - 1] for column in table])
            total[arm] += np.abs(sums / sizes - mean)
    return (total / repetitions).transpose(0, 2, 1).reshape(len(tables), len(sizes), *tables[0].shape[1:])


def _expected(table: Floats, sizes: NDArray[np.int64]) -> Floats:
    if table.ndim == 1:
        return _expected_error(table, sizes)
    return np.column_stack([_expected_error(column, sizes) for column in table.T])


def _expected_error(values: Floats, sizes: NDArray[np.int64]) -> Floats:
    """Return the mean absolute error at every size, shape (sizes,)."""
    rows = len(values)
    n, rest = sizes.astype(np.float64), rows - sizes.astype(np.float64)
    centred = values - values.mean()
    second, third, fourth = (float((centred**power).mean()) for power in (2, 3, 4))
    errors = np.zeros(len(sizes))
    inside = rest > 0
    if second == 0 or rows < 4:
        return errors if second == 0 else _normal(second, n, rest, rows)
    n, rest = n[inside], rest[inside]
    variance = n * rest / (rows - 1) * second
    skew = n * rest * (rest - n) / ((rows - 1) * (rows - 2)) * third
    kurt = (rows * (rows + 1) - 6 * n * rest) * fourth + 3 * rows * (n - 1) * (rest - 1) * second**2
    kurt *= n * rest / ((rows - 1) * (rows - 2) * (rows - 3))
    shape = 1 + (skew**2 / variance**3 - (kurt / variance**2 - 3)) / 24
    step = _lattice(values)
    if step:
        # Where the kink of the absolute value, at the mean, lies between two values that the sum can take.
        offset = (n * (values.mean() - values.min()) / step) % 1
        shape -= step**2 / variance * (offset**2 - offset + 1 / 6) / 2
    errors[inside] = math.sqrt(2 / math.pi) * np.sqrt(variance) / n * shape
    return errors


def _normal(second: float, n: Floats, rest: Floats, rows: int) -> Floats:
    return np.sqrt(2 / math.pi * second * rest / (n * (rows - 1)))


def _lattice(values: Floats) -> float:
    """Return the largest step that all values are whole steps apart by; 0 where there is none."""
    apart = np.unique(values) - values.min()
    step = float(apart[1])
    while step > _ON_LATTICE * apart[-1]:
        off = apart % step
        off = np.minimum(off, step - off)
        off = off[off > _ON_LATTICE * apart[-1]]
        if not len(off):
            return step
        step = float(off.min())
    return 0.0
