"""Rows of a file of battles, each with its place: CSV, JSONL, JSON or Parquet."""

import csv
import json
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from coupled_arena.errors import ConfigurationError, Problem

ENDINGS = (".csv", ".json", ".jsonl", ".ndjson", ".parquet")
"""Endings of files that can be read."""

MOST_PROBLEMS = 20
"""More problems of one file than this are counted, not listed."""


class Row(NamedTuple):
    """One row of a file."""

    where: str
    """File and line, entry or row, from 1."""
    fields: dict[str, Any]
    """Values by column; in CSV all of them are text."""


class Problems:
    """What is wrong with a file: all of it is looked for, the first of it is kept."""

    def __init__(self) -> None:
        self.found: list[Problem] = []
        """The first problems."""
        self.more = 0
        """How many there are beside them."""

    def add(self, where: str, key: str, message: str) -> None:
        """Note a problem."""
        if len(self.found) < MOST_PROBLEMS:
            self.found.append(Problem(where, key, message))
        else:
            self.more += 1

    def error(self, path: Path) -> ConfigurationError:
        """Return the error that names them."""
        rest = [Problem(str(path), "rows", f"has {self.more} more problems like these")] if self.more else []
        return ConfigurationError([*self.found, *rest])


def read_rows(path: Path, wanted: Collection[str], problems: Problems) -> Iterator[Row]:
    """Yield the rows of a file in its order; what cannot be read is a problem.

    Args:
        path: a file that ends in one of `ENDINGS`; text is UTF-8.
        wanted: the columns to read of a Parquet file, as far as it has them; other formats give all.
        problems: what is wrong goes here.
    """
    if path.suffix not in ENDINGS:
        problems.add(str(path), "file", f"must end in one of {', '.join(ENDINGS)}")
        return
    try:
        if path.suffix == ".parquet":
            yield from _parquet(path, wanted, problems)
            return
        content = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        problems.add(f"{path}:{line}", "file", "is not UTF-8; save the file as UTF-8")
    except (OSError, ValueError) as error:
        # A ValueError is a path that no file can have, or a file that is not Parquet.
        problems.add(str(path), "file", f"cannot be read: {getattr(error, 'strerror', None) or error}")
    else:
        yield from {".csv": _csv, ".json": _json}.get(path.suffix, _lines)(path, content, problems)


def _csv(path: Path, content: str, problems: Problems) -> Iterator[Row]:
    reader = csv.reader(content.splitlines(keepends=True), strict=True)
    csv.field_size_limit(max(len(content), csv.field_size_limit()))
    try:
        header = next(reader, [])
        start = reader.line_num + 1
        for values in reader:
            if len(values) == len(header):
                yield Row(f"{path}:{start}", dict(zip(header, values, strict=True)))
            elif any(values):
                problems.add(f"{path}:{start}", "row", f"has {len(values)} fields where the header has {len(header)}")
            start = reader.line_num + 1
    except csv.Error as error:
        problems.add(f"{path}:{reader.line_num}", "file", f"is not CSV: {error}")


def _lines(path: Path, content: str, problems: Problems) -> Iterator[Row]:
    for number, line in enumerate(content.split("\n"), start=1):
        if line.strip():
            try:
                value = json.loads(line)
            except (ValueError, RecursionError) as error:
                problems.add(f"{path}:{number}", "row", f"is not JSON: {error}")
                continue
            yield from _objects([(f"{path}:{number}", value)], problems)


def _json(path: Path, content: str, problems: Problems) -> Iterator[Row]:
    try:
        values = json.loads(content)
    except (ValueError, RecursionError) as error:
        problems.add(str(path), "file", f"is not JSON: {error}; one object a line is .jsonl")
        return
    if not isinstance(values, list):
        problems.add(str(path), "file", "must be a list of objects, one for each battle")
        return
    yield from _objects([(f"{path}: entry {n}", value) for n, value in enumerate(values, start=1)], problems)


def _objects(values: list[tuple[str, Any]], problems: Problems) -> Iterator[Row]:
    for where, value in values:
        if isinstance(value, dict):
            yield Row(where, value)
        else:
            problems.add(where, "row", "is not a JSON object")


def _parquet(path: Path, wanted: Collection[str], problems: Problems) -> Iterator[Row]:
    try:
        from pyarrow import parquet
    except ImportError:
        problems.add(str(path), "file", "Parquet needs the package pyarrow: pip install 'coupled-arena[parquet]'")
        return
    with parquet.ParquetFile(path) as file:
        columns = [name for name in file.schema_arrow.names if name in wanted]
        number = 0
        for batch in file.iter_batches(columns=columns):
            for fields in batch.to_pylist():
                number += 1
                yield Row(f"{path}: row {number}", fields)
        if not columns:
            names = ", ".join(file.schema_arrow.names)
            problems.add(
                str(path), "columns", f"none is known; name them with --a, --b and --winner; there are {names}"
            )
