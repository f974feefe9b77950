"""Item files of any form: their rows, and the items made of them, with every problem named by file and line."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coupled_arena.errors import Problem
from coupled_arena.prompts.rows import Problems as Noted
from coupled_arena.prompts.rows import csv_rows, json_rows, parquet_rows, text_of
from coupled_arena.records import name_problem
from coupled_arena.studies.bench.task import Item
from coupled_arena.studies.problems import KEY, Problems

SUFFIXES = (".csv", ".jsonl", ".ndjson", ".parquet")
"""How the names of files end that items are read from."""


def rows_of(path: Path, problems: Noted, header: Sequence[str] | None = None) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield line number (in Parquet, row number from 1) and fields of every row of a file.

    Args:
        path: the file.
        problems: where what cannot be read is added.
        header: names of the columns of a CSV file; None takes them from its first row.
    """
    if path.suffix not in SUFFIXES:
        problems.append(Problem(str(path), KEY, f"is none of {', '.join(SUFFIXES)}"))
    elif path.suffix == ".parquet":
        yield from parquet_rows(path, KEY, problems)
    elif (content := text_of(path, KEY, problems)) is not None:
        if path.suffix == ".csv":
            yield from csv_rows(path, content, KEY, problems, None if header is None else list(header))
        else:
            yield from json_rows(path, content, KEY, problems)


@dataclass(slots=True)
class Collection:
    """Items as they are read, and everything wrong with them."""

    distinct: bool = True
    """Whether a text may be there only once; the public benchmarks repeat some."""
    items: list[Item] = field(default_factory=list)
    """Items without a problem, in the order of the files."""
    problems: Problems = field(default_factory=Problems)
    """Everything wrong."""
    _ids: dict[str, str] = field(default_factory=dict)
    _texts: dict[str, str] = field(default_factory=dict)

    def add(self, where: str, item: Item, wrong: Sequence[tuple[str, str]] = ()) -> None:
        """Add an item, or what is wrong with it: fields with messages, beside what is found here.

        Args:
            where: file and line.
            item: what was read; empty fields are missing.
            wrong: what is known to be wrong with it.
        """
        found = [Problem(where, key, message) for key, message in wrong]
        known = {key for key, _ in wrong}
        missing = [key for key in ("id", "text", "gold") if not getattr(item, key).strip() and key not in known]
        found += (Problem(where, key, "is missing") for key in missing)
        if item.id.strip():
            if problem := name_problem(item.id):
                found.append(Problem(where, "id", problem))
            elif first := self._ids.get(item.id):
                found.append(Problem(where, "id", f"{item.id!r} is the id of {first} already"))
            self._ids.setdefault(item.id, where)
        if self.distinct and item.text.strip():
            if first := self._texts.get(item.text):
                found.append(Problem(where, "text", f"is the text of {first} already"))
            self._texts.setdefault(item.text, where)
        for one in found:
            self.problems.append(one)
        if not found:
            self.items.append(item)

    def finished(self, path: Path) -> tuple[Item, ...]:
        """Return the items.

        Raises:
            ConfigurationError: with everything wrong, or there are none.
        """
        if not self.problems.found and not self.items:
            self.problems.add(str(path), KEY, "holds no items")
        if self.problems.found:
            raise self.problems.error(path)
        return tuple(self.items)


def as_text(value: Any) -> str:
    """Return a value as text without surrounding spaces: a number as it is written, and as empty what is neither.

    >>> as_text(" a "), as_text(1.5), as_text(float("nan")), as_text(b"a"), as_text(["a"])
    ('a', '1.5', '', '', '')
    """
    if value is None or isinstance(value, bool | bytes | list | dict) or value != value:
        return ""
    return "" if isinstance(value, float) and math.isinf(value) else str(value).strip()


def text_in(row: dict[str, Any], key: str) -> str:
    """Return a field as text."""
    return as_text(row.get(key))
