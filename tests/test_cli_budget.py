"""What the options of a budget take, and what problems call it."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from coupled_arena.cli import app
from coupled_arena.errors import BudgetReached, ConfigurationError

DEFINITION = """
models = ["sim/a", "sim/b"]
judges = ["sim/j"]
domains = ["math"]
questions_per_domain = 1
script = "single"
"""


@pytest.mark.parametrize("dollars", ["nan", "inf", "1e400", "-inf", "-1", "five"])
def test_a_budget_that_bounds_nothing_is_wrong_use(tmp_path: Path, dollars: str) -> None:
    file, store = tmp_path / "a.toml", tmp_path / "runs.db"
    file.write_text(DEFINITION, encoding="utf-8")
    done = CliRunner().invoke(app, ["run", str(file), "--store", str(store), "--budget-usd", dollars, "--json"])
    assert (done.exit_code, done.stdout, store.exists()) == (2, "", False)


@pytest.mark.parametrize(
    ("option", "bound", "words"),
    [
        ("--budget-calls", "1", "stopped at --budget-calls 1: 1 made"),
        ("--budget-tokens", "9", "stopped at --budget-tokens 9: "),
    ],
)
def test_a_run_stops_at_calls_and_tokens_too(tmp_path: Path, option: str, bound: str, words: str) -> None:
    file = tmp_path / "a.toml"
    file.write_text(DEFINITION, encoding="utf-8")
    done = CliRunner().invoke(app, ["run", str(file), "--store", str(tmp_path / "runs.db"), option, bound])
    assert isinstance(done.exception, BudgetReached)
    assert words in str(done.exception)


def test_a_budget_of_an_option_is_named_by_it_and_one_of_the_file_by_its_key(tmp_path: Path) -> None:
    file = tmp_path / "a.toml"
    hosted = DEFINITION.replace("sim/j", "openai/some-judge")
    for text, options, key in [
        (hosted, ["--budget-usd", "1"], "--budget-usd"),
        (f"{hosted}[budget]\nusd = 1\n", [], "budget.usd"),
    ]:
        file.write_text(text, encoding="utf-8")
        error = CliRunner().invoke(app, ["run", str(file), "--store", str(tmp_path / "runs.db"), *options]).exception
        assert isinstance(error, ConfigurationError)
        assert key in {problem.key for problem in error.problems}
