"""A call on its way to its reply: repetitions, waits, limits, and what all its requests cost together."""

import asyncio

import pytest

from coupled_arena.models.hosted.backend import HostedBackend
from coupled_arena.models.limits.limit import Limit
from coupled_arena.models.litellm_loader import PYDANTIC_COMPLAINT
from coupled_arena.models.model import Model, Price
from coupled_arena.testing import Request, behaviours
from tests.hosted_scene import SECRET, Start, Waits, call

pytestmark = pytest.mark.filterwarnings(f"ignore:{PYDANTIC_COMPLAINT}:UserWarning")


@pytest.mark.parametrize("status", [429, 500, 502, 503])
async def test_waits_double_until_there_is_an_answer(fake_provider: Start, status: int) -> None:
    fault, waits = behaviours.error(status, "slow down"), Waits()
    provider = fake_provider({"ada": [fault, fault, "at last"]})
    reply = await waits.backend(jitter=lambda: 0.5).complete(call(provider.model("ada")))
    assert (reply.outcome, reply.text, reply.retries) == ("ok", "at last", 2)
    assert waits.seconds == [0.375, 0.75]


@pytest.mark.parametrize("status", [429, 503])
async def test_a_wait_that_the_provider_states_is_waited(fake_provider: Start, status: int) -> None:
    waits = Waits()
    provider = fake_provider({"ada": [behaviours.error(status, retry_after=7), "at last"]})
    reply = await waits.backend(jitter=lambda: 0.0).complete(call(provider.model("ada")))
    assert (reply.outcome, waits.seconds) == ("ok", [7.0])


async def test_a_connection_refused_is_a_failure_with_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    reply = await Waits().backend(attempts=2).complete(call(Model("openai/ada", api_base="http://127.0.0.1:1/v1")))
    assert (reply.outcome, reply.retries) == ("failed", 1)
    assert "onnection" in reply.detail


async def test_a_key_with_five_requests_a_minute_gets_through_many_calls(fake_provider: Start) -> None:
    waits, granted = Waits(), list[float]()

    def five_a_minute(request: Request) -> behaviours.Behaviour | str:
        now = waits.clock()
        recent = [moment for moment in granted if moment > now - 60]
        if len(recent) >= 5:
            return behaviours.error(429, retry_after=max(1, round(recent[0] + 60 - now)))
        granted.append(now)
        return "ok"

    provider = fake_provider({"ada": five_a_minute}, keep=0)
    told: list[tuple[str, float, str]] = []
    backend = HostedBackend(
        sleep=waits,
        clock=waits.clock,
        on_wait=lambda model, seconds, reason: told.append((model.name, seconds, reason)),
    )
    replies = await asyncio.gather(*(backend.complete(call(provider.model("ada"), str(i))) for i in range(40)))
    assert {reply.outcome for reply in replies} == {"ok"}
    # 40 are sent at once, then half as many as before until the key keeps up; all that are left, each minute, were 180.
    assert provider.received < 120
    assert {reason for _, _, reason in told} == {"the provider refused requests that came too fast"}


async def test_the_users_limits_are_obeyed_and_waits_are_told(fake_provider: Start) -> None:
    waits = Waits()
    provider = fake_provider({"ada": "ok", "bob": "ok"}, keep=0)
    told: list[tuple[str, float, str]] = []
    backend = HostedBackend(
        limits={"openai/*": Limit(requests_per_minute=4)},
        sleep=waits,
        clock=waits.clock,
        on_wait=lambda model, seconds, reason: told.append((model.name, seconds, reason)),
    )
    models = [provider.model(name) for name in ("ada", "bob")]
    await asyncio.gather(*(backend.complete(call(models[i % 2], str(i))) for i in range(10)))
    assert waits.seconds == [60.0, 60.0]
    assert set(told) == {(name, 60.0, "requests_per_minute = 4 of openai/*") for name in ("ada", "bob")}


async def test_what_a_listener_raises_is_no_fault_of_the_provider(fake_provider: Start) -> None:
    def listen(model: Model, seconds: float, reason: str) -> None:
        raise LookupError(reason)

    waits = Waits()
    provider = fake_provider({"ada": "ok", "bob": behaviours.error(503, retry_after=9)}, keep=0)
    backend = HostedBackend(
        limits={"*/ada": Limit(requests_per_minute=1)}, sleep=waits, clock=waits.clock, on_wait=listen
    )
    assert (await backend.complete(call(provider.model("ada")))).outcome == "ok"
    with pytest.raises(LookupError, match="requests_per_minute"):
        await backend.complete(call(provider.model("ada")))
    with pytest.raises(LookupError, match="after a fault"):
        await backend.complete(call(provider.model("bob")))


async def test_a_cancelled_call_gives_its_place_back(fake_provider: Start) -> None:
    arrived, loop = asyncio.Event(), asyncio.get_running_loop()

    def hang(request: Request) -> behaviours.Behaviour | str:
        loop.call_soon_threadsafe(arrived.set)
        return behaviours.hang() if request.prompt == "hello" else "ok"

    provider = fake_provider({"ada": hang}, keep=0)
    backend = HostedBackend(limits={"*": Limit(concurrency=1)})
    hanging = asyncio.ensure_future(backend.complete(call(provider.model("ada"))))
    await arrived.wait()
    waiting = asyncio.ensure_future(backend.complete(call(provider.model("ada"), "next")))
    hanging.cancel()
    assert (await waiting).outcome == "ok"
    await backend.aclose()


async def test_the_users_price_comes_first(fake_provider: Start) -> None:
    provider = fake_provider(
        {"gpt-4o-mini": behaviours.reply("word " * 8), "own": "ok", "silent": behaviours.reply("ok", usage=False)}
    )
    backend, price = HostedBackend(), Price(prompt=500_000, completion=1_000_000)
    known = await backend.complete(call(provider.model("gpt-4o-mini")))
    priced = await backend.complete(call(provider.model("gpt-4o-mini", price=price)))
    own = await backend.complete(call(provider.model("own")))
    own_priced = await backend.complete(call(provider.model("own", price=price)))
    silent = await backend.complete(call(provider.model("silent", price=price)))
    assert known.cost == pytest.approx(known.usage.prompt_tokens * 1.5e-7 + known.usage.completion_tokens * 6e-7)
    assert priced.cost == priced.usage.prompt_tokens / 2 + priced.usage.completion_tokens
    assert (own.cost, silent.cost) == (None, None)
    assert own_priced.cost == own_priced.usage.prompt_tokens / 2 + own_priced.usage.completion_tokens


async def test_what_a_broken_answer_cost_is_not_forgotten(fake_provider: Start) -> None:
    provider = fake_provider({"ada": [behaviours.reply("half", finish_reason="error"), "whole"]})
    waits = Waits()
    model = provider.model("ada", price=Price(prompt=1_000_000, completion=1_000_000))
    reply = await HostedBackend(sleep=waits, clock=waits.clock).complete(call(model))
    assert (reply.text, reply.retries) == ("whole", 1)
    assert reply.usage.prompt_tokens == 2 * 2
    assert reply.cost == reply.usage.prompt_tokens + reply.usage.completion_tokens
