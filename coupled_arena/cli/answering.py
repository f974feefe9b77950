"""What the commands share that play to answer a question: compare, add, rejudge."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from coupled_arena.cli.playing import consent, play, say_unfinished, show_preflight
from coupled_arena.cli.results import require_rated
from coupled_arena.cli.terminal import complain, out, out_json
from coupled_arena.errors import BudgetReached

if TYPE_CHECKING:
    from coupled_arena.tournaments.definition import Tournament
    from coupled_arena.tournaments.results.result import Result


class Answer(Protocol):
    """What a run comes to where one thing was asked."""

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


AnswerT = TypeVar("AnswerT", bound=Answer)


def answer(
    definition: "Tournament",
    read: "Callable[[Result], AnswerT]",
    store: Path,
    where: str,
    *,
    as_json: bool,
    dry_run: bool,
    retry_failed: bool,
    yes: bool,
) -> AnswerT | None:
    """Play a definition, after consent, and show what it comes to; with `dry_run` only what it would ask."""
    if dry_run:
        show_preflight(definition, store, where, retry_failed=retry_failed, as_json=as_json)
        return None
    consent(definition, store, where, retry_failed=retry_failed, yes=yes)
    try:
        result = play(definition, store, where, retry_failed=retry_failed)
    except BudgetReached as stop:
        _show(read(stop.result), stop.result, as_json=as_json)
        say_unfinished(stop.result)
        raise
    found = read(result)
    _show(found, result, as_json=as_json)
    require_rated(result)
    return found


def _show(found: Answer, result: "Result", *, as_json: bool) -> None:
    from coupled_arena.reports.console import spending
    from coupled_arena.shown import printable

    if as_json:
        out_json(found.document())
        return
    for line in (found.sentence, "", *found.lines):
        out(printable(line))
    complain(spending(result))
