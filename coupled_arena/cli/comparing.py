"""The command that asks which of two models is better: compare."""

from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coupled_arena.cli.answering import answer
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
    SeedOption,
    StoreOption,
    YesOption,
)
from coupled_arena.cli.terminal import complain

if TYPE_CHECKING:
    from coupled_arena.studies.comparing.comparison import Comparison
    from coupled_arena.tournaments.definition import Tournament

WHERE = "compare"
"""What problems name as their place."""

FLAGS = {
    "judges": "--judge",
    "questions": "--questions",
    "questions_per_domain": "--per-domain",
    "domains": "--domain",
    "examiner": "--examiner",
    "language": "--language",
    "seed": "--seed",
    "battle.script": "--script",
    "committee.recuse": "--recuse",
    **BUDGET_FLAGS,
}
"""What the keys of a definition are called here."""


def compare(
    a: Annotated[str, typer.Argument(metavar="A", help="A model, or NAME=MODEL.")],
    b: Annotated[str, typer.Argument(metavar="B", help="Another one.")],
    judge: Annotated[list[str], typer.Option("--judge", metavar="MODEL", help="Who judges; repeatable.")],
    questions: Annotated[
        Path | None,
        typer.Option(
            "--questions",
            metavar="FILE",
            help="JSONL or CSV with `text` and, if you like, `domain`, `reference`, `id`, `language`; "
            "the bundled set if left out.",
        ),
    ] = None,
    per_domain: Annotated[
        int | None, typer.Option("--per-domain", min=1, help="Questions in each domain: 5, or all of a file.")
    ] = None,
    domain: Annotated[list[str] | None, typer.Option("--domain", help="Ask only about this; repeatable.")] = None,
    examiner: Annotated[str | None, typer.Option("--examiner", metavar="MODEL", help="Who writes questions.")] = None,
    script: Annotated[str, typer.Option("--script", help="peer-battle, or single: one answer each.")] = "peer-battle",
    recuse: Annotated[
        str,
        typer.Option(
            "--recuse", help="Who may not judge: the debaters' family, their author (same model and settings), none."
        ),
    ] = "family",
    language: Annotated[str, typer.Option("--language", help="Language of questions and prompts.")] = "en",
    seed: SeedOption = 0,
    budget_usd: BudgetOption = None,
    budget_calls: BudgetCallsOption = None,
    budget_tokens: BudgetTokensOption = None,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
    dry_run: DryRunOption = False,
    retry_failed: RetryOption = False,
    concurrency: ConcurrencyOption = None,
    yes: YesOption = False,
    all_questions: Annotated[
        bool,
        typer.Option("--all-questions", help="Ask all questions, for a narrower interval; do not stop when settled."),
    ] = False,
) -> None:
    """Say which of two models is better, on which questions, and whether it is settled.

    They battle over a few questions at a time and stop once it is settled; the interval allows for that.
    """
    from coupled_arena.studies.comparing.comparison import Comparison

    rules = {
        "until_settled": not all_questions,
        "questions": questions,
        "questions_per_domain": per_domain,
        "domains": domain or None,
        "examiner": examiner,
        "script": script,
        "recuse": recuse,
        "language": language,
        "seed": seed,
        "budget": {"usd": budget_usd, "calls": budget_calls, "tokens": budget_tokens},
        "concurrency": concurrency,
    }
    with in_flags(FLAGS):
        tournament = _tournament(a, b, judge, rules)
        found = answer(
            tournament,
            Comparison.of,
            store,
            WHERE,
            as_json=as_json,
            dry_run=dry_run,
            retry_failed=retry_failed,
            yes=yes,
        )
    if found is not None:
        _say_next(found)


def _tournament(a: str, b: str, judges: list[str], rules: dict[str, Any]) -> "Tournament":
    """Return what is to be played; rules that are None are left to the library."""
    from coupled_arena.studies.comparing.compare import tournament_of

    given = {key: value for key, value in rules.items() if value is not None}
    first, second, *panel = [model_of(text, WHERE) for text in (a, b, *judges)]
    return tournament_of(first, second, judges=panel, where=WHERE, **given)


def _say_next(found: "Comparison") -> None:
    """Say how to ask as many more questions as it takes."""
    if not found.score.more_questions:
        return
    questions = found.result.tournament.questions
    if questions is not None:
        complain(f"to ask more: add questions to {questions}")
        return
    wanted = ceil((found.score.questions + found.score.more_questions) / max(1, len(found.domains)))
    complain(f"to ask more: --per-domain {wanted}; where the bundled questions run out, an --examiner writes them")
