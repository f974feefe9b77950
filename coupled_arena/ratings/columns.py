"""Columns of names and verdicts, as in a data frame, made into columns of codes."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import count
from operator import itemgetter
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coupled_arena.errors import RatingError
from coupled_arena.ratings.table import RatingInput

_NEAR = 1 << 14
"""Codes replaced at a time."""

_READ = 1 << 12
"""Values looked up at a time."""

_BYTE = 256
"""So many codes fit a byte, and bytes are read faster than whole numbers."""


def columns_of(frame: pd.DataFrame, *names: str | None) -> list[Any]:
    """Return columns of a frame; of five, the last two may be None and are then found by their usual names or left out.

    Raises:
        RatingError: there is no column of this name.
    """
    usual = (None, None, None, "question", "weight")
    found: list[Any] = []
    for place, name in enumerate(names):
        if name is None and usual[place] not in frame.columns:
            found.append(None)
            continue
        wanted = usual[place] if name is None else name
        if wanted not in frame.columns:
            raise RatingError(f"the frame has no column {wanted!r}; it has {', '.join(map(str, frame.columns))}")
        found.append(frame[wanted])
    return found


def refuse_twice(frame: pd.DataFrame, key: tuple[str, ...]) -> None:
    """Raise `RatingError` where two rows have one value in all these columns."""
    if not key:
        return
    for name in key:
        columns_of(frame, name)
    again = frame.duplicated(list(key)).to_numpy()
    if not again.any():
        return
    second = int(np.argmax(again))
    same = (frame[list(key)] == frame[list(key)].iloc[second]).all(axis=1).to_numpy()
    values = ", ".join(f"{name} {frame[name].iloc[second]}" for name in key)
    raise RatingError(f"rows {int(np.argmax(same)) + 1} and {second + 1} are one battle: {values}; leave one out")


def table_of(
    a: Any,
    b: Any,
    verdict: Any,
    question: Any,
    weight: Any,
    covariates: Mapping[str, Any],
    verdicts: Mapping[Hashable, float | None],
    models: Iterable[str],
) -> RatingInput:
    """Return the table of columns; arguments and errors are those of `RatingInput.from_columns`."""
    lengths = {len(column) for column in (a, b, verdict, question, weight, *covariates.values()) if column is not None}
    if len(lengths) > 1:
        raise RatingError(f"columns must have one length, not {sorted(lengths)}")
    (first, first_names), (second, second_names) = _models(a, "A"), _models(b, "B")
    names = tuple(sorted({*first_names, *second_names, *models}))
    place = {name: index for index, name in enumerate(names)}
    score, rated = _scores(verdict, verdicts)
    table = RatingInput(
        names=names,
        a=_recoded(first, [place[name] for name in first_names]),
        b=_recoded(second, [place[name] for name in second_names]),
        score=score,
        # One number stands for all where weights are left out: it takes no memory and no time to read.
        weight=np.broadcast_to(1.0, score.shape) if weight is None else _numbers(weight, "the weight"),
        cluster=np.arange(len(score)) if question is None else _clusters(question),
        covariates={name: _numbers(column, f"the covariate {name}") for name, column in covariates.items()},
    )
    return table if rated is None else table.take(np.flatnonzero(rated))


def _recoded(codes: NDArray[np.intp], new: list[int]) -> NDArray[np.intp]:
    """Return the codes, replaced in place by what each stands for, in parts that stay in the processor's cache."""
    of_code = np.array(new, dtype=np.intp)
    for begin in range(0, len(codes), _NEAR):
        part = codes[begin : begin + _NEAR]
        part[:] = of_code[part]
    return codes


def _clusters(column: Any) -> NDArray[np.intp]:
    if isinstance(column, np.ndarray) and column.dtype == np.intp and len(column):
        low, high = int(column.min()), int(column.max())
        if high - low < 2 * len(column):
            # Small whole numbers are codes already.
            return (column - low).astype(np.intp, copy=False)
    return _present(column, "the question")[0]


def _models(column: Any, side: str) -> tuple[NDArray[np.intp], list[str]]:
    codes, names = _present(column, f"the model on side {side}")
    strangers = [place for place, name in enumerate(names) if not isinstance(name, str) or not name]
    if strangers:
        row = int(np.argmax(codes == strangers[0])) + 1
        raise RatingError(f"row {row} of {len(codes)}: the model on side {side} is {names[strangers[0]]!r}, not a name")
    return codes, names


def _scores(
    column: Any, verdicts: Mapping[Hashable, float | None]
) -> tuple[NDArray[np.float64], NDArray[np.bool_] | None]:
    """Return the score of A for every row, and which rows are rated, None where all are."""
    codes, labels = _present(column, "the verdict")
    for place, label in enumerate(labels):
        if label not in verdicts:
            row = int(np.argmax(codes == place)) + 1
            known = ", ".join(map(str, dict.fromkeys(map(str, verdicts))))
            raise RatingError(f"row {row} of {len(codes)}: unknown verdict {label!r}; known are {known}")
    values = [verdicts[label] for label in labels]
    score = np.array([0.0 if value is None else value for value in values], dtype=np.float64)[codes]
    if None not in values:
        return score, None
    return score, np.array([value is not None for value in values])[codes]


def _present(column: Any, what: str) -> tuple[NDArray[np.intp], list[Any]]:
    """Return codes and distinct values of a column; a missing value raises `RatingError`."""
    if isinstance(column, pd.Series | np.ndarray):
        codes, distinct = pd.factorize(column)
        values, missing = list(distinct), codes < 0
    else:
        # Few names in many rows: a dictionary is twice as fast as a factorisation of objects.
        place: defaultdict[Hashable, int] = defaultdict(count().__next__)
        codes = _read(column if isinstance(column, list | tuple) else list(column), place)
        values = list(place)
        absent = [index for index, value in enumerate(values) if value is None or value != value]
        missing = np.isin(codes, absent) if absent else np.zeros(0, dtype=np.bool_)
    if missing.any():
        raise RatingError(f"row {int(np.argmax(missing)) + 1} of {len(codes)}: {what} is missing")
    return codes.astype(np.intp, copy=False), values


def _read(column: Sequence[Hashable], place: defaultdict[Hashable, int]) -> NDArray[np.intp]:
    """Return the code of every value, those of new values being added to `place`."""
    codes = np.empty(len(column), dtype=np.intp)
    for begin in range(0, len(column), _READ):
        part = column[begin : begin + _READ]
        into = codes[begin : begin + _READ]
        if len(place) <= _BYTE:
            # The last value twice, as of one value no tuple is got.
            got = itemgetter(*part, part[-1])(place)
            if len(place) <= _BYTE:
                into[:] = np.frombuffer(bytes(got), dtype=np.uint8, count=len(part))
                continue
        into[:] = np.fromiter(map(place.__getitem__, part), dtype=np.intp, count=len(part))
    return codes


def _numbers(column: Any, what: str) -> NDArray[np.float64]:
    numbers = pd.to_numeric(pd.Series(column), errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    if np.isnan(numbers).any():
        row = int(np.argmax(np.isnan(numbers))) + 1
        raise RatingError(f"row {row} of {len(numbers)}: {what} is missing or no number")
    return numbers.copy()
