"""The command that inserts a newcomer into a finished run: add."""

from pathlib import Path
from typing import Annotated

import typer

from coupled_arena.cli.answering import answer
from coupled_arena.cli.deriving import FLAGS, DefinitionOption, PlayedRunOption, definition_in
from coupled_arena.cli.flags import in_flags
from coupled_arena.cli.naming import model_of
from coupled_arena.cli.options import (
    BUDGET_FLAGS,
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
    given,
)

WHERE = "add"
"""What problems name as their place."""


def add(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="The newcomer, or NAME=MODEL.")],
    store: StoreOption = DEFAULT_STORE,
    run: PlayedRunOption = None,
    scores: Annotated[
        Path | None,
        typer.Option("--scores", metavar="FILE", help="Scores of models by name; the first opponent is the closest."),
    ] = None,
    definition: DefinitionOption = None,
    as_json: JsonOption = False,
    dry_run: DryRunOption = False,
    retry_failed: RetryOption = False,
    concurrency: ConcurrencyOption = None,
    budget_usd: BudgetOption = None,
    budget_calls: BudgetCallsOption = None,
    budget_tokens: BudgetTokensOption = None,
    yes: YesOption = False,
) -> None:
    """Insert a newcomer into a finished run: it meets a few of the others, and nothing is replayed."""
    from coupled_arena.studies.derived.added import Addition
    from coupled_arena.studies.derived.addition import with_newcomer

    budget = {"usd": budget_usd, "calls": budget_calls, "tokens": budget_tokens}
    with in_flags({**FLAGS, **BUDGET_FLAGS, "schedule.scores": "--scores"}):
        joined = with_newcomer(
            model_of(model, WHERE),
            store,
            run,
            scores=scores,
            where=WHERE,
            **definition_in(definition),
            **given(budget=budget, concurrency=concurrency),
        )
        answer(joined, Addition.of, store, WHERE, as_json=as_json, dry_run=dry_run, retry_failed=retry_failed, yes=yes)
