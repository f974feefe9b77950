"""Options that several commands take."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

DEFAULT_STORE = Path("coupled-arena.db")
"""Where runs live unless a command is told otherwise."""

StoreOption = Annotated[Path, typer.Option("--store", metavar="FILE", help="Where runs live.")]
RunOption = Annotated[
    str | None, typer.Option("--run", metavar="ID", help="A run of the store; its newest if left out.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Only say what would be asked and paid.")]
RetryOption = Annotated[bool, typer.Option("--retry-failed", help="Ask again what was answered without text.")]
ConcurrencyOption = Annotated[
    int | None, typer.Option("--concurrency", min=1, help="Battles in flight; never changes a result.")
]
SeedOption = Annotated[int, typer.Option("--seed", help="The number all randomness is derived from.")]
MOST_USD = 1_000_000_000
"""Most US dollars of a budget: without a bound the option would take infinity."""
YesOption = Annotated[bool, typer.Option("--yes", help="Spend without being asked.")]
BudgetOption = Annotated[
    float | None, typer.Option("--budget-usd", min=0, max=MOST_USD, help="Stop when this many US dollars are spent.")
]
BudgetCallsOption = Annotated[
    int | None, typer.Option("--budget-calls", min=0, help="Stop when this many calls are made.")
]
BudgetTokensOption = Annotated[
    int | None, typer.Option("--budget-tokens", min=0, help="Stop when this many tokens are read and written.")
]
BUDGET_FLAGS = {f"budget.{bound}": f"--budget-{bound}" for bound in ("usd", "calls", "tokens")}
"""What the bounds of a budget are called on the command line."""


def given(**options: Any) -> dict[str, Any]:
    """Return the options that were given, as parameters; one that holds others is given if any of them is."""
    inner = {
        key: {name: part for name, part in value.items() if part is not None} if isinstance(value, Mapping) else value
        for key, value in options.items()
    }
    return {key: value for key, value in inner.items() if value is not None and value != {}}


def flags_given(options: Mapping[str, Any]) -> dict[str, str]:
    """Return what the bounds of a budget are called that came from options, beside a file that may set others.

    >>> flags_given(given(budget={"usd": 5.0, "calls": None}, concurrency=None))
    {'budget.usd': '--budget-usd'}
    """
    return {key: BUDGET_FLAGS[key] for name in options.get("budget", ()) if (key := f"budget.{name}") in BUDGET_FLAGS}
