"""A battle's script as data: who speaks when, what they see, what they must do, how long they may be."""

from collections.abc import Sequence
from functools import cached_property
from typing import Self

from pydantic import Field, model_validator

from coupled_arena.records import Name, Record

DEBATERS = ("A", "B")
THINK = "think"
"""The action that is for the debater alone."""


class Step(Record):
    """One step of a script."""

    speaker: str = Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")
    """`A`, `B`, or the name of an added role."""
    requires: tuple[str, ...] = ()
    """Actions the turn must contain; for an added role usually none."""
    sees: tuple[int, ...] = ()
    """Numbers of the earlier steps, from 1, that the speaker is shown if it has not seen them yet."""
    budget: float = Field(default=1.0, gt=0, le=100)
    """Length allowed, in multiples of the domain's word limit."""
    round: int = Field(default=1, ge=1, le=1_000)
    """Round under which the judges read the turn."""


class Script(Record):
    """The ordered steps of a battle.

    Everybody keeps their own turns in mind; `sees` says what they are shown of the others'. Openings (a debater's first
    step, if it sees only the question) are asked together, all other steps one after the other.

    Example: an opening each and one response.
        >>> script = Script(name="short", steps=(
        ...     Step(speaker="A", requires=("respond",)),
        ...     Step(speaker="B", requires=("respond",)),
        ...     Step(speaker="A", requires=("respond",), sees=(2,), round=2),
        ... ))
        >>> script.labels
        ('opening', 'opening', 'step 3')
    """

    name: Name
    """Name shown in reports."""
    steps: tuple[Step, ...] = Field(min_length=2)
    """The steps, in order."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        speakers = [step.speaker for step in self.steps]
        absent = [side for side in DEBATERS if side not in speakers]
        if absent:
            raise ValueError(f"script {self.name!r}: side {absent[0]} never speaks; add a step for it")
        for number, step in enumerate(self.steps, 1):
            late = [seen for seen in step.sees if not 1 <= seen < number]
            if late:
                raise ValueError(
                    f"script {self.name!r}: step {number} sees step {late[0]}, which has not been said by then"
                )
            if step.speaker in DEBATERS and not step.requires:
                raise ValueError(f"script {self.name!r}: step {number} asks {step.speaker} for no action")
        for side in DEBATERS:
            if {tag for step in self.steps if step.speaker == side for tag in step.requires} == {THINK}:
                raise ValueError(
                    f"script {self.name!r}: {side} is asked to {THINK} only, which leaves the judges nothing to read; "
                    "require another action too"
                )
        return self

    @property
    def roles(self) -> tuple[str, ...]:
        """Speakers other than the debaters, in order of their first step."""
        return tuple(dict.fromkeys(step.speaker for step in self.steps if step.speaker not in DEBATERS))

    @cached_property
    def openings(self) -> tuple[int, ...]:
        """Numbers of the openings: a debater's first step, if it sees only the question."""
        first = {step.speaker: number for number, step in reversed(list(enumerate(self.steps, 1)))}
        return tuple(n for n in sorted(first[side] for side in DEBATERS) if not self.steps[n - 1].sees)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The label of every step in its noise key; openings share one."""
        return tuple("opening" if n in self.openings else f"step {n}" for n in range(1, len(self.steps) + 1))


def _steps(rows: Sequence[tuple[str, str, tuple[int, ...], float, int]]) -> tuple[Step, ...]:
    return tuple(
        Step(speaker=speaker, requires=tuple(actions.split()), sees=sees, budget=budget, round=round_)
        for speaker, actions, sees, budget, round_ in rows
    )


PEER_BATTLE = Script(
    name="peer-battle",
    steps=_steps(
        [
            ("A", "respond", (), 1, 1),
            ("B", "respond", (), 1, 2),
            ("B", "criticize raise", (1,), 1, 1),
            ("A", "respond", (3,), 1, 1),
            ("A", "criticize raise", (2,), 1, 2),
            ("B", "respond", (5,), 1, 2),
            ("A", "criticize raise", (6,), 1, 3),
            ("B", "respond criticize raise", (7,), 2, 3),
            ("A", "respond", (8,), 1, 3),
        ]
    ),
)
"""Auto-Arena's nine steps (arXiv 2405.20267, section 3.2)."""

SINGLE = Script(name="single", steps=_steps([("A", "respond", (), 1, 1), ("B", "respond", (), 1, 1)]))
"""An arena without debate: two openings, judged."""

SCRIPTS = {script.name: script for script in (PEER_BATTLE, SINGLE)}
"""The scripts that ship with the package, by name."""
