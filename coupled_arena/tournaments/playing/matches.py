"""Which battles make a match: the questions, who speaks first, which replicate."""

import re
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
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
    played: Mapping[str, int],
    sides: Literal["balanced", "both"],
    replicates: int,
    seed: int,
    most: int | None = None,
) -> tuple[Fixture, ...]:
    """Return the battles of one match, in the coupled arm.

    A match is fought over the questions that the pair has not met on; if there are none, over all of them in the next
    replicates, because equal calls would only replay the memo. With balanced sides each model speaks first on half of
    the questions of every domain; an odd one is given by a seeded permutation, alternating over the domains so that the
    match as a whole is balanced too. A match over some of the questions takes them by turns from the domains, in an
    order that is drawn for each pair, so that models that each met others on a few questions were asked different ones,
    and as many where the one model speaks first as where the other does.

    Args:
        pair: the two models, in either order.
        questions: what the tournament asks.
        round_: tournament round, from 1.
        played: how many replicates the pair has played, by question; others were not played.
        sides: `balanced` or `both`.
        replicates: draws of the dice per question.
        seed: the tournament's seed.
        most: on how many questions they meet at most; None is all.
    """
    x, y = sorted(pair)
    least = min((played.get(question.id, 0) for question in questions), default=0)
    left = [question for question in questions if played.get(question.id, 0) == least]
    numbers = range(least, least + replicates)
    first = {
        replicate: {} if sides == "both" else _first_on((x, y), questions, replicate=replicate, seed=seed)
        for replicate in numbers
    }
    if most is not None and most < len(left):
        key = noise_key(seed=seed, scope=("sides",), role=("schedule",), label=(x, y), part="order of questions")
        drawn = dict(zip((question.id for question in questions), permutation(len(questions), key), strict=True))
        left = _some(left, most, first[least], drawn)
    return tuple(
        Fixture(round_, question, replicate, a, b, 0.5 if sides == "both" else 1.0)
        for replicate in numbers
        for question in left
        for a, b in (((x, y), (y, x)) if sides == "both" else ((x, y),) if first[replicate][question.id] else ((y, x),))
    )


def _first_on(pair: tuple[str, str], questions: Sequence[Question], *, replicate: int, seed: int) -> dict[str, bool]:
    """Return whether the first model of a pair speaks first, by question."""

    def draw(n: int, part: str) -> tuple[int, ...]:
        label = (*pair, str(replicate))
        return permutation(n, noise_key(seed=seed, scope=("sides",), role=("schedule",), label=label, part=part))

    domains = list(dict.fromkeys(question.domain for question in questions))
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
    return first


def _some(left: Sequence[Question], most: int, first: Mapping[str, bool], drawn: Mapping[str, int]) -> list[Question]:
    """Return so many questions, by turns from the domains and, where `first` knows them, from the sides.

    What is left after that is what a next match begins with, so that several matches together are balanced too.
    """
    waiting: defaultdict[tuple[str, bool], deque[Question]] = defaultdict(deque)
    for question in sorted(left, key=lambda question: drawn[question.id]):
        waiting[question.domain, first.get(question.id, True)].append(question)
    turns = cycle(dict.fromkeys(domain for domain, _ in waiting))
    taken: set[str] = set()
    lead = 0
    while len(taken) < most:
        domain = next(turns)
        # The side that had fewer questions so far comes first.
        sides = [side for side in (lead <= 0, lead > 0) if waiting[domain, side]]
        if sides:
            taken.add(waiting[domain, sides[0]].popleft().id)
            lead += 1 if sides[0] else -1
    return [question for question in left if question.id in taken]
