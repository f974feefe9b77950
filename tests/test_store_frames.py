"""Data frames and exported files: fixed columns, whatever the run holds."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast, get_args

import pandas as pd
import pytest

from coupled_arena.analysis.judges import NEEDED, OPTIONAL
from coupled_arena.coupling import Sampling
from coupled_arena.errors import ConfigurationError, StoreError
from coupled_arena.models.calls import Call, Message, Reply
from coupled_arena.models.model import Model
from coupled_arena.protocols.examination import Rejected
from coupled_arena.records import Battle, Decision, Opinion, Question, Section, Turn
from coupled_arena.studies.judging.gathering import Gathered
from coupled_arena.tournaments.storage.columns import COLUMNS, FRAMES, FrameName
from coupled_arena.tournaments.storage.export import export
from coupled_arena.tournaments.storage.reader import RunReader
from coupled_arena.tournaments.storage.store import Store

NAMES: tuple[FrameName, ...] = get_args(FrameName)
HOSTILE = "=cmd|'/c calc'!A1"


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def battle(name: str, decision: Decision, **changes: Any) -> Battle:
    fields: dict[str, Any] = {
        "id": name,
        "round": 1,
        "question": "math-1",
        "domain": "math",
        "replicate": 0,
        "a": "../ada",
        "b": "bob",
        "arm": "coupled",
        "turns": (
            Turn(step=1, round=1, speaker="A", model="../ada", sections=(Section(tag="respond", text=HOSTILE),)),
            Turn(step=2, round=1, speaker="B", model="bob", outcome="failed", missing=("respond",), detail=HOSTILE),
        ),
        "opinions": (
            Opinion(judge="j1", stage=0, status="valid", verdict="A", probabilities={"A": 0.75, "B": 0.25}),
            Opinion(judge="j2", stage=0, order="BA", status="failed", reasons="日本\nline\u2028end"),
        ),
        "decision": decision,
    }
    return Battle(**{**fields, **changes})


@pytest.fixture
def run() -> Iterator[RunReader]:
    with Store(":memory:", clock=lambda: 12.5) as store, store.open_run("3f2a91", "demo", {}, {}) as writing:
        writing.save_question(
            Question(id="math-1", domain="math", language="en", text=HOSTILE, author="sim/e", reference=None)
        )
        writing.save_rejected([Rejected(domain="math", text=HOSTILE, reason="no question")])
        writing.save_battle(
            battle("b1", Decision(status="decided", verdict="A", votes={"A": 2, "tie": 1}, stages=("A",)))
        )
        writing.save_battle(battle("b2", Decision(status="void", reason="no quorum", stages=(None,))))
        writing.save_battle(battle("b3", Decision(status="forfeited", verdict="B", forfeited=("A",))))
        call = Call(Model("m", "openai/m"), (Message("user", "hi"),), Sampling(0.7), 10, bytes(16))
        writing.remember(b"k" * 32, call, Reply(text="\x1b[31myes", outcome="ok", cost=None))
        lines = [
            SimpleNamespace(
                rank=rank, model=model, rating=rating, low=None, high=None, wins=1, losses=0, ties=0, void=1,
                forfeited=0, availability=0.5,
            )
            for rank, model, rating in ((2, "bob", None), (1, "../ada", 1010.5))
        ]  # fmt: skip
        writing.save_ratings(1, cast(Any, lines))
        writing.save_ratings(1, cast(Any, lines))
        yield writing.reader


@pytest.fixture
def empty() -> Iterator[RunReader]:
    with Store(":memory:") as store, store.open_run("3f2a91", "demo", {}, {}) as writing:
        yield writing.reader


@pytest.mark.parametrize("name", NAMES)
def test_every_frame_has_its_documented_columns_in_order(run: RunReader, name: FrameName) -> None:
    frame = run.frame(name)
    assert list(frame.columns) == list(COLUMNS[name])
    # Nobody has voted on this run.
    assert (len(frame) > 0) == (name != "human_votes")
    assert all(COLUMNS[name].values())


@pytest.mark.parametrize("name", NAMES)
def test_an_empty_run_has_the_same_columns_and_types(run: RunReader, empty: RunReader, name: FrameName) -> None:
    frame = empty.frame(name)
    assert len(frame) == 0
    assert frame.dtypes.to_dict() == run.frame(name).dtypes.to_dict()


def test_battles_carry_their_outcome(run: RunReader) -> None:
    frame = run.frame("battles")
    assert frame["status"].tolist() == ["decided", "void", "forfeited"]
    assert frame["winner"].fillna("-").tolist() == ["../ada", "-", "bob"]
    assert frame["sharing"].tolist() == ["none"] * 3


def test_votes_and_probabilities_are_columns(run: RunReader) -> None:
    decisions = run.frame("decisions")
    assert decisions[["votes_a", "votes_b", "votes_tie"]].to_numpy().tolist() == [[2, 0, 1], [0, 0, 0], [0, 0, 0]]
    opinions = run.frame("opinions")
    assert opinions["probability_a"].head(1).tolist() == [0.75]
    assert opinions["probability_tie"].isna().all()
    assert opinions["order"].tolist() == ["AB", "BA"] * 3


def test_opinions_that_are_gathered_are_those_of_the_whole_frame(
    run: RunReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = run.frame("opinions")
    # One battle at a time, so that the order is not that of one reading.
    monkeypatch.setattr("coupled_arena.tournaments.storage.reader.AT_ONCE", 1)
    gathered = Gathered(run)
    for battle in run.each_battle():
        gathered.add(battle)
    found = gathered.columns
    assert {*NEEDED, *OPTIONAL} & {*frame.columns} == {*found} < {*frame.columns}
    for name, values in found.items():
        assert values == [None if pd.isna(value) else value for value in frame[name]], name


def test_parts_of_a_battle_say_what_it_was_about(run: RunReader) -> None:
    for frame in (run.frame("turns"), run.frame("opinions")):
        assert frame["battle"].tolist() == ["b1", "b1", "b2", "b2", "b3", "b3"]
        assert set(frame["question"]) == {"math-1"}


def test_ratings_are_ranked_and_missing_ones_stay_missing(run: RunReader) -> None:
    frame = run.frame("ratings")
    assert frame["model"].tolist() == ["../ada", "bob"]
    assert frame["rating"].isna().tolist() == [False, True]


def test_jsonl_keeps_text_and_nesting(run: RunReader, tmp_path: Path) -> None:
    files = export(run, tmp_path / "out")
    assert sorted(file.name for file in files) == sorted(["README.md", *(f"{name}.jsonl" for name in NAMES)])
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(file.name for file in files)
    turns = lines_of(tmp_path / "out/turns.jsonl")
    assert lines_of(tmp_path / "out/opinions.jsonl")[1]["reasons"] == "日本\nline\u2028end"
    assert turns[0]["sections"] == [["respond", HOSTILE]]
    assert turns[1]["missing"] == ["respond"]
    assert list(turns[0]) == list(COLUMNS["turns"])
    assert lines_of(tmp_path / "out/decisions.jsonl")[0]["stages"] == ["A"]
    (call,) = lines_of(tmp_path / "out/calls.jsonl")
    assert (call["cost"], call["messages"], call["created"]) == (None, [["user", "hi"]], 12.5)


def test_a_csv_cell_is_no_formula_and_keeps_its_lines(run: RunReader, tmp_path: Path) -> None:
    export(run, tmp_path, ["csv"])
    with (tmp_path / "turns.csv").open(encoding="utf-8", newline="") as file:
        turns = list(csv.DictReader(file))
    assert turns[1]["detail"] == f"'{HOSTILE}"
    with (tmp_path / "opinions.csv").open(encoding="utf-8", newline="") as file:
        opinions = list(csv.DictReader(file))
    assert opinions[1]["reasons"] == "日本\nline\u2028end"
    assert (opinions[0]["probability_tie"], opinions[0]["verdict"]) == ("", "A")


def test_lone_surrogates_do_not_stop_an_export(tmp_path: Path) -> None:
    with Store(":memory:") as store, store.open_run("3f2a91", "demo", {}, {}) as writing:
        turn = Turn(step=1, round=1, speaker="A", model="m", sections=(Section(tag="respond", text="\udc80"),))
        writing.save_battle(battle("b1", Decision(status="void"), turns=(turn,)))
        export(writing.reader, tmp_path, ["jsonl", "csv"])
    assert json.loads((tmp_path / "turns.jsonl").read_text(encoding="utf-8"))["sections"] == [["respond", "\udc80"]]


def test_exporting_again_replaces_the_files(run: RunReader, tmp_path: Path) -> None:
    export(run, tmp_path)
    first = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    (tmp_path / "turns.jsonl").write_text("old", encoding="utf-8")
    export(run, tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == first


def test_files_of_another_run_or_of_ones_own_are_replaced_only_by_force(run: RunReader, tmp_path: Path) -> None:
    own = tmp_path / "questions.csv"
    own.write_text("mine", encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"questions\.csv is there, .* set `force`"):
        export(run, tmp_path, ["jsonl", "csv"])
    assert [(path.name, path.read_text("utf-8")) for path in tmp_path.iterdir()] == [("questions.csv", "mine")]
    export(run, tmp_path, ["jsonl"])
    with Store(":memory:") as store, store.open_run("5a1e00", "other", {}, {}) as other:
        with pytest.raises(ConfigurationError, match="of run other-5a1e00"):
            export(other.reader, tmp_path, ["jsonl"])
        export(other.reader, tmp_path, ["jsonl"], force=True)
    assert (own.read_text(encoding="utf-8"), lines_of(tmp_path / "battles.jsonl")) == ("mine", [])


def test_an_export_that_breaks_off_leaves_the_earlier_one_whole(
    run: RunReader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export(run, tmp_path)
    for path in tmp_path.iterdir():
        path.write_text(path.read_text("utf-8") + " ", "utf-8")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    rows = run.rows
    monkeypatch.setattr(run, "rows", lambda frame: 1 / 0 if frame == "ratings" else rows(frame))
    with pytest.raises(ZeroDivisionError):
        export(run, tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_parquet_keeps_types_and_missing_values(run: RunReader, empty: RunReader, tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet", reason="needs the extra `parquet`", exc_type=ImportError)
    export(run, tmp_path / "run", ["parquet"])
    export(empty, tmp_path / "empty", ["parquet"])
    for name in NAMES:
        table = pq.read_table(tmp_path / f"run/{name}.parquet")
        assert table.column_names == list(COLUMNS[name])
        assert pq.read_schema(tmp_path / f"empty/{name}.parquet") == table.schema
    assert pq.read_table(tmp_path / "run/ratings.parquet")["rating"].to_pylist() == [1010.5, None]


def test_parquet_without_its_package_is_said_before_anything_is_written(
    run: RunReader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(ConfigurationError, match=r"coupled-arena\[parquet\]"):
        export(run, tmp_path / "out", ["jsonl", "parquet"])
    assert not (tmp_path / "out").exists()


def test_an_unknown_format_is_named(run: RunReader, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"export: formats: 'xlsx' is not known; choose from jsonl"):
        export(run, tmp_path, ["xlsx"])


def test_a_folder_that_cannot_be_made_is_named(run: RunReader, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(StoreError, match="name a folder that can"):
        export(run, tmp_path / "file" / "out")


def test_two_runs_of_the_same_calls_export_the_same_but_for_time_and_run(tmp_path: Path) -> None:
    exported = []
    for order in ((0, 1, 2), (2, 0, 1)):
        with Store(":memory:") as store, store.open_run("3f2a91", "demo", {}, {}) as writing:
            for number in order:
                call = Call(
                    Model("m", "openai/m"), (Message("user", str(number)),), Sampling(), 10, bytes([number] * 16)
                )
                writing.remember(bytes([number]) * 32, call, Reply(text=str(number), outcome="ok"))
                writing.save_battle(battle(f"b{number}", Decision(status="void")))
            rows = {name: writing.reader.rows(name) for name in NAMES}
        index = [column.name for column in FRAMES["calls"]].index("created")
        rows["calls"] = [row[:index] + row[index + 1 :] for row in rows["calls"]]
        exported.append(rows)
    assert exported[0] == exported[1]
