"""Options that several commands take."""

from pathlib import Path
from typing import Annotated

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
