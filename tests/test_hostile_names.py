"""Names are text: no path, no verdict and no terminal hangs on what a model or a question is called."""

import asyncio
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import coupled_arena as ca
from benchmarks.hostile import CASES, raw
from coupled_arena.models.calls import Call
from coupled_arena.models.encoding import storable
from coupled_arena.prompts import load_questions
from coupled_arena.records import name_problem
from coupled_arena.reports import console
from coupled_arena.tournaments.playing.play import play
from coupled_arena.tournaments.storage.export import export
from coupled_arena.tournaments.storage.store import Store
from tests.support import ScriptedBackend

LONGEST = 1000
"""Characters of the longest text that is tried as a name."""
TRIED = [text.strip() for text in CASES.values() if len(text) < LONGEST]
NAMES = [text for text in TRIED if not name_problem(text)]
REFUSED = [text for text in TRIED if name_problem(text)]
QUESTION = ca.Question(id="q", domain="logic", language="en", text="Which proof is shorter?", author="test")


def answer(call: Call) -> str:
    judging = call.model.model.startswith("test/judge")
    return f"{call.messages[-1].content}\n[[B]]" if judging else "<respond>The first.</respond>"


def rules(**changes: Any) -> dict[str, Any]:
    return {
        "judges": [{"name": "judge", "model": "test/judge"}],
        "models": [{"name": "ann", "model": "test/one"}, {"name": "ben", "model": "test/two"}],
        "questions": [QUESTION],
        "script": "single",
        "schedule": ca.Swiss(rounds=1),
        "recuse": "none",
        **changes,
    }


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"models": [{"name": name, "model": f"test/{n}"} for n, name in enumerate(NAMES)]}, id="models"),
        pytest.param(
            {"judges": [{"name": name, "model": f"test/judge{n}"} for n, name in enumerate(NAMES)]}, id="judges"
        ),
        pytest.param(
            {
                "questions": [
                    QUESTION.model_copy(update={"id": t, "text": f"Which proof of {n} is shorter? {t}"})
                    for n, t in enumerate(NAMES)
                ]
            },
            id="questions",
        ),
        pytest.param({"questions": [QUESTION.model_copy(update={"domain": NAMES[-1]})]}, id="domain"),
        pytest.param({"name": " ".join(NAMES)}, id="tournament"),
    ],
)
def test_a_name_moves_no_path_no_verdict_and_no_terminal(changes: dict[str, Any], tmp_path: Path) -> None:
    tournament = ca.Tournament(**rules(**changes))
    result = asyncio.run(play(tournament, tmp_path / "runs.db", backends={"hosted": ScriptedBackend(answer)}))
    assert {battle.decision.verdict for battle in result.battles} == {"B"}
    shown = io.StringIO()
    terminal = Console(file=shown, width=200)
    for part in (console.leaderboard(result), console.conduct(result), console.transcript(result.battles[0], QUESTION)):
        terminal.print(part)
    assert raw(shown.getvalue()) == ""
    with Store(tmp_path / "runs.db", create=False) as store:
        assert store.check().findings == ()
        files = {path.name for path in export(store.run(), tmp_path / "files")}
    made = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert made == {"runs.db", f"runs.db.{result.run}.lock", *(f"files/{name}" for name in files)}


@pytest.mark.parametrize("name", REFUSED, ids=ascii)
def test_a_name_that_cannot_be_shown_is_refused_in_words_that_can(name: str) -> None:
    with pytest.raises(ca.ConfigurationError) as refused:
        ca.Tournament(**rules(models=[{"name": name, "model": "test/one"}, {"name": "ben", "model": "test/two"}]))
    assert raw(str(refused.value)) == ""


def test_json_on_a_terminal_holds_no_character_that_it_obeys(capsys: pytest.CaptureFixture[str]) -> None:
    from coupled_arena.cli.terminal import out_json

    value = {name: text[:1000] for name, text in CASES.items()}
    out_json(value)
    said = capsys.readouterr().out
    assert raw(said) == ""
    assert json.loads(said) == value


def test_every_file_is_opened_in_a_stated_encoding() -> None:
    checked = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--preview", "--isolated", "--select", "PLW1514", "coupled_arena"],
        cwd=Path(__file__).parent.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (checked.returncode, checked.stdout) == (0, "All checks passed!\n")


def test_questions_of_a_file_are_text_whatever_they_hold(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    texts = {name: f"Which proof of {name} is shorter? {text.strip()}".strip() for name, text in CASES.items()}
    whole = {name: text for name, text in texts.items() if text == storable(text)}
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in whole.values()), encoding="utf-8")
    assert [question.text for question in load_questions(path)] == list(whole.values())
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts.values()), encoding="utf-8")
    with pytest.raises(ca.ConfigurationError, match=r"questions\.jsonl:\d+: text: holds half a character") as refused:
        load_questions(path)
    assert raw(str(refused.value)) == ""
    assert len(refused.value.problems) == len(texts) - len(whole)
