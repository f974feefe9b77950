"""What an export says of itself: a README whose head tells Hugging Face `datasets` which file is what."""

import html
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from coupled_arena.shown import printable
from coupled_arena.tournaments.storage.columns import FrameName
from coupled_arena.tournaments.storage.reader import RunReader

NAME = "README.md"
"""Name of the file."""
MARK = "# Written by `coupled-arena export`; exporting again replaces it."
"""Line by which a card is known; a README without it is someone's own and stays."""
CARDED = ("parquet", "jsonl", "csv")
"""Formats the card can point to, the best one first: Parquet has types, JSONL nested values."""

HELD: Mapping[FrameName, str] = {
    "battles": "who met whom on which question, and what came of it",
    "turns": "what was said, turn by turn",
    "opinions": "what every judge said of every battle, before and after discussion",
    "decisions": "how the committee decided, and how its vote stood at every stage",
    "questions": "what was asked, by whom, and the reference answer",
    "rejected": "what an examiner wrote and nobody was asked",
    "calls": "every request with its messages as they were sent, and its reply",
    "ratings": "ratings with their intervals after every round",
    "human_votes": "what people said of battles, blind",
}
"""What a frame holds, in words."""


def write_card(run: RunReader, folder: Path, formats: Sequence[str], rows: Mapping[FrameName, int]) -> bytes | None:
    """Return a dataset card for exported files; None where the folder has a README of somebody's own.

    Args:
        run: what was exported.
        folder: where the files are.
        formats: what they were written as; the best one for programs becomes the data of the card.
        rows: how many rows each frame has.

    Raises:
        OSError: the README that is there cannot be read.
    """
    text = _readme(folder)
    if text is not None and MARK not in text:
        return None
    return _card(run, min(formats, key=CARDED.index), rows).encode("utf-8", "backslashreplace")


def is_named_in(folder: Path, run: RunReader) -> bool:
    """Return whether the README of a folder, a card or somebody's own, names a run.

    Raises:
        OSError: the README that is there cannot be read.
    """
    text = _readme(folder) or ""
    return run.id in text or _plain(run.id) in text


def _readme(folder: Path) -> str | None:
    path = folder / NAME
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else None


def _card(run: RunReader, ending: str, rows: Mapping[FrameName, int]) -> str:
    # A file of lines without a line has no columns, and cannot be loaded.
    held = [frame for frame in HELD if rows[frame] or ending == "parquet"]
    configs = "".join(
        f"- config_name: {frame}\n  data_files: {frame}.{ending}\n" + "  default: true\n" * (frame == "battles")
        for frame in held
    )
    seed = run.definition.get("seed")
    table = "".join(f"| `{frame}` | {rows[frame]} | {HELD[frame]} |\n" for frame in HELD)
    return f"""\
---
{MARK}
pretty_name: {json.dumps(printable(run.name))}
tags: [arena, llm-as-a-judge, coupled-arena]
configs:
{configs}---

# Battles of the run {_plain(run.id)}

A tournament of language models played with Coupled Arena: an examiner wrote questions, two models debated each, a
committee of models judged. Seed {seed}.

| frame | rows | what it holds |
| --- | --- | --- |
{table}
```python
from datasets import load_dataset

opinions = load_dataset("PATH/OF/THIS/FOLDER", "{"opinions" if "opinions" in held else "battles"}", split="train")
```

Columns are explained in Coupled Arena's documentation, on the page "Data". A column that holds JSON is text in Parquet
and CSV; `json.loads` reads it.

Before you publish: `calls` holds every prompt and reply in full, and the terms of the models' providers and the licence
of your questions decide what may be shared.
"""


def _plain(text: str) -> str:
    return html.escape(printable(text).translate({ord(mark): f"\\{mark}" for mark in "\\`*_[]#|"}))
