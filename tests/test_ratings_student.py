"""Student's t quantiles against a printed table."""

import math

import pytest

from coupled_arena.errors import RatingError
from coupled_arena.ratings.student import t_quantile


@pytest.mark.parametrize(
    ("probability", "degrees", "expected"),
    [
        (0.975, 1, 12.7062047362),
        (0.975, 2, 4.30265272975),
        (0.975, 3, 3.18244630528),
        (0.975, 5, 2.57058183661),
        (0.975, 10, 2.22813885196),
        (0.975, 30, 2.04227245630),
        (0.975, 100, 1.98397151845),
        (0.975, 1000, 1.96233908082),
        (0.9, 4, 1.53320627406),
        (0.995, 7, 3.49948329735),
        (0.9995, 20, 3.84951627298),
    ],
)
def test_quantiles_are_those_of_the_table(probability: float, degrees: int, expected: float) -> None:
    assert t_quantile(probability, degrees) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("probability", [0.6, 0.9, 0.975, 0.9999])
def test_one_and_two_degrees_follow_their_closed_forms(probability: float) -> None:
    assert t_quantile(probability, 1) == pytest.approx(math.tan(math.pi * (probability - 0.5)), rel=1e-9)
    centred = 2 * probability - 1
    assert t_quantile(probability, 2) == pytest.approx(centred * math.sqrt(2 / (1 - centred**2)), rel=1e-9)


@pytest.mark.parametrize("probability", [0.4, 1.0, 48.0, math.nan])
def test_a_probability_that_is_none_is_refused(probability: float) -> None:
    with pytest.raises(RatingError, match="a level is a share"):
        t_quantile(probability, 5)


def test_many_degrees_approach_the_normal_quantile() -> None:
    assert t_quantile(0.975, 1_000_000) == pytest.approx(1.959966, abs=1e-6)


def test_the_median_is_zero() -> None:
    assert t_quantile(0.5, 3) == pytest.approx(0, abs=1e-9)
