"""Names are text: no path, no verdict and no terminal hangs on what a model or a question is called."""

import asyncio
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

import coupled_arena as ca
from benchmarks.hostile import CASES, raw
from coupled_arena.models.calls import Call
from coupled_arena.reports import console
from coupled_arena.tournaments.export import export
from coupled_arena.tournaments.play import play
from coupled_arena.tournaments.store import Store
from tests.support import ScriptedBackend

QUESTION = ca.Question(id="q", domain="logic", language="en", text="Which proof is shorter?", author="test")


def answer(call: Call) -> str:
    judging = call.model.model.startswith("test/judge")
    return f"{call.messages[-1].content}\n[[B]]" if judging else "<respond>The first.</respond>"


@pytest.mark.parametrize("case", [case for case in CASES if "megabyte" not in case])
def test_a_name_moves_no_path_no_verdict_and_no_terminal(case: str, tmp_path: Path) -> None:
    name = CASES[case].strip()
    try:
        tournament = ca.Tournament(
            name=f"{name} ",
            models=[ca.Model(name, "test/one"), ca.Model("ben", "test/two")],
            judges=[ca.Model(f"{name}!", "test/judge")],
            questions=[QUESTION.model_copy(update={"id": name, "domain": "logic"})],
            script="single",
            schedule="round_robin",
            recuse="none",
        )
        result = asyncio.run(play(tournament, tmp_path / "runs.db", backends={"hosted": ScriptedBackend(answer)}))
    except ca.ConfigurationError as refused:
        assert raw(str(refused)) == ""
        return
    assert [battle.decision.verdict for battle in result.battles] == ["B"]
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
