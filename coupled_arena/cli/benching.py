"""The command that asks models about the items of a task: bench."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coupled_arena.cli.flags import in_flags
from coupled_arena.cli.naming import split_name
from coupled_arena.cli.options import (
    BUDGET_FLAGS,
    DEFAULT_STORE,
    BudgetCallsOption,
    BudgetOption,
    BudgetTokensOption,
    DryRunOption,
    JsonOption,
    RetryOption,
    SeedOption,
    StoreOption,
    YesOption,
)
from coupled_arena.cli.status import FAILED
from coupled_arena.cli.terminal import can_ask, complain, console_of, out, out_json, require_consent
from coupled_arena.errors import BudgetReached

if TYPE_CHECKING:
    from coupled_arena.studies.bench import Bench
    from coupled_arena.studies.bench.plan import Plan

FLAGS = {
    "task": "--task",
    "models": "--models",
    "items": "--items",
    "repeats": "--repeats",
    "temperature": "--temperature",
    "top_p": "--top-p",
    "coupling": "--coupling",
    "alignment": "--alignment",
    "seed": "--seed",
    **BUDGET_FLAGS,
}
"""What the parameters of a bench are called here."""


def bench(
    task: Annotated[
        str,
        typer.Option(
            "--task",
            metavar="NAME|FILE",
            help="arithmetic, yes-no, multiple-choice; your copy of MMLU (a folder, JSONL, Parquet) or GSM8K; "
            "or your items: JSONL, CSV or Parquet with id, text, gold.",
        ),
    ],
    models: Annotated[
        list[str], typer.Option("--models", "--model", metavar="MODEL", help="Who is asked; repeatable.")
    ],
    items: Annotated[int | None, typer.Option("--items", min=1, help="Items, drawn by the seed; all if left out.")] = (
        None
    ),
    repeats: Annotated[int, typer.Option("--repeats", min=1, help="Draws of the dice for each item.")] = 10,
    temperature: Annotated[
        str | None, typer.Option("--temperature", metavar="T[,T]", help="One or several; 0.7 if left out.")
    ] = None,
    top_p: Annotated[str | None, typer.Option("--top-p", metavar="P[,P]", help="One or several; 1 if left out.")] = (
        None
    ),
    coupling: Annotated[str, typer.Option("--coupling", help="coupled, or independent.")] = "coupled",
    alignment: Annotated[
        str, typer.Option("--alignment", help="What places a token in the noise: step, or context.")
    ] = "step",
    seed: SeedOption = 0,
    budget_usd: BudgetOption = None,
    budget_calls: BudgetCallsOption = None,
    budget_tokens: BudgetTokensOption = None,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
    dry_run: DryRunOption = False,
    retry_failed: RetryOption = False,
    concurrency: Annotated[
        int, typer.Option("--concurrency", min=1, help="Calls in flight, about; never changes a result.")
    ] = 64,
    yes: YesOption = False,
) -> None:
    """Say how often models answer the items of a task right, how they differ, and what shared dice saved."""
    from coupled_arena.models.budget import Budget
    from coupled_arena.studies.bench.planning import planned

    named: list[Any] = [split_name(text) for text in models]
    with in_flags(FLAGS):
        plan = planned(
            named,
            task,
            items=items,
            repeats=repeats,
            temperature=_numbers(temperature),
            top_p=_numbers(top_p),
            coupling=coupling,
            alignment=alignment,
            seed=seed,
            budget=Budget(usd=budget_usd, calls=budget_calls, tokens=budget_tokens),
            concurrency=concurrency,
        )
        if dry_run:
            _show_preflight(plan, store, retry_failed=retry_failed, as_json=as_json)
            return
        _consent(plan, store, retry_failed=retry_failed, yes=yes)
        try:
            found = _play(plan, store, retry_failed=retry_failed)
        except BudgetReached as stop:
            _show(stop.result, as_json=as_json)
            raise
    _show(found, as_json=as_json)
    if not any(row.answers for row in found.model_rows):
        complain("no answer could be scored; mend the cause above, and ask again with --retry-failed")
        raise typer.Exit(FAILED)


def _numbers(text: str | None) -> list[Any] | None:
    """Return what stands between commas as numbers; what is none stays text, and is refused with all else."""
    return None if text is None else [_number(part) for part in text.split(",")]


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _show_preflight(plan: "Plan", store: Path, *, retry_failed: bool, as_json: bool) -> None:
    import asyncio

    from coupled_arena.studies.bench.preflight import preflight

    seen = asyncio.run(preflight(plan, store, probe=False, retry_failed=retry_failed))
    if as_json:
        out_json(seen.document())
    else:
        for line in seen.lines:
            out(line)


def _consent(plan: "Plan", store: Path, *, retry_failed: bool, yes: bool) -> None:
    """Ask every hosted model once, say what the bench costs at worst, and ask whether to go on."""
    import asyncio

    from coupled_arena.studies.bench.preflight import preflight

    if not any(model.kind == "hosted" for model in plan.models):
        return
    seen = asyncio.run(preflight(plan, store, probe=yes or can_ask(), retry_failed=retry_failed))
    if seen.finished:
        return
    for line in seen.lines:
        complain(line)
    require_consent(yes=yes)


def _play(plan: "Plan", store: Path, *, retry_failed: bool) -> "Bench":
    """Play with progress on standard error what `_consent` was given to, or what costs nothing."""
    from coupled_arena.reports.progress import AnswerProgress
    from coupled_arena.studies.bench.playing import play

    with AnswerProgress(console_of(stderr=True)) as progress:
        return play(plan, store, listeners=[progress], retry_failed=retry_failed, preflight=False)


def _show(found: "Bench", *, as_json: bool) -> None:
    from coupled_arena.reports.console import calls
    from coupled_arena.shown import printable

    if as_json:
        out_json(found.document())
        return
    for line in found.lines:
        out(printable(line))
    complain(calls(found.counts))
