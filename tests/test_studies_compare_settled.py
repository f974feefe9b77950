"""A comparison stops once it is settled, and says what its interval holds for."""

from pathlib import Path
from typing import Any

import pytest

import coupled_arena as ca
from coupled_arena.ratings.sequences import decided, mean_interval
from coupled_arena.studies.comparing.compare import tournament_of
from coupled_arena.tournaments.schedules import Adaptive, RoundRobin

RULES: dict[str, Any] = {"judges": "sim/judge", "script": "single", "seed": 7}
CLEAR = ("sim/ada?skill=3", "sim/bob?skill=-1")
LEVEL = ("sim/ada", "sim/bob")


def test_a_clear_case_is_settled_by_a_few_of_the_questions_and_says_after_how_many() -> None:
    found = ca.compare(*CLEAR, **RULES)
    assert (found.score.settled, found.score.questions, len(found.questions)) == (True, 8, 40)
    assert found.sentence.startswith("sim/ada beats sim/bob: it wins ")
    assert found.sentence.endswith("; settled after 8 of 40 questions.")
    assert {battle.domain for battle in found.result.battles} == set(ca.Tournament.model_fields["domains"].default)
    assert "intervals hold at every look, so that battles may stop once it is settled; they are wider for that" in (
        found.lines
    )
    (pair,) = found.result.settled
    assert pair.line.endswith("by their own 8 battles: resolved")
    resolution = found.result.resolution
    assert resolution is not None
    assert (resolution.ended, resolution.answer) == ("resolved", ("sim/ada", "sim/bob"))


def test_all_questions_are_asked_for_the_narrower_interval() -> None:
    found = ca.compare(*CLEAR, until_settled=False, **RULES)
    stopped = ca.compare(*CLEAR, **RULES)
    assert (found.score.questions, found.sentence.endswith("; settled.")) == (40, True)
    assert found.result.resolution is None
    assert not any(line.startswith("intervals hold at every look") for line in found.lines)
    scores = [asked.share for asked in found.questions if asked.share is not None]
    assert mean_interval(scores)[0] < (found.score.low or 0)
    assert [found.document()["until_settled"], stopped.document()["until_settled"]] == [False, True]


def test_an_open_case_is_played_to_the_last_question_and_says_about_how_many_more_it_takes() -> None:
    found = ca.compare(*LEVEL, **RULES)
    scores = [asked.share for asked in found.questions if asked.share is not None]
    assert len(scores) == found.score.questions == 40
    assert not decided(scores)
    assert (found.score.low, found.score.high) == mean_interval(scores)
    assert "; not settled" in found.sentence
    assert found.result.resolution is not None
    assert found.result.resolution.ended == "questions"


def test_a_run_that_stops_when_it_is_settled_goes_on_where_it_was_interrupted(tmp_path: Path) -> None:
    rules = {**RULES, "questions_per_domain": 2}
    whole = ca.compare("sim/ada?skill=0.5", "sim/bob", **rules)
    with pytest.raises(ca.BudgetReached) as stop:
        ca.compare(
            "sim/ada?skill=0.5", "sim/bob", store=tmp_path / "r.db", budget={"calls": 30}, concurrency=1, **rules
        )
    part = ca.Comparison.of(stop.value.result)
    assert part.result.resolution is not None
    assert part.result.resolution.ended in ("unfinished", "resolved")
    again = ca.compare("sim/ada?skill=0.5", "sim/bob", store=tmp_path / "r.db", **rules)
    assert (again.sentence, again.score) == (whole.sentence, whole.score)


def test_a_schedule_of_the_users_own_takes_the_place_of_stopping() -> None:
    assert tournament_of(*LEVEL, judges="sim/judge").schedule == Adaptive()
    assert tournament_of(*LEVEL, judges="sim/judge", until_settled=False).schedule == RoundRobin()
    assert tournament_of(*LEVEL, judges="sim/judge", schedule=Adaptive(batch=3)).schedule == Adaptive(batch=3)
