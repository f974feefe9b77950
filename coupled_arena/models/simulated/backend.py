"""The backend of simulated models."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from coupled_arena.models.calls import Abilities, Call, Reply
from coupled_arena.models.model import Model
from coupled_arena.models.simulated.dials import dial_problems
from coupled_arena.models.simulated.speech import identity_of, reply_to

CONTEXT = 1_000_000
"""Tokens a simulated model can hold; it reads any prompt."""


class SimulatedBackend:
    """Answers the calls of `sim/` models without network, weights or cost.

    Args:
        latency: seconds every call takes, for benchmarks.
        sleep: what waits for that long.
    """

    def __init__(self, latency: float = 0.0, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self.latency = latency
        """Seconds every call takes."""
        self._sleep = sleep

    def abilities(self, model: Model) -> Abilities:
        """Return that the model does nothing beyond a plain chat and reads any length."""
        return Abilities(context=CONTEXT)

    def identity(self, model: Model) -> str:
        """Return the model string with every dial and the world spelled out.

        Raises:
            ConfigurationError: the dials cannot be read; every problem is listed.
        """
        return identity_of(model.model)

    def problems(self, model: Model) -> Sequence[str]:
        """Return what is wrong with the model's dials."""
        return [f"{problem.key}: {problem.message}" for problem in dial_problems(model.model)]

    async def complete(self, call: Call) -> Reply:
        """Answer a call; the answer is a pure function of the call."""
        if self.latency:
            await self._sleep(self.latency)
        return reply_to(call)

    async def aclose(self) -> None:
        """Do nothing: there is nothing to let go of."""
