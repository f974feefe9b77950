"""What the moderator asks of a seat and what a seat answers, as AutoGen chat messages.

`content` is always the whole prompt or the whole answer as text, so that any chat agent can be seated; the other fields
are for agents that know them.
"""

from typing import Annotated

from autogen_agentchat.messages import BaseTextChatMessage
from pydantic import Field, SkipValidation

from coupled_arena.coupling import Dice
from coupled_arena.records import OpinionStatus, Outcome, Section, Sharing, Usage, Verdict


class Request(BaseTextChatMessage):
    """Asks a seat to speak."""

    id: str = ""
    """Nothing: nobody looks a message up, and to draw a name for each costs as much as the message."""
    source: str = "moderator"
    """Who asks."""
    dice: Annotated[Dice, SkipValidation]
    """Where the randomness of the answer comes from."""


class StepRequest(Request):
    """Asks a debater or an added role for its turn in one step of the script."""

    requires: tuple[str, ...] = ()
    """Actions the turn must contain, by canonical tag."""
    limit: int
    """Most words (characters in Chinese) the turn may have."""
    max_tokens: int
    """Most tokens to write in this turn."""


class OpinionRequest(Request):
    """Asks a judge for its opinion at one stage."""

    stage: int
    """0 = alone, 1.. = after that many discussion rounds."""
    max_tokens: int
    """Most tokens for reasons and verdict together."""


class ExamRequest(Request):
    """Asks the examiner for questions."""

    count: int
    """How many questions are wanted."""
    max_tokens: int
    """Most tokens to write."""


class Answer(BaseTextChatMessage):
    """What a seat says, with how it came about."""

    id: str = ""
    """Nothing, as in a request."""
    usage: Usage = Usage()
    """Tokens of all calls of this answer."""
    sharing: Sharing = "none"
    """What the answer's randomness was."""
    detail: str = ""
    """The provider's words when something went wrong."""


class StepAnswer(Answer):
    """A turn."""

    sections: tuple[Section, ...] = ()
    """What was said, by canonical tag."""
    outcome: Outcome = "ok"
    """How the turn ended."""
    missing: tuple[str, ...] = ()
    """Required actions still absent after the last request."""
    cut: bool = False
    """Whether text over the budget was cut away."""
    by_section: bool = False
    """Whether the sections were asked for one by one."""
    requests: int = 0
    """How many times missing actions were asked for."""


class OpinionAnswer(Answer):
    """A judge's opinion, in the frame in which the battle was presented."""

    verdict: Verdict | None = None
    """The verdict, if the reply holds one."""
    status: OpinionStatus
    """Whether it does, and if not, why."""
    reasons: str = ""
    """What the judge wrote before its verdict."""
    probabilities: dict[str, float] = Field(default_factory=dict)
    """Probabilities of A, B and tie, where the model can say them."""
    repairs: int = 0
    """How many times a readable verdict was asked for again."""


class ExamAnswer(Answer):
    """The questions an examiner wrote, unfiltered."""

    questions: tuple[str, ...] = ()
    """Their texts, in the order written."""
    outcome: Outcome = "ok"
    """How the call ended."""
