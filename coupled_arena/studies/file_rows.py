"""Rows of a file of battles, opinions or labels, each with its place: CSV, JSONL, JSON or Parquet."""

import json
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from coupled_arena.prompts.rows import csv_rows, json_rows, parquet_rows, text_of
from coupled_arena.studies.problems import KEY, Problems

ENDINGS = (".csv", ".json", ".jsonl", ".ndjson", ".parquet")
"""Endings of files that can be read."""


class Row(NamedTuple):
    """One row of a file."""

    where: str
    """File and line, entry or row, from 1."""
    fields: dict[str, Any]
    """Values by column; in CSV all of them are text."""


def read_rows(path: Path, wanted: Collection[str], problems: Problems) -> Iterator[Row]:
    """Yield the rows of a file in its order; what cannot be read is a problem.

    Args:
        path: a file that ends in one of `ENDINGS`; text is UTF-8.
        wanted: the columns to read of a Parquet file, as far as it has them; other formats give all.
        problems: what is wrong goes here.
    """
    if path.suffix not in ENDINGS:
        problems.add(str(path), KEY, f"must end in one of {', '.join(ENDINGS)}")
    elif path.suffix == ".parquet":
        yield from (Row(f"{path}: row {n}", fields) for n, fields in parquet_rows(path, KEY, problems, wanted))
    elif (content := text_of(path, KEY, problems)) is not None:
        if path.suffix == ".json":
            yield from _json(path, content, problems)
        else:
            read = csv_rows if path.suffix == ".csv" else json_rows
            yield from (Row(f"{path}:{line}", fields) for line, fields in read(path, content, KEY, problems))


def _json(path: Path, content: str, problems: Problems) -> Iterator[Row]:
    try:
        values = json.loads(content)
    except (ValueError, RecursionError) as error:
        problems.add(str(path), KEY, f"is not JSON: {error}; one object a line is .jsonl")
        return
    if not isinstance(values, list):
        problems.add(str(path), KEY, "must be a list of objects, one for each row")
        return
    for number, value in enumerate(values, start=1):
        if isinstance(value, dict):
            yield Row(f"{path}: entry {number}", value)
        else:
            problems.add(f"{path}: entry {number}", KEY, "is not a JSON object")
