"""Which questions stand out: what was missing in battles and where judges disagreed, without being fooled by chance."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coupled_arena.analysis.questions import (
    FEWEST_BATTLES,
    LEAST_RELIABILITY,
    QuestionStanding,
    named,
    question_standings,
    shrunken,
)
from coupled_arena.records import Battle, Decision, Opinion, Side, Turn, Verdict

RATINGS = {"ada": 1100.0, "bob": 1000.0, "cyd": 900.0}
PAIRS = (("ada", "bob"), ("bob", "cyd"), ("ada", "cyd"))


def battle(question: str, number: int, verdict: Verdict | None, **changes: object) -> Battle:
    a, b = PAIRS[number % 3]
    decision = Decision(status="void" if verdict is None else "decided", verdict=verdict)
    fields = {"round": 1, "domain": "math", "replicate": number, "arm": "coupled", "decision": decision}
    return Battle.model_validate(
        {"id": f"{question}:{number}", "question": question, "a": a, "b": b, **fields, **changes}
    )


def judged(question: str, number: int, *stages: tuple[Verdict | None, ...]) -> Battle:
    opinions = [
        Opinion(judge=f"j{judge}", stage=stage, verdict=verdict, status="valid" if verdict else "failed")
        for stage, verdicts in enumerate(stages)
        for judge, verdict in enumerate(verdicts)
    ]
    return battle(question, number, "A", opinions=tuple(opinions))


def silent(side: Side) -> tuple[Turn, ...]:
    return (Turn(step=1, round=1, speaker=side, model="x", outcome="refused"),)


def standing(found: tuple[QuestionStanding, ...], question: str) -> QuestionStanding:
    return next(one for one in found if one.question == question)


def drawn(chances: list[float], battles: int, seed: int) -> tuple[QuestionStanding, ...]:
    """Return the standings of questions on which the better-rated model wins with these chances."""
    dice = np.random.default_rng(seed)
    return question_standings(
        [
            battle(f"q{q}", number, "A" if dice.random() < chance else "B")
            for q, chance in enumerate(chances)
            for number in range(battles)
        ],
        RATINGS,
    )


def test_a_question_on_which_the_better_rated_lose_is_harder_than_one_on_which_they_win() -> None:
    found = drawn([0.95] * 6 + [0.5] * 6 + [0.05], 60, seed=1)
    assert [one.question for one in named(found, "hardness", most=1)] == ["q12"]
    assert standing(found, "q12").hardness_reliability > 0.9
    hardness = [one.hardness for one in found if one.hardness is not None]
    assert max(hardness[:6]) < min(hardness[6:12]) < hardness[12]
    assert {one.question for one in named(found, "hardness", lowest=True)} <= {f"q{number}" for number in range(6)}


def test_what_is_missing_is_the_expected_score_less_the_one_that_was_made() -> None:
    values = [battle("q", 0, verdict) for verdict in ("A", "B", "tie")]
    (found,) = question_standings(values, RATINGS)
    expected = 1 / (1 + 10 ** (-100 / 400))
    assert found.hardness == pytest.approx(expected - 0.5)
    turned = [one.model_copy(update={"a": one.b, "b": one.a}) for one in values]
    assert question_standings(turned, RATINGS)[0].hardness == pytest.approx(expected - 0.5)


def test_a_debater_that_gives_no_answer_is_half_a_point_and_void_battles_of_judges_are_none() -> None:
    gave_up = Decision(status="forfeited", verdict="B", forfeited=("A",))
    (found,) = question_standings([battle("q", 0, "B", decision=gave_up)], RATINGS)
    assert (found.hardness, found.silent) == (0.5, 0.5)
    both = (*silent("A"), *silent("B"))
    (found,) = question_standings([battle("q", 0, None, turns=both)], RATINGS)
    assert (found.hardness, found.silent, found.battles) == (1.0, 1.0, 1)
    (found,) = question_standings([battle("q", 0, None)], RATINGS)
    assert (found.hardness, found.silent, found.battles) == (None, 0.0, 0)


def test_battles_of_models_without_a_rating_say_nothing_of_hardness() -> None:
    (found,) = question_standings([battle("q", 0, "A")], {"ada": 1000.0})
    assert found.hardness is None


def test_contested_is_where_judges_disagree_before_they_talk() -> None:
    even: tuple[Verdict | None, ...] = ("A", "B", "A", "B")
    sure: tuple[Verdict | None, ...] = ("A", "A", "A", "A")
    rows = [judged("torn", n, even, sure) for n in range(5)] + [judged("clear", n, sure, sure) for n in range(5)]
    found = question_standings(rows, RATINGS)
    assert standing(found, "torn").contested == pytest.approx(2 / 3)
    assert standing(found, "torn").changed == 0.5
    assert (standing(found, "clear").contested, standing(found, "clear").changed) == (0.0, 0.0)
    assert [one.question for one in named(found, "contested")] == ["torn"]


def test_a_judge_without_a_verdict_disagrees_with_nobody() -> None:
    (found,) = question_standings([judged("q", 0, ("A", None, None))], RATINGS)
    assert (found.contested, found.changed) == (None, None)
    (found,) = question_standings([judged("q", 0, ("A", None, "B"))], RATINGS)
    assert found.contested == 1.0


def test_chance_alone_names_no_question() -> None:
    named_runs = sum(bool(named(drawn([0.64] * 40, 12, seed), "hardness")) for seed in range(60))
    assert named_runs <= 3


def test_a_question_with_few_battles_is_never_named() -> None:
    many = [battle(f"q{q}", n, "A") for q in range(9) for n in range(12)]
    few = [battle("odd", n, "B") for n in range(FEWEST_BATTLES - 1)]
    assert named(question_standings([*many, *few], RATINGS), "hardness") == ()
    more = [battle("odd", n, "B") for n in range(FEWEST_BATTLES)]
    assert [one.question for one in named(question_standings([*many, *more], RATINGS), "hardness")] == ["odd"]


def test_fewer_values_are_drawn_closer_to_the_mean() -> None:
    found = shrunken([[1.0, 0.0] * 20, [1.0, 1.0, 0.0, 1.0] * 10, [0.0] * 40, [0.0] * 4])
    assert found[2] is not None
    assert found[3] is not None
    assert found[2].mean < found[3].mean
    assert found[2].reliability > found[3].reliability


def test_where_nothing_tells_chance_from_the_questions_every_mean_is_that_of_all() -> None:
    assert [group and group.mean for group in shrunken([[1.0], [0.0], []])] == [0.5, 0.5, None]
    assert [group and group.mean for group in shrunken([[1.0, 0.0], [0.0, 1.0]])] == [0.5, 0.5]
    assert shrunken([]) == ()
    assert shrunken([[], []]) == (None, None)


@given(st.lists(st.lists(st.floats(-0.5, 1), max_size=6), max_size=6))
def test_a_shrunken_mean_lies_between_its_own_and_that_of_all(groups: list[list[float]]) -> None:
    values = [value for group in groups for value in group]
    for group, found in zip(groups, shrunken(groups), strict=True):
        if found is None:
            assert not group
            continue
        own, overall = sum(group) / len(group), sum(values) / len(values)
        assert min(own, overall) - 1e-9 <= found.mean <= max(own, overall) + 1e-9
        assert 0 <= found.reliability <= 1


def test_the_order_of_battles_does_not_matter() -> None:
    rows = [battle(f"q{q}", n, "A" if (q * n) % 3 else "B") for q in range(5) for n in range(6)]
    first = {one.question: one.hardness for one in question_standings(rows, RATINGS)}
    again = {one.question: one.hardness for one in question_standings(reversed(rows), RATINGS)}
    assert again == pytest.approx(first)
    assert LEAST_RELIABILITY == 0.5
