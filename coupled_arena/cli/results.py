"""Commands that show, copy or check what a store holds: leaderboard, runs, export, check."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from coupled_arena.cli.flags import in_flags
from coupled_arena.cli.options import DEFAULT_STORE, JsonOption, RunOption, StoreOption
from coupled_arena.cli.status import FAILED
from coupled_arena.cli.terminal import complain, out, out_json, show

if TYPE_CHECKING:
    from coupled_arena.tournaments.results.result import Result


FORMATS = "jsonl, csv or parquet; repeatable; jsonl and csv if left out."
"""What is said of the formats of an export."""


def leaderboard(store: StoreOption = DEFAULT_STORE, run: RunOption = None, as_json: JsonOption = False) -> None:
    """Show the leaderboard of a run, and whether it is settled."""
    from coupled_arena.tournaments.results.result import Result
    from coupled_arena.tournaments.storage.store import Store

    with Store(store, create=False) as opened:
        result = Result.of(opened.run(run))
        complain(f"run {result.run}")
        show_result(result, as_json=as_json, played=False)


def runs(store: StoreOption = DEFAULT_STORE, as_json: JsonOption = False) -> None:
    """List the runs of a store, the newest first."""
    from datetime import UTC, datetime

    from coupled_arena.reports import console
    from coupled_arena.tournaments.storage.store import Store

    with Store(store, create=False) as opened:
        found = opened.runs()
    if as_json:
        out_json({"runs": [info._asdict() for info in found]})
        return
    rows = [
        (run.id, run.name, run.status, f"{created:%Y-%m-%d %H:%M} UTC", run.battles, run.calls, run.base)
        for run in found
        for created in [datetime.fromtimestamp(run.created, UTC)]
    ]
    show(console.table(("run", "name", "status", "created", "battles", "calls", "base"), rows))


def export(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where the files go.")],
    store: StoreOption = DEFAULT_STORE,
    run: RunOption = None,
    formats: Annotated[list[str] | None, typer.Option("--format", metavar="FORMAT", help=FORMATS)] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files of another run or origin.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Write a run's data frames as files."""
    from coupled_arena.tournaments.storage.export import export as write
    from coupled_arena.tournaments.storage.store import Store

    with Store(store, create=False) as opened, in_flags({"force": "--force", "formats": "--format"}):
        files = write(opened.run(run), folder, formats or ["jsonl", "csv"], force=force)
    if as_json:
        out_json({"files": [str(file) for file in files]})
    else:
        for file in files:
            out(str(file))


def check(store: StoreOption = DEFAULT_STORE, as_json: JsonOption = False) -> None:
    """Check a store: nothing damaged, nothing lost, every decision as its opinions make it."""
    from coupled_arena.tournaments.storage.store import Store

    with Store(store, create=False) as opened:
        found = opened.check()
    if as_json:
        out_json(found.document())
    elif not found.findings:
        counted = (f"{kind} {getattr(found, kind)}" for kind in ("runs", "battles", "calls", "texts"))
        out(f"{store}: sound: {', '.join(counted)}")
    for finding in found.findings:
        complain(f"{store}: {finding}")
    if found.findings:
        complain(f"{store}: {len(found.findings)} found, and nothing changed: restore a copy, or name another file")
        raise typer.Exit(FAILED)


def show_result(result: "Result", *, as_json: bool, played: bool = True) -> None:
    """Show what a run came to; exit 1 if nothing could be rated."""
    write_result(result, as_json=as_json, played=played)
    require_rated(result)


def require_rated(result: "Result") -> None:
    """Exit 1 if nothing could be rated, and say what to do next."""
    if not any(battle.decision.verdict for battle in result.battles):
        complain(
            "no battle could be rated; see the notes above and mend the cause. --retry-failed asks again what got no "
            "text; verdicts that cannot be read are answers: change the judges or the prompt set instead"
        )
        raise typer.Exit(FAILED)


def write_result(result: "Result", *, as_json: bool, played: bool = True) -> None:
    """Show what a run came to, finished or not."""
    from coupled_arena.reports import console

    if as_json:
        out_json(result.document())
        return
    show(console.leaderboard(result))
    if played:
        complain(console.spending(result))
