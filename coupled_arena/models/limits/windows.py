"""Exact sliding windows: how much was taken in the last minute, and when more may be."""

from collections import deque
from dataclasses import dataclass

SPAN = 60.0
"""Seconds that a window looks back."""


@dataclass(slots=True, eq=False)
class Taken:
    """One amount out of a window."""

    window: "SlidingWindow"
    """Where it was taken."""
    at: float
    """When, in seconds."""
    amount: int
    """How much."""
    counted: bool = True
    """Whether the window still counts it."""

    def become(self, amount: int) -> None:
        """Correct the amount to what it turned out to be; one that no longer counts stays forgotten."""
        if self.counted:
            self.window.total += amount - self.amount
        self.amount = amount


class SlidingWindow:
    """Amounts taken over time, of which every half-open span of 60 seconds may hold at most `limit`.

    It is exact, not a bucket that refills: the moments of all amounts are kept for as long as they count. An amount
    above the limit is let in when nothing else counts, so that it is slow rather than stuck. Times never go backwards.

    Example:
        >>> window = SlidingWindow(2)
        >>> for now in (0.0, 10.0):
        ...     _ = window.take(now, 1)
        >>> window.opens(20.0, 1), window.opens(60.0, 1)
        (60.0, 60.0)
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        """Most that any span may hold."""
        self.total = 0
        """What counts now."""
        self._taken: deque[Taken] = deque()

    def opens(self, now: float, amount: int, ahead: int = 0) -> float:
        """Return the moment from which an amount fits: `now`, or a later one before which it certainly does not.

        Args:
            now: the present, in seconds.
            amount: how much is asked for.
            ahead: how much others will take before it.
        """
        self._forget(now)
        excess = self.total + ahead + amount - self.limit
        if excess <= 0 or not (self.total or ahead):
            return now
        for taken in self._taken:
            excess -= taken.amount
            if excess <= 0:
                return taken.at + SPAN
        return self._taken[-1].at + SPAN if self._taken else now + SPAN

    def take(self, now: float, amount: int) -> Taken:
        """Take an amount, whether it fits or not."""
        self._forget(now)
        taken = Taken(self, now, amount)
        self._taken.append(taken)
        self.total += amount
        return taken

    def _forget(self, now: float) -> None:
        while self._taken and self._taken[0].at + SPAN <= now:
            oldest = self._taken.popleft()
            oldest.counted = False
            self.total -= oldest.amount
