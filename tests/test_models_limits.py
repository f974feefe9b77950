"""The limiter: never above the limits, in order, nothing lost, nobody starved."""

import asyncio
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coupled_arena.models.limits.admission import Admission, Destination, Ticket
from coupled_arena.models.limits.gates import Load, Quota
from coupled_arena.models.limits.lanes import PATIENT, REFUSED, Lane
from coupled_arena.models.limits.limit import Limit, patterns_for
from coupled_arena.models.limits.limiter import Limiter, Place
from coupled_arena.models.limits.waits import FIRST_WAIT, LONGEST_WAIT, backoff
from coupled_arena.models.limits.windows import SPAN, SlidingWindow
from tests.virtual_time import VirtualTime

MINI, LARGE, OTHER = DESTINATIONS = (
    Destination("openai/mini"),
    Destination("openai/large"),
    Destination("anthropic/mini"),
)


# Patterns.


@pytest.mark.parametrize(
    ("pattern", "fits"),
    [
        ("openai/mini", True),
        ("openai/*", True),
        ("*", True),
        ("*/m[a-k]ni", True),
        ("OpenAI/*", False),
        ("mini", False),
        ("openai/min", False),
    ],
)
def test_a_pattern_fits_the_whole_model_string_and_minds_case(pattern: str, fits: bool) -> None:
    assert bool(patterns_for("openai/mini", {pattern: Limit()})) is fits


def test_the_narrowest_pattern_comes_first_and_names_decide_between_equals() -> None:
    limits = {pattern: Limit() for pattern in ("*", "openai/*", "*ini", "o*ni")}
    assert patterns_for("openai/mini", limits) == ["openai/*", "*ini", "o*ni", "*"]


# Windows.


def test_a_window_forgets_after_exactly_a_minute() -> None:
    window = SlidingWindow(2)
    window.take(0.0, 1)
    window.take(30.0, 1)
    assert window.opens(59.999, 1) == 60.0
    assert window.opens(60.0, 1) == 60.0
    assert window.opens(60.0, 2) == 90.0


def test_an_amount_above_the_limit_waits_until_the_window_is_empty() -> None:
    window = SlidingWindow(10)
    assert window.opens(0.0, 99) == 0.0
    window.take(0.0, 99)
    assert window.opens(1.0, 1) == 60.0
    assert window.opens(60.0, 99) == 60.0
    window.take(60.0, 3)
    assert window.opens(61.0, 99) == 120.0


def test_a_corrected_amount_counts_as_corrected_and_not_after_its_minute() -> None:
    window = SlidingWindow(10)
    taken = window.take(0.0, 10)
    assert window.opens(1.0, 4) == 60.0
    taken.become(5)
    assert window.opens(1.0, 4) == 1.0
    assert window.opens(60.0, 10) == 60.0
    taken.become(100)
    assert (window.total, window.opens(61.0, 10)) == (0, 61.0)


@given(
    limit=st.integers(1, 5),
    steps=st.lists(st.tuples(st.floats(0, 40), st.integers(1, 4)), max_size=40),
)
def test_no_minute_holds_more_than_a_window_allows(limit: int, steps: Sequence[tuple[float, int]]) -> None:
    window, now = SlidingWindow(limit), 0.0
    taken: list[tuple[float, int]] = []
    for pause, amount in steps:
        now += pause
        for _ in range(100):
            opens = window.opens(now, amount)
            if opens <= now:
                break
            now = opens
        else:
            raise AssertionError("it never opened")
        window.take(now, amount)
        taken.append((now, amount))
    for start, _ in taken:
        inside = [amount for at, amount in taken if start <= at and at < start + SPAN]
        assert sum(inside) <= limit or len(inside) == 1


# Lanes.


def entered(lane: Lane, count: int) -> Lane:
    for _ in range(count):
        lane.enter(0.0)
    return lane


def test_a_lane_is_boundless_until_it_is_refused() -> None:
    lane = entered(Lane(), 10_000)
    assert lane.opens(0.0) == 0.0
    lane.answered()
    assert lane.window == math.inf


def test_a_burst_of_refusals_halves_a_lane_once() -> None:
    lane = entered(Lane(), 64)
    waits = [lane.refused(now=1.0 + late, sent=0.5, stated=None, jitter=1.0) for late in (0.0, 0.1, 0.2)]
    assert lane.window == 32
    assert waits[0] == FIRST_WAIT
    assert lane.refused(now=3.0, sent=2.0, stated=None, jitter=1.0) == 2 * FIRST_WAIT
    assert lane.window == 16


def test_a_lane_never_closes_for_good() -> None:
    lane = entered(Lane(), 1)
    for now in range(1, 50):
        lane.refused(now=1000.0 * now, sent=1000.0 * now - 1, stated=None, jitter=1.0)
    lane.leave()
    assert lane.window == 1
    assert lane.paused_until == 49_000 + LONGEST_WAIT
    assert lane.opens(lane.paused_until) == lane.paused_until


def test_answers_widen_a_lane_by_one_for_each_round() -> None:
    lane = entered(Lane(), 8)
    lane.refused(now=1.0, sent=0.5, stated=0.0, jitter=0.0)
    assert lane.window == 4
    for _ in range(4):
        lane.leave()
    for _ in range(4):
        lane.answered()
    assert 4.8 < lane.window < 5
    wide = lane.window
    for _ in range(3):
        lane.leave()
    lane.answered()
    assert lane.window == wide, "a lane that is not full has nothing to learn"


def test_a_stated_wait_is_believed_until_it_proves_too_short() -> None:
    lane = entered(Lane(), 1)
    waits = [lane.refused(now=100.0 * i, sent=100.0 * i - 1, stated=0.0, jitter=0.0) for i in range(1, 7)]
    assert waits == [0.0, 0.0, *(backoff(times, 0.0) for times in (3, 4, 5, 6))]
    assert PATIENT == 2


def test_an_answer_ends_the_row_of_refusals() -> None:
    lane = entered(Lane(), 1)
    for moment in (100.0, 200.0, 300.0):
        lane.refused(now=moment, sent=moment - 1, stated=None, jitter=1.0)
    lane.answered()
    assert lane.refused(now=400.0, sent=399.0, stated=None, jitter=1.0) == FIRST_WAIT


# Admission.


def numbers(tickets: Sequence[Ticket]) -> list[int]:
    return [ticket.number for ticket in tickets]


def test_requests_go_in_order_and_a_repeated_one_keeps_its_place() -> None:
    admission = Admission({"*": Limit(concurrency=1)})
    first = admission.join(MINI, 1, tokens=1)
    for number in (2, 3):
        admission.join(MINI, number, tokens=1)
    assert numbers(admission.admit(0.0)) == [1]
    admission.leave(first)
    admission.join(MINI, 1, tokens=1)
    assert numbers(admission.admit(0.0)) == [1]


def test_models_share_what_a_pattern_allows_and_obey_every_pattern() -> None:
    admission = Admission({"openai/*": Limit(concurrency=2), "*mini": Limit(concurrency=1)})
    tickets = [admission.join(to, number, tokens=1) for number, to in enumerate((MINI, OTHER, LARGE, LARGE), 1)]
    assert numbers(admission.admit(0.0)) == [1, 3]
    admission.leave(tickets[2])
    assert numbers(admission.admit(0.0)) == [4]
    admission.leave(tickets[0])
    assert numbers(admission.admit(0.0)) == [2]


def test_a_model_that_waits_for_its_own_limit_holds_up_no_other() -> None:
    admission = Admission({"openai/mini": Limit(requests_per_minute=1), "openai/*": Limit(concurrency=2)})
    for number, to in enumerate((MINI, MINI, LARGE), 1):
        admission.join(to, number, tokens=1)
    assert numbers(admission.admit(0.0)) == [1, 3]
    assert admission.opens == 60.0


def test_what_a_held_up_request_needs_is_kept_for_it() -> None:
    admission = Admission({"*[ic]/mini": Limit(requests_per_minute=2), "openai/*": Limit(concurrency=1)})
    first = admission.join(LARGE, 1, tokens=1)
    for number, to in ((2, MINI), (3, OTHER), (4, OTHER)):
        admission.join(to, number, tokens=1)
    # One of the two requests a minute is kept for 2, which waits for the slot of 1.
    assert numbers(admission.admit(0.0)) == [1, 3]
    admission.leave(first)
    assert numbers(admission.admit(1.0)) == [2]
    assert numbers(admission.admit(60.0)) == [4]


def test_tokens_are_reserved_and_corrected() -> None:
    admission = Admission({"*": Limit(tokens_per_minute=100)})
    first = admission.join(MINI, 1, tokens=80)
    admission.join(MINI, 2, tokens=80)
    assert numbers(admission.admit(0.0)) == [1]
    assert (admission.opens, admission.admit(1.0)) == (60.0, [])
    admission.leave(first, used=20)
    assert numbers(admission.admit(2.0)) == [2]


def test_why_a_request_is_held_up_names_the_limit() -> None:
    quota = Quota("openai/*", Limit(tokens_per_minute=10, requests_per_minute=5, concurrency=1))
    quota.enter(0.0, 10)
    assert quota.why(1.0, 1) == "tokens_per_minute = 10 of openai/*"
    assert quota.opens(61.0, 1, Load()) == math.inf
    assert quota.why(61.0, 1) == "the limits of openai/*"
    assert Lane().why(0.0) == REFUSED


@dataclass
class World:
    """Plays requests through an admission and remembers what was in flight."""

    limits: dict[str, Limit]
    now: float = 0.0
    flying: list[Ticket] = field(default_factory=list)
    sent: list[tuple[float, Destination, int]] = field(default_factory=list)
    destinations: dict[Ticket, Destination] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.admission = Admission(self.limits)

    def join(self, to: Destination, *, tokens: int) -> Ticket:
        ticket = self.admission.join(to, len(self.destinations) + 1, tokens=tokens)
        self.destinations[ticket] = to
        return ticket

    def admit(self) -> None:
        for ticket in self.admission.admit(self.now):
            self.flying.append(ticket)
            self.sent.append((self.now, self.destinations[ticket], ticket.tokens))
        for pattern, limit in self.limits.items():
            here = [t for t in self.flying if pattern in patterns_for(self.destinations[t].model, self.limits)]
            assert limit.concurrency is None or len(here) <= limit.concurrency

    def check_windows(self) -> None:
        for pattern, limit in self.limits.items():
            sent = [s for s in self.sent if pattern in patterns_for(s[1].model, self.limits)]
            for start, _, _ in sent:
                inside = [tokens for at, _, tokens in sent if start <= at < start + SPAN]
                assert len(inside) <= (limit.requests_per_minute or math.inf)
                assert sum(inside) <= (limit.tokens_per_minute or math.inf) or len(inside) == 1


bounds = st.none() | st.integers(1, 4)
some_limits = st.dictionaries(
    st.sampled_from(["*", "openai/*", "*mini", "openai/mini", "anthropic/*"]),
    st.builds(Limit, concurrency=bounds, requests_per_minute=bounds, tokens_per_minute=st.none() | st.integers(1, 40)),
    max_size=4,
)
# What happens next: somebody joins, the oldest or newest in flight ends or is refused, somebody gives up, time passes.
some_steps = st.lists(
    st.tuples(
        st.sampled_from(["join", "join", "join", "end", "refuse", "give up", "pass"]),
        st.integers(0, 2),
        st.integers(1, 30),
    ),
    max_size=60,
)


@given(limits=some_limits, steps=some_steps)
def test_no_limit_is_exceeded_and_everybody_gets_through(
    limits: dict[str, Limit], steps: Sequence[tuple[str, int, int]]
) -> None:
    world, waiting = World(limits), []
    for step, which, amount in steps:
        if step == "join":
            waiting.append(world.join(DESTINATIONS[which], tokens=amount))
        elif step in ("end", "refuse") and world.flying:
            ticket = world.flying.pop(0 if which else -1)
            if step == "refuse" and ticket.sent is not None:
                ticket.route.lane.refused(now=world.now, sent=ticket.sent, stated=None, jitter=0.5)
            else:
                ticket.route.lane.answered()
            world.admission.leave(ticket)
        elif step == "give up" and waiting:
            ticket = waiting.pop(which % len(waiting))
            if ticket.sent is None:
                world.admission.withdraw(ticket)
        elif step == "pass":
            world.now += amount
        world.admit()
    # Then all that is left gets through, whoever else there is.
    for _ in range(10_000):
        left = [ticket for ticket in waiting if ticket.waiting]
        if not left and not world.flying:
            break
        if world.flying:
            world.admission.leave(world.flying.pop(0))
        else:
            assert world.admission.opens < math.inf, "requests wait, and nothing would let them through"
            world.now = max(world.now, world.admission.opens)
        world.admit()
    else:
        raise AssertionError("somebody starved")
    world.check_windows()
    for route in world.admission._routes.values():
        assert route.lane.in_flight == 0
    assert all(quota.in_flight == 0 for quota in world.admission._quotas.values())


@given(limits=some_limits, dice=st.randoms(use_true_random=False))
def test_the_oldest_request_is_let_in_however_many_come_after_it(limits: dict[str, Limit], dice: Random) -> None:
    world = World(limits)
    tickets = [world.join(dice.choice(DESTINATIONS), tokens=5) for _ in range(5)]
    for _ in range(400):
        if all(ticket.sent is not None for ticket in tickets):
            return
        world.join(dice.choice(DESTINATIONS), tokens=5)
        world.now += dice.choice((20.0, 40.0))
        if world.flying:
            world.admission.leave(world.flying.pop(dice.randrange(len(world.flying))))
        world.admit()
    raise AssertionError("somebody starved")


# The limiter on an event loop.


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
