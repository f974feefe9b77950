"""The command line: parses, calls the library, prints.

Results go to standard output, everything else to standard error.
"""

import os
import signal
import sys
from typing import Annotated

import typer

import coupled_arena
from coupled_arena.cli import local_models
from coupled_arena.cli.adding import add
from coupled_arena.cli.annotating import annotate
from coupled_arena.cli.benching import bench
from coupled_arena.cli.comparing import compare
from coupled_arena.cli.judging import judges
from coupled_arena.cli.playing import demo, run
from coupled_arena.cli.rating import rate
from coupled_arena.cli.rejudging import rejudge
from coupled_arena.cli.reporting import report
from coupled_arena.cli.results import check, export, leaderboard, runs
from coupled_arena.cli.serving import serve
from coupled_arena.cli.showing import show
from coupled_arena.cli.status import FAILED, INTERRUPTED, WRONG_USE
from coupled_arena.cli.terminal import complain, out
from coupled_arena.cli.viewing import view
from coupled_arena.errors import ArenaError, ConfigurationError

app = typer.Typer(
    name="coupled-arena",
    help="Rank language models without human labels, with shared dice wherever they run here.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for command in (
    run,
    compare,
    demo,
    bench,
    add,
    rejudge,
    leaderboard,
    runs,
    check,
    export,
    show,
    report,
    rate,
    judges,
    view,
    annotate,
    serve,
):
    app.command()(command)
app.add_typer(local_models.app, name="models")


def main() -> None:
    """Run the command line; exit 0 if done, 1 if that was not possible, 2 on wrong use."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    # A polite kill ends a run as Ctrl-C does: calls in flight are let go and the run is marked as interrupted.
    # A script has what it runs behind itself ignore Ctrl-C, and with it the kill that ends as Ctrl-C does.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        app()
    except SystemExit as ending:
        # Typer answers Ctrl-C outside a run with this status and no word.
        if ending.code == INTERRUPTED:
            complain("interrupted")
            sys.exit(FAILED)
        raise
    except ConfigurationError as error:
        for problem in error.problems:
            complain(str(problem))
        sys.exit(WRONG_USE)
    except ArenaError as error:
        complain(str(error))
        sys.exit(FAILED)
    except KeyboardInterrupt:
        complain("interrupted")
        sys.exit(FAILED)
    except BrokenPipeError:
        # Whoever read our output has gone; Python would complain again when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(FAILED)


@app.callback(invoke_without_command=True)
def _root(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    if version:
        out(coupled_arena.__version__)
        raise typer.Exit
