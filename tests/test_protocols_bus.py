"""The bus: one conversation's faults are its own, and nobody waits for ever."""

import asyncio
import gc
import weakref
from collections.abc import Sequence

import pytest
from autogen_agentchat.agents import BaseChatAgent
from autogen_agentchat.base import Response
from autogen_agentchat.messages import BaseChatMessage, TextMessage
from autogen_core import CancellationToken

from coupled_arena.errors import ConversationFailed, ConversationStalled, ListenerFailed
from coupled_arena.protocols import TurnRequest, Utterance, converse


class Echo(BaseChatAgent):
    """Repeats what it is asked, after a gate opens."""

    def __init__(self, name: str, gate: asyncio.Event | None = None, *, fails: bool = False) -> None:
        super().__init__(name, "echo")
        self.gate = gate
        self.fails = fails
        self.running = 0
        self.entered = asyncio.Event()

    @property
    def produced_message_types(self) -> Sequence[type[BaseChatMessage]]:
        return (TextMessage,)

    async def on_messages(self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken) -> Response:
        if self.fails:
            raise ZeroDivisionError("echo broke")
        self.running += 1
        self.entered.set()
        try:
            if self.gate is not None:
                waiting = asyncio.ensure_future(self.gate.wait())
                cancellation_token.link_future(waiting)
                await waiting
        finally:
            self.running -= 1
        return Response(chat_message=TextMessage(content=messages[-1].to_text(), source=self.name))

    async def on_reset(self, cancellation_token: CancellationToken) -> None:
        self.running = 0


class InTurn:
    """Asks seats one after the other and collects what they say."""

    def __init__(self, *seats: str, finishes: bool = True) -> None:
        self.left = list(seats)
        self.heard: list[tuple[str, str]] = []
        self.finishes = finishes
        self.result: list[tuple[str, str]] | None = None

    def open(self) -> Sequence[TurnRequest]:
        return [TurnRequest(self.left[0], TextMessage(content=f"to {self.left[0]}", source="test"))]

    def hear(self, utterance: Utterance) -> Sequence[TurnRequest]:
        self.heard.append((utterance.seat, utterance.message.to_text()))
        del self.left[0]
        if self.left:
            return self.open()
        if self.finishes:
            self.result = self.heard
        return ()


async def test_seats_speak_in_the_order_of_the_agenda() -> None:
    agenda = InTurn("x", "y", "x")
    said = await converse(agenda, {"x": Echo("x"), "y": Echo("y")}, conversation="c")
    assert said == [("x", "to x"), ("y", "to y"), ("x", "to x")]


async def test_an_observer_hears_every_utterance_in_order() -> None:
    heard: list[tuple[str, str]] = []
    seats = {"x": Echo("x"), "y": Echo("y")}
    await converse(
        InTurn("x", "y"), seats, conversation="c", observers=[lambda name, said: heard.append((name, said.seat))]
    )
    assert heard == [("c", "x"), ("c", "y")]


async def test_an_agents_exception_is_raised_with_the_conversations_id_and_its_cause() -> None:
    with pytest.raises(ConversationFailed, match=r"battle-7: ZeroDivisionError: echo broke") as caught:
        await converse(InTurn("x"), {"x": Echo("x", fails=True)}, conversation="battle-7")
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


async def test_an_agendas_exception_is_raised_too() -> None:
    class Broken(InTurn):
        def hear(self, utterance: Utterance) -> Sequence[TurnRequest]:
            raise LookupError("agenda broke")

    with pytest.raises(ConversationFailed, match="agenda broke"):
        await converse(Broken("x"), {"x": Echo("x")}, conversation="c")


async def test_a_conversation_that_falls_silent_without_a_result_stalls() -> None:
    with pytest.raises(ConversationStalled, match="c: nobody was left to speak"):
        await converse(InTurn("x", finishes=False), {"x": Echo("x")}, conversation="c")


async def test_a_request_to_an_empty_seat_stalls_instead_of_hanging() -> None:
    with pytest.raises(ConversationStalled):
        await converse(InTurn("nobody"), {"x": Echo("x")}, conversation="c")


async def test_a_failing_conversation_disturbs_no_other() -> None:
    gate = asyncio.Event()
    good = [
        asyncio.create_task(converse(InTurn("x", "x"), {"x": Echo("x", gate)}, conversation=f"good-{n}"))
        for n in range(20)
    ]
    with pytest.raises(ConversationFailed):
        await converse(InTurn("x"), {"x": Echo("x", fails=True)}, conversation="bad")
    gate.set()
    assert [len(said) for said in await asyncio.gather(*good)] == [2] * 20


async def test_cancelling_a_conversation_cancels_its_agents_and_leaves_no_task() -> None:
    agent = Echo("x", asyncio.Event())
    before = len(asyncio.all_tasks())
    task = asyncio.create_task(converse(InTurn("x"), {"x": agent}, conversation="c"))
    await agent.entered.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert agent.running == 0
    assert len(asyncio.all_tasks()) == before


class Deaf(Echo):
    """Never answers and links nothing to the cancellation token."""

    async def on_messages(self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken) -> Response:
        self.entered.set()
        await asyncio.Event().wait()
        raise AssertionError("nobody sets the event")


async def test_an_agent_that_never_answers_can_be_cancelled() -> None:
    agent = Deaf("x")
    before = len(asyncio.all_tasks())
    task = asyncio.create_task(converse(InTurn("x"), {"x": agent}, conversation="c"))
    await agent.entered.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(asyncio.all_tasks()) == before


async def test_an_observers_exception_is_told_from_a_seats() -> None:
    def broken(conversation: str, utterance: Utterance) -> None:
        raise ZeroDivisionError("my observer broke")

    with pytest.raises(ConversationFailed) as caught:
        await converse(InTurn("x", "x"), {"x": Echo("x")}, conversation="c", observers=[broken])
    assert isinstance(caught.value.__cause__, ListenerFailed)
    assert "my observer broke" in str(caught.value)


async def test_finished_conversations_leave_nothing_behind() -> None:
    async def batch() -> None:
        for number in range(30):
            await converse(InTurn("x", "y"), {"x": Echo("x"), "y": Echo("y")}, conversation=f"c{number}")

    await batch()
    gc.collect()
    before = len(gc.get_objects())
    await batch()
    gc.collect()
    assert len(gc.get_objects()) - before < 200


async def test_a_finished_conversation_waits_for_no_garbage_collector() -> None:
    seat = Echo("x")
    gone = weakref.ref(seat)
    gc.disable()
    try:
        await converse(InTurn("x", "x"), {"x": seat}, conversation="c")
        del seat
        assert gone() is None
    finally:
        gc.enable()
