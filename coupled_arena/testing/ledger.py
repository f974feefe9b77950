"""What the fake provider remembers of the requests it received; bounded, and safe to read from another thread."""

import threading
from collections import Counter, OrderedDict, deque
from collections.abc import Mapping

from coupled_arena.testing.request import Request

CALLS = 10_000
"""Calls whose attempts are counted; the ones not heard of for longest are forgotten."""


class Ledger:
    """The last requests, how often each call came, and how many answers of each kind were given.

    Args:
        keep: most requests to keep.
    """

    def __init__(self, keep: int) -> None:
        self._lock = threading.Lock()
        self._requests: deque[Request] = deque(maxlen=keep)
        self._attempts: OrderedDict[bytes, int] = OrderedDict()
        self._counts: Counter[tuple[str, int]] = Counter()
        self._received = 0
        self._in_flight = 0
        self._most_in_flight = 0

    def arrive(self, call: bytes) -> tuple[int, int]:
        """Count a request; return how many came before it, and the attempt of its call."""
        with self._lock:
            number = self._received
            self._received += 1
            attempt = self._attempts[call] = self._attempts.pop(call, 0) + 1
            if len(self._attempts) > CALLS:
                self._attempts.popitem(last=False)
            self._in_flight += 1
            self._most_in_flight = max(self._most_in_flight, self._in_flight)
        return number, attempt

    def leave(self) -> None:
        """Note that a request is no longer in flight."""
        with self._lock:
            self._in_flight -= 1

    def keep(self, request: Request) -> None:
        """Keep a request."""
        with self._lock:
            self._requests.append(request)

    def count(self, model: str, status: int) -> None:
        """Count an answer before it is sent, so that a client that has it finds it counted."""
        with self._lock:
            self._counts[model, status] += 1

    def clear(self) -> None:
        """Forget everything but the requests in flight."""
        with self._lock:
            self._requests.clear()
            self._attempts.clear()
            self._counts.clear()
            self._received = 0
            self._most_in_flight = self._in_flight

    @property
    def requests(self) -> tuple[Request, ...]:
        """The requests kept, oldest first."""
        with self._lock:
            return tuple(self._requests)

    @property
    def counts(self) -> Mapping[tuple[str, int], int]:
        """Answers by model and status."""
        with self._lock:
            return dict(sorted(self._counts.items()))

    @property
    def received(self) -> int:
        """How many requests have come."""
        return self._received

    @property
    def most_in_flight(self) -> int:
        """Most requests that were in flight at once."""
        return self._most_in_flight
