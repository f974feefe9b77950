"""Calls at their longest, and what many of them add up to."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from coupled_arena.models.model import Model


class Ask(NamedTuple):
    """One call that may be made, at its longest."""

    prompt: int
    """Tokens read at most."""
    completion: int
    """Tokens written at most, hidden reasoning included."""
    again: bool = False
    """Whether it is only made where an earlier one was not answered as it should be."""
    together: int = 0
    """Tokens read and written at most, where both cannot be at their most; 0 where they can."""

    @property
    def longest(self) -> int:
        """Tokens that the model has to hold."""
        return self.together or self.prompt + self.completion


class Load(NamedTuple):
    """Calls of one duty, added up."""

    calls: int
    """Calls when nothing has to be asked twice."""
    most: int
    """Calls when everything has to be asked as often as the rules allow."""
    prompt: int
    """Tokens read at most."""
    completion: int
    """Tokens written at most."""
    longest: int
    """Tokens read and written by the longest single call."""


NOTHING = Load(0, 0, 0, 0, 0)
"""No call at all."""


@dataclass(frozen=True, slots=True)
class Duty:
    """One duty of a model in a tournament, and what is asked of it for that."""

    key: str
    """Key of the definition that names the model: `models`, `judges`, `roles.checker`."""
    role: str
    """What it is there: `debater`, `judge`, `examiner`, `reference`, or the name of an added role."""
    model: Model
    """The model."""
    load: Load
    """What is asked of it."""


def load_of(asks: Iterable[Ask], times: int = 1) -> Load:
    """Return what calls add up to that are made so many times.

    >>> load_of([Ask(100, 20), Ask(130, 20, again=True)], 2)
    Load(calls=2, most=4, prompt=460, completion=80, longest=150)
    """
    asks = list(asks)
    load = Load(
        sum(not ask.again for ask in asks),
        len(asks),
        sum(ask.prompt for ask in asks),
        sum(ask.completion for ask in asks),
        max((ask.longest for ask in asks), default=0),
    )
    return repeated(load, times)


def repeated(load: Load, times: int) -> Load:
    """Return what a load is so many times; no call becomes longer."""
    calls, most, prompt, completion, longest = load
    return Load(calls * times, most * times, prompt * times, completion * times, longest if times else 0)


def added(loads: Iterable[Load]) -> Load:
    """Return what several loads are together; the longest call is the longest of any of them."""
    calls, most, prompt, completion, longest = zip(NOTHING, *loads, strict=True)
    return Load(sum(calls), sum(most), sum(prompt), sum(completion), max(longest))
