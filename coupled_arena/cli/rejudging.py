"""The command that judges the debates of a finished run anew: rejudge."""

from pathlib import Path
from typing import Annotated, Any

import typer

from coupled_arena.cli.answering import answer
from coupled_arena.cli.deriving import FLAGS, DefinitionOption, PlayedRunOption, definition_in
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
from coupled_arena.errors import ConfigurationError, Problem

WHERE = "rejudge"
"""What problems name as their place where there is no file."""


def rejudge(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE.toml", help="What changes: judges, committee, prompts, budget, limits."),
    ] = None,
    openings: Annotated[bool, typer.Option("--openings", help="Show the judges the two openings only.")] = False,
    store: StoreOption = DEFAULT_STORE,
    run: PlayedRunOption = None,
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
    """Have the debates of a finished run judged by another committee, by other rules or in other words."""
    from coupled_arena.config import load_judging
    from coupled_arena.studies.derived.rejudged import Rejudged
    from coupled_arena.studies.derived.rejudging import judged_anew

    if file is None and not openings:
        message = "name a file with the new judges, rules or prompts, or say --openings"
        raise ConfigurationError([Problem(WHERE, "FILE.toml", message)])
    where = WHERE if file is None else str(file)
    rules: dict[str, Any] = {} if file is None else load_judging(file)
    budget = {"usd": budget_usd, "calls": budget_calls, "tokens": budget_tokens}
    options = given(budget=budget, concurrency=concurrency)
    flags = {**FLAGS, **flags_given(options)}
    if "budget" in options and isinstance(rules.get("budget"), dict):
        options["budget"] = {**rules["budget"], **options["budget"]}
    with in_flags(flags):
        anew = judged_anew(
            store, run, openings_only=openings, where=where, **definition_in(definition), **{**rules, **options}
        )
        answer(anew, Rejudged.of, store, where, as_json=as_json, dry_run=dry_run, retry_failed=retry_failed, yes=yes)
