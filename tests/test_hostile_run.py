"""Whole tournaments with hostile texts everywhere at once; `benchmarks/hostile.py` tries each place by itself."""

import functools
from collections.abc import Iterator

import pytest

from benchmarks import hostile
from benchmarks.hostile import CASES, CHECKS, PLACES, Shown, others, raw, shown, stands, untouched

SHORTER = 2_000
"""Characters of the longest texts here; the benchmark has a million."""


@pytest.fixture(scope="module", autouse=True)
def shorter() -> Iterator[None]:
    """Cut the longest texts, so that the tests take seconds."""
    with pytest.MonkeyPatch.context() as patch:
        for name, text in CASES.items():
            patch.setitem(hostile.CASES, name, text[:SHORTER])
        yield


@functools.cache
def played(place: str, *, schema: bool = False, votes: bool = True) -> Shown:
    return shown(place, schema=schema, votes=votes)


@pytest.mark.parametrize("check", CHECKS)
def test_no_hostile_text_moves_a_verdict_a_path_the_terminal_or_another_battle(check: str) -> None:
    assert list(CHECKS[check]("everywhere", played("everywhere"), played(""))) == []


def test_no_hostile_text_moves_a_verdict_that_is_given_in_json() -> None:
    assert list(CHECKS["verdicts"]("everywhere", played("everywhere", schema=True), played(""))) == []


def test_a_judge_that_only_quotes_gives_no_verdict() -> None:
    battles = played("everywhere", votes=False).battles.values()
    assert {opinion.verdict for battle in battles for opinion in others("everywhere", battle)} == {None}
    assert {battle.decision.status for battle in battles} == {"void"}


def test_the_texts_do_stand_where_they_should() -> None:
    tried = played("everywhere").battles
    assert all(stands("everywhere", place) for place in PLACES)
    touched = [battle for battle in tried.values() if not untouched("everywhere", battle)]
    assert len(touched) == 2 * len(CASES)
    same = [battle.question for battle in touched if battle == played("").battles[battle.id]]
    assert set(same) == {f"q{[*CASES].index('blank')}"}


def test_what_a_terminal_would_obey_is_told_from_text() -> None:
    assert raw("plain\ntext é 日") == ""
    assert raw("\x1b[31m \u202e \x9b") == "\x1b\x9b\u202e"
