"""Battles played elsewhere, read from a file: the table to rate, and what was left out of it."""

import math
import os
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from coupled_arena.arguments import path_of
from coupled_arena.ratings.table import RatingInput
from coupled_arena.ratings.table import Row as TableRow
from coupled_arena.studies.file_rows import Row, read_rows
from coupled_arena.studies.problems import Problems
from coupled_arena.studies.rating.battle_formats import (
    FORMATS,
    QUESTIONS,
    WANTED,
    Choice,
    Format,
    Judged,
    Wrong,
    by_columns,
    unclear,
)

OWN = "columns of your own"
"""Name of the format of a file whose columns were named."""


@dataclass(frozen=True, slots=True)
class BattleFile:
    """The battles of a file."""

    path: Path
    """The file."""
    format: str
    """The format it was recognised as."""
    table: RatingInput
    """The battles with a decision; a preference between two outcomes is two rows that share its weight."""
    battles: Mapping[str, int]
    """Battles with a decision by model."""
    decided: int
    """Battles with a decision."""
    void: int
    """Battles without one, and those whose other half has none; they are not rated."""
    cluster: str | None
    """The column whose equal values may depend on each other; None where every row stands by itself."""


def read_battles(
    path: str | os.PathLike[str],
    *,
    a: str | None = None,
    b: str | None = None,
    winner: str | None = None,
    cluster: str | None = None,
    weight: str | None = None,
    baseline: str | None = None,
) -> RatingInput:
    r"""Return the battles of a CSV, JSON, JSONL or Parquet file, for `rate`.

    Votes of LMArena, judgments of FastChat and Arena-Hard, annotations of AlpacaEval, records of Auto-Arena, battles
    exported by this package and plain ones (`a`, `b`, `winner` or `verdict`) are recognised by their columns. For any
    other file the columns are named.
    Battles without a decision are left out. What a judge was asked in both orders enters as two halves, and not at all
    if one of them has no decision.

    Args:
        path: a file that ends in `.csv`, `.json`, `.jsonl`, `.ndjson` or `.parquet`.
        a: column of the model on side A.
        b: column of the model on side B.
        winner: column of the outcome: `model_a`, `A` or the model's name; the same for B; `tie`; nothing or `error`
            where there is no decision.
        cluster: column whose equal values may depend on each other; the question if left out and known, else every row
            stands by itself.
        weight: column of the battles' weights, above 0; all weigh the same if left out.
        baseline: the model that all others met, where a file of Arena-Hard does not name it.

    Raises:
        ConfigurationError: the file cannot be read, is of no known format, or rows of it are wrong; every problem is
            named with file and row, the first 20 of them.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder) / "votes.csv"
        ...     size = file.write_text("model_a,model_b,winner\nada,bob,model_a\nbob,ada,tie\n", "utf-8")
        ...     read_battles(file).score.tolist()
        [1.0, 0.5]
    """
    return read_file(path, a=a, b=b, winner=winner, cluster=cluster, weight=weight, baseline=baseline).table


def read_file(path: str | os.PathLike[str], *, cluster: str | None = None, **columns: str | None) -> BattleFile:
    """Return the battles of a file with what was left out of them; arguments are those of `read_battles`."""
    path, problems = path_of(path, "read_battles"), Problems()
    wanted = {*WANTED, *filter(None, (cluster, *columns.values()))}
    rows = read_rows(path, wanted, problems)
    first = next(rows, None)
    reader, found = None, list[_Found]()
    if first is not None and (reader := _Reader.of(path, first, cluster, columns, problems)) is not None:
        seen: dict[Any, str] = {}
        for row in chain([first], rows):
            reader.read(row, found, seen, problems)
    elif first is None and not problems.found:
        problems.add(str(path), "rows", "holds no battles")
    if reader is None or problems.found:
        raise problems.error(path)
    return _file(path, reader, found)


class _Found(NamedTuple):
    judged: Judged
    cluster: Hashable


class _Reader(NamedTuple):
    """How the rows of one file are read."""

    format: Format
    choice: Choice
    cluster: str | None
    weight: str | None

    @classmethod
    def of(
        cls, path: Path, row: Row, cluster: str | None, columns: Mapping[str, str | None], problems: Problems
    ) -> "_Reader | None":
        there, before = row.fields.keys(), len(problems.found)
        named = {key: value for key, value in columns.items() if value is not None and key in ("a", "b", "winner")}
        choice = Choice(**named, baseline=columns.get("baseline"))
        if named:
            known: Format | None = Format(OWN, (choice.a, choice.b, choice.winner), by_columns)
        else:
            known = next((one for one in FORMATS if there >= set(one.columns)), None)
        asked = {"cluster": cluster, "weight": columns.get("weight")}
        needed = {**dict.fromkeys(known.columns if known else (), None), **{v: k for k, v in asked.items() if v}}
        for column, option in needed.items():
            if column not in there:
                problems.add(str(path), option or "columns", f"there is no column {column!r}; there are {_list(there)}")
        if known is None:
            problems.add(
                str(path),
                "columns",
                f"are of no known format; name them with `a`, `b` and `winner`; there are {_list(there)}",
            )
        elif why := unclear(known, there):
            problems.add(str(path), "columns", why)
        if known is None or len(problems.found) > before:
            return None
        question = "gamekey" if "gamekey" in known.columns else next((one for one in QUESTIONS if one in there), None)
        return cls(known, choice, cluster or question, asked["weight"])

    def read(self, row: Row, found: list[_Found], seen: dict[Any, str], problems: Problems) -> None:
        """Add the battles of a row, or what is wrong with it."""
        try:
            battles = self.format.judged(_Fields(row.fields), self.choice, row.where)
            if (battle := row.fields.get("battle")) is not None and "battle" in self.format.columns:
                if battle in seen:
                    raise Wrong("battle", f"{battle!r} is at {seen[battle]} already; leave one out")
                seen[battle] = row.where
            cluster, factor = self._cluster(row), self._weight(row)
            for judged in battles:
                if judged.a == judged.b:
                    raise Wrong("models", f"{judged.a!r} meets itself; leave the row out")
                found.append(_Found(judged if factor == 1 else judged._replace(weight=judged.weight * factor), cluster))
        except Wrong as wrong:
            problems.add(row.where, wrong.key, wrong.message)

    def _cluster(self, row: Row) -> Hashable:
        if self.cluster is None:
            return row.where
        value = row.fields.get(self.cluster)
        if self.cluster == "gamekey" and isinstance(value, list):
            value = value[0]
        if value is None or value == "":
            raise Wrong(self.cluster, "is missing, and says which battles may depend on each other")
        if not isinstance(value, str | int | float):
            raise Wrong(self.cluster, f"must be text or a number, not {value!r}")
        return value

    def _weight(self, row: Row) -> float:
        if self.weight is None:
            return 1.0
        value = row.fields.get(self.weight)
        try:
            weight = float(value)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            weight = math.nan
        if not (math.isfinite(weight) and weight > 0):
            raise Wrong(self.weight, f"must be a finite number above 0, not {value!r}")
        return weight


class _Fields(dict[str, Any]):
    """The fields of a row, of which a missing one is a problem of the row."""

    def __missing__(self, key: str) -> Any:
        raise Wrong(key, "is missing")


def _list(columns: Iterable[str]) -> str:
    return ", ".join(map(str, columns))


def _file(path: Path, reader: _Reader, found: list[_Found]) -> BattleFile:
    halves: defaultdict[Hashable, int] = defaultdict(int)
    for judged, _ in found:
        halves[judged.together] += judged.score is not None
    rated = [
        one
        for one in found
        if one.judged.score is not None
        and (one.judged.together is None or halves[one.judged.together] == one.judged.parts)
    ]
    models = {name for judged, _ in found for name in (judged.a, judged.b)}
    battles: Counter[str] = Counter(dict.fromkeys(models, 0))
    rows: list[TableRow] = []
    for (a, b, score, weight, *_), cluster in rated:
        battles[a] += 1
        battles[b] += 1
        if score is None or score in (0.0, 0.5, 1.0):
            rows.append((a, b, score or 0.0, weight, cluster))
        else:
            # So much of the battle is won, and the rest of it lost.
            rows += [(a, b, 1.0, weight * score, cluster), (a, b, 0.0, weight * (1 - score), cluster)]
    table = RatingInput.from_rows(rows, models=models)
    void = len(found) - len(rated)
    return BattleFile(path, reader.format.name, table, dict(battles), len(rated), void, reader.cluster)
