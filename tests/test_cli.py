"""The command line: one JSON object on standard output, one line per problem on standard error, honest exit codes."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from rich.text import Text
from typer.core import TyperGroup

from coupled_arena.cli import app
from coupled_arena.tournaments.storage.columns import FRAMES
from tests.store_damage import TOML


def arena(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a folder."""
    return subprocess.run(
        [sys.executable, "-c", "from coupled_arena.cli import main; main()", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(Path.cwd()), os.environ.get("PYTHONPATH", "")]),
            **environment,
        },
    )


def parsed(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """Return the one JSON object on standard output."""
    assert done.returncode == 0, done.stderr
    value: dict[str, Any] = json.loads(done.stdout)
    return value


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("played")
    (folder / "small.toml").write_text(TOML, encoding="utf-8")
    return folder, parsed(arena(folder, "run", "small.toml", "--json"))


def test_run_prints_one_json_object_and_keeps_a_store(played: tuple[Path, dict[str, Any]]) -> None:
    folder, document = played
    assert {"run", "leaderboard", "settled", "battles", "calls", "cost"} <= set(document)
    assert (folder / "coupled-arena.db").exists()


def test_run_again_answers_from_the_memo(played: tuple[Path, dict[str, Any]]) -> None:
    folder, document = played
    again = parsed(arena(folder, "run", "small.toml", "--json", "--concurrency", "1"))
    assert again["calls"]["made"] == 0
    assert again["leaderboard"] == document["leaderboard"]


def test_leaderboard_and_runs_show_what_was_played(played: tuple[Path, dict[str, Any]]) -> None:
    folder, document = played
    shown = parsed(arena(folder, "leaderboard", "--json"))
    assert shown["leaderboard"] == document["leaderboard"]
    assert shown["settled"] == document["settled"]
    (run,) = parsed(arena(folder, "runs", "--json"))["runs"]
    assert (run["id"], run["status"], run["battles"]) == (document["run"], "finished", 6)
    table = arena(folder, "leaderboard")
    assert "calls made" not in table.stderr
    assert "sim/ada" in table.stdout
    assert "prior weak" in table.stdout


def test_progress_goes_to_standard_error_in_plain_lines(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(TOML, encoding="utf-8")
    done = arena(tmp_path, "run", "small.toml")
    assert "round 1: 1 match, sim/ada has a bye" in done.stderr
    assert "\x1b" not in done.stderr + done.stdout
    assert done.stdout.startswith("rank")


def test_export_writes_a_file_per_frame_and_format(played: tuple[Path, dict[str, Any]]) -> None:
    folder, _ = played
    files = parsed(arena(folder, "export", "out", "--json"))["files"]
    assert {Path(file).name for file in files} == {
        "README.md", *(f"{frame}.{ending}" for frame in FRAMES for ending in ("jsonl", "csv"))
    }  # fmt: skip
    battles = [json.loads(line) for line in (folder / "out" / "battles.jsonl").read_text("utf-8").splitlines()]
    assert len(battles) == 6
    refused = arena(folder, "export", "out", "--format", "xml")
    assert (refused.returncode, refused.stderr.split("'")[0]) == (2, "export: --format: ")


def test_dry_run_says_what_would_be_asked_and_asks_nothing(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(TOML, encoding="utf-8")
    document = parsed(arena(tmp_path, "run", "small.toml", "--dry-run", "--json"))
    assert (document["battles"], document["usd"], document["unpriced_models"]) == (6, 0.0, [])
    assert {line["model"] for line in document["models"]} >= {"sim/ada", "sim/j1", "sim/examiner"}
    assert not (tmp_path / "coupled-arena.db").exists()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ('modles = ["x"]', "small.toml: modles: unknown key"),
        ('language = "xx"', "small.toml: language: there is no such prompt set"),
        ("[budget]\nusd = -1", "small.toml: budget.usd: Input should be greater than or equal to 0"),
        ("[limits.'openai/*']\nconcurency = 4", "limits.openai/*.concurency: unknown key; did you mean 'concurrency'?"),
    ],
)
def test_wrong_use_is_named_and_exits_2(tmp_path: Path, change: str, problem: str) -> None:
    (tmp_path / "small.toml").write_text(f"{TOML}\n{change}\n", encoding="utf-8")
    done = arena(tmp_path, "run", "small.toml")
    assert done.returncode == 2
    assert problem in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


def test_hosted_models_are_not_paid_for_unasked(tmp_path: Path) -> None:
    text = TOML.replace("sim/ada?skill=1", "openai/gpt-4o").replace('"sim/j', '"openai/j')
    text = text.replace("sim/examiner", "openai/gpt-4o-mini")
    (tmp_path / "small.toml").write_text(text, encoding="utf-8")
    done = arena(tmp_path, "run", "small.toml", OPENAI_API_KEY="sk-unused")
    assert done.returncode == 2
    assert "6 battles at most; worst case: at least $" in done.stderr
    assert "(3 models unpriced: openai/j1, openai/j2, openai/j3)" in done.stderr
    assert "say --yes to go on" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("leaderboard",), 1, "there is no store yet"),
        (("leaderboard", "--store", "text.db"), 1, "text.db"),
        (("run", "absent.toml"), 2, "cannot be read"),
        (("run",), 2, "FILE.toml"),
        (("models", "get", "nothing"), 1, "is no model that can be fetched"),
        (("models", "derive", "nothing:q8_0"), 1, "is not in the model cache"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(
    tmp_path: Path, arguments: tuple[str, ...], code: int, words: str
) -> None:
    (tmp_path / "text.db").write_text("not a store " * 100, encoding="utf-8")
    done = arena(tmp_path, *arguments)
    assert done.returncode == code
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_an_unknown_run_is_named_with_those_there_are(played: tuple[Path, dict[str, Any]]) -> None:
    folder, document = played
    done = arena(folder, "leaderboard", "--run", "nope")
    assert done.returncode == 1
    assert document["run"] in done.stderr


def test_the_simulated_demo_plays_without_weights(tmp_path: Path) -> None:
    done = arena(tmp_path, "demo", "--simulated")
    assert done.returncode == 0, done.stderr
    for words in ("share of A", "turns with", "missing", "sim/ada", "resolved"):
        assert words in done.stdout


def test_where_nothing_could_be_rated_the_exit_status_says_so(tmp_path: Path) -> None:
    text = TOML.replace("skill=1", "error=1").replace("skill=0", "error=1").replace("skill=-1", "error=1")
    (tmp_path / "small.toml").write_text(text, encoding="utf-8")
    done = arena(tmp_path, "run", "small.toml")
    assert done.returncode == 1
    assert "no battle could be rated" in done.stderr


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_says_how_to_go_on(tmp_path: Path, ending: signal.Signals) -> None:
    (tmp_path / "small.toml").write_text(TOML.replace("questions_per_domain = 1", "questions_per_domain = 6"), "utf-8")
    command = [sys.executable, "-m", "coupled_arena", "run", "small.toml"]
    folders = [str(Path.cwd()), os.environ.get("PYTHONPATH", "")]
    process = subprocess.Popen(
        command,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(folders)},
    )
    assert process.stderr is not None
    first = process.stderr.readline()
    process.send_signal(ending)
    _, rest = process.communicate()
    assert first.startswith("run small-")
    assert process.returncode == 1
    assert "all answers are kept in coupled-arena.db; run it again to go on" in rest
    assert "Traceback" not in rest
    (run,) = parsed(arena(tmp_path, "runs", "--json"))["runs"]
    assert run["status"] == "interrupted"


def test_a_prompt_set_of_ones_own_is_checked(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('base = "en"\n[judge]\nopinion = "{question} {transcirpt}"\n', encoding="utf-8")
    (tmp_path / "small.toml").write_text(f'prompts = "mine.toml"\n{TOML}', encoding="utf-8")
    done = arena(tmp_path, "run", "small.toml")
    assert done.returncode == 2
    assert "mine.toml: judge.opinion" in done.stderr
    assert "transcirpt" in done.stderr


def test_help_shows_every_word_of_what_is_said_of_an_option() -> None:
    command = typer.main.get_command(app)
    assert isinstance(command, TyperGroup)
    helps = [getattr(option, "help", "") for name in command.commands for option in command.commands[name].params]
    assert len(helps) > 100
    assert [Text.from_markup(help_text).plain for help_text in helps] == helps


def test_the_version_is_printed(tmp_path: Path) -> None:
    assert arena(tmp_path, "--version").stdout.strip() == "0.1.0"


def test_a_budget_that_is_reached_shows_what_there_is_and_exits_1(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(f"{TOML}\n[budget]\ncalls = 60\n", encoding="utf-8")
    done = arena(tmp_path, "run", "small.toml", "--json")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "stopped at budget.calls = 60: 60 made; set a larger one and run it again to go on"
    )
    (missing,) = json.loads(done.stdout)["caveats"]
    assert missing.endswith("of at most 6 battles were played when budget.calls = 60: 60 made")


def test_a_budget_that_ends_before_any_battle_says_how_to_end_one_after_the_other(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(f"{TOML}\n[budget]\ncalls = 5\n", encoding="utf-8")
    done = arena(tmp_path, "run", "small.toml", "--concurrency", "4")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-2].startswith("no battle ended: up to 4 are played at once; --concurrency 1")
    alone = arena(tmp_path, "run", "small.toml", "--concurrency", "1")
    assert "played at once" not in alone.stderr
