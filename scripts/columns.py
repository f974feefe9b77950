"""Writes docs/data.md from the table of columns, so that every column is described in one place."""

from pathlib import Path

from coupled_arena.tournaments.columns import FRAMES

HEAD = """\
# Data

A run holds eight data frames. `result.frame("battles")` returns one, `coupled-arena export DIR` writes all of them, one
file per frame and format (`battles.jsonl`, `battles.csv`, `battles.parquet`). Order and content never depend on which
call ended first; only `created` and `latency` differ between two executions.

A column of kind `json` is JSON text in data frames, CSV and Parquet, and the value itself in JSONL. In CSV a text that
a spreadsheet would take for a formula gets an apostrophe in front: CSV is for people, JSONL and Parquet for programs.
"""


def document() -> str:
    """Return the page."""
    parts = [HEAD]
    for frame, columns in FRAMES.items():
        rows = "\n".join(f"| `{column.name}` | {column.kind} | {column.meaning} |" for column in columns)
        parts.append(f"## {frame}\n\n| column | kind | meaning |\n| --- | --- | --- |\n{rows}\n")
    return "\n".join(parts)


if __name__ == "__main__":
    (Path(__file__).parent.parent / "docs" / "data.md").write_text(document(), encoding="utf-8")
