"""Any chat agent in a seat: asked like a model, read like a model, remembered as a whole."""

import asyncio
from collections.abc import Sequence

import pytest
from autogen_agentchat.agents import BaseChatAgent, SocietyOfMindAgent
from autogen_agentchat.base import Response
from autogen_agentchat.conditions import MaxMessageTermination
from autogen_agentchat.messages import BaseChatMessage, TextMessage
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_core import CancellationToken
from autogen_core.tools import FunctionTool, StaticWorkbench

import coupled_arena as ca
from coupled_arena.agents import Debater, Judge
from coupled_arena.agents.guest import AgentVoice
from coupled_arena.agents.messages import OpinionAnswer, OpinionRequest, StepAnswer
from coupled_arena.agents.role import Role
from coupled_arena.errors import BudgetReached
from coupled_arena.models.budget import Budget
from coupled_arena.models.calls import Abilities, Call, Reply
from coupled_arena.models.memo import MemoryMemo
from coupled_arena.records import Outcome, Usage
from tests.agents_scene import (
    DICE,
    EN,
    OPENING,
    Ledger,
    OwnClient,
    assistant,
    calculate,
    calling,
    debate,
    stage,
)

CALCULATOR = FunctionTool(calculate, description="Works out a sum.")
OPINION = OpinionRequest(content="Who is better?", stage=0, max_tokens=100, dice=DICE)


async def judge(voice: AgentVoice) -> OpinionAnswer:
    response = await Judge("j", voice, EN).on_messages([OPINION], CancellationToken())
    assert isinstance(response.chat_message, OpinionAnswer)
    return response.chat_message


def said(text: str) -> Ledger:
    return Ledger(answer=lambda heard: text)


# What an agent is told, and how its text is read.


async def test_a_debater_is_told_the_rules_once_and_then_only_what_is_new() -> None:
    ledger = said("<respond>42</respond>")
    debater = Debater("d", stage().voice(lambda: OwnClient(ledger)), EN)
    turn = await debate(debater.voice, debater=debater)  # type: ignore[arg-type]
    await debate(debater.voice, OPENING.model_copy(update={"content": "And 1 + 1?"}), debater=debater)  # type: ignore[arg-type]
    assert ledger.asked == [f"{EN.render('debater.system')}\n\nWhat is 17 + 25?", "And 1 + 1?"]
    assert [(section.tag, section.text) for section in turn.sections] == [("respond", "42")]
    assert (turn.outcome, turn.missing, turn.requests, turn.sharing) == ("ok", (), 0, "none")


async def test_what_is_missing_is_asked_for_again_and_what_is_too_long_is_cut() -> None:
    ledger = Ledger(answer=lambda heard: "<think>hm</think>" if len(heard) == 1 else "<respond>42</respond>")
    turn = await debate(stage().voice(lambda: OwnClient(ledger)))
    assert ledger.asked[1].startswith("Something is missing from your turn.")
    assert ([section.tag for section in turn.sections], turn.requests) == (["think", "respond"], 1)
    silent = said("   ")
    turn = await debate(stage().voice(lambda: OwnClient(silent)))
    assert (turn.outcome, turn.requests, len(silent.asked)) == ("empty", 2, 3)
    long = await debate(stage().voice(lambda: OwnClient(said(f"<respond>{'word ' * 99}</respond>"))))
    assert (long.cut, len(long.sections[0].text.split())) == (True, 30)


async def test_a_judge_s_verdict_is_read_and_asked_for_once_more() -> None:
    ledger = Ledger(answer=lambda heard: "A is better." if len(heard) == 1 else "A is better.\n[[A]]")
    opinion = await judge(stage().voice(lambda: OwnClient(ledger), "judge"))
    assert (opinion.verdict, opinion.status, opinion.repairs) == ("A", "valid", 1)
    assert ledger.asked[0].startswith(EN.render("judge.system"))
    assert "[[tie]]" in ledger.asked[0]
    assert "holds none of [[A]], [[B]], [[tie]]" in ledger.asked[1]
    lost = await judge(stage().voice(lambda: OwnClient(said("Who knows?")), "judge"))
    assert (lost.status, lost.repairs) == ("unparsable", 1)


async def test_a_role_says_what_its_seat_is_called() -> None:
    role = Role("checker", stage().voice(lambda: OwnClient(said("All true."))), EN, tag="finding")
    response = await role.on_messages([OPENING], CancellationToken())
    assert isinstance(response.chat_message, StepAnswer)
    assert [section.tag for section in response.chat_message.sections] == ["finding"]


# Turns that are made of calls of our models.


async def test_a_turn_with_a_tool_is_the_sum_of_its_calls() -> None:
    def answer(call: Call) -> Reply:
        if call.messages[-1].role != "tool":
            return calling("calculate").model_copy(update={"sharing": "shared"})
        text = f"<respond>{call.messages[-1].content}</respond>"
        return Reply(text=text, outcome="ok", sharing="seed-only", usage=Usage(prompt_tokens=30, completion_tokens=5))

    scene = stage(answer)
    turn = await debate(scene.voice(lambda: assistant(tools=[calculate], reflect_on_tool_use=True)))
    assert [(section.tag, section.text) for section in turn.sections] == [("respond", "42")]
    assert turn.usage == Usage(prompt_tokens=50, completion_tokens=10)
    assert (turn.sharing, turn.outcome) == ("seed-only", "ok")
    assert [call.noise for call in scene.backend.calls] == [DICE.key("call 1"), DICE.key("call 2")]
    assert [call.max_tokens for call in scene.backend.calls] == [40, 40]
    assert (scene.gateway.counts.made, scene.gateway.counts.unpriced) == (2, set())


async def test_a_reply_that_was_cut_off_is_a_turn_that_was() -> None:
    scene = stage(lambda call: Reply(text="A.\n[[A]]", outcome="truncated"))
    opinion = await judge(scene.voice(assistant, "judge"))
    assert (opinion.verdict, opinion.status) == (None, "truncated")


@pytest.mark.parametrize("outcome", ["refused", "filtered", "timeout", "failed"])
async def test_a_provider_s_fault_is_the_outcome_of_the_turn(outcome: Outcome) -> None:
    turn = await debate(stage(lambda call: Reply(outcome=outcome, detail="because")).voice(assistant))
    assert (turn.outcome, turn.detail, turn.sections) == (outcome, "because", ())


async def test_a_provider_s_fault_is_recognised_through_a_team() -> None:
    """AutoGen hands on the exceptions of a team's agents as text."""

    def team() -> BaseChatAgent:
        chat = RoundRobinGroupChat([assistant()], termination_condition=MaxMessageTermination(2))
        return SocietyOfMindAgent("team", chat, ca.model_client("test/model"))

    turn = await debate(stage(lambda call: Reply(outcome="refused", detail="no")).voice(team))
    assert (turn.outcome, turn.detail) == ("refused", "no")
    spoken = await debate(stage(lambda call: "<respond>42</respond>").voice(team))
    assert [section.text for section in spoken.sections] == ["42"]


class Stubborn(OwnClient):
    """Tries another model when the first one gives no answer."""

    async def on_messages(self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken) -> Response:
        text = ""
        for name in ("test/first", "test/second"):
            try:
                text = str((await ca.model_client(name).create([messages[-1].to_model_message()])).content)
            except ca.CallFailed as error:
                self.ledger.asked.append(str(error))
        return Response(chat_message=TextMessage(content=text, source=self.name))


async def test_an_agent_may_go_on_after_a_fault() -> None:
    def answer(call: Call) -> Reply | str:
        return Reply(outcome="refused") if call.model.name == "test/first" else "<respond>42</respond>"

    ledger = Ledger()
    turn = await debate(stage(answer).voice(lambda: Stubborn(ledger)))
    assert (turn.outcome, turn.sections[0].text, ledger.asked) == ("ok", "42", ["test/first: refused"])


class Modest(OwnClient):
    """Asks for what the model cannot do, and then for what it can."""

    async def on_messages(self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken) -> Response:
        client, chat = ca.model_client("test/model"), [messages[-1].to_model_message()]
        try:
            result = await client.create(chat, json_output=True)
        except ca.ConfigurationError:
            result = await client.create(chat)
        return Response(chat_message=TextMessage(content=str(result.content), source=self.name))


async def test_an_agent_may_go_on_when_a_model_cannot_do_what_it_asks() -> None:
    scene = stage(lambda call: "<respond>42</respond>", able=Abilities())
    assert (await debate(scene.voice(lambda: Modest(Ledger())))).sections[0].text == "42"
    with pytest.raises(ca.ConfigurationError, match="cannot call tools"):
        await debate(scene.voice(lambda: assistant(workbench=StaticWorkbench([CALCULATOR]))))


async def test_a_turn_made_of_calls_is_asked_again_and_answered_from_the_memo() -> None:
    memo = MemoryMemo()
    first = stage(lambda call: "<respond>42</respond>", memo)
    again = stage(lambda call: "<respond>41</respond>", memo)
    await debate(first.voice(assistant))
    turn = await debate(again.voice(assistant))
    assert turn.sections[0].text == "42"
    assert (again.gateway.counts.made, again.gateway.counts.memoised, len(memo.answers)) == (0, 1, 1)


async def test_two_agents_asked_the_same_at_once_share_the_calls_and_keep_their_own_memories() -> None:
    scene = stage(lambda call: f"<respond>{len(call.messages)}</respond>")
    debaters = [Debater("d", scene.voice(assistant), EN) for _ in range(2)]
    turns = await asyncio.gather(*(debate(d.voice, debater=d) for d in debaters))  # type: ignore[arg-type]
    assert [turn.sections[0].text for turn in turns] == ["2", "2"]
    assert (scene.gateway.counts.made, scene.gateway.counts.memoised) == (1, 1)
    later = OPENING.model_copy(update={"content": "And then?"})
    turns = await asyncio.gather(*(debate(d.voice, later, debater=d) for d in debaters))  # type: ignore[arg-type]
    assert [turn.sections[0].text for turn in turns] == ["4", "4"]


async def test_what_ends_the_run_ends_it_whatever_the_agent_makes_of_it() -> None:
    """AutoGen takes an exception inside a tool for the tool's result."""

    async def consult() -> str:
        """Ask another model."""
        await ca.model_client("test/other").create([TextMessage(content="Hi", source="x").to_model_message()])
        return "fine"

    scene = stage(
        lambda call: "<respond>ok</respond>" if call.messages[-1].role == "tool" else calling("consult", "{}")
    )
    scene.gateway.budget = Budget(calls=1)
    with pytest.raises(BudgetReached):
        await debate(scene.voice(lambda: assistant(tools=[consult], reflect_on_tool_use=True)))


async def test_a_budget_that_is_spent_stops_an_agent_before_it_is_asked() -> None:
    ledger, scene = Ledger(), stage()
    scene.gateway.budget = Budget(calls=0)
    with pytest.raises(BudgetReached):
        await debate(scene.voice(lambda: OwnClient(ledger)))
    assert ledger.asked == []


async def test_a_budget_that_is_spent_does_not_stop_an_agent_whose_calls_are_in_the_memo() -> None:
    memo = MemoryMemo()
    await debate(stage(lambda call: "<respond>42</respond>", memo).voice(assistant))
    scene = stage(memo=memo)
    scene.gateway.budget = Budget(calls=0)
    assert (await debate(scene.voice(assistant))).sections[0].text == "42"


async def test_a_turn_made_of_calls_is_no_call_in_flight() -> None:
    """Eight agents think at once, and the budget has room for their eight calls."""
    scene = stage(lambda call: "<respond>42</respond>")
    scene.gateway.budget = Budget(calls=8)
    requests = [OPENING.model_copy(update={"content": f"Question {number}"}) for number in range(8)]
    turns = await asyncio.gather(*(debate(scene.voice(assistant), request) for request in requests))
    assert [turn.outcome for turn in turns] == ["ok"] * 8


async def test_a_gateway_that_closes_stops_the_agents() -> None:
    asked, ended = asyncio.Event(), asyncio.Event()

    class Waiting(OwnClient):
        async def on_messages(
            self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken
        ) -> Response:
            asked.set()
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()
            raise AssertionError("nobody wakes it")

    scene = stage()
    turn = asyncio.create_task(debate(scene.voice(lambda: Waiting(Ledger()))))
    await asked.wait()
    await scene.gateway.aclose()
    with pytest.raises(asyncio.CancelledError):
        await turn
    assert ended.is_set()


def test_an_agent_is_asked_in_plain_words() -> None:
    assert stage().voice(lambda: OwnClient(Ledger())).abilities == Abilities()
