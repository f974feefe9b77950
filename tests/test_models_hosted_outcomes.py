"""Every behaviour of the fake provider, through LiteLLM and real HTTP: what the call comes to and what it costs.

The table is the point: behaviour, outcome, requests made, what the randomness was, what the reply says of it.
"""

import inspect
import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from coupled_arena.coupling import Sampling
from coupled_arena.models.calls import ANY_OBJECT, Call, Message, ToolCall
from coupled_arena.models.hosted.answers import ENDINGS
from coupled_arena.models.hosted.asking import LEFT_OUT
from coupled_arena.models.hosted.backend import HostedBackend
from coupled_arena.models.hosted.exceptions import KINDS, outcome_of, recourse
from coupled_arena.models.litellm_loader import ODD_ANSWER, PYDANTIC_COMPLAINT, load_litellm
from coupled_arena.records import Outcome, Sharing
from coupled_arena.testing import FakeProvider, behaviours
from coupled_arena.testing.behaviours import Behaviour
from tests.hosted_scene import SECRET, Start, Waits

pytestmark = [
    pytest.mark.filterwarnings(f"ignore:{PYDANTIC_COMPLAINT}:UserWarning"),
    pytest.mark.filterwarnings(f"ignore:{ODD_ANSWER}:UserWarning"),
]

LIMIT = 64
SEED: Sharing = "seed-only"
NONE: Sharing = "none"
b = behaviours


class Row(NamedTuple):
    """One line of the table."""

    id: str
    script: Any
    outcome: Outcome
    requests: int
    sharing: Sharing
    detail: str = ""
    text: str = ""


def answer(content: Any, ending: str | None = "stop", **message: Any) -> Behaviour:
    """Return an answer in OpenAI's form, with any content."""
    choice = {
        "index": 0,
        "finish_reason": ending,
        "message": {"role": "assistant", "content": content, **message},
    }
    usage = {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
    return b.body({"id": "1", "object": "chat.completion", "model": "ada", "choices": [choice], "usage": usage})


def soon(*faults: Behaviour) -> tuple[Behaviour, ...]:
    return (*faults, b.reply("at last"))


UNREAD = "the answer cannot be read"
THINKING = f"the limit of {LIMIT} tokens was spent on hidden thinking before any text"
NO_TEXT = "the reply holds no text"
CUT = "the token limit was reached before any text"
FILTER = "the provider's filter stopped the reply"
BROKE = "the provider broke the reply off"

SAID = [
    Row("a text", b.reply("Forty-two."), "ok", 1, SEED, "", "Forty-two."),
    Row("a text after a while", b.delayed(0.01, "late"), "ok", 1, SEED, "", "late"),
    Row("a text in drips", b.drip("slowly", pieces=5, pause=0.005), "ok", 1, SEED, "", "slowly"),
    Row("a simulated model's text", b.simulated("sim/ada?skill=1&world=7"), "ok", 1, SEED),
    Row("a text without usage", b.reply("so", usage=False), "ok", 1, SEED, "", "so"),
    Row("reasoning and a text", b.reply("so", reasoning="hm, hm."), "ok", 1, SEED, "", "so"),
    Row("thinking that fits", b.thinks_by_default(8, "so"), "ok", 1, SEED, "", "so"),
    Row("a text cut by the limit", b.reply("word " * 500), "truncated", 1, SEED),
    Row("a text cut for its length", b.length("half a"), "truncated", 1, SEED, "", "half a"),
    Row("an ending of null", answer("so", None), "ok", 1, SEED, "", "so"),
    Row("an ending nobody knows", answer("so", "done_and_dusted"), "ok", 1, SEED, "", "so"),
    Row("unasked tool calls", b.reply(None, tool_calls=[b.ToolCall("look")]), "empty", 1, SEED, NO_TEXT),
]
UNSAID = [
    Row("null content", b.null(), "empty", 1, SEED, NO_TEXT),
    Row("an empty text", b.reply(""), "empty", 1, SEED, NO_TEXT),
    Row("white space", b.reply(" \n "), "empty", 1, SEED, NO_TEXT),
    Row("no choices", b.no_choices(), "empty", 1, SEED, "no choice"),
    Row("ended for its length without a text", b.length(), "empty", 1, SEED, CUT),
    Row("hidden thinking eats the limit", b.hidden_thinking(), "failed", 1, SEED, THINKING),
    Row("thinking by default eats the limit", b.thinks_by_default(500), "failed", 1, SEED, "thinking_tokens (now 0)"),
    Row("shown thinking eats the limit", b.reply("so", reasoning="hm " * 500), "failed", 1, SEED, THINKING),
    Row(
        "ended for its length, nothing counted",
        b.reply(None, finish_reason="length", usage=False),
        "failed",
        1,
        SEED,
        THINKING,
    ),
    Row("a refusal", b.refusal("I will not."), "refused", 1, SEED, "I will not."),
    Row("a refusal as the ending", b.reply("No.", finish_reason="refusal"), "refused", 1, SEED, "No."),
    Row(
        "a refusal as the ending, without words",
        b.reply(None, finish_reason="refusal"),
        "refused",
        1,
        SEED,
        "refused to answer",
    ),
    Row("a content filter", b.filtered(), "filtered", 1, SEED, FILTER),
    Row("a content filter in mid-sentence", b.filtered("half a"), "filtered", 1, SEED, FILTER),
    Row("Gemini's SAFETY", b.reply(None, finish_reason="SAFETY"), "filtered", 1, SEED, f"{FILTER}: SAFETY"),
    Row("a guardrail", b.reply("x", finish_reason="guardrail_intervened"), "filtered", 1, SEED, FILTER),
    Row("an error in mid-sentence", soon(b.reply("half", finish_reason="error")), "ok", 2, SEED, "", "at last"),
    Row(
        "always an error in mid-sentence", b.reply("half", finish_reason="error"), "failed", 4, SEED, f"{BROKE}: error"
    ),
    Row("an aborted text", b.reply("half", finish_reason="abort"), "failed", 4, SEED, f"{BROKE}: abort"),
]
ERRORS = [
    Row("400", b.error(400), "failed", 1, NONE, "The request is not valid."),
    Row("400 that blames the prompt", b.error(400, code="content_policy_violation"), "filtered", 1, NONE, "not valid"),
    Row("401", b.error(401), "failed", 1, NONE, "Incorrect API key provided."),
    Row("401 that echoes the key", b.error(401, echo_key=True), "failed", 1, NONE, "(key: ***)"),
    Row("402", b.error(402), "failed", 1, NONE, "status 402"),
    Row("403", b.error(403), "failed", 1, NONE, "may not use the model"),
    Row("404", b.error(404), "failed", 1, NONE, "does not exist"),
    Row("408", b.error(408), "timeout", 4, NONE, "took too long"),
    Row("409", b.error(409), "failed", 4, NONE, "status 409"),
    Row("413", b.error(413), "failed", 1, NONE, "too large"),
    Row("422", b.error(422), "failed", 1, NONE, "cannot be processed"),
    Row("429 twice", soon(b.error(429), b.error(429)), "ok", 3, SEED, "", "at last"),
    Row("429 nine times", soon(*[b.error(429)] * 9), "ok", 10, SEED, "", "at last"),
    Row("429 that says when", soon(b.error(429, retry_after=7)), "ok", 2, SEED, "", "at last"),
    Row("429 for ever", b.error(429), "failed", 20, NONE, "still refused after waiting for 600 s: Rate limit reached."),
    Row("429 with Retry-After 0 for ever", b.error(429, retry_after=0), "failed", 20, NONE, "still refused after"),
    Row("429 with Retry-After 3600", b.error(429, retry_after=3600), "failed", 1, NONE, "asks to wait for 3600 s"),
    Row("429 without money", b.no_money(), "failed", 1, NONE, "exceeded your current quota"),
    Row("500 once", soon(b.error(500)), "ok", 2, SEED, "", "at last"),
    Row("500 for ever", b.error(500), "failed", 4, NONE, "The server had an error"),
    Row("502 for ever", b.error(502), "failed", 4, NONE, "Bad gateway."),
    Row("503 with Retry-After", soon(b.error(503, retry_after=20)), "ok", 2, SEED, "", "at last"),
    Row("503 with Retry-After 600", b.error(503, retry_after=600), "failed", 1, NONE, "asks to wait for 600 s"),
    Row("503 for ever", b.error(503), "failed", 4, NONE, "overloaded or not ready"),
    Row("504 for ever", b.error(504), "timeout", 4, NONE, "gateway timed out"),
    Row("529 nine times", soon(*[b.error(529)] * 9), "ok", 10, SEED, "", "at last"),
    Row("an HTML page, 502", b.html(), "failed", 4, NONE, "status 502"),
    Row("an HTML page, 403", b.html(403), "failed", 1, NONE, "status 403"),
    Row("an HTML page, 413", b.html(413), "failed", 1, NONE, "status 413"),
    Row("an HTML page, 200", b.html(200), "failed", 4, NONE, UNREAD),
]
WIRE = [
    Row("a reset connection once", soon(b.reset()), "ok", 2, SEED, "", "at last"),
    Row("a reset connection for ever", b.reset(), "failed", 4, NONE, "onnection"),
    Row("a closed connection for ever", b.close(), "failed", 4, NONE, "onnection"),
    Row("half an answer once", soon(b.half_body()), "ok", 2, SEED, "", "at last"),
    Row("half an answer for ever", b.half_body(), "failed", 4, NONE),
    Row("no answer", b.hang(), "timeout", 4, NONE),
    Row("no answer once", soon(b.hang()), "ok", 2, SEED, "", "at last"),
    Row("wrong JSON", b.wrong_json(), "failed", 4, NONE, UNREAD),
    Row("an empty body", b.empty_body(), "failed", 4, NONE, UNREAD),
    Row("JSON of another kind", b.body("[1, 2]"), "failed", 4, NONE, UNREAD),
    Row("no choices at all", b.body({"id": "1", "object": "chat.completion"}), "failed", 4, NONE, UNREAD),
    Row("a choice without a message", b.body({"id": "1", "choices": [{"index": 0}]}), "failed", 4, NONE, UNREAD),
    Row("content in parts", answer([{"type": "text", "text": "so"}]), "failed", 4, NONE, UNREAD),
    Row(
        "an error with status 200", b.body({"error": {"message": "it died", "code": 502}}), "failed", 4, NONE, "it died"
    ),
    Row("an error of text with status 200", b.body({"error": "loading"}), "failed", 4, NONE, UNREAD),
]
SETTINGS = [
    Row("no temperature", b.refuses_parameter("temperature"), "ok", 2, SEED, f"{LEFT_OUT}: temperature", "ok"),
    Row("no seed", b.refuses_parameter("seed"), "ok", 2, NONE, f"{LEFT_OUT}: seed", "ok"),
    Row("no top_k", b.refuses_parameter("top_k"), "ok", 2, SEED, f"{LEFT_OUT}: top_k", "ok"),
    Row("no stop", b.refuses_parameter("stop"), "ok", 2, SEED, f"{LEFT_OUT}: stop", "ok"),
    Row("no response_format", b.refuses_parameter("response_format"), "ok", 2, SEED, "response_format", "ok"),
    Row("no max_tokens", b.refuses_parameter("max_tokens"), "ok", 2, SEED, "", "ok"),
    Row(
        "no temperature, top_p and seed",
        b.refuses_parameter("temperature", b.refuses_parameter("top_p", b.refuses_parameter("seed", "so"))),
        "ok",
        4,
        NONE,
        f"{LEFT_OUT}: temperature, top_p, seed",
        "so",
    ),
    Row("no messages", b.refuses_parameter("messages"), "failed", 1, NONE, "'messages' is not supported"),
    Row(
        "a setting that is refused and was not sent",
        b.error(400, "Unsupported parameter: 'min_p'", param="min_p"),
        "failed",
        1,
        NONE,
    ),
    Row(
        "a temperature out of range",
        b.error(400, "'temperature' must be at most 0.5", param="temperature"),
        "failed",
        1,
        NONE,
    ),
]
TABLE = [*SAID, *UNSAID, *ERRORS, *WIRE, *SETTINGS]


def asked(provider: FakeProvider, name: str = "ada", **settings: Any) -> Call:
    """Return a call with every optional setting but `min_p` and tools."""
    return Call(
        provider.model(name, timeout=settings.pop("timeout", 5.0), **settings),
        (Message("user", "hello"),),
        Sampling(0.7, 5, 0.9),
        LIMIT,
        bytes(range(16)),
        stop=("##",),
        schema=ANY_OBJECT,
    )


@pytest.mark.parametrize("row", TABLE, ids=[row.id.replace(" ", "-") for row in TABLE])
async def test_what_a_provider_does_ends_in(row: Row, fake_provider: Start) -> None:
    provider, waits = fake_provider({"ada": row.script}, key=SECRET), Waits()
    backend = waits.backend(jitter=lambda: 0.5)
    quick = "no-answer" in row.id.replace(" ", "-")
    reply = await backend.complete(asked(provider, timeout=0.3 if quick else 5.0))
    await backend.aclose()
    assert (reply.outcome, provider.received, reply.sharing) == (row.outcome, row.requests, row.sharing)
    assert reply.retries == row.requests - 1
    assert row.detail in reply.detail
    assert bool(reply.detail) is bool(row.detail or row.outcome not in ("ok", "truncated"))
    if row.text:
        assert reply.text == row.text
    assert bool(reply.text) is (row.outcome in ("ok", "truncated"))
    assert SECRET not in repr(reply)
    assert "\n" not in reply.detail
    assert "litellm" not in reply.detail.lower().replace("litellm: provider returned", "")


def test_the_table_holds_every_behaviour() -> None:
    played = set(re.findall(r"\bb\.(\w+)\(", Path(__file__).read_text(encoding="utf-8")))
    offered = {
        name
        for name, thing in vars(behaviours).items()
        if inspect.isfunction(thing) and thing.__module__ == behaviours.__name__ and not name.startswith("_")
    }
    assert offered
    assert offered <= played


def test_every_exception_of_litellm_has_its_outcome() -> None:
    exceptions = load_litellm().exceptions
    raised = {
        name
        for name, kind in vars(exceptions).items()
        if inspect.isclass(kind) and issubclass(kind, BaseException) and kind.__module__ == exceptions.__name__
    }
    assert raised == set(KINDS)


def test_every_reason_for_an_end_that_litellm_knows_has_its_meaning() -> None:
    known: dict[str, str] = load_litellm().litellm_core_utils.core_helpers._FINISH_REASON_MAP
    assert set(known) == set(ENDINGS)
    for native, mapped in known.items():
        meanings = {
            "stop": {"finished", "broken"},
            "length": {"cut"},
            "content_filter": {"filtered", "refused"},
            "tool_calls": {"finished"},
            "function_call": {"finished"},
        }[mapped]
        assert ENDINGS[native] in meanings, native


def made(name: str) -> Exception:
    """Return an exception of a class of LiteLLM's."""
    kind: Any = getattr(load_litellm().exceptions, name)
    given: dict[str, Any] = {
        "message": "words",
        "model": "m",
        "llm_provider": "p",
        "status_code": 503,
        "response": None,
        "current_cost": 1.0,
        "max_budget": 1.0,
        "custom_llm_provider": "p",
        "entity_type": "name",
        "request_data": {},
        "route_to_model": "m",
        "session_id": "s",
        "raw_response": "{}",
        "schema": "{}",
        "blocked_content": True,
    }
    if name in ("PermissionDeniedError", "UnprocessableEntityError"):
        given["response"] = httpx.Response(403, request=httpx.Request("POST", "http://127.0.0.1"))
    taken = inspect.signature(kind.__init__).parameters
    error: Exception = kind(**{key: value for key, value in given.items() if key in taken})
    return error


@pytest.mark.parametrize("name", sorted(set(KINDS) - {"VectorStoreSearchError", "ImageFetchError"}))
def test_an_exception_of_litellm_means_what_the_table_says(name: str) -> None:
    error = made(name)
    outcome, helps = KINDS[name]
    if name == "GuardrailRaisedException":
        outcome = "filtered"
    assert (outcome_of(error), recourse(error)) == (outcome, helps)


async def test_tools_are_sent_and_the_calls_of_them_read(fake_provider: Start) -> None:
    wish = b.ToolCall("look", '{"at": "it"}', "call_7")
    provider = fake_provider({"ada": b.reply(None, tool_calls=[wish])})
    tool = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}
    result = '{"tool_call_id": "call_1"}'
    before = json.dumps(
        {"tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "look", "arguments": "{}"}}]}
    )
    call = Call(
        provider.model("ada"),
        (Message("user", "look"), Message("assistant", "", before), Message("tool", "nothing", result)),
        Sampling(0.7),
        LIMIT,
        bytes(16),
        tools=(tool,),
        tool_choice="look",
    )
    backend = HostedBackend()
    reply = await backend.complete(call)
    await backend.aclose()
    assert (reply.outcome, reply.text) == ("ok", "")
    assert reply.tool_calls == (ToolCall(id="call_7", name="look", arguments='{"at": "it"}'),)
    body = provider.requests[0].body
    assert body["tools"] == [tool]
    assert body["tool_choice"] == {"type": "function", "function": {"name": "look"}}
    assert body["messages"][1].get("content") is None
    assert body["messages"][1]["tool_calls"][0]["id"] == "call_1"
    assert body["messages"][2] == {"role": "tool", "content": "nothing", "tool_call_id": "call_1"}
