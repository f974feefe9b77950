"""What a run will ask and at worst cost, said before it is paid for."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coupled_arena.errors import HERE
from coupled_arena.models.calls import Backend, Spent
from coupled_arena.models.families import family_of
from coupled_arena.models.gateway import Gateway
from coupled_arena.models.hosted.environment import missing_key
from coupled_arena.models.masking import without_secrets
from coupled_arena.models.model import Kind, Model, Price
from coupled_arena.models.prices import price_of
from coupled_arena.prompts import load_prompts
from coupled_arena.shown import plural
from coupled_arena.tournaments.definition import Tournament
from coupled_arena.tournaments.playing.seating import Seating
from coupled_arena.tournaments.preflight.asks import duties
from coupled_arena.tournaments.preflight.casting import cast, whole_cast
from coupled_arena.tournaments.preflight.clearance import examined
from coupled_arena.tournaments.preflight.contexts import context_of
from coupled_arena.tournaments.preflight.estimate import Spending, bill, estimate, price_words
from coupled_arena.tournaments.preflight.extent import battles_of
from coupled_arena.tournaments.preflight.notes import notes_on
from coupled_arena.tournaments.storage.store import Store
from coupled_arena.tournaments.stored import Begun, begun

if TYPE_CHECKING:
    from coupled_arena.tournaments.preflight.probes import Seen


@dataclass(frozen=True, slots=True)
class CastModel:
    """One model of a tournament, and what will be asked of it."""

    model: str
    """Its name."""
    string: str
    """Its model string, secrets masked."""
    keys: tuple[str, ...]
    """The keys of the definition that name it: `models`, `judges`, `examiner`, `reference`, `roles.NAME`."""
    family: str
    """Models of one family do not judge each other's battles unless `committee.recuse` says otherwise."""
    price: Price | None
    """What a million tokens cost in US dollars; None where nobody knows."""
    context: int | None
    """Tokens it can hold, question and answer together; None where nobody knows."""
    thinks: bool | None
    """Whether it reasoned before it answered the probe; None where it was not asked or gave no answer."""
    latency: float | None
    """Seconds in which it answered the probe; None where it was not asked."""
    spending: Spending
    """What will be asked of it at most, and what that costs."""
    at_least: bool
    """Whether more may be asked of it than its spending says: agents of the user's ask as often as they like."""

    def document(self) -> dict[str, Any]:
        """Return it as plain data, the figures of its spending beside the rest."""
        data = asdict(self)
        figures = data.pop("spending")
        price = self.price and self.price.model_dump()
        return {**data, **figures, "keys": list(self.keys), "price": price}


@dataclass(frozen=True, slots=True)
class Preflight:
    """What a tournament will ask and at worst cost; figures are of the whole run, whatever of it was played before.

    Example:
        >>> tournament = Tournament(models=["sim/ada", "sim/bob"], judges=["sim/j1"], domains=["math"])
        >>> seen = tournament.preflight()
        >>> seen.battles, seen.cost, [line.model for line in seen.models]
        (5, '$0.00', ['sim/ada', 'sim/bob', 'sim/j1'])
    """

    battles: int
    """Battles at most."""
    models: tuple[CastModel, ...]
    """Every model, in the order of the definition."""
    usd: float
    """Worst-case price in US dollars of all models with a known price."""
    unpriced: tuple[str, ...]
    """Names of the models whose price nobody knows."""
    notes: tuple[str, ...]
    """What is worth knowing and no problem."""
    hosted: bool
    """Whether any model is hosted, so that the run may cost money."""
    probed: bool
    """Whether the hosted models were asked."""
    finished: bool
    """Whether the store holds the run to its end, so that nothing will be asked."""

    @property
    def cost(self) -> str:
        """The worst-case price in words: `$1.20`, or `at least $1.20 (1 model unpriced: x)`."""
        return price_words(self.usd, self.unpriced)

    def document(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "battles": self.battles,
            "models": [model.document() for model in self.models],
            "usd": self.usd,
            "unpriced_models": list(self.unpriced),
            "notes": list(self.notes),
            "probed": self.probed,
            "finished": self.finished,
        }


async def preflight(
    tournament: Tournament,
    store: Store | Path | str | None = None,
    *,
    probe: bool = True,
    retry_failed: bool = False,
    where: str = HERE,
    backends: Mapping[Kind, Backend] | None = None,
) -> Preflight:
    """Check a tournament, ask every hosted model once, and say what the run will ask and at worst cost.

    A probe is one call of at most 16 tokens (beside `thinking_tokens`), kept and counted nowhere. Nobody is asked
    where the store holds the run to its end.

    Args:
        tournament: the definition.
        store: where the run lives or will live; nothing is written there.
        probe: whether to ask the hosted models; without it no provider hears of anything, and a key that is missing is
            a note.
        retry_failed: whether a run that is finished asks again what was answered without text.
        where: the file of the definition, named in every problem.
        backends: ways of reaching a kind of model instead of the built-in ones.

    Raises:
        ConfigurationError: with everything that keeps the tournament from being played, the answers of the probes
            included.
        StoreError: the store cannot be read.
    """
    async with Gateway(backends=backends, limits=tournament.limits) as gateway:
        known = begun(tournament, store)
        finished = known is not None and known.finished and not retry_failed
        seen = await examined(tournament, gateway, finished=finished, probing=probe, where=where, keyless=not probe)
        return _looked_ahead(tournament, gateway, known, seen, finished=finished)


def _looked_ahead(
    tournament: Tournament, gateway: Gateway, known: Begun | None, seen: Mapping[Model, "Seen"], *, finished: bool
) -> Preflight:
    seating = Seating(tournament, gateway, load_prompts(tournament.prompt_set))
    spending = estimate(duties(seating), price_of)
    figures = {line.model: line for line in spending}
    keys = whole_cast(tournament, gateway)
    models = tuple(
        _cast_model(tournament, gateway, model, named, figures.get(model.name), seen.get(model))
        for model, named in keys.items()
    )
    usd, unpriced = bill(spending)
    tokens = sum(line.prompt_tokens + line.completion_tokens for line in spending)
    worst = Spent(usd, tokens, sum(line.most_calls for line in spending))
    return Preflight(
        battles=battles_of(tournament)[0],
        models=models,
        usd=usd,
        unpriced=tuple(unpriced),
        notes=(
            *_begun_note(known, finished=finished),
            *notes_on(tournament, seating.author_of, keys, Spent() if finished else worst),
            *(() if finished else _key_notes(keys)),
            *_seen_notes(seen),
        ),
        hosted=any(model.kind == "hosted" for model in keys),
        probed=bool(seen),
        finished=finished,
    )


def _cast_model(
    tournament: Tournament,
    gateway: Gateway,
    model: Model,
    keys: Sequence[str],
    spending: Spending | None,
    seen: "Seen | None",
) -> CastModel:
    return CastModel(
        model=model.name,
        string=without_secrets(model.model),
        keys=tuple(keys),
        family=family_of(model),
        price=model.price if model.kind == "agent" else price_of(model),
        context=context_of(tournament, gateway, model),
        thinks=None if seen is None else seen.finding.thinks,
        latency=None if seen is None else seen.latency,
        spending=spending or Spending(model.name, 0, 0, 0, 0, 0, 0.0),
        at_least=model.kind == "agent" or any(key not in cast(tournament) for key in keys),
    )


def _begun_note(known: Begun | None, *, finished: bool) -> tuple[str, ...]:
    if known is None:
        return ()
    if finished:
        return (f"{known.run} is finished: every call is answered from its store, and nothing is asked or paid",)
    spent = known.spent
    return (f"{known.run} goes on: ${spent.usd:.2f} for {plural(spent.calls, 'call')}: paid, and not paid again",)


def _key_notes(models: Iterable[Model]) -> Iterator[str]:
    lacking: dict[str, list[str]] = {}
    for model in models:
        if missing := missing_key(model):
            lacking.setdefault(missing, []).append(model.name)
    for variable, names in lacking.items():
        yield f"the environment variable {variable} is not set; a run needs it for {', '.join(names)}"


def _seen_notes(seen: Mapping[Model, "Seen"]) -> tuple[str, ...]:
    return tuple(found.finding.note for found in seen.values() if found.finding.note)
