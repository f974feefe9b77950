"""The limiter on an event loop: nothing is lost, whoever gives up or raises."""

import asyncio
from collections import Counter

import pytest

from coupled_arena.models.limits.admission import Destination
from coupled_arena.models.limits.lanes import REFUSED
from coupled_arena.models.limits.limit import Limit
from coupled_arena.models.limits.limiter import Limiter, Place
from tests.virtual_time import VirtualTime

MINI, LARGE = Destination("openai/mini"), Destination("openai/large")


class Counted:
    """Requests through a limiter, counted while they are in flight."""

    def __init__(self, limiter: Limiter, time: VirtualTime) -> None:
        self.limiter = limiter
        self.time = time
        self.in_flight: Counter[str] = Counter()
        self.most: Counter[str] = Counter()
        self.sent: list[float] = []
        self.waits: list[tuple[float, str]] = []

    async def ask(self, to: Destination, *, seconds: float = 1.0, tokens: int = 1, used: int | None = None) -> Place:
        number = self.limiter.number()
        async with self.limiter.place(to, number, tokens=tokens, on_wait=self.note) as place:
            self.sent.append(self.time.now)
            self.in_flight[to.model] += 1
            self.most[to.model] = max(self.most[to.model], self.in_flight[to.model])
            try:
                await self.time.sleep(seconds)
            finally:
                self.in_flight[to.model] -= 1
            place.used = used
        return place

    def note(self, seconds: float, reason: str) -> None:
        self.waits.append((seconds, reason))


def counted(**limits: Limit) -> Counted:
    time = VirtualTime()
    patterns = {pattern.replace("_", "/").replace("any", "*"): limit for pattern, limit in limits.items()}
    return Counted(Limiter(patterns, clock=time.clock, sleep=time.sleep), time)


async def test_without_limits_everything_is_sent_at_once() -> None:
    world = counted()
    await world.time.run(asyncio.gather(*(world.ask(MINI) for _ in range(500))))
    assert world.most["openai/mini"] == 500
    assert world.time.now == 1.0


async def test_requests_a_minute_are_kept_exactly() -> None:
    world = counted(openai_any=Limit(requests_per_minute=5))
    await world.time.run(asyncio.gather(*(world.ask(MINI, seconds=0.1) for _ in range(12))))
    assert world.sent == [0.0] * 5 + [60.0] * 5 + [120.0] * 2


async def test_concurrency_is_kept_and_places_are_free_while_nobody_is_in_flight() -> None:
    world = counted(openai_any=Limit(concurrency=3))
    await world.time.run(asyncio.gather(*(world.ask(MINI) for _ in range(10))))
    assert world.most["openai/mini"] == 3
    assert world.time.now == 4.0


async def test_tokens_a_minute_follow_what_was_used() -> None:
    world = counted(any=Limit(tokens_per_minute=100))
    asks = (world.ask(MINI, tokens=60, used=10) for _ in range(8))
    await world.time.run(asyncio.gather(*asks))
    # Each request is let in when 60 more fit; by then the earlier ones count 10 each.
    assert world.sent == [0.0, 1.0, 2.0, 3.0, 4.0, 60.0, 61.0, 62.0]


async def test_a_request_larger_than_the_minute_goes_alone() -> None:
    world = counted(any=Limit(tokens_per_minute=100))
    await world.time.run(asyncio.gather(world.ask(MINI, tokens=40), world.ask(MINI, tokens=500), world.ask(MINI)))
    assert world.sent == [0.0, 60.0, 120.0]


async def test_a_long_wait_is_told_once_with_its_reason() -> None:
    world = counted(openai_any=Limit(requests_per_minute=1))
    await world.time.run(asyncio.gather(*(world.ask(MINI) for _ in range(3))))
    assert world.waits == [(60.0, "requests_per_minute = 1 of openai/*")] * 2


async def test_a_short_wait_is_not_told() -> None:
    world = counted(any=Limit(concurrency=1))
    await world.time.run(asyncio.gather(*(world.ask(MINI, seconds=100.0) for _ in range(3))))
    assert world.waits == []


async def test_what_a_listener_raises_reaches_whoever_asked_and_nobody_else() -> None:
    world = counted(any=Limit(requests_per_minute=1))

    def listen(seconds: float, reason: str) -> None:
        raise LookupError(reason)

    async def asked() -> None:
        async with world.limiter.place(MINI, world.limiter.number(), tokens=1, on_wait=listen):
            pass

    await world.time.run(asked())
    with pytest.raises(LookupError, match="requests_per_minute"):
        await world.time.run(asked())
    await world.time.run(world.ask(MINI))
    assert world.sent == [60.0]


async def test_a_refusal_pauses_the_lane_and_no_other() -> None:
    world = counted()

    async def refused() -> None:
        async with world.limiter.place(MINI, world.limiter.number(), tokens=1) as place:
            await world.time.sleep(1.0)
            assert place.refused(30.0, jitter=0.0) == 30.0

    await world.time.run(refused())
    await world.time.run(asyncio.gather(world.ask(MINI), world.ask(LARGE)))
    assert world.sent == [1.0, 31.0]
    assert world.waits == [(30.0, REFUSED)]


async def test_requests_that_give_up_leave_nothing_behind() -> None:
    world = counted(any=Limit(concurrency=2, requests_per_minute=4, tokens_per_minute=50))
    tasks = [asyncio.ensure_future(world.ask(MINI, tokens=10)) for _ in range(20)]
    await world.time.settle()
    for task in tasks[1:]:
        task.cancel()
    assert await world.time.run(asyncio.gather(*tasks, return_exceptions=True))
    assert len(world.sent) == 2
    # The two that were sent count, whatever became of them; the eighteen others left no trace.
    await world.time.run(asyncio.gather(*(world.ask(MINI, tokens=10) for _ in range(2))))
    assert world.sent[2:] == [1.0, 1.0]


async def test_a_request_cancelled_at_the_door_gives_its_place_to_the_next() -> None:
    world = counted(any=Limit(concurrency=1, requests_per_minute=2))
    second: asyncio.Task[Place]

    async def first() -> None:
        async with world.limiter.place(MINI, world.limiter.number(), tokens=1):
            await world.time.sleep(1.0)
        # The second has been let in, and its task has not run since.
        second.cancel()

    begun = asyncio.ensure_future(first())
    await world.time.settle()
    second = asyncio.ensure_future(world.ask(MINI))
    third = asyncio.ensure_future(world.ask(MINI))
    await world.time.settle()
    await world.time.run(asyncio.gather(begun, second, third, return_exceptions=True))
    assert second.cancelled()
    assert world.sent == [1.0]


async def test_a_closed_limiter_leaves_no_task_behind() -> None:
    world = counted(any=Limit(requests_per_minute=1))
    await world.time.run(world.ask(MINI))
    waiting = asyncio.ensure_future(world.ask(MINI))
    await world.time.settle()
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    await world.limiter.aclose()
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_sleep_that_takes_no_time_is_taken_at_its_word() -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    limiter = Limiter({"*": Limit(requests_per_minute=1)}, sleep=sleep)
    for _ in range(3):
        async with limiter.place(MINI, limiter.number(), tokens=1):
            pass
    assert [round(seconds) for seconds in slept] == [60, 60]
