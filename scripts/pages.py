"""Writes what is a table of the code in the documentation: docs/data.md, docs/parameters.md, dials in docs/world.md."""

import re
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic import BaseModel

from coupled_arena.models.model import Model
from coupled_arena.models.simulated.dials import RANGES, Dials
from coupled_arena.tournaments.definition import Tournament
from coupled_arena.tournaments.rules import BattleRules, CommitteeRules
from coupled_arena.tournaments.storage.columns import FRAMES

DOCS = Path(__file__).parent.parent / "docs"

DATA = """\
# Data

A run holds the data frames below. `result.frame("battles")` returns one; a run that was played before is opened with
`ca.Result.of(store.run())`, where `store = ca.Store("coupled-arena.db")`. `coupled-arena export DIR` writes all of
them, one file per frame and format: `battles.jsonl`, `battles.csv`, and with `--format parquet` `battles.parquet`.
Order and content never depend on which call ended first; only `created` and `latency` differ between two executions.
`README.md` beside the files is a dataset card: Hugging Face `datasets` loads the folder, or what you publish of it, by
`load_dataset("out", "opinions")`. A README of your own in the folder is left alone. Exporting a run again replaces its
files, once all are written; files that no README says are of this run are replaced only with `--force`.

A column of kind `json` is JSON text in data frames, CSV and Parquet, and the value itself in JSONL. In CSV a text that
a spreadsheet would take for a formula gets an apostrophe in front: CSV is for people, JSONL and Parquet for programs.
"""

PARAMETERS = """\
# Parameters

The keys of a TOML file are the parameters of `Tournament`. Keys of `committee` and `battle` may also be given
directly.
"""

DIALS = re.compile(r"(?<=<!-- dials -->\n).*?(?=<!-- end of dials -->)", re.DOTALL)
"""Where the table of dials stands."""

WORDS = {
    "taste": ("any word", "name of a taste: models that share it like the same claims, whatever their quality"),
    "brand": ("one word", "how the model calls itself in its statements, and what it knows itself by as a judge"),
    "world": ("a whole number", "world the model lives in; the tournament's seed where it is left out"),
}
"""The dials that are no numbers: what they may be, and what they do."""

TABLES: dict[str, type[BaseModel]] = {
    "Tournament": Tournament,
    "committee": CommitteeRules,
    "battle": BattleRules,
    "A model": Model,
}


def data() -> str:
    """Return the page of columns."""
    parts = [DATA]
    for frame, columns in FRAMES.items():
        rows = "\n".join(f"| `{column.name}` | {column.kind} | {column.meaning} |" for column in columns)
        parts.append(f"## {frame}\n\n| column | kind | meaning |\n| --- | --- | --- |\n{rows}\n")
    return "\n".join(parts)


def parameters() -> str:
    """Return the page of parameters."""
    parts = [PARAMETERS]
    for title, record in TABLES.items():
        rows = []
        for name, field in record.model_fields.items():
            meaning = re.sub(r"\s+", " ", field.description or "")
            choices = ", ".join(f"`{value}`" for value in _choices(field.annotation))
            meaning += f" One of {choices}." if choices else ""
            rows.append(f"| `{name}` | {_default(field)} | {meaning} |")
        table = "\n".join(rows)
        parts.append(f"## {title}\n\n| key | default | meaning |\n| --- | --- | --- |\n{table}\n")
    return "\n".join(parts)


def world() -> str:
    """Return the page of worlds with its table of dials."""
    rows = [
        (name, found.role, f"{found.low:g} to {found.high:g}", f"`{getattr(Dials(), name):g}`", found.meaning)
        for name, found in RANGES.items()
    ]
    rows += [(name, "any", allowed, "-", meaning) for name, (allowed, meaning) in WORDS.items()]
    lines = [f"| `{name}` | {' | '.join(cells)} |" for name, *cells in rows]
    table = "\n".join(["| dial | of | range | default | meaning |", "| --- | --- | --- | --- | --- |", *lines, ""])
    return DIALS.sub(lambda _: table, (DOCS / "world.md").read_text(encoding="utf-8"))


def _choices(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation) if str(get_origin(annotation)).endswith("Literal") else ()


def _default(field: Any) -> str:
    if field.is_required():
        return "required"
    value = field.get_default()
    if isinstance(value, BaseModel):
        return f"`{getattr(value, 'name', None) or getattr(value, 'kind', None) or 'the table below'}`"
    if isinstance(value, tuple):
        return ", ".join(f"`{item}`" for item in value)
    return f"`{value}`" if value not in ({}, None) else "-"


if __name__ == "__main__":
    (DOCS / "data.md").write_text(data(), encoding="utf-8")
    (DOCS / "parameters.md").write_text(parameters(), encoding="utf-8")
    (DOCS / "world.md").write_text(world(), encoding="utf-8")
