import threading
from concurrent.futures import Future
from functools import partial

import pytest

from coupled_arena.models.local.compute import ComputeQueue


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


def test_work_is_done_in_the_order_of_its_arrival() -> None:
    queue, done = ComputeQueue(), list[int]()
    gate = Gate(queue)
    futures = [queue.submit(partial(done.append, number)) for number in range(20)]
    gate.open()
    for future in futures:
        future.result(10)
    assert done == list(range(20))


def test_work_that_submits_more_lets_others_in_between() -> None:
    queue, done = ComputeQueue(), list[str]()
    gate = Gate(queue)

    def again(name: str, times: int) -> None:
        done.append(name)
        if times > 1:
            queue.submit(partial(again, name, times - 1))

    for name in ("one", "other"):
        queue.submit(partial(again, name, 3))
    gate.open()
    while queue.submit(lambda: len(done)).result(10) < 6:
        pass
    assert done == ["one", "other"] * 3


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
