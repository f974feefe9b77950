"""The command that writes a run as a page."""

from pathlib import Path
from typing import Annotated

import typer

from coupled_arena.cli.options import DEFAULT_STORE, JsonOption, RunOption, StoreOption
from coupled_arena.cli.terminal import complain, out, out_json

DEFAULT_PAGE = Path("report.html")
"""Where a page goes unless a command is told otherwise."""


def report(
    output: Annotated[Path, typer.Option("--output", metavar="FILE.html", help="Where the page goes.")] = DEFAULT_PAGE,
    store: StoreOption = DEFAULT_STORE,
    run: RunOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write a run as one page to look at: leaderboard, judges, every battle; it opens from disk."""
    from coupled_arena.reports.html.report import report as write
    from coupled_arena.tournaments.results.result import Result
    from coupled_arena.tournaments.storage.store import Store

    with Store(store, create=False) as opened:
        result = Result.of(opened.run(run))
        complain(f"run {result.run}")
        file = write(result, output)
    if as_json:
        out_json({"file": str(file), "bytes": file.stat().st_size})
    else:
        out(f"{file}: {file.stat().st_size:,} bytes; open it in a browser")
