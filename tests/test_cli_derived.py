"""The commands add and rejudge, as a shell sees them."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import coupled_arena as ca
from coupled_arena.cli import app
from coupled_arena.errors import ArenaError, ConfigurationError
from tests.derived_scene import SMALL, copied, finished

EVE = "eve=sim/eve?skill=0.7"


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ca.Result]:
    return finished(tmp_path_factory.mktemp("base"))


def said(*arguments: object) -> str:
    """Return what a command that ends well writes to standard output."""
    ended = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert ended.exit_code == 0, ended.stderr
    return ended.stdout


def refused(*arguments: object) -> str:
    """Return why a command cannot be done."""
    ended = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert isinstance(ended.exception, ArenaError), ended.output
    return str(ended.exception)


def panel(folder: Path, text: str) -> Path:
    file = folder / "panel.toml"
    file.write_text(text, encoding="utf-8")
    return file


def test_add_says_where_the_newcomer_stands_and_then_answers_from_the_store(
    base: tuple[Path, ca.Result], tmp_path: Path
) -> None:
    store = copied(base[0], tmp_path)
    assert "8 battles at most" in said("add", EVE, "--store", store, "--dry-run")
    first = said("add", EVE, "--store", store)
    assert first.startswith("eve comes in at rank ")
    document = json.loads(said("add", EVE, "--store", store, "--json"))
    assert document["sentence"] == first.splitlines()[0]
    assert (document["base"], document["calls"]["made"]) == (base[1].run, 0)
    leaderboard = json.loads(said("leaderboard", "--store", store, "--json"))
    assert leaderboard["run"] == document["run"]
    assert leaderboard["leaderboard"] == document["leaderboard"]


def test_rejudge_reads_what_changes_from_a_file(base: tuple[Path, ca.Result], tmp_path: Path) -> None:
    store = copied(base[0], tmp_path)
    file = panel(tmp_path, 'judges = ["sim/k1", "sim/k2"]\n[committee]\ndiscussion_rounds = 0\n[budget]\nusd = 1\n')
    document = json.loads(said("rejudge", file, "--store", store, "--json"))
    assert document["judged"] == 12
    assert document["calls"]["made"] == 2 * 12
    assert said("rejudge", file, "--store", store).startswith("judged anew, ")
    seen = json.loads(said("rejudge", file, "--store", store, "--dry-run", "--openings", "--json"))
    assert [model["model"] for model in seen["models"]] == ["sim/k1", "sim/k2"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("seed = 3\n", "seed: is no key of a file to judge by; there are budget, committee"),
        ("quorum = 0.3\n", "quorum: is no key of a file to judge by; write it under [committee]"),
        ("judges = []\n", "name at least one judge"),
        ("judges = 9\n[committee]\nvote = 'loudest'\n", "committee.vote"),
        ('prompts = "nowhere.toml"\n', "nowhere.toml"),
        ("judges = ", "is not TOML"),
    ],
)
def test_a_file_to_judge_by_is_refused_by_the_key(
    base: tuple[Path, ca.Result], tmp_path: Path, text: str, words: str
) -> None:
    assert words in refused("rejudge", panel(tmp_path, text), "--store", base[0])


def test_rejudge_without_a_file_or_openings_is_wrong_use(base: tuple[Path, ca.Result]) -> None:
    assert "say --openings" in refused("rejudge", "--store", base[0])


def test_a_budget_ends_both_and_says_how_far_they_came(base: tuple[Path, ca.Result], tmp_path: Path) -> None:
    store = copied(base[0], tmp_path)
    for arguments in (["add", EVE], ["rejudge", panel(tmp_path, 'judges = ["sim/k9"]')]):
        bounds = ["--store", store, "--run", base[1].run, "--budget-calls", "3"]
        ended = CliRunner().invoke(app, [*map(str, arguments), *map(str, bounds)])
        assert isinstance(ended.exception, ca.BudgetReached)
        assert "battles were played when budget.calls = 3" in ended.stdout


def test_what_is_missing_is_named_in_the_words_of_the_command_line(
    base: tuple[Path, ca.Result], tmp_path: Path
) -> None:
    store = copied(base[0], tmp_path)
    CliRunner().invoke(app, ["add", EVE, "--store", str(store), "--budget-calls", "3"])
    assert "--run: small-eve-" in refused("add", "sim/zoe", "--store", store)
    assert "holds no run 'x'" in refused("add", "sim/zoe", "--store", store, "--run", "x")
    assert "there is no store yet" in refused("rejudge", "--openings", "--store", tmp_path / "none.db")


def test_a_budget_is_named_by_the_file_it_stands_in_or_else_by_its_option(
    base: tuple[Path, ca.Result], tmp_path: Path
) -> None:
    hosted = 'judges = ["openai/some-judge"]\n'
    in_file = refused("rejudge", panel(tmp_path, f"{hosted}[budget]\nusd = 1\n"), "--store", base[0])
    assert ": budget.usd: cannot be held" in in_file
    assert "--budget" not in in_file
    given = refused("rejudge", panel(tmp_path, hosted), "--store", base[0], "--budget-usd", 1)
    assert ": --budget-usd: cannot be held" in given


def test_runs_say_which_run_they_were_derived_from(base: tuple[Path, ca.Result], tmp_path: Path) -> None:
    store = copied(base[0], tmp_path)
    derived = json.loads(said("add", EVE, "--store", store, "--json"))["run"]
    rows = {run["id"]: run["base"] for run in json.loads(said("runs", "--store", store, "--json"))["runs"]}
    assert rows == {derived: base[1].run, base[1].run: None}
    assert said("runs", "--store", store).splitlines()[1].endswith(f" {base[1].run}")


def test_the_definition_of_the_run_is_read_from_its_file(base: tuple[Path, ca.Result], tmp_path: Path) -> None:
    file = tmp_path / "small.toml"
    lines = [f"{key} = {json.dumps(value)}" for key, value in SMALL.items()]
    file.write_text("\n".join([*lines, '[limits."openai/*"]', "concurrency = 3"]), encoding="utf-8")
    store = copied(base[0], tmp_path)
    assert "eve comes in" in said("add", EVE, "--store", store, "--definition", file)
    file.write_text(file.read_text(encoding="utf-8").replace("seed = 7", "seed = 8"), encoding="utf-8")
    assert "definition: seed: is not what run small-" in refused("add", EVE, "--store", store, "--definition", file)


def test_a_hosted_judge_is_paid_for_only_after_a_yes(base: tuple[Path, ca.Result], tmp_path: Path) -> None:
    store = copied(base[0], tmp_path)
    file = panel(tmp_path, 'judges = ["openai/gpt-4o"]\n')
    ended = CliRunner().invoke(app, ["rejudge", str(file), "--store", str(store)])
    assert ended.exit_code == 2
    assert "say --yes to go on" in ended.stderr
    with ca.Store(store) as opened:
        assert [info.id for info in opened.runs()] == [base[1].run]


def test_problems_of_a_file_name_the_file(base: tuple[Path, ca.Result], tmp_path: Path) -> None:
    file = panel(tmp_path, 'judges = ["sim/j1", "sim/j1"]\n')
    with pytest.raises(ConfigurationError) as error:
        CliRunner().invoke(app, ["rejudge", str(file), "--store", str(base[0])], catch_exceptions=False)
    assert {problem.where for problem in error.value.problems} == {str(file)}
