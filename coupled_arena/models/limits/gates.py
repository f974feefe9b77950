"""What a request has to pass before it is sent, and the user's limits as one of them."""

import math
from typing import NamedTuple, Protocol

from coupled_arena.models.limits.limit import Limit
from coupled_arena.models.limits.windows import SlidingWindow, Taken


class Need(NamedTuple):
    """Requests and the tokens they read and write."""

    requests: int = 0
    """How many requests."""
    tokens: int = 0
    """How many tokens."""

    def plus(self, tokens: int) -> "Need":
        """Return this and one more request of so many tokens."""
        return Need(self.requests + 1, self.tokens + tokens)


class Share(NamedTuple):
    """What one request took out of a gate's windows."""

    request: Taken | None = None
    """The request, where requests a minute are bounded."""
    tokens: Taken | None = None
    """Its tokens, where tokens a minute are bounded."""


class Gate(Protocol):
    """One thing that lets requests through or holds them up."""

    def opens(self, now: float, tokens: int, ahead: Need) -> float:
        """Return from when a request may pass behind others: `now`, later, or infinity until another one ends."""
        ...

    def why(self, now: float, tokens: int) -> str:
        """Return why a request is held up."""
        ...

    def enter(self, now: float, tokens: int) -> Share:
        """Let a request through."""
        ...

    def leave(self) -> None:
        """Note that a request that was let through is over; what was sent stays sent."""
        ...


class Quota:
    """A user's limit, shared by all models that its pattern fits.

    Example:
        >>> quota = Quota("openai/*", Limit(requests_per_minute=1))
        >>> _ = quota.enter(0.0, tokens=10)
        >>> quota.opens(5.0, 10, Need()), quota.why(5.0, 10)
        (60.0, 'requests_per_minute = 1 of openai/*')
    """

    def __init__(self, pattern: str, limit: Limit) -> None:
        self.pattern = pattern
        """Of the model strings."""
        self.limit = limit
        """What may be sent."""
        self.in_flight = 0
        """Requests that are."""
        self._requests = None if limit.requests_per_minute is None else SlidingWindow(limit.requests_per_minute)
        self._tokens = None if limit.tokens_per_minute is None else SlidingWindow(limit.tokens_per_minute)

    def opens(self, now: float, tokens: int, ahead: Need) -> float:
        """Return when the limit allows one more request of so many tokens."""
        opens = now
        if self._requests is not None:
            opens = self._requests.opens(now, 1, ahead.requests)
        if self._tokens is not None:
            opens = max(opens, self._tokens.opens(now, tokens, ahead.tokens))
        most = self.limit.concurrency
        return math.inf if opens <= now and most is not None and self.in_flight + ahead.requests >= most else opens

    def why(self, now: float, tokens: int) -> str:
        """Return the rate that is used up."""
        if self._requests is not None and self._requests.opens(now, 1) > now:
            return f"requests_per_minute = {self._requests.limit} of {self.pattern}"
        if self._tokens is not None and self._tokens.opens(now, tokens) > now:
            return f"tokens_per_minute = {self._tokens.limit} of {self.pattern}"
        return f"the limits of {self.pattern}"

    def enter(self, now: float, tokens: int) -> Share:
        """Take a slot, a request and its tokens."""
        self.in_flight += 1
        return Share(
            None if self._requests is None else self._requests.take(now, 1),
            None if self._tokens is None else self._tokens.take(now, tokens),
        )

    def leave(self) -> None:
        """Give the slot back."""
        self.in_flight -= 1
