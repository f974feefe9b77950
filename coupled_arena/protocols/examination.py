"""The examination: the examiner is asked for questions until there are enough or it has been asked often enough."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from coupled_arena.agents.messages import ExamAnswer, ExamRequest
from coupled_arena.coupling import Dice
from coupled_arena.prompts import PromptSet, envelope, leak, near_duplicate
from coupled_arena.protocols.bus import TurnRequest, Utterance, said_as
from coupled_arena.records import USUAL_DIFFICULTY, Difficulty, Question, Record

MOST_BATCHES = 3
"""How often an examiner is asked about one domain: once, and twice for what is still missing."""
TOKENS_PER_QUESTION = 150
FEWEST_WORDS = 12
"""Words (an ideograph is a word) that a text without a question mark needs to pass for a task."""

LEAST_WORDS = 3
"""Words that a text with a question mark needs."""
_WORDS = re.compile(r"[\u3040-\u9fff]|[^\W\d_]{2,}")

ExamDice = Callable[[int], Dice]
"""The dice of a batch, by its number from 0."""


Reason = Literal["no question", "other language", "near-duplicate", "cut off", "surplus"]


class Rejected(Record):
    """A text that an examiner wrote and that is not used."""

    domain: str
    """Domain it was written for."""
    text: str
    """The text."""
    reason: Reason
    """Why it is not used."""
    author: str | None = None
    """The examiner's name; None in a store of an earlier version."""


@dataclass(frozen=True, slots=True)
class Examination:
    """What an examiner wrote about one domain."""

    questions: tuple[Question, ...]
    """The accepted questions, at most as many as were wanted."""
    rejected: tuple[Rejected, ...]
    """What was written and not used, with the reason."""
    problem: str = ""
    """Why there are fewer than wanted."""


class ExaminationAgenda:
    """Asks one examiner for questions about one domain.

    Args:
        examiner: its name, recorded as the author.
        domain: what the questions are about.
        count: how many are wanted.
        prompts: the prompt set, whose language the questions are in.
        dice: where the randomness of each batch comes from.
        known: texts of the domain that are questions already; they count where the new ones are numbered, and none of
            these may nearly repeat one.
        difficulty: how hard the questions shall be.
    """

    def __init__(
        self,
        examiner: str,
        domain: str,
        count: int,
        prompts: PromptSet,
        dice: ExamDice,
        *,
        known: Sequence[str] = (),
        difficulty: Difficulty = USUAL_DIFFICULTY,
    ) -> None:
        self.examiner = examiner
        self.domain = prompts.domain(domain)
        self.count = count
        self.prompts = prompts
        self.dice = dice
        self.known = list(known)
        self.difficulty: Difficulty = difficulty
        self.accepted: list[str] = []
        self.rejected: list[Rejected] = []
        self.batches = 0
        self.result: Examination | None = None

    def open(self) -> Sequence[TurnRequest]:
        """Ask for all questions."""
        domain = self.domain
        content = self.prompts.render(
            "examiner.request",
            count=str(self.count),
            domain=domain.title,
            command=domain.command,
            difficulty=self.prompts.render(f"difficulty.{self.difficulty}"),
            example=domain.example,
        )
        return [self._request(content, self.count)]

    def hear(self, utterance: Utterance) -> Sequence[TurnRequest]:
        """Sort what was written; ask for what is still missing."""
        answer = said_as(ExamAnswer, utterance)
        problem = answer.detail or ("" if answer.outcome in ("ok", "truncated", "empty") else answer.outcome)
        for number, text in enumerate(answer.questions, 1):
            self._sort(text, cut=answer.outcome == "truncated" and number == len(answer.questions))
        missing = self.count - len(self.accepted)
        if not missing or problem or self.batches == MOST_BATCHES:
            self._end(problem or (f"wrote {len(self.accepted)} of {self.count} usable questions" if missing else ""))
            return ()
        known = "\n".join(
            envelope("known", text, grammar=self.prompts.grammar) for text in (*self.known, *self.accepted)
        )
        return [self._request(self.prompts.render("examiner.more", count=str(missing), known=known), missing)]

    def _request(self, content: str, count: int) -> TurnRequest:
        batch = self.batches
        self.batches += 1
        message = ExamRequest(
            content=content,
            count=count,
            max_tokens=TOKENS_PER_QUESTION * count + TOKENS_PER_QUESTION,
            dice=self.dice(batch),
        )
        return TurnRequest("examiner", message)

    def _sort(self, text: str, *, cut: bool) -> None:
        """Accept a text or note why not; the last one of a reply that hit its token limit is not whole."""
        reason: Reason | None = None
        if cut:
            reason = "cut off"
        elif not is_question(text):
            reason = "no question"
        elif (strayed := leak(text, self.prompts.language)) and strayed.whole:
            reason = "other language"
        elif near_duplicate(text, [*self.known, *self.accepted]):
            reason = "near-duplicate"
        elif len(self.accepted) == self.count:
            reason = "surplus"
        if reason:
            self.rejected.append(Rejected(domain=self.domain.name, text=text, reason=reason, author=self.examiner))
        else:
            self.accepted.append(text)

    def _end(self, problem: str) -> None:
        questions = tuple(
            Question(
                id=f"{self.domain.name}-{number}",
                domain=self.domain.name,
                language=self.prompts.language,
                text=text,
                author=self.examiner,
                difficulty=self.difficulty,
            )
            for number, text in enumerate(self.accepted, len(self.known) + 1)
        )
        self.result = Examination(questions, tuple(self.rejected), problem)


def is_question(text: str) -> bool:
    """Return whether a text can pass for a question: it asks something in words, or is long enough to be a task.

    >>> is_question("Why is the sky blue?"), is_question("1."), is_question("999, 888?"), is_question("Write a poem.")
    (True, False, False, False)
    """
    words = _WORDS.findall(text)
    asks = any(mark in text for mark in "?\uff1f\u061f")
    return len(words) >= (LEAST_WORDS if asks else FEWEST_WORDS)
