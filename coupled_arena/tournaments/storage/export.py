"""A run as files: one per data frame and format."""

import csv
import io
import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Literal, get_args

from coupled_arena.errors import ConfigurationError, Problem, StoreError
from coupled_arena.tournaments.storage.columns import FRAMES, FrameColumn
from coupled_arena.tournaments.storage.database import decoded
from coupled_arena.tournaments.storage.dataset_card import NAME, is_named_in, write_card
from coupled_arena.tournaments.storage.reader import RunReader
from coupled_arena.tournaments.storage.whole_files import replacing

Format = Literal["jsonl", "csv", "parquet"]
"""Formats of exported files."""

_FORMULA = re.compile(r"[=+\-@\t\r]")
_ENDS_OF_LINE = re.compile("[\x85\u2028\u2029]")


def export(
    run: RunReader, folder: str | os.PathLike[str], formats: Sequence[str] = ("jsonl",), *, force: bool = False
) -> list[Path]:
    """Write every data frame of a run in every format and return the files, `battles.jsonl` and so on.

    A `README.md` among them is the dataset card by which Hugging Face `datasets` loads the folder; a README of your own
    in the folder stays as it is, and none is returned. Files are UTF-8. Those of an earlier export of the run are
    replaced, all of them once all are written; other files of these names are refused unless `force` says otherwise.
    In CSV a text cell that a spreadsheet would take for a formula gets an apostrophe in front, so CSV is for people;
    JSONL and Parquet keep every text as it is.

    Raises:
        ConfigurationError: an unknown format, Parquet without the package pyarrow, or files of another origin.
        StoreError: a file cannot be written, or the store cannot be read.
    """
    for name in formats:
        _check(name)
    target, kinds = Path(folder), list(dict.fromkeys(formats))
    written, counts = [], {}
    try:
        target.mkdir(parents=True, exist_ok=True)
        if not force:
            _require_own(run, target, kinds)
        with ExitStack() as unfinished:
            for frame, columns in FRAMES.items():
                rows = run.rows(frame)
                counts[frame] = len(rows)
                for name in kinds:
                    path = target / f"{frame}.{name}"
                    with decoded(run.where):
                        content = _WRITERS[name](columns, rows)
                    unfinished.enter_context(replacing(path)).write_bytes(content)
                    written.append(path)
            card = write_card(run, target, kinds, counts)
            # The last one written takes its place first, so that a broken export can be told to be one.
            if card is not None:
                unfinished.enter_context(replacing(target / NAME)).write_bytes(card)
                written.append(target / NAME)
    except OSError as error:
        raise StoreError(f"{target}: cannot be written ({error}); name a folder that can") from error
    return written


def _require_own(run: RunReader, folder: Path, formats: Sequence[str]) -> None:
    """Refuse to replace files that no export of this run wrote: questions of one's own, or another run's battles."""
    files = (folder / f"{frame}.{name}" for frame in FRAMES for name in formats)
    held = next((file for file in files if file.exists()), None)
    if held is not None and not is_named_in(folder, run):
        why = f"{held} is there, and no {NAME} says that it is of run {run.id}"
        message = f"{why}; name another folder, or set `force` to replace what it holds"
        raise ConfigurationError([Problem("export", "force", message)])


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
