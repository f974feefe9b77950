"""Finds a task by its name or its file."""

import reprlib
from pathlib import Path
from typing import Any

from coupled_arena.errors import ConfigurationError, Problem
from coupled_arena.studies.bench.files import SUFFIXES, rows_of
from coupled_arena.studies.bench.gsm8k import MARK, gsm8k
from coupled_arena.studies.bench.mmlu import COLUMNS, mmlu
from coupled_arena.studies.bench.offline import OFFLINE, offline_task
from coupled_arena.studies.bench.own import own_task
from coupled_arena.studies.bench.task import Task


def load_task(named: str | Path) -> Task:
    """Return a task by its name, or from a file or folder of the user's, whose form is recognised by its first row.

    A name is `arithmetic`, `yes-no` or `multiple-choice`. A folder is MMLU; so is a file with `choices`, or a CSV file
    whose first row is a question, four options and a letter. A file with `question` and an `answer` with `####` is
    GSM8K. Any other is one of own items.

    Raises:
        ConfigurationError: there is no such task, or the file is wrong: every problem by file and line.

    Example:
        >>> load_task("yes-no").scorer
        'yes or no'
    """
    if not _names_something(named):
        message = f"must be a task, a file, a folder, or one of {', '.join(OFFLINE)}, not {reprlib.repr(named)}"
        raise ConfigurationError([Problem("bench", "task", message)])
    if str(named) in OFFLINE:
        return offline_task(str(named))
    path = Path(named)
    try:
        folder, exists = path.is_dir(), path.exists()
    except OSError as error:
        raise ConfigurationError([Problem(str(path), "task", f"cannot be read: {error.strerror}")]) from None
    if folder:
        return mmlu(path)
    if not exists or path.suffix not in SUFFIXES:
        what = "is no item file" if exists else f"there is no such file; give one of {', '.join(SUFFIXES)}"
        message = f"{what}, a folder of MMLU, or a name: {', '.join(OFFLINE)}"
        raise ConfigurationError([Problem(str(named), "task", message)])
    if _is_mmlu(path):
        return mmlu(path)
    first = _first(path)
    if "question" in first and MARK in str(first.get("answer")):
        return gsm8k(path)
    return own_task(path)


def _names_something(value: object) -> bool:
    return isinstance(value, str | Path)


def _is_mmlu(path: Path) -> bool:
    if path.suffix != ".csv":
        return "choices" in _first(path)
    # Without a header the first row is an item, and of the width of no other file.
    return list(_first(path)) == list(COLUMNS) or _first(path, COLUMNS).get("answer") in ("A", "B", "C", "D")


def _first(path: Path, header: tuple[str, ...] | None = None) -> dict[str, Any]:
    # What cannot be read is said by whoever reads it all.
    return next((row for _, row in rows_of(path, [], header)), {})
