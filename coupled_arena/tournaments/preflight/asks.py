"""Every call that a tournament may make, at its longest: what both the estimate and the check of contexts go by."""

import math
from collections import Counter
from collections.abc import Iterator

from coupled_arena.agents.debater import MOST_REQUESTS
from coupled_arena.agents.judge import VERDICT_TOKENS
from coupled_arena.models.model import Model
from coupled_arena.prompts import envelope
from coupled_arena.protocols.battle import question_envelope, turn_envelope
from coupled_arena.protocols.examination import MOST_BATCHES, TOKENS_PER_QUESTION
from coupled_arena.protocols.reference import REFERENCE_WORDS
from coupled_arena.protocols.script import DEBATERS
from coupled_arena.records import Section
from coupled_arena.tournaments.derived import JudgedAnew
from coupled_arena.tournaments.panels import panels_in
from coupled_arena.tournaments.playing.examining import shares
from coupled_arena.tournaments.playing.questions import known_questions, reference_writer
from coupled_arena.tournaments.playing.runner import JUDGE_WORDS
from coupled_arena.tournaments.playing.seating import Seating
from coupled_arena.tournaments.preflight.extent import battles_by_domain, battles_over
from coupled_arena.tournaments.preflight.loads import Ask, Duty, Load, added, load_of, repeated
from coupled_arena.tournaments.schedules import RoundRobin, Swiss

LONG_QUESTION = 300
"""Tokens allowed for a question that is not known yet."""
CHARACTERS_PER_TOKEN = 2.5
"""ASCII characters to a token of a text that is known before: prose has four, tags, formulas and code fewer."""
TOKENS_PER_CHARACTER = 1.5
"""Tokens allowed for any other character; an ideograph is one or two."""
MESSAGE_TOKENS = 6
"""Tokens that a chat template puts around a message."""
LABEL_TOKENS = 8
"""Tokens of the longest label among which a judge chooses."""


def token_bound(text: str) -> int:
    """Return how many tokens to allow for a text, whatever the tokeniser.

    >>> token_bound("Why is the sky blue?"), token_bound("天空")
    (8, 3)
    """
    ascii_only = len(text) if text.isascii() else sum(map(str.isascii, text))
    return math.ceil(ascii_only / CHARACTERS_PER_TOKEN + TOKENS_PER_CHARACTER * (len(text) - ascii_only))


def duties(seating: Seating) -> tuple[Duty, ...]:
    """Return every duty of a tournament with what it asks of its model, in the order in which they are first asked.

    Tokens are bounds: texts that are known are measured, texts still to be written count with the most they may have.
    An added role and an agent of the user's are counted as one call a turn, since nobody knows how often they ask.
    """
    return tuple(_Asks(seating).duties())


class _Asks:
    """Goes through the calls of one definition."""

    def __init__(self, seating: Seating) -> None:
        self.seating = seating
        self.tournament = seating.tournament
        self.prompts = seating.prompts
        self.steps = self.tournament.battle.script.steps
        self.known = known_questions(self.tournament)
        self.battles, self.own = battles_over(self.tournament, self.known)
        names = self.tournament.domains if self.known is None else dict.fromkeys(q.domain for q in self.known)
        self.domains = [self.prompts.domain(name) for name in names]
        self.words = max((domain.words for domain in self.domains), default=0)
        unknown = [] if self.known else [LONG_QUESTION + token_bound(envelope("question", "", domain="unknown"))]
        self.question = max(
            [0, *unknown, *(token_bound(question_envelope(question, self.prompts)) for question in self.known or ())]
        )
        self.writer, self.unanswered = self._references()
        references = [token_bound(question.reference or "") for question in self.known or ()]
        written = [self.prompts.max_tokens(REFERENCE_WORDS)] if self.writer is not None else []
        self.reference = max([0, *references, *written])
        self.written = {number: self._most(number) for number in range(1, len(self.steps) + 1)}
        self.shown = {number: most + self._wrapping(number) for number, most in self.written.items()}

    def duties(self) -> Iterator[Duty]:
        yield from self._examination()
        if self.writer is not None:
            frame = self._frame("reference.system") + self._frame("reference.request", question="")
            ask = Ask(frame + self.question + 2 * MESSAGE_TOKENS, self.prompts.max_tokens(REFERENCE_WORDS))
            key = "reference" if self.tournament.reference is not None else "examiner"
            yield self._duty(key, "reference", self.writer, [ask], self.unanswered)
        yield from self._debates()
        yield from self._committees()

    def _debates(self) -> Iterator[Duty]:
        """Yield the duties of debaters and added roles."""
        system = self.prompts.render("debater.system")
        for model in self.tournament.models if self.tournament.asks("models") else ():
            sides = [load_of(self._thinking(model, self._turns(side, system, model))) for side in DEBATERS]
            yield Duty("models", "debater", model, self._debating(model, sides))
        for role, seat in self.tournament.roles.items():
            if seat.model is not None and self.tournament.asks(f"roles.{role}"):
                instructions = seat.agent.instructions if seat.agent is not None else ""
                asks = list(self._turns(role, instructions, None))
                yield self._duty(f"roles.{role}", role, seat.model, asks, self.battles)

    def _duty(self, key: str, role: str, model: Model, asks: list[Ask], times: int) -> Duty:
        return Duty(key, role, model, load_of(self._thinking(model, asks), times))

    def _thinking(self, model: Model, asks: list[Ask]) -> list[Ask]:
        """Add the hidden reasoning that a hosted model may write in every call."""
        more = model.thinking_tokens if model.kind == "hosted" else 0
        if not more:
            return asks
        return [
            ask._replace(completion=ask.completion + more, together=ask.together and ask.together + more)
            for ask in asks
        ]

    def _called(self, model: Model) -> Model:
        return self.tournament.model_of(model)

    def _frame(self, template: str, **fields: str) -> int:
        return token_bound(self.prompts.render(template, **fields))

    def _references(self) -> tuple[Model | None, int]:
        """Return who writes reference answers, if anybody is needed and may, and how many at most."""
        needing = {domain.name for domain in self.domains if domain.needs_reference}
        if self.known is None:
            count = len(needing) * self.tournament.questions_per_domain
        else:
            count = sum(q.domain in needing and q.reference is None for q in self.known)
        writer, _ = reference_writer(self.tournament, self.seating.author_of)
        return (writer, count) if count and self.tournament.asks("reference") else (None, 0)

    def _examination(self) -> Iterator[Duty]:
        """Yield every examiner's duty: a domain is one conversation."""
        if self.known is not None:
            return
        asked = shares(self.tournament).values()
        for examiner in self.tournament.examiners:
            times = Counter(share[examiner.name] for share in asked)
            loads = [
                load_of(self._thinking(examiner, self._examining(examiner, count)), domains)
                for count, domains in times.items()
                if count
            ]
            if loads:
                yield Duty("examiner", "examiner", examiner, added(loads))

    def _examining(self, examiner: Model, count: int) -> list[Ask]:
        """Return what an examiner is asked for its share of a domain: what is missing is asked for again."""
        able = self.seating.gateway.abilities(self._called(examiner))
        system = self._frame("examiner.system") + self._frame("examiner.json" if able.schema else "examiner.lines")
        request = max(
            self._frame(
                "examiner.request",
                count=str(count),
                domain=domain.title,
                command=domain.command,
                difficulty=self.prompts.render(f"difficulty.{self.tournament.difficulty_in(domain.name)}"),
                example=domain.example,
            )
            for domain in self.domains
        )
        all_ = self.tournament.questions_per_domain
        more = self._frame("examiner.more", count=str(count), known="") + all_ * token_bound(envelope("known", ""))
        # Whatever others wrote before, in all their replies.
        others = len(self.tournament.examiners) - 1
        more += MOST_BATCHES * TOKENS_PER_QUESTION * (all_ - count + others)
        written = TOKENS_PER_QUESTION * (count + 1)
        first = system + request + 2 * MESSAGE_TOKENS
        asks = [Ask(first, written)]
        for batch in range(1, MOST_BATCHES):
            # Whatever was accepted is listed again, and as much less is asked for, so that all three parts together
            # (answers, lists, the room for what is missing) grow by one answer with every batch.
            frames = batch * (more + 2 * MESSAGE_TOKENS)
            longest = first + frames + (batch + 1) * written
            asks.append(Ask(longest, written, again=True, together=longest))
        return asks

    def _most(self, number: int) -> int:
        """Return the most tokens of a step's turn."""
        step, rules = self.steps[number - 1], self.tournament.battle
        most = self.prompts.max_tokens(round(self.words * step.budget))
        if step.speaker in DEBATERS and rules.section_tokens:
            return min(most, rules.section_tokens * len(step.requires))
        return most

    def _wrapping(self, number: int) -> int:
        """Return the tokens that stand around a step's turn where others are shown it."""
        step = self.steps[number - 1]
        seat = self.tournament.roles.get(step.speaker)
        tags = step.requires if seat is None else (seat.tag,)
        sections = [Section(tag=tag, text="") for tag in tags]
        speaker = "opponent" if step.speaker in DEBATERS else step.speaker
        return token_bound(turn_envelope(speaker, sections, self.prompts))

    def _turns(self, speaker: str, system: str, model: Model | None) -> list[Ask]:
        """Return what a speaker of the script is asked in one battle; `model` is None for an added role."""
        asks: list[Ask] = []
        by_section = model is not None and self.seating.gateway.abilities(self._called(model)).continues
        once = model is None or model.kind == "agent"
        held = token_bound(system) + MESSAGE_TOKENS + self.question
        seen: set[int] = set()
        for number, step in enumerate(self.steps, 1):
            if step.speaker != speaker:
                continue
            unseen = [earlier for earlier in step.sees if earlier not in seen]
            seen.update(unseen)
            held += self._request(number) + sum(self.shown[earlier] for earlier in unseen) + 2 * MESSAGE_TOKENS
            most = self.written[number]
            if once:
                asks.append(Ask(held, most))
            elif by_section:
                asks += self._sections(number, held)
            else:
                asks += self._whole(number, held)
            held += most + self._tags(number)
        return asks

    def _request(self, number: int) -> int:
        """Return the tokens of what a step asks for, without what it shows."""
        step = self.steps[number - 1]
        if step.speaker not in DEBATERS:
            return self._frame("role.turn", heard="")
        actions = self.prompts.slots(step.requires)
        limit = self.prompts.render("labels.limit", words=str(round(self.words * step.budget)))
        if number in self.tournament.battle.script.openings:
            return self._frame("debater.opening", question="", actions=actions, limit=limit)
        return self._frame("debater.turn", heard="", actions=actions, limit=limit)

    def _tags(self, number: int) -> int:
        grammar, tags = self.prompts.grammar, self.steps[number - 1].requires
        return token_bound("".join(f"{grammar.open(tag)}{grammar.close(tag)}" for tag in tags))

    def _whole(self, number: int, held: int) -> list[Ask]:
        """Return the request for a whole turn and those for what is missing in it."""
        most = self.written[number]
        missing = self.prompts.slots(self.steps[number - 1].requires)
        limit = self.prompts.render("labels.limit", words=str(self.words))
        more = most + self._frame("debater.request", missing=missing, limit=limit) + 2 * MESSAGE_TOKENS
        return [Ask(held + again * more, most, again=again > 0) for again in range(1 + MOST_REQUESTS)]

    def _sections(self, number: int, held: int) -> list[Ask]:
        """Return the requests for a turn's sections, which share its tokens; an empty one is asked for again."""
        count, most = len(self.steps[number - 1].requires), self.written[number]
        share, longest = math.ceil(most / count), held + most + self._tags(number)
        return [
            Ask(held + said * share + self._tags(number), 0 if again else share, again=again > 0, together=longest)
            for said in range(count)
            for again in range(1 + MOST_REQUESTS)
        ]

    def _debating(self, model: Model, sides: list[Load]) -> Load:
        """Return what a debater is asked: at worst the busier side falls to it where a number of battles is odd."""
        more, less = Load(*map(max, *sides)), Load(*map(min, *sides))
        replicates, rule = self.tournament.battle.replicates, self.tournament.schedule
        most = rule.matches(len(self.tournament.models))[1]
        each = self.own // (replicates * most)
        # A model that does not play in every match meets the one that does, and neither of two.
        own = most if not rule.always or model.name in rule.always else 2 - len(rule.always)
        return repeated(added([repeated(more, each - each // 2), repeated(less, each // 2)]), replicates * own)

    def _committees(self) -> Iterator[Duty]:
        """Yield every judge's duty in every panel it sits in."""
        debaters = {model.name for model in self.tournament.models}
        extent = battles_by_domain(self.tournament, self.known)
        for key, domains in panels_in(self.tournament, extent).items():
            listed = self.tournament.judges_in(domains[0])
            judges = self.tournament.models if isinstance(listed, int) else listed
            seats = min(len(judges), listed) if isinstance(listed, int) else len(judges)
            battles, own = (sum(extent[domain][part] for domain in domains) for part in range(2))
            opinion = max(self._opinion(judge) for judge in judges)
            for judge in judges:
                # Nobody judges a battle of its own, but only some schedules let everybody play as often as the busiest.
                plays = judge.name in debaters and self._all_play_alike
                asks = self._judging(judge, seats - 1, opinion) * len(self.tournament.committee.presented)
                yield self._duty(key, "judge", judge, asks, battles - (own if plays else 0))

    @property
    def _all_play_alike(self) -> bool:
        """Whether it is sure that all models play as many matches as the one that plays most."""
        rule = self.tournament.schedule
        return isinstance(rule, RoundRobin) or (isinstance(rule, Swiss) and len(self.tournament.models) % 2 == 0)

    def _opinion(self, judge: Model) -> int:
        """Return the most tokens of a judge's reply."""
        most, reasons = self.prompts.max_tokens(JUDGE_WORDS), self.tournament.committee.reason_tokens
        chooses = self.seating.gateway.abilities(self._called(judge)).chooses
        return most if reasons is None else min(most, reasons + (0 if chooses else VERDICT_TOKENS))

    def _judging(self, judge: Model, others: int, opinion: int) -> list[Ask]:
        """Return what a judge is asked about one battle in one order; others' opinions have so many tokens."""
        able, own = self.seating.gateway.abilities(self._called(judge)), self._opinion(judge)
        form = "" if able.chooses else self.prompts.render("judge.json" if able.schema else "judge.marker")
        choice = self._frame("judge.choose")
        problem = max((self.prompts.grammar.problems.values()), key=len, default="")
        repair = own + self._frame("judge.repair", problem=problem) + 2 * MESSAGE_TOKENS
        heard = others * (opinion + token_bound(envelope("opinion", "", number=1, verdict="tie")))
        discussion = self._frame("judge.discussion", opinions="") + heard
        held = self._frame("judge.system") + token_bound(form) + self._case() + 2 * MESSAGE_TOKENS
        asks: list[Ask] = []
        for stage in range(1 + self.tournament.committee.discussion_rounds if others else 1):
            held += stage and own + choice + LABEL_TOKENS + discussion + 2 * MESSAGE_TOKENS
            asks.append(Ask(held, own))
            if able.chooses:
                asks.append(Ask(held + own + choice, LABEL_TOKENS))
            elif judge.kind != "agent":
                asks.append(Ask(held + repair, own, again=True))
        return asks

    def _case(self) -> int:
        """Return the tokens of a battle as the judges read it."""
        openings = isinstance(self.tournament, JudgedAnew) and self.tournament.openings
        steps = self.tournament.battle.script.openings if openings else range(1, len(self.steps) + 1)
        rounds = {self.steps[number - 1].round for number in steps}
        transcript = token_bound(envelope("transcript", *(envelope("round", "", number=number) for number in rounds)))
        reference = 0
        if self.reference:
            reference = self._frame("judge.reference", reference=envelope("reference", "")) + self.reference
        frame = self._frame("judge.opinion", question="", reference="", transcript="")
        return frame + self.question + reference + transcript + sum(self.shown[number] for number in steps)
