"""What the commands share that build on a finished run: add, rejudge."""

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
FLAGS = {"run": "--run", "openings": "--openings"}
"""What the keys of a definition are called by both commands, whatever files they read."""


def definition_in(file: Path | None) -> dict[str, Any]:
    """Return the parameter that a file with the run's own definition stands for."""
    from coupled_arena.config import load

    return {} if file is None else {"definition": load(file)}
