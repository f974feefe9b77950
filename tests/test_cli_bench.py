"""`coupled-arena bench`: tables on standard output, one JSON object if asked, problems in its own words."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from coupled_arena.cli import app
from coupled_arena.errors import BudgetReached, ConfigurationError
from coupled_arena.testing import FakeProvider
from tests.test_cli import arena, parsed

SMALL = ("--task", "yes-no", "--items", "20", "--repeats", "3", "--seed", "7")
MODELS = ("--models", "sim/ada?skill=1", "--model", "bob=sim/bob?skill=0.9")

Bench = Callable[..., Result]


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """Runs the command in a new folder, in this process."""
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(app, ["bench", *arguments])


def document(done: Result) -> dict[str, Any]:
    assert done.exit_code == 0, done.output
    value: dict[str, Any] = json.loads(done.stdout)
    return value


def test_the_tables_are_shown_and_the_json_says_the_same(bench: Bench) -> None:
    shown = bench(*SMALL, *MODELS, "--temperature", "0.7,1", "--top-p", "0.9")
    assert shown.exit_code == 0, shown.output
    assert "240 calls made, 0 answered from the memo" in shown.stderr
    assert "run bench-yes-no-" in shown.stderr
    found = document(bench(*SMALL, *MODELS, "--temperature", "0.7,1", "--top-p", "0.9", "--json"))
    assert found["calls"] == {"made": 0, "memoised": 240, "failed": 0}
    assert [(row["model"], row["temperature"], row["top_p"]) for row in found["models"]] == [
        ("sim/ada", 0.7, 0.9), ("bob", 0.7, 0.9), ("sim/ada", 1.0, 0.9), ("bob", 1.0, 0.9),
    ]  # fmt: skip
    for row in found["models"]:
        assert {"model", "accuracy", "low", "high"} <= set(row)
        assert f"{row['accuracy']:.4f}" in shown.stdout
    for row in found["pairs"]:
        assert {
            "a", "b", "difference", "se_coupled", "se_independent", "covariance", "saved", "saved_low", "saved_high",
            "saved_within", "identical",
        } <= set(row)  # fmt: skip
        assert f"{row['saved']:.1%}" in shown.stdout
    assert found["pairs"][0]["sharing"] == "shared"


@pytest.mark.parametrize("bound", ["calls", "tokens"])
def test_a_bound_on_calls_or_tokens_stops_it(bench: Bench, bound: str) -> None:
    done = bench(*SMALL, *MODELS, f"--budget-{bound}", "50", "--json")
    assert isinstance(done.exception, BudgetReached)
    found = json.loads(done.stdout)
    assert 0 < found["calls"]["made"] < 120
    assert f"budget.{bound}" in found["caveats"][0]


def test_the_json_tells_the_settings_that_all_were_asked_at(bench: Bench) -> None:
    own = ("--models", "sim/ada?skill=1", "--models", "bob=sim/bob?skill=0.9")
    assert document(bench(*SMALL, *own, "--json"))["settings"] == [{"temperature": 0.7, "top_p": None}]


def test_a_bench_is_listed_and_says_why_it_has_no_leaderboard(tmp_path: Path) -> None:
    found = parsed(arena(tmp_path, "bench", *SMALL, *MODELS, "--json"))
    (run,) = parsed(arena(tmp_path, "runs", "--json"))["runs"]
    assert (run["id"], run["status"], run["calls"]) == (found["run"], "finished", 120)
    done = arena(tmp_path, "leaderboard")
    assert done.returncode == 1
    assert "is a bench, which has no battles" in done.stderr


def test_problems_are_named_by_their_flags(bench: Bench) -> None:
    done = bench(*SMALL, *MODELS, "--temperature", "warm", "--alignment", "bytes")
    assert isinstance(done.exception, ConfigurationError)
    assert [str(problem) for problem in done.exception.problems] == [
        "bench: --temperature: must be from 0 to 10, not 'warm'",
        "bench: --alignment: must be one of step, context, not 'bytes'",
    ]
    done = bench(*SMALL, *MODELS, "--models", "sim/ada", "--top-p", "2", "--coupling", "fresh", "--items", "500")
    assert isinstance(done.exception, ConfigurationError)
    assert [problem.key for problem in done.exception.problems] == ["--models", "--top-p", "--coupling"]


def test_a_wrong_file_exits_with_2_and_names_its_lines(tmp_path: Path) -> None:
    (tmp_path / "mine.jsonl").write_text('{"id": "a", "text": "Why?"}\n{"id": "a"}\n', "utf-8")
    done = arena(tmp_path, "bench", "--task", "mine.jsonl", "--models", "sim/ada")
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "mine.jsonl:1: gold: is missing",
        "mine.jsonl:2: text: is missing",
        "mine.jsonl:2: gold: is missing",
        "mine.jsonl:2: id: 'a' is the id of mine.jsonl:1 already",
    ]
    assert not (tmp_path / "coupled-arena.db").exists()


def test_nothing_is_asked_of_hosted_models_without_consent(
    bench: Bench, fake_provider: Callable[..., FakeProvider], tmp_path: Path
) -> None:
    provider = fake_provider({"one": "Yes."})
    hosted = (*SMALL, "--models", "openai/one")
    refused = bench(*hosted)
    assert (refused.exit_code, provider.received) == (2, 0), refused.exception
    assert refused.stderr.splitlines()[-1].endswith("say --yes to go on")
    seen = document(bench(*hosted, "--dry-run", "--json"))
    assert (seen["answers"], seen["models"][0]["calls"], provider.received) == (60, 60, 0)
    assert not (tmp_path / "coupled-arena.db").exists()
    agreed = document(bench(*hosted, "--yes", "--json"))
    # One of them is the probe.
    assert (agreed["calls"]["made"], provider.received) == (60, 61)
    assert agreed["models"][0]["sharing"] in ("none", "seed-only")
    assert document(bench(*hosted, "--json"))["calls"]["made"] == 0


def test_a_budget_that_is_spent_exits_with_1_and_shows_what_there_is(
    bench: Bench, fake_provider: Callable[..., FakeProvider]
) -> None:
    fake_provider({"gpt-4o-mini": "Yes."})
    done = bench(*SMALL, "--models", "openai/gpt-4o-mini", "--yes", "--json", "--budget-usd", "0")
    assert isinstance(done.exception, BudgetReached)
    found = json.loads(done.stdout)
    assert (found["calls"]["made"], found["models"][0]["accuracy"], found["models"][0]["missing"]) == (0, None, 60)


def test_a_model_that_never_answers_exits_with_1(bench: Bench) -> None:
    done = bench(*SMALL, "--models", "sim/ada?error=1")
    assert done.exit_code == 1
    assert "no answer could be scored" in done.stderr
    assert "sim/ada: failed: 5" in done.stderr or "sim/ada: failed: 4" in done.stderr
