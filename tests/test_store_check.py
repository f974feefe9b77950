"""`check` finds whatever is not as it should be, says it with the record, and changes nothing."""

import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import coupled_arena as ca
from coupled_arena.cli import app
from coupled_arena.records import Battle
from coupled_arena.tournaments.storage.checking.battles import battle_problems, twin_problems
from coupled_arena.tournaments.storage.checking.findings import MOST_FINDINGS
from coupled_arena.tournaments.storage.store import Store

RUNNER = CliRunner()


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a tournament in which one debater often refuses, and a bench."""
    path = tmp_path_factory.mktemp("store") / "runs.db"
    ca.Tournament(
        name="small",
        models=["sim/ada?skill=1", "sim/bob", "sim/eve?refusal=0.2"],
        judges=["sim/j1", "sim/j2", "sim/j3"],
        examiner="sim/examiner",
        domains=["math"],
        questions_per_domain=4,
        schedule="round_robin",
        orders="both",
        seed=3,
    ).run(path)
    ca.bench(["sim/ada", "sim/bob"], "arithmetic", items=5, repeats=2, store=path)
    return path


@pytest.fixture(scope="module")
def played(sound: Path) -> ca.Result:
    """The tournament of the store."""
    with Store(sound, create=False) as opened:
        return ca.Result.of(opened.run(next(info.id for info in opened.runs() if info.name == "small")))


@pytest.fixture
def store(sound: Path, tmp_path: Path) -> Path:
    """A copy to be damaged."""
    return Path(shutil.copy(sound, tmp_path / "runs.db"))


def damage(path: Path, statement: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute(statement)
    connection.commit()
    connection.close()


def findings(path: Path) -> list[str]:
    with Store(path, create=False) as opened:
        return [str(finding) for finding in opened.check().findings]


def test_a_sound_store_has_no_findings_and_is_not_changed(store: Path) -> None:
    before = store.read_bytes()
    found = RUNNER.invoke(app, ["check", "--store", str(store)])
    assert (found.exit_code, found.stderr) == (0, "")
    assert "sound: runs 2, battles 12, calls" in found.stdout
    said = json.loads(RUNNER.invoke(app, ["check", "--store", str(store), "--json"]).stdout)
    assert (said["sound"], said["findings"], said["runs"], said["battles"]) == (True, [], 2, 12)
    assert store.read_bytes() == before


Change = Callable[[Battle], Battle]


def deciding(**changes: Any) -> Change:
    return lambda battle: battle.model_copy(update={"decision": battle.decision.model_copy(update=changes)})


def having(**changes: Any) -> Change:
    return lambda battle: battle.model_copy(update=changes)


def saying(position: int, **changes: Any) -> Change:
    def change(battle: Battle) -> Battle:
        turns = list(battle.turns)
        turns[position] = turns[position].model_copy(update=changes)
        return battle.model_copy(update={"turns": tuple(turns)})

    return change


DECIDED: dict[str, Change] = {
    "its verdict are None, and its opinions make": deciding(verdict=None),
    "it is decided with the verdict None": deciding(verdict=None),
    "its votes are {}, and its opinions make": deciding(votes={}),
    "its stages are (), and its opinions make": deciding(stages=()),
    "it is decided, and forfeited by A": deciding(forfeited=("A",)),
    "it is decided without an opinion": having(opinions=()),
    "has 0 opinions at stage 0 in order AB": lambda battle: having(opinions=battle.opinions[1:])(battle),
    "has 2 opinions at stage 0 in order AB": lambda b: having(opinions=(b.opinions[0], *b.opinions))(b),
    "is valid with no verdict": lambda battle: having(
        opinions=(battle.opinions[0].model_copy(update={"verdict": None}), *battle.opinions[1:])
    )(battle),
    "step 9 is missing": lambda battle: having(turns=battle.turns[:-1])(battle),
    "step 1 is there 2 times": saying(1, step=1),
    "step 10 is none of the script": saying(8, step=10),
    "'A' speaks at step 8, which is B's": lambda battle: saying(7, speaker="A" if battle.turns[7].step == 8 else "?")(
        battle
    ),
    "'sim/zoe' speaks for": saying(0, model="sim/zoe"),
    "its question 'math-9' is not stored": having(question="math-9"),
    "it is of the domain 'law', its question of 'math'": having(domain="law"),
    "'sim/zoe' is no model of this run": having(a="sim/zoe"),
    "meets itself": lambda battle: having(a=battle.b)(battle),
    "its arm 'fresh' is none of this run": having(arm="fresh"),
}
FORFEITED: dict[str, Change] = {
    "it is forfeited, and forfeited by nobody": deciding(forfeited=()),
    "gave it away and won it": lambda battle: deciding(verdict=battle.decision.forfeited[0])(battle),
    "gave it away, and every turn of it was answered": having(turns=()),
}


@pytest.mark.parametrize(
    ("status", "said", "change"),
    [("decided", *case) for case in DECIDED.items()] + [("forfeited", *case) for case in FORFEITED.items()],
)
def test_what_is_wrong_with_a_battle_is_said(played: ca.Result, status: str, said: str, change: Change) -> None:
    questions = {question.id: question for question in played.questions}
    battle = next(battle for battle in played.battles if battle.decision.status == status)
    assert list(battle_problems(battle, played.tournament, questions)) == []
    found = list(battle_problems(change(battle), played.tournament, questions))
    assert any(said in problem for problem in found), found


def test_a_battle_that_is_there_twice_is_said(played: ca.Result) -> None:
    assert list(twin_problems(played.battles)) == []
    (found,) = twin_problems([*played.battles, played.battles[0].model_copy(update={"id": "again"})])
    assert "met 2 times on" in found


WRONG = {
    "UPDATE ratings SET rating = rating + 1": "round 3: 'sim/ada': rating",
    "UPDATE ratings SET wins = wins + 1 WHERE model = 'sim/bob'": "wins",
    "DELETE FROM ratings WHERE round = 2": "round 2: it has no ratings",
    "UPDATE ratings SET round = 9 WHERE round = 3": "round 9: it has ratings and no battle",
    "UPDATE ratings SET model = 'x' WHERE round = 1 AND rank = 1": "the rated models are not those",
    "UPDATE texts SET content = content || '.'": "is not the text it was",
    "DELETE FROM texts WHERE content LIKE '%math%'": "is missing, and calls name it",
    "INSERT INTO texts VALUES (x'00', 'more')": "texts: 00 is part of no call",
    "UPDATE calls SET messages = '{' WHERE number = 1": "calls: messages of 1 row is no JSON (the first one is row 1)",
    "UPDATE calls SET settings = '{' WHERE number = 2": "calls: settings of row 2 is no JSON",
    "UPDATE turns SET sections = 'x' WHERE step = 1": "turns: sections of 12 rows is no JSON",
    "UPDATE calls SET key = x'00' WHERE number = 1": "call 1: its key has 1 bytes",
    "UPDATE calls SET noise = x'00' WHERE number = 1": "call 1: its noise key has 1 bytes",
    "UPDATE calls SET outcome = 'odd' WHERE number = 1": "call 1: its outcome 'odd' is none",
    "UPDATE calls SET text = '' WHERE outcome = 'ok'": "it is ok and holds nothing",
    "UPDATE calls SET prompt_tokens = -1 WHERE number = 3": "call 3: a count is negative",
    "UPDATE calls SET reused_from = 'gone' WHERE number = 3": "call 3: it was reused from a run that is not there",
    "UPDATE calls SET text = CAST(x'ff' AS TEXT) WHERE number = 3": "call 3: its text is no UTF-8",
    "UPDATE runs SET definition = '{' WHERE name = 'small'": "cannot be read",
    "UPDATE runs SET definition = json_set(definition, '$.models', 1)": "its definition cannot be read",
    "UPDATE runs SET manifest = '{' WHERE name = 'small'": "cannot be read",
    "UPDATE runs SET manifest = '{}' WHERE name = 'small'": "its manifest does not say by which prompts",
    "UPDATE runs SET status = 'odd' WHERE name = 'small'": "its status 'odd' is none",
    "DELETE FROM decisions": "cannot be read",
    "DELETE FROM battles": "turns: row 1 belongs to no row of battles",
    "DELETE FROM runs": "belongs to no row of runs",
    "DROP TABLE opinions": "file: table opinions is missing",
    "DROP INDEX calls_by_key": "file: calls: index calls_by_key is missing",
    "ALTER TABLE questions DROP COLUMN author": "file: questions: column author is missing",
    "DELETE FROM calls WHERE number % 20 > 0 AND run LIKE 'bench%'": "it is finished with",
    "UPDATE runs SET definition = replace(definition, '\"repeats\":2', '\"repeats\":1')": "calls were answered",
}


@pytest.mark.parametrize("statement", WRONG)
def test_what_is_wrong_is_found_and_left_as_it_is(store: Path, statement: str) -> None:
    damage(store, statement)
    before = store.read_bytes()
    found = findings(store)
    assert any(WRONG[statement] in finding for finding in found), found
    assert not any("\n" in finding for finding in found)
    assert store.read_bytes() == before


@pytest.mark.parametrize(
    ("statement", "command", "said"),
    [
        ("UPDATE battles SET a = 'x' WHERE round = 1", "leaderboard", "'x' is no model of this run: it is damaged"),
        ("UPDATE battles SET a = 'x' WHERE round = 1", "add sim/new", "'x' is no model of this run: it is damaged"),
        ("UPDATE runs SET manifest = '{}'", "add sim/new", "cannot be read (KeyError: 'prompts'): it is damaged"),
    ],
)
def test_damage_ends_a_command_with_one_line(store: Path, statement: str, command: str, said: str) -> None:
    damage(store, statement)
    damage(store, "DELETE FROM runs WHERE name <> 'small'")
    found = RUNNER.invoke(app, [*command.split(), "--store", str(store)])
    assert isinstance(found.exception, ca.StoreError)
    assert said in str(found.exception)


def test_findings_are_listed_one_a_line_and_the_exit_status_says_so(store: Path) -> None:
    damage(store, "UPDATE decisions SET stages = '[]' WHERE status = 'decided'")
    found = RUNNER.invoke(app, ["check", "--store", str(store)])
    *each, last = found.stderr.splitlines()
    assert (found.exit_code, found.stdout) == (1, "")
    assert last.endswith(f"runs.db: {len(each)} found, and nothing changed: restore a copy, or name another file")
    document = json.loads(RUNNER.invoke(app, ["check", "--store", str(store), "--json"]).stdout)
    assert len(document["findings"]) == len(each)
    assert not document["sound"]


def test_thousands_of_findings_of_one_kind_are_counted(store: Path) -> None:
    damage(
        store,
        "INSERT INTO texts SELECT randomblob(16), 'x' FROM calls a, calls b LIMIT 500",
    )
    found = findings(store)
    assert (len(found), found[-1]) == (MOST_FINDINGS + 1, "file: 900 more of this kind")


def test_a_run_that_is_being_played_is_checked_as_far_as_it_is(store: Path) -> None:
    damage(store, "DELETE FROM ratings")
    damage(store, "DELETE FROM battles WHERE round = 3")
    for table in ("turns", "opinions", "decisions"):
        damage(store, f"DELETE FROM {table} WHERE battle NOT IN (SELECT id FROM battles)")
    assert findings(store) != []
    damage(store, "UPDATE runs SET status = 'interrupted'")
    assert findings(store) == []
