"""Agreement of two rankings, always on the models that both have."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coupled_arena.errors import RatingError
from coupled_arena.ratings import RatingInput, rate
from coupled_arena.ratings.rank_agreement import compare

NUMBERS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=9)


def ranks(values: list[float]) -> list[float]:
    return [
        sum(other < value for other in values) + (sum(other == value for other in values) + 1) / 2 for value in values
    ]


def pearson(a: list[float], b: list[float]) -> float:
    x, y = np.array(a) - np.mean(a), np.array(b) - np.mean(b)
    return float(x @ y / math.sqrt((x @ x) * (y @ y)))


def sides(drawn: list[tuple[int, int]]) -> tuple[dict[str, float], dict[str, float]]:
    first = {f"m{n}": float(a) for n, (a, _) in enumerate(drawn)}
    return first, {f"m{n}": float(b) for n, (_, b) in enumerate(drawn)}


@given(NUMBERS)
def test_the_measures_are_those_of_the_textbook(drawn: list[tuple[int, int]]) -> None:
    a, b = sides(drawn)
    found = compare(a, b)
    pairs = list(combinations(a, 2))
    same = sum((a[i] - a[j]) * (b[i] - b[j]) > 0 for i, j in pairs)
    other = sum((a[i] - a[j]) * (b[i] - b[j]) < 0 for i, j in pairs)
    untied = [sum(side[i] != side[j] for i, j in pairs) for side in (a, b)]
    if 0 in untied:
        assert found.kendall.value is None
        assert found.spearman.value is None
    else:
        assert found.kendall.value == pytest.approx((same - other) / math.sqrt(untied[0] * untied[1]))
        assert found.spearman.value == pytest.approx(pearson(ranks(list(a.values())), ranks(list(b.values()))))
    if untied[1]:
        level = sum(a[i] == a[j] and b[i] != b[j] for i, j in pairs)
        assert found.pairwise.value == pytest.approx((same + level / 2) / untied[1])


def test_both_sides_are_cut_to_the_models_they_share() -> None:
    ratings = rate(RatingInput.from_rows([("a", "b", float(n > 2), 1.0, n) for n in range(9)], models=["c", "d"]))
    found = compare(ratings, {"a": 2.0, "b": 1.0, "c": 3.0, "e": None, "f": 4.0})
    assert (found.models, found.only_ratings, found.only_reference) == (("a", "b"), (), ("c", "f"))
    assert found.pairwise.value == 1.0
    assert compare({"a": 1.0, "b": 2.0}, ratings).spearman.value == pytest.approx(-1)


def test_intervals_hold_the_value_and_shrink_with_more_models() -> None:
    def estimate(models: int) -> tuple[float, float, float]:
        generator = np.random.default_rng(1)
        truth = np.linspace(0, 3, models)
        noisy = truth + generator.normal(scale=0.6, size=models)
        found = compare(
            {f"m{n}": value for n, value in enumerate(noisy)},
            dict(zip(map("m{}".format, range(models)), truth, strict=True)),
        )
        assert found.kendall.value is not None
        assert found.kendall.low is not None
        assert found.kendall.high is not None
        return found.kendall.low, found.kendall.value, found.kendall.high

    few, many = estimate(10), estimate(80)
    assert few[0] < few[1] < few[2]
    assert many[2] - many[0] < (few[2] - few[0]) / 2
    assert estimate(10) == few


def test_intervals_cover() -> None:
    generator = np.random.default_rng(2)
    # Two correlated normal numbers per model: tau is 2 arcsin(r) / pi.
    correlation, covered = 0.8, 0
    for _ in range(50):
        x = generator.normal(size=40)
        y = correlation * x + math.sqrt(1 - correlation**2) * generator.normal(size=40)
        found = compare(dict(enumerate_names(x)), dict(enumerate_names(y))).kendall
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= 2 * math.asin(correlation) / math.pi <= found.high
    assert covered / 50 >= 0.84


def enumerate_names(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> list[tuple[str, float]]:
    return [(f"m{n}", float(value)) for n, value in enumerate(values)]


@pytest.mark.parametrize("side", [{}, {"a": 1.0}, {"a": 1.0, "b": 1.0}])
def test_what_orders_nothing_agrees_with_nothing(side: dict[str, float]) -> None:
    found = compare(side, side)
    assert found.spearman == found.kendall == found.pairwise == (None, None, None)


def test_three_models_are_too_few_for_an_interval() -> None:
    found = compare({"a": 1.0, "b": 2.0, "c": 3.0}, {"a": 1.0, "b": 2.0, "c": 3.0})
    assert found.kendall.value == pytest.approx(1)
    assert (found.kendall.low, found.kendall.high) == (None, None)


def test_numbers_that_are_none_are_refused() -> None:
    with pytest.raises(RatingError, match=r"the reference must be finite numbers or None, which b has not"):
        compare({"a": 1.0, "b": 2.0}, {"a": 1.0, "b": float("nan")})
    with pytest.raises(RatingError, match="level must lie"):
        compare({"a": 1.0}, {"a": 1.0}, level=0)
