"""What a preflight saw, as text for a terminal."""

from rich.console import Group, RenderableType
from rich.text import Text

from coupled_arena.models.model import Price
from coupled_arena.reports.console import printable, table
from coupled_arena.tournaments.preflight import CastModel, Preflight

CAST_COLUMNS = ("model", "is", "as", "family", "context", "longest call", "thinks", "answered in")
COST_COLUMNS = ("model", "calls", "most calls", "tokens read", "tokens written", "$ per million", "at worst $")


def preflight_table(seen: Preflight) -> RenderableType:
    """Return who plays, what is asked of whom and what it costs at worst, and what is worth knowing."""
    named = any(line.model != line.string for line in seen.models)
    columns = [column for column in CAST_COLUMNS if named or column != "is"]
    cast = [[value for column, value in _cast(line) if column in columns] for line in seen.models]
    return Group(
        table(columns, cast),
        Text(),
        table(COST_COLUMNS, [_cost(line) for line in seen.models]),
        Text(),
        *(Text(printable(f"note: {note}")) for note in seen.notes),
        Text(printable(f"{seen.battles} battles at most; worst case: {seen.cost}")),
    )


def _cast(line: CastModel) -> list[tuple[str, object]]:
    thinks = {True: "yes", False: "no", None: None}[line.thinks]
    return [
        ("model", line.model),
        ("is", line.string),
        ("as", ", ".join(line.keys)),
        ("family", line.family),
        ("context", "unknown" if line.context is None else line.context),
        ("longest call", line.spending.longest_call),
        ("thinks", thinks),
        ("answered in", None if line.latency is None else f"{line.latency:.1f} s"),
    ]


def _cost(line: CastModel) -> list[object]:
    spending = line.spending
    least = "at least " if line.at_least else ""
    figures = (spending.calls, spending.most_calls, spending.prompt_tokens, spending.completion_tokens)
    usd = "unpriced" if spending.usd is None else f"{spending.usd:.2f}"
    return [line.model, *(f"{least}{figure}" if least else figure for figure in figures), _price(line.price), usd]


def _price(price: Price | None) -> str:
    """Return a price as dollars for a million tokens read / written."""
    if price is None:
        return "unknown"
    return f"{price.prompt:g} / {price.completion:g}" if price.prompt or price.completion else "free"
