"""Files of battles played elsewhere: every published format says what it says, and wrong rows are named."""

import json
from pathlib import Path
from typing import Any

import pytest

from coupled_arena.errors import ConfigurationError
from coupled_arena.ratings import rate
from coupled_arena.studies.problems import MOST_PROBLEMS
from coupled_arena.studies.rating.battle_files import BattleFile, read_battles, read_file

LMARENA: list[dict[str, Any]] = [
    {"model_a": "ada", "model_b": "bob", "winner": "model_a", "question_id": "q1", "judge": "j"},
    {"model_a": "bob", "model_b": "ada", "winner": "tie (bothbad)", "question_id": "q1", "judge": "k"},
    {"model_a": "ada", "model_b": "cleo", "winner": "model_b", "question_id": "q2", "judge": "j"},
    {"model_a": "ada", "model_b": "cleo", "winner": None, "question_id": "q3", "judge": "j"},
]


def lines(path: Path, rows: list[Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def battles(file: BattleFile) -> list[tuple[str, str, float, float, int]]:
    table = file.table
    columns = (table.a, table.b, table.score, table.weight, table.cluster)
    return [
        (table.names[a], table.names[b], score, weight, cluster)
        for a, b, score, weight, cluster in zip(*(column.tolist() for column in columns), strict=True)
    ]


def problems(path: Path, **options: str) -> list[str]:
    with pytest.raises(ConfigurationError) as caught:
        read_file(path, **options)
    return [f"{Path(problem.where).name} {problem.key} {problem.message}" for problem in caught.value.problems]


@pytest.mark.parametrize("ending", ["jsonl", "ndjson", "json", "csv", "parquet"])
def test_votes_of_lmarena_are_read_from_every_kind_of_file(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"votes.{ending}"
    if ending == "parquet":
        pyarrow = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        parquet.write_table(pyarrow.Table.from_pylist(LMARENA), path)
    elif ending == "csv":
        head = ",".join(LMARENA[0])
        rows = [",".join(str(value or "") for value in row.values()) for row in LMARENA]
        path.write_text("\ufeff" + "\n".join([head, *rows, ""]), encoding="utf-8")
    elif ending == "json":
        path.write_text(json.dumps(LMARENA), encoding="utf-8")
    else:
        lines(path, LMARENA)
    found = read_file(path)
    assert battles(found) == [("ada", "bob", 1, 1, 0), ("bob", "ada", 0.5, 1, 0), ("ada", "cleo", 0, 1, 1)]
    assert (found.format, found.decided, found.void, found.cluster) == ("LMArena votes", 3, 1, "question_id")
    assert found.battles == {"ada": 3, "bob": 2, "cleo": 1}
    assert read_battles(path).names == ("ada", "bob", "cleo")


def test_votes_with_a_column_for_each_outcome_are_read(tmp_path: Path) -> None:
    row = {"id": 1, "model_a": "ada", "model_b": "bob", "winner_model_a": 0, "winner_model_b": 1, "winner_tie": 0}
    path = lines(tmp_path / "v.jsonl", [row, {**row, "id": 2, "winner_model_b": 0}])
    found = read_file(path)
    assert battles(found) == [("ada", "bob", 0, 1, 0)]
    assert found.void == 1
    assert problems(lines(path, [{**row, "winner_tie": 1}]))[0].startswith("v.jsonl:1 winner_model_a two outcomes")


def test_both_orders_of_fastchat_enter_as_halves_of_one_question(tmp_path: Path) -> None:
    row = {"question_id": 81, "model_1": "ada", "model_2": "bob", "g1_winner": "model_1", "g2_winner": "model_2"}
    path = lines(tmp_path / "pair.jsonl", [{**row, "turn": 1}, {**row, "turn": 2, "g2_winner": "error"}])
    found = read_file(path)
    assert battles(found) == [("ada", "bob", 1, 0.5, 0), ("bob", "ada", 1, 0.5, 0)]
    assert (found.decided, found.void) == (2, 2)


def test_arena_hard_swaps_the_baseline_from_game_to_game(tmp_path: Path) -> None:
    row = {"uid": "u1", "model": "ada", "games": [{"score": "A>>B"}, {"score": "A=B"}]}
    path = lines(tmp_path / "ada.jsonl", [row, {**row, "uid": "u2", "games": [{"score": "B>A"}, {"score": None}]}])
    found = read_file(path, baseline="gpt")
    assert battles(found) == [("gpt", "ada", 1, 0.5, 0), ("ada", "gpt", 0.5, 0.5, 0)]
    assert found.void == 2
    assert problems(path)[0].startswith("ada.jsonl:1 baseline is missing; name the model that all others met")
    named = read_file(lines(path, [{**row, "baseline": "o3"}]))
    assert named.table.names == ("ada", "o3")


def test_a_preference_between_two_outcomes_is_shared_out(tmp_path: Path) -> None:
    row = {"instruction": "Say hi", "generator_1": "gpt", "generator_2": "ada"}
    rows = [{**row, "preference": value} for value in (1.0, 1.25, 1.5, 0, None)]
    path = tmp_path / "annotations.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    found = read_file(path)
    assert [one[2:4] for one in battles(found)] == [(1, 1), (1, 0.75), (0, 0.25), (0.5, 1), (0.5, 1)]
    assert (found.decided, found.void, found.table.clusters) == (4, 1, 1)
    assert found.battles == {"gpt": 4, "ada": 4}
    path.write_text(json.dumps([{**row, "preference": 3}]), encoding="utf-8")
    assert problems(path)[0].startswith("annotations.json: entry 1 preference must lie between 1")


def test_auto_arena_counts_the_last_decision_and_never_an_error(tmp_path: Path) -> None:
    rows = [
        {"gamekey": [3, "ada", "bob"], "final_winner": ["B", "A"], "judges": []},
        {"gamekey": [3, "bob", "ada"], "final_winner": ["tie"], "judges": []},
        {"gamekey": [4, "bob", "ada"], "final_winner": ["A", "error"], "judges": []},
    ]
    found = read_file(lines(tmp_path / "judge.jsonl", rows))
    assert battles(found) == [("ada", "bob", 1, 1, 0), ("bob", "ada", 0.5, 1, 0)]
    assert found.void == 1
    table = tmp_path / "debates.csv"
    table.write_text("qid,can_a,can_b,winner\n1,ada,bob,A\n1,bob,ada,Tie\n", encoding="utf-8")
    assert battles(read_file(table)) == battles(found)


def test_battles_of_this_package_keep_weights_and_refuse_one_twice(tmp_path: Path) -> None:
    row = {"battle": "b1", "question": "q", "replicate": 0, "arm": "", "a": "ada", "b": "bob"}
    first = {**row, "weight": 0.5, "verdict": "A"}
    second = {**first, "battle": "b2", "a": "bob", "b": "ada"}
    lonely = {**first, "battle": "b3", "question": "r"}
    path = lines(tmp_path / "battles.jsonl", [first, second, lonely])
    found = read_file(path)
    assert battles(found) == [("ada", "bob", 1, 0.5, 0), ("bob", "ada", 1, 0.5, 0)]
    assert found.void == 1
    assert "'b1' is at" in problems(lines(path, [first, first]))[0]


@pytest.mark.parametrize("outcome", ["winner", "verdict"])
@pytest.mark.parametrize("sides", [("a", "b"), ("model_a", "model_b")])
def test_plain_battles_are_known_by_their_heads(tmp_path: Path, sides: tuple[str, str], outcome: str) -> None:
    path = tmp_path / "plain.csv"
    rows = ["ada,bob,ada,q1", "ada,bob,B,q2", "bob,ada,Tie,q2", "bob,ada,model_a,q3", "bob,ada,,q4"]
    path.write_text("\n".join([f"{sides[0]},{sides[1]},{outcome},question", *rows, ""]), encoding="utf-8")
    found = read_file(path)
    assert found.table.score.tolist() == [1, 0, 0.5, 1]
    assert (found.decided, found.void, found.table.clusters) == (4, 1, 3)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"verdict": "A"}, "may be read by a, b, winner or by a, b, verdict; name them"),
        ({"stage": 0}, "are those of opinions, several on one battle"),
    ],
)
def test_plain_battles_that_may_mean_two_things_are_refused(tmp_path: Path, more: dict[str, Any], words: str) -> None:
    path = lines(tmp_path / "plain.jsonl", [{"a": "ada", "b": "bob", "winner": "ada", **more}])
    (problem,) = problems(path)
    assert problem.startswith(f"plain.jsonl columns {words}")
    assert read_file(path, a="a", b="b", winner="winner").decided == 1


def test_columns_of_ones_own_are_named(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text("left,right,won,topic,sure\nada,bob,ada,t,2\nbob,ada,draw,t,0.5\n", encoding="utf-8")
    found = read_file(path, a="left", b="right", winner="won", cluster="topic", weight="sure")
    assert battles(found) == [("ada", "bob", 1, 2, 0), ("bob", "ada", 0.5, 0.5, 0)]
    alone = read_file(path, a="left", b="right", winner="won")
    assert (alone.cluster, alone.table.clusters) == (None, 2)
    assert problems(path)[0].startswith("own.csv columns are of no known format; name them with `a`, `b` and `winner`")
    wrong = problems(path, a="left", b="right", winner="gone", weight="mass")
    assert ["there is no column 'gone'" in wrong[0], "there is no column 'mass'" in wrong[1]] == [True, True]


def test_wrong_rows_are_named_several_at_once(tmp_path: Path) -> None:
    good = LMARENA[0]
    rows = [
        good,
        {**good, "winner": "model_c"},
        {**good, "model_b": "ada"},
        {**good, "model_a": ""},
        {**good, "question_id": None},
        {**good, "model_a": "two\nlines"},
        {**good, "model_b": 7},
        "text",
    ]
    path = lines(tmp_path / "v.jsonl", rows)
    with path.open("a", encoding="utf-8") as file:
        file.write('{"model_a": "torn')
    found = problems(path)
    assert [line.split()[0] for line in found] == [f"v.jsonl:{line}" for line in range(2, 10)]
    for line, words in zip(
        found,
        (
            "'model_c' is no outcome",
            "meets itself",
            "must not be empty",
            "which battles",
            "line break",
            "not 7",
            "object",
            "JSON",
        ),
        strict=True,
    ):
        assert words in line


def test_endless_problems_are_counted(tmp_path: Path) -> None:
    path = lines(tmp_path / "v.jsonl", [{**LMARENA[0], "winner": "?"}] * 100)
    found = problems(path)
    assert len(found) == MOST_PROBLEMS + 1
    assert found[-1].endswith(f"{100 - MOST_PROBLEMS} more problems like these")


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("v.txt", b"", "must end in one of"),
        ("v.csv", b"", "holds no battles"),
        ("v.csv", b"model_a,model_b,winner\n", "holds no battles"),
        ("v.csv", b"model_a,model_b,winner\nada,bob\n", "v.csv:2 rows has 2 fields where the header has 3"),
        ("v.csv", b'model_a,model_b,winner\n"ada', "is not CSV"),
        ("v.jsonl", b"\xff\n", "v.jsonl:1 rows is not UTF-8"),
        ("v.json", b"{}", "must be a list"),
        ("v.json", b"{", "is not JSON"),
        ("v.parquet", b"no parquet", "cannot be read"),
        ("gone.csv", None, "cannot be read"),
    ],
)
def test_a_file_that_cannot_be_read_says_why(tmp_path: Path, name: str, content: bytes | None, words: str) -> None:
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    if content is not None:
        (tmp_path / name).write_bytes(content)
    assert words in problems(tmp_path / name)[0]


def test_an_outcome_that_means_both_models_is_refused(tmp_path: Path) -> None:
    path = lines(tmp_path / "v.jsonl", [{"model_a": "b", "model_b": "a", "winner": "a"}])
    assert "'a' means both models" in problems(path)[0]


def test_nan_is_no_decision(tmp_path: Path) -> None:
    path = tmp_path / "v.jsonl"
    path.write_text('{"model_a": "ada", "model_b": "bob", "winner": NaN}\n', encoding="utf-8")
    found = read_file(path)
    assert (found.decided, found.void, found.table.names) == (0, 1, ("ada", "bob"))
    assert rate(found.table).ratings == (None, None)
