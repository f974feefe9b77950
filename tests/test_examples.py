"""Every example runs, prints what it promises and is short."""

import importlib.util
import re
import runpy
from pathlib import Path

import pytest

import coupled_arena as ca

EXAMPLES = Path(__file__).parent.parent / "examples"
SCRIPTS = sorted(EXAMPLES.glob("*.py"))


@pytest.mark.parametrize("path", sorted(EXAMPLES.iterdir()), ids=lambda path: path.name)
def test_an_example_has_fewer_than_40_lines(path: Path) -> None:
    if path.is_file():
        assert len(path.read_text(encoding="utf-8").splitlines()) < 40


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_a_script_runs_and_prints(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(path), run_name="__main__")
    assert "sim/ada" in capsys.readouterr().out


def tournament_of(name: str) -> ca.Tournament:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    tournament: ca.Tournament = module.tournament
    return tournament


def test_the_fact_checkers_notes_reach_the_judges() -> None:
    heard: list[str] = []
    result = tournament_of("fact_checker").run(
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
