"""`model_client`: AutoGen's words in ours, and ours in AutoGen's."""

import asyncio
import json
import sys
from collections.abc import Sequence
from typing import Any

import pytest
from autogen_core import CancellationToken, FunctionCall, Image
from autogen_core.models import (
    AssistantMessage,
    ChatCompletionClient,
    CreateResult,
    FunctionExecutionResult,
    FunctionExecutionResultMessage,
    LLMMessage,
    SystemMessage,
    UserMessage,
)
from autogen_core.tools import FunctionTool
from pydantic import BaseModel

import coupled_arena as ca
from coupled_arena.agents.client import TOKENS_OUTSIDE, ModelClient
from coupled_arena.agents.seat import Seat, Speech, current_seat
from coupled_arena.models.calls import Abilities, Call, Message, Reply
from coupled_arena.models.model import Model
from coupled_arena.records import Outcome, Usage
from tests.agents_scene import DICE, Stage, calculate, calling, stage

HELLO = [UserMessage(content="Hello", source="user")]
CALCULATOR = FunctionTool(calculate, description="Works out a sum.")


class Weather(BaseModel):
    city: str
    degrees: float = 0.0


def seated(scene: Stage, role: str = "debater") -> tuple[Seat, Speech]:
    return Seat(scene.gateway, role, lambda model: model), Speech(DICE, "whole", 50)


async def ask(
    scene: Stage, messages: Sequence[LLMMessage] = HELLO, client: ModelClient | None = None, **options: Any
) -> CreateResult:
    """Ask once inside a turn."""
    seat, speech = seated(scene)
    with seat.speaking(speech):
        return await (client or ca.model_client("test/model")).create(messages, **options)


# Messages.


async def test_a_chat_with_a_tool_goes_out_in_openai_s_form() -> None:
    scene = stage()
    await ask(
        scene,
        [
            SystemMessage(content="Be brief."),
            UserMessage(content="What is 17 + 25?", source="user"),
            AssistantMessage(
                content=[FunctionCall(id="c1", name="calculate", arguments="{}")], thought="Let me see.", source="x"
            ),
            FunctionExecutionResultMessage(
                content=[FunctionExecutionResult(content="42", name="calculate", call_id="c1", is_error=False)]
            ),
        ],
        tools=[CALCULATOR],
    )
    (call,) = scene.backend.calls
    assert [(message.role, message.content) for message in call.messages] == [
        ("system", "Be brief."),
        ("user", "What is 17 + 25?"),
        ("assistant", "Let me see."),
        ("tool", "42"),
    ]
    assert json.loads(call.messages[2].extra) == {
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "calculate", "arguments": "{}"}}]
    }
    assert json.loads(call.messages[3].extra) == {"tool_call_id": "c1"}
    (tool,) = call.tools
    assert (tool["type"], tool["function"]["name"], call.tool_choice) == ("function", "calculate", "")
    assert tool["function"]["parameters"]["required"] == ["expression"]


async def test_a_chat_in_which_tools_were_called_names_them_even_when_none_is_offered() -> None:
    scene = stage()
    called = AssistantMessage(content=[FunctionCall(id="c1", name="calculate", arguments="{}")], source="x")
    result = FunctionExecutionResult(content="42", name="calculate", call_id="c1", is_error=False)
    await ask(scene, [*HELLO, called, FunctionExecutionResultMessage(content=[result])], tool_choice="none")
    (call,) = scene.backend.calls
    assert ([tool["function"]["name"] for tool in call.tools], call.tool_choice) == (["calculate"], "none")


async def test_neighbours_are_joined_and_speakers_named_only_where_there_are_several() -> None:
    scene = stage()
    await ask(scene, [UserMessage(content="One", source="bob"), UserMessage(content="two", source="bob")])
    await ask(scene, [UserMessage(content="One", source="bob"), UserMessage(content="two", source="eve")])
    await ask(scene, [UserMessage(content=" ", source="bob"), UserMessage(content="two", source="bob")])
    assert [call.messages for call in scene.backend.calls] == [
        (Message("user", "One\n\ntwo"),),
        (Message("user", "bob: One\n\neve: two"),),
        (Message("user", "two"),),
    ]


async def test_an_image_is_refused_in_plain_words() -> None:
    pixel = Image.from_base64(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
    )
    with pytest.raises(ca.ConfigurationError, match="holds an image; models are asked in text only"):
        await ask(stage(), [UserMessage(content=["Look", pixel], source="user")])


# Replies.


@pytest.mark.parametrize(("outcome", "finish"), [("ok", "stop"), ("truncated", "length")])
async def test_a_reply_comes_back_with_its_ending_usage_and_reasoning(outcome: Outcome, finish: str) -> None:
    used = Usage(prompt_tokens=7, completion_tokens=3)
    client = ca.model_client("test/model")
    scene = stage(lambda call: Reply(text="Hi", outcome=outcome, reasoning="Greet.", usage=used))
    result = await ask(scene, client=client)
    assert (result.content, result.finish_reason, result.thought, result.cached) == ("Hi", finish, "Greet.", False)
    assert (result.usage.prompt_tokens, result.usage.completion_tokens) == (7, 3)
    await ask(scene, client=client)
    assert client.total_usage() == client.actual_usage()
    assert (client.total_usage().prompt_tokens, client.total_usage().completion_tokens) == (14, 6)


async def test_a_tool_call_comes_back_and_hidden_reasoning_beside_it_does_not() -> None:
    reply = calling("calculate").model_copy(update={"text": "Let me see.", "reasoning": "hidden"})
    result = await ask(stage(lambda call: reply), tools=[CALCULATOR])
    assert result.finish_reason == "function_calls"
    assert result.content == [FunctionCall(id="call_1", name="calculate", arguments='{"expression": "17 + 25"}')]
    assert result.thought == "Let me see."
    bare = calling("calculate").model_copy(update={"reasoning": "hidden"})
    assert (await ask(stage(lambda call: bare), tools=[CALCULATOR])).thought is None


@pytest.mark.parametrize("outcome", ["refused", "filtered", "empty", "timeout", "failed"])
async def test_a_call_without_an_answer_raises(outcome: Outcome) -> None:
    with pytest.raises(ca.CallFailed, match=f"test/model: {outcome}: because") as raised:
        await ask(stage(lambda call: Reply(outcome=outcome, detail="because")))
    assert raised.value.outcome == outcome


async def test_a_stream_is_the_text_in_one_piece_and_the_result() -> None:
    seat, speech = seated(scene := stage(lambda call: "Hi"))
    with seat.speaking(speech):
        pieces = [piece async for piece in ca.model_client("test/model").create_stream(HELLO)]
    assert pieces[0] == "Hi"
    assert isinstance(pieces[1], CreateResult)
    assert len(scene.backend.calls) == 1
    tools = stage(lambda call: calling("calculate"))
    seat, speech = seated(tools)
    with seat.speaking(speech):
        (only,) = [piece async for piece in ca.model_client("test/model").create_stream(HELLO, tools=[CALCULATOR])]
    assert isinstance(only, CreateResult)


# What can be asked for.


async def test_json_output_becomes_a_schema() -> None:
    scene = stage()
    await ask(scene, json_output=True)
    await ask(scene, json_output=Weather)
    await ask(scene, json_output=False)
    anything, weather, nothing = (call.schema for call in scene.backend.calls)
    assert (anything, nothing) == ({"type": "object"}, None)
    assert weather == {
        "type": "object",
        "properties": {"city": {"type": "string"}, "degrees": {"type": "number"}},
        "required": ["city", "degrees"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"json_output": Weather}, "cannot be held to a JSON schema"),
        ({"tools": [CALCULATOR]}, "cannot call tools"),
    ],
)
async def test_what_a_model_cannot_do_is_refused(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(ca.ConfigurationError, match=f"model_client: test/model: {problem}"):
        await ask(stage(able=Abilities()), **options)


@pytest.mark.parametrize(
    ("choice", "said"), [("auto", ""), ("none", "none"), ("required", "required"), (CALCULATOR, "calculate")]
)
async def test_the_use_of_tools_is_said_in_a_word(choice: Any, said: str) -> None:
    scene = stage()
    await ask(scene, tools=[CALCULATOR.schema], tool_choice=choice)
    await ask(scene, tool_choice=choice)
    assert [call.tool_choice for call in scene.backend.calls] == [said, ""]


async def test_settings_of_one_call_override_those_of_the_model_and_others_are_refused() -> None:
    scene = stage()
    overrides = {"temperature": 0.2, "max_tokens": 9, "stop": "END", "top_k": 5}
    await ask(scene, extra_create_args=overrides)
    await ask(scene, client=ca.model_client("test/model", max_tokens=33))
    first, second = scene.backend.calls
    assert (first.sampling.temperature, first.sampling.top_k, first.max_tokens, first.stop) == (0.2, 5, 9, ("END",))
    assert (second.sampling.temperature, second.max_tokens, second.stop) == (0.7, 33, ())
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"seed": 3}, "may hold max_tokens, stop, .*, not seed; set `options`"),
        ({"temperature": -1}, "temperature: Input should be greater than or equal to 0"),
        ({"max_tokens": 0}, "max_tokens must be a whole number of at least 1"),
    ]
    for overrides, problem in wrong:
        with pytest.raises(ca.ConfigurationError, match=problem):
            await ask(scene, extra_create_args=overrides)


def test_a_client_says_what_its_model_can_do() -> None:
    scene = stage(able=Abilities(tools=True, schema=False, context=100))
    seat, _ = seated(scene)
    with seat.taken():
        client = ca.model_client("test/model")
        assert client.model_info == {
            "vision": False,
            "function_calling": True,
            "json_output": False,
            "structured_output": False,
            "family": "unknown",
            "multiple_system_messages": True,
        }
        assert client.capabilities == client.model_info
        assert client.count_tokens(HELLO) == 2
        assert client.remaining_tokens(HELLO) == 98
        assert client.count_tokens(HELLO, tools=[CALCULATOR]) > 20
        assert ca.model_client(Model("test/model", context=50)).remaining_tokens(HELLO) == 48
    unknown, _ = seated(stage(able=Abilities()))
    with unknown.taken():
        assert ca.model_client("test/model").remaining_tokens(HELLO) == sys.maxsize - 2


def test_a_client_can_be_written_down_and_read_again() -> None:
    client = ca.model_client(Model("m", "openai/gpt-4o", temperature=0.3), max_tokens=5)
    again = ChatCompletionClient.load_component(client.dump_component())
    assert isinstance(again, ModelClient)
    assert (again.model, again.max_tokens) == (client.model, 5)


def test_only_a_model_can_be_asked() -> None:
    wrong: list[Any] = ["agent/x", 7, {"model": "openai/gpt-4o"}, ""]
    for model in wrong:
        with pytest.raises(ca.ConfigurationError, match="model_client"):
            ca.model_client(model)


# Turns.


async def test_calls_of_a_turn_are_numbered_and_those_of_tasks_by_themselves() -> None:
    """Which of two tasks is answered first changes nobody's dice."""

    async def keys(slow: str) -> dict[str, bytes]:
        gates = {"a": asyncio.Event(), "b": asyncio.Event()}
        gates["b" if slow == "a" else "a"].set()
        scene = stage()

        async def helper(name: str) -> None:
            await client.create([UserMessage(content=f"{name} first", source="user")])
            await gates[name].wait()
            await client.create([UserMessage(content=f"{name} second", source="user")])
            gates["b" if name == "a" else "a"].set()

        client = ca.model_client("test/model")
        seat, speech = seated(scene)
        with seat.speaking(speech):
            await client.create(HELLO)
            await asyncio.gather(helper("a"), helper("b"))
            await client.create(HELLO)
        assert speech.calls == 6
        return {f"{i} {c.messages[0].content}": c.noise for i, c in enumerate(scene.backend.calls)}

    slow_a, slow_b = await keys("a"), await keys("b")
    assert {key[2:]: noise for key, noise in slow_a.items()} == {key[2:]: noise for key, noise in slow_b.items()}
    assert list(slow_a) != list(slow_b)
    assert len(set(slow_a.values())) == 6
    assert slow_a["0 Hello"] == DICE.key("call 1")
    assert slow_a["5 Hello"] == DICE.key("call 2")
    assert DICE.key("call 1.1") in slow_a.values()


async def test_a_task_that_outlives_a_turn_speaks_in_the_next_one() -> None:
    scene = stage()
    client = ca.model_client("test/model")
    seat, first = seated(scene)
    begun, opened, spoken, over = (asyncio.Event() for _ in range(4))

    async def background() -> None:
        await client.create(HELLO)
        begun.set()
        await opened.wait()
        await client.create(HELLO)
        spoken.set()
        await over.wait()
        with pytest.raises(ca.ModelError, match="between two turns"):
            await client.create(HELLO)

    with seat.speaking(first):
        task = asyncio.create_task(background())
        await begun.wait()
    second = Speech(DICE, "repair 1", 50)
    with seat.speaking(second):
        opened.set()
        await spoken.wait()
    over.set()
    await task
    assert (first.calls, second.calls) == (1, 1)
    assert [call.noise for call in scene.backend.calls] == [DICE.key("call 1.1"), DICE.key("repair 1 call 1.1")]


async def test_the_role_decides_the_temperature_and_the_turn_the_tokens() -> None:
    scene = stage()
    for role in ("debater", "judge"):
        seat, speech = seated(scene, role)
        with seat.speaking(speech):
            await ca.model_client("test/model").create(HELLO)
    assert [(call.sampling.temperature, call.max_tokens) for call in scene.backend.calls] == [(0.7, 50), (0.1, 50)]


async def test_a_cancelled_token_cancels_the_call() -> None:
    scene = stage()
    held = asyncio.Event()

    async def never(call: Call) -> Reply:
        held.set()
        await asyncio.Event().wait()
        return Reply(outcome="empty")

    scene.backend.complete = never  # type: ignore[method-assign]
    token = CancellationToken()
    asked = asyncio.create_task(ask(scene, cancellation_token=token))
    await held.wait()
    token.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked


# Outside a run.


async def test_outside_a_run_a_client_asks_the_model_itself_and_keeps_nothing() -> None:
    client = ca.model_client("sim/ada")
    assert current_seat() is None
    question = '<question domain="math">\nWhat is 17 + 25?\n</question>\n\nWrite <respond>…</respond>'
    asked = [UserMessage(content=question, source="user")]
    said = [str((await client.create(asked)).content) for _ in range(6)]
    assert all("Claim" in text for text in said)
    assert len(set(said)) > 1, "every call rolls its own dice"
    gateway = client._own
    assert gateway is not None
    assert (gateway.counts.made, gateway.counts.memoised) == (6, 0)
    await client.close()
    await client.close()
    assert str((await client.create(asked)).content).startswith("<respond>")
    await client.close()


def test_outside_a_run_a_client_can_be_used_in_one_event_loop_after_another() -> None:
    client = ca.model_client("sim/ada")
    asked = [UserMessage(content='<question domain="math">\nWhy?\n</question>\n\n<respond>…</respond>', source="user")]

    async def once() -> int:
        await client.create(asked)
        assert client._own is not None
        return id(client._own)

    assert asyncio.run(once()) != asyncio.run(once())
    assert TOKENS_OUTSIDE > 1000
