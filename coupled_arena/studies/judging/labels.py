"""Labels that people gave to battles, read from a file."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from coupled_arena.analysis.judges import Opinions
from coupled_arena.analysis.judges.estimate import Floats
from coupled_arena.analysis.labels import Codes
from coupled_arena.studies.battle_formats import Wrong, score_of
from coupled_arena.studies.battle_rows import read_rows
from coupled_arena.studies.problems import Problems

COLUMNS = ("battle", "verdict")
"""Columns of a file of labels; `annotator` may stand beside them."""


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """Labels of battles that a study knows."""

    path: Path
    """The file."""
    battle: Codes
    """Code of the battle of every label, shape (labels,)."""
    score: Floats
    """Score of A that it means, NaN where its annotator did not say, shape (labels,)."""
    strangers: int
    """Labels of battles that are not in the study, which are left out."""


def read_labels(path: str | os.PathLike[str], table: Opinions) -> Labels:
    """Return the labels of a file: CSV, JSON, JSONL or Parquet with the columns `battle` and `verdict`.

    Args:
        path: the file; a verdict is A, B, tie, the name of a model, or missing.
        table: the opinions whose battles are labelled, by the same ids.

    Raises:
        ConfigurationError: the file cannot be read, or rows of it are wrong.
    """
    path, problems = Path(path), Problems()
    places: dict[str, list[int]] = {}
    for code, name in enumerate(table.battle_ids):
        places.setdefault(name, []).append(code)
    found: list[tuple[int, float]] = []
    strangers = rows = 0
    for row in read_rows(path, COLUMNS, problems):
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
        a, b = (table.models[side[codes[0]]] for side in (table.a, table.b))
        try:
            score = score_of("verdict", fields["verdict"], a, b)
            found.append((codes[0], np.nan if score is None else score))
        except Wrong as wrong:
            problems.add(row.where, wrong.key, wrong.message)
    if not rows and not problems.found:
        problems.add(str(path), "rows", "there is none; write one label a row")
    if problems.found:
        raise problems.error(path)
    battles, scores = zip(*found, strict=True) if found else ((), ())
    return Labels(path, np.array(battles, dtype=np.intp), np.array(scores, dtype=np.float64), strangers)
