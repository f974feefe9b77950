"""What a definition may say in its key `schedule`."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator

from coupled_arena.records import Record
from coupled_arena.tournaments.schedules.adaptive import Adaptive
from coupled_arena.tournaments.schedules.against import Against
from coupled_arena.tournaments.schedules.insertion import Insertion
from coupled_arena.tournaments.schedules.own import OwnSchedule
from coupled_arena.tournaments.schedules.round_robin import RoundRobin
from coupled_arena.tournaments.schedules.swiss import Swiss

SCHEDULES: dict[str, type[Record]] = {
    "adaptive": Adaptive,
    "against": Against,
    "insertion": Insertion,
    "round_robin": RoundRobin,
    "swiss": Swiss,
}
"""The rules that a file can name."""


def as_schedule(value: Any) -> Any:
    """Return the schedule that a value stands for: a name, a table with `kind`, a schedule, a function or object.

    Raises:
        ValueError: there is none.
    """
    if isinstance(value, (OwnSchedule, *SCHEDULES.values())):
        return value
    if callable(value) or hasattr(value, "next_round"):
        return OwnSchedule.of(value)
    kind = value.get("kind") if isinstance(value, Mapping) else value
    if not isinstance(kind, str) or kind not in SCHEDULES:
        shown = f" named {kind!r}" if isinstance(kind, str) else " of this kind"
        own = "; one of your own is given in Python" if kind == "own" else ""
        raise ValueError(f"no schedule{shown}; there is {', '.join(sorted(SCHEDULES))}{own}")
    return SCHEDULES[kind].model_validate(value if isinstance(value, Mapping) else {})


def as_stored(value: Any) -> Any:
    """Return what `as_schedule` does, and of a schedule in Python, of which a store keeps the name, that it was one."""
    own = isinstance(value, Mapping) and value.get("kind") == "own"
    return OwnSchedule.model_validate(value) if own else as_schedule(value)


AnySchedule = Annotated[Adaptive | Against | Insertion | OwnSchedule | RoundRobin | Swiss, BeforeValidator(as_schedule)]
"""A schedule in a definition."""
