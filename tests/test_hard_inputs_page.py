"""The page of hard inputs names tests that exist, and says everything once."""

import re
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
PAGE = (TESTS.parent / "docs" / "hard-inputs.md").read_text(encoding="utf-8")
ROWS = [line.strip("| ").split(" | ") for line in PAGE.splitlines() if line.startswith("| ")]
CASES = [row for row in ROWS if row[0] not in ("what goes wrong elsewhere", "---", "case")]


@cache
def names(file: str) -> set[str]:
    return set(re.findall(r"^\s*(?:async )?def (test_\w+)", (TESTS / file).read_text(encoding="utf-8"), re.MULTILINE))


@pytest.mark.parametrize("row", CASES, ids=lambda row: row[0][:60])
def test_every_row_names_tests_that_exist(row: list[str]) -> None:
    assert len(row) == 3
    named = re.findall(r"`(test_\w+\.py)::(test_\w+)`", row[2])
    assert named
    assert [f"{file}::{name}" for file, name in named if name not in names(file)] == []


def test_no_input_is_there_twice() -> None:
    first = [row[0] for row in CASES]
    assert len(first) == len(set(first)) > 70
