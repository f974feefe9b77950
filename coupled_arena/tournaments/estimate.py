"""What a tournament will ask of every model, and at worst cost, before a single call is made."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from coupled_arena.agents.debater import MOST_REQUESTS
from coupled_arena.agents.judge import VERDICT_TOKENS
from coupled_arena.models.gateway import Gateway
from coupled_arena.models.model import Model, Price
from coupled_arena.models.prices import price_of
from coupled_arena.prompts import bundled_questions, load_prompts
from coupled_arena.protocols.examination import MOST_BATCHES, TOKENS_PER_QUESTION
from coupled_arena.protocols.reference import REFERENCE_WORDS
from coupled_arena.protocols.script import DEBATERS
from coupled_arena.records import Question, Usage
from coupled_arena.tournaments.checks import check
from coupled_arena.tournaments.definition import Tournament
from coupled_arena.tournaments.questions import given_questions, reference_writer
from coupled_arena.tournaments.runner import JUDGE_WORDS
from coupled_arena.tournaments.seating import Seating

SYSTEM_TOKENS = 500
"""Tokens allowed for a system prompt and the frame of a request."""
LONG_QUESTION = 300
"""Tokens allowed for a question that is not known yet."""

PriceOf = Callable[[Model], Price | None]
"""What a model's tokens cost, or None where nobody knows."""


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
    seating = Seating(tournament, gateway, load_prompts(tournament.prompt_set))
    return estimate(seating, price_of), battles_of(tournament)[0]


def bill(spending: Sequence[Spending]) -> tuple[float, list[str]]:
    """Return the known worst-case price of all models in US dollars, and the models whose price nobody knows."""
    return sum(line.usd or 0.0 for line in spending), [line.model for line in spending if line.usd is None]


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


def estimate(seating: Seating, price_of: PriceOf) -> tuple[Spending, ...]:
    """Return what every model will be asked at most, in order of first mention.

    Which models meet is not known before, nor which are the best-rated; so a model is counted in every round and in
    every committee it may sit in. An added role is counted as one call a turn.

    Args:
        seating: the definition, its prompts and what its models can be asked for.
        price_of: known prices.
    """
    loads: dict[str, list[Load]] = defaultdict(list)
    models: dict[str, Model] = {}
    for model, load in _Estimate(seating).loads():
        models.setdefault(model.name, model)
        loads[model.name].append(load)
    return tuple(_spending(models[name], parts, price_of) for name, parts in loads.items())


def _spending(model: Model, parts: list[Load], price_of: PriceOf) -> Spending:
    load, price = _sum(parts), price_of(model)
    usd = None if price is None else price.of(Usage(prompt_tokens=load.prompt, completion_tokens=load.completion))
    return Spending(model.name, *load, usd)


class _Estimate:
    """Adds up the calls of one definition."""

    def __init__(self, seating: Seating) -> None:
        self.seating = seating
        self.tournament = seating.tournament
        self.prompts = seating.prompts
        self.battles, self.own = battles_of(self.tournament)
        self.known = known_questions(self.tournament)
        names = self.tournament.domains if self.known is None else dict.fromkeys(q.domain for q in self.known)
        self.domains = [self.prompts.domain(name) for name in names]
        self.words = max((domain.words for domain in self.domains), default=0)
        self.question = max([LONG_QUESTION, *(self._tokens(q.text) for q in self.known or ())])
        references = [self._tokens(q.reference) for q in self.known or () if q.reference]
        self.writer, self.unanswered = self._references()
        written = [self.prompts.max_tokens(REFERENCE_WORDS)] if self.writer is not None else []
        self.reference = max([0, *references, *written])

    def loads(self) -> Iterator[tuple[Model, Load]]:
        """Yield every model with what one of its places asks of it."""
        yield from self._examination()
        if self.writer is not None:
            most = self.prompts.max_tokens(REFERENCE_WORDS)
            yield self.writer, _times(Load(1, 1, SYSTEM_TOKENS + self.question, most), self.unanswered)
        for model in self.tournament.models:
            sections = dict.fromkeys(DEBATERS, self.seating.gateway.abilities(self._called(model)).continues)
            script, _ = self._script(sections)
            yield model, self._debating([script[side] for side in DEBATERS])
        script, transcript = self._script({})
        for role, seat in self.tournament.roles.items():
            if seat.model is not None and role in script:
                yield seat.model, _times(script[role], self.battles)
        yield from self._committees(transcript)

    def _called(self, model: Model) -> Model:
        return self.tournament.model_of(model)

    def _tokens(self, text: str) -> int:
        return self.prompts.max_tokens(self.prompts.grammar.count(text))

    def _references(self) -> tuple[Model | None, int]:
        """Return who writes reference answers, if anybody is needed and may, and how many at most."""
        needing = {domain.name for domain in self.domains if domain.needs_reference}
        if self.known is None:
            count = len(needing) * self.tournament.questions_per_domain
        else:
            count = sum(q.domain in needing and q.reference is None for q in self.known)
        writer, _ = reference_writer(self.tournament, self.seating.author_of)
        return (writer, count) if count else (None, 0)

    def _examination(self) -> Iterator[tuple[Model, Load]]:
        if self.known is None and self.tournament.examiner is not None:
            written = TOKENS_PER_QUESTION * (self.tournament.questions_per_domain + 1)
            read = SYSTEM_TOKENS + MOST_BATCHES * written
            one = Load(1, MOST_BATCHES, MOST_BATCHES * read, MOST_BATCHES * written)
            yield self.tournament.examiner, _times(one, len(self.domains))

    def _debating(self, by_side: list[Load]) -> Load:
        """Return what a debater is asked: at worst the busier side falls to it where a number of battles is odd."""
        more = Load(*map(max, *by_side))
        less = Load(*map(min, *by_side))
        rules = self.tournament.battle
        matches = rules.replicates * self.tournament.schedule.length(len(self.tournament.models))
        each = self.own // matches
        return _times(_sum([_times(more, each - each // 2), _times(less, each // 2)]), matches)

    def _script(self, sectioned: Mapping[str, bool]) -> tuple[dict[str, Load], int]:
        """Return what each speaker of the script is asked in one battle, and the tokens of the whole transcript."""
        rules = self.tournament.battle
        script = rules.script
        written: Counter[int] = Counter()
        loads: dict[str, list[Load]] = defaultdict(list)
        for number, step in enumerate(script.steps, 1):
            debating, by_section = step.speaker in DEBATERS, sectioned.get(step.speaker, False)
            most = self.prompts.max_tokens(round(self.words * step.budget))
            if debating and rules.section_tokens:
                most = min(most, rules.section_tokens * len(step.requires))
            calls = len(step.requires) if by_section else 1
            asked = calls * (1 + MOST_REQUESTS) if debating else 1
            known = sum(
                written[n] for n, s in enumerate(script.steps, 1) if n in step.sees or s.speaker == step.speaker
            )
            read = (SYSTEM_TOKENS + self.question + known + most) * asked
            loads[step.speaker].append(Load(calls, asked, read, most * (1 if by_section else asked)))
            written[number] = most
        return {speaker: _sum(parts) for speaker, parts in loads.items()}, written.total()

    def _committees(self, transcript: int) -> Iterator[tuple[Model, Load]]:
        rules = self.tournament.committee
        judges = self.tournament.judging_models
        seats = min(len(judges), self.tournament.judges) if isinstance(self.tournament.judges, int) else len(judges)
        stages = 1 + rules.discussion_rounds
        most = self.prompts.max_tokens(JUDGE_WORDS)
        frame = SYSTEM_TOKENS + self.question + self.reference + transcript
        debaters = {model.name for model in self.tournament.models}
        for judge in judges:
            chooses = self.seating.gateway.abilities(self._called(judge)).chooses
            calls = stages * len(rules.presented) * (2 if chooses else 1)
            asked = calls if chooses else 2 * calls
            written = most
            if rules.reason_tokens is not None:
                written = min(most, rules.reason_tokens + (0 if chooses else VERDICT_TOKENS))
            read = sum(frame + stage * seats * most for stage in range(stages)) * len(rules.presented) * 2
            # Nobody judges a battle of its own, and in an even field nobody has a bye.
            plays = judge.name in debaters and len(debaters) % 2 == 0
            yield judge, _times(Load(calls, asked, read, asked * written), self.battles - (self.own if plays else 0))


def _sum(parts: list[Load]) -> Load:
    return Load(*(sum(column) for column in zip(*parts, strict=True)))


def _times(load: Load, factor: int) -> Load:
    return Load(*(value * factor for value in load))
