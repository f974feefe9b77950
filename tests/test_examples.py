"""Every example runs, prints what it promises and is short."""

import importlib.util
import re
import runpy
from pathlib import Path
from types import ModuleType

import pytest

import coupled_arena as ca

EXAMPLES = Path(__file__).parent.parent / "examples"
SCRIPTS = sorted(EXAMPLES.glob("*.py"))


@pytest.mark.parametrize("path", sorted(EXAMPLES.iterdir()), ids=lambda path: path.name)
def test_an_example_has_fewer_than_40_lines(path: Path) -> None:
    if path.is_file():
        assert len(path.read_text(encoding="utf-8").splitlines()) < 40


def test_scripts_are_numbered_in_the_order_in_which_to_read_them() -> None:
    assert [path.name[:3] for path in SCRIPTS] == [f"{number:02}_" for number in range(1, 9)]


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_a_script_runs_and_prints(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(path), run_name="__main__")
    assert "ada" in capsys.readouterr().out


def module_of(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def tournament_of(name: str) -> ca.Tournament:
    tournament: ca.Tournament = module_of(name).tournament
    return tournament


def test_the_fact_checkers_notes_reach_the_judges() -> None:
    heard: list[str] = []
    result = tournament_of("06_role").run(
        listeners=[lambda event: heard.append(event.call.messages[-1].content) if hasattr(event, "call") else None]
    )
    battle = result.battles[0]
    notes = [turn for turn in battle.turns if turn.speaker == "checker"]
    assert [turn.round for turn in notes] == [1, 2]
    judged = [prompt for prompt in heard if "<transcript>" in prompt]
    assert judged
    assert all('<turn speaker="checker">\n<note>' in prompt for prompt in judged)


def test_the_chinese_tournament_speaks_chinese() -> None:
    heard = []
    result = ca.load(EXAMPLES / "zh.toml").run(
        listeners=[lambda event: heard.append(event) if hasattr(event, "reply") else None]
    )
    assert all(battle.decision.status == "decided" for battle in result.battles)
    assert all(turn.sections and not turn.missing for battle in result.battles for turn in battle.turns)
    replies = [event.reply.text for event in heard]
    assert any("<回答>" in text for text in replies)
    markers = {marker for text in replies for marker in re.findall(r"\[\[.*?\]\]", text)}
    assert markers == {"[[A]]", "[[B]]", "[[平局]]"}


def test_the_quickstart_is_eight_models_in_eight_domains() -> None:
    tournament = ca.load(EXAMPLES / "quickstart.toml")
    assert (len(tournament.models), len(tournament.domains), tournament.questions_per_domain) == (8, 8, 2)
    assert (len(tournament.judging_models), tournament.schedule) == (5, ca.Swiss())


def test_the_assistant_uses_its_tool_and_the_other_one_judges() -> None:
    example = module_of("07_agent")
    with example.provider as provider:
        result = example.tournament.run()
    (battle,) = result.battles
    (spoken,) = [turn for turn in battle.turns if turn.model == "agent/solver"]
    assert (spoken.outcome, spoken.sections[0].text) == ("ok", "It is 425: I worked it out with my tool.")
    assert battle.opinions[0].status == "valid"
    chats = [[message.role for message in request.messages] for request in provider.requests]
    assert ["system", "user", "assistant", "tool"] in chats
    assert "425" in [message.content for request in provider.requests for message in request.messages]
