"""Plans that keep what they promise."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coupled_arena.errors import RatingError
from coupled_arena.ratings import RatingInput, rate
from coupled_arena.ratings.power import power
from coupled_arena.ratings.table import Row


def battles(gap: float, questions: int, generator: np.random.Generator, ties: float = 0.0) -> RatingInput:
    chance = 1 / (1 + 10 ** (-gap / 400))
    level = generator.random(questions) < ties
    won = generator.random(questions) < (chance - ties / 2) / (1 - ties)
    scores = np.where(level, 0.5, won)
    return RatingInput.from_rows([("a", "b", float(score), 1.0, n) for n, score in enumerate(scores)])


@pytest.mark.parametrize(("gap", "ties"), [(120.0, 0.0), (80.0, 0.3)])
def test_so_many_questions_resolve_the_gap_as_often_as_planned(gap: float, ties: float) -> None:
    plan, generator = power(gap, ties=ties), np.random.default_rng(11)
    resolved = [rate(battles(gap, plan.questions, generator, ties)).settled()[0].resolved for _ in range(400)]
    assert np.mean(resolved) == pytest.approx(0.8, abs=0.06)


@settings(max_examples=20, deadline=None)
@given(st.floats(10, 400), st.floats(0.5, 0.95), st.floats(0, 0.8))
def test_the_gap_of_a_number_of_questions_is_the_inverse(gap: float, chance: float, saved: float) -> None:
    plan = power(gap, power=chance, saved=saved)
    back = power(questions=plan.questions, power=chance, saved=saved)
    assert back.gap <= gap + 0.02
    if plan.questions > 4:
        assert power(questions=plan.questions - 1, power=chance, saved=saved).gap > gap - 0.02


def test_what_shared_dice_save_is_saved() -> None:
    assert power(30, saved=0.5).questions == pytest.approx(power(30).questions / 2, rel=0.01)


def test_a_pilot_tells_what_a_question_says() -> None:
    generator = np.random.default_rng(5)
    rows: list[Row] = []
    for question in range(400):
        chance = 1 / (1 + math.exp(-0.4 - generator.normal()))
        rows += [("a", "b", float(generator.random() < chance), 1.0, question) for _ in range(5)]
    pilot = rate(RatingInput.from_rows(rows))
    plan = power(60, pilot=pilot)
    se = pilot.difference("a", "b").se
    assert se is not None
    assert plan == power(60, pilot=pilot, pair=("b", "a"))
    assert 400 * (1.96 + 0.84) ** 2 * (se / 60) ** 2 == pytest.approx(plan.questions, rel=0.03)
    assert plan.questions < power(60).questions


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "either the gap"),
        ({"gap": 10.0, "questions": 10}, "either the gap"),
        ({"gap": -1.0}, "gap must be"),
        ({"questions": 2}, "questions must be at least 3"),
        ({"gap": 10.0, "power": 0.4}, "power must be at least 0.5"),
        ({"gap": 10.0, "level": 1.0}, "level must lie"),
        ({"gap": 10.0, "saved": 1.0}, "saved must be"),
        ({"gap": 10.0, "ties": -0.1}, "ties must be"),
        ({"gap": 1e-3}, "more than 100,000,000 questions"),
        ({"questions": 3, "level": 0.99999}, "resolve no gap"),
    ],
)
def test_what_cannot_be_planned_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(RatingError, match=message):
        power(**options)


def test_a_pilot_without_intervals_is_refused() -> None:
    pilot = rate(RatingInput.from_rows([("a", "b", 1.0, 1.0, 0), ("b", "a", 1.0, 1.0, 1)]))
    with pytest.raises(RatingError, match="no interval for any two models"):
        power(50, pilot=pilot)
