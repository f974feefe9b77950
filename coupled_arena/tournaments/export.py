"""A run as files: one per data frame and format."""

import csv
import io
import json
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

from coupled_arena.errors import ConfigurationError, Problem, StoreError
from coupled_arena.tournaments.columns import FRAMES, FrameColumn
from coupled_arena.tournaments.database import decoded
from coupled_arena.tournaments.dataset_card import NAME, write_card
from coupled_arena.tournaments.reader import RunReader

Format = Literal["jsonl", "csv", "parquet"]
"""Formats of exported files."""

_FORMULA = re.compile(r"[=+\-@\t\r]")
_ENDS_OF_LINE = re.compile("[\x85\u2028\u2029]")


def export(run: RunReader, folder: str | os.PathLike[str], formats: Sequence[str] = ("jsonl",)) -> list[Path]:
    """Write every data frame of a run in every format and return the files, `battles.jsonl` and so on.

    A `README.md` among them is the dataset card by which Hugging Face `datasets` loads the folder; a README of your own
    in the folder stays as it is, and none is returned. Files are UTF-8; existing ones are replaced whole or not at all.
    In CSV a text cell that a spreadsheet would take for a formula gets an apostrophe in front, so CSV is for people;
    JSONL and Parquet keep every text as it is.

    Raises:
        ConfigurationError: an unknown format, or Parquet without the package pyarrow.
        StoreError: a file cannot be written, or the store cannot be read.
    """
    for name in formats:
        _check(name)
    target = Path(folder)
    written, counts = [], {}
    try:
        target.mkdir(parents=True, exist_ok=True)
        for frame, columns in FRAMES.items():
            rows = run.rows(frame)
            counts[frame] = len(rows)
            for name in formats:
                path = target / f"{frame}.{name}"
                with decoded(run.where):
                    content = _WRITERS[name](columns, rows)
                _replace(path, content)
                written.append(path)
        card = write_card(run, target, formats, counts)
        if card is not None:
            _replace(target / NAME, card)
            written.append(target / NAME)
    except OSError as error:
        raise StoreError(f"{target}: cannot be written ({error}); name a folder that can") from error
    return written


def _check(name: str) -> None:
    if name not in get_args(Format):
        message = f"{name!r} is not known; choose from {', '.join(get_args(Format))}"
        raise ConfigurationError([Problem("export", "formats", message)])
    if name == "parquet":
        try:
            import pyarrow  # noqa: F401
        except ImportError:
            message = "parquet needs the package pyarrow: install coupled-arena[parquet]"
            raise ConfigurationError([Problem("export", "formats", message)]) from None


def _replace(path: Path, content: bytes) -> None:
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        unfinished.write_bytes(content)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def _jsonl(columns: Sequence[FrameColumn], rows: Sequence[tuple[Any, ...]]) -> bytes:
    def lines() -> Iterator[str]:
        for row in rows:
            values = {
                column.name: json.loads(value) if column.kind == "json" and value is not None else value
                for column, value in zip(columns, row, strict=True)
            }
            yield _ENDS_OF_LINE.sub(_escape, json.dumps(values, ensure_ascii=False)) + "\n"

    # A lone surrogate becomes the escape that JSON has for it.
    return "".join(lines()).encode("utf-8", "backslashreplace")


def _escape(found: re.Match[str]) -> str:
    # Many programs split text at these too, which JSON leaves as they are.
    return f"\\u{ord(found[0]):04x}"


def _csv(columns: Sequence[FrameColumn], rows: Sequence[tuple[Any, ...]]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(column.name for column in columns)
    for row in rows:
        writer.writerow(f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value for value in row)
    return text.getvalue().encode("utf-8", "backslashreplace")


def _parquet(columns: Sequence[FrameColumn], rows: Sequence[tuple[Any, ...]]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = {"number": pa.float64(), "flag": pa.bool_(), "integer": pa.int64(), "optional integer": pa.int64()}
    fields = [
        pa.field(column.name, types.get(column.kind, pa.string()), metadata={"description": column.meaning})
        for column in columns
    ]
    arrays = [pa.array([row[index] for row in rows], field.type) for index, field in enumerate(fields)]
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_arrays(arrays, schema=pa.schema(fields)), buffer)
    return buffer.getvalue()


_WRITERS = {"jsonl": _jsonl, "csv": _csv, "parquet": _parquet}
