"""Which battles make a match: the questions, who speaks first, which replicate."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from coupled_arena.coupling import noise_key, permutation
from coupled_arena.coupling.keys import Mode
from coupled_arena.errors import UNSHOWN
from coupled_arena.records import Question

_OF_IDS = re.compile(f"[%~:]|{UNSHOWN.pattern}")
"""What separates the parts of an id, and what should stand in none."""


@dataclass(frozen=True, slots=True)
class Fixture:
    """A battle that is to be played."""

    round: int
    """Tournament round, from 1."""
    question: Question
    """What is debated."""
    replicate: int
    """Index of the draw of the dice."""
    a: str
    """Name of the model that speaks first."""
    b: str
    """Name of the other model."""
    weight: float
    """Weight in the ratings."""
    arm: Mode = "coupled"
    """How the dice are coupled."""

    @property
    def id(self) -> str:
        """Readable and unique within a run: in names `%`, `~`, `:` and control characters are percent-encoded.

        >>> question = Question(id="math-1", domain="math", language="en", text="?", author="me")
        >>> Fixture(1, question, 0, "sim/ada", "b~c", 1.0).id
        'r1:sim/ada~b%7Ec:math-1:0'
        """
        a, b, question = (_OF_IDS.sub(_encoded, part) for part in (self.a, self.b, self.question.id))
        arm = "" if self.arm == "coupled" else f":{self.arm}"
        return f"r{self.round}:{a}~{b}:{question}:{self.replicate}{arm}"


def _encoded(found: re.Match[str]) -> str:
    # Not by urllib, which spares `~`.
    return "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "surrogatepass"))


def fixtures(
    pair: tuple[str, str],
    questions: Sequence[Question],
    *,
    round_: int,
    meeting: int,
    sides: Literal["balanced", "both"],
    replicates: int,
    seed: int,
) -> tuple[Fixture, ...]:
    """Return the battles of one match, in the coupled arm.

    With balanced sides each model speaks first on half of the questions of every domain; an odd one is given by a
    seeded permutation, alternating over the domains so that the match as a whole is balanced too. A rematch plays the
    next replicates, because equal calls would only replay the memo.

    Args:
        pair: the two models, in either order.
        questions: what the match is fought over.
        round_: tournament round, from 1.
        meeting: how many matches this pair has played before.
        sides: `balanced` or `both`.
        replicates: draws of the dice per question.
        seed: the tournament's seed.
    """
    x, y = sorted(pair)
    numbers = range(meeting * replicates, (meeting + 1) * replicates)
    if sides == "both":
        return tuple(
            Fixture(round_, question, replicate, a, b, 0.5)
            for question in questions
            for replicate in numbers
            for a, b in ((x, y), (y, x))
        )
    domains = list(dict.fromkeys(question.domain for question in questions))
    result: list[Fixture] = []
    for replicate in numbers:

        def draw(n: int, part: str, replicate: int = replicate) -> tuple[int, ...]:
            label = (x, y, str(replicate))
            return permutation(n, noise_key(seed=seed, scope=("sides",), role=("schedule",), label=label, part=part))

        first = {}
        extra = draw(2, "first of the odd ones")[0]
        for rank in draw(len(domains), "domains"):
            own = [question for question in questions if question.domain == domains[rank]]
            places = draw(len(own), f"questions of {domains[rank]}")
            half = len(own) // 2
            if len(own) % 2:
                half += extra
                extra = 1 - extra
            for place, question in zip(places, own, strict=True):
                first[question.id] = place < half
        for question in questions:
            a, b = (x, y) if first[question.id] else (y, x)
            result.append(Fixture(round_, question, replicate, a, b, 1.0))
    return tuple(result)
