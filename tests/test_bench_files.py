"""Item files: the public forms of MMLU and GSM8K, own items, and every mistake by line."""

import json
from pathlib import Path
from typing import Any

import pytest

import coupled_arena as ca
from coupled_arena.errors import ConfigurationError

MMLU_ROW = {"question": "Which is a colour?", "subject": "art", "choices": ["cat", "red", "run", "six"], "answer": 1}
GSM_ROW = {"question": "Ann has 3 apples and buys 4. How many?", "answer": "3 + 4 = <<3+4=7>>7\n#### 7"}
OWN_ROW = {"id": "q1", "text": "What is the capital of France?", "gold": "Paris"}


def jsonl(path: Path, *rows: Any) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def problems(path: Path) -> list[str]:
    with pytest.raises(ConfigurationError) as caught:
        ca.load_task(path)
    return [str(problem).replace(str(path), path.name) for problem in caught.value.problems]


@pytest.mark.parametrize("header", ["", "question,A,B,C,D,answer\n"])
@pytest.mark.parametrize("split", [True, False])
def test_a_folder_of_csv_files_is_mmlu(tmp_path: Path, header: str, split: bool) -> None:
    folder = tmp_path / "test" if split else tmp_path
    folder.mkdir(exist_ok=True)
    (folder / "anatomy_test.csv").write_text(f'{header}"Which bone, in the ear?",stapes,femur,ulna,rib,A\n', "utf-8")
    (folder / "virology_test.csv").write_text(
        f"{header}What is HIV?,virus,cell,x,y,A\nAnd flu?,a,virus,x,y,B\n", "utf-8"
    )
    task = ca.load_task(tmp_path)
    assert (task.name, task.max_tokens, task.scorer) == ("mmlu", 20, "letter")
    assert [(item.subject, item.gold) for item in task.items] == [
        ("anatomy", "A"),
        ("virology", "A"),
        ("virology", "B"),
    ]
    system, user = task.chat(task.items[0])
    assert system.role == "system"
    assert user.content == "Which bone, in the ear?\nA. stapes\nB. femur\nC. ulna\nD. rib\nAnswer:"


def test_one_csv_file_without_a_header_is_mmlu(tmp_path: Path) -> None:
    path = tmp_path / "virology_test.csv"
    path.write_text("What is HIV?,virus,cell,x,y,A\n", "utf-8")
    assert [item.id for item in ca.load_task(path).items] == ["virology-1"]


def test_the_form_of_the_hub_is_mmlu_as_jsonl_and_parquet(tmp_path: Path) -> None:
    rows = [MMLU_ROW, MMLU_ROW | {"answer": "C"}]
    task = ca.load_task(jsonl(tmp_path / "mmlu.jsonl", *rows))
    assert [(item.id, item.gold) for item in task.items] == [("art-1", "B"), ("art-2", "C")]
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pyarrow.Table.from_pylist([MMLU_ROW]), tmp_path / "mmlu.parquet")
    assert ca.load_task(tmp_path / "mmlu.parquet").items[0].text == task.items[0].text


def test_a_wrapped_letter_is_right_unless_strictness_is_asked_for(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "mmlu.jsonl", MMLU_ROW)
    lenient, strict = ca.mmlu(path), ca.mmlu(path, strict=True)
    for reply in ("Answer: B", "**B**"):
        assert (lenient.worth(lenient.items[0], reply), strict.worth(strict.items[0], reply)) == (1.0, 0.0)


def test_gsm8k_has_the_number_behind_its_mark_as_gold(tmp_path: Path) -> None:
    task = ca.load_task(jsonl(tmp_path / "test.jsonl", GSM_ROW, GSM_ROW | {"answer": "So #### 1,250"}))
    assert (task.name, task.max_tokens, [item.gold for item in task.items]) == ("gsm8k", 250, ["7", "1250"])
    assert task.worth(task.items[1], "Half of 2,500 is 1250.00 dollars") == 1.0
    assert task.chat(task.items[0])[-1].content.endswith("\nThe answer is")


@pytest.mark.parametrize(
    ("golds", "scorer", "reply"),
    [
        (["1,000", "2"], "last number", "It is 1000"),
        (["Yes", "no"], "yes or no", "yes, of course"),
        (["A", "D"], "letter", "Answer: A"),
        (["Paris", "A"], "whole text", "paris."),
    ],
)
def test_own_items_are_read_as_their_gold_answers_are(
    tmp_path: Path, golds: list[str], scorer: str, reply: str
) -> None:
    rows = [{"id": f"q{number}", "text": f"Question {number}?", "gold": gold} for number, gold in enumerate(golds)]
    task = ca.load_task(jsonl(tmp_path / "mine.jsonl", *rows))
    assert (task.name, task.scorer) == ("mine", scorer)
    assert task.worth(task.items[0], reply) == 1.0
    assert task.worth(task.items[1], reply) == 0.0


def test_own_items_may_be_csv_and_have_a_scorer_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text('id,text,gold,subject\nq1,"Line one,\nline two?",7,sums\n', "utf-8-sig")
    task = ca.own_task(path, score=lambda item, text: float(item.gold in text), name="ours")
    assert (task.name, task.items[0].subject, task.worth(task.items[0], "17")) == ("ours", "sums", 1.0)


def test_every_mistake_of_own_items_is_listed_by_line(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    rows = [OWN_ROW, {"id": "q2", "text": "No gold?"}, OWN_ROW, {"text": "No id?", "gold": "x", "anser": "y"}]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows) + "not json\n[1]\n", "utf-8")
    assert problems(path) == [
        "mine.jsonl:2: gold: is missing",
        "mine.jsonl:3: id: 'q1' is the id of " + f"{path}:1 already".replace(str(path), "mine.jsonl"),
        "mine.jsonl:3: text: is the text of mine.jsonl:1 already",
        "mine.jsonl:4: anser: is unknown; there are id, text, gold, subject",
        "mine.jsonl:4: id: is missing",
        "mine.jsonl:5: rows: is not JSON: Expecting value: line 1 column 1 (char 0)",
        "mine.jsonl:6: rows: is not a JSON object",
    ]


def test_every_mistake_of_mmlu_and_gsm8k_is_listed_by_line(tmp_path: Path) -> None:
    bad = [MMLU_ROW, MMLU_ROW | {"choices": ["a", "b", "c"]}, MMLU_ROW | {"answer": 4}, MMLU_ROW | {"question": ""}]
    assert problems(jsonl(tmp_path / "mmlu.jsonl", *bad)) == [
        "mmlu.jsonl:2: choices: needs four options that are not empty",
        "mmlu.jsonl:3: gold: the answer must be A, B, C or D, or a number from 0 to 3",
        "mmlu.jsonl:4: text: the question is missing",
    ]
    assert problems(jsonl(tmp_path / "gsm.jsonl", GSM_ROW, {"question": "", "answer": "7"})) == [
        "gsm.jsonl:2: text: the question is missing",
        "gsm.jsonl:2: gold: the answer must end in #### and a number",
    ]


def test_of_many_mistakes_the_first_are_listed(tmp_path: Path) -> None:
    rows = [{"id": f"q{number}", "text": f"No gold {number}?"} for number in range(30)]
    found = problems(jsonl(tmp_path / "mine.jsonl", *rows))
    assert (len(found), found[-1]) == (21, "mine.jsonl: rows: 10 more problems like these")


def test_files_that_hold_nothing_or_are_none_are_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("\n", "utf-8")
    (tmp_path / "latin.csv").write_bytes(b"id,text,gold\nq1,caf\xe9?,x\n")
    (tmp_path / "notes.txt").write_text("hello", "utf-8")
    (tmp_path / "folder").mkdir()
    assert problems(tmp_path / "empty.jsonl") == ["empty.jsonl: rows: holds no items"]
    assert problems(tmp_path / "folder") == ["folder: rows: holds no items"]
    assert problems(tmp_path / "latin.csv") == ["latin.csv:2: rows: is not UTF-8; save the file as UTF-8"]
    assert "is no item file" in problems(tmp_path / "notes.txt")[0]
    assert "there is no such file" in problems(tmp_path / "arithmetics")[0]
    pytest.importorskip("pyarrow")
    (tmp_path / "bad.parquet").write_bytes(b"PAR1")
    assert problems(tmp_path / "bad.parquet")[0].startswith("bad.parquet: rows: cannot be read: ")
