"""Do the published tables of Auto-Arena (arXiv 2405.20267) follow from its public files?

Reads the compact files, or the csv files of a clone of the authors' repository, which lack what the authors printed in
notebooks and drew in figures. Every number stands beside the published one; where the paper compared columns over
different models, they are compared on the same ones. No battle and no verdict of a judge was ever published: what needs
them is listed, and cannot be recomputed.

    python benchmarks/papers/auto_arena.py DIR [--json]

`v4` is the paper of 2024-10 (9, then 15 models), `v1` that of 2024-05 (7, then 17 models): two sets of experiments.
Correlations, shares and rates are in percent.
"""

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.papers import _auto_arena_judges as judging
from benchmarks.papers import _auto_arena_ranks as ranking
from benchmarks.papers._auto_arena_files import Files
from benchmarks.papers._rows import Row, show

TABLES: tuple[Callable[[Files], Iterator[Row]], ...] = (
    ranking.fifteen,
    ranking.nine,
    ranking.chinese,
    ranking.thirteen,
    ranking.seven,
    ranking.ratings,
    ranking.seeds,
    judging.judges,
    judging.people,
    judging.question_source,
    judging.synthetic,
    judging.contamination,
)


def recompute(folder: Path) -> list[Row]:
    """Return every number that the paper's tables can be compared in; a table whose file is missing says so."""
    rows: list[Row] = []
    files = Files(folder)
    for table in TABLES:
        try:
            rows.extend(table(files))
        except FileNotFoundError as error:
            missing = Path(str(error.filename)).name
            title = (table.__doc__ or table.__name__).strip()
            rows.append(Row(table=title, what="the rest of it", n=None, recomputed=None, note=f"needs {missing}"))
    return rows


def main() -> None:
    """Recompute the tables of a folder."""
    parser = argparse.ArgumentParser(description="recompute the published tables of Auto-Arena")
    parser.add_argument("folder", type=Path, metavar="DIR", help="the compact files, or a clone of the repository")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    show(recompute(arguments.folder), arguments.json)


if __name__ == "__main__":
    main()
