"""Who is worked on when, with engines that have no weights."""

from collections.abc import Callable
from concurrent.futures import CancelledError
from pathlib import Path

import pytest

from coupled_arena.coupling import Sampling
from coupled_arena.errors import EngineFault, ModelUnavailable
from coupled_arena.models.calls import Call, Message, Reply
from coupled_arena.models.local.answers import Answer
from coupled_arena.models.local.canonical import CUT
from coupled_arena.models.local.compute import ComputeQueue
from coupled_arena.models.local.engine import Logits
from coupled_arena.models.local.prefixes import PrefixCache
from coupled_arena.models.local.requests import Request
from coupled_arena.models.local.room import Room
from coupled_arena.models.local.scheduler import PATIENCE, PORTIONS, Scheduler
from coupled_arena.models.local.shelf import Shelf
from coupled_arena.models.local.spelling import Emit
from coupled_arena.models.model import Model
from tests.local_fixtures import FakeEngine

ONE, OTHER = Path("one"), Path("other")
CAPACITY = 8 * 1024


class Scene:
    """A scheduler that is stepped by hand; every model is charged 1 of `budget`."""

    def __init__(self, *, budget: int = 1, joint: bool = True, limit: int = 1 << 20) -> None:
        self.engines: list[tuple[Path, FakeEngine]] = []
        self.joint = joint
        self.limit = limit
        self.scheduler = Scheduler(Shelf(budget, lambda path: 1, self.load), _Still())

    def load(self, path: Path, charge: int) -> Room:
        engine = FakeEngine(context=4096)
        engine.endless = True
        self.engines.append((path, engine))
        return Room(engine, PrefixCache(self.limit, CUT), capacity=CAPACITY, charge=charge, joint=self.joint)

    @property
    def engine(self) -> FakeEngine:
        return self.engines[-1][1]

    def ask(
        self,
        content: str,
        path: Path = ONE,
        *,
        tokens: int = 8,
        key: int = 0,
        emit: Emit | None = None,
    ) -> Request:
        noise = key.to_bytes(16, "little")
        call = Call(Model("local/tiny"), (Message("user", content),), Sampling(1.0, top_k=5), tokens, noise)
        request = Request(path, Answer(call, emit))
        self.scheduler.submit(request)
        return request

    def finish(self, limit: int = 10_000) -> None:
        for _ in range(limit):
            if not self.scheduler.step():
                return
        raise AssertionError("there is no end")


class _Still(ComputeQueue):
    """Does nothing by itself."""

    def submit(self, work: Callable[[], object]) -> None:  # type: ignore[override]
        return None


def replies(requests: list[Request]) -> list[Reply]:
    return [request.future.result(0) for request in requests]


def alone(content: str, key: int, tokens: int = 8) -> Reply:
    scene = Scene(limit=0)
    request = scene.ask(content, key=key, tokens=tokens)
    scene.finish()
    return request.future.result(0)


CONTENTS = ["abc" * size for size in (1, 3, 20, 40, 70, 130, 3, 20, 40, 70)]


@pytest.mark.parametrize("joint", [True, False])
def test_replies_are_the_same_together_as_alone(joint: bool) -> None:
    scene = Scene(joint=joint)
    requests = [scene.ask(content, key=key, tokens=4 + key) for key, content in enumerate(CONTENTS)]
    scene.finish()
    assert replies(requests) == [alone(content, key, 4 + key) for key, content in enumerate(CONTENTS)]
    assert max(map(len, scene.engine.batches)) == (8 if joint else 1)


def test_requests_that_come_at_any_time_change_nothing() -> None:
    scene = Scene()
    requests = []
    for key, content in enumerate(CONTENTS):
        requests.append(scene.ask(content, key=key, tokens=12))
        for _ in range(key % 4):
            scene.scheduler.step()
    scene.finish()
    assert replies(requests) == [alone(content, key, 12) for key, content in enumerate(CONTENTS)]


def test_replies_go_on_between_the_portions_of_a_long_prompt() -> None:
    scene = Scene()
    scene.ask("a", tokens=60)
    scene.scheduler.step()
    scene.ask("abc" * 400)
    before = len(scene.engine.portions)
    scene.scheduler.step()
    scene.scheduler.step()
    assert scene.engine.portions[before:] == 2 * [*[CUT] * PORTIONS, 1]


def test_replies_lie_in_adjacent_sequences_whoever_leaves() -> None:
    scene = Scene()
    requests = [scene.ask("ab", key=key, tokens=3 + 5 * (key % 3)) for key in range(8)]
    scene.finish()
    full = [batch for batch in scene.engine.batches if len(batch) > 1]
    assert len(full) > 5
    assert all(batch[-1] - batch[0] + 1 == len(batch) for batch in full)
    assert replies(requests) == [alone("ab", key, 3 + 5 * (key % 3)) for key in range(8)]


def test_a_prompt_that_begins_with_something_kept_goes_first() -> None:
    scene = Scene()
    scene.ask("abc" * 100)
    scene.finish()
    order: list[str] = []
    for name, content in (("cold", "ccc" * 100), ("warm", "abc" * 100 + "c")):
        scene.ask(content).future.add_done_callback(lambda _, name=name: order.append(name))  # type: ignore[misc]
    portions = len(scene.engine.portions)
    scene.finish()
    assert scene.engine.portions[portions] < CUT
    assert sorted(order) == ["cold", "warm"]


def test_replicates_of_one_prompt_evaluate_it_once() -> None:
    scene = Scene()
    requests = [scene.ask("c" * 200, key=key) for key in range(6)]
    scene.finish()
    assert [portion for portion in scene.engine.portions if portion > 1] == [CUT, CUT, CUT, 9]
    assert len({reply.text for reply in replies(requests)}) > 1


def test_a_longer_prompt_is_given_a_longer_sequence_and_the_others_keep_theirs() -> None:
    scene = Scene()
    short = [scene.ask("ab", key=key, tokens=30) for key in range(3)]
    scene.scheduler.step()
    long = scene.ask("c" * 2000, tokens=4)
    scene.finish()
    assert [shape.length for shape in scene.engine.shapes] == [1024, 2048]
    assert replies([*short, long]) == [*(alone("ab", key, 30) for key in range(3)), alone("c" * 2000, 0, 4)]


def test_more_requests_than_sequences_wait_and_are_all_answered() -> None:
    scene = Scene()
    requests = [scene.ask("c" * 2000, key=key, tokens=3) for key in range(9)]
    scene.finish()
    assert max(shape.width for shape in scene.engine.shapes) == 4
    assert len(replies(requests)) == 9


def test_a_model_at_work_is_not_unloaded_and_a_waiting_one_is_not_forgotten() -> None:
    scene = Scene()
    first = scene.ask("ab", tokens=20)
    scene.scheduler.step()
    second = scene.ask("ab", OTHER)
    for _ in range(3):
        scene.scheduler.step()
    assert not scene.engine.closed
    scene.finish()
    assert [path for path, _ in scene.engines] == [ONE, OTHER]
    assert scene.engines[0][1].closed
    assert first.future.done()
    assert second.future.done()


def test_a_stream_of_requests_for_one_model_does_not_starve_another() -> None:
    scene = Scene()
    served = [scene.ask("ab", key=key) for key in range(8)]
    starved = scene.ask("ab", OTHER)
    while not starved.future.done():
        served += [scene.ask("ab", key=len(served) + more) for more in range(8)]
        scene.scheduler.step()
        assert len(served) < 40 * PATIENCE
    assert [path for path, _ in scene.engines] == [ONE, OTHER]
    assert PATIENCE - 32 <= sum(request.future.done() for request in served) <= PATIENCE + 32
    scene.finish()
    assert all(request.future.done() for request in served)


def test_models_that_fit_together_work_together() -> None:
    scene = Scene(budget=2)
    requests = [scene.ask("ab", path, tokens=20) for path in (ONE, OTHER)]
    for _ in range(4):
        scene.scheduler.step()
    assert [len(engine.batches) for _, engine in scene.engines] == [4, 4]
    scene.finish()
    assert all(request.future.done() for request in requests)


def test_a_fault_fails_those_it_met_and_nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene(budget=2)
    broken = [scene.ask("ab", tokens=40, key=key) for key in range(2)]
    spared = scene.ask("ab", OTHER, tokens=40)
    for _ in range(3):
        scene.scheduler.step()
    engine = scene.engines[0][1]
    assert scene.engines[0][0] == ONE

    def fail(*_: object) -> list[Logits]:
        raise EngineFault("status -3")

    monkeypatch.setattr(engine, "decode", fail)
    later = scene.ask("abc", key=7)
    scene.finish()
    for request in broken:
        with pytest.raises(EngineFault, match="status -3"):
            request.future.result(0)
    assert engine.closed
    assert spared.future.result(0) == alone("ab", 0, 40)
    assert isinstance(later.future.exception(0) or later.future.result(0), EngineFault | Reply)


def test_a_withdrawn_request_frees_its_sequence_at_the_next_step() -> None:
    scene = Scene()
    withdrawn = [scene.ask("c" * 2000, key=key, tokens=50) for key in range(4)]
    waiting = scene.ask("c" * 2000, key=9, tokens=5)
    for _ in range(40):
        scene.scheduler.step()
    assert not waiting.future.done()
    for request in withdrawn:
        request.withdrawn.set()
    scene.finish(60)
    assert waiting.future.result(0) == alone("c" * 2000, 9, 5)
    for request in withdrawn:
        with pytest.raises(ModelUnavailable, match="given up"):
            request.future.result(0)


def test_a_request_cancelled_before_it_was_taken_in_is_never_begun() -> None:
    scene = Scene()
    request = scene.ask("ab")
    assert request.future.cancel()
    scene.finish()
    assert scene.engines == []
    with pytest.raises(CancelledError):
        request.future.result(0)


def test_clearing_gives_up_everything_and_unloads() -> None:
    scene = Scene()
    active, waiting = scene.ask("ab", tokens=40), scene.ask("ab", OTHER)
    for _ in range(2):
        scene.scheduler.step()
    late = scene.ask("ab")
    scene.scheduler.clear()
    assert scene.engine.closed
    for request in (active, waiting, late):
        with pytest.raises(ModelUnavailable, match="given up"):
            request.future.result(0)
    assert not scene.scheduler.step()


def test_a_listener_that_fails_harms_only_its_own_reply() -> None:
    def emit(piece: str) -> None:
        raise RuntimeError(piece)

    scene = Scene()
    heard, other = scene.ask("ab", emit=emit, key=2), scene.ask("ab", key=3)
    scene.finish()
    with pytest.raises(RuntimeError):
        heard.future.result(0)
    assert other.future.result(0) == alone("ab", 3)
