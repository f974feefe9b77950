"""How fast one model is asked with one key: fewer requests at once when the provider refuses some, then again more."""

import math

from coupled_arena.models.limits.gates import Need, Share
from coupled_arena.models.limits.waits import backoff

PATIENT = 2
"""Refusals in a row after which a stated wait is no longer believed alone: the back-off is waited at least."""

REFUSED = "the provider refused requests that came too fast"
"""Why a request waits whose lane is paused."""


class Lane:
    """Requests in flight to one model at one address with one key, bounded once the provider refuses any; a gate.

    Additive increase, multiplicative decrease (Chiu and Jain, 1989, "Analysis of the increase and decrease algorithms
    for congestion avoidance in computer networks", section 4): a refusal halves how many may be in flight, at most once
    per round trip, so that a burst of refusals counts once; an answer while that many are in flight adds one over their
    number. A refusal also pauses the whole lane, for as long as the provider states, else for a back-off that doubles
    with every refusal in a row.

    Example:
        >>> lane = Lane()
        >>> for _ in range(8):
        ...     _ = lane.enter(0.0)
        >>> lane.refused(now=1.0, sent=0.0, stated=7.0, jitter=0.0)
        7.0
        >>> lane.window, lane.opens(1.0)
        (4.0, 8.0)
    """

    def __init__(self) -> None:
        self.window = math.inf
        """How many requests may be in flight, at least 1; boundless until the first refusal."""
        self.in_flight = 0
        """How many are."""
        self.paused_until = -math.inf
        """The moment before which nothing more is sent, in seconds."""
        self._refusals = 0
        self._cut = -math.inf

    def opens(self, now: float, tokens: int = 0, ahead: Need = Need()) -> float:  # noqa: B008 (it cannot change)
        """Return when the pause is over; then infinity while as many are in flight as may be."""
        if self.paused_until > now:
            return self.paused_until
        return now if self.in_flight + ahead.requests + 1 <= self.window else math.inf

    def why(self, now: float, tokens: int = 0) -> str:
        """Return that the provider refuses."""
        return REFUSED

    def enter(self, now: float, tokens: int = 0) -> Share:
        """Count a request that is sent."""
        self.in_flight += 1
        return Share()

    def leave(self) -> None:
        """Count a request that is over, whatever came of it."""
        self.in_flight -= 1

    def answered(self) -> None:
        """Note an answer, before the request leaves."""
        self._refusals = 0
        if self.in_flight + 1 > self.window:
            self.window += 1 / self.window

    def refused(self, *, now: float, sent: float, stated: float | None, jitter: float) -> float:
        """Note a refusal, before the request leaves; return for how many seconds the lane is paused from now on.

        Args:
            now: the present, in seconds.
            sent: when the refused request was sent.
            stated: seconds that the provider asks to wait, if it does.
            jitter: uniform in [0, 1), spreads the waits.
        """
        if sent > self._cut:
            self._refusals += 1
            self.window = max(1.0, min(self.window, self.in_flight) / 2)
            self._cut = now
        own = backoff(max(1, self._refusals), jitter)
        wait = own if stated is None else stated + jitter / 4
        if self._refusals > PATIENT:
            wait = max(wait, own)
        self.paused_until = max(self.paused_until, now + wait)
        return self.paused_until - now
