"""Hosted models against a real HTTP server on loopback: every behaviour ends in its outcome."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from coupled_arena.coupling import Sampling
from coupled_arena.errors import ModelError
from coupled_arena.models.calls import Call, Message
from coupled_arena.models.gateway import Gateway
from coupled_arena.models.hosted.asking import LEFT_OUT
from coupled_arena.models.hosted.backend import HostedBackend
from coupled_arena.models.hosted.environment import missing_key
from coupled_arena.models.hosted.said import retry_after
from coupled_arena.models.limits.waits import LONGEST_WAIT
from coupled_arena.models.litellm_loader import PYDANTIC_COMPLAINT
from coupled_arena.models.model import Model

pytestmark = pytest.mark.filterwarnings(f"ignore:{PYDANTIC_COMPLAINT}:UserWarning")

SECRET = "sk-abcdefghijklmnop"


def completion(content: str | None, ending: str = "stop", *, name: str = "gpt-4o-mini", **message: Any) -> web.Response:
    return web.json_response(
        {
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "model": name,
            "choices": [
                {
                    "index": 0,
                    "finish_reason": ending,
                    "message": {"role": "assistant", "content": content, **message},
                }
            ],
            "usage": {"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12},
        }
    )


def fault(status: int, message: str, code: str | None = None, **headers: str) -> web.Response:
    return web.json_response({"error": {"message": message, "code": code}}, status=status, headers=headers)


class Provider:
    """A scripted OpenAI-compatible server: answers in order, the last answer for ever."""

    def __init__(self) -> None:
        self.script: list[web.Response | None] = []
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.released = asyncio.Event()
        self.base = ""

    async def handle(self, request: web.Request) -> web.Response:
        self.requests.append(await request.json())
        self.keys.append(request.headers["Authorization"])
        answer = self.script[min(len(self.requests), len(self.script)) - 1]
        if answer is None:
            await self.released.wait()
            return web.Response()
        return web.Response(status=answer.status, body=answer.body, headers=answer.headers)


@pytest.fixture
async def provider(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Provider]:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    provider = Provider()
    application = web.Application()
    application.router.add_post("/v1/chat/completions", provider.handle)
    async with TestServer(application) as server:
        provider.base = f"http://127.0.0.1:{server.port}/v1"
        yield provider
        provider.released.set()


def model_at(provider: Provider, **settings: Any) -> Model:
    return Model("gpt", "openai/gpt-4o-mini", api_base=provider.base, **settings)


def call(model: Model, text: str = "hello", **changes: Any) -> Call:
    return Call(model, (Message("user", text),), Sampling(0.7), 20, bytes(range(16)), **changes)


class Waits:
    """Stands in for sleeping, and for the clock that goes on meanwhile."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)

    def clock(self) -> float:
        return sum(self.seconds)


@pytest.mark.parametrize(
    ("answer", "outcome", "text", "detail"),
    [
        (completion("hello"), "ok", "hello", ""),
        (completion("hel", "length"), "truncated", "hel", ""),
        (completion(None, "length"), "empty", "", "the token limit was reached before any text"),
        (completion("half", "content_filter"), "filtered", "", "the provider's filter stopped the reply"),
        (completion(None, "content_filter"), "filtered", "", "the provider's filter stopped the reply"),
        (completion(None), "empty", "", "the reply holds no text"),
        (completion(" \n"), "empty", "", "the reply holds no text"),
        (completion(None, refusal="I will not."), "refused", "", "I will not."),
        (web.json_response({"id": "1", "object": "chat.completion", "choices": []}), "empty", "", "no choice"),
        (fault(401, f"Incorrect key {SECRET}"), "failed", "", "Incorrect key ***"),
        (fault(404, "no such model"), "failed", "", "no such model"),
        (fault(400, "your prompt was rejected", "content_policy_violation"), "filtered", "", "rejected"),
        (fault(400, "bad parameter"), "failed", "", "bad parameter"),
        (fault(429, "you exceeded your current quota", "insufficient_quota"), "failed", "", "quota"),
    ],
)
async def test_what_the_provider_does_ends_in_its_outcome(
    provider: Provider, answer: web.Response, outcome: str, text: str, detail: str
) -> None:
    provider.script = [answer]
    waits = Waits()
    reply = await HostedBackend(sleep=waits).complete(call(model_at(provider)))
    assert (reply.outcome, reply.text) == (outcome, text)
    assert detail in reply.detail
    assert (reply.retries, waits.seconds) == (0, [])


@pytest.mark.parametrize("status", [429, 500, 502, 503])
async def test_a_passing_fault_is_asked_again(provider: Provider, status: int) -> None:
    provider.script = [fault(status, "slow down"), fault(status, "slow down"), completion("at last")]
    waits = Waits()
    reply = await HostedBackend(sleep=waits, clock=waits.clock, jitter=lambda: 0.5).complete(call(model_at(provider)))
    assert (reply.outcome, reply.text, reply.retries) == ("ok", "at last", 2)
    assert waits.seconds == [0.375, 0.75]


async def test_retry_after_is_honoured(provider: Provider) -> None:
    provider.script = [fault(429, "slow down", **{"Retry-After": "7"}), completion("at last")]
    waits = Waits()
    reply = await HostedBackend(sleep=waits, clock=waits.clock, jitter=lambda: 0.0).complete(call(model_at(provider)))
    assert reply.outcome == "ok"
    assert waits.seconds == [7.0]


async def test_a_provider_that_asks_to_wait_too_long_is_given_up(provider: Provider) -> None:
    provider.script = [fault(429, "come back tomorrow", **{"Retry-After": str(LONGEST_WAIT + 1)})]
    waits = Waits()
    reply = await HostedBackend(sleep=waits).complete(call(model_at(provider)))
    assert (reply.outcome, waits.seconds) == ("failed", [])
    assert "come back tomorrow" in reply.detail


async def test_a_lasting_fault_is_given_up_after_the_last_attempt(provider: Provider) -> None:
    provider.script = [fault(500, "boom")]
    reply = await HostedBackend(attempts=3, sleep=Waits()).complete(call(model_at(provider)))
    assert (reply.outcome, reply.retries, len(provider.requests)) == ("failed", 2, 3)
    assert "boom" in reply.detail


async def test_a_provider_that_never_answers_is_a_timeout(provider: Provider) -> None:
    provider.script = [None]
    reply = await HostedBackend(attempts=2, sleep=Waits()).complete(call(model_at(provider, timeout=0.2)))
    assert (reply.outcome, reply.retries) == ("timeout", 1)
    assert reply.detail == "no answer within 0.2 s" or "imed out" in reply.detail


async def test_a_connection_refused_is_a_failure_with_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    model = Model("gpt", "openai/gpt-4o-mini", api_base="http://127.0.0.1:1/v1")
    reply = await HostedBackend(attempts=2, sleep=Waits()).complete(call(model))
    assert (reply.outcome, reply.retries) == ("failed", 1)
    assert "onnection" in reply.detail


async def test_reasoning_is_kept_apart(provider: Provider) -> None:
    provider.script = [completion("the answer", reasoning_content="hmm")]
    reply = await HostedBackend().complete(call(model_at(provider)))
    assert (reply.text, reply.reasoning) == ("the answer", "hmm")


async def test_thoughts_in_the_text_are_hidden_unless_the_prompt_asked_for_them(provider: Provider) -> None:
    provider.script = [completion("<think>plan</think>\n<respond>so</respond>")]
    backend = HostedBackend()
    unasked = await backend.complete(call(model_at(provider)))
    asked = await backend.complete(call(model_at(provider), "write <think>…</think> <respond>…</respond>"))
    assert (unasked.text, unasked.reasoning) == ("\n<respond>so</respond>", "plan")
    assert (asked.text, asked.reasoning) == ("<think>plan</think>\n<respond>so</respond>", "")


async def test_usage_cost_and_sharing_are_recorded(provider: Provider) -> None:
    provider.script = [completion("hello")]
    reply = await HostedBackend().complete(call(model_at(provider)))
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (5, 7)
    assert reply.cost == pytest.approx(5 * 1.5e-7 + 7 * 6e-7)
    assert reply.sharing == "seed-only"


async def test_a_model_without_a_price_has_no_cost(provider: Provider) -> None:
    provider.script = [completion("hello", name="my-own-thing")]
    model = Model("own", "openai/my-own-thing", api_base=provider.base)
    assert (await HostedBackend().complete(call(model))).cost is None


async def test_what_is_sent_is_what_was_set(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ELSEWHERE", "another-secret")
    provider.script = [completion("{}")]
    model = model_at(provider, api_key_env="ELSEWHERE", options={"presence_penalty": 0.5})
    asked = Call(
        model,
        (Message("system", "be brief"), Message("user", "hi")),
        Sampling(0.3, 5, 0.9),
        20,
        bytes(16),
        stop=("##",),
    )
    await HostedBackend().complete(asked)
    (sent,) = provider.requests
    assert sent.pop("seed") >= 0
    assert sent == {
        "model": "gpt-4o-mini",
        "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hi"}],
        "temperature": 0.3,
        "top_k": 5,
        "top_p": 0.9,
        "max_tokens": 20,
        "stop": ["##"],
        "presence_penalty": 0.5,
    }
    assert provider.keys == ["Bearer another-secret"]


async def test_a_schema_becomes_a_response_format(provider: Provider) -> None:
    provider.script = [completion("{}")]
    schema = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    await HostedBackend().complete(call(model_at(provider), schema=schema))
    assert provider.requests[0]["response_format"]["json_schema"]["schema"] == schema


async def test_the_seed_follows_the_noise_key_and_nothing_else(provider: Provider) -> None:
    provider.script = [completion("hello")]
    backend, model = HostedBackend(), model_at(provider)
    for asked in (
        call(model),
        call(model, "another prompt"),
        call(model, attempt=1),
        call(model, sample=1),
        Call(model, (Message("user", "x"),), Sampling(), 20, bytes(16)),
    ):
        await backend.complete(asked)
    seeds = [request["seed"] for request in provider.requests]
    assert seeds[0] == seeds[1] == seeds[2]
    assert len(set(seeds)) == 3


async def test_no_secret_reaches_a_reply_or_the_identity(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTHER_API_KEY", "a value/with odd+characters")
    words = (
        f"{SECRET} a value/with odd+characters a%20value%2Fwith%20odd%2Bcharacters hidden-in-options Bearer abcdefgh"
    )
    provider.script = [fault(400, words), completion(None, refusal=words)]
    model = model_at(provider, options={"extra_headers": {"X-Api-Key": "hidden-in-options"}})
    backend = HostedBackend()
    replies = [await backend.complete(call(model)), await backend.complete(call(model))]
    assert [reply.outcome for reply in replies] == ["failed", "refused"]
    seen = json.dumps([reply.model_dump() for reply in replies]) + backend.identity(model)
    for secret in (SECRET, "odd+characters", "odd%2Bcharacters", "hidden-in-options", "abcdefgh"):
        assert secret not in seen


def test_identity_names_what_answers_and_not_who_pays() -> None:
    backend = HostedBackend()
    plain = backend.identity(Model("one", "openai/gpt-4o"))
    assert plain == backend.identity(Model("two", "openai/gpt-4o", family="x", api_key_env="MINE", temperature=0.1))
    assert plain != backend.identity(Model("one", "openai/gpt-4o", api_base="http://127.0.0.1/v1"))
    assert plain != backend.identity(Model("one", "openai/gpt-4o", options={"reasoning_effort": "low"}))


async def test_asking_a_hosted_model_to_choose_is_a_mistake() -> None:
    with pytest.raises(ModelError, match="cannot choose"):
        await HostedBackend().complete(call(Model("openai/gpt-4o"), choices=("A", "B")))


def test_abilities_come_from_the_table() -> None:
    known = HostedBackend().abilities(Model("openai/gpt-4o-mini"))
    assert (known.schema, known.context, known.chooses, known.continues) == (True, 128_000, False, False)
    unknown = HostedBackend().abilities(Model("hosted_vllm/my-own"))
    assert (unknown.schema, unknown.context) == (False, None)


@pytest.mark.parametrize(
    ("model", "missing"),
    [
        (Model("openai/gpt-4o"), "OPENAI_API_KEY"),
        (Model("gemini/gemini-2.5-pro"), "GEMINI_API_KEY or GOOGLE_API_KEY"),
        (Model("g", "openai/gpt-4o", api_key_env="MY_KEY"), "MY_KEY"),
        (Model("ollama/llama3"), None),
        (Model("hosted_vllm/mine"), None),
        (Model("sim/ada"), None),
        (Model("local/smollm2-135m"), None),
    ],
)
def test_a_missing_key_is_named(model: Model, missing: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "MY_KEY"):
        monkeypatch.delenv(name, raising=False)
    assert missing_key(model) == missing


def test_a_key_that_is_there_is_not_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    assert missing_key(Model("openai/gpt-4o")) is None


@pytest.mark.parametrize(
    ("headers", "low", "high"),
    [
        ({"retry-after": "7"}, 7, 7),
        ({"retry-after": "-3"}, 0, 0),
        ({"retry-after-ms": "1500"}, 1.5, 1.5),
        ({"retry-after": "Fri, 01 Jan 2100 00:00:00 GMT"}, 1e9, 1e10),
        ({"retry-after": "Fri, 01 Jan 1999 00:00:00 GMT"}, 0, 0),
    ],
)
def test_retry_after_is_read_in_every_form(headers: dict[str, str], low: float, high: float) -> None:
    error = Exception()
    error.litellm_response_headers = headers  # type: ignore[attr-defined]
    asked = retry_after(error)
    assert asked is not None
    assert low <= asked <= high


@pytest.mark.parametrize("headers", [{}, {"retry-after": "soon"}, None])
def test_a_provider_that_says_nothing_of_waiting_leaves_it_to_us(headers: dict[str, str] | None) -> None:
    error = Exception()
    error.litellm_response_headers = headers  # type: ignore[attr-defined]
    assert retry_after(error) is None


async def test_a_gateway_reaches_hosted_models_by_itself(provider: Provider) -> None:
    provider.script = [completion("hello")]
    async with Gateway() as gateway:
        first = await gateway.reply(call(model_at(provider)))
        second = await gateway.reply(call(model_at(provider)))
    assert first == second
    assert len(provider.requests) == 1
    assert gateway.counts.usd > 0


async def test_settings_that_a_model_does_not_take_are_left_out_and_the_reply_says_so(provider: Provider) -> None:
    provider.script = [completion("hello", name="o3-mini")]
    backend = HostedBackend(sleep=Waits())
    model = Model("thinker", "openai/o3-mini", api_base=provider.base)
    for _ in range(2):
        reply = await backend.complete(call(model))
        assert (reply.text, reply.outcome, reply.detail) == ("hello", "ok", f"{LEFT_OUT}: temperature")
    assert all("temperature" not in request for request in provider.requests)
