"""Who is worked on next: requests wait here until their model has a sequence for them.

Requests whose prompt begins with something that is kept go first, those whose model is not loaded last; one that was
passed over often enough goes before all others, and nobody overtakes it while it waits for memory or for a sequence.
Replies do not depend on the order.
"""

import math
import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path

from coupled_arena.models.local.compute import ComputeQueue
from coupled_arena.models.local.requests import Request
from coupled_arena.models.local.room import Room
from coupled_arena.models.local.shelf import Shelf

PATIENCE = 64
"""A request that was passed over this often goes next."""

PORTIONS = 4
"""Most portions of prompts evaluated for a model between two tokens of its replies."""

_UNLOADED = -1.0
"""Rank of a request whose model is not loaded: after all others."""


class Scheduler:
    """Works on requests, a step at a time, in the thread of a queue.

    Args:
        shelf: the models.
        queue: gives the thread; others may share it, and take turns with every step.
    """

    def __init__(self, shelf: Shelf, queue: ComputeQueue) -> None:
        self._shelf = shelf
        self._queue = queue
        self._lock = threading.Lock()
        self._arrived: deque[Request] = deque()
        self._running = False
        self._waiting: list[Request] = []
        self._stuck: tuple[tuple[str, int, bool], ...] | None = None

    def submit(self, request: Request) -> None:
        """Have a request worked on; its future tells what came of it. Any thread may call this."""
        with self._lock:
            self._arrived.append(request)
            if not self._running:
                self._running = True
                self._queue.submit(self._turn)

    def clear(self) -> None:
        """Give up all requests and unload every model; to be called in the computing thread."""
        self._take_in()
        abandoned, self._waiting = self._waiting, []
        for path, _ in self._shelf:
            abandoned += self._shelf.drop(path)
        for request in abandoned:
            request.give_up()

    def step(self) -> bool:
        """Evaluate a few portions of prompts and write one token of every reply; return whether there is more to do."""
        for _ in range(PORTIONS):
            self._take_in()
            self._admit()
            prefilling = [path for path, room in self._shelf if room.prefilling]
            if not prefilling:
                break
            for path in prefilling:
                self._work(path, Room.prefill)
        for path, _ in self._shelf:
            self._work(path, Room.decode)
        return bool(self._waiting) or any(room.busy for _, room in self._shelf)

    def _turn(self) -> None:
        try:
            more = self.step()
        except BaseException as error:  # noqa: BLE001 - nobody may be left waiting for a thread that is gone
            self._fail(error)
            more = False
        with self._lock:
            self._running = more or bool(self._arrived)
            if self._running:
                self._queue.submit(self._turn)

    def _fail(self, error: BaseException) -> None:
        for path, _ in self._shelf:
            self._drop(path, error)
        for request in self._waiting:
            request.fail(error)
        self._waiting.clear()

    def _take_in(self) -> None:
        while self._arrived:
            request = self._arrived.popleft()
            if request.future.set_running_or_notify_cancel():
                self._waiting.append(request)
                self._stuck = None
        for request in [request for request in self._waiting if request.withdrawn.is_set()]:
            self._waiting.remove(request)
            request.give_up()
        for _, room in self._shelf:
            room.withdraw()

    def _work(self, path: Path, work: Callable[[Room], None]) -> None:
        """Have a model work; one that fails is unloaded, since what is left of it may be damaged."""
        room = self._shelf.peek(path)
        if room is None:
            return
        try:
            work(room)
        except Exception as error:  # noqa: BLE001 - it belongs to those who wait for this model, and to nobody else
            self._drop(path, error)

    def _drop(self, path: Path, error: BaseException) -> None:
        for request in self._shelf.drop(path):
            request.fail(error)

    def _admit(self) -> None:
        """Give one request a sequence, if one is to be had."""
        state = tuple(sorted((str(path), len(room), room.prefilling) for path, room in self._shelf))
        if not self._waiting or state == self._stuck:
            return
        for request in sorted(self._waiting, key=self._rank, reverse=True):
            if self._settle(request):
                place = self._waiting.index(request)
                for earlier in self._waiting[:place]:
                    earlier.passed += 1
                del self._waiting[place]
                return
            if request.passed >= PATIENCE:
                break
        self._stuck = state

    def _rank(self, request: Request) -> float:
        room = self._shelf.peek(request.path)
        if request.passed >= PATIENCE:
            return math.inf
        if room is None:
            return _UNLOADED
        try:
            return math.inf if request.prepare(room.engine) else float(room.shared(request))
        except Exception:  # noqa: BLE001 - it goes first, and `_settle` tells who waits for it what is wrong
            return math.inf

    def _settle(self, request: Request) -> bool:
        """Give a request a sequence, or an answer if it cannot have one; return whether it got either."""
        try:
            room = self._shelf.get(request.path)
            if room is None or room.prefilling:
                return False
            refusal = request.prepare(room.engine)
        except Exception as error:  # noqa: BLE001 - it belongs to whoever waits for this request
            request.fail(error)
            return True
        if refusal is not None:
            request.finish(refusal)
            return True
        others = sum(other.path == request.path for other in self._waiting) - 1
        try:
            return room.seat(request, others)
        except Exception as error:  # noqa: BLE001 - as in `_work`
            self._drop(request.path, error)
            request.fail(error)
            return True
