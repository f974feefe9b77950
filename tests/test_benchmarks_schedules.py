"""The simulator behind `benchmarks/schedules.py`, in small: adaptive needs less than others and is rarely wrong."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from benchmarks import schedules
from coupled_arena.tournaments.schedules import Adaptive
from coupled_arena.tournaments.schedules.goals import Goal

STRENGTHS = np.array([3.0, 1.5, 0.2, 0.1, 0.0, -0.1, -0.2, -1.0])


def battles_for_the_top(plan: schedules.Plan, seed: int) -> float:
    goal, level = Goal(top=2), Adaptive().level(len(STRENGTHS))
    arena = schedules.Arena(STRENGTHS, 400, np.random.default_rng(seed))
    found = schedules.towards_top(arena, plan, goal, level, every=1)
    assert not schedules.is_false(arena, level)
    return math.inf if found is None else found


def test_the_best_take_an_adaptive_schedule_fewer_battles_than_swiss_or_round_robin() -> None:
    models = len(STRENGTHS)
    plans: dict[str, Callable[[], schedules.Plan]] = {
        "adaptive": lambda: schedules.adaptive(Goal(top=2), models, 8),
        "swiss": lambda: schedules.swiss(models, 8),
        "neighbours": lambda: schedules.neighbours(models, 8),
        "round robin": lambda: schedules.round_robin(models, 8),
    }
    mean = {name: np.mean([battles_for_the_top(plan(), seed) for seed in range(3)]) for name, plan in plans.items()}
    assert 2 * mean.pop("adaptive") < min(mean.values())


@pytest.mark.parametrize("field", schedules.FIELDS, ids=[field.name for field in schedules.FIELDS])
def test_hardly_anything_false_is_called_resolved(field: schedules.Field) -> None:
    found = schedules.errors(field, 12, 8, 24)
    # At 5 % a fourth false one in twelve has a chance of 1 in 500.
    assert found.false <= 3
    assert found.runs == 12


def test_the_upper_end_is_that_of_clopper_and_pearson() -> None:
    assert schedules.upper_end(0, 1000) == pytest.approx(1 - 0.05 ** (1 / 1000))
    assert schedules.upper_end(1, 2) == pytest.approx(math.sqrt(0.95))
    assert schedules.upper_end(50, 1000) == pytest.approx(0.0629, abs=2e-4)


def test_the_mean_of_curves_is_read_between_their_points() -> None:
    curves = [[(10, 0.0), (20, 1.0)], [(10, 0.5), (20, 1.0)]]
    assert schedules.first_at(curves, 0.625) == 15
    assert schedules.first_at(curves, 1.1) is None
