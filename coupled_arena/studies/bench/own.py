"""A user's own items: a JSONL, CSV or Parquet file with id, text and gold answer."""

import reprlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from coupled_arena.arguments import path_of
from coupled_arena.studies.bench.files import Collection, as_text, rows_of, text_in
from coupled_arena.studies.bench.scoring import (
    LETTERS,
    NUMBER,
    Exact,
    Reader,
    last_number,
    letter,
    whole_text,
    yes_or_no,
)
from coupled_arena.studies.bench.task import Item, Scorer, Task

FIELDS = ("id", "text", "gold", "subject")
"""Fields of an item; the first three are required."""

MAX_TOKENS = 64
"""Most tokens of a reply, unless something else is said."""


def own_task(
    path: str | Path, *, score: Scorer | None = None, max_tokens: int = MAX_TOKENS, name: str | None = None
) -> Task:
    """Return a file of one's own as a task: each line (row) has `id`, `text`, `gold` and may have `subject`.

    The text is sent as it stands. Without a scorer the gold answers decide how replies are read: all numbers, the last
    number; all yes or no, yes or no; all letters from A to D, the letter; anything else, the whole reply, whatever its
    case, marks around it and a final full stop. What was chosen is in `Task.scorer` and shown beside every result.

    Args:
        path: the file.
        score: says what a reply is worth.
        max_tokens: most tokens of a reply.
        name: name of the task; None is that of the file.

    Raises:
        ConfigurationError: with everything wrong in the file (fields missing or unknown, an id or a text twice, no item
            at all), by line.
    """
    path = path_of(path, "own_task")
    found = Collection()
    for line, row in rows_of(path, found.problems):
        item = Item(*(text_in(row, key) for key in FIELDS))
        found.add(f"{path}:{line}", item, list(_wrong(row, item.gold, read=score is None)))
    items = found.finished(path)
    if score is None:
        read = _reader(items)
        # As a reader writes it, so that equal answers are equal texts.
        items = tuple(replace(item, gold=read(item.gold) or item.gold) for item in items)
        score = Exact(read)
    return Task(name or path.stem, items, score, max_tokens=max_tokens)


def _wrong(row: dict[str, Any], gold: str, *, read: bool) -> Iterator[tuple[str, str]]:
    for key, value in row.items():
        if key not in FIELDS:
            yield str(key), f"is unknown; there are {', '.join(FIELDS)}"
        elif value is not None and not isinstance(value, str) and not as_text(value):
            yield key, f"must be a text or a number, not {reprlib.repr(value)}"
    if read and gold and whole_text(gold) is None:
        yield "gold", "holds nothing but marks, which are not read in a reply"


def _reader(items: Sequence[Item]) -> Reader:
    """Return the reader that fits all gold answers."""
    fits: dict[Reader, Callable[[str], bool]] = {
        last_number: _is_number,
        yes_or_no: lambda gold: gold.casefold() in ("yes", "no"),
        letter: lambda gold: len(gold) == 1 and gold in LETTERS,
    }
    return next((read for read, fit in fits.items() if all(fit(item.gold) for item in items)), whole_text)


def _is_number(text: str) -> bool:
    return NUMBER.fullmatch(text) is not None
