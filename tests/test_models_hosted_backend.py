"""Who a hosted model is, where it is reached, with which key, what it can do, and what stays secret."""

import json
import logging
from pathlib import Path

import pytest

from coupled_arena.errors import ModelError
from coupled_arena.models.gateway import Gateway
from coupled_arena.models.hosted.backend import HostedBackend
from coupled_arena.models.hosted.environment import addresses_of, missing_key
from coupled_arena.models.litellm_loader import PYDANTIC_COMPLAINT, load_litellm
from coupled_arena.models.model import Model
from coupled_arena.testing import behaviours
from tests.hosted_scene import SECRET, Start, call

pytestmark = pytest.mark.filterwarnings(f"ignore:{PYDANTIC_COMPLAINT}:UserWarning")


def test_identity_names_what_answers_and_not_who_pays() -> None:
    backend = HostedBackend()
    plain = backend.identity(Model("one", "openai/gpt-4o"))
    assert plain == backend.identity(Model("two", "openai/gpt-4o", family="x", api_key_env="MINE", temperature=0.1))
    assert plain != backend.identity(Model("one", "openai/gpt-4o", api_base="http://127.0.0.1/v1"))
    assert plain != backend.identity(Model("one", "openai/gpt-4o", options={"reasoning_effort": "low"}))


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


@pytest.mark.parametrize(
    ("model", "missing"),
    [
        (Model("openai/gpt-4o"), "OPENAI_API_KEY"),
        (Model("gemini/gemini-2.5-pro"), "GEMINI_API_KEY or GOOGLE_API_KEY"),
        (Model("g", "openai/gpt-4o", api_key_env="MY_KEY"), "MY_KEY"),
        (Model("ollama/llama3"), None),
        (Model("gpt-4o"), None),
        (Model("hosted_vllm/mine"), None),
        (Model("sim/ada"), None),
        (Model("local/smollm2-135m"), None),
    ],
)
def test_a_missing_key_is_named(model: Model, missing: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "MY_KEY"):
        monkeypatch.delenv(name, raising=False)
    assert missing_key(model) == missing


def test_a_file_whose_local_was_left_out_is_no_providers(tmp_path: Path) -> None:
    (tmp_path / "own.gguf").touch()
    for file in ("own.gguf", str(tmp_path / "own.gguf")):
        assert HostedBackend().problems(Model(file)) == [f"a file on this machine is local/{file}"]


def test_a_key_that_is_there_is_not_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    assert missing_key(Model("openai/gpt-4o")) is None


def test_abilities_come_from_the_table() -> None:
    known = HostedBackend().abilities(Model("openai/gpt-4o-mini"))
    assert (known.schema, known.context, known.chooses, known.continues) == (True, 128_000, False, False)
    unknown = HostedBackend().abilities(Model("hosted_vllm/my-own"))
    assert (unknown.schema, unknown.context) == (False, None)


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


async def test_asking_a_hosted_model_to_choose_is_a_mistake() -> None:
    with pytest.raises(ModelError, match="cannot choose"):
        await HostedBackend().complete(call(Model("openai/gpt-4o"), choices=("A", "B")))


async def test_a_gateway_reaches_hosted_models_by_itself(fake_provider: Start) -> None:
    provider = fake_provider({"gpt-4o-mini": "ok"})
    async with Gateway() as gateway:
        first = await gateway.reply(call(provider.model("gpt-4o-mini")))
        second = await gateway.reply(call(provider.model("gpt-4o-mini")))
    assert (first, provider.received) == (second, 1)
    assert gateway.counts.usd > 0


async def test_no_secret_reaches_a_reply_or_the_identity(fake_provider: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTHER_API_KEY", "a value/with odd+characters")
    words = (
        f"{SECRET} a value/with odd+characters a%20value%2Fwith%20odd%2Bcharacters hidden-in-options Bearer abcdefgh"
    )
    provider = fake_provider({"ada": [behaviours.error(400, words), behaviours.refusal(words)]}, key=SECRET)
    model = provider.model("ada", options={"extra_headers": {"X-Api-Key": "hidden-in-options"}})
    backend = HostedBackend()
    replies = [await backend.complete(call(model)), await backend.complete(call(model))]
    assert [reply.outcome for reply in replies] == ["failed", "refused"]
    seen = json.dumps([reply.model_dump() for reply in replies]) + backend.identity(model)
    for secret in (SECRET, "odd+characters", "odd%2Bcharacters", "hidden-in-options", "abcdefgh"):
        assert secret not in seen


async def test_no_secret_is_logged_or_shown(fake_provider: Start, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    provider = fake_provider({"ada": behaviours.error(401, echo_key=True), "bob": "ok"}, key=SECRET)
    backend = HostedBackend()
    model = provider.model("ada", options={"extra_headers": {"X-Api-Key": "hidden-in-options"}})
    reply = await backend.complete(call(model))
    fine = await backend.complete(call(provider.model("bob")))
    assert (reply.outcome, fine.outcome) == ("failed", "ok")
    assert "***" in reply.detail
    shown = caplog.text + repr(reply) + repr(fine) + repr(backend) + repr(call(model)) + backend.identity(model)
    for secret in (SECRET, "hidden-in-options"):
        assert secret not in shown
    await backend.aclose()
