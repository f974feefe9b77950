"""How many threads an engine computes with: whichever of one and all is faster on this machine right now.

Two threads beside one busy neighbour on two cores are a hundred times slower than one thread, since every layer waits
for the slower of them; on an idle machine they are almost twice as fast. Logits do not depend on the number of threads.
"""

import os
import statistics
import time
from collections import deque
from collections.abc import Callable

STALL = 5.0
"""A step that takes this many times its median has the threads timed again."""

_STEPS = 4
"""Steps timed for each number of threads."""

_WINDOW = 64
_ENOUGH = 8
"""The median is taken over so many recent steps of a kind, and believed from so many on."""


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class ThreadChoice:
    """Keeps the faster of one thread and all cores.

    Args:
        fixed: a number of threads that is never changed, or None to time them.
        available: how many cores there are.
        clock: seconds, rising.
    """

    def __init__(
        self, fixed: int | None, available: int | None = None, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        self.threads = fixed or 1
        """Threads to compute with now."""
        self._candidates = () if fixed else tuple(sorted({1, available or cores()}))
        self._clock = clock
        self._recent: dict[str, deque[float]] = {}

    def measure(self, step: Callable[[int], None]) -> None:
        """Time a step under every number of threads and keep the fastest; `step` is told how many to use.

        A number of threads is given up as soon as it has taken longer than the best so far.
        """
        if len(self._candidates) < 2:
            return
        best = float("inf")
        for candidate in self._candidates:
            step(candidate)
            began = self._clock()
            for _ in range(_STEPS):
                step(candidate)
                if self._clock() - began >= best:
                    break
            else:
                best = self._clock() - began
                self.threads = candidate
        self._recent.clear()

    def stalled(self, kind: str, seconds: float) -> bool:
        """Note how long a step of a kind took; return whether the threads should be timed again."""
        if len(self._candidates) < 2:
            return False
        recent = self._recent.setdefault(kind, deque(maxlen=_WINDOW))
        known = len(recent) >= _ENOUGH
        slow = known and seconds >= STALL * statistics.median(recent)
        recent.append(seconds)
        return slow
