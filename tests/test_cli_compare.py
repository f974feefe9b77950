"""`coupled-arena compare`: one line to an answer, problems in its own words, nothing spent unasked."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from coupled_arena.cli import app
from coupled_arena.errors import BudgetReached, ConfigurationError
from coupled_arena.testing import FakeProvider
from tests.test_cli import arena, parsed

SMALL = ("--domain", "math", "--domain", "writing", "--per-domain", "3", "--script", "single", "--seed", "7")
SIMULATED = ("sim/alpha?skill=1", "sim/bob", "--judge", "sim/judge", *SMALL)
HOSTED = ("openai/alpha", "openai/bob", "--judge", "openai/judge", *SMALL)

Compare = Callable[..., Result]


@pytest.fixture
def compare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Compare:
    """Runs the command in a new folder, in this process."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "no-key")
    return lambda *arguments: CliRunner().invoke(app, ["compare", *arguments])


def document(done: Result) -> dict[str, Any]:
    assert done.exit_code == 0, done.output
    value: dict[str, Any] = json.loads(done.stdout)
    return value


@pytest.fixture(scope="module")
def environment() -> Iterator[dict[str, str]]:
    """What `python -m coupled_arena.testing` tells a user to export."""
    with FakeProvider({"alpha": "sim/alpha?skill=1", "bob": "sim/bob", "judge": "sim/judge"}) as provider:
        yield {key: provider.environment[key] for key in ("OPENAI_API_KEY", "OPENAI_BASE_URL")}


def test_two_hosted_models_are_compared_from_a_new_folder(tmp_path: Path, environment: dict[str, str]) -> None:
    found = parsed(arena(tmp_path, "compare", *HOSTED, "--yes", "--json", **environment))
    assert (found["a"], found["b"], found["battles"]["decided"]) == ("openai/alpha", "openai/bob", 6)
    assert found["cost"]["unpriced_models"] == ["openai/alpha", "openai/bob", "openai/judge"]
    assert (tmp_path / "coupled-arena.db").exists()
    board = parsed(arena(tmp_path, "leaderboard", "--json"))
    assert (board["run"], board["settled"][0]["resolved"]) == (found["run"], found["settled"])


def test_nothing_is_asked_of_hosted_models_without_consent(compare: Compare, tmp_path: Path) -> None:
    done = compare(*HOSTED)
    assert done.exit_code == 2
    assert done.stderr.splitlines()[-1].endswith("say --yes to go on")
    assert not (tmp_path / "coupled-arena.db").exists()


def test_the_answer_is_the_first_line_and_the_same_in_json(compare: Compare) -> None:
    shown = compare(*SIMULATED)
    assert shown.exit_code == 0, shown.output
    sentence, *lines = shown.stdout.splitlines()
    assert " of 6 battles" in sentence and " % interval " in sentence
    assert "judged by sim/judge; intervals are for more questions like these before the same judge" in lines
    found = document(compare(*SIMULATED, "--json"))
    assert found["sentence"] == sentence
    assert found["calls"]["made"] == 0
    assert [domain["domain"] for domain in found["domains"]] == ["math", "writing"]


def test_a_dry_run_says_what_would_be_asked(compare: Compare, tmp_path: Path) -> None:
    found = document(compare(*HOSTED, "--dry-run", "--json"))
    assert found["battles"] == 6
    # One judge has nobody to discuss with.
    assert {line["model"]: line["calls"] for line in found["models"]} == {
        "openai/alpha": 6,
        "openai/bob": 6,
        "openai/judge": 6,
    }
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (
            ("openai/gpt-4o", "openai/gpt-4o-mini", "--judge", "openai/gpt-4.1"),
            "compare: --judge: too few judges: a battle needs 1 eligible judge, .*"
            "list judges of other families, set `family` of a model, or --recuse author$",
        ),
        (
            ("sim/a", "sim/a", "--judge", "sim/j"),
            "compare: models: both are named 'sim/a'; give each a name of its own: .* NAME=MODEL on the command line$",
        ),
        (("sim/a", "sim/b", "--judge", "sim/j", "--recuse", "all"), "compare: --recuse: Input should be 'family', "),
        (("sim/a", "sim/b", "--judge", "sim/j", "--script", "nine"), "compare: --script: no script named 'nine'"),
        (("sim/a", "sim/b", "--judge", "sim/j", "--domain", "tea"), "compare: --examiner: nobody writes questions"),
        (("sim/a", "sim/b", "--judge", "sim/j", "--language", "xx"), "compare: --language: there is no such prompt"),
        (("sim/a", "sim/\nb", "--judge", "sim/j"), "compare: name: must not hold a line break"),
        (
            ("openai/x", "openai/y", "--judge", "openai/z", "--budget-usd", "1"),
            "compare: --budget-usd: cannot be held: .*, --budget-tokens or --budget-calls$",
        ),
    ],
)
def test_problems_are_told_in_the_words_of_the_command(
    compare: Compare, arguments: tuple[str, ...], problem: str
) -> None:
    error = compare(*arguments).exception
    assert isinstance(error, ConfigurationError)
    assert re.match(problem, str(error.problems[0])), error


def test_models_can_be_named(compare: Compare) -> None:
    found = document(compare("new=sim/m?skill=1", "old=sim/m", "--judge", "sim/judge", *SMALL, "--json"))
    assert (found["a"], found["b"]) == ("new", "old")


def test_own_questions_are_asked_all_of_them(compare: Compare, tmp_path: Path) -> None:
    lines = [f'{{"text": "What is {number} plus {number}?", "domain": "sums"}}\n' for number in range(10, 14)]
    (tmp_path / "mine.jsonl").write_text("".join(lines), encoding="utf-8")
    found = document(compare("sim/alpha", "sim/bob", "--judge", "sim/judge", "--questions", "mine.jsonl", "--json"))
    assert [question["id"] for question in found["questions"]] == ["mine-1", "mine-2", "mine-3", "mine-4"]


def test_where_nothing_could_be_rated_the_answer_says_so_and_the_status_is_1(compare: Compare) -> None:
    done = compare("sim/alpha?error=1", "sim/bob", "--judge", "sim/judge", *SMALL)
    assert done.exit_code == 1
    answer = "nothing can be said of sim/alpha and sim/bob: none of their 6 battles could be rated."
    assert done.stdout.splitlines()[0] == answer
    assert "no battle could be rated; see the notes above" in done.stderr


def test_a_budget_that_is_spent_shows_what_was_played_and_going_on_pays_nothing_twice(compare: Compare) -> None:
    done = compare(*SIMULATED, "--budget-calls", "10", "--concurrency", "1")
    assert isinstance(done.exception, BudgetReached)
    assert re.search(r"^note: 3 of at most 6 battles were played when budget\.calls = 10", done.stdout, re.MULTILINE)
    went_on = document(compare(*SIMULATED, "--json"))
    assert went_on["battles"]["decided"] == 6
    assert went_on["calls"]["made"] <= 9


def test_an_answer_that_is_not_settled_says_how_to_ask_more(compare: Compare) -> None:
    done = compare(*SIMULATED, "--seed", "8")
    assert "not settled: about " in done.stdout
    assert re.search(r"^to ask more: --per-domain 4; ", done.stderr, re.MULTILINE)


def test_all_questions_are_asked_where_the_command_says_so(compare: Compare) -> None:
    clear = ("sim/alpha?skill=4", "sim/bob?skill=-2", "--judge", "sim/judge", "--script", "single", "--seed", "7")
    stopped, whole = (document(compare(*clear, *flags, "--json")) for flags in ((), ("--all-questions",)))
    assert (stopped["battles"]["decided"], stopped["until_settled"], stopped["settled"]) == (8, True, True)
    assert stopped["sentence"].endswith("; settled after 8 of 40 questions.")
    assert (whole["battles"]["decided"], whole["until_settled"]) == (40, False)
    assert whole["sentence"].endswith("; settled.")
    # What both have asked is not asked again.
    assert whole["calls"]["memoised"] == 3 * 8
