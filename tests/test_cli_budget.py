"""What the option of a budget takes: dollars that can be reached."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from coupled_arena.cli import app

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
