"""Defects of item files, tasks and parameters of a bench: each is named, and none is a traceback or a silent guess."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import coupled_arena as ca
from coupled_arena.errors import ConfigurationError
from coupled_arena.studies.bench.planning import planned
from coupled_arena.studies.bench.scoring import plain_number

ITEM = ca.Item("one", "What is 1 + 1?", "2")


def score(item: ca.Item, text: str) -> float:
    return 1.0


def task(**changed: Any) -> ca.Task:
    return ca.Task(**{"name": "sums", "items": (ITEM,), "score": score, **changed})


def problem(call: Callable[[], object]) -> str:
    with pytest.raises(ConfigurationError) as caught:
        call()
    return str(caught.value)


def loaded(path: Path, content: str) -> Sequence[ca.Item]:
    path.write_bytes(content.encode())
    return ca.load_task(path).items


@pytest.mark.parametrize("value", ["NaN", "Infinity", "true", '["Paris"]', '{"a": 1}'])
def test_what_is_neither_text_nor_number_is_no_field(tmp_path: Path, value: str) -> None:
    for field in ("id", "text", "gold", "subject"):
        row = json.dumps({"id": "a", "text": "Why?", "gold": "x", "subject": "s", field: 0}).replace(" 0", f" {value}")
        said = problem(lambda row=row: loaded(tmp_path / "mine.jsonl", row))  # type: ignore[misc]
        assert f"mine.jsonl:1: {field}: must be a text or a number, not " in said


def test_values_of_parquet_are_texts_and_numbers_or_named(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "mine.parquet"

    def said(**columns: Any) -> str:
        parquet.write_table(pyarrow.table({"id": ["a"], "text": ["Why?"], "gold": ["x"], **columns}), path)
        return problem(lambda: ca.load_task(path))

    assert "mine.parquet:1: text: must be a text or a number, not b'Why?'" in said(text=[b"Why?"])
    assert "mine.parquet:1: gold: must be a text or a number, not nan" in said(gold=[float("nan")])
    broken = pyarrow.py_buffer(b"\0\0\0\0\2\0\0\0"), pyarrow.py_buffer(b"\xff\xfe")
    no_text = pyarrow.Array.from_buffers(pyarrow.string(), 1, [None, *broken])
    assert "mine.parquet: rows: cannot be read: " in said(gold=no_text)
    options = {"question": ["Which?"], "choices": [[b"a", b"b", b"c", b"d"]], "answer": [1]}
    assert "choices: needs four options" in said(**options)
    twice = pyarrow.Table.from_arrays([pyarrow.array(["a"])] * 4, names=["id", "text", "gold", "gold"])
    parquet.write_table(twice, path)
    assert "has the field 'gold' twice" in problem(lambda: ca.load_task(path))


@pytest.mark.parametrize(
    ("name", "content"),
    [("mine.csv", "id,text,gold,gold\na,Why?,1,2\n"), ("mine.jsonl", '{"id": "a", "text": "x", "gold": 1, "gold": 2}')],
)
def test_a_field_that_is_there_twice_is_named(tmp_path: Path, name: str, content: str) -> None:
    assert f"{name}:1: rows: has the field 'gold' twice" in problem(lambda: loaded(tmp_path / name, content))


@pytest.mark.parametrize("mark", ["\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029"])
def test_only_line_ends_end_a_row_of_csv(tmp_path: Path, mark: str) -> None:
    rows = f'\nid,text,gold\r\na,x{mark}y,1\r\n\r\nb,"p{mark}q\n",2\r\nc,z\n'
    said = problem(lambda: loaded(tmp_path / "mine.csv", rows))
    assert said.endswith("mine.csv:7: rows: has 2 fields where the header has 3")
    items = loaded(tmp_path / "mine.csv", rows.removesuffix("c,z\n"))
    assert [item.text for item in items] == [f"x{mark}y", f"p{mark}q"]


def test_a_gold_answer_that_no_reply_could_give_is_refused_unless_the_scorer_is_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    assert "gold: holds nothing but marks" in problem(lambda: loaded(path, '{"id": "a", "text": "x", "gold": "**"}'))
    assert ca.own_task(path, score=score).items[0].gold == "**"


def test_a_path_that_no_file_can_have_and_what_is_no_path_are_no_task() -> None:
    assert "task: cannot be read: " in problem(lambda: ca.load_task("x" * 300 + ".csv"))
    for strange in (None, 5, b"yes-no", ["yes-no"]):
        assert "task: must be a task, a file" in problem(lambda strange=strange: planned("sim/a", strange))  # type: ignore[misc]


@pytest.mark.parametrize(
    ("text", "read"),
    [(".5", "0.5"), ("it is -.25.", "-0.25"), ("$.50", "0.5"), ("...5", "5"), ("v1.5", "1.5"), ("0.5", "0.5")],
)
def test_a_number_may_begin_with_its_point(text: str, read: str) -> None:
    assert ca.last_number(text) == read


def test_a_number_of_many_digits_is_read_to_the_last() -> None:
    for digits in ("1" * 40, "1" * 40 + "." + "7" * 40, "9" * 5000):
        assert plain_number(digits) == digits
    assert [plain_number(text) for text in ("007", "-0", "0.000", "10.50", "100")] == ["7", "0", "0", "10.5", "100"]


@pytest.mark.parametrize(
    ("changed", "key"),
    [
        ({"name": 5}, "name"),
        ({"name": ""}, "name"),
        ({"items": None}, "items"),
        ({"items": (item for item in (ITEM,))}, "items"),
        ({"items": "ab"}, "items"),
        ({"items": ("ab",)}, "items"),
        ({"items": (ca.Item("a", "b", "c", None),)}, "items"),  # type: ignore[arg-type]
        ({"max_tokens": "9"}, "max_tokens"),
        ({"max_tokens": True}, "max_tokens"),
        ({"max_tokens": 1.5}, "max_tokens"),
        ({"choices": "ab"}, "choices"),
        ({"choices": ("a", "a")}, "choices"),
        ({"choices": ("a", "")}, "choices"),
        ({"choices": (1, 2)}, "choices"),
        ({"score": 5}, "score"),
        ({"prompt": "Why?"}, "prompt"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_task_that_is_none_says_what_is_wrong(changed: dict[str, Any], key: str) -> None:
    assert f": {key}: " in problem(lambda: task(**changed))


@pytest.mark.parametrize("returned", [None, "0.5", "x", float("nan"), -1e-9, 2, 1j, [1.0], 10**400])
def test_a_score_that_is_no_share_is_named(returned: Any) -> None:
    judged = task(score=lambda item, text: returned)
    assert "sums: one: its scorer returned " in problem(lambda: judged.worth(ITEM, "2"))


@pytest.mark.parametrize("returned", [True, 1, np.float32(1), np.bool_(True), np.int64(1)])
def test_a_score_may_be_a_number_of_any_type(returned: Any) -> None:
    assert task(score=lambda item, text: returned).worth(ITEM, "2") == 1.0


@pytest.mark.parametrize(
    "made", [[], ["ab", "cd"], [("robot", "x")], [("user", 5)], [{"role": "user", "content": "x"}]]
)
def test_a_prompt_that_makes_no_chat_is_named(made: Any) -> None:
    assert "sums: one: its prompt returned " in problem(lambda: task(prompt=lambda item: made).chat(ITEM))


def test_a_reader_that_raises_is_named() -> None:
    read = iter(["2"])
    asked = task(score=ca.Exact(lambda text: next(read)))
    assert asked.worth(ITEM, "2") == 1.0
    assert "its scorer raised StopIteration" in problem(lambda: asked.readable(ITEM, "2"))


@pytest.mark.parametrize(
    "rules",
    [
        {"temperature": [[1]]},
        {"temperature": {"a": 1}},
        {"temperature": "0.7"},
        {"temperature": [True]},
        {"temperature": np.array([0.5, np.nan])},
        {"top_p": {}},
        {"models": None},
        {"models": 5},
        {"models": {"model": 5}},
        {"repeats": None},
        {"concurrency": None},
        {"budget": 5},
        {"limits": "abc"},
        {"limits": {"*": 5}},
    ],
    ids=str,
)
def test_a_parameter_of_the_wrong_kind_is_named(rules: dict[str, Any]) -> None:
    (key,) = rules
    said = problem(lambda: planned(**{"models": "sim/a", "task": "yes-no", **rules}))
    assert all(line.startswith(f"bench: {key}") for line in said.splitlines())


def test_several_values_may_come_from_any_library() -> None:
    values: dict[str, Any] = {"temperature": np.array([0.5, 1]), "top_p": (p for p in (0.5, np.float32(1)))}
    plan = planned("sim/a", "yes-no", **values)
    assert [tuple(setting) for setting in plan.settings] == [(0.5, 0.5), (0.5, 1.0), (1.0, 0.5), (1.0, 1.0)]
    assert plan.digest() == planned("sim/a", "yes-no", temperature=[0.5, 1.0], top_p=[0.5, 1.0]).digest()
