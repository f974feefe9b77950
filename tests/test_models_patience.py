"""A run that stops waits for what was sent, and for nothing that was not."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from coupled_arena.errors import BudgetReached
from coupled_arena.models.budget import Budget
from coupled_arena.models.calls import Call, Reply
from coupled_arena.models.gateway import Gateway
from coupled_arena.models.hosted.backend import HostedBackend
from coupled_arena.models.limits.limit import Limit
from coupled_arena.models.memo import MemoryMemo
from coupled_arena.models.model import Model
from coupled_arena.testing import FakeProvider, Request, behaviours
from tests.hosted_scene import Start, call


async def forever(seconds: float) -> None:
    await asyncio.Event().wait()


def gateway(provider: FakeProvider, budget: Budget, **settings: Any) -> Gateway:
    return Gateway(MemoryMemo(), backends={"hosted": HostedBackend(sleep=forever, **settings)}, budget=budget)


def noting(script: behaviours.Behaviour) -> tuple[Callable[[Request], behaviours.Behaviour], asyncio.Event]:
    """Return a script that says when its first request has come."""
    loop, come = asyncio.get_running_loop(), asyncio.Event()

    def play(request: Request) -> behaviours.Behaviour:
        loop.call_soon_threadsafe(come.set)
        return script

    return play, come


@pytest.mark.parametrize(
    "limited",
    [behaviours.error(429, retry_after=50), behaviours.error(503, retry_after=50)],
    ids=["a refusal", "a fault"],
)
async def test_a_call_that_waits_for_its_provider_is_given_up_when_the_budget_is_reached(
    fake_provider: Start, limited: behaviours.Behaviour
) -> None:
    script, come = noting(limited)
    provider = fake_provider({"slow": script, "quick": "done"})
    async with gateway(provider, Budget(calls=2)) as asked, asyncio.timeout(30):
        waits = asyncio.ensure_future(asked.reply(call(provider.model("slow"))))
        await come.wait()
        await asked.reply(call(provider.model("quick")))
        with pytest.raises(BudgetReached):
            await asked.reply(call(provider.model("quick"), "more"))
        await asked.drain()
        await asyncio.gather(waits, return_exceptions=True)
        assert (provider.received, asked.counts.made) == (2, 1)


async def test_a_call_that_waits_for_a_limit_is_given_up_when_the_budget_is_reached(fake_provider: Start) -> None:
    provider = fake_provider({"m": "done"})
    limits = {"openai/*": Limit(requests_per_minute=1)}
    async with gateway(provider, Budget(calls=3), limits=limits) as asked, asyncio.timeout(30):
        await asked.reply(call(provider.model("m")))
        waits = [asyncio.ensure_future(asked.reply(call(provider.model("m"), text))) for text in "ab"]
        await asyncio.sleep(0)
        with pytest.raises(BudgetReached):
            await asked.reply(call(provider.model("m"), "c"))
        await asked.drain()
        await asyncio.gather(*waits, return_exceptions=True)
        assert provider.received == 1


async def test_no_request_is_sent_once_dollars_are_spent_even_by_a_call_that_began_before(
    fake_provider: Start,
) -> None:
    provider = fake_provider({"m": behaviours.delayed(0.02, "done")})
    priced = provider.model("m", price={"prompt": 1_000_000, "completion": 1_000_000})
    limits = {"openai/*": Limit(concurrency=1)}
    async with gateway(provider, Budget(usd=1), limits=limits) as asked, asyncio.timeout(30):
        calls = [asked.reply(call(priced, text)) for text in "abcdef"]
        answers = await asyncio.gather(*calls, return_exceptions=True)
    assert provider.received == 1
    assert [type(answer) for answer in answers] == [Reply, *[BudgetReached] * 5]


async def test_a_fault_after_the_stop_is_not_repeated_and_not_kept(fake_provider: Start) -> None:
    script, come = noting(behaviours.delayed(0.1, behaviours.error(500)))
    provider = fake_provider({"m": script})
    now = [0.0]
    memo = MemoryMemo()
    backend = HostedBackend(sleep=forever)
    async with Gateway(memo, backends={"hosted": backend}, budget=Budget(minutes=1), clock=lambda: now[0]) as asked:
        flying = asyncio.ensure_future(asked.reply(call(provider.model("m"))))
        await come.wait()
        now[0] = 61.0
        async with asyncio.timeout(30):
            with pytest.raises(BudgetReached):
                await flying
    assert (provider.received, memo.answers) == (1, {})


async def test_lone_surrogates_anywhere_in_a_reply_are_kept_as_escapes() -> None:
    raw = Reply.model_validate(
        {
            "outcome": "ok",
            "tool_calls": [{"id": "\ud800", "name": "t\ud800", "arguments": '{"a": "\udfff"}'}],
            "state": {"heard\ud800": ["\udc00", {"deep": ["\ud801", 1]}]},
        }
    )

    class Odd:
        async def complete(self, call: Call) -> Reply:
            return raw

        def __getattr__(self, name: str) -> Any:
            return lambda *_: name

        async def aclose(self) -> None: ...

    async with Gateway(backends={"hosted": Odd()}) as asked:
        reply = await asked.reply(call(Model("openai/m")))
    assert Reply.model_validate_json(reply.model_dump_json()) == reply
    assert reply.tool_calls[0].name == "t\\ud800"
