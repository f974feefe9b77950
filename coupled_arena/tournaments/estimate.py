"""What a tournament will ask of every model, and at worst cost, before a single call is made."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from coupled_arena.agents.debater import MOST_REQUESTS
from coupled_arena.models.calls import Abilities
from coupled_arena.models.gateway import Gateway
from coupled_arena.models.model import Model
from coupled_arena.models.prices import price_of
from coupled_arena.prompts import PromptSet, load_prompts
from coupled_arena.protocols.examination import MOST_BATCHES, TOKENS_PER_QUESTION
from coupled_arena.protocols.script import DEBATERS
from coupled_arena.tournaments.checks import check
from coupled_arena.tournaments.definition import Tournament
from coupled_arena.tournaments.questions import REFERENCE_WORDS
from coupled_arena.tournaments.runner import JUDGE_WORDS

SYSTEM_TOKENS = 500
"""Tokens allowed for a system prompt and the frame of a request."""
LONG_QUESTION = 300
"""Tokens allowed for a question."""

PriceOf = Callable[[Model], tuple[float, float] | None]
"""US dollars per prompt and per completion token, or None where nobody knows."""


class Load(NamedTuple):
    """Calls of one model in one place of a tournament."""

    calls: float
    """Calls when nothing has to be asked twice."""
    most: float
    """Calls when everything has to be asked as often as the rules allow."""
    prompt: float
    """Tokens read at most."""
    completion: float
    """Tokens written at most."""


@dataclass(frozen=True, slots=True)
class Spending:
    """What one model will be asked."""

    model: str
    """Its name."""
    calls: int
    """Calls when nothing has to be asked twice; equal calls are made once, so it may be fewer."""
    most_calls: int
    """Calls when everything has to be asked again as often as the rules allow."""
    prompt_tokens: int
    """Tokens read at most."""
    completion_tokens: int
    """Tokens written at most."""
    usd: float | None
    """Worst-case price in US dollars; None for a model without a known price."""


COLUMNS = ("model", "calls", "most_calls", "prompt_tokens", "completion_tokens", "usd")
"""Columns of an estimate, in order."""


def estimated(tournament: Tournament, where: str) -> tuple[tuple[Spending, ...], int]:
    """Check a definition and return what it will ask of every model, and how many battles it has at most.

    Raises:
        ConfigurationError: the definition cannot be played.
    """
    gateway = Gateway()
    check(tournament, gateway, where)

    def abilities(model: Model) -> Abilities:
        return gateway.abilities(tournament.model_of(model))

    spending = estimate(tournament, load_prompts(tournament.prompt_set), abilities, price_of)
    return spending, battles_of(tournament)[0]


def battles_of(tournament: Tournament) -> tuple[int, int]:
    """Return how many battles are played at most: in all, and by one model."""
    models = len(tournament.models)
    questions = len(tournament.domains) * tournament.questions_per_domain
    each = questions * tournament.battle.replicates * (2 if tournament.battle.sides == "both" else 1)
    rounds = tournament.schedule.length(models)
    return rounds * (models // 2) * each, rounds * each


def estimate(
    tournament: Tournament, prompts: PromptSet, abilities: Callable[[Model], Abilities], price_of: PriceOf
) -> tuple[Spending, ...]:
    """Return what every model will be asked, in order of first mention.

    Args:
        tournament: the definition.
        prompts: its prompt set.
        abilities: what each model can be asked for.
        price_of: known prices.
    """
    loads: dict[str, list[Load]] = defaultdict(list)
    models: dict[str, Model] = {}
    for model, load in _loads(tournament, prompts, abilities):
        models.setdefault(model.name, model)
        loads[model.name].append(load)
    return tuple(_spending(models[name], parts, price_of) for name, parts in loads.items())


def _spending(model: Model, parts: list[Load], price_of: PriceOf) -> Spending:
    calls, most, prompt, completion = (round(sum(column)) for column in zip(*parts, strict=True))
    price = price_of(model)
    usd = None if price is None else price[0] * prompt + price[1] * completion
    return Spending(model.name, calls, most, prompt, completion, usd)


def _loads(
    tournament: Tournament, prompts: PromptSet, abilities: Callable[[Model], Abilities]
) -> Iterator[tuple[Model, Load]]:
    battles, own = battles_of(tournament)
    domains = [prompts.domain(name) for name in tournament.domains]
    words = max((domain.words for domain in domains), default=0)
    if tournament.examiner is not None and tournament.questions is None:
        wanted = TOKENS_PER_QUESTION * (tournament.questions_per_domain + 1)
        count = len(domains)
        read = MOST_BATCHES * (SYSTEM_TOKENS + wanted) * count
        yield tournament.examiner, Load(count, MOST_BATCHES * count, read, MOST_BATCHES * wanted * count)
        writer = tournament.reference or tournament.examiner
        needing = sum(domain.needs_reference for domain in domains) * tournament.questions_per_domain
        if needing and tournament.committee.references and writer.name not in {m.name for m in tournament.models}:
            most = prompts.max_tokens(REFERENCE_WORDS) * needing
            yield writer, Load(needing, needing, (SYSTEM_TOKENS + LONG_QUESTION) * needing, most)
    by_speaker, transcript = _script(tournament, prompts, words, {})
    for model in tournament.models:
        sectioned = abilities(model).continues
        by_side = [_script(tournament, prompts, words, dict.fromkeys(DEBATERS, sectioned))[0][s] for s in DEBATERS]
        yield model, _times(_mean(by_side), own)
    for role, seat in tournament.roles.items():
        if seat.model is not None and role in by_speaker:
            yield seat.model, _times(by_speaker[role], battles)
    yield from _committees(tournament, prompts, abilities, transcript, battles)


def _script(
    tournament: Tournament, prompts: PromptSet, words: int, sectioned: Mapping[str, bool]
) -> tuple[dict[str, Load], int]:
    """Return what each speaker of the script is asked in one battle, and the tokens of the whole transcript."""
    script = tournament.battle.script
    written: Counter[int] = Counter()
    loads: dict[str, list[Load]] = defaultdict(list)
    for number, step in enumerate(script.steps, 1):
        most = prompts.max_tokens(round(words * step.budget))
        if sectioned.get(step.speaker) and tournament.battle.section_tokens:
            most = min(most, tournament.battle.section_tokens * len(step.requires))
        calls = len(step.requires) if sectioned.get(step.speaker) else 1
        asked = calls * (1 + MOST_REQUESTS) if step.speaker in DEBATERS else 1
        known = sum(written[n] for n, s in enumerate(script.steps, 1) if n in step.sees or s.speaker == step.speaker)
        read = (SYSTEM_TOKENS + LONG_QUESTION + known + most) * asked
        loads[step.speaker].append(Load(calls, asked, read, most * (1 if sectioned.get(step.speaker) else asked)))
        written[number] = most
    return {speaker: _sum(parts) for speaker, parts in loads.items()}, written.total()


def _committees(
    tournament: Tournament,
    prompts: PromptSet,
    abilities: Callable[[Model], Abilities],
    transcript: int,
    battles: int,
) -> Iterator[tuple[Model, Load]]:
    rules = tournament.committee
    judges = tournament.judging_models
    seats = len(judges) if tournament.is_panel else min(len(judges), int(str(tournament.judges)))
    share = 1.0 if tournament.is_panel else seats / max(1, len(judges))
    stages = 1 + rules.discussion_rounds
    most = prompts.max_tokens(JUDGE_WORDS)
    frame = SYSTEM_TOKENS + LONG_QUESTION + transcript
    for judge in judges:
        chooses = abilities(judge).chooses
        calls = stages * len(rules.presented) * (2 if chooses else 1)
        asked = calls if chooses else 2 * calls
        read = sum(frame + stage * seats * most for stage in range(stages)) * len(rules.presented) * 2
        yield judge, _times(Load(calls, asked, read, asked * most), battles * share)


def _sum(parts: list[Load]) -> Load:
    return Load(*(sum(column) for column in zip(*parts, strict=True)))


def _mean(parts: list[Load]) -> Load:
    return Load(*(sum(column) / len(parts) for column in zip(*parts, strict=True)))


def _times(load: Load, factor: float) -> Load:
    return Load(*(value * factor for value in load))
