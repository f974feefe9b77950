"""Admission: in order, within every limit, nobody starved."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from coupled_arena.models.limits.admission import Admission, Destination, Ticket
from coupled_arena.models.limits.gates import Need, Quota
from coupled_arena.models.limits.lanes import REFUSED, Lane
from coupled_arena.models.limits.limit import Limit, patterns_for
from coupled_arena.models.limits.windows import SPAN

MINI, LARGE, OTHER = DESTINATIONS = (
    Destination("openai/mini"),
    Destination("openai/large"),
    Destination("anthropic/mini"),
)


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
    assert quota.opens(61.0, 1, Need()) == math.inf
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
