"""What a preflight says without asking anybody: contexts, prices, families, limits, and what is not known."""

import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import coupled_arena as ca
from coupled_arena.errors import ConfigurationError
from coupled_arena.models.calls import Abilities
from coupled_arena.models.gateway import Gateway
from coupled_arena.models.model import Model
from coupled_arena.prompts import load_prompts
from coupled_arena.reports.preflight import preflight_table
from coupled_arena.tournaments.demo import local_demo, simulated_demo
from coupled_arena.tournaments.playing.seating import Seating
from coupled_arena.tournaments.preflight.asks import duties
from coupled_arena.tournaments.preflight.contexts import context_of, too_long
from coupled_arena.tournaments.preflight.outlook import CastModel, Preflight
from tests.support import ScriptedBackend

PRICE = {"prompt": 1.0, "completion": 2.0}
HOSTED: dict[str, Any] = {
    "models": [{"model": "openai/ada", "price": PRICE}, {"model": "openai/bob", "price": PRICE}],
    "judges": [{"model": f"openai/j{n}", "price": PRICE} for n in range(3)],
    "domains": ["writing"],
    "questions_per_domain": 1,
    "schedule": "round_robin",
}


def seen(**changes: Any) -> Preflight:
    return ca.Tournament(**{**HOSTED, **changes}).preflight(probe=False)


def problems_of(**changes: Any) -> list[str]:
    with pytest.raises(ConfigurationError) as caught:
        seen(**changes)
    return [str(problem) for problem in caught.value.problems]


def line_of(preflight: Preflight, name: str) -> CastModel:
    return next(line for line in preflight.models if line.model == name)


# Contexts.


def longest(model: str, **changes: Any) -> int:
    """Return the longest call of a model as the preflight gives it."""
    return line_of(seen(**changes), model).spending.longest_call


def with_context(key: str, context: int, **settings: Any) -> dict[str, Any]:
    """Return a change of the definition after which one model under a key holds so much."""
    changed = {"model": "openai/short", "price": PRICE, "context": context, **settings}
    if key in ("models", "judges"):
        return {key: [changed, *HOSTED[key][1:]]}
    return {key: changed}


@pytest.mark.parametrize(
    ("key", "role", "shortened"),
    [
        ("models", "debater", 'battle.section_tokens, battle.script = "single"'),
        ("judges", "judge", "committee.reason_tokens, committee.discussion_rounds"),
        ("examiner", "examiner", "questions_per_domain"),
        ("reference", "reference", "questions"),
    ],
)
def test_a_call_that_does_not_fit_is_a_problem_with_its_role_and_what_helps(
    key: str, role: str, shortened: str
) -> None:
    # Questions that are still to be written have no reference answer yet.
    changes = {"domains": ["math"], "examiner": {"model": "openai/examiner", "price": PRICE}}
    if key == "examiner":
        del changes["examiner"]
    needed = longest("openai/short", **changes, **with_context(key, 10**6))
    assert line_of(seen(**changes, **with_context(key, needed)), "openai/short").context == needed
    (problem,) = problems_of(**changes, **with_context(key, needed - 1))
    assert problem.startswith(
        f"Tournament: {key}: openai/short: its longest call as {role} may take {needed} tokens, and its context holds "
        f"{needed - 1}; take a model that holds more, or shorten the call ("
    )
    assert shortened in problem


def test_an_added_role_has_to_hold_what_it_hears() -> None:
    class Checker(ca.Role):
        instructions = "Check."

    script = ca.Script(name="s", steps=(*ca.SINGLE.steps, ca.Step(speaker="checker", sees=(1, 2))))
    seat = (Checker, Model("short", "openai/short", context=1000, price=PRICE))
    (problem,) = problems_of(script=script, roles={"checker": seat})
    assert problem.startswith("Tournament: roles.checker: short: its longest call as checker may take ")


def test_the_last_stage_of_a_judge_counts_transcript_reference_and_discussion() -> None:
    asked = {"domains": ["math"], "examiner": {"model": "openai/examiner", "price": PRICE}}
    plain = longest("openai/j0", **asked)
    assert longest("openai/j0", **asked, references=False) < plain - 300
    assert longest("openai/j0", **asked, discussion_rounds=0) < plain - 1000
    assert longest("openai/j0", **asked, section_tokens=20) < plain - 3000
    assert longest("openai/j0", **asked, reason_tokens=20) < plain - 800
    alone = [HOSTED["judges"][0]]
    assert longest("openai/j0", judges=alone) == longest("openai/j0", judges=alone, discussion_rounds=0)


def test_thinking_takes_its_part_of_the_context_and_of_the_price() -> None:
    room = {"model": "openai/j0", "price": PRICE, "thinking_tokens": 5000}
    plain, thinking = (line_of(seen(**change), "openai/j0").spending for change in ({}, {"judges": [room]}))
    alone = line_of(seen(judges=[HOSTED["judges"][0]]), "openai/j0").spending
    assert thinking.longest_call == alone.longest_call + 5000
    assert thinking.completion_tokens == alone.completion_tokens + 5000 * alone.most_calls
    assert (thinking.usd or 0) - (alone.usd or 0) == pytest.approx(2e-6 * 5000 * alone.most_calls)
    assert plain.calls == 2


def test_litellms_table_is_a_context_and_what_the_user_says_goes_before_it() -> None:
    (problem,) = problems_of(judges=[*HOSTED["judges"], {"model": "openai/gpt-4"}], prompts="en")
    assert "openai/gpt-4: its longest call as judge may take " in problem
    assert "its context holds 8192;" in problem
    assert problem.endswith("where LiteLLM's figure is wrong, set `context` of the model")
    assert line_of(seen(judges=[{"model": "openai/gpt-4", "context": 20_000}]), "openai/gpt-4").context == 20_000


def test_a_context_that_nobody_knows_is_no_problem() -> None:
    assert line_of(seen(), "openai/ada").context is None


def test_weights_hold_no_more_than_they_can_whatever_is_said() -> None:
    tournament = ca.Tournament(**{**HOSTED, "models": ["sim/a", "sim/b"], "judges": ["sim/j"]})
    gateway = Gateway(backends={"local": ScriptedBackend(lambda call: "", Abilities(context=4096))})
    assert context_of(tournament, gateway, Model("local/x", context=100_000)) == 4096
    assert context_of(tournament, gateway, Model("local/x", context=1000)) == 1000
    assert context_of(tournament, gateway, Model("local/x")) == 4096


@pytest.mark.parametrize("context", [1024, 2048, 8192])
def test_the_demo_of_local_models_fits(context: int) -> None:
    able = Abilities(continues=True, chooses=True, context=context)
    gateway = Gateway(backends={"local": ScriptedBackend(lambda call: "", able)})
    tournament = local_demo()
    seating = Seating(tournament, gateway, load_prompts(tournament.prompt_set))
    found = list(too_long(tournament, gateway, duties(seating)))
    assert bool(found) == (context == 1024)
    assert simulated_demo().preflight().battles == 72


# Prices.


def test_a_model_without_a_price_makes_the_sum_a_least_one() -> None:
    assert seen().cost.startswith("$0.")
    known = seen(judges=["openai/own-1", *HOSTED["judges"], "openai/own-2"])
    assert known.unpriced == ("openai/own-1", "openai/own-2")
    assert known.cost == f"at least ${known.usd:.2f} (2 models unpriced: openai/own-1, openai/own-2)"
    assert line_of(known, "openai/own-1").price is None


@pytest.mark.parametrize(
    ("budget", "held"),
    [
        ({"usd": 5}, False),
        ({"usd": 5, "tokens": 10**6}, True),
        ({"usd": 5, "calls": 100}, True),
        ({"minutes": 5}, True),
    ],
)
def test_a_budget_in_dollars_needs_prices_or_another_bound(budget: dict[str, float], held: bool) -> None:
    judges = ["openai/own-1", *HOSTED["judges"], "openai/own-2"]
    if held:
        assert seen(judges=judges, budget=budget).unpriced
        return
    (problem,) = problems_of(judges=judges, budget=budget)
    assert problem == (
        "Tournament: budget.usd: cannot be held: no price is known for openai/own-1, openai/own-2; set `price` of the "
        "model (US dollars per million tokens: { prompt = 0.5, completion = 1.5 }), budget.tokens or budget.calls"
    )
    assert seen(budget=budget).usd > 0


def test_the_price_is_what_the_model_costs_times_what_is_asked_at_most() -> None:
    preflight = seen()
    for line in preflight.models:
        spent = line.spending
        assert spent.usd == pytest.approx((spent.prompt_tokens + 2 * spent.completion_tokens) / 1e6)
    assert preflight.usd == pytest.approx(sum(line.spending.usd or 0 for line in preflight.models))


# Notes.


def test_a_limit_that_fits_no_hosted_model_is_a_note() -> None:
    limits = {"openai/*": {"concurrency": 3}, "azure/*": {"concurrency": 3}}
    (note,) = [note for note in seen(limits=limits).notes if "limits" in note]
    assert note.startswith("limits.azure/* fits no hosted model (openai/ada, openai/bob, ")
    assert note.endswith("), so it holds nothing back")


def test_a_budget_below_the_worst_case_is_a_note() -> None:
    worst = seen(budget={"usd": 100, "tokens": 10**9, "calls": 10**6})
    assert not any("above budget" in note for note in worst.notes)
    notes = seen(budget={"usd": 0.01, "tokens": 5000, "calls": 5, "minutes": 0.1}).notes
    assert f"the worst case, ${worst.usd:.2f}, is above budget.usd = 0.01: the run may stop before its end" in notes
    assert [note.partition("budget.")[2].partition(":")[0] for note in notes if "above budget" in note] == [
        "usd = 0.01",
        "tokens = 5000",
        "calls = 5",
    ]


def test_families_and_the_committees_they_leave_short_are_notes() -> None:
    related = [{"name": f"gpt-{n}", "model": f"openai/gpt-4o-{n}", "price": PRICE} for n in range(2)]
    notes = seen(models=[related[0], *HOSTED["models"]], judges=[*HOSTED["judges"], related[1]]).notes
    assert "family gpt: gpt-1 may not judge battles of gpt-0" in notes
    assert not any("only; 3 judges" in note for note in notes)
    notes = seen(models=[related[0], *HOSTED["models"]], judges=[*HOSTED["judges"][:2], related[1]]).notes
    assert "gpt-0 against openai/ada: judged by openai/j0, openai/j1 only; 3 judges or more are advisable" in notes
    assert not any("openai/ada against openai/bob" in note for note in notes)
    assert not any("family" in note for note in seen(models=related, judges=HOSTED["judges"], recuse="author").notes)


def test_many_short_committees_are_counted() -> None:
    models = [{"model": f"openai/m{n}", "price": PRICE} for n in range(5)]
    notes = seen(models=models, judges=HOSTED["judges"][:1]).notes
    assert sum("only; 3 judges or more are advisable" in note for note in notes) == 3
    assert "fewer than 3 judges for 7 more pairs" in notes


def test_a_missing_key_is_a_note_where_nobody_is_asked_and_a_problem_elsewhere() -> None:
    assert "the environment variable OPENAI_API_KEY is not set; a run needs it for openai/ada, " in seen().notes[-1]
    with pytest.raises(ConfigurationError) as caught:
        ca.Tournament(**HOSTED).run(preflight=False)
    assert [problem.message for problem in caught.value.problems] == [
        f"{name}: the environment variable OPENAI_API_KEY is not set"
        for name in ("openai/ada", "openai/bob", "openai/j0", "openai/j1", "openai/j2")
    ]


def test_what_is_wrong_with_a_file_is_a_problem_whatever_the_store_holds(tmp_path: Path) -> None:
    prompts = tmp_path / "mine.toml"
    prompts.write_text('base = "en"\n', encoding="utf-8")
    definition = ca.Tournament(**{**HOSTED, "models": ["sim/a", "sim/b"], "judges": ["sim/j"]}, prompts=str(prompts))
    definition.run(tmp_path / "runs.db")
    assert definition.preflight(tmp_path / "runs.db").finished
    prompts.write_text('base = "en"\n[judge]\nopinion = "{quest}"\n', encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"mine\.toml: judge\.opinion: unknown field"):
        definition.preflight(tmp_path / "runs.db")
    prompts.write_text('base = "en"\n[judge]\nchoose = " So: "\n', encoding="utf-8")
    changed = definition.preflight(tmp_path / "runs.db")
    assert (changed.finished, changed.notes) == (False, definition.preflight().notes)


def test_a_long_list_of_questions_of_ones_own_is_measured(tmp_path: Path) -> None:
    def needed(text: str) -> int:
        file = tmp_path / "own.jsonl"
        file.write_text(json.dumps({"text": text, "domain": "writing", "reference": "42"}), encoding="utf-8")
        return longest("openai/j0", questions=file, domains=["writing"])

    assert needed("Why is this so long? " * 200) > needed("Why is this so long?") + 199 * 21 / 4


def make_own() -> Any:
    from tests.agents_scene import Ledger, OwnClient

    return OwnClient(Ledger())


def test_an_agent_is_counted_as_one_call_a_turn_and_never_priced() -> None:
    models = ["agent/own", HOSTED["models"][0]]
    preflight = seen(models=models, agents={"own": make_own})
    line = line_of(preflight, "agent/own")
    assert (line.at_least, line.spending.calls, line.spending.most_calls, line.spending.usd) == (True, 5, 5, None)
    assert preflight.unpriced == ("agent/own",)
    assert preflight.cost.startswith("at least $")
    assert any(
        note.startswith("agent/own: is an agent of your own, counted as one call a turn") for note in preflight.notes
    )


def make_assistant() -> Any:
    from autogen_agentchat.agents import AssistantAgent

    return AssistantAgent("assistant", model_client=ca.model_client(Model("inner", "openai/inner")))


def test_the_models_behind_an_agent_are_listed_with_the_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-unused")
    preflight = seen(models=["agent/a", HOSTED["models"][0]], agents={"a": make_assistant})
    inner = line_of(preflight, "inner")
    assert (inner.keys, inner.at_least, inner.spending.calls) == (("agents.a",), True, 0)
    (problem,) = problems_of(models=["agent/a", HOSTED["models"][0]], agents={"a": make_assistant}, budget={"usd": 5})
    assert "no price is known for inner" in problem


# What is shown.


def shown(preflight: Preflight, width: int = 160) -> str:
    console = Console(width=width, file=None, record=True, quiet=False, force_terminal=False)
    with console.capture() as captured:
        console.print(preflight_table(preflight))
    return captured.get()


def test_the_table_names_everybody_and_the_sum() -> None:
    judges = [{"name": "own", "model": "openai/j9"}, *HOSTED["judges"]]
    preflight = seen(judges=judges, examiner=HOSTED["models"][0])
    text = shown(preflight)
    for line in preflight.models:
        assert text.count(line.model) >= 2
    assert "models, examiner" in text
    assert "own is openai/j9" in text
    assert "unpriced" in text
    assert text.rstrip().splitlines()[-1] == f"1 battle at most; worst case: {preflight.cost}"
    assert "thinks" not in text


def test_the_table_of_ordinary_names_fits_into_80_columns() -> None:
    assert "…" not in shown(seen(judges=[*HOSTED["judges"], {"model": "openai/gpt-4o"}]), width=80)


def test_the_document_is_json_with_every_figure() -> None:
    preflight = seen()
    document = json.loads(json.dumps(preflight.document()))
    assert {"battles", "models", "usd", "unpriced_models", "notes", "probed", "finished"} == set(document)
    first = document["models"][0]
    assert first["price"] == PRICE
    assert first["model"] == "openai/ada"
    assert {"string", "keys", "family", "context", "thinks", "calls", "most_calls", "longest_call", "usd"} <= set(first)
