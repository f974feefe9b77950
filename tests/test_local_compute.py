import threading
from concurrent.futures import Future
from functools import partial

import pytest

from coupled_arena.models.local.compute import PATIENCE, ComputeQueue


class Gate:
    """Keeps the queue busy until everything else is waiting."""

    def __init__(self, queue: ComputeQueue) -> None:
        self._opened, self._entered = threading.Event(), threading.Event()
        self.future = queue.submit(self._wait)
        assert self._entered.wait(10)

    def _wait(self) -> None:
        self._entered.set()
        assert self._opened.wait(10)

    def open(self) -> None:
        self._opened.set()


def test_the_highest_rank_goes_first_and_equals_in_the_order_of_arrival() -> None:
    queue, done = ComputeQueue(), list[str]()
    gate = Gate(queue)
    ranks = {"cold": 0, "warm": 128, "unloaded": -1, "warm too": 128, "cold too": 0}
    futures = [queue.submit(partial(done.append, name), partial(float, rank)) for name, rank in ranks.items()]
    gate.open()
    for future in futures:
        future.result(10)
    assert done == ["warm", "warm too", "cold", "cold too", "unloaded"]


def test_ranks_are_asked_again_before_every_choice() -> None:
    queue, done = ComputeQueue(), list[str]()
    gate = Gate(queue)
    first = queue.submit(lambda: done.append("first"), lambda: 2.0)
    slow = queue.submit(lambda: done.append("slow"), lambda: 1.0)
    warmed = queue.submit(lambda: done.append("warmed by the first"), lambda: 3.0 if done else 0.0)
    gate.open()
    for future in (first, slow, warmed):
        future.result(10)
    assert done == ["first", "warmed by the first", "slow"]


def test_nothing_is_passed_over_for_ever() -> None:
    queue, done = ComputeQueue(), list[int]()
    gate = Gate(queue)
    patient = queue.submit(lambda: done.append(-1), lambda: 0.0)
    others = [queue.submit(partial(done.append, i), lambda: 1.0) for i in range(PATIENCE + 10)]
    gate.open()
    for future in (patient, *others):
        future.result(10)
    assert done.index(-1) == PATIENCE


def test_work_is_done_one_at_a_time_away_from_the_caller() -> None:
    queue, inside, threads = ComputeQueue(), list[int](), set[int]()

    def work() -> None:
        inside.append(1)
        assert sum(inside) == 1
        threads.add(threading.get_ident())
        inside.append(-1)

    for future in [queue.submit(work) for _ in range(50)]:
        future.result(10)
    assert threading.get_ident() not in threads


def test_an_exception_belongs_to_whoever_waits() -> None:
    queue = ComputeQueue()
    failing: Future[int] = queue.submit(lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        failing.result(10)
    assert queue.submit(lambda: 7).result(10) == 7


def test_a_rank_that_raises_does_not_stop_the_queue() -> None:
    queue = ComputeQueue()
    gate = Gate(queue)
    broken = queue.submit(lambda: "done", lambda: 1 / 0)
    other = queue.submit(lambda: "done too")
    gate.open()
    assert (broken.result(10), other.result(10)) == ("done", "done too")


def test_withdrawn_work_is_never_begun() -> None:
    queue, done = ComputeQueue(), list[str]()
    gate = Gate(queue)
    withdrawn = queue.submit(lambda: done.append("withdrawn"))
    last = queue.submit(lambda: done.append("last"))
    assert withdrawn.cancel()
    gate.open()
    last.result(10)
    assert done == ["last"]


def test_the_thread_ends_with_the_work() -> None:
    queue = ComputeQueue()
    thread = queue.submit(threading.current_thread).result(10)
    thread.join(10)
    assert not thread.is_alive()
    assert queue.submit(lambda: 7).result(10) == 7
