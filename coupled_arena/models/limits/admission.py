"""Who may send next: requests wait in line for every limit that holds for them. Pure bookkeeping, no event loop."""

import heapq
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from coupled_arena.models.limits.gates import Gate, Need, Quota, Share
from coupled_arena.models.limits.lanes import Lane
from coupled_arena.models.limits.limit import Limit, patterns_for


class Destination(NamedTuple):
    """What requests are sent to; equal ones share a lane."""

    model: str
    """Model string."""
    address: str = ""
    """Address of the provider, empty for LiteLLM's default."""
    variable: str = ""
    """Environment variable of the key, empty for LiteLLM's default."""


@dataclass(slots=True, eq=False)
class Ticket:
    """One request's place in line, and what it holds once it is let in."""

    number: int
    """Its place: lower numbers go first."""
    tokens: int
    """How many tokens it is taken to read and write."""
    route: "Route"
    """What it waits for."""
    waiting: bool = True
    """Whether it stands in line."""
    sent: float | None = None
    """When it was let in, in seconds; None before."""
    shares: tuple[Share, ...] = ()
    """What it took out of windows."""


class Route:
    """The line of one destination, and the gates on its way: the lane first, then quotas, the widest last."""

    def __init__(self, lane: Lane, quotas: Sequence[Quota]) -> None:
        self.lane = lane
        """Slows down when the provider refuses."""
        self.gates: tuple[Gate, ...] = (lane, *quotas)
        """What every request passes, in this order."""
        self.held_by: Gate | None = None
        """The gate that holds its first request up, as of the last `admit`."""
        self.held_until = -math.inf
        """Until when at least, in seconds; infinity where only another request's end can let it through."""
        self._line: list[tuple[int, int, Ticket]] = []
        self._joined = 0

    def join(self, ticket: Ticket) -> None:
        """Put a ticket in line, by its number."""
        self._joined += 1
        heapq.heappush(self._line, (ticket.number, self._joined, ticket))

    def first(self) -> Ticket | None:
        """Return the first ticket in line, None where nobody waits."""
        while self._line and not self._line[0][-1].waiting:
            heapq.heappop(self._line)
        return self._line[0][-1] if self._line else None


class Admission:
    """Decides which waiting requests may be sent, in order of arrival.

    A request is let in when all its gates let it through, and takes nothing before. Whoever is held up at a gate keeps
    its place there: no later request passes that gate, and at the gates before it what the held-up one needs is kept
    free; gates behind it are open to others. So a slow model holds up nobody who does not share what it waits for, and
    everybody gets through: what holds the oldest request up can only move on along its route.

    Example:
        >>> admission = Admission({"openai/*": Limit(concurrency=1)})
        >>> first = admission.join(Destination("openai/mini"), 1, tokens=10)
        >>> second = admission.join(Destination("openai/large"), 2, tokens=10)
        >>> [ticket.number for ticket in admission.admit(0.0)]
        [1]
        >>> admission.leave(first)
        >>> [ticket.number for ticket in admission.admit(0.5)]
        [2]
    """

    def __init__(self, limits: Mapping[str, Limit]) -> None:
        self.opens = math.inf
        """The next moment at which a waiting request may go without another one's end, as of the last `admit`."""
        self._limits = dict(limits)
        self._quotas = {pattern: Quota(pattern, limit) for pattern, limit in self._limits.items()}
        self._routes: dict[Destination, Route] = {}

    def join(self, destination: Destination, number: int, *, tokens: int) -> Ticket:
        """Put a request in line.

        Args:
            destination: what it is sent to.
            number: its place, that of its call, so that a repeated request does not go to the end of the line.
            tokens: how many tokens it is taken to read and write.
        """
        route = self._routes.get(destination)
        if route is None:
            quotas = [self._quotas[pattern] for pattern in patterns_for(destination.model, self._limits)]
            route = self._routes[destination] = Route(Lane(), quotas)
        ticket = Ticket(number, tokens, route)
        route.join(ticket)
        return ticket

    def admit(self, now: float) -> list[Ticket]:
        """Let in whoever may go; return them in order."""
        admitted: list[Ticket] = []
        kept: dict[Gate, Need] = {}
        closed: dict[Gate, float] = {}
        heads = [(ticket.number, place, ticket) for place, ticket in enumerate(self.heads())]
        heapq.heapify(heads)
        self.opens = math.inf
        while heads:
            _, place, ticket = heads[0]
            if self._passes(ticket, now, kept, closed):
                ticket.waiting, ticket.sent = False, now
                ticket.shares = tuple(gate.enter(now, ticket.tokens) for gate in ticket.route.gates)
                admitted.append(ticket)
                following = ticket.route.first()
                if following is not None:
                    heapq.heapreplace(heads, (following.number, place, following))
                    continue
            heapq.heappop(heads)
        return admitted

    def heads(self) -> list[Ticket]:
        """Return the first ticket of every line."""
        return [ticket for route in self._routes.values() if (ticket := route.first()) is not None]

    def leave(self, ticket: Ticket, used: int | None = None) -> None:
        """Note that a request that was let in is over; what it sent stays counted.

        Args:
            ticket: the request's.
            used: tokens that it read and wrote; None leaves what it was taken to need.
        """
        for share in ticket.shares:
            if share.tokens is not None and used is not None:
                share.tokens.become(used)
        for gate in ticket.route.gates:
            gate.leave()

    def withdraw(self, ticket: Ticket) -> None:
        """Take a request back that was not sent: out of the line, or with all that it took."""
        ticket.waiting = False
        if ticket.sent is not None:
            for share in ticket.shares:
                for taken in share:
                    if taken is not None:
                        taken.become(0)
            self.leave(ticket)

    def _passes(self, ticket: Ticket, now: float, kept: dict[Gate, Need], closed: dict[Gate, float]) -> bool:
        """Return whether all gates let a ticket through; if not, keep its place at the one that does not."""
        route = ticket.route
        for place, gate in enumerate(route.gates):
            opens = max(closed.get(gate, now), gate.opens(now, ticket.tokens, kept.get(gate, Need())))
            if opens > now:
                closed[gate] = route.held_until = opens
                route.held_by = gate
                self.opens = min(self.opens, opens)
                for before in route.gates[:place]:
                    kept[before] = kept.get(before, Need()).plus(ticket.tokens)
                return False
        return True
