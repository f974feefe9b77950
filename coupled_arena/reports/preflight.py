"""What a preflight saw, as text for a terminal."""

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from coupled_arena.models.model import Price
from coupled_arena.reports.console import table
from coupled_arena.shown import plural, printable
from coupled_arena.tournaments.preflight.outlook import CastModel, Preflight

CAST_COLUMNS = ("model", "as", "family", "context", "longest", "thinks", "answer")
COST_COLUMNS = ("model", "calls", "most", "read", "written", "$/M tokens", "worst $")


def preflight_table(seen: Preflight) -> RenderableType:
    """Return who plays, what is asked of whom and what it costs at worst, and what is worth knowing."""
    columns = CAST_COLUMNS if seen.probed else CAST_COLUMNS[:-2]
    return Group(
        table(columns, [_cast(line)[: len(columns)] for line in seen.models]),
        Text(),
        table(COST_COLUMNS, [_cost(line) for line in seen.models]),
        Text(),
        *(Text(printable(line)) for line in _words(seen)),
    )


def _cast(line: CastModel) -> list[object]:
    return [
        line.model,
        ", ".join(line.keys),
        line.family,
        "unknown" if line.context is None else line.context,
        line.spending.longest_call,
        None if line.thinks is None else ("yes" if line.thinks else "no"),
        None if line.latency is None else f"{line.latency:.1f} s",
    ]


def _cost(line: CastModel) -> list[object]:
    spending = line.spending
    least = ">= " if line.at_least else ""
    return [
        line.model,
        *(f"{least}{calls}" if least else calls for calls in (spending.calls, spending.most_calls)),
        *(f"{least}{_short(tokens)}" for tokens in (spending.prompt_tokens, spending.completion_tokens)),
        _price(line.price),
        "unpriced" if spending.usd is None else f"{spending.usd:.2f}",
    ]


def _words(seen: Preflight) -> Iterator[str]:
    yield from (f"{line.model} is {line.string}" for line in seen.models if line.model != line.string)
    yield from (f"note: {note}" for note in seen.notes)
    yield f"{plural(seen.battles, 'battle')} at most; worst case: {seen.cost}"


def _short(tokens: int) -> str:
    """Return a number of tokens with three digits.

    >>> _short(999), _short(239_895), _short(1_462_995)
    ('999', '240k', '1.46M')
    """
    if tokens < 1000:
        return str(tokens)
    return f"{tokens / 1e3:.3g}k" if tokens < 999_500 else f"{tokens / 1e6:.3g}M"


def _price(price: Price | None) -> str:
    """Return what a million tokens read and a million written cost, in US dollars."""
    if price is None:
        return "unknown"
    return f"{price.prompt:g} / {price.completion:g}" if price.prompt or price.completion else "free"
