"""Commands that play: run, demo."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from coupled_arena.cli.flags import in_flags
from coupled_arena.cli.options import (
    DEFAULT_STORE,
    BudgetCallsOption,
    BudgetOption,
    BudgetTokensOption,
    ConcurrencyOption,
    DryRunOption,
    JsonOption,
    RetryOption,
    StoreOption,
    YesOption,
    flags_given,
    given,
)
from coupled_arena.cli.results import show_result, write_result
from coupled_arena.cli.terminal import can_ask, complain, console_of, out, out_json, require_consent, show
from coupled_arena.errors import BudgetReached, ModelUnavailable

if TYPE_CHECKING:
    from coupled_arena.tournaments.definition import Tournament
    from coupled_arena.tournaments.results.result import Result


def run(
    file: Annotated[Path, typer.Argument(metavar="FILE.toml", help="The definition.")],
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
    dry_run: DryRunOption = False,
    retry_failed: RetryOption = False,
    concurrency: ConcurrencyOption = None,
    budget_usd: BudgetOption = None,
    budget_calls: BudgetCallsOption = None,
    budget_tokens: BudgetTokensOption = None,
    yes: YesOption = False,
) -> None:
    """Play a tournament, or go on with it where it was interrupted."""
    from coupled_arena.config import load

    tournament = load(file)
    budget = {"usd": budget_usd, "calls": budget_calls, "tokens": budget_tokens}
    options = given(budget=budget, concurrency=concurrency)
    bounds = tournament.budget.model_copy(update=options.get("budget"))
    tournament = tournament.model_copy(update={**options, "budget": bounds})
    with in_flags(flags_given(options)):
        if dry_run:
            show_preflight(tournament, store, str(file), retry_failed=retry_failed, as_json=as_json)
            return
        consent(tournament, store, str(file), retry_failed=retry_failed, yes=yes)
        try:
            result = play(tournament, store, str(file), retry_failed=retry_failed)
        except BudgetReached as stop:
            write_result(stop.result, as_json=as_json)
            say_unfinished(stop.result)
            raise
    show_result(result, as_json=as_json)


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
            complain(f"no local models: {error}")
            complain("playing the simulated tournament instead")
    result = play(tournament, store, "demo")
    show_result(result, as_json=as_json)
    if not as_json:
        show(console.conduct(result))
        out("\nOne battle in full:\n")
        battle = result.battles[0]
        question = next(question for question in result.questions if question.id == battle.question)
        show(console.transcript(battle, question))


def play(tournament: "Tournament", store: Path, where: str, *, retry_failed: bool = False) -> "Result":
    """Play with progress on standard error what `consent` was given to, or what costs nothing."""
    from coupled_arena.reports.progress import Progress

    with Progress(console_of(stderr=True)) as progress:
        return tournament.run(store, listeners=[progress], where=where, retry_failed=retry_failed, preflight=False)


def say_unfinished(result: "Result") -> None:
    """Say how a budget buys whole battles, where it bought none."""
    at_once = result.tournament.concurrency
    if not result.battles and at_once > 1:
        complain(f"no battle ended: up to {at_once} are played at once; --concurrency 1 ends one after the other")


def show_preflight(
    tournament: "Tournament", store: Path, where: str, *, retry_failed: bool = False, as_json: bool = False
) -> None:
    """Say what every model will be asked and what it costs at worst, without asking anything."""
    from coupled_arena.reports.preflight import preflight_table

    seen = tournament.preflight(store, where=where, retry_failed=retry_failed, probe=False)
    if as_json:
        out_json(seen.document())
    else:
        show(preflight_table(seen))


def consent(tournament: "Tournament", store: Path, where: str, *, retry_failed: bool = False, yes: bool) -> None:
    """Ask every hosted model once, say what the run costs at worst, and ask whether to go on.

    What costs nothing, or is finished, goes on without a word. Where nobody can answer, only `--yes` is an answer.
    """
    from coupled_arena.reports.preflight import preflight_table
    from coupled_arena.tournaments.preflight.casting import hosted_models

    if not hosted_models(tournament):
        return
    seen = tournament.preflight(store, where=where, retry_failed=retry_failed, probe=yes or can_ask())
    if seen.finished:
        return
    console_of(stderr=True).print(preflight_table(seen))
    require_consent(yes=yes)
