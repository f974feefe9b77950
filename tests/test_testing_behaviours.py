"""Every behaviour of the fake provider, as a client on the other end of the wire meets it."""

import asyncio
import email.utils
import inspect
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from coupled_arena.errors import ConfigurationError
from coupled_arena.testing import FakeProvider, behaviours
from coupled_arena.testing.behaviours import Behaviour, ToolCall
from tests.testing_scene import Answered, ask

KEY = "sk-abcdefghijklmnop"


class Waits:
    """Stands in for sleeping, on the provider's event loop."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)
        await asyncio.sleep(0)


async def answer_to(behaviour: Behaviour | str, *, waits: Waits | None = None, **fields: Any) -> Answered:
    """Return what one request gets."""
    with FakeProvider({"ada": behaviour}, key=KEY, sleep=waits or Waits()) as provider:
        return await ask(provider, **fields)


class TestWhatIsSaid:
    async def test_is_the_text(self) -> None:
        answer = await answer_to("Forty-two.")
        assert (answer.status, answer.content, answer.ending) == (200, "Forty-two.", "stop")
        assert answer.body["usage"]["prompt_tokens"] == 2
        assert answer.written == (3, 0)

    async def test_may_come_without_a_count_of_tokens(self) -> None:
        answer = await answer_to(behaviours.reply("yes", usage=False))
        assert "usage" not in answer.body

    async def test_may_come_late(self) -> None:
        waits = Waits()
        answer = await answer_to(behaviours.reply("yes", delay=1.5), waits=waits)
        late = await answer_to(behaviours.delayed(2, behaviours.delayed(3, behaviours.error(503))), waits=waits)
        assert (answer.content, late.status, waits.seconds) == ("yes", 503, [1.5, 5])

    async def test_may_show_its_reasoning(self) -> None:
        answer = await answer_to(behaviours.reply("so", reasoning="hm, hm, hm."))
        assert answer.choice["message"]["reasoning_content"] == "hm, hm, hm."
        assert answer.written == (4, 3)

    async def test_may_hide_its_reasoning(self) -> None:
        answer = await answer_to(behaviours.reply("so", reasoning_tokens=50))
        assert "reasoning_content" not in answer.choice["message"]
        assert answer.written == (51, 50)

    async def test_may_be_a_call_of_a_tool(self) -> None:
        answer = await answer_to(behaviours.reply(None, tool_calls=[ToolCall("add", '{"a": 1}', "call_7")]))
        (call,) = answer.choice["message"]["tool_calls"]
        assert call == {"id": "call_7", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}
        assert (answer.content, answer.ending) == (None, "tool_calls")

    def test_is_refused_where_a_tool_call_is_none(self) -> None:
        call: Any = {"name": "add", "arguments": "{}"}
        with pytest.raises(ConfigurationError, match=r"tool_calls: must be a behaviours\.ToolCall\(.*, not \{'name'"):
            behaviours.reply(None, tool_calls=[ToolCall("add"), call])

    @pytest.mark.parametrize(
        ("behaviour", "content", "ending"),
        [
            (behaviours.null(), None, "stop"),
            (behaviours.refusal("No."), None, "stop"),
            (behaviours.filtered(), None, "content_filter"),
            (behaviours.filtered("half a"), "half a", "content_filter"),
            (behaviours.length(), None, "length"),
            (behaviours.length("half a"), "half a", "length"),
            (behaviours.reply("", finish_reason="stop"), "", "stop"),
        ],
    )
    async def test_may_be_nothing_or_end_early(self, behaviour: Behaviour, content: str | None, ending: str) -> None:
        answer = await answer_to(behaviour)
        assert (answer.status, answer.content, answer.ending) == (200, content, ending)

    async def test_may_be_a_refusal(self) -> None:
        answer = await answer_to(behaviours.refusal("I will not."))
        assert answer.choice["message"]["refusal"] == "I will not."

    async def test_may_hold_no_choice(self) -> None:
        assert (await answer_to(behaviours.no_choices())).body["choices"] == []

    @pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
    async def test_is_cut_at_the_limit_of_the_request(self, name: str) -> None:
        answer = await answer_to("one two three", **{name: 2})  # type: ignore[arg-type]
        assert (answer.content, answer.ending, answer.written) == ("one two ", "length", (2, 0))

    async def test_is_whole_where_it_just_fits(self) -> None:
        answer = await answer_to("one two ", max_tokens=2)
        assert (answer.content, answer.ending) == ("one two ", "stop")


class TestHiddenThinking:
    async def test_can_eat_the_whole_limit(self) -> None:
        answer = await answer_to(behaviours.hidden_thinking(), max_tokens=30)
        assert (answer.content, answer.ending, answer.written) == ("", "length", (30, 30))

    async def test_ends_for_its_length_without_a_limit_too(self) -> None:
        answer = await answer_to(behaviours.hidden_thinking())
        assert (answer.content, answer.ending) == ("", "length")

    @pytest.mark.parametrize(
        ("limit", "content", "ending", "written"),
        [
            (10, "", "length", (10, 10)),
            (20, "", "length", (20, 20)),
            (21, "one ", "length", (21, 20)),
            (22, "one two", "stop", (22, 20)),
        ],
    )
    async def test_by_default_leaves_the_text_what_is_left(
        self, limit: int, content: str, ending: str, written: tuple[int, int]
    ) -> None:
        answer = await answer_to(behaviours.thinks_by_default(20, "one two"), max_completion_tokens=limit)
        assert (answer.content, answer.ending, answer.written) == (content, ending, written)

    async def test_by_default_is_switched_off_by_no_effort(self) -> None:
        thinker = behaviours.thinks_by_default(20, "one two")
        assert (await answer_to(thinker, max_tokens=5, reasoning_effort="none")).content == "one two"
        assert (await answer_to(thinker, max_tokens=5, reasoning_effort="low")).content == ""

    async def test_leaves_errors_as_they_are(self) -> None:
        assert (await answer_to(behaviours.thinks_by_default(20, behaviours.error(500)))).status == 500


class TestErrors:
    @pytest.mark.parametrize("status", [400, 401, 403, 404, 408, 413, 422, 429, 500, 502, 503, 504, 529])
    async def test_have_their_status_and_the_form_of_openai(self, status: int) -> None:
        answer = await answer_to(behaviours.error(status))
        assert answer.status == status
        assert answer.headers["Content-Type"].startswith("application/json")
        assert answer.error.keys() == {"message", "type", "param", "code"}
        assert answer.error["message"]
        assert answer.error["type"]

    async def test_say_what_they_are_told_to(self) -> None:
        told = behaviours.error(418, "I am a teapot.", type="kitchen_error", code="teapot", param="water")
        answer = await answer_to(told)
        expected = {"message": "I am a teapot.", "type": "kitchen_error", "param": "water", "code": "teapot"}
        assert (answer.status, answer.error) == (418, expected)

    async def test_of_an_empty_account_are_no_ordinary_rate_limit(self) -> None:
        answer = await answer_to(behaviours.no_money())
        assert (answer.status, answer.error["code"]) == (429, "insufficient_quota")

    @pytest.mark.parametrize(
        ("asked", "header", "value"),
        [
            ({"retry_after": 2}, "Retry-After", "2"),
            ({"retry_after": 0.5}, "Retry-After", "0.5"),
            ({"retry_after": "soon"}, "Retry-After", "soon"),
            ({"retry_after": datetime(2100, 1, 1, tzinfo=UTC)}, "Retry-After", "Fri, 01 Jan 2100 00:00:00 GMT"),
            ({"retry_after_ms": 250}, "retry-after-ms", "250"),
        ],
    )
    async def test_say_when_to_come_back(self, asked: dict[str, Any], header: str, value: str) -> None:
        answer = await answer_to(behaviours.error(429, **asked))
        assert (answer.status, answer.headers[header]) == (429, value)

    async def test_say_a_date_that_can_be_read(self) -> None:
        moment = datetime(2031, 5, 6, 7, 8, 9, tzinfo=UTC)
        answer = await answer_to(behaviours.error(503, retry_after=moment))
        assert email.utils.parsedate_to_datetime(answer.headers["Retry-After"]) == moment

    async def test_say_nothing_of_coming_back_unless_told(self) -> None:
        headers = (await answer_to(behaviours.error(429))).headers
        assert [name for name in headers if name.lower().startswith("retry")] == []

    async def test_echo_the_key_only_where_a_careless_provider_is_wanted(self) -> None:
        assert KEY in (await answer_to(behaviours.error(500, "Oops.", echo_key=True))).error["message"]
        assert KEY not in (await answer_to(behaviours.error(500, "Oops."))).text

    async def test_refuse_a_parameter_while_it_is_sent(self) -> None:
        choosy = behaviours.refuses_parameter("temperature", "fine")
        refused = await answer_to(choosy, temperature=0.7)
        assert (refused.status, refused.error["param"]) == (400, "temperature")
        assert refused.error["code"] == "unsupported_parameter"
        assert (await answer_to(choosy)).content == "fine"

    async def test_ask_for_the_newer_name_of_the_limit(self) -> None:
        choosy = behaviours.refuses_parameter("max_tokens", "fine")
        assert "max_completion_tokens" in (await answer_to(choosy, max_tokens=5)).error["message"]
        assert (await answer_to(choosy, max_completion_tokens=5)).content == "fine"


class TestBrokenConnections:
    async def test_are_reset(self) -> None:
        with pytest.raises(aiohttp.ClientOSError) as broken:
            await answer_to(behaviours.reset())
        assert isinstance(broken.value, ConnectionResetError) or broken.value.errno == 104

    async def test_are_closed_without_an_answer(self) -> None:
        with pytest.raises(aiohttp.ServerDisconnectedError):
            await answer_to(behaviours.close())

    async def test_hang_until_the_client_leaves(self) -> None:
        with FakeProvider({"ada": behaviours.hang(), "bob": "still here"}) as provider:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.05):
                    await ask(provider)
            assert (await ask(provider, "bob")).content == "still here"
            assert provider.counts == {("ada", 0): 1, ("bob", 200): 1}

    @pytest.mark.parametrize("stream", [False, True])
    @pytest.mark.parametrize("share", [0.0, 0.5, 0.99])
    async def test_end_within_the_body(self, share: float, stream: bool) -> None:
        with pytest.raises(aiohttp.ClientPayloadError):
            await answer_to(behaviours.half_body("a text " * 50, share=share), stream=stream)

    async def test_end_within_the_body_of_an_error_too(self) -> None:
        with pytest.raises(aiohttp.ClientPayloadError):
            await answer_to(behaviours.half_body(behaviours.error(500)))


class TestBodies:
    async def test_come_in_drops(self) -> None:
        waits = Waits()
        answer = await answer_to(behaviours.drip("a slow text", pieces=5, pause=0.25), waits=waits)
        assert (answer.content, waits.seconds) == ("a slow text", [0.25] * 4)

    async def test_come_in_no_more_drops_than_they_have_bytes(self) -> None:
        waits = Waits()
        answer = await answer_to(behaviours.drip(behaviours.body(b"{}"), pieces=9, pause=1), waits=waits)
        assert (answer.body, waits.seconds) == ({}, [1])

    async def test_come_in_drops_where_they_are_streamed(self) -> None:
        answer = await answer_to(behaviours.drip("a slow text", pieces=7), stream=True)
        assert "".join(chunk["choices"][0]["delta"].get("content") or "" for chunk in answer.chunks) == "a slow text"

    async def test_of_wrong_json_claim_to_be_json(self) -> None:
        answer = await answer_to(behaviours.wrong_json())
        assert (answer.status, answer.headers["Content-Type"]) == (200, "application/json")
        with pytest.raises(json.JSONDecodeError):
            _ = answer.body

    async def test_of_a_gateway_are_a_page(self) -> None:
        answer = await answer_to(behaviours.html(504))
        assert (answer.status, answer.headers["Content-Type"]) == (504, "text/html")
        assert "<h1>504 error</h1>" in answer.text

    async def test_may_be_empty(self) -> None:
        answer = await answer_to(behaviours.empty_body())
        assert (answer.status, answer.text) == (200, "")

    async def test_may_be_anything(self) -> None:
        told = behaviours.body({"object": "error"}, status=202)
        assert ((await answer_to(told)).status, (await answer_to(told)).body) == (202, {"object": "error"})
        assert (await answer_to(behaviours.body("plain", content_type="text/plain"))).text == "plain"


class TestStreams:
    async def test_join_to_the_text(self) -> None:
        text = "A text that is longer than one piece of a stream."
        chunks = (await answer_to(text, stream=True)).chunks
        assert len(chunks) > 3
        assert "".join(chunk["choices"][0]["delta"].get("content") or "" for chunk in chunks) == text
        assert [chunk["choices"][0]["finish_reason"] for chunk in chunks] == [None] * (len(chunks) - 1) + ["stop"]
        assert all("usage" not in chunk for chunk in chunks)

    async def test_end_with_the_usage_where_it_is_asked_for(self) -> None:
        chunks = (await answer_to("four", stream=True, stream_options={"include_usage": True})).chunks
        assert [chunk["usage"] for chunk in chunks[:-1]] == [None] * (len(chunks) - 1)
        assert chunks[-1]["choices"] == []
        assert chunks[-1]["usage"]["completion_tokens"] == 1

    async def test_carry_reasoning_refusals_and_tools(self) -> None:
        said = behaviours.reply(None, reasoning="hm", tool_calls=[ToolCall("add")])
        deltas = [chunk["choices"][0]["delta"] for chunk in (await answer_to(said, stream=True)).chunks]
        assert [delta["reasoning_content"] for delta in deltas if "reasoning_content" in delta] == ["hm"]
        assert [delta["tool_calls"][0]["function"]["name"] for delta in deltas if "tool_calls" in delta] == ["add"]
        refused = (await answer_to(behaviours.refusal("No."), stream=True)).chunks
        assert [chunk["choices"][0]["delta"].get("refusal") for chunk in refused if chunk["choices"]][1] == "No."

    async def test_hold_no_choice_where_none_is_wanted(self) -> None:
        assert (await answer_to(behaviours.no_choices(), stream=True)).chunks == []

    async def test_are_cut_at_the_limit(self) -> None:
        chunks = (await answer_to("one two three", stream=True, max_tokens=1)).chunks
        assert chunks[1]["choices"][0]["delta"] == {"content": "one "}
        assert chunks[-1]["choices"][0]["finish_reason"] == "length"

    async def test_do_not_hide_an_error(self) -> None:
        answer = await answer_to(behaviours.error(429), stream=True)
        assert (answer.status, answer.error["type"]) == (429, "rate_limit_error")


def test_every_behaviour_is_in_the_guide() -> None:
    guide = (Path(__file__).parent.parent / "docs" / "testing.md").read_text(encoding="utf-8")
    functions = [name for name, found in vars(behaviours).items() if inspect.isfunction(found) and name[0] != "_"]
    own = [name for name in functions if getattr(behaviours, name).__module__ == behaviours.__name__]
    assert len(own) >= 20
    assert [name for name in own if f"| `{name}(" not in guide] == []


@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        (behaviours.half_body(share=1.0), "share must be at least 0 and below 1"),
        (behaviours.drip(pieces=0), "pieces must be at least 1"),
        (behaviours.drip(pause=-1), "pause at least 0"),
        (behaviours.delayed(float("nan"), "ok"), "seconds must be at least 0, not nan"),
        (behaviours.error(200), "must be from 400 to 599, not 200"),
        (behaviours.delayed(1, behaviours.drip("sim/a?skil=1")), "sim/a\\?skil=1: skil: is no dial"),
        (behaviours.thinks_by_default(1, 7), "must be a text, a behaviour"),  # type: ignore[arg-type]
    ],
)
def test_what_cannot_be_played_is_refused_before_it_is_served(behaviour: Behaviour, words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        FakeProvider({"ada": behaviour})
