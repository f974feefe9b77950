"""The committee: judges form an opinion alone, discuss, and vote."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from coupled_arena.agents.messages import OpinionAnswer, OpinionRequest
from coupled_arena.coupling import Dice, permutation
from coupled_arena.prompts import PromptSet, Sealed, envelope
from coupled_arena.protocols.battle import question_envelope, turn_envelope
from coupled_arena.protocols.bus import TurnRequest, Utterance, said_as
from coupled_arena.protocols.script import Script
from coupled_arena.protocols.voting import exchanged
from coupled_arena.records import Opinion, Order, Question, Section, Turn, Verdict

HIDDEN_FROM_JUDGES = ("think",)
"""Actions a judge never sees unless thoughts are shown."""

OpinionDice = Callable[[str, int, Order], Dice]
"""The dice of an opinion, by judge, stage and presentation order."""


class JudgeSeat(NamedTuple):
    """One judge in one presentation order; each order has a discussion of its own."""

    judge: str
    """Name of the judging model."""
    order: Order
    """How the battle is presented."""
    seat: str
    """Name of the seat on the bus."""


def judge_seats(judges: Sequence[str], orders: Sequence[Order]) -> tuple[JudgeSeat, ...]:
    """Return the seats of a committee, in the order of the judges."""
    return tuple(
        JudgeSeat(judge, order, f"judge.{number}.{order}") for number, judge in enumerate(judges, 1) for order in orders
    )


class Shown(NamedTuple):
    """What whoever judges is shown of one turn."""

    label: str
    """Whose it is: `A`, `B` or the name of an added role."""
    sections: tuple[Section, ...]
    """What was said, without what is hidden."""


@dataclass(frozen=True, slots=True)
class Case:
    """What the judges are shown of a battle."""

    question: Question
    """What was debated, with its reference answer if there is one."""
    turns: tuple[Turn, ...]
    """The transcript."""
    script: Script
    """Its script."""

    def transcript(self, order: Order, prompts: PromptSet, hidden: tuple[str, ...]) -> str:
        """Return the transcript by rounds, as `rounds` gives it."""
        rounds = {
            number: [turn_envelope(said.label, said.sections, prompts) for said in spoken]
            for number, spoken in self.rounds(order, hidden).items()
        }
        return envelope("transcript", *(envelope("round", *turns, number=number) for number, turns in rounds.items()))

    def rounds(self, order: Order, hidden: tuple[str, ...]) -> dict[int, list["Shown"]]:
        """Return what is shown of each turn, by round; in order `BA` the debaters' labels are exchanged.

        The blind openings of a round stand in the order of their labels, everything else as it was said.
        """
        labels = {"A": "A", "B": "B"} if order == "AB" else {"A": "B", "B": "A"}

        def place(turn: Turn) -> tuple[int, int, str, int]:
            opening = turn.step in self.script.openings
            label = labels.get(turn.speaker, turn.speaker)
            return (turn.round, 0, label, 0) if opening else (turn.round, 1, "", turn.step)

        rounds: dict[int, list[Shown]] = {}
        for turn in sorted(self.turns, key=place):
            sections = tuple(section for section in turn.sections if section.tag not in hidden)
            if sections:
                rounds.setdefault(turn.round, []).append(Shown(labels.get(turn.speaker, turn.speaker), sections))
        return rounds


class CommitteeAgenda:
    """Asks every judge alone, then lets them discuss for some rounds.

    In a discussion round each judge is shown the others' last opinions, anonymous and in an order of its own, and keeps
    or changes its mind; one whose reply fails keeps its last valid verdict. A judge with nobody to listen to is not
    asked again.

    Args:
        case: the battle as the judges see it.
        seats: the judges, one seat per presentation order.
        prompts: the prompt set.
        dice: where the randomness of each opinion comes from.
        discussion_rounds: how many rounds follow the lone opinions.
        max_tokens: most tokens of one opinion.
        hidden: actions the judges are not shown.
    """

    def __init__(
        self,
        case: Case,
        seats: Sequence[JudgeSeat],
        prompts: PromptSet,
        dice: OpinionDice,
        *,
        discussion_rounds: int = 1,
        max_tokens: int = 400,
        hidden: tuple[str, ...] = HIDDEN_FROM_JUDGES,
    ) -> None:
        self.case = case
        self.seats = {seat.seat: seat for seat in seats}
        self.prompts = prompts
        self.dice = dice
        self.discussion_rounds = discussion_rounds
        self.max_tokens = max_tokens
        self.hidden = hidden
        self.stage = 0
        self.waiting: set[str] = set()
        self.opinions: list[dict[str, Opinion]] = [{}]
        self.result: tuple[Opinion, ...] | None = None

    def open(self) -> Sequence[TurnRequest]:
        """Ask every judge for its opinion alone."""
        contents = {order: self._first(order) for order in dict.fromkeys(seat.order for seat in self.seats.values())}
        return self._ask({name: contents[seat.order] for name, seat in self.seats.items()})

    def hear(self, utterance: Utterance) -> Sequence[TurnRequest]:
        """Note an opinion; when all of a stage are in, open the next one."""
        self.waiting.discard(utterance.seat)
        self.opinions[-1][utterance.seat] = self._opinion(utterance)
        requests: Sequence[TurnRequest] = ()
        while not self.waiting and self.result is None:
            if self.stage == self.discussion_rounds:
                self.result = tuple(stage[name] for stage in self.opinions for name in self.seats)
            else:
                requests = self._discuss()
        return requests

    def _ask(self, contents: dict[str, str]) -> list[TurnRequest]:
        self.waiting = set(contents)
        return [
            TurnRequest(
                name,
                OpinionRequest(
                    content=content,
                    stage=self.stage,
                    max_tokens=self.max_tokens,
                    dice=self.dice(self.seats[name].judge, self.stage, self.seats[name].order),
                ),
            )
            for name, content in contents.items()
        ]

    def _first(self, order: Order) -> str:
        question = self.case.question
        reference = ""
        if question.reference:
            wrapped = envelope("reference", question.reference, grammar=self.prompts.grammar)
            reference = self.prompts.render("judge.reference", reference=wrapped)
        return self.prompts.render(
            "judge.opinion",
            question=question_envelope(question, self.prompts),
            reference=reference,
            transcript=self.case.transcript(order, self.prompts, self.hidden),
        )

    def _discuss(self) -> list[TurnRequest]:
        """Open the next stage: ask whoever has others to listen to, carry the opinions of the rest."""
        last = self.opinions[-1]
        self.stage += 1
        self.opinions.append({})
        contents: dict[str, str] = {}
        # Every opinion is shown to all the others, and made harmless once.
        reasons = {name: Sealed(self.prompts.grammar.defang(said.reasons)) for name, said in last.items()}
        for name, seat in self.seats.items():
            others = [
                (last[other].verdict, reasons[other])
                for other, its in self.seats.items()
                if other != name and its.order == seat.order and last[other].verdict
            ]
            if others:
                contents[name] = self.prompts.render("judge.discussion", opinions=self._anonymous(others, seat))
            else:
                self.opinions[-1][name] = self._carry(last[name], stage=self.stage)
        return self._ask(contents)

    def _anonymous(self, others: Sequence[tuple[Verdict | None, Sealed]], seat: JudgeSeat) -> str:
        """Return the others' opinions in the judge's own frame, in an order drawn for this judge."""
        key = self.dice(seat.judge, self.stage, seat.order).key("order of opinions")
        grammar = self.prompts.grammar
        shown = []
        for number, index in enumerate(permutation(len(others), key), 1):
            verdict, reasons = others[index]
            held = verdict if seat.order == "AB" else exchanged(verdict)
            shown.append(envelope("opinion", reasons, grammar=grammar, number=number, verdict=held))
        return "\n".join(shown)

    def _opinion(self, utterance: Utterance) -> Opinion:
        """Turn an answer in the presented frame into an opinion in the battle's frame."""
        seat = self.seats[utterance.seat]
        answer = said_as(OpinionAnswer, utterance)
        swapped = seat.order == "BA"
        probabilities = answer.probabilities
        if swapped and probabilities:
            probabilities = {"A": probabilities["B"], "B": probabilities["A"], "tie": probabilities["tie"]}
        opinion = Opinion(
            judge=seat.judge,
            stage=self.stage,
            order=seat.order,
            verdict=exchanged(answer.verdict) if swapped else answer.verdict,
            status=answer.status,
            reasons=answer.reasons,
            probabilities=probabilities,
            repairs=answer.repairs,
            usage=answer.usage,
            sharing=answer.sharing,
            detail=answer.detail,
        )
        if opinion.verdict is None and self.stage:
            earlier = self.opinions[-2][utterance.seat]
            return opinion.model_copy(update={"verdict": earlier.verdict, "carried": earlier.verdict is not None})
        return opinion

    @staticmethod
    def _carry(opinion: Opinion, *, stage: int) -> Opinion:
        return Opinion(
            judge=opinion.judge,
            stage=stage,
            order=opinion.order,
            verdict=opinion.verdict,
            status="not asked",
            carried=opinion.verdict is not None,
            detail="no other judge holds a verdict",
        )
