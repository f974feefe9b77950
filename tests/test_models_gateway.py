"""The gateway: each call paid for once, whoever asks, whenever, whatever goes wrong."""

import asyncio
from collections.abc import Callable

import pytest

from coupled_arena.coupling import Sampling
from coupled_arena.models.calls import Abilities, Call, Message, Reply
from coupled_arena.models.gateway import Gateway
from coupled_arena.models.memo import MemoryMemo
from coupled_arena.models.model import Model
from coupled_arena.records import Outcome, Usage

MODEL = Model("m", "openai/m")


def call(text: str = "hello", **changes: object) -> Call:
    fields: dict[str, object] = {
        "model": MODEL,
        "messages": (Message("user", text),),
        "sampling": Sampling(),
        "max_tokens": 10,
        "noise": bytes(16),
    }
    return Call(**{**fields, **changes})  # type: ignore[arg-type]


class Scripted:
    """Answers through a function; counts what it was asked, and can be held back."""

    def __init__(self, answer: Callable[[Call], Reply] | None = None) -> None:
        self.answer = answer or (lambda asked: Reply(text=f"re: {asked.messages[-1].content}", outcome="ok"))
        self.asked: list[Call] = []
        self.arrivals: asyncio.Queue[Call] = asyncio.Queue()
        self.identities = 0
        self.cancelled = 0
        self.closed = False
        self.gate = asyncio.Event()
        self.gate.set()

    def abilities(self, model: Model) -> Abilities:
        return Abilities(continues=True)

    def problems(self, model: Model) -> tuple[str, ...]:
        return ()

    def identity(self, model: Model) -> str:
        self.identities += 1
        return model.model

    async def complete(self, call: Call) -> Reply:
        self.asked.append(call)
        self.arrivals.put_nowait(call)
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return self.answer(call)

    async def aclose(self) -> None:
        self.closed = True


def outcomes(*script: Outcome) -> Callable[[Call], Reply]:
    rest = iter(script)
    return lambda asked: Reply(text=f"attempt {asked.attempt}", outcome=next(rest))


async def test_a_call_asked_twice_is_made_once() -> None:
    backend = Scripted()
    async with Gateway(backends={"hosted": backend}) as gateway:
        first = await gateway.reply(call())
        second = await gateway.reply(call())
    assert first == second
    assert first.text == "re: hello"
    assert (gateway.counts.made, gateway.counts.memoised, gateway.counts.failed) == (1, 1, 0)
    assert len(backend.asked) == 1


async def test_everything_that_determines_a_reply_makes_another_call() -> None:
    backend = Scripted()
    variations = [
        call(),
        call("other"),
        call(sampling=Sampling(0.1)),
        call(sampling=Sampling(top_k=5)),
        call(max_tokens=11),
        call(noise=bytes(15) + b"1"),
        call(sample=1),
        call(prefix="I say"),
        call(stop=("x",)),
        call(choices=("x",)),
        call(schema={"type": "object"}),
        call(model=Model("m", "openai/other")),
    ]
    async with Gateway(backends={"hosted": backend}) as gateway:
        for variation in variations:
            await gateway.reply(variation)
    assert gateway.counts.made == len(variations)


async def test_two_names_of_one_model_string_share_an_answer() -> None:
    async with Gateway(backends={"hosted": Scripted()}) as gateway:
        await gateway.reply(call(model=Model("one", "openai/m")))
        await gateway.reply(call(model=Model("two", "openai/m")))
    assert (gateway.counts.made, gateway.counts.memoised) == (1, 1)


async def test_equal_calls_in_flight_share_one_request() -> None:
    backend = Scripted()
    backend.gate.clear()
    async with Gateway(backends={"hosted": backend}) as gateway:
        waiting = [asyncio.ensure_future(gateway.reply(call())) for _ in range(5)]
        await backend.arrivals.get()
        backend.gate.set()
        replies = await asyncio.gather(*waiting)
    assert len(backend.asked) == 1
    assert {reply.text for reply in replies} == {"re: hello"}
    assert (gateway.counts.made, gateway.counts.memoised) == (1, 4)


@pytest.mark.parametrize("leaver", [0, 1], ids=["the first to ask", "one who joined"])
async def test_cancelling_one_waiter_leaves_the_others_their_answer(leaver: int) -> None:
    backend = Scripted()
    backend.gate.clear()
    async with Gateway(backends={"hosted": backend}) as gateway:
        waiting = [asyncio.ensure_future(gateway.reply(call())) for _ in range(3)]
        await backend.arrivals.get()
        waiting[leaver].cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting[leaver]
        backend.gate.set()
        stayed = [await task for index, task in enumerate(waiting) if index != leaver]
    assert [reply.text for reply in stayed] == ["re: hello", "re: hello"]
    assert (len(backend.asked), backend.cancelled) == (1, 0)


async def test_a_request_nobody_waits_for_is_cancelled_and_asked_anew_later() -> None:
    backend = Scripted()
    backend.gate.clear()
    async with Gateway(backends={"hosted": backend}) as gateway:
        waiting = asyncio.ensure_future(gateway.reply(call()))
        await backend.arrivals.get()
        waiting.cancel()
        # Asked in the same breath: it must not join the request that is being cancelled.
        again = asyncio.ensure_future(gateway.reply(call()))
        await backend.arrivals.get()
        backend.gate.set()
        assert (await again).text == "re: hello"
    assert waiting.cancelled()
    assert backend.cancelled == 1
    assert gateway.counts.made == 1


async def test_a_bug_in_a_backend_reaches_every_waiter_and_nothing_is_stored() -> None:
    def broken(asked: Call) -> Reply:
        raise ZeroDivisionError("a bug")

    backend, memo = Scripted(broken), MemoryMemo()
    backend.gate.clear()
    async with Gateway(memo, backends={"hosted": backend}) as gateway:
        waiting = [asyncio.ensure_future(gateway.reply(call())) for _ in range(3)]
        await backend.arrivals.get()
        backend.gate.set()
        ends = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(end) for end in ends] == [ZeroDivisionError] * 3
    assert memo.answers == {}


async def test_a_reply_is_in_the_memo_before_anybody_sees_it() -> None:
    seen = []

    class Watched(MemoryMemo):
        def remember(self, key: bytes, call: Call, reply: Reply) -> None:
            seen.append("remembered")
            super().remember(key, call, reply)

    gateway = Gateway(
        Watched(),
        backends={"hosted": Scripted()},
        on_reply=lambda asked, reply, memoised: seen.append("memoised" if memoised else "made"),
    )
    async with gateway:
        await gateway.reply(call())
        await gateway.reply(call())
    assert seen == ["remembered", "made", "memoised"]


async def test_a_failure_is_an_answer_of_this_run() -> None:
    backend = Scripted(outcomes("failed"))
    async with Gateway(backends={"hosted": backend}) as gateway:
        assert (await gateway.reply(call())).outcome == "failed"
        assert (await gateway.reply(call())).outcome == "failed"
    assert (gateway.counts.made, gateway.counts.failed, gateway.counts.memoised) == (1, 1, 1)


async def test_retry_failed_asks_the_next_attempt_once() -> None:
    memo = MemoryMemo()
    async with Gateway(memo, backends={"hosted": Scripted(outcomes("failed"))}) as gateway:
        await gateway.reply(call())
    backend = Scripted(outcomes("refused"))
    async with Gateway(memo, backends={"hosted": backend}, retry_failed=True) as gateway:
        replies = [await gateway.reply(call()) for _ in range(3)]
    assert [reply.outcome for reply in replies] == ["refused"] * 3
    assert [asked.attempt for asked in backend.asked] == [1]
    backend = Scripted(outcomes("ok"))
    async with Gateway(memo, backends={"hosted": backend}, retry_failed=True) as gateway:
        assert (await gateway.reply(call())).text == "attempt 2"
    async with Gateway(memo, backends={"hosted": Scripted(outcomes())}) as gateway:
        assert (await gateway.reply(call())).text == "attempt 2"


async def test_retry_failed_keeps_what_was_answered_and_asks_new_calls_as_their_first_attempt() -> None:
    memo = MemoryMemo()
    async with Gateway(memo, backends={"hosted": Scripted()}) as gateway:
        await gateway.reply(call())
    backend = Scripted(outcomes("failed"))
    async with Gateway(memo, backends={"hosted": backend}, retry_failed=True) as gateway:
        assert (await gateway.reply(call())).text == "re: hello"
        assert (await gateway.reply(call("new"))).outcome == "failed"
        assert (await gateway.reply(call("new"))).outcome == "failed"
    assert [(asked.messages[0].content, asked.attempt) for asked in backend.asked] == [("new", 0)]


async def test_without_the_flag_the_newest_attempt_is_replayed() -> None:
    memo = MemoryMemo()
    async with Gateway(memo, backends={"hosted": Scripted(outcomes("failed"))}) as gateway:
        await gateway.reply(call())
    async with Gateway(memo, backends={"hosted": Scripted(outcomes("filtered"))}, retry_failed=True) as gateway:
        await gateway.reply(call())
    async with Gateway(memo, backends={"hosted": Scripted(outcomes())}) as gateway:
        assert (await gateway.reply(call())).outcome == "filtered"


async def test_what_a_run_sees_is_what_can_be_stored() -> None:
    backend = Scripted(lambda asked: Reply(text="a\udc80b", outcome="ok", detail="\ud800"))
    async with Gateway(backends={"hosted": backend}) as gateway:
        reply = await gateway.reply(call())
    assert (reply.text, reply.detail) == ("a\\udc80b", "\\ud800")


async def test_counts_add_up_money_tokens_retries_and_unpriced_models() -> None:
    answers = iter(
        [
            Reply(text="x", outcome="ok", cost=0.5, usage=Usage(prompt_tokens=3, completion_tokens=2), retries=2),
            Reply(text="x", outcome="truncated", cost=None, usage=Usage(prompt_tokens=1, completion_tokens=1)),
        ]
    )
    async with Gateway(backends={"hosted": Scripted(lambda asked: next(answers))}) as gateway:
        await gateway.reply(call("one"))
        await gateway.reply(call("two"))
    counts = gateway.counts
    assert (counts.usd, counts.retries, counts.unpriced, counts.failed) == (0.5, 2, {"m"}, 0)
    assert counts.usage == Usage(prompt_tokens=4, completion_tokens=3)


async def test_latency_comes_from_the_clock_where_the_backend_reports_none() -> None:
    ticks = iter([10.0, 12.5])
    async with Gateway(backends={"hosted": Scripted()}, clock=lambda: next(ticks)) as gateway:
        assert (await gateway.reply(call())).latency == 2.5


async def test_closing_cancels_what_is_in_flight_and_closes_the_backends() -> None:
    backend = Scripted()
    backend.gate.clear()
    gateway = Gateway(backends={"hosted": backend})
    waiting = asyncio.ensure_future(gateway.reply(call()))
    await backend.arrivals.get()
    await gateway.aclose()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert (backend.cancelled, backend.closed) == (1, True)


async def test_the_identity_of_a_model_is_asked_for_once_however_often_it_is_made() -> None:
    backend = Scripted()
    async with Gateway(backends={"hosted": backend}) as gateway:
        for text in ("one", "two", "three"):
            await gateway.reply(call(text, model=Model("m", "openai/m")))
        assert gateway.abilities(MODEL).continues
        assert backend.identities == 1
        await gateway.reply(call(model=Model("m", "openai/m", api_base="http://127.0.0.1/v1")))
    assert backend.identities == 2
