"""What tests of hosted models share: a call, and waits that take no time."""

from collections.abc import Callable
from typing import Any

from coupled_arena.coupling import Sampling
from coupled_arena.models.calls import Call, Message
from coupled_arena.models.hosted.backend import HostedBackend
from coupled_arena.models.model import Model
from coupled_arena.testing import FakeProvider

Start = Callable[..., FakeProvider]

SECRET = "sk-abcdefghijklmnopqrst"


def call(model: Model, text: str = "hello", **changes: Any) -> Call:
    return Call(model, (Message("user", text),), Sampling(0.7), 20, bytes(range(16)), **changes)


class Waits:
    """Stands in for sleeping, and for the clock that goes on meanwhile."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)

    def clock(self) -> float:
        return sum(self.seconds)

    def backend(self, **settings: Any) -> HostedBackend:
        """Return a backend that waits like this."""
        return HostedBackend(sleep=self, clock=self.clock, **settings)
