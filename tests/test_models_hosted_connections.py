"""The connections of hosted models: as many at once as there are calls, none left over, any number of event loops."""

import asyncio
import gc
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from coupled_arena.coupling import Sampling
from coupled_arena.models.calls import Call, Message, Reply
from coupled_arena.models.hosted.backend import HostedBackend
from coupled_arena.models.litellm_loader import PYDANTIC_COMPLAINT, load_litellm
from coupled_arena.testing import FakeProvider, behaviours

pytestmark = pytest.mark.filterwarnings(f"ignore:{PYDANTIC_COMPLAINT}:UserWarning")

Start = Callable[..., FakeProvider]
FILES, CONNECTIONS = Path("/proc/self/fd"), Path("/proc/self/net/tcp")


def call(provider: FakeProvider, text: str = "hello") -> Call:
    return Call(provider.model("ada"), (Message("user", text),), Sampling(0.7), 20, bytes(16))


def connections(provider: FakeProvider) -> int:
    """Count the files this process holds open as a client of the provider, which closes its own ends when it likes."""
    gc.collect()
    sockets = [line.split() for line in CONNECTIONS.read_text().splitlines()[1:]]
    ours = {f"socket:[{socket[9]}]" for socket in sockets if int(socket[2].rpartition(":")[2], 16) == provider.port}
    return sum(str(target) in ours for target in opened())


def opened() -> Iterator[Path]:
    """Yield what every open file of this process leads to."""
    for file in FILES.iterdir():
        with suppress(FileNotFoundError):
            yield file.readlink()


async def ask(provider: FakeProvider, count: int) -> list[Reply]:
    backend = HostedBackend()
    try:
        return await asyncio.gather(*(backend.complete(call(provider, str(number))) for number in range(count)))
    finally:
        await backend.aclose()


class UntilAllAreHere:
    """What the provider waits for before it answers anybody."""

    def __init__(self, count: int) -> None:
        self.missing = count
        self.complete = asyncio.Event()

    async def __call__(self, seconds: float) -> None:
        self.missing -= 1
        if not self.missing:
            self.complete.set()
        await self.complete.wait()


async def test_five_hundred_calls_are_in_flight_at_once(fake_provider: Start) -> None:
    provider = fake_provider({"ada": behaviours.delayed(1.0, "ok")}, sleep=UntilAllAreHere(500), keep=0)
    replies = await ask(provider, 500)
    assert {reply.outcome for reply in replies} == {"ok"}
    assert provider.most_in_flight == 500


@pytest.mark.skipif(not CONNECTIONS.exists(), reason="connections are counted in /proc")
def test_no_file_stays_open_however_many_event_loops_there_were(fake_provider: Start) -> None:
    provider = fake_provider({"ada": "ok"}, keep=0)
    for _ in range(4):
        replies = asyncio.run(ask(provider, 10))
        assert {reply.outcome for reply in replies} == {"ok"}
        assert connections(provider) == 0


@pytest.mark.skipif(not CONNECTIONS.exists(), reason="connections are counted in /proc")
async def test_connections_are_used_again(fake_provider: Start) -> None:
    provider, backend = fake_provider({"ada": "ok"}, keep=0), HostedBackend()
    await backend.complete(call(provider))
    assert connections(provider) == 1
    for number in range(20):
        await backend.complete(call(provider, str(number)))
    assert connections(provider) == 1
    await backend.aclose()


async def test_a_backend_that_closes_leaves_another_its_connections(fake_provider: Start) -> None:
    provider = fake_provider({"ada": behaviours.reply("ok", delay=0.3), "bob": "ok"}, keep=0)
    staying, leaving = HostedBackend(attempts=1), HostedBackend(attempts=1)
    slow = asyncio.ensure_future(staying.complete(call(provider)))
    await leaving.complete(call(provider, "another"))
    await leaving.aclose()
    assert (await slow).outcome == "ok"
    assert (await staying.complete(call(provider, "again"))).outcome == "ok"
    await staying.aclose()
    # And one that comes after all were closed opens its own.
    assert (await leaving.complete(call(provider, "once more"))).outcome == "ok"
    await leaving.aclose()


async def test_connections_of_somebody_else_stay_open(fake_provider: Start) -> None:
    provider = fake_provider({"ada": "ok"}, keep=0)
    own = {"model": "openai/ada", "messages": [{"role": "user", "content": "x"}], "timeout": 33.0}
    litellm = load_litellm()
    await litellm.acompletion(**own)
    mine = set(litellm.in_memory_llm_clients_cache.cache_dict)
    await ask(provider, 2)
    assert mine <= set(litellm.in_memory_llm_clients_cache.cache_dict)
    assert (await litellm.acompletion(**own)).choices[0].message.content == "ok"


def test_event_loops_in_several_threads_do_not_disturb_each_other(fake_provider: Start) -> None:
    provider = fake_provider({"ada": behaviours.reply("ok", delay=0.05)}, keep=0)
    seen: list[list[Reply]] = []
    threads = [threading.Thread(target=lambda: seen.append(asyncio.run(ask(provider, 8)))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [{reply.outcome for reply in replies} for replies in seen] == [{"ok"}] * 3


def test_a_program_ends_without_a_word(fake_provider: Start) -> None:
    provider = fake_provider({"ada": ["ok", behaviours.hang()]}, keep=0)
    program = f"""
        import asyncio
        from coupled_arena.coupling import Sampling
        from coupled_arena.models.calls import Call, Message
        from coupled_arena.models.gateway import Gateway
        from coupled_arena.models.model import Model

        model = Model("openai/ada", api_base={provider.url!r}, api_key_env={provider.key_env!r})

        async def play(text):
            async with Gateway() as gateway:
                return (await gateway.reply(Call(model, (Message("user", text),), Sampling(), 20, bytes(16)))).text

        async def cancelled():
            task = asyncio.ensure_future(play("hangs"))
            await asyncio.sleep(0.3)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

        assert asyncio.run(play("hello")) == "ok"
        asyncio.run(cancelled())
        """
    ran = subprocess.run(
        [sys.executable, "-W", "always::ResourceWarning", "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
