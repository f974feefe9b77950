"""Labels that people or a strong judge gave to battles."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from coupled_arena.analysis.judges import Opinions
from coupled_arena.analysis.judges.estimate import Floats
from coupled_arena.analysis.labels import Codes
from coupled_arena.arguments import path_of, refuse
from coupled_arena.shown import plural
from coupled_arena.studies.file_rows import Row, read_rows
from coupled_arena.studies.problems import Problems
from coupled_arena.studies.rating.battle_formats import Wrong, score_of

COLUMNS = ("battle", "verdict")
"""Columns of a file of labels."""

ANNOTATOR = "annotator"
"""Column that may stand beside them: whose label it is. Rows of a battle that name nobody are of different people."""


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """Labels of battles that a study knows."""

    source: str
    """The file, or `labels` where it is none."""
    battle: Codes
    """Code of the battle of every label, shape (labels,)."""
    score: Floats
    """Score of A that it means, NaN where its annotator did not say, shape (labels,)."""
    strangers: int
    """Labels of battles that are not in the study, which are left out."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know of them, a sentence each."""
        if not self.strangers:
            return ()
        return (f"left out: {plural(self.strangers, 'label')} of battles that are not among these",)


def read_labels(source: Any, table: Opinions) -> Labels:
    """Return the labels of a file (CSV, JSON, JSONL or Parquet), of a data frame, or by battle.

    Args:
        source: a file or a data frame with the columns `battle` and `verdict`, or verdicts by the id of the battle; a
            verdict is A, B, tie, the name of a model, or missing. A column `annotator` may say whose label it is.
        table: the opinions whose battles are labelled, by the same ids.

    Raises:
        ConfigurationError: the file cannot be read, or rows of it are wrong.
    """
    problems = Problems()
    where = str(source) if isinstance(source, str | os.PathLike) else "labels"
    places: dict[str, list[int]] = {}
    for code, name in enumerate(table.battle_ids):
        places.setdefault(name, []).append(code)
    found: list[tuple[int, float]] = []
    said: set[tuple[int, str]] = set()
    strangers = rows = 0
    for row in _rows(source, problems):
        rows += 1
        fields: dict[str, Any] = row.fields
        if missing := [name for name in COLUMNS if name not in fields]:
            problems.add(row.where, missing[0], f"is missing; a label needs {' and '.join(COLUMNS)}")
            continue
        codes = places.get(str(fields["battle"]), [])
        if len(codes) != 1:
            strangers += not codes
            if codes:
                problems.add(row.where, "battle", f"{fields['battle']!r} names {len(codes)} battles; label one run")
            continue
        if by := _named(fields.get(ANNOTATOR)):
            if (codes[0], by) in said:
                problems.add(row.where, ANNOTATOR, f"{by!r} labels {fields['battle']!r} a second time; keep one row")
            said.add((codes[0], by))
        a, b = (table.models[side[codes[0]]] for side in (table.a, table.b))
        try:
            score = score_of("verdict", fields["verdict"], a, b)
            found.append((codes[0], np.nan if score is None else score))
        except Wrong as wrong:
            problems.add(row.where, wrong.key, wrong.message)
    if not rows and not problems.found:
        problems.add(where, "rows", "there is none; write one label a row")
    if problems.found:
        raise problems.error(Path(where))
    battles, scores = zip(*found, strict=True) if found else ((), ())
    return Labels(where, np.array(battles, dtype=np.intp), np.array(scores, dtype=np.float64), strangers)


def _named(annotator: Any) -> str:
    """Return whose label it is, or nothing; a data frame holds NaN or NA where it names nobody."""
    name = "" if annotator is None else str(annotator)
    return "" if name in ("nan", "<NA>") else name


def _rows(source: Any, problems: Problems) -> Iterator[Row]:
    if isinstance(source, str | os.PathLike):
        return read_rows(path_of(source, "labels", "source"), (*COLUMNS, ANNOTATOR), problems)
    if isinstance(source, Mapping):
        rows = [dict(zip(COLUMNS, item, strict=True)) for item in source.items()]
    elif hasattr(source, "columns"):
        rows = source[[name for name in (*COLUMNS, ANNOTATOR) if name in source.columns]].to_dict("records")
    else:
        refuse("labels", "source", "a file, a data frame, or verdicts by the id of the battle", source)
    return (Row(f"labels: row {number}", fields) for number, fields in enumerate(rows, start=1))
