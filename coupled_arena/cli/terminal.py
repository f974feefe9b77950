"""What commands write: results to standard output, everything else to standard error."""

import json
import sys
from typing import TYPE_CHECKING, Any

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
    from coupled_arena.reports.console import printable

    sys.stderr.write(f"{printable(text)}\n")


def agreed(question: str) -> bool:
    """Ask on the terminal, past standard output, and return whether the answer is yes."""
    sys.stderr.write(f"{question} [y/N]: ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def out(text: str) -> None:
    """Write a line of a result."""
    sys.stdout.write(f"{text}\n")


def out_json(value: dict[str, Any]) -> None:
    """Write the one JSON object of a command."""
    out(json.dumps(value, ensure_ascii=False, allow_nan=False, indent=1))
