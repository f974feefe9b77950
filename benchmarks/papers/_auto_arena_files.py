"""The public files of Auto-Arena: the compact ones, or those of a clone of the authors' repository."""

import csv
from pathlib import Path

from coupled_arena.analysis.agreement import percent_agreement

CLONE = {
    "all_baselines.csv": "assets/all_baselines.csv",
    "human_eval_debates.csv": "assets/human_eval/human_eval_debates.csv",
    "human_eval_responses_raw.csv": "assets/human_eval/responses.csv",
    "mmlu_seeds_v2.csv": "data/MMLU.csv",
}
"""Where a clone has what a compact file holds; it has none of the others as a table."""

NO_BATTLES = "no battle and no verdict of a judge was published"
"""Why what rests on them cannot be recomputed."""


class Files:
    """The csv files of a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def lines(self, name: str) -> list[list[str]]:
        """Return the lines of a file, the header first.

        Raises:
            FileNotFoundError: the folder has no such file.
        """
        compact, clone = self.folder / name, self.folder / CLONE.get(name, name)
        with (compact if compact.exists() else clone).open(encoding="utf-8", newline="") as file:
            return list(csv.reader(file))

    def rows(self, name: str) -> list[dict[str, str]]:
        """Return the rows of a file by column."""
        header, *lines = self.lines(name)
        return [dict(zip(header, line, strict=True)) for line in lines]

    def column(self, name: str, column: str, key: str = "model") -> dict[str, float]:
        """Return a column by model, in the order of the file, without the models that have no positive number in it."""
        scores = {row[key]: number(row[column]) for row in self.rows(name)}
        return {model: score for model, score in scores.items() if score > 0}


def number(cell: str) -> float:
    """Return the number in a cell; -1, the authors' own sign, for an empty cell and for a dash."""
    text = cell.strip()
    return float(text) if text not in ("", "-") else -1.0


def share(count: int, total: int) -> tuple[float, float | None, float | None]:
    """Return a share in percent, with its interval."""
    found = percent_agreement([True] * total, [place < count for place in range(total)])
    return 100 * count / total, percent(found.low), percent(found.high)


def percent(value: float | None) -> float | None:
    """Return a share in percent."""
    return None if value is None else 100 * value
