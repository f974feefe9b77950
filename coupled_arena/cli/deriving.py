"""What the commands share that build on a finished run: add, rejudge."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import typer

from coupled_arena.cli.playing import consent, play, say_unfinished, show_preflight
from coupled_arena.cli.results import require_rated
from coupled_arena.cli.terminal import complain, out, out_json
from coupled_arena.errors import BudgetReached

if TYPE_CHECKING:
    from coupled_arena.tournaments.derived import Derived
    from coupled_arena.tournaments.result import Result

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


class Found(Protocol):
    """What a derived run comes to."""

    @property
    def sentence(self) -> str:
        """The answer in one sentence."""
        ...

    @property
    def lines(self) -> tuple[str, ...]:
        """What belongs to it."""
        ...

    def document(self) -> dict[str, Any]:
        """Return it as plain data."""
        ...


def play_derived(
    definition: "Derived",
    found: "Callable[[Result], Found]",
    store: Path,
    where: str,
    *,
    as_json: bool,
    dry_run: bool,
    retry_failed: bool,
    yes: bool,
) -> None:
    """Play a run that builds on another one, after consent, and show what it comes to."""
    if dry_run:
        show_preflight(definition, store, where, retry_failed=retry_failed, as_json=as_json)
        return
    consent(definition, store, where, retry_failed=retry_failed, yes=yes)
    try:
        result = play(definition, store, where, retry_failed=retry_failed)
    except BudgetReached as stop:
        _show(found(stop.result), stop.result, as_json=as_json)
        say_unfinished(stop.result)
        raise
    _show(found(result), result, as_json=as_json)
    require_rated(result)


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


def _show(found: Found, result: "Result", *, as_json: bool) -> None:
    from coupled_arena.reports.console import printable, spending

    if as_json:
        out_json(found.document())
        return
    for line in (found.sentence, "", *found.lines):
        out(printable(line))
    complain(spending(result))
