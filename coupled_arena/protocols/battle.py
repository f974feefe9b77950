"""The peer battle: an agenda that walks through a script and keeps the transcript."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from coupled_arena.agents.messages import StepAnswer, StepRequest
from coupled_arena.coupling import Dice
from coupled_arena.prompts import PromptSet, Sealed, envelope, seal
from coupled_arena.protocols.bus import TurnRequest, Utterance, said_as
from coupled_arena.protocols.script import DEBATERS, Script
from coupled_arena.records import DecisionStatus, Question, Section, Side, Turn

HIDDEN_FROM_OPPONENT = ("think",)
"""Actions an opponent never sees."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """How the debaters' part of a battle ended."""

    turns: tuple[Turn, ...]
    """What was said, by step."""
    status: DecisionStatus | None
    """None when everything was said and the judges may decide; else `void` or `forfeited`."""
    forfeited: tuple[Side, ...] = ()
    """The sides that gave the battle away."""
    reason: str = ""
    """Why the battle ended early."""


StepDice = Callable[[int], Dice]
"""The dice of a step, by its number."""


class BattleAgenda:
    """Asks for the steps of a script one after the other; blind openings are asked together.

    Args:
        script: the steps.
        question: what is debated.
        models: name of the model in every seat the script has.
        prompts: the prompt set.
        dice: where the randomness of each step comes from.
        hidden: actions that no other seat is shown.
        forfeits: whether a debater that gives no answer loses (`loss`) or makes the battle void (`void`).
    """

    def __init__(
        self,
        script: Script,
        question: Question,
        models: Mapping[str, str],
        prompts: PromptSet,
        dice: StepDice,
        *,
        hidden: tuple[str, ...] = HIDDEN_FROM_OPPONENT,
        forfeits: str = "loss",
    ) -> None:
        self.script = script
        self.question = question
        self.models = models
        self.prompts = prompts
        self.dice = dice
        self.hidden = hidden
        self.forfeits = forfeits
        self.words = prompts.domain(question.domain).words
        self.turns: dict[int, Turn] = {}
        self.shown: dict[str, set[int]] = {}
        self.asked: dict[str, int] = {}
        self.result: Transcript | None = None

    def open(self) -> Sequence[TurnRequest]:
        """Ask for all openings, or for the first step of a script that has none."""
        return [self._request(number) for number in self.script.openings or (1,)]

    def hear(self, utterance: Utterance) -> Sequence[TurnRequest]:
        """Note a turn; once all openings are in, go on with the next step or end the battle."""
        number = self.asked.pop(utterance.seat)
        self.turns[number] = self._turn(number, utterance)
        if self.asked:
            return ()
        self.result = self._ended()
        if self.result is not None:
            return ()
        return [self._request(min(n for n in range(1, len(self.script.steps) + 1) if n not in self.turns))]

    def _limit(self, number: int) -> int:
        return round(self.words * self.script.steps[number - 1].budget)

    def _request(self, number: int) -> TurnRequest:
        step = self.script.steps[number - 1]
        first = step.speaker not in self.shown
        seen = self.shown.setdefault(step.speaker, set())
        unseen = [earlier for earlier in step.sees if earlier not in seen]
        seen.update(unseen)
        self.asked[step.speaker] = number
        limit = self._limit(number)
        message = StepRequest(
            content=self._content(number, first, unseen),
            requires=step.requires,
            limit=limit,
            max_tokens=self.prompts.max_tokens(limit),
            dice=self.dice(number),
        )
        return TurnRequest(step.speaker, message)

    def _content(self, number: int, first: bool, unseen: Sequence[int]) -> str:
        step = self.script.steps[number - 1]
        heard: list[str] = [question_envelope(self.question, self.prompts)] if first else []
        heard += [self._shown_to(step.speaker, self.turns[earlier]) for earlier in unseen if self.turns[earlier].spoken]
        if step.speaker not in DEBATERS:
            return self.prompts.render("role.turn", heard="\n".join(heard))
        actions = self.prompts.slots(step.requires)
        limit = self.prompts.render("labels.limit", words=str(self._limit(number)))
        if number in self.script.openings:
            return self.prompts.render("debater.opening", question=heard[0], actions=actions, limit=limit)
        return self.prompts.render("debater.turn", heard="\n".join(heard), actions=actions, limit=limit)

    def _shown_to(self, speaker: str, turn: Turn) -> Sealed:
        """Return a turn as another seat may see it; debaters never learn their side."""
        name = "opponent" if {speaker, turn.speaker} <= set(DEBATERS) else turn.speaker
        return turn_envelope(name, [s for s in turn.sections if s.tag not in self.hidden], self.prompts)

    def _turn(self, number: int, utterance: Utterance) -> Turn:
        step = self.script.steps[number - 1]
        known = said_as(StepAnswer, utterance)
        return Turn(
            step=number,
            round=step.round,
            speaker=step.speaker,
            model=self.models[step.speaker],
            sections=known.sections,
            outcome=known.outcome,
            missing=known.missing,
            cut=known.cut,
            by_section=known.by_section,
            requests=known.requests,
            usage=known.usage,
            sharing=known.sharing,
            detail=known.detail,
        )

    def _ended(self) -> Transcript | None:
        """Return the transcript if the battle is over: everything said, or a debater has nothing to say."""
        turns = tuple(self.turns[number] for number in sorted(self.turns))
        silent = [turn for turn in turns if turn.speaker in DEBATERS and not turn.answered]
        if not silent:
            return Transcript(turns, None) if len(turns) == len(self.script.steps) else None
        reason = "; ".join(f"{turn.model} ({turn.speaker}), step {turn.step}: {_fault(turn)}" for turn in silent)
        gave_up: tuple[Side, ...] = tuple(side for side in ("A", "B") if any(turn.speaker == side for turn in silent))
        broken = any(turn.outcome in ("timeout", "failed") for turn in silent)
        if broken or len(gave_up) == len(DEBATERS) or self.forfeits == "void":
            return Transcript(turns, "void", reason=reason)
        return Transcript(turns, "forfeited", forfeited=gave_up, reason=reason)


def _fault(turn: Turn) -> str:
    return f"{turn.outcome}: {turn.detail}" if turn.detail else turn.outcome


def question_envelope(question: Question, prompts: PromptSet) -> Sealed:
    """Return the question as it stands in every prompt."""
    return envelope("question", question.text, grammar=prompts.grammar, domain=question.domain)


def turn_envelope(speaker: str, sections: Sequence[Section], prompts: PromptSet) -> Sealed:
    """Return a turn as others are shown it: model text is defanged, the tags around it are ours."""
    return envelope("turn", seal(sections, prompts.grammar), grammar=prompts.grammar, speaker=speaker)
