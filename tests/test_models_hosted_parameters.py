"""What is sent to a hosted model for a call, and what is left out where it is refused."""

import asyncio

import pytest

from coupled_arena.coupling import Sampling
from coupled_arena.models.calls import Call, Message
from coupled_arena.models.hosted.asking import LEFT_OUT
from coupled_arena.models.hosted.backend import HostedBackend
from coupled_arena.models.hosted.parameters import estimated_tokens, refused_setting
from coupled_arena.models.litellm_loader import PYDANTIC_COMPLAINT, load_litellm
from coupled_arena.models.model import Model
from coupled_arena.testing import behaviours
from tests.hosted_scene import Start, call

pytestmark = pytest.mark.filterwarnings(f"ignore:{PYDANTIC_COMPLAINT}:UserWarning")


async def test_what_is_sent_is_what_was_set(fake_provider: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    provider = fake_provider({"ada": "ok"}, key="another-secret")
    monkeypatch.setenv("OPENAI_API_KEY", "not this one")
    monkeypatch.setenv("ELSEWHERE", "another-secret")
    asked = Call(
        provider.model("ada", api_key_env="ELSEWHERE", options={"presence_penalty": 0.5}),
        (Message("system", "be brief"), Message("user", "hi")),
        Sampling(0.3, 5, 0.9),
        20,
        bytes(16),
        stop=("##",),
    )
    reply = await HostedBackend().complete(asked)
    assert reply.outcome == "ok"
    sent = dict(provider.requests[0].body)
    assert sent.pop("seed") >= 0
    assert sent == {
        "model": "ada",
        "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hi"}],
        "temperature": 0.3,
        "top_k": 5,
        "top_p": 0.9,
        "max_tokens": 20,
        "stop": ["##"],
        "presence_penalty": 0.5,
    }


async def test_a_schema_becomes_a_response_format(fake_provider: Start) -> None:
    provider = fake_provider({"gpt-4o-mini": "{}"})
    schema = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    await HostedBackend().complete(call(provider.model("gpt-4o-mini"), schema=schema))
    assert provider.requests[0].body["response_format"]["json_schema"]["schema"] == schema


async def test_the_seed_follows_the_noise_key_and_nothing_else(fake_provider: Start) -> None:
    provider = fake_provider({"ada": "ok"})
    backend, model = HostedBackend(), provider.model("ada")
    for asked in (
        call(model),
        call(model, "another prompt"),
        call(model, attempt=1),
        call(model, sample=1),
        Call(model, (Message("user", "x"),), Sampling(), 20, bytes(16)),
    ):
        await backend.complete(asked)
    seeds = [request.body["seed"] for request in provider.requests]
    assert seeds[0] == seeds[1] == seeds[2]
    assert len(set(seeds)) == 3


async def test_thinking_tokens_are_room_beside_the_answer(fake_provider: Start) -> None:
    provider = fake_provider({"ada": behaviours.thinks_by_default(300, "the answer")})
    backend = HostedBackend()
    without = await backend.complete(call(provider.model("ada")))
    enough = await backend.complete(call(provider.model("ada", thinking_tokens=400)))
    assert [request.body["max_tokens"] for request in provider.requests] == [20, 420]
    assert (without.outcome, without.usage.completion_tokens) == ("failed", 20)
    assert "thinking_tokens (now 0)" in without.detail
    assert (enough.outcome, enough.text, enough.reasoning) == ("ok", "the answer", "")


def test_the_tokens_of_a_request_are_estimated_with_its_whole_limit() -> None:
    model = Model("openai/m", thinking_tokens=100)
    assert estimated_tokens(call(model, "x" * 40)) == 10 + 8 + 20 + 100
    assert estimated_tokens(call(model, "字" * 40)) == 30 + 8 + 20 + 100
    assert estimated_tokens(call(model, "x" * 40, schema={"type": "object"})) > 138 + 8


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
