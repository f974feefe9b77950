"""The facts of a tournament as frozen records: what was asked, said, judged and decided."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict

from coupled_arena.errors import UNSHOWN

Side = Literal["A", "B"]
"""Seats of the two debaters; A speaks first."""

Verdict = Literal["A", "B", "tie"]
"""What a judge or a committee can say of a battle, always in the battle's own frame."""

VERDICTS: tuple[Verdict, ...] = ("A", "B", "tie")
"""All verdicts, in the order of a grammar's labels."""

SCORES: Mapping[Verdict, float] = MappingProxyType({"A": 1.0, "B": 0.0, "tie": 0.5})
"""The score of side A that each verdict means; a tie is half a win."""

VERDICT_OF: Mapping[float, Verdict] = MappingProxyType({score: verdict for verdict, score in SCORES.items()})
"""The verdict that each score of side A means."""

Order = Literal["AB", "BA"]
"""Whom a judge was shown first; `BA` shows the battle with the seats' labels exchanged."""

OnFlip = Literal["tie", "abstain"]
"""What two different verdicts of one judge in the two orders count as."""

Difficulty = Literal["easy", "medium", "hard"]
"""How hard an examiner was asked to make a question."""

USUAL_DIFFICULTY: Difficulty = "hard"
"""What examiners are asked for where nobody says anything."""

Outcome = Literal["ok", "truncated", "refused", "filtered", "empty", "timeout", "failed"]
"""How a call ended. `ok` and `truncated` carry text; the others do not."""

Sharing = Literal["shared", "seed-only", "none", "deterministic"]
"""What a reply's randomness was: our noise, a provider's seed, a provider's own dice, or none at all (T = 0)."""

OpinionStatus = Literal["valid", "unparsable", "truncated", "refused", "failed", "not asked"]
"""Whether a judge's reply holds a verdict, and if not, why."""

DecisionStatus = Literal["decided", "void", "forfeited"]
"""Whether the committee decided, nobody could, or a debater gave the battle away."""

SHARING_ORDER: tuple[Sharing, ...] = ("none", "seed-only", "shared", "deterministic")
"""From the least shared to the most: a whole shares what its least shared part does."""


def weakest(sharings: list[Sharing]) -> Sharing:
    """Return what a whole shares when its parts share these (`deterministic` for no parts).

    >>> weakest(["shared", "none"])
    'none'
    """
    return min(sharings, key=SHARING_ORDER.index, default="deterministic")


def name_problem(text: str) -> str:
    r"""Return why a text cannot be a name or an id, or nothing.

    >>> name_problem("two\nlines")
    'must not hold a line break, a control character or half a character (\\n)'
    """
    if not text.strip():
        return "must not be empty"
    found = UNSHOWN.search(text)
    shown = found[0].encode("unicode_escape").decode() if found else ""
    return f"must not hold a line break, a control character or half a character ({shown})" if shown else ""


def _name(text: str) -> str:
    if problem := name_problem(text):
        raise ValueError(problem)
    return text


Name = Annotated[str, AfterValidator(_name)]
"""Text on one line that is not empty and can be shown and stored."""


class Record(BaseModel):
    """Base of every record: immutable, strict about its fields."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        use_attribute_docstrings=True,
        hide_input_in_errors=True,
        allow_inf_nan=False,
    )


class Given(Record):
    """Base of what people write: `repr` shows what they would have to write, and nothing that is so anyway."""

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """Yield the fields that differ from their defaults."""
        for key, value in self:
            field = type(self).model_fields[key]
            if field.repr and value != field.get_default():
                yield key, value


class Question(Record):
    """What the debaters are asked."""

    id: str
    """Unique within a run, `math-1`."""
    domain: str
    """One of the tournament's domains."""
    language: str
    """Language code of the text, `en`."""
    text: str
    """The question itself."""
    author: str
    """The examiner's name, `bundled` for the shipped set, or the name of a file."""
    reference: str | None = None
    """A reference answer shown to the judges, if there is one."""
    difficulty: Difficulty | None = None
    """How hard its examiner was asked to make it, or its file says it is; None where nobody said."""


class Usage(Record):
    """Tokens of one or more calls, as the provider or the engine counted them."""

    prompt_tokens: int = 0
    """Tokens read."""
    completion_tokens: int = 0
    """Tokens written, hidden reasoning included."""

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
        )


class Section(Record):
    """One tagged part of a turn."""

    tag: str
    """The action: `think`, `respond`, `criticize`, `raise` (or a role's own), never a translated tag."""
    text: str
    """What was said, without the tags."""


class Turn(Record):
    """One utterance of one seat."""

    step: int
    """Number of the step in the script, from 1."""
    round: int
    """Round under which the judges read it, from 1."""
    speaker: str
    """Seat: `A`, `B`, or the name of an added role."""
    model: str
    """Name of the model in the seat."""
    sections: tuple[Section, ...] = ()
    """What was said, in the order it was said."""
    outcome: Outcome = "ok"
    """How the turn ended; a turn without text has none of `ok` and `truncated`."""
    missing: tuple[str, ...] = ()
    """Required actions that were still absent after the last request."""
    cut: bool = False
    """Whether text over the budget was cut away."""
    by_section: bool = False
    """Whether the sections were asked for one by one, their opening tags given."""
    requests: int = 0
    """How many times missing actions were asked for."""
    usage: Usage = Usage()
    """Tokens of all calls of this turn."""
    sharing: Sharing = "none"
    """What the turn's randomness was."""
    detail: str = ""
    """The provider's words when something went wrong."""

    @property
    def answered(self) -> bool:
        """Whether the turn ended with something to read, as `Reply.answered` of a call."""
        return self.outcome in ("ok", "truncated")

    @property
    def spoken(self) -> bool:
        """Whether the turn holds any text."""
        return any(section.text for section in self.sections)

    def only(self, tags: tuple[str, ...]) -> tuple[Section, ...]:
        """Return the sections that carry one of these tags."""
        return tuple(section for section in self.sections if section.tag in tags)


class Opinion(Record):
    """One judge's verdict on one battle at one stage, in the battle's frame."""

    judge: str
    """Name of the judging model."""
    stage: int
    """0 = alone, 1.. = after that many discussion rounds."""
    order: Order = "AB"
    """How the battle was presented to the judge."""
    verdict: Verdict | None = None
    """The verdict, or None if there is none at this stage."""
    status: OpinionStatus
    """Whether this stage's reply held a verdict, and if not, why."""
    carried: bool = False
    """Whether the verdict is the judge's last valid one because this stage's reply held none."""
    reasons: str = ""
    """What the judge wrote before its verdict."""
    probabilities: dict[str, float] = {}
    """A local judge's probabilities of A, B and tie; empty for others."""
    repairs: int = 0
    """How many times a readable verdict had to be asked for again."""
    usage: Usage = Usage()
    """Tokens of all calls of this opinion."""
    sharing: Sharing = "none"
    """What the opinion's randomness was."""
    detail: str = ""
    """What was wrong with the reply, or the provider's words."""


class Decision(Record):
    """The outcome of a battle."""

    status: DecisionStatus
    """Decided by the committee, void, or forfeited."""
    verdict: Verdict | None = None
    """The winner or `tie`; for a forfeit the side that did not give up; None when void."""
    votes: dict[str, int] = {}
    """Votes of the last stage for A, B and tie."""
    stages: tuple[Verdict | None, ...] = ()
    """What the vote would have been at each stage."""
    forfeited: tuple[Side, ...] = ()
    """The sides that gave the battle away."""
    reason: str = ""
    """Why a battle is void or forfeited."""


class Battle(Record):
    """Two debaters on one question, one replicate: everything that was said of it."""

    id: str
    """Unique within a run, readable, the same in every execution."""
    round: int
    """Tournament round, from 1."""
    question: str
    """Id of the question."""
    domain: str
    """Domain of the question."""
    replicate: int
    """Index of the draw of the dice."""
    a: str
    """Name of the model on side A."""
    b: str
    """Name of the model on side B."""
    arm: str
    """How the dice were coupled: `coupled`, `independent` or `fresh`."""
    turns: tuple[Turn, ...] = ()
    """The transcript, by step."""
    opinions: tuple[Opinion, ...] = ()
    """Every opinion, by stage, order and seat of the judge."""
    decision: Decision
    """The outcome."""
    weight: float = 1.0
    """Its weight in the ratings: 1/2 where both side assignments of a pair were played."""

    @property
    def pair(self) -> tuple[str, str]:
        """The two models, sorted by name."""
        first, second = sorted((self.a, self.b))
        return first, second

    def model(self, side: str) -> str:
        """Return the model on a side."""
        return self.a if side == "A" else self.b

    @property
    def sharing(self) -> Sharing:
        """What the two openings shared; no report speaks of coupling where this is `none`.

        Inside a battle only the openings may share dice, and only in a coupled arm.
        """
        openings = {turn.speaker: turn.sharing for turn in reversed(self.turns) if turn.speaker in ("A", "B")}
        return weakest(list(openings.values())) if len(openings) == 2 and self.arm == "coupled" else "none"
