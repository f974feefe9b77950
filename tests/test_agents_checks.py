"""Agents of a user's own before the first call: who they are, what they ask, what is wrong with them."""

from pathlib import Path
from typing import Any

import pytest
from autogen_agentchat.agents import BaseChatAgent

import coupled_arena as ca
from coupled_arena.models.families import family_of
from coupled_arena.models.gateway import Gateway
from coupled_arena.prompts import load_prompts
from coupled_arena.tournaments.playing.seating import Seating, agents_models
from tests.agents_scene import assistant
from tests.test_agents_tournament import LEDGER, ada, eve, hosted, judging, own, tournament


def test_an_agent_is_a_family_and_an_author_of_its_own() -> None:
    agents = {"a": ada, "b": ada, "c": eve}
    models = ["agent/a", "agent/b", ca.Model("c", "agent/c", family="mine")]
    seating = Seating(tournament(models=models, agents=agents), Gateway(), load_prompts("en"))
    a, b, c = seating.tournament.models
    assert [family_of(model) for model in (a, b, c)] == ["agent/a", "agent/b", "mine"]
    assert seating.author_of(a) == seating.author_of(b) != seating.author_of(c)
    assert seating.gateway.identity(a) != seating.gateway.identity(b), "two names may stand for two agents"


def test_the_models_behind_agents_are_known_before_they_are_asked() -> None:
    script = ca.Script(name="s", steps=(*ca.SINGLE.steps, ca.Step(speaker="x", sees=(1,))))
    played = tournament(
        models=["agent/own", "agent/hosted"], agents={"own": own, "hosted": hosted}, script=script, roles={"x": judging}
    )
    behind = agents_models(played, Gateway())
    assert {name: [model.name for model in models] for name, models in behind.items()} == {
        "own": [],
        "hosted": ["test/model"],
        "roles/x": ["sim/j9"],
    }
    assert behind["roles/x"][0].model == "sim/j9?acuity=9&world=7", "as it is called in this tournament"


SHARED = assistant(ca.model_client("sim/ada"))


def same() -> BaseChatAgent:
    return SHARED


def broken() -> BaseChatAgent:
    raise OSError("no such server")


def no_agent() -> Any:
    return "me"


def real() -> BaseChatAgent:
    return assistant(ca.model_client("openai/gpt-4o"))


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"agents": {}}, "models: agent/own: no agent of this name is given (given: none); agents are given in"),
        ({"agents": {"own": own, "other": ada}}, 'agents.other: no model is this agent: name "agent/other" among'),
        ({"agents": {"own": own, "a/b": ada}}, "agents.a/b: the name of an agent holds no / and no ?"),
        (
            {"agents": {"own": broken}},
            "agent/own: its factory tests.test_agents_checks.broken raised OSError: no su",
        ),
        ({"agents": {"own": no_agent}}, "agent/own: its factory tests.test_agents_checks.no_agent returned a str"),
        ({"agents": {"own": same}}, "agent/own: its factory tests.test_agents_checks.same returned the same agent"),
        (
            {"models": [ca.Model("agent/own", temperature=0.3), "sim/bob"]},
            "models: agent/own: temperature means nothing to an agent: set it for the model that it asks",
        ),
        ({"agents": {"own": lambda: None}}, "agents.own: a factory needs a name"),
        ({"agents": {"own": "sim/x"}}, "agents.own: an agent is given in Python, as a function without arguments"),
        ({"agents": {"own": real}}, "judges: sim/j1 is simulated and can judge only simulated debaters, not agent/own"),
    ],
)
def test_what_is_wrong_with_agents_is_said_before_the_first_call(changes: dict[str, Any], problem: str) -> None:
    LEDGER.asked.clear()
    with pytest.raises(ca.ConfigurationError) as raised:
        tournament(**changes).run()
    assert problem in str(raised.value)
    assert LEDGER.asked == []


def test_a_role_s_factory_is_checked_too() -> None:
    script = ca.Script(name="s", steps=(*ca.SINGLE.steps, ca.Step(speaker="x", sees=(1,))))
    with pytest.raises(ca.ConfigurationError, match=r"Tournament: roles\.x: its factory .*broken raised OSError"):
        tournament(script=script, roles={"x": broken}).run()


def test_a_model_behind_an_agent_needs_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ca.ConfigurationError, match=r"agent/own: openai/gpt-4o: .*OPENAI_API_KEY is not set"):
        tournament(agents={"own": real}, judges=["agent/own"]).run()


def test_a_file_can_name_no_agents(tmp_path: Path) -> None:
    file = tmp_path / "t.toml"
    file.write_text('models = ["agent/x", "sim/bob"]\njudges = ["sim/j"]\n[agents]\nx = "y"\n', encoding="utf-8")
    with pytest.raises(ca.ConfigurationError, match=r"t\.toml: agents\.x: an agent is given in Python"):
        ca.load(file)
