"""The queue in front of the engines: one piece of work at a time in this process.

Engines work in a thread of their own, so that an event loop is never blocked. Of the pieces that wait, the one that can
reuse most goes first; replies do not depend on the order.
"""

import math
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T")

PATIENCE = 64
"""A piece of work that was passed over this often goes next."""


@dataclass(slots=True)
class _Piece:
    work: Callable[[], Any]
    rank: Callable[[], float]
    future: Future[Any] = field(default_factory=Future)
    passed: int = 0


class ComputeQueue:
    """Does pieces of work one after another in one thread, which lives as long as there is any."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: list[_Piece] = []
        self._busy = False

    def submit(self, work: Callable[[], T], rank: Callable[[], float] = lambda: 0.0) -> "Future[T]":
        """Have a piece of work done.

        Args:
            work: what to do; its result or exception becomes the future's.
            rank: asked in the working thread before every choice of what to do next; the highest goes first, equals in
                the order of their arrival. Work whose rank raises goes first too, and shows what is wrong.

        Returns:
            A future; cancelling it withdraws work that has not begun.
        """
        piece = _Piece(work, rank)
        with self._lock:
            self._waiting.append(piece)
            if not self._busy:
                self._busy = True
                threading.Thread(target=self._run, name="coupled-arena-compute", daemon=True).start()
        return piece.future

    def _run(self) -> None:
        while (piece := self._next()) is not None:
            if not piece.future.set_running_or_notify_cancel():
                continue
            try:
                result = piece.work()
            except BaseException as error:  # noqa: BLE001 - whatever it is, it belongs to whoever waits
                piece.future.set_exception(error)
            else:
                piece.future.set_result(result)

    def _next(self) -> _Piece | None:
        with self._lock:
            waiting = list(self._waiting)
            if not waiting:
                self._busy = False
                return None
        # Outside the lock, since a rank may take a while and must not hold up the event loop.
        best = next((piece for piece in waiting if piece.passed >= PATIENCE), None)
        if best is None:
            best = waiting[0] if len(waiting) == 1 else max(waiting, key=_rank)
        with self._lock:
            self._waiting.remove(best)
        for piece in waiting[: waiting.index(best)]:
            piece.passed += 1
        return best


def _rank(piece: _Piece) -> float:
    try:
        return piece.rank()
    except Exception:  # noqa: BLE001 - the queue serves everybody, and must outlive one caller's mistake
        return math.inf


QUEUE = ComputeQueue()
"""The queue of this process."""
