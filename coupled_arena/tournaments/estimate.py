"""What a tournament will ask of every model, and at worst cost, before a single call is made."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from coupled_arena.models.model import Model, Price
from coupled_arena.prompts import bundled_questions
from coupled_arena.records import Question, Usage
from coupled_arena.tournaments.definition import Tournament
from coupled_arena.tournaments.questions import given_questions

PriceOf = Callable[[Model], Price | None]
"""What a model's tokens cost, or None where nobody knows."""


class Ask(NamedTuple):
    """One call that may be made, at its longest."""

    prompt: int
    """Tokens read at most."""
    completion: int
    """Tokens written at most, hidden reasoning included."""
    again: bool = False
    """Whether it is only made where an earlier one was not answered as it should be."""
    together: int = 0
    """Tokens read and written at most, where both cannot be at their most; 0 where they can."""

    @property
    def longest(self) -> int:
        """Tokens that the model has to hold."""
        return self.together or self.prompt + self.completion


class Load(NamedTuple):
    """Calls of one model in one place of a tournament."""

    calls: int
    """Calls when nothing has to be asked twice."""
    most: int
    """Calls when everything has to be asked as often as the rules allow."""
    prompt: int
    """Tokens read at most."""
    completion: int
    """Tokens written at most."""
    longest: int
    """Tokens read and written by the longest single call."""


NOTHING = Load(0, 0, 0, 0, 0)
"""No call at all."""


@dataclass(frozen=True, slots=True)
class Place:
    """One place that a model has in a tournament, and what is asked of it there."""

    key: str
    """Key of the definition that names the model: `models`, `judges`, `roles.checker`."""
    role: str
    """What it is there: `debater`, `judge`, `examiner`, `reference`, or the name of an added role."""
    model: Model
    """The model."""
    load: Load
    """What is asked of it."""


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


def load_of(asks: Iterable[Ask], times: int = 1) -> Load:
    """Return what calls add up to that are made so many times.

    >>> load_of([Ask(100, 20), Ask(130, 20, again=True)], 2)
    Load(calls=2, most=4, prompt=460, completion=80, longest=150)
    """
    asks = list(asks)
    load = Load(
        sum(not ask.again for ask in asks),
        len(asks),
        sum(ask.prompt for ask in asks),
        sum(ask.completion for ask in asks),
        max((ask.longest for ask in asks), default=0),
    )
    return repeated(load, times)


def repeated(load: Load, times: int) -> Load:
    """Return what a load is so many times; no call becomes longer."""
    calls, most, prompt, completion, longest = load
    return Load(calls * times, most * times, prompt * times, completion * times, longest if times else 0)


def added(loads: Iterable[Load]) -> Load:
    """Return what several loads are together; the longest call is the longest of any of them."""
    calls, most, prompt, completion, longest = zip(NOTHING, *loads, strict=True)
    return Load(sum(calls), sum(most), sum(prompt), sum(completion), max(longest))


def estimate(places: Iterable[Place], price_of: PriceOf) -> tuple[Spending, ...]:
    """Return what every model will be asked at most, in order of first mention.

    Which models meet is not known before, nor which are the best-rated; so a model is counted in every round and in
    every committee it may sit in.

    Args:
        places: what each place asks (`asks.places`).
        price_of: known prices.
    """
    loads: dict[str, list[Load]] = {}
    models: dict[str, Model] = {}
    for place in places:
        models.setdefault(place.model.name, place.model)
        loads.setdefault(place.model.name, []).append(place.load)
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
    models = "model" if len(unpriced) == 1 else "models"
    return f"at least ${usd:.{digits}f} ({len(unpriced)} {models} unpriced: {', '.join(unpriced)})"


def battles_of(tournament: Tournament) -> tuple[int, int]:
    """Return how many battles are played at most: in all, and by one model.

    >>> battles_of(Tournament(models=["sim/a", "sim/b", "sim/c"], domains=["math"], questions_per_domain=2))
    (4, 4)
    """
    models = len(tournament.models)
    known = known_questions(tournament)
    questions = len(tournament.domains) * tournament.questions_per_domain if known is None else len(known)
    each = questions * tournament.battle.replicates * (2 if tournament.battle.sides == "both" else 1)
    rounds = tournament.schedule.length(models)
    return rounds * (models // 2) * each, rounds * each


def known_questions(tournament: Tournament) -> tuple[Question, ...] | None:
    """Return the questions of a tournament as they are before the first call, or None if an examiner writes them."""
    if tournament.questions is not None:
        return given_questions(tournament)
    if tournament.examiner is not None:
        return None
    most = tournament.questions_per_domain
    return tuple(q for domain in tournament.domains for q in bundled_questions(tournament.language, domain)[:most])
