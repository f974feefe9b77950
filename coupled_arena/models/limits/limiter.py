"""The limiter of one gateway: calls wait here until they may send a request."""

import asyncio
import contextlib
import itertools
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

from coupled_arena.models.limits.admission import Admission, Destination, Ticket
from coupled_arena.models.limits.limit import Limit
from coupled_arena.models.patience import waiting

WORTH_SAYING = 5.0
"""Seconds from which on a wait is told."""


class Place:
    """A request that may be sent now."""

    def __init__(self, limiter: "Limiter", ticket: Ticket) -> None:
        self.used: int | None = None
        """Tokens it read and wrote, once known; until then it counts with those it was taken to need."""
        self.unsent = False
        """Whether nothing was sent after all, so that nothing is to be counted."""
        self._limiter = limiter
        self._ticket = ticket

    def answered(self) -> None:
        """Note that the provider took the request: its lane may speed up."""
        self._ticket.route.lane.answered()

    def refused(self, stated: float | None, jitter: float) -> float:
        """Note that the provider refused it for coming too fast; return for how many seconds the lane is paused.

        Args:
            stated: seconds that the provider asks to wait, if it does.
            jitter: uniform in [0, 1).
        """
        self.used = 0
        sent = self._ticket.sent
        return self._ticket.route.lane.refused(
            now=self._limiter.now(), sent=-math.inf if sent is None else sent, stated=stated, jitter=jitter
        )


class Limiter:
    """Lets requests through in order of arrival, within the user's limits and the provider's patience.

    A place is held only while a request is in flight. A limiter belongs to one event loop.

    Args:
        limits: what may be sent, by pattern of model strings.
        clock: seconds that never go backwards.
        sleep: waits that many seconds.
    """

    def __init__(
        self,
        limits: Mapping[str, Limit] | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._admission = Admission(limits or {})
        self._clock = clock
        self._sleep = sleep
        self._numbers = itertools.count(1)
        self._doors: dict[Ticket, asyncio.Future[None]] = {}
        self._untold: set[Ticket] = set()
        self._time = -math.inf
        self._alarm: asyncio.Task[None] | None = None
        self._rings = math.inf

    def number(self) -> int:
        """Return the place in line of a new call, for all its requests."""
        return next(self._numbers)

    def now(self) -> float:
        """Return the present, in seconds."""
        self._time = max(self._time, self._clock())
        return self._time

    @contextlib.asynccontextmanager
    async def place(
        self,
        destination: Destination,
        number: int,
        *,
        tokens: int,
        on_wait: Callable[[float, str], None] | None = None,
    ) -> AsyncIterator[Place]:
        """Wait until a request may be sent, and hold its place while it is in flight.

        Args:
            destination: what it is sent to.
            number: the place in line of its call.
            tokens: how many tokens it is taken to read and write.
            on_wait: told, at most once, when the wait takes five seconds or more: how many at least, and why.

        Raises:
            BudgetReached: nothing more may be spent.
        """
        ticket = self._admission.join(destination, number, tokens=tokens)
        await self._enter(ticket, on_wait)
        place = Place(self, ticket)
        try:
            yield place
        finally:
            if place.unsent:
                self._admission.withdraw(ticket)
            else:
                self._admission.leave(ticket, place.used)
            self._admit()

    async def aclose(self) -> None:
        """Stop waking up; nobody waits any more when a gateway closes."""
        alarm, self._alarm = self._alarm, None
        if alarm is not None:
            alarm.cancel()
            await asyncio.gather(alarm, return_exceptions=True)

    async def _enter(self, ticket: Ticket, on_wait: Callable[[float, str], None] | None) -> None:
        if on_wait is not None:
            self._untold.add(ticket)
        try:
            with waiting():
                self._admit()
                while ticket.sent is None:
                    # Told by the call's own task, so that what a listener raises reaches whoever asked. A call behind
                    # the first of its line waits at least as long as that one.
                    if on_wait is not None and ticket in self._untold and _is_long(ticket, self._time):
                        self._untold.discard(ticket)
                        on_wait(*_wait(ticket, self._time))
                    door = self._doors[ticket] = asyncio.get_running_loop().create_future()
                    await door
        except BaseException:
            self._admission.withdraw(ticket)
            self._admit()
            raise
        finally:
            self._doors.pop(ticket, None)
            self._untold.discard(ticket)

    def _admit(self) -> None:
        woken = self._admission.admit(self.now())
        woken += [head for head in self._admission.heads() if head in self._untold and _is_long(head, self._time)]
        for ticket in woken:
            door = self._doors.get(ticket)
            if door is not None and not door.done():
                door.set_result(None)
        self._set_alarm(self._admission.opens)

    def _set_alarm(self, moment: float) -> None:
        if self._alarm is not None and moment != self._rings:
            self._alarm.cancel()
            self._alarm = None
        if self._alarm is None and moment < math.inf:
            self._rings = moment
            self._alarm = asyncio.get_running_loop().create_task(self._ring(moment))

    async def _ring(self, moment: float) -> None:
        await self._sleep(moment - self.now())
        # Whoever sleeps may wake a moment early, or live on another clock: what was waited for is over.
        self._time = max(self._time, moment)
        self._alarm = None
        self._admit()


def _is_long(ticket: Ticket, now: float) -> bool:
    return WORTH_SAYING <= ticket.route.held_until - now < math.inf


def _wait(ticket: Ticket, now: float) -> tuple[float, str]:
    route = ticket.route
    return route.held_until - now, "" if route.held_by is None else route.held_by.why(now, ticket.tokens)
