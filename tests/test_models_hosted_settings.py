"""What is sent to a hosted model, what is left out, what it costs, who it is, and what it can do."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest

from coupled_arena.coupling import Sampling
from coupled_arena.models.calls import Call, Message
from coupled_arena.models.gateway import Gateway
from coupled_arena.models.hosted.asking import LEFT_OUT
from coupled_arena.models.hosted.backend import HostedBackend
from coupled_arena.models.hosted.environment import addresses_of
from coupled_arena.models.hosted.parameters import estimated_tokens, refused_setting
from coupled_arena.models.hosted.said import retry_after, said_by
from coupled_arena.models.limits.limit import Limit
from coupled_arena.models.litellm_loader import PYDANTIC_COMPLAINT, load_litellm
from coupled_arena.models.model import Model, Price
from coupled_arena.testing import FakeProvider, Request, behaviours

pytestmark = pytest.mark.filterwarnings(f"ignore:{PYDANTIC_COMPLAINT}:UserWarning")

KEY = "sk-abcdefghijklmnopqrst"
Start = Callable[..., FakeProvider]


def call(model: Model, text: str = "hello", **changes: Any) -> Call:
    return Call(model, (Message("user", text),), Sampling(0.7), 20, bytes(range(16)), **changes)


# Thinking.


async def test_thinking_tokens_are_room_beside_the_answer(fake_provider: Start) -> None:
    provider = fake_provider({"ada": behaviours.thinks_by_default(300, "the answer")})
    backend = HostedBackend()
    without = await backend.complete(call(provider.model("ada")))
    enough = await backend.complete(call(provider.model("ada", thinking_tokens=400)))
    assert [request.body["max_tokens"] for request in provider.requests] == [20, 420]
    assert (without.outcome, without.usage.completion_tokens) == ("failed", 20)
    assert "thinking_tokens (now 0)" in without.detail
    assert (enough.outcome, enough.text, enough.reasoning) == ("ok", "the answer", "")


async def test_reasoning_is_kept_apart_and_an_unclosed_tag_stays_in_the_text(fake_provider: Start) -> None:
    provider = fake_provider(
        {
            "shows": behaviours.reply("so", reasoning="hm"),
            "cut": behaviours.reply("<think>hm, hm, hm", finish_reason="length"),
        }
    )
    backend = HostedBackend()
    shown = await backend.complete(call(provider.model("shows")))
    cut = await backend.complete(call(provider.model("cut")))
    assert (shown.text, shown.reasoning) == ("so", "hm")
    assert (cut.outcome, cut.text, cut.reasoning) == ("truncated", "<think>hm, hm, hm", "")


# Settings that are refused.


async def test_a_refused_setting_is_left_out_from_then_on_for_this_model_at_this_address(fake_provider: Start) -> None:
    scripts = {"ada": behaviours.refuses_parameter("temperature"), "bob": "ok"}
    provider, elsewhere = fake_provider(scripts), fake_provider(scripts)
    backend = HostedBackend()
    first = await backend.complete(call(provider.model("ada")))
    second = await backend.complete(call(provider.model("ada"), "again"))
    bob = await backend.complete(call(provider.model("bob")))
    there = await backend.complete(call(elsewhere.model("ada")))
    assert [reply.retries for reply in (first, second, bob, there)] == [1, 0, 0, 1]
    assert first.detail == second.detail == f"{LEFT_OUT}: temperature"
    assert bob.detail == ""
    assert [("temperature" in request.body) for request in provider.requests] == [True, False, False, True]


async def test_many_calls_at_once_learn_it_together(fake_provider: Start) -> None:
    provider = fake_provider({"ada": behaviours.refuses_parameter("seed", behaviours.refuses_parameter("temperature"))})
    backend = HostedBackend()
    replies = await asyncio.gather(*(backend.complete(call(provider.model("ada"), str(i))) for i in range(10)))
    assert {(reply.outcome, reply.sharing) for reply in replies} == {("ok", "none")}
    assert {reply.detail for reply in replies} == {f"{LEFT_OUT}: temperature, seed"}
    assert all(reply.retries <= 2 for reply in replies)
    assert provider.received == sum(reply.retries + 1 for reply in replies)


async def test_a_provider_that_always_blames_a_setting_is_not_asked_for_ever(fake_provider: Start) -> None:
    blame = behaviours.error(
        400, "Unsupported parameter: 'temperature'", code="unsupported_parameter", param="temperature"
    )
    provider = fake_provider({"ada": blame})
    reply = await HostedBackend().complete(call(provider.model("ada")))
    assert (reply.outcome, provider.received) == ("failed", 2)


async def test_the_token_limit_goes_by_its_new_name_where_it_has_to(fake_provider: Start) -> None:
    provider = fake_provider({"ada": behaviours.refuses_parameter("max_tokens")})
    backend = HostedBackend()
    for expected in (1, 0):
        reply = await backend.complete(call(provider.model("ada")))
        assert (reply.outcome, reply.detail, reply.retries) == ("ok", "", expected)
    assert [request.body.get("max_completion_tokens") for request in provider.requests] == [None, 20, 20]


async def test_what_litellm_itself_refuses_costs_no_request(fake_provider: Start) -> None:
    provider = fake_provider({"o3-mini": "ok"})
    reply = await HostedBackend().complete(call(provider.model("o3-mini")))
    assert (reply.outcome, reply.retries, provider.received) == ("ok", 0, 1)
    assert reply.detail == f"{LEFT_OUT}: temperature"


async def test_an_option_of_the_users_is_never_left_out(fake_provider: Start) -> None:
    provider = fake_provider({"ada": behaviours.refuses_parameter("logit_bias"), "gpt-4o-mini": "ok"})
    refused = await HostedBackend().complete(call(provider.model("ada", options={"logit_bias": {"5": 1}})))
    unknown = await HostedBackend().complete(call(provider.model("gpt-4o-mini", options={"reasoning_effort": "low"})))
    assert (refused.outcome, unknown.outcome, provider.received) == ("failed", "failed", 1)
    assert "reasoning_effort" in unknown.detail


SENT = frozenset({"temperature", "top_p", "top_k", "min_p", "seed", "stop", "response_format", "max_tokens"})


@pytest.mark.parametrize(
    ("words", "setting"),
    [
        ("Unsupported value: 'temperature' does not support 0.1 with this model. Only 1 is supported.", "temperature"),
        ("Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead.", "max_tokens"),
        ("`temperature` and `top_p` cannot both be specified for this model. Please use only one.", "top_p"),
        ("Unrecognized request argument supplied: top_k", "top_k"),
        ("Argument not supported on this model: stop", "stop"),
        ("property 'min_p' is unsupported", "min_p"),
        ("body.top_k: Extra inputs are not permitted", "top_k"),
        ('[{"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]', "seed"),
        ("`temperature` is deprecated for this model.", "temperature"),
        ("'response_format' of type 'json_schema' is not supported with this model.", "response_format"),
        ("temperature: Input should be less than or equal to 1", None),
        ("'temperature' cannot be greater than 2", None),
        ("max_tokens is too large: 100000. This model supports at most 4096 completion tokens.", None),
        ("Your question about the temperature of the sun is not allowed here.", None),
        ("The tool_choice parameter is not supported.", None),
        ("We do not support this; stop it.", None),
    ],
)
def test_the_setting_to_blame_is_found_in_the_words(words: str, setting: str | None) -> None:
    error = load_litellm().BadRequestError(message=f"OpenAIException - {words}", model="m", llm_provider="openai")
    assert refused_setting(error, SENT) == setting


def test_only_a_refusal_of_the_request_blames_a_setting() -> None:
    litellm = load_litellm()
    words = "OpenAIException - Unsupported parameter: 'top_k'"
    for kind in (litellm.RateLimitError, litellm.InternalServerError, litellm.AuthenticationError):
        assert refused_setting(kind(message=words, model="m", llm_provider="openai"), SENT) is None
    assert refused_setting(TimeoutError(words), SENT) is None


# Words.


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("litellm.AuthenticationError: AuthenticationError: OpenAIException - Wrong key.", "Wrong key."),
        ("litellm.Timeout: APITimeoutError - Request timed out. Error_str: gone", "Request timed out. Error_str: gone"),
        ("litellm.ContextWindowExceededError: litellm.BadRequestError: XError: YException - too long", "too long"),
        ('litellm.BadRequestError: AnthropicException - {"type":"error","error":{"message":"no"}}', "no"),
        ('AnthropicError - {"error": {"type": "x", "message": "line\\nline"}}', "line line"),
        (
            "litellm.APIError: GeminiException - <html><title>x</title><p>Not here</p></html>",
            "a web page instead of an answer: Not here",
        ),
        ("Traceback (most recent call last): secret", "Exception"),
        ("", "Exception"),
    ],
)
def test_the_providers_words_are_said_once(text: str, words: str) -> None:
    assert said_by(Exception(text)).words == words


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        ("Rate limit reached. Please try again in 6.5s.", 6.5),
        ("Please try again in 20ms.", 0.02),
        ("Please try again in 1m2.5s.", 62.5),
        ("Please retry in 12.25s.", 12.25),
        ('{"retryDelay": "31s"}', 31.0),
        ("Please retry after 40 seconds.", 40.0),
        ("Try again later.", None),
    ],
)
def test_a_wait_is_read_from_the_words_where_no_header_states_it(words: str, seconds: float | None) -> None:
    assert retry_after(Exception(words)) == seconds


# Limits and refusals, through HTTP.


class Waits:
    """Stands in for sleeping, and for the clock that goes on meanwhile."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)

    def clock(self) -> float:
        return sum(self.seconds)


async def test_a_key_with_five_requests_a_minute_gets_through_many_calls(fake_provider: Start) -> None:
    waits, granted = Waits(), [0.0] * 0

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


def test_the_tokens_of_a_request_are_estimated_with_its_whole_limit() -> None:
    model = Model("openai/m", thinking_tokens=100)
    assert estimated_tokens(call(model, "x" * 40)) == 10 + 8 + 20 + 100
    assert estimated_tokens(call(model, "字" * 40)) == 30 + 8 + 20 + 100
    assert estimated_tokens(call(model, "x" * 40, schema={"type": "object"})) > 138 + 8


# Cost.


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


# Abilities and identity.


def test_two_models_of_one_string_keep_their_own_context() -> None:
    backend = HostedBackend()
    assert backend.abilities(Model("a", "openai/gpt-4o-mini", context=500)).context == 500
    assert backend.abilities(Model("b", "openai/gpt-4o-mini")).context == 128_000


@pytest.mark.parametrize(
    ("model", "tools", "schema"),
    [
        ("openai/gpt-4o", True, True),
        ("openai/my-own", True, False),
        ("hosted_vllm/my-own", True, False),
        ("openai/gpt-3.5-turbo-instruct", False, False),
    ],
)
def test_a_model_that_litellm_does_not_know_is_taken_to_call_tools(model: str, tools: bool, schema: bool) -> None:
    abilities = HostedBackend().abilities(Model(model))
    assert (abilities.tools, abilities.schema) == (tools, schema)


def test_identity_follows_the_address_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_BASE", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    backend, model = HostedBackend(), Model("m", "openai/gpt-4o")
    plain = backend.identity(model)
    assert plain == '["openai/gpt-4o", null, {}]'
    seen = {plain}
    for name, value in (
        ("OPENAI_API_BASE", "http://127.0.0.1:1/v1"),
        ("OPENAI_API_BASE", "http://127.0.0.1:2/v1"),
        ("OPENAI_BASE_URL", "http://127.0.0.1:2/v1"),
    ):
        monkeypatch.setenv(name, value)
        seen.add(backend.identity(model))
    assert len(seen) == 4
    fixed = Model("m", "openai/gpt-4o", api_base="http://127.0.0.1:3/v1")
    assert "127.0.0.1:2" not in backend.identity(fixed)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://me:hush-hush@127.0.0.1:2/v1?api_key=hush-hush")
    assert "hush" not in backend.identity(model)


def test_identity_holds_thinking_tokens_only_where_there_are_any() -> None:
    backend = HostedBackend()
    plain, thinking = (backend.identity(Model("m", "openai/x", thinking_tokens=count)) for count in (0, 5))
    assert plain != thinking
    assert "thinking" not in plain


@pytest.mark.parametrize(
    ("model", "variable", "belongs"),
    [
        ("openai/x", "OPENAI_API_BASE", True),
        ("anthropic/x", "ANTHROPIC_BASE_URL", True),
        ("fireworks_ai/x", "FIREWORKS_API_BASE", True),
        ("vertex_ai/x", "VERTEXAI_API_BASE", True),
        ("huggingface/x", "HF_API_BASE", True),
        ("hosted_vllm/x", "HOSTED_VLLM_API_BASE", True),
        ("xai/x", "XAI_API_BASE", True),
        ("lm_studio/x", "LM_STUDIO_API_BASE", True),
        ("anthropic/x", "OPENAI_API_BASE", False),
        ("openai/x", "OPENAI_API_KEY", False),
        ("openai/x", "O_URL", False),
    ],
)
def test_the_variables_of_a_provider_are_known(
    model: str, variable: str, belongs: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "http://127.0.0.1:9")
    assert (variable in addresses_of(Model(model))) is belongs


def test_litellm_reads_an_address_from_no_variable_that_is_overlooked(monkeypatch: pytest.MonkeyPatch) -> None:
    litellm = load_litellm()
    overlooked = []
    for provider in ("deepseek", "groq", "openrouter", "perplexity", "together_ai", "fireworks_ai", "xai", "lm_studio"):
        for name in (f"{provider.upper()}_API_BASE", f"{provider.upper()}_BASE_URL"):
            monkeypatch.setenv(name, "http://127.0.0.1:9/v1")
            reached = litellm.get_llm_provider(f"{provider}/x")[3]
            if reached == "http://127.0.0.1:9/v1" and name not in addresses_of(Model(f"{provider}/x")):
                overlooked.append(name)
            monkeypatch.delenv(name)
    assert overlooked == []


async def test_another_address_in_the_environment_never_replays_the_answers_of_the_first(fake_provider: Start) -> None:
    first = fake_provider({"ada": "from the first"})
    model = first.model("ada", api_base=None, api_key_env=None)
    async with Gateway() as gateway:
        before = await gateway.reply(call(model))
        memo = gateway.memo
    second = fake_provider({"ada": "from the second"})
    async with Gateway(memo) as gateway:
        after = await gateway.reply(call(model))
    assert (before.text, after.text) == ("from the first", "from the second")
    assert (first.received, second.received) == (1, 1)


# Secrets.


async def test_no_secret_is_logged_or_shown(fake_provider: Start, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    provider = fake_provider({"ada": behaviours.error(401, echo_key=True), "bob": "ok"}, key=KEY)
    backend = HostedBackend()
    model = provider.model("ada", options={"extra_headers": {"X-Api-Key": "hidden-in-options"}})
    reply = await backend.complete(call(model))
    fine = await backend.complete(call(provider.model("bob")))
    assert (reply.outcome, fine.outcome) == ("failed", "ok")
    assert "***" in reply.detail
    shown = caplog.text + repr(reply) + repr(fine) + repr(backend) + repr(call(model)) + backend.identity(model)
    for secret in (KEY, "hidden-in-options"):
        assert secret not in shown
    await backend.aclose()
