"""Where an agent of the user's sits: through which gateway its calls go, and what its turn has come to so far.

A context variable says who speaks, and tasks inherit it. It names the seat and not the turn, so that a task that
outlives a turn is heard in the next one.
"""

import asyncio
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from coupled_arena.agents.base import Tally
from coupled_arena.coupling import Dice
from coupled_arena.models.calls import Reply
from coupled_arena.models.gateway import Gateway
from coupled_arena.models.model import Model


@dataclass(slots=True)
class Speech:
    """One turn of an agent: the calls it makes, and what they have come to."""

    dice: Dice
    """Whose dice its calls roll."""
    part: str
    """Which request of the turn is answered, as in `Voice.say`."""
    max_tokens: int
    """Most tokens of one call that states no limit."""
    tally: Tally = field(default_factory=Tally)
    """Usage and sharing of its calls."""
    calls: int = 0
    """How many calls were begun, to be made or answered from the memo."""
    last: Reply | None = None
    """The answer to the latest call."""
    fault: Exception | None = None
    """The first fault that ends the run, whatever the agent made of it."""
    root: "Branch" = field(init=False)
    """The task in which the agent speaks."""

    def __post_init__(self) -> None:
        self.root = Branch(self, None)

    def note(self, reply: Reply) -> None:
        """Take the answer to a call."""
        self.last = self.tally.add(reply)

    def begin(self) -> str:
        """Begin a call, and return the part of the dice that it rolls: `call 1`, `repair 1 call 1`.

        A task that the agent starts has a branch of its own (`call 1.1`), numbered when it begins its first call.
        """
        self.calls += 1
        branch, task = _BRANCH.get(), _this_task()
        if branch is None or branch.speech is not self:
            branch = self.root
        if branch.task is None or branch.task() is not task():
            branch.branches += 1
            branch = Branch(self, task, f"{branch.path}{branch.branches}.")
            _BRANCH.set(branch)
        branch.calls += 1
        number = f"call {branch.path}{branch.calls}"
        return number if self.part == "whole" else f"{self.part} {number}"


@dataclass(slots=True)
class Branch:
    """A task that makes calls in a turn; those of each are numbered by themselves.

    So the dice of a call do not depend on which of several tasks is answered first.
    """

    speech: Speech
    """The turn."""
    task: "weakref.ref[asyncio.Task[object]] | None"
    """The task, None before the agent is asked to speak."""
    path: str = ""
    """Numbers of the branches above and its own, `1.`; nothing for the task in which the agent speaks."""
    calls: int = 0
    """Calls made so far."""
    branches: int = 0
    """Tasks below it that have made calls so far."""


@dataclass(slots=True)
class Seat:
    """What an agent of the user's speaks through."""

    gateway: Gateway
    """What carries its calls."""
    role: str
    """In which role it speaks; it decides the temperature where a model states none."""
    called: Callable[[Model], Model]
    """A model as it is called in this tournament."""
    speech: Speech | None = None
    """The turn in which it is asked to speak, None between turns."""

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Let whatever runs inside, and the tasks it starts, speak from this seat."""
        seat = _SEAT.set(self)
        try:
            yield
        finally:
            _SEAT.reset(seat)

    @contextmanager
    def speaking(self, speech: Speech) -> Iterator[None]:
        """Open a turn for what runs inside."""
        speech.root.task = _this_task()
        branch = _BRANCH.set(speech.root)
        self.speech = speech
        try:
            with self.taken():
                yield
        finally:
            self.speech = None
            _BRANCH.reset(branch)


_SEAT: ContextVar[Seat | None] = ContextVar("seat", default=None)
_BRANCH: ContextVar[Branch | None] = ContextVar("branch", default=None)


def current_seat() -> Seat | None:
    """Return the seat of whoever speaks here, None outside a run."""
    return _SEAT.get()


def _this_task() -> "weakref.ref[asyncio.Task[object]]":
    task: asyncio.Task[object] | None = asyncio.current_task()
    if task is None:
        raise RuntimeError("an agent speaks inside an event loop")
    return weakref.ref(task)
