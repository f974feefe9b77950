"""The queue in front of the engines: one piece of work at a time in this process.

Engines work in a thread of their own, so that an event loop is never blocked. Pieces are short, a step of a batch or
the loading of a model, so that whoever shares the queue takes turns.
"""

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass(slots=True)
class _Piece:
    work: Callable[[], Any]
    future: Future[Any] = field(default_factory=Future)


class ComputeQueue:
    """Does pieces of work one after another in one thread, which lives as long as there is any."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: deque[_Piece] = deque()
        self._busy = False

    def submit(self, work: Callable[[], T]) -> "Future[T]":
        """Have a piece of work done, after all that were submitted before.

        Args:
            work: what to do; its result or exception becomes the future's. It may submit more.

        Returns:
            A future; cancelling it withdraws work that has not begun.
        """
        piece = _Piece(work)
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
            if not self._waiting:
                self._busy = False
                return None
            return self._waiting.popleft()


QUEUE = ComputeQueue()
"""The queue of this process."""
