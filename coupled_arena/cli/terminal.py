"""What commands write: results to standard output, everything else to standard error."""

import json
import sys
from typing import TYPE_CHECKING, Any

import typer

from coupled_arena.cli.status import FAILED, WRONG_USE

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

PLAIN_WIDTH = 160
"""Columns of a table that goes to no terminal."""


def console_of(*, stderr: bool = False) -> "Console":
    """Return the console of a stream."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    return Console(file=stream, width=None if stream.isatty() else PLAIN_WIDTH, highlight=False)


def show(text: "RenderableType") -> None:
    """Show a result."""
    console_of().print(text)


def complain(text: str) -> None:
    """Say something that is no result, without the escapes it may hold."""
    from coupled_arena.shown import printable

    sys.stderr.write(f"{printable(text)}\n")


def can_ask() -> bool:
    """Return whether there is a terminal to ask on."""
    return sys.stdin.isatty()


def require_consent(*, yes: bool) -> None:
    """Ask on the terminal, past standard output, whether to go on; where nobody can answer, only `--yes` is an answer.

    Raises:
        typer.Exit: the answer is no, or there is none.
    """
    if yes:
        return
    if not can_ask():
        complain("nobody can be asked here whether to spend this: say --yes to go on")
        raise typer.Exit(WRONG_USE)
    sys.stderr.write("Go on? [y/N]: ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise typer.Exit(FAILED)


def out(text: str) -> None:
    """Write a line of a result."""
    sys.stdout.write(f"{text}\n")


def out_json(value: dict[str, Any]) -> None:
    """Write the one JSON object of a command, what a terminal would obey as JSON's own escapes."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=1)
    out("".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text))
