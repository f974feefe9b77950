"""What the commands share that build on a finished run: add, rejudge."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

PlayedRunOption = Annotated[
    str | None,
    typer.Option("--run", metavar="ID", help="A run of the store; its newest that was played, not judged anew."),
]
DefinitionOption = Annotated[
    Path | None,
    typer.Option(
        "--definition",
        metavar="FILE.toml",
        help="The run's own definition, for what a store does not keep: limits, prices, the prompt set's file.",
    ),
]
FLAGS = {
    "run": "--run",
    "openings": "--openings",
    "budget.usd": "--budget-usd",
    "budget.calls": "--budget-calls",
    "budget.tokens": "--budget-tokens",
}
"""What the keys of a definition are called by both commands."""


def given(**options: Any) -> dict[str, Any]:
    """Return the options that were given, as parameters; one that holds others is given if any of them is."""
    inner = {
        key: {name: part for name, part in value.items() if part is not None} if isinstance(value, Mapping) else value
        for key, value in options.items()
    }
    return {key: value for key, value in inner.items() if value is not None and value != {}}


def definition_in(file: Path | None) -> dict[str, Any]:
    """Return the parameter that a file with the run's own definition stands for."""
    from coupled_arena.config import load

    return {} if file is None else {"definition": load(file)}
