"""Turns of an agent with a client of its own, kept, counted and replayed as a whole."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from autogen_agentchat.agents import BaseChatAgent
from autogen_agentchat.base import Response
from autogen_agentchat.messages import BaseChatMessage
from autogen_core import CancellationToken

import coupled_arena as ca
from coupled_arena.agents import Debater
from coupled_arena.agents.messages import StepAnswer
from coupled_arena.agents.role import Role
from coupled_arena.models.calls import Call, Message, Reply
from coupled_arena.models.memo import MemoryMemo
from coupled_arena.models.model import Price
from tests.agents_scene import (
    EN,
    OPENING,
    Ledger,
    OwnClient,
    Remembering,
    debate,
    stage,
)


async def test_a_whole_turn_is_kept_counted_and_replayed() -> None:
    memo, ledger = MemoryMemo(), Ledger()
    heard: list[tuple[Call, Reply, bool]] = []
    scene = stage(memo=memo)
    scene.gateway.on_reply = lambda call, reply, memoised: heard.append((call, reply, memoised))
    turn = await debate(scene.voice(lambda: Remembering(ledger)))
    replayed = await debate(scene.voice(lambda: Remembering(ledger)))
    assert replayed.sections == turn.sections
    assert (turn.usage.prompt_tokens, turn.sharing, len(ledger.asked)) == (100, "none", 1)
    counts = scene.gateway.counts
    assert (counts.made, counts.memoised, counts.failed, counts.unpriced) == (1, 1, 0, {"agent/x"})
    ((call, reply, _), (_, _, memoised)) = heard
    assert call.messages == (Message("user", ledger.asked[0]),)
    assert (reply.cost, reply.state, memoised) == (None, {"heard": ledger.asked}, True)


async def test_a_whole_turn_has_the_price_of_its_model() -> None:
    scene = stage()
    await debate(scene.voice(lambda: OwnClient(Ledger()), price=Price(prompt=1, completion=0)))
    assert scene.gateway.counts.usd == pytest.approx(100e-6)
    assert scene.gateway.counts.unpriced == set()


async def test_equal_whole_turns_at_once_are_one_and_each_agent_goes_on_from_it() -> None:
    ledger, scene = Ledger(), stage()
    debaters = [Debater("d", scene.voice(lambda: Remembering(ledger)), EN) for _ in range(2)]
    await asyncio.gather(*(debate(d.voice, debater=d) for d in debaters))  # type: ignore[arg-type]
    assert (len(ledger.asked), scene.gateway.counts.made, scene.gateway.counts.memoised) == (1, 1, 1)
    for number, debater in enumerate(debaters):
        later = OPENING.model_copy(update={"content": f"And then {number}?"})
        turn = await debate(debater.voice, later, debater=debater)  # type: ignore[arg-type]
        assert turn.sections[0].text == "I was asked 2 times."


@pytest.mark.parametrize(
    ("kind", "memory"),
    [(Remembering, ["first", "second"]), (OwnClient, ["first", "<respond>I was asked 1 times.</respond>", "second"])],
)
async def test_an_agent_goes_on_after_a_resume_as_if_nothing_had_happened(
    kind: type[OwnClient], memory: list[str]
) -> None:
    """One that saves its state gets it back; one that does not is told the conversation so far."""
    memo, ledger = MemoryMemo(), Ledger()
    agents: list[OwnClient] = []

    def make() -> OwnClient:
        agents.append(kind(ledger))
        return agents[-1]

    async def converse(*texts: str) -> list[str]:
        role = Role("r", stage(memo=memo).voice(make), EN)
        requests = [OPENING.model_copy(update={"content": text}) for text in texts]
        answers = [await role.on_messages([request], CancellationToken()) for request in requests]
        return [answer.chat_message.to_text() for answer in answers]

    before = await converse("first")
    assert await converse("first", "second") == [*before, f"<respond>I was asked {len(memory)} times.</respond>"]
    assert ledger.asked == ["first", "second"]
    assert agents[-1].heard == memory
    assert len(agents) == 4, "two to see what they are, and one for each conversation in which it had to be asked"


async def test_a_conversation_that_the_memo_answers_makes_no_agent() -> None:
    memo, ledger, made = MemoryMemo(), Ledger(), []

    def make() -> BaseChatAgent:
        made.append(OwnClient(ledger))
        return made[-1]

    await debate(stage(memo=memo).voice(make))
    before = len(made)
    voice = stage(memo=memo).voice(make)
    await debate(voice)
    assert (voice.guest.agent, len(ledger.asked)) == (None, 1)
    assert len(made) == before + 1, "once, to see what it is"
    await voice.close()
    assert ledger.closed == 0


async def test_another_source_another_agent_and_another_request_are_asked_anew() -> None:
    memo, ledger = MemoryMemo(), Ledger()

    def other() -> BaseChatAgent:
        return OwnClient(ledger)

    def maker(name: str) -> Any:
        def make() -> BaseChatAgent:
            return OwnClient(ledger, name)

        return make

    for factory in (lambda: OwnClient(ledger), other, maker("a"), maker("b"), maker("a")):
        await debate(stage(memo=memo).voice(factory))
    assert len(ledger.asked) == 4
    later = OPENING.model_copy(update={"content": "Another question?"})
    await debate(stage(memo=memo).voice(other), later)
    assert len(ledger.asked) == 5


async def test_a_refusal_that_an_agent_reports_itself_is_an_outcome_and_kept() -> None:
    def refuse(heard: Sequence[str]) -> str:
        raise ca.CallFailed("mine", "refused", "I will not")

    scene, ledger = stage(), Ledger(answer=refuse)
    for _ in range(2):
        turn = await debate(scene.voice(lambda: OwnClient(ledger)))
        assert (turn.outcome, turn.detail) == ("refused", "I will not")
    assert (len(ledger.asked), scene.gateway.counts.failed, scene.gateway.counts.memoised) == (1, 1, 1)


async def test_a_turn_without_an_answer_is_asked_again_on_request() -> None:
    def refuse(heard: Sequence[str]) -> str:
        raise ca.CallFailed("mine", "refused", "not today")

    def make() -> BaseChatAgent:
        return OwnClient(ledger)

    memo, ledger = MemoryMemo(), Ledger(answer=refuse)
    await debate(stage(memo=memo).voice(make))
    ledger.answer = lambda heard: "<respond>42</respond>"
    assert (await debate(stage(memo=memo).voice(make))).outcome == "refused"
    again = stage(memo=memo)
    again.gateway.retry_failed = True
    assert (await debate(again.voice(make))).sections[0].text == "42"
    assert (len(ledger.asked), len(memo.answers)) == (2, 2)


async def test_a_turn_in_which_an_agent_raises_is_not_kept() -> None:
    def fail(heard: Sequence[str]) -> str:
        raise ZeroDivisionError("a bug")

    memo, ledger = MemoryMemo(), Ledger(answer=fail)
    with pytest.raises(ZeroDivisionError, match="a bug"):
        await debate(stage(memo=memo).voice(lambda: OwnClient(ledger)))
    assert memo.answers == {}
    ledger.answer = lambda heard: "<respond>mended</respond>"
    assert (await debate(stage(memo=memo).voice(lambda: OwnClient(ledger)))).sections[0].text == "mended"


class Slow(Remembering):
    """Never answers the second request."""

    cancelled = 0

    async def on_messages(self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken) -> Response:
        if len(self.heard) == 1 and self.ledger.closed == 0:
            self.heard.append("half of it")
            waiting = asyncio.ensure_future(asyncio.Event().wait())
            cancellation_token.link_future(waiting)
            try:
                await asyncio.shield(waiting)
            finally:
                Slow.cancelled += cancellation_token.is_cancelled() + 1
        return await super().on_messages(messages, cancellation_token)


async def test_a_turn_that_takes_too_long_is_broken_off_and_forgotten_by_the_agent() -> None:
    ledger, scene = Ledger(), stage()
    role = Role("r", scene.voice(lambda: Slow(ledger), timeout=0.05), EN)

    async def ask(text: str) -> StepAnswer:
        response = await role.on_messages([OPENING.model_copy(update={"content": text})], CancellationToken())
        assert isinstance(response.chat_message, StepAnswer)
        return response.chat_message

    assert (await ask("first")).outcome == "ok"
    late = await ask("second")
    assert (late.outcome, late.detail) == ("timeout", "no answer within 0.05 s")
    assert Slow.cancelled == 1
    third = await ask("third")
    assert third.outcome == "ok"
    assert ledger.asked == ["first", "second\n\nthird"]
    assert (ledger.closed, scene.gateway.counts.failed) == (1, 1)


class Unsaveable(OwnClient):
    async def save_state(self) -> Mapping[str, Any]:
        return {"client": self}


class Silent(OwnClient):
    async def on_messages(self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken) -> Response:
        return None  # type: ignore[return-value]


async def test_a_state_that_cannot_be_kept_and_an_answer_that_is_none_are_said() -> None:
    with pytest.raises(
        ca.ConfigurationError, match="agent/x: its save_state failed, or returned what JSON cannot hold"
    ):
        await debate(stage().voice(lambda: Unsaveable(Ledger())))
    with pytest.raises(TypeError, match="own: on_messages has to return a Response"):
        await debate(stage().voice(lambda: Silent(Ledger())))
