"""Several examiners share the questions, at a stated difficulty, and what one of them fails to write is seen."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coupled_arena as ca
from coupled_arena.agents.messages import ExamAnswer
from coupled_arena.coupling import Dice
from coupled_arena.errors import ConfigurationError
from coupled_arena.models.gateway import Gateway
from coupled_arena.prompts import bundled_questions, load_prompts
from coupled_arena.protocols import ExaminationAgenda
from coupled_arena.protocols.bus import Utterance
from coupled_arena.tournaments.playing.examining import shares
from coupled_arena.tournaments.preflight.checks import problems_in
from coupled_arena.tournaments.stored import digest_of

SMALL: dict[str, Any] = {
    "models": ["sim/ada?skill=1", "sim/bob"],
    "judges": ["sim/j1", "sim/j2", "sim/j3"],
    "examiner": ["sim/x", "sim/y"],
    "domains": ["math", "writing"],
    "questions_per_domain": 3,
    "script": "single",
    "discussion_rounds": 0,
    "seed": 7,
}


def agenda(*written: str, known: tuple[str, ...] = (), count: int = 2, **changes: Any) -> ExaminationAgenda:
    """Return an examination at its end, after one reply with these questions."""
    found = ExaminationAgenda(
        "x", "math", count, load_prompts("en"), lambda batch: Dice(0, (), (), ()), known=known, **changes
    )
    found.open()
    found.batches = 3
    found.hear(Utterance("examiner", ExamAnswer(source="x", content="", questions=written)))
    return found


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 5), st.integers(1, 12), st.integers(1, 9), st.integers(0, 3))
def test_every_examiner_writes_its_share_of_every_domain(examiners: int, each: int, domains: int, seed: int) -> None:
    names = [f"sim/x{number}" for number in range(examiners)]
    found = shares(
        ca.Tournament(
            models=["sim/a", "sim/b"], examiner=names, domains=[f"d{n}" for n in range(domains)],
            questions_per_domain=each, seed=seed,
        )
    )  # fmt: skip
    total = Counter[str]()
    for share in found.values():
        assert (sorted(share), sum(share.values())) == (sorted(names), each)
        assert max(share.values()) - min(share.values()) <= 1
        total.update(share)
    assert max(total.values()) - min(total.values()) <= 1


def test_who_writes_the_odd_question_depends_on_the_seed_alone() -> None:
    drawn = [shares(ca.Tournament(**{**SMALL, "seed": seed}))["math"] for seed in range(20)]
    assert {share["sim/x"] for share in drawn} == {1, 2}
    assert drawn[3] == shares(ca.Tournament(**{**SMALL, "seed": 3}))["math"]


def test_each_question_names_its_author_and_its_difficulty() -> None:
    difficulty = {"math": "easy"}
    result = ca.Tournament(**SMALL, difficulty=difficulty).run()
    assert [question.id for question in result.questions] == [
        f"{d}-{n}" for d in ("math", "writing") for n in (1, 2, 3)
    ]
    assert Counter(question.author for question in result.questions) == {"sim/x": 3, "sim/y": 3}
    assert {(question.domain, question.difficulty) for question in result.questions} == {
        ("math", "easy"),
        ("writing", "hard"),
    }
    frame = result.frame("questions")
    assert frame["author"].tolist() == [question.author for question in result.questions]
    assert frame["difficulty"].tolist() == ["easy"] * 3 + ["hard"] * 3


def test_the_difficulty_is_what_the_examiner_is_told() -> None:
    texts = {}
    for language in ("en", "de", "zh", "compact"):
        prompts = load_prompts(language)
        for difficulty in ("easy", "medium", "hard"):
            asked = ExaminationAgenda(
                "x", "math", 2, prompts, lambda batch: Dice(0, (), (), ()), difficulty=difficulty
            ).open()
            texts[language, difficulty] = asked[0].message.to_model_text()
            assert prompts.render(f"difficulty.{difficulty}") in texts[language, difficulty]
    assert len(set(texts.values())) == len(texts)


def test_an_examiner_repeats_nothing_that_another_one_wrote() -> None:
    known = ("How many primes are there below 101, and why?",)
    found = agenda("How many primes are there below 100, and why?", "What is the sum of 1 to 50?", known=known)
    assert found.result is not None
    assert [(q.id, q.text) for q in found.result.questions] == [("math-2", "What is the sum of 1 to 50?")]
    assert [(r.reason, r.author) for r in found.result.rejected] == [("near-duplicate", "x")]


def test_a_question_wholly_in_another_language_is_rejected_and_asked_for_again() -> None:
    found = agenda("Warum ist der Himmel blau, und wie weit ist er weg?", "Translate 你好 into English, would you?")
    assert found.result is not None
    assert [question.text for question in found.result.questions] == ["Translate 你好 into English, would you?"]
    assert [(r.text[:5], r.reason) for r in found.result.rejected] == [("Warum", "other language")]
    assert found.result.problem == "wrote 1 of 2 usable questions"


def test_what_one_examiner_fails_to_write_is_taken_from_the_bundled_set_visibly() -> None:
    result = ca.Tournament(**{**SMALL, "examiner": ["sim/x", "sim/broken?error=1"]}).run()
    authors = Counter(question.author for question in result.questions)
    assert authors == {"sim/x": 3, "bundled": 3}
    (caveat,) = [text for text in result.caveats if text.startswith("math")]
    assert "questions are bundled ones; sim/broken: " in caveat
    bundled = {question.text for question in bundled_questions("en", "math")}
    assert {q.text for q in result.questions if q.author == "bundled" and q.domain == "math"} <= bundled


def test_the_first_examiner_that_does_not_play_writes_the_references() -> None:
    result = ca.Tournament(**{**SMALL, "examiner": ["sim/ada?skill=1", "sim/y"], "domains": ["math"]}).run()
    assert all(question.reference for question in result.questions)
    playing = ca.Tournament(**{**SMALL, "examiner": ["sim/ada?skill=1", "sim/bob"], "domains": ["math"]}).run()
    assert any("sim/ada and sim/bob play in this tournament" in caveat for caveat in playing.caveats)


def test_one_examiner_in_a_list_is_the_same_definition_and_a_resume_asks_nothing(tmp_path: Path) -> None:
    alone = ca.Tournament(**{**SMALL, "examiner": "sim/x"})
    assert alone.digest() == ca.Tournament(**{**SMALL, "examiner": ["sim/x"]}).digest()
    first = ca.Tournament(**SMALL).run(tmp_path / "runs.db")
    again = ca.Tournament(**SMALL).run(tmp_path / "runs.db")
    assert (again.run, again.counts.made, again.questions) == (first.run, 0, first.questions)


def test_keys_that_say_nothing_new_leave_the_definition_as_an_earlier_version_knew_it() -> None:
    document = ca.Tournament(**{**SMALL, "examiner": "sim/x"}).document()
    assert "difficulty" not in document
    assert "judges_by_domain" not in document["committee"]
    assert ca.Tournament(**SMALL, difficulty="easy").document()["difficulty"] == "easy"
    assert ca.Tournament.stored(ca.Tournament(**SMALL).document()).examiners == ca.Tournament(**SMALL).examiners


def test_the_words_for_a_difficulty_count_in_the_runs_that_use_them(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text('base = "en"\n[difficulty]\neasy = "be a breeze"\n', encoding="utf-8")
    own, en = str(tmp_path / "own.toml"), load_prompts("en")
    assert load_prompts(own).digest == en.digest
    easy = [digest_of(ca.Tournament(**SMALL, difficulty="easy", prompts=name)) for name in (own, "en")]
    hard = [digest_of(ca.Tournament(**SMALL, prompts=name)) for name in (own, own)]
    assert len({*easy, *hard}) == 3


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"difficulty": "brutal"}, "difficulty: write 'easy', 'medium', 'hard', or a table with one for each domain"),
        ({"difficulty": {"math": "brutal"}}, "difficulty.math: "),
        ({"difficulty": {"law": "easy"}}, "difficulty.law: no question is about this; there is math, writing"),
        ({"difficulty": "easy", "examiner": None}, "difficulty: is told to examiners, and there is none"),
        ({"examiner": ["sim/x", "sim/x"]}, "examiner: 'sim/x' is listed 2 times"),
        ({"examiner": ["sim/x", 3]}, "examiner.1: "),
        ({"examiner": [{"model": "sim/x", "temperatur": 1}]}, "examiner.0.temperatur: unknown key; did you mean"),
    ],
)
def test_a_problem_with_examiners_is_named_with_its_key(change: dict[str, Any], problem: str) -> None:
    try:
        found = [str(each) for each in problems_in(ca.Tournament(**{**SMALL, **change}), Gateway())]
    except ConfigurationError as error:
        found = [str(each) for each in error.problems]
    assert any(problem in each for each in found), found


def test_every_examiner_has_its_share_of_the_estimate() -> None:
    seen = ca.Tournament(**{**SMALL, "questions_per_domain": 4}).preflight()
    spending = {model.model: model.spending for model in seen.models if "examiner" in model.keys}
    # The first one also answers the four questions of mathematics for the judges.
    assert {name: line.calls for name, line in spending.items()} == {"sim/x": 2 + 4, "sim/y": 2}
