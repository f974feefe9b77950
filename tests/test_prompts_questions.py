"""Questions from files and from examiners."""

from pathlib import Path

import pytest

from coupled_arena.errors import ConfigurationError
from coupled_arena.prompts import (
    bundled_questions,
    load_prompts,
    load_questions,
    near_duplicate,
    read_json_questions,
    read_numbered,
)

DOMAINS = list(load_prompts("en").domains)


@pytest.mark.parametrize(("language", "count"), [("en", 6), ("zh", 2), ("de", 2)])
def test_every_domain_has_its_bundled_questions(language: str, count: int) -> None:
    every = [question for domain in DOMAINS for question in bundled_questions(language, domain)]
    assert len(every) == count * len(DOMAINS)
    assert len({question.id for question in every}) == len(every)
    assert {(question.language, question.author) for question in every} == {(language, "bundled")}
    for number, question in enumerate(every):
        assert bool(question.reference) == load_prompts(language).domain(question.domain).needs_reference
        assert near_duplicate(question.text, [other.text for other in every[:number]]) is None


def test_there_are_no_bundled_questions_of_an_unknown_domain_or_language() -> None:
    assert bundled_questions("en", "cooking") == ()
    assert bundled_questions("fr", "math") == ()


def test_a_jsonl_file_is_read_with_defaults(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    lines = [
        '\ufeff{"question": " Why is the sky blue? "}',
        "",
        '{"id": 7, "text": "Why \\u2028 not?", "domain": "x", "language": "de", "reference": "So."}',
    ]
    path.write_text("\n".join(lines), "utf-8")
    first, second = load_questions(path, domain="stem")
    assert (first.id, first.domain, first.language, first.text) == ("mine-1", "stem", "en", "Why is the sky blue?")
    assert (first.reference, first.author) == (None, "mine.jsonl")
    assert (second.id, second.domain, second.language, second.reference) == ("7", "x", "de", "So.")


def test_a_csv_file_is_read_with_its_quoted_lines(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text('id,text,reference\nq1,"Line one,\nline two?",\n\nq2,Why is this?,So.\n', "utf-8-sig")
    first, second = load_questions(path)
    assert (first.id, first.text, first.reference) == ("q1", "Line one,\nline two?", None)
    assert (second.id, second.reference) == ("q2", "So.")


@pytest.mark.parametrize("suffix", ["jsonl", "csv"])
def test_every_problem_of_a_file_is_listed_with_its_line(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"bad.{suffix}"
    lines = {
        "jsonl": [
            '{"id": "a", "text": "Why is it so?"}',
            '{"id": "a", "text": "Why is it not?"}',
            '{"id": "b", "text": " ?? "}',
            '{"id": "c", "text": "Why is it so?"}',
            '{"id": "d", "text": "Why on earth?", "txet": "x"}',
            '{"id": ["e"], "text": 5}',
            "[1]",
            "{",
            '{"text": "one?", "question": "two?"}',
        ],
        "csv": ["id,text,txet", "a,Why is it so?,", "a,Why is it not?,x", "b,Why on earth?", 'c,"Why'],
    }
    path.write_text("\n".join(lines[suffix]))
    with pytest.raises(ConfigurationError) as caught:
        load_questions(path)
    found = [(problem.where.removeprefix(f"{path}:"), problem.key) for problem in caught.value.problems]
    assert (
        found
        == {
            "jsonl": [
                ("2", "id"),
                ("3", "text"),
                ("4", "text"),
                ("5", "txet"),
                ("6", "id"),
                ("6", "text"),
                ("6", "text"),
                ("7", "questions"),
                ("8", "questions"),
                ("9", "question"),
            ],
            "csv": [("1", "txet"), ("4", "questions"), ("5", "questions")],
        }[suffix]
    )


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("none.jsonl", None, "cannot be read"),
        ("empty.jsonl", b"\n", "holds no questions"),
        ("latin.jsonl", b'{"text": "ok ok"}\n{"text": "\xe4"}', "is not UTF-8"),
        ("wrong.txt", b"Why?", "is neither .jsonl nor .csv"),
        ("empty.csv", b"", "holds no questions"),
        ("null\0.csv", None, r"null\\x00.csv: questions: cannot be read"),
        ("half.jsonl", b'{"text": "Why \\ud800 so?"}', "half.jsonl:1: text: holds half a character"),
        ("name.jsonl", b'{"text": "Why so?", "id": "a\\u0007b"}', "name.jsonl:1: id: must not hold a line break"),
        ("long.jsonl", b'{"text": "Why so?", "id": ' + b"9" * 5000 + b"}", "long.jsonl:1: questions: is not JSON"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused(tmp_path: Path, name: str, content: bytes | None, message: str) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigurationError, match=message):
        load_questions(path)


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("(1) a b\n(2) c d", ("a b", "c d")),
        ("1. a\n2. b\n3. c", ("a", "b", "c")),
        ("1) a\n2) b", ("a", "b")),
        ("（1）甲\n（2）乙", ("甲", "乙")),
        ("1、甲\n2、乙", ("甲", "乙")),
        ("**1.** a\n**2.** b", ("a", "b")),
        ("**1. a**\n\n**2. b** 2**3", ("a", "b 2**3")),
        ("Question 1: a\nQuestion 2: b", ("a", "b")),
        ("### 1. a\n### 2. b", ("a", "b")),
        ("Here are 2 questions:\n\n(1) a\n\n(2) b\n\nI hope they help!", ("a", "b")),
        ("(1) What is (2) plus (3)?\n(2) b", ("What is (2) plus (3)?", "b")),
        ("(1) Read:\n\n  first\n  second\n(2) b\n\nc", ("Read:\n\n  first\n  second", "b\n\nc")),
        ("(1) Sort these:\n1. x\n2. y\n(2) b", ("Sort these:\n1. x\n2. y", "b")),
        ("(1) a\n(3) b", ("a", "b")),
        ("(1) a\n(2024) is a year\n(2) b", ("a\n(2024) is a year", "b")),
        ("(1) Pi is\n3.14 or so?\n(2) b", ("Pi is\n3.14 or so?", "b")),
        ("(1) only one\n\nwith two paragraphs", ("only one\n\nwith two paragraphs",)),
        ("(1)\n(2) b", ("b",)),
        ("No numbers at all?", ()),
        ("", ()),
    ],
)
def test_numbered_questions_are_read_however_they_are_numbered(text: str, items: tuple[str, ...]) -> None:
    assert read_numbered(text) == items


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ('{"questions": ["a", " b "]}', ("a", "b")),
        ('```json\n["a"]\n```', ("a",)),
        ('{"questions": "a"}', ()),
        ('{"questions": [1, null, "a"]}', ("a",)),
        ("(1) a", ()),
        ("[" * 100_000, ()),
    ],
)
def test_questions_in_json_are_read(text: str, items: tuple[str, ...]) -> None:
    assert read_json_questions(text) == items


@pytest.mark.parametrize(
    ("text", "other", "same"),
    [
        ("What is the capital of Peru?", "what is  the CAPITAL of peru", True),
        ("Compute the sum of the first 100 primes.", "Compute the sum of the first 200 primes.", True),
        ("Write a poem about the sea.", "Write a story about a tax office.", False),
        ("已知 x + 1/x = 3，求 x^5 + 1/x^5。", "已知 x+1/x=3, 求 x^5+1/x^5", True),
        ("a", "a", True),
        ("a", "b", False),
        ("", "", True),
    ],
)
def test_near_duplicates_are_noticed_in_both_directions(text: str, other: str, same: bool) -> None:
    assert (near_duplicate(text, ["unrelated words entirely", other]) == other) == same
    assert (near_duplicate(other, [text]) == text) == same
