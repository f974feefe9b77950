"""Replies as scripts: generators that ask for one token to be appended at a time and are sent what comes next.

A script knows nothing of the sequences beside its own, so that any number of them can be advanced together.
"""

from collections.abc import Generator
from typing import NamedTuple, TypeVar

from coupled_arena.models.local.engine import Logits

T = TypeVar("T")


class Step(NamedTuple):
    """A wish to have a token appended."""

    token: int
    """The token."""
    position: int
    """How many tokens the sequence shall hold before it; whatever lies behind is forgotten."""


Script = Generator[Step, Logits, T]
"""Writes a reply: yields steps, is sent the logits after each, and returns what came of it.

Logits must be used before the next step is yielded.
"""
