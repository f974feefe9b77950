"""The command that shows one battle: by its id or how it begins, every text without escapes."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner
from typer.testing import Result as Ended

import coupled_arena as ca
from coupled_arena.cli import app
from coupled_arena.errors import ConfigurationError
from tests.derived_scene import SMALL

HOSTILE = "Is \x1b[31mred\x1b[0m \u202ea colour?"


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ca.Result]:
    store = tmp_path_factory.mktemp("show") / "runs.db"
    asked = [
        ca.Question(id=f"math-{number}", domain="math", language="en", text=f"{HOSTILE} {number}", author="file")
        for number in range(2)
    ]
    kept = {key: value for key, value in SMALL.items() if key not in ("domains", "questions_per_domain")}
    return store, ca.Tournament(**kept, questions=asked, orders="both").run(store)


def show(store: Path, *arguments: str) -> Ended:
    return CliRunner().invoke(app, ["show", *arguments, "--store", str(store)])


def test_a_battle_is_shown_in_full_and_no_text_reaches_the_terminal_raw(played: tuple[Path, ca.Result]) -> None:
    store, result = played
    battle = result.battles[0]
    done = show(store, battle.id)
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith(
        f"{battle.id}  A = {battle.a}  B = {battle.b}\nIs \\x1b[31mred\\x1b[0m \\u202ea colour?"
    )
    assert not {"\x1b", "\u202e"} & set(done.output)
    words = " ".join(done.stdout.split())
    for section in battle.turns[0].sections:
        assert " ".join(section.text.split()) in words
    assert "sim/j1, stage 0: " in done.stdout
    assert "sim/j1, stage 1, B shown first: " in done.stdout
    assert "votes: " in done.stdout.splitlines()[-1]


def test_the_beginning_of_one_id_is_enough(played: tuple[Path, ca.Result]) -> None:
    store, result = played
    wanted = result.battles[-1]
    begins = next(
        wanted.id[:length]
        for length in range(1, len(wanted.id))
        if sum(battle.id.startswith(wanted.id[:length]) for battle in result.battles) == 1
    )
    found = json.loads(show(store, begins, "--run", result.run, "--json").stdout)
    assert found["run"] == result.run
    assert ca.Battle.model_validate(found["battle"]) == wanted
    assert found["question"]["id"] == wanted.question


@pytest.mark.parametrize(
    ("name", "words"),
    [("r1:", r"BATTLE: 'r1:' begins the ids of \d battles; there are r1:"), ("x", "no battle has the id 'x'")],
)
def test_an_id_of_no_battle_or_of_several_is_wrong_use_and_names_some(
    played: tuple[Path, ca.Result], name: str, words: str
) -> None:
    error = show(played[0], name).exception
    with pytest.raises(ConfigurationError, match=words):
        raise error or AssertionError("it was shown")
