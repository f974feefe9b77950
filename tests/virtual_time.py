"""Time that passes only when nothing else is left to do."""

import asyncio
import heapq
import itertools
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")


class VirtualTime:
    """A clock and a sleep for code under test; `run` lets time pass until an awaitable is done."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._numbers = itertools.count()

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        waker: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self.now + max(0.0, seconds), next(self._numbers), waker))
        await waker

    async def settle(self) -> None:
        """Let everything go on that does not wait for time."""
        for _ in range(20):
            await asyncio.sleep(0)

    async def run(self, work: Awaitable[T]) -> T:
        task = asyncio.ensure_future(work)
        await self.settle()
        while not task.done():
            if not self.pass_on():
                raise AssertionError("nothing sleeps, and yet it is not done")
            await self.settle()
        return task.result()

    def pass_on(self) -> bool:
        """Move to the next moment at which somebody wakes; return whether there is one."""
        while self._sleepers:
            moment, _, waker = heapq.heappop(self._sleepers)
            if not waker.done():
                self.now = max(self.now, moment)
                waker.set_result(None)
                return True
        return False
