"""What every model will be asked at most, and what that costs at worst."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from coupled_arena.models.model import Model, Price
from coupled_arena.records import Usage
from coupled_arena.shown import plural
from coupled_arena.tournaments.preflight.loads import Duty, Load, added

PriceOf = Callable[[Model], Price | None]
"""What a model's tokens cost, or None where nobody knows."""


@dataclass(frozen=True, slots=True)
class Spending:
    """What one model will be asked."""

    model: str
    """Its name."""
    calls: int
    """Calls at most when nothing has to be asked twice; equal calls are made once, and judges recused."""
    most_calls: int
    """Calls at most when everything has to be asked again as often as the rules allow."""
    prompt_tokens: int
    """Tokens read at most."""
    completion_tokens: int
    """Tokens written at most, hidden reasoning included."""
    longest_call: int
    """Tokens read and written by its longest single call at most."""
    usd: float | None
    """Worst-case price in US dollars; None for a model without a known price."""


def estimate(duties: Iterable[Duty], price_of: PriceOf) -> tuple[Spending, ...]:
    """Return what every model will be asked at most, in order of first mention.

    Which models meet is not known before, nor which are the best-rated; so a model is counted in every round and in
    every committee it may sit in.

    Args:
        duties: what each duty asks (`asks.duties`).
        price_of: known prices.
    """
    loads: dict[str, list[Load]] = {}
    models: dict[str, Model] = {}
    for duty in duties:
        models.setdefault(duty.model.name, duty.model)
        loads.setdefault(duty.model.name, []).append(duty.load)
    return tuple(_spending(models[name], added(parts), price_of) for name, parts in loads.items())


def _spending(model: Model, load: Load, price_of: PriceOf) -> Spending:
    # What an agent asks of the models behind it nobody knows before it is asked itself.
    price = model.price if model.kind == "agent" else price_of(model)
    usd = None if price is None else price.of(Usage(prompt_tokens=load.prompt, completion_tokens=load.completion))
    return Spending(model.name, *load, usd)


def bill(spending: Sequence[Spending]) -> tuple[float, list[str]]:
    """Return the known worst-case price of all models in US dollars, and the models whose price nobody knows."""
    return sum(line.usd or 0.0 for line in spending), [line.model for line in spending if line.usd is None]


def price_words(usd: float, unpriced: Sequence[str], digits: int = 2) -> str:
    """Return a price with what is not in it: a model without a known price is unpriced, never free.

    >>> price_words(1.2, []), price_words(1.2, ["gpt", "ours"])
    ('$1.20', 'at least $1.20 (2 models unpriced: gpt, ours)')
    """
    if not unpriced:
        return f"${usd:.{digits}f}"
    return f"at least ${usd:.{digits}f} ({plural(len(unpriced), 'model')} unpriced: {', '.join(unpriced)})"
