"""Hosted models are asked once before a run, over real HTTP: what is wrong is said together, before it costs."""

import asyncio
import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import coupled_arena as ca
from coupled_arena.coupling import Sampling
from coupled_arena.errors import ConfigurationError, ModelUnavailable
from coupled_arena.models.budget import Budget
from coupled_arena.models.calls import Call, Message, Reply
from coupled_arena.models.gateway import Gateway
from coupled_arena.models.litellm_loader import PYDANTIC_COMPLAINT
from coupled_arena.models.model import Model
from coupled_arena.testing import FakeProvider, behaviours
from coupled_arena.tournaments.preflight import probes
from coupled_arena.tournaments.preflight.diagnosis import ADVISED_THINKING
from coupled_arena.tournaments.preflight.outlook import Preflight
from coupled_arena.tournaments.preflight.probes import PROBE, PROBE_TOKENS, probe
from tests.support import ScriptedBackend

pytestmark = pytest.mark.filterwarnings(f"ignore:{PYDANTIC_COMPLAINT}:UserWarning")

WRONG = "WRONG_API_KEY"
SECRET = "sk-this-key-opens-nothing"
OTHERS = {"questions_per_domain": 1, "domains": ["writing"], "schedule": "round_robin", "script": "single"}


@pytest.fixture(autouse=True)
def _wrong_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(WRONG, SECRET)


@pytest.fixture
def provider() -> Iterator[FakeProvider]:
    scripts: dict[str, Any] = dict.fromkeys(("ada", "bob", "gpt-4", "j1", "j2", "j3"), "OK")
    with FakeProvider({**scripts, "thinker": behaviours.thinks_by_default(256)}) as provider:
        yield provider


def tournament(provider: FakeProvider, *models: Model, **changes: Any) -> ca.Tournament:
    judges = [provider.model(name) for name in ("j1", "j2", "j3")]
    return ca.Tournament(**{**OTHERS, "models": models, "judges": judges, **changes})


def play_simulated(provider: FakeProvider) -> None:
    """Let simulated models answer, so that a whole tournament can be played."""
    for name, script in {"ada": "sim/ada?skill=1", "bob": "sim/bob", "j1": "sim/j1", "j2": "sim/j2"}.items():
        provider.play(name, script)
    provider.play("j3", "sim/j3")


def problems_of(definition: ca.Tournament, **options: Any) -> list[str]:
    with pytest.raises(ConfigurationError) as caught:
        definition.preflight(where="my.toml", **options)
    return [str(problem) for problem in caught.value.problems]


async def asked(provider: FakeProvider, script: Any, **settings: Any) -> probes.Seen:
    """Probe one model that does what the script says."""
    provider.play("new", script)
    model = provider.model("new", **settings)
    async with Gateway() as gateway:
        return (await probe(gateway, [(model, "judge")]))[model]


def test_everything_wrong_is_in_one_list_before_anything_is_spent(provider: FakeProvider, tmp_path: Path) -> None:
    definition = tournament(
        provider,
        provider.model("ada"),
        provider.model("bob", api_key_env=WRONG),
        provider.model("adda"),
        judges=[provider.model(name) for name in ("gpt-4", "thinker", "j1")],
        script="peer-battle",
    )
    with pytest.raises(ConfigurationError) as caught:
        definition.run(tmp_path / "runs.db", where="my.toml")
    context, key, name, thinking = (str(problem) for problem in caught.value.problems)
    assert context.startswith("my.toml: judges: gpt-4: its longest call as judge may take ")
    assert "tokens, and its context holds 8192; take a model that holds more, or shorten the call (" in context
    assert "committee.discussion_rounds" in context
    assert key == (
        "my.toml: models: bob: the provider refuses its key (Incorrect API key provided); check the environment "
        f"variable {WRONG}"
    )
    assert name.startswith("my.toml: models: adda: the provider knows no openai/adda, or not for this key (The model ")
    assert thinking.startswith("my.toml: judges: thinker: thinks before it answers, ")
    assert f"(thinking_tokens = {ADVISED_THINKING})" in thinking
    assert "reasoning_effort" in thinking
    # All that was sent is one tiny request to each of the six models, and nothing was kept.
    assert sorted(request.model for request in provider.requests) == ["ada", "adda", "bob", "gpt-4", "j1", "thinker"]
    assert {request.max_tokens for request in provider.requests} == {PROBE_TOKENS}
    assert {len(request.messages) for request in provider.requests} == {1}
    assert list(tmp_path.iterdir()) == []
    assert SECRET not in str(caught.value)


def test_problems_of_the_definition_and_of_its_models_come_together(provider: FakeProvider) -> None:
    definition = tournament(provider, provider.model("ada"), provider.model("adda"), domains=["writing", "writing"])
    found = problems_of(definition)
    assert [problem.split(": ")[1] for problem in found] == ["domains", "models"]


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (behaviours.error(401), "the provider refuses its key (Incorrect API key provided); check the environment"),
        (behaviours.error(403), "the provider refuses its key (This key may not use the model); check the environment"),
        (behaviours.error(404), "the provider knows no openai/new, or not for this key (The model does not exist"),
        (behaviours.no_money(), "its account has no money left (You exceeded your current quota"),
        (behaviours.error(402, "Insufficient Balance"), "its account has no money left (Insufficient Balance)"),
        (behaviours.error(400, "bad tool"), "its provider refuses the request (bad tool); check `options`"),
        (behaviours.error(500, retry_after=0), "its provider is in trouble (The server had an error"),
        (behaviours.html(503), "its provider is in trouble ("),
        (behaviours.hang(), "its provider gives no answer (no answer within 2 s); check api_base (http://127.0.0.1"),
        (behaviours.hidden_thinking(), "thinks before it answers"),
        (behaviours.thinks_by_default(64), "thinks before it answers"),
        (behaviours.reply("OK", reasoning="They want OK."), "thinks before it answers"),
        (behaviours.reply("OK", reasoning_tokens=12), "thinks before it answers"),
        ("<think>They want me to say OK, and so I shall, but let me first", "thinks before it answers"),
    ],
)
async def test_what_keeps_a_model_from_being_used_is_named(provider: FakeProvider, script: Any, words: str) -> None:
    # Faults that pass are repeated with pauses; the model's own time-out bounds them all together.
    finding = (await asked(provider, script, timeout=2 if script == behaviours.hang() else 20)).finding
    assert finding.problem.startswith(f"new: {words}")
    assert finding.note == ""
    assert finding.thinks is (True if "thinks" in words else None)


async def test_a_provider_that_cannot_be_reached_is_named_with_its_address(provider: FakeProvider) -> None:
    base = "http://127.0.0.1:9/v1"
    finding = (await asked(provider, "OK", api_base=base, timeout=5)).finding
    assert finding.problem.startswith("new: its provider cannot be reached (")
    assert finding.problem.endswith(f"check api_base ({base})")


async def test_a_model_string_without_a_provider_that_litellm_knows_is_named() -> None:
    model = Model("nowhere/gpt", api_key_env=WRONG)
    async with Gateway() as gateway:
        finding = (await probe(gateway, [(model, "judge")]))[model].finding
    assert finding.problem.startswith("nowhere/gpt: the provider knows no nowhere/gpt")


@pytest.mark.parametrize(
    ("script", "note"),
    [
        ("OK", ""),
        (
            behaviours.error(429, retry_after=3600),
            "new: the rate of its calls is limited at present (the provider asks to",
        ),
        (behaviours.refuses_parameter("temperature"), "new: settings that the provider does not take were left out: t"),
        (behaviours.refusal("I will not."), "new: gave no answer to the probe: refused (I will not)"),
        (behaviours.filtered(), "new: gave no answer to the probe: filtered"),
        (behaviours.null(), "new: gave no answer to the probe: empty"),
    ],
)
async def test_what_is_no_problem_is_a_note_at_most(provider: FakeProvider, script: Any, note: str) -> None:
    finding = (await asked(provider, script)).finding
    assert finding.problem == ""
    assert finding.note.startswith(note)
    assert bool(finding.note) == bool(note)


async def test_a_model_that_was_held_back_all_the_time_is_no_problem(provider: FakeProvider) -> None:
    finding = (await asked(provider, behaviours.error(429, retry_after=30), timeout=0.5)).finding
    assert finding.problem == ""
    assert finding.note.startswith("new: the rate of its calls is limited at present (held back for 0.5 s: ")


async def test_a_model_that_thinks_within_its_thinking_tokens_is_a_note(provider: FakeProvider) -> None:
    room = await asked(provider, behaviours.thinks_by_default(64), thinking_tokens=100)
    assert room.finding.problem == ""
    assert room.finding.note == "new: thinks before it answers; each call may write 100 tokens more"
    assert provider.requests[-1].max_tokens == PROBE_TOKENS + 100
    small = await asked(provider, behaviours.thinks_by_default(500), thinking_tokens=100)
    assert small.finding.problem.startswith("new: thinks, and after 100 tokens had not begun to answer; set a larger")


async def test_thinking_switched_off_in_the_options_is_no_thinking(provider: FakeProvider) -> None:
    off = {"reasoning_effort": "none", "allowed_openai_params": ["reasoning_effort"]}
    finding = (await asked(provider, behaviours.thinks_by_default(64), options=off)).finding
    assert (finding.problem, finding.thinks) == ("", False)


async def test_models_that_differ_only_in_name_share_one_probe(provider: FakeProvider) -> None:
    same = [provider.model("ada"), provider.model("ada", price={"prompt": 1, "completion": 2}, family="f")]
    named = [model.model_copy(update={"name": f"ada-{number}"}) for number, model in enumerate(same)]
    warm = provider.model("ada", temperature=0.9)
    async with Gateway() as gateway:
        found = await probe(gateway, [(model, "judge") for model in (*named, warm)])
    assert set(found) == {*named, warm}
    assert sorted(request.body["temperature"] for request in provider.requests) == [0.1, 0.9]


def test_a_model_is_asked_at_the_temperature_of_its_place(provider: FakeProvider) -> None:
    tournament(
        provider, provider.model("ada"), provider.model("bob", temperature=0.3), examiner=provider.model("gpt-4")
    ).preflight()
    asked = {request.model: request.body["temperature"] for request in provider.requests}
    assert asked == {"ada": 0.7, "bob": 0.3, "gpt-4": 0.7, "j1": 0.1, "j2": 0.1, "j3": 0.1}


def test_a_key_that_is_missing_is_a_problem_and_its_model_is_not_asked(
    provider: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(WRONG)
    found = problems_of(tournament(provider, provider.model("ada"), provider.model("bob", api_key_env=WRONG)))
    assert found == [f"my.toml: models: bob: the environment variable {WRONG} is not set"]
    assert "bob" not in {request.model for request in provider.requests}


class Hanging(ScriptedBackend):
    """Never answers."""

    async def complete(self, call: Call) -> Reply:
        self.calls.append(call)
        await asyncio.Event().wait()
        raise AssertionError("it never answers")


@pytest.mark.parametrize("at_once", [2, 64])
async def test_hanging_providers_keep_nobody_waiting_longer_than_the_bound(
    monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr(probes, "LONGEST_PROBE", 0.2)
    monkeypatch.setattr(probes, "AT_ONCE", at_once)
    backend = Hanging(lambda call: "")
    models = [Model(f"slow/{number}", timeout=0.1 if number == 4 else 60) for number in range(5)]
    async with Gateway(backends={"hosted": backend}) as gateway:
        found = await probe(gateway, [(model, "judge") for model in models])
        asked = [call.model.name for call in backend.calls]
    # One that waits for a slot may get it in the last moment of its time, but not the one with the least time.
    assert asked[:at_once] == [f"slow/{n}" for n in range(min(at_once, 5))]
    assert ("slow/4" in asked) is (at_once > 4)
    shown = [seen.finding.problem.partition("; ")[0] for seen in found.values()]
    limits = [0.2] * 4 + [0.1]
    assert shown == [f"slow/{n}: its provider gives no answer (no answer within {limits[n]} s)" for n in range(5)]


async def test_the_latency_is_the_time_from_asking_to_the_answer(provider: FakeProvider) -> None:
    ticks = itertools.count(0, 7)
    async with Gateway() as gateway:
        model = provider.model("ada")
        found = await probe(gateway, [(model, "judge")], clock=lambda: float(next(ticks)))
    assert found[model].latency == 7.0


def test_probes_are_in_no_count_and_in_no_store(provider: FakeProvider, tmp_path: Path) -> None:
    play_simulated(provider)
    definition = tournament(provider, provider.model("ada"), provider.model("bob"))
    result = definition.run(tmp_path / "runs.db")
    assert provider.received == 5 + result.counts.made
    assert len(result.frame("calls")) == result.counts.made


def test_a_finished_run_asks_nobody_and_needs_no_key(
    provider: FakeProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    play_simulated(provider)
    monkeypatch.setenv("OWN_API_KEY", provider.key)
    models = [provider.model(name, api_key_env="OWN_API_KEY") for name in ("ada", "bob")]
    definition = tournament(provider, *models)
    store = tmp_path / "runs.db"
    first = definition.run(store)
    monkeypatch.delenv("OWN_API_KEY")
    provider.clear()
    again = definition.run(store)
    assert (again.counts.made, again.rows) == (0, first.rows)
    seen = definition.preflight(store)
    assert (seen.finished, seen.probed) == (True, False)
    assert (
        seen.notes[0] == f"{first.run} is finished: every call is answered from its store, and nothing is asked or paid"
    )
    # What nobody asks for any more is above no budget.
    bounded = definition.model_copy(update={"budget": Budget(calls=1)})
    assert bounded.preflight(store).notes == seen.notes
    assert provider.received == 0
    with pytest.raises(ConfigurationError, match="OWN_API_KEY is not set"):
        definition.run(store, retry_failed=True)
    with pytest.raises(ConfigurationError, match="OWN_API_KEY is not set"):
        definition.run(tmp_path / "other.db")


async def test_a_call_that_a_finished_run_lacks_is_refused_without_a_key() -> None:
    async with Gateway() as gateway:
        model = Model("openai/gpt-4o", api_key_env=WRONG)
        gateway.unreachable[model.name] = "the environment variable X is not set"
        with pytest.raises(
            ModelUnavailable, match="openai/gpt-4o: the environment variable X is not set, and this call"
        ):
            await gateway.reply(call(model))
        assert gateway.counts.made == 0


def call(model: Model) -> Call:
    return Call(model, (Message("user", "hello"),), Sampling(), 5, bytes(16))


def test_a_run_that_is_not_finished_is_probed_again_and_says_what_is_paid(
    provider: FakeProvider, tmp_path: Path
) -> None:
    play_simulated(provider)
    models = [provider.model(name, price={"prompt": 10, "completion": 10}) for name in ("ada", "bob")]
    definition = tournament(provider, *models)
    with pytest.raises(ca.RunInterrupted):
        tournament(provider, *models, budget={"calls": 1}).run(tmp_path / "runs.db", preflight=False)
    assert provider.received == 1
    seen = definition.preflight(tmp_path / "runs.db")
    assert seen.probed
    assert " goes on: $0.0" in seen.notes[0]
    assert seen.notes[0].endswith(" for 1 call: paid, and not paid again")


def test_a_run_without_preflight_asks_nothing_before_its_first_call(provider: FakeProvider) -> None:
    play_simulated(provider)
    result = tournament(provider, provider.model("ada"), provider.model("bob")).run(preflight=False)
    assert provider.received == result.counts.made


def test_simulated_models_are_not_asked_and_no_environment_is_needed() -> None:
    seen = ca.Tournament(models=["sim/ada", "sim/bob"], judges=["sim/j1"], **OTHERS).preflight()
    assert isinstance(seen, Preflight)
    assert (seen.hosted, seen.probed, seen.usd, seen.unpriced) == (False, False, 0.0, ())


def test_inside_an_event_loop_the_asynchronous_form_is_named(provider: FakeProvider) -> None:
    definition = tournament(provider, provider.model("ada"), provider.model("bob"))

    async def inside() -> Preflight:
        with pytest.raises(RuntimeError, match=r"await tournament\.apreflight"):
            definition.preflight()
        return await definition.apreflight()

    seen = asyncio.run(inside())
    assert {line.model: line.thinks for line in seen.models} == dict.fromkeys(("ada", "bob", "j1", "j2", "j3"), False)
    assert all(line.latency is not None for line in seen.models)


def test_no_secret_is_in_what_is_said(provider: FakeProvider) -> None:
    provider.play("ada", behaviours.error(401, echo_key=True))
    found = "\n".join(
        problems_of(tournament(provider, provider.model("ada"), provider.model("bob", api_key_env=WRONG)))
    )
    assert "(key: ***)" in found
    assert provider.key not in found
    assert os.environ[WRONG] not in found


def test_the_docs_quote_the_probe() -> None:
    assert PROBE in (Path(__file__).parent.parent / "docs" / "privacy.md").read_text(encoding="utf-8")
