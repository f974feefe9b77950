"""The shortest conversation: one reference answer is asked for."""

from collections.abc import Sequence

from coupled_arena.agents.messages import StepAnswer, StepRequest
from coupled_arena.coupling import Dice
from coupled_arena.prompts import PromptSet
from coupled_arena.protocols.battle import question_envelope
from coupled_arena.protocols.bus import TurnRequest, Utterance, said_as
from coupled_arena.records import Question

REFERENCE_WORDS = 300
"""Most words of a reference answer."""


class ReferenceAgenda:
    """Asks the seat `reference` for the answer to a question.

    Args:
        question: what is to be answered.
        prompts: the prompt set.
        dice: where the randomness of the answer comes from.
    """

    def __init__(self, question: Question, prompts: PromptSet, dice: Dice) -> None:
        self.request = StepRequest(
            content=prompts.render("reference.request", question=question_envelope(question, prompts)),
            limit=REFERENCE_WORDS,
            max_tokens=prompts.max_tokens(REFERENCE_WORDS),
            dice=dice,
        )
        self.result: StepAnswer | None = None

    def open(self) -> Sequence[TurnRequest]:
        """Ask."""
        return [TurnRequest("reference", self.request)]

    def hear(self, utterance: Utterance) -> Sequence[TurnRequest]:
        """Take the answer."""
        self.result = said_as(StepAnswer, utterance)
        return ()
