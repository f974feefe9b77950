"""What a result says of its questions: who wrote them, which stand out, and where another language was spoken."""

from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import coupled_arena as ca
from coupled_arena.analysis.questions import QuestionStanding
from coupled_arena.reports.console import leaderboard
from coupled_arena.tournaments.results.asked import QUESTION_COLUMNS, extreme_lines, strayed
from coupled_arena.tournaments.results.caveats import caveats
from coupled_arena.tournaments.storage.store import Store
from tests.store_scene import battle, question

CHINESE = "这个问题的答案是四，因为两个二的和为四。"
FAMILY: dict[str, Any] = {
    "models": ["sim/ada?skill=1", {"name": "mini", "model": "sim/mini", "family": "x"}, "sim/cyd?skill=-1"],
    "judges": ["sim/j1", "sim/j2", "sim/j3"],
    "examiner": [{"name": "x", "model": "sim/x", "family": "x"}, "sim/y"],
    "domains": ["math", "writing"],
    "questions_per_domain": 4,
    "script": "single",
    "schedule": "round_robin",
}


def shown(result: ca.Result) -> list[str]:
    console = Console(width=300)
    with console.capture() as captured:
        console.print(leaderboard(result))
    return [line.rstrip() for line in captured.get().splitlines()]


def said(text: str, tag: str = "respond", number: int = 1) -> ca.Turn:
    return ca.Turn(step=number, round=1, speaker="A", model="ada", sections=(ca.Section(tag=tag, text=text),))


def standing(name: str, hardness: float, reliability: float) -> QuestionStanding:
    return QuestionStanding(name, "math", 9, hardness, reliability, 0.0, 0.2, 0.0, None)


def test_a_result_says_whether_each_examiners_questions_suit_its_family() -> None:
    result = ca.Tournament(**FAMILY).run()
    own, other = result.advantages
    assert (own.author, own.relatives, own.own_questions, own.other_questions) == ("x", ("mini",), 4, 4)
    assert own.advantage is not None
    assert (other.relatives, other.why) == ((), "no model of its family plays")
    document = result.document()["examiners"]
    assert [(found["author"], found["line"]) for found in document] == [("x", own.line), ("sim/y", other.line)]
    lines = shown(result)
    assert own.line in lines
    assert other.line not in lines


def test_one_examiner_whose_family_plays_leaves_nothing_to_compare() -> None:
    result = ca.Tournament(**{**FAMILY, "examiner": FAMILY["examiner"][0]}).run()
    line = "questions of x: all questions are its own, so there are none to compare them with"
    assert line in shown(result)


def test_the_table_of_questions_has_a_line_for_each_the_hardest_first() -> None:
    result = ca.Tournament(**FAMILY).run()
    table = result.question_table()
    assert tuple(table.columns) == QUESTION_COLUMNS
    assert sorted(table["question"]) == sorted(question.id for question in result.questions)
    assert table["hardness"].is_monotonic_decreasing
    assert set(table["author"]) == {"x", "sim/y"}
    assert table["battles"].tolist() == [3] * 8


def test_only_questions_that_stand_out_beyond_chance_are_named() -> None:
    some = (standing("q1", 0.4, 0.8), standing("q2", 0.1, 0.8), standing("q3", -0.3, 0.8))
    assert extreme_lines(some) == ("hardest questions: q1 (0.40), q2 (0.10)", "easiest questions: q3 (-0.30)")
    assert extreme_lines(tuple(standing(f"q{n}", n / 10, 0.4) for n in range(5))) == ()


def test_questions_in_another_language_are_a_caveat_and_a_column() -> None:
    own = [
        question(id="q1", text="What is the sum of two and two, and why is it that?"),
        question(id="q2", text=f"What is two and two? {CHINESE}"),
    ]
    assert strayed(own[:1]) == ()
    (caveat,) = strayed(own)
    assert caveat.startswith("questions in another language than en, wholly or partly: q2 (")
    result = ca.Tournament(models=["sim/a", "sim/b"], judges=["sim/j"], questions=own, script="single").run()
    assert caveat in result.caveats
    assert result.frame("questions")["leak"].fillna("").tolist() == ["", "zh"]
    assert sorted(result.question_table()["leak"].fillna("")) == ["", "zh"]


def test_turns_in_another_language_are_counted_by_model_and_thoughts_are_free() -> None:
    tournament = ca.Tournament(models=["sim/a", "sim/b"], judges=["sim/j1", "sim/j2", "sim/j3"])
    turns = (said(CHINESE), said("It is four, as that is the sum of the two.", number=2), said(CHINESE, "think", 3))
    found = caveats(tournament, repr, [battle(turns=turns)])
    assert "ada: 1 of its 3 turns are wholly or partly in another language than en (mostly zh)" in found
    assert not any("another language" in line for line in caveats(tournament, repr, [battle(turns=turns[1:])]))


def test_the_frame_of_turns_says_what_strays(tmp_path: Path) -> None:
    with Store(tmp_path / "runs.db") as store:
        with store.open_run("3f2a91c0d1", "demo", {"language": "en"}, {}) as run:
            run.save_battle(battle(turns=(said(CHINESE), said("four", number=2))))
        assert store.run().frame("turns")["leak"].fillna("").tolist() == ["zh", ""]


@pytest.mark.parametrize("language", ["en", "de", "zh"])
def test_a_simulated_run_strays_from_no_language(language: str) -> None:
    models = ["sim/ada?skill=1", "sim/bob"]
    result = ca.Tournament(
        models=models, judges=["sim/j"], examiner="sim/x", domains=["math"], questions_per_domain=2, language=language
    ).run()
    assert not any("another language" in caveat for caveat in result.caveats)
    assert result.frame("turns")["leak"].isna().all()
