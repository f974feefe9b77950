"""The command line: parses, calls the library, prints.

Results go to standard output, everything else to standard error.
"""

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import coupled_arena
from coupled_arena.errors import ArenaError, ConfigurationError, ModelUnavailable

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from coupled_arena.tournaments.definition import Tournament
    from coupled_arena.tournaments.result import Result

WRONG_USE = 2
FAILED = 1
INTERRUPTED = 130
PLAIN_WIDTH = 160
"""Columns of a table that goes to no terminal."""

app = typer.Typer(
    name="coupled-arena",
    help="Rank language models without human labels, with shared dice wherever they run here.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
models = typer.Typer(help="Local models: the cache, fetching, requantising.", no_args_is_help=True)
app.add_typer(models, name="models")

StoreOption = Annotated[Path, typer.Option("--store", metavar="FILE", help="Where runs live.")]
RunOption = Annotated[
    str | None, typer.Option("--run", metavar="ID", help="A run of the store; its newest if left out.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")]
RetryOption = Annotated[bool, typer.Option("--retry-failed", help="Ask again what was answered without text.")]
ConcurrencyOption = Annotated[
    int | None, typer.Option("--concurrency", min=1, help="Battles in flight; never changes a result.")
]
DEFAULT_STORE = Path("coupled-arena.db")


def main() -> None:
    """Run the command line; exit 0 if done, 1 if that was not possible, 2 on wrong use."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    # A polite kill ends a run as Ctrl-C does: calls in flight are let go and the run is marked as interrupted.
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        app()
    except SystemExit as ending:
        # Typer answers Ctrl-C outside a run with this status and no word.
        if ending.code == INTERRUPTED:
            _complain("interrupted")
            sys.exit(FAILED)
        raise
    except ConfigurationError as error:
        for problem in error.problems:
            _complain(str(problem))
        sys.exit(WRONG_USE)
    except ArenaError as error:
        _complain(str(error))
        sys.exit(FAILED)
    except KeyboardInterrupt:
        _complain("interrupted")
        sys.exit(FAILED)
    except BrokenPipeError:
        # Whoever read our output has gone; Python would complain again when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(FAILED)


@app.callback(invoke_without_command=True)
def _root(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    if version:
        _out(coupled_arena.__version__)
        raise typer.Exit


@app.command()
def run(
    file: Annotated[Path, typer.Argument(metavar="FILE.toml", help="The definition.")],
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be asked and paid.")] = False,
    retry_failed: RetryOption = False,
    concurrency: ConcurrencyOption = None,
    yes: Annotated[bool, typer.Option("--yes", help="Spend without being asked.")] = False,
) -> None:
    """Play a tournament, or go on with it where it was interrupted."""
    from coupled_arena.config import load

    tournament = load(file)
    if concurrency is not None:
        tournament = tournament.model_copy(update={"concurrency": concurrency})
    if dry_run:
        _show_estimate(tournament, str(file), as_json=as_json)
        return
    _confirm(tournament, str(file), yes=yes)
    result = _play(tournament, store, str(file), retry_failed=retry_failed)
    _show_result(result, as_json=as_json)


@app.command()
def demo(
    simulated: Annotated[
        bool, typer.Option("--simulated", help="Play simulated models instead of local ones.")
    ] = False,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Play a small tournament: real local models, or simulated ones where there are no weights."""
    from coupled_arena.reports import console
    from coupled_arena.tournaments.demo import BASE, local_demo, simulated_demo

    tournament = simulated_demo()
    if not simulated:
        from coupled_arena.models.local.fetch import get

        try:
            get(BASE)
            tournament = local_demo()
        except ModelUnavailable as error:
            _complain(f"no local models: {error}")
            _complain("playing the simulated tournament instead")
    result = _play(tournament, store, "demo")
    _show_result(result, as_json=as_json)
    if not as_json:
        _print(console.conduct(result))
        _out("\nOne battle in full:\n")
        battle = result.battles[0]
        question = next(question for question in result.questions if question.id == battle.question)
        _print(console.transcript(battle, question))


@app.command()
def leaderboard(store: StoreOption = DEFAULT_STORE, run: RunOption = None, as_json: JsonOption = False) -> None:
    """Show the leaderboard of a run, and whether it is settled."""
    from coupled_arena.tournaments.result import Result
    from coupled_arena.tournaments.store import Store

    with Store(store, create=False) as opened:
        _show_result(Result.of(opened.run(run)), as_json=as_json, played=False)


@app.command()
def runs(store: StoreOption = DEFAULT_STORE, as_json: JsonOption = False) -> None:
    """List the runs of a store, the newest first."""
    from datetime import UTC, datetime

    from coupled_arena.reports import console
    from coupled_arena.tournaments.store import Store

    with Store(store, create=False) as opened:
        found = opened.runs()
    if as_json:
        _out_json({"runs": [info._asdict() for info in found]})
        return
    rows = [
        (i.id, i.name, i.status, f"{datetime.fromtimestamp(i.created, UTC):%Y-%m-%d %H:%M} UTC", i.battles, i.calls)
        for i in found
    ]
    _print(console.table(("run", "name", "status", "created", "battles", "calls"), rows))


@app.command()
def export(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where the files go.")],
    store: StoreOption = DEFAULT_STORE,
    run: RunOption = None,
    formats: Annotated[list[str] | None, typer.Option("--format", help="jsonl, csv or parquet; repeatable.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Write a run's data frames as files."""
    from coupled_arena.tournaments.export import export as write
    from coupled_arena.tournaments.store import Store

    with Store(store, create=False) as opened:
        files = write(opened.run(run), folder, formats or ["jsonl", "csv"])
    if as_json:
        _out_json({"files": [str(file) for file in files]})
    else:
        for file in files:
            _out(str(file))


@models.command("list")
def list_models(as_json: JsonOption = False) -> None:
    """List the model cache."""
    from coupled_arena.models.local.cache import ModelCache
    from coupled_arena.reports import console

    cache = ModelCache()
    found = cache.files()
    if as_json:
        _out_json(
            {
                "folder": str(cache.folder),
                "models": [{"name": m.name, "path": str(m.path), "size": m.size} for m in found],
            }
        )
        return
    _complain(f"model cache: {cache.folder}")
    _print(console.table(("model", "MB"), [(f"local/{m.name}", m.size / 1e6) for m in found]))


@models.command("get")
def get_model(name: Annotated[str, typer.Argument(metavar="NAME")], as_json: JsonOption = False) -> None:
    """Fetch a known model into the model cache."""
    from coupled_arena.models.local.fetch import get

    _show_file(name, lambda: get(name), as_json=as_json)


@models.command("derive")
def derive_model(
    name: Annotated[str, typer.Argument(metavar="NAME:VARIANT", help="smollm2-135m:q4_0, for example.")],
    as_json: JsonOption = False,
) -> None:
    """Requantise a model of the cache."""
    from coupled_arena.models.local.cache import ModelCache

    _show_file(name, lambda: ModelCache().resolve(name), as_json=as_json)


def _show_file(name: str, find: Callable[[], Path], *, as_json: bool) -> None:
    path = find()
    if as_json:
        _out_json({"name": name, "path": str(path), "size": path.stat().st_size})
    else:
        _out(str(path))


def _play(tournament: "Tournament", store: Path, where: str, *, retry_failed: bool = False) -> "Result":
    """Play with progress on standard error."""
    from coupled_arena.reports.progress import Progress

    with Progress(_console(stderr=True)) as progress:
        return tournament.run(store, listeners=[progress], where=where, retry_failed=retry_failed)


def _show_result(result: "Result", *, as_json: bool, played: bool = True) -> None:
    from coupled_arena.reports import console

    if as_json:
        _out_json(result.document())
    else:
        _print(console.leaderboard(result))
        if played:
            _complain(console.spending(result))
    if not any(battle.decision.verdict for battle in result.battles):
        _complain(
            "no battle could be rated; see the notes above and mend the cause. --retry-failed asks again what got no "
            "text; verdicts that cannot be read are answers: change the judges or the prompt set instead"
        )
        raise typer.Exit(FAILED)


def _show_estimate(tournament: "Tournament", where: str, *, as_json: bool) -> None:
    """Say what every model will be asked, without asking anything."""
    from coupled_arena.reports import console
    from coupled_arena.tournaments.estimate import COLUMNS, bill, estimated

    spending, battles = estimated(tournament, where)
    rows = [[getattr(line, column) for column in COLUMNS] for line in spending]
    usd, unpriced = bill(spending)
    if as_json:
        _out_json(
            {
                "battles": battles,
                "models": [dict(zip(COLUMNS, row, strict=True)) for row in rows],
                "usd": usd,
                "unpriced_models": unpriced,
            }
        )
        return
    _print(console.table(COLUMNS, rows))
    least = "at least " if unpriced else ""
    _out(f"at most {battles} battles; at worst {least}${usd:.2f} ({len(unpriced)} models unpriced)")


def _confirm(tournament: "Tournament", where: str, *, yes: bool) -> None:
    """Check a tournament that may cost money, say what it costs at worst, and ask; others cost nothing."""
    from coupled_arena.tournaments.checks import cast

    hosted = sorted({model.name for named in cast(tournament).values() for model in named if model.kind == "hosted"})
    if not hosted or yes:
        return
    from coupled_arena.tournaments.estimate import bill, estimated

    spending, battles = estimated(tournament, where)
    usd, unpriced = bill(spending)
    cost = f"{', '.join(hosted)}: {battles} battles may cost up to ${usd:.2f} (see --dry-run)"
    if unpriced:
        cost += f"; no price is known for {', '.join(unpriced)}"
    if not sys.stdin.isatty():
        _complain(f"{cost}; say --yes to go on")
        raise typer.Exit(WRONG_USE)
    if not typer.confirm(f"{cost}. Go on?", err=True):
        raise typer.Exit(FAILED)


def _console(*, stderr: bool = False) -> "Console":
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    return Console(file=stream, width=None if stream.isatty() else PLAIN_WIDTH, highlight=False)


def _print(text: "RenderableType") -> None:
    _console().print(text)


def _complain(text: str) -> None:
    from coupled_arena.reports.console import printable

    sys.stderr.write(f"{printable(text)}\n")


def _out(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def _out_json(value: dict[str, Any]) -> None:
    _out(json.dumps(value, ensure_ascii=False, allow_nan=False, indent=1))
