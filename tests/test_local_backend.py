import asyncio
import dataclasses
import threading
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from coupled_arena.coupling import Sampling
from coupled_arena.errors import ConfigurationError, EngineFault, ModelUnavailable
from coupled_arena.models.calls import Abilities, Call, Message, Reply
from coupled_arena.models.local.backend import LocalBackend
from coupled_arena.models.local.cache import ModelCache
from coupled_arena.models.local.chat import fragments, plain
from coupled_arena.models.local.compute import ComputeQueue
from coupled_arena.models.local.engine import Logits
from coupled_arena.models.local.settings import LocalSettings
from coupled_arena.models.local.threads import ThreadChoice
from coupled_arena.models.model import Model
from tests.local_fixtures import FakeEngine, write_model

pytest.importorskip("gguf", reason="needs the extra `local`")


class Engines:
    """Opens fake engines, and can make them fail or wait."""

    def __init__(self) -> None:
        self.opened: list[FakeEngine] = []
        self.fault: str = ""
        self.hold = threading.Event()
        self.hold.set()
        self.entered = threading.Event()

    def __call__(self, path: Path, context: int, threads: ThreadChoice) -> FakeEngine:
        engine = _Faulty(self, context)
        self.opened.append(engine)
        return engine


class _Faulty(FakeEngine):
    def __init__(self, engines: Engines, context: int) -> None:
        super().__init__(context=context)
        self._engines = engines

    def render(self, messages: Sequence[Message], prefix: str) -> list[int]:
        fragments(messages, prefix, plain, {})
        return super().render(messages, prefix)

    def _evaluate(self, sequence: int, tokens: Sequence[int], start: int) -> Logits:
        self._engines.entered.set()
        if not self._engines.hold.wait(10):
            raise TimeoutError
        if self._engines.fault:
            raise EngineFault(self._engines.fault)
        return super()._evaluate(sequence, tokens, start)


@pytest.fixture
def cache(tmp_path: Path) -> ModelCache:
    for name, fill in (("tiny", 1.0), ("other", 2.0)):
        write_model(tmp_path / f"{name}.gguf", context=512, fill=fill)
    return ModelCache(tmp_path)


@pytest.fixture
def engines() -> Engines:
    return Engines()


@pytest.fixture
async def backend(cache: ModelCache, engines: Engines) -> AsyncIterator[LocalBackend]:
    settings = LocalSettings(threads=1, context=400, cache_mb=1, memory_mb=100)
    backend = LocalBackend(settings, cache, queue=ComputeQueue(), open_engine=engines)
    yield backend
    engines.hold.set()
    await backend.aclose()
    assert all(engine.closed for engine in engines.opened)


def call(content: str = "abcab", *, model: str = "local/tiny", **settings: object) -> Call:
    plain = Call(Model(model), (Message("user", content),), Sampling(), 12, bytes(16))
    return dataclasses.replace(plain, **settings)  # type: ignore[arg-type]


def essence(reply: Reply) -> dict[str, object]:
    return reply.model_dump(exclude={"latency"})


async def test_nothing_is_loaded_to_say_what_a_model_is(backend: LocalBackend, engines: Engines) -> None:
    model = Model("local/tiny")
    backend.prepare([model])
    assert backend.abilities(model) == Abilities(continues=True, chooses=True, context=400)
    assert "sha256=" in backend.identity(model)
    assert engines.opened == []
    assert backend.loaded == ()


async def test_identity_tells_weights_apart_and_not_names(backend: LocalBackend, cache: ModelCache) -> None:
    tiny, other = (backend.identity(Model(f"local/{name}")) for name in ("tiny", "other"))
    again = backend.identity(Model("alias", f"local/{cache.folder / 'tiny.gguf'}"))
    variant = backend.identity(Model("local/tiny:q8_0"))
    assert tiny == again
    assert len({tiny, other, variant}) == 3


async def test_a_reply_does_not_depend_on_what_is_asked_beside_it(backend: LocalBackend) -> None:
    calls = [call("abc" * size, noise=size.to_bytes(16, "little")) for size in range(1, 80, 7)]
    alone = [essence(await backend.complete(one)) for one in calls]
    together = await asyncio.gather(*(backend.complete(one) for one in reversed(calls)))
    assert [essence(reply) for reply in reversed(together)] == alone
    assert {reply["outcome"] for reply in alone} <= {"ok", "truncated", "empty"}


async def test_models_are_loaded_when_first_asked_and_remembered_by_name(backend: LocalBackend) -> None:
    for name in ("tiny", "tiny", "other"):
        await backend.complete(call(model=f"local/{name}"))
    assert backend.loaded == ("tiny.gguf", "other.gguf")


async def test_the_dice_are_those_of_the_noise_key(backend: LocalBackend) -> None:
    replies = [await backend.complete(call(noise=bytes([key]) * 16)) for key in (1, 1, 2)]
    assert replies[0].text == replies[1].text != replies[2].text
    assert {reply.sharing for reply in replies} == {"shared"}
    greedy = await backend.complete(call(sampling=Sampling(temperature=0)))
    assert greedy.sharing == "deterministic"


async def test_a_prompt_beyond_the_context_fails_before_it_is_computed(backend: LocalBackend, engines: Engines) -> None:
    fits = await backend.complete(call("c" * 387))
    assert fits.outcome != "failed"
    evaluated = len(engines.opened[0].portions)
    reply = await backend.complete(call("c" * 388))
    assert (reply.outcome, reply.text) == ("failed", "")
    assert reply.detail == "the prompt has 389 tokens and the reply up to 12; the context is 400"
    assert len(engines.opened[0].portions) == evaluated


async def test_an_empty_prompt_fails(backend: LocalBackend) -> None:
    reply = await backend.complete(call(messages=()))
    assert (reply.outcome, reply.detail[:19]) == ("failed", "the prompt is empty")


async def test_a_choice_comes_with_the_law_it_was_drawn_from(backend: LocalBackend) -> None:
    choices = ("ab", "b", "c")
    reply = await backend.complete(call(choices=choices))
    assert reply.text in choices
    assert (reply.outcome, reply.sharing) == ("ok", "shared")
    assert list(reply.probabilities) == list(choices)
    assert sum(reply.probabilities.values()) == pytest.approx(1)
    sharp = await backend.complete(call(choices=choices, sampling=Sampling(temperature=0)))
    assert sharp.probabilities == {c: float(c == sharp.text) for c in choices}
    assert sharp.text == max(choices, key=reply.probabilities.__getitem__)


async def test_a_fault_is_raised_and_the_next_call_starts_from_the_file(
    backend: LocalBackend, engines: Engines
) -> None:
    before = essence(await backend.complete(call()))
    engines.fault = "status -3"
    with pytest.raises(EngineFault, match="status -3"):
        await backend.complete(call())
    assert engines.opened[0].closed
    engines.fault = ""
    assert essence(await backend.complete(call())) == before
    assert backend.loaded == ("tiny.gguf", "tiny.gguf")


async def test_a_chat_that_cannot_be_rendered_harms_nobody_who_waits(backend: LocalBackend, engines: Engines) -> None:
    expected = essence(await backend.complete(call("abc")))
    engines.entered.clear()
    engines.hold.clear()
    first = asyncio.create_task(backend.complete(call()))
    await asyncio.to_thread(engines.entered.wait, 10)
    wrong = asyncio.create_task(backend.complete(call(messages=(Message("tool", "x"),))))
    last = asyncio.create_task(backend.complete(call("abc")))
    await asyncio.sleep(0)
    engines.hold.set()
    await first
    with pytest.raises(ConfigurationError, match="roles"):
        await wrong
    assert essence(await last) == expected


async def test_a_cancelled_call_stops_computing_and_harms_nobody(backend: LocalBackend, engines: Engines) -> None:
    expected = essence(await backend.complete(call()))
    engines.entered.clear()
    engines.hold.clear()
    task = asyncio.create_task(backend.complete(call("c" * 300)))
    await asyncio.to_thread(engines.entered.wait, 10)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    evaluated = len(engines.opened[0].portions)
    engines.hold.set()
    assert essence(await backend.complete(call())) == expected
    # The portion under way, and those of the second call: nothing more of the first.
    assert engines.opened[0].portions[evaluated] == 64
    assert 64 not in engines.opened[0].portions[evaluated + 1 :]


async def test_a_stream_is_the_reply_in_pieces(backend: LocalBackend) -> None:
    asked = call(noise=bytes([5] * 16), logprobs=1)
    *pieces, last = [piece async for piece in backend.stream(asked)]
    assert isinstance(last, Reply)
    assert "".join(map(str, pieces)) == last.text != ""
    assert essence(last) == essence(await backend.complete(asked))
    assert len(last.logprobs) == last.usage.completion_tokens
    *chosen, last = [piece async for piece in backend.stream(call(choices=("ab", "c")))]
    assert isinstance(last, Reply)
    assert chosen == [last.text]


async def test_who_stops_listening_withdraws_the_call(backend: LocalBackend, engines: Engines) -> None:
    expected = essence(await backend.complete(call()))
    engines.opened[0].endless = True
    stream = backend.stream(call(max_tokens=300))
    assert isinstance(await anext(stream), str)
    await stream.aclose()
    engines.opened[0].endless = False
    assert essence(await backend.complete(call())) == expected
    assert len(engines.opened[0].portions) < 300


async def test_a_fault_ends_a_stream(backend: LocalBackend, engines: Engines) -> None:
    engines.fault = "status -3"
    with pytest.raises(EngineFault, match="status -3"):
        async for _ in backend.stream(call()):
            pass


async def test_closing_abandons_what_is_computed(backend: LocalBackend, engines: Engines) -> None:
    engines.hold.clear()
    task = asyncio.create_task(backend.complete(call("c" * 300)))
    await asyncio.to_thread(engines.entered.wait, 10)
    closing = asyncio.create_task(backend.aclose())
    await asyncio.sleep(0)
    engines.hold.set()
    await closing
    with pytest.raises(ModelUnavailable, match="given up"):
        await task
    assert engines.opened[0].closed


async def test_models_share_the_memory_budget(cache: ModelCache, engines: Engines) -> None:
    settings = LocalSettings(threads=1, context=400, cache_mb=1, memory_mb=2)
    backend = LocalBackend(settings, cache, queue=ComputeQueue(), open_engine=engines)
    await backend.complete(call())
    await backend.complete(call(model="local/other"))
    assert [engine.closed for engine in engines.opened] == [True, False]
    await backend.aclose()


async def test_a_model_that_is_not_there_says_so(backend: LocalBackend) -> None:
    for ask in (backend.abilities, backend.identity):
        with pytest.raises(ModelUnavailable, match="local/nothing"):
            ask(Model("local/nothing"))
