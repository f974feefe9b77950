"""What a run tells its listeners while it plays."""

from collections.abc import Callable
from dataclasses import dataclass

from coupled_arena.models.calls import Call, Reply
from coupled_arena.models.model import Model
from coupled_arena.records import Battle
from coupled_arena.tournaments.schedules import Pairing


@dataclass(frozen=True, slots=True)
class RunOpened:
    """A run begins or goes on."""

    run: str
    """Id of the run."""
    battles: int
    """How many battles it plays at most."""


@dataclass(frozen=True, slots=True)
class BenchOpened:
    """A bench begins or goes on."""

    run: str
    """Id of the run."""
    answers: int
    """How many answers there are to be."""


@dataclass(frozen=True, slots=True)
class RoundOpened:
    """A round begins."""

    number: int
    """Its number, from 1."""
    pairings: tuple[Pairing, ...]
    """Who meets whom."""


@dataclass(frozen=True, slots=True)
class BattleEnded:
    """A battle has its decision."""

    battle: Battle
    """The battle."""


@dataclass(frozen=True, slots=True)
class CallAnswered:
    """A call has its reply."""

    call: Call
    """The call."""
    reply: Reply
    """Its reply."""
    memoised: bool
    """Whether it came from the memo or was joined to an equal call in flight."""


@dataclass(frozen=True, slots=True)
class CallWaits:
    """A call waits before its next request: for the provider, or for a limit."""

    model: Model
    """Who is to be asked."""
    seconds: float
    """For how long at least."""
    reason: str
    """Why."""


Event = RunOpened | BenchOpened | RoundOpened | BattleEnded | CallAnswered | CallWaits
Listener = Callable[[Event], None]
"""Called with every event, in the order things happen; it must not block."""
