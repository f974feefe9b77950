"""Reads the rows of a user's JSONL, CSV or Parquet file; what is wrong with it becomes problems with file and line."""

import csv
import io
import json
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from coupled_arena.errors import Problem


class Problems(Protocol):
    """Where problems are added: a list, or what keeps the first of them."""

    def append(self, problem: Problem, /) -> None:
        """Add a problem."""
        ...


class _Twice(ValueError):
    """A row has two values for one field, of which nobody knows the right one."""


def _twice(names: Sequence[str]) -> str | None:
    return next((f"has the field {name!r} twice" for name, count in Counter(names).items() if count > 1), None)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs) and (twice := _twice([name for name, _ in pairs])):
        raise _Twice(twice)
    return fields


_DECODER = json.JSONDecoder(object_pairs_hook=_once)


def text_of(path: Path, key: str, problems: Problems) -> str | None:
    """Return the text of a file in UTF-8, or None where it cannot be read.

    Args:
        path: the file.
        key: what the problems call what it holds.
        problems: where problems are added.
    """
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        problems.append(Problem(f"{path}:{line}", key, "is not UTF-8; save the file as UTF-8"))
    except (OSError, ValueError) as error:
        # A ValueError is a path that no file can have: one with a null byte.
        problems.append(Problem(str(path), key, f"cannot be read: {getattr(error, 'strerror', None) or error}"))
    return None


def json_rows(path: Path, content: str, key: str, problems: Problems) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield line number and fields of every line of a JSONL file that is not blank."""
    for number, line in enumerate(content.split("\n"), start=1):
        if line.strip() and (row := _object(line, f"{path}:{number}", key, problems)) is not None:
            yield number, row


def json_table(path: Path, content: str, key: str, problems: Problems) -> dict[str, Any] | None:
    """Return the one object of a JSON file, or None where it holds something else."""
    return _object(content, str(path), key, problems)


def _object(text: str, where: str, key: str, problems: Problems) -> dict[str, Any] | None:
    try:
        found = _DECODER.decode(text)
    except _Twice as error:
        problems.append(Problem(where, key, str(error)))
        return None
    except (ValueError, RecursionError) as error:
        problems.append(Problem(where, key, f"is not JSON: {error}"))
        return None
    if not isinstance(found, dict):
        problems.append(Problem(where, key, "is not a JSON object"))
        return None
    return found


def csv_rows(
    path: Path,
    content: str,
    key: str,
    problems: Problems,
    header: list[str] | None = None,
    known: Collection[str] | None = None,
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield first line number and fields of every row of a CSV file that is not blank.

    Args:
        path: the file.
        content: its text.
        key: what the problems call what it holds.
        problems: where problems are added.
        header: names of the columns; None takes them from the first row, and a first row that repeats them is skipped.
        known: columns that a first row may name, or None for any; where it names others, no row is yielded.
    """
    # Lines end where CSV has them end: a form feed or a Unicode line separator is text.
    reader = csv.reader(io.StringIO(content, newline=""), strict=True)
    # No field is longer than the file; without this, the limit is 128 KiB.
    csv.field_size_limit(max(len(content), csv.field_size_limit()))
    named = header is not None
    unknown: list[str] = []
    start = 1
    try:
        if header is None:
            header = next((values for values in reader if any(values)), [])
            if twice := _twice(header):
                problems.append(Problem(f"{path}:{reader.line_num}", key, twice))
                return
            unknown = [] if known is None else [name for name in header if name not in known]
            for name in unknown:
                message = f"is unknown; there are {', '.join(known or ())}"
                problems.append(Problem(f"{path}:{reader.line_num}", name or "a column without a name", message))
            start = reader.line_num + 1
        for values in reader:
            if any(values) and not (named and start == 1 and values == header):
                if len(values) != len(header):
                    wanted = f"a row has {len(header)}" if named else f"the header has {len(header)}"
                    message = f"has {len(values)} fields where {wanted}"
                    problems.append(Problem(f"{path}:{start}", key, message))
                elif not unknown:
                    yield start, dict(zip(header, values, strict=True))
            start = reader.line_num + 1
    except csv.Error as error:
        problems.append(Problem(f"{path}:{reader.line_num}", key, f"is not CSV: {error}"))


def parquet_rows(
    path: Path, key: str, problems: Problems, wanted: Collection[str] = ()
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield number, from 1, and fields of every row of a Parquet file.

    Args:
        path: the file.
        key: what the problems call what it holds.
        problems: where problems are added.
        wanted: the columns to read, as far as there are any of them; else all are read.
    """
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        problems.append(Problem(str(path), key, 'Parquet needs pyarrow: pip install "coupled-arena[parquet]"'))
        return
    number = 0
    try:
        with parquet.ParquetFile(path) as file:
            if twice := _twice(file.schema_arrow.names):
                problems.append(Problem(str(path), key, twice))
                return
            columns = [name for name in file.schema_arrow.names if name in wanted] or None
            for batch in file.iter_batches(columns=columns):
                for fields in batch.to_pylist():
                    number += 1
                    yield number, fields
    except (ArrowException, OSError, ValueError, OverflowError) as error:
        # Arrow leaves it to Python to find that a text is no UTF-8 and a time no date.
        problems.append(Problem(str(path), key, f"cannot be read: {' '.join(str(error).split())}"))
