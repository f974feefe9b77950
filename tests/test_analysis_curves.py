"""The paper's resampling rule: replayed draw for draw, in closed form, and what it finds where there is nothing."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from coupled_arena.analysis.curves import error_curves, largest_gain, sample_sizes
from coupled_arena.errors import ConfigurationError


def by_definition(coupled: list[float], independent: list[float], n: int, repetitions: int) -> list[float]:
    """The published rule: a sample of n rows of each arm for every repetition, by pandas."""
    table = pd.DataFrame({"noise": ["c"] * len(coupled) + ["i"] * len(independent), "value": coupled + independent})
    means = table.groupby("noise")["value"].mean()
    apart = [
        (table.groupby("noise").sample(n, random_state=seed).groupby("noise")["value"].mean() - means).abs()
        for seed in range(repetitions)
    ]
    return list(pd.concat(apart, axis=1).mean(axis=1))


def exact(down: int, none: int, up: int, n: int) -> float:
    """Expected absolute error of the mean of n of these values -1, 0, 1, by counting all samples."""
    rows, ways = down + none + up, math.comb
    mean = (up - down) / rows
    total = sum(
        ways(up, x) * ways(down, y) * ways(none, n - x - y) * abs((x - y) / n - mean)
        for x in range(n + 1)
        for y in range(n + 1 - x)
    )
    return total / ways(rows, n)


def test_the_replay_is_the_published_rule_to_rounding() -> None:
    rng = np.random.default_rng(1)
    coupled, independent = rng.integers(-1, 2, 230).astype(float), rng.normal(size=230)
    sizes = [1, 20, 140, 230]
    curves = error_curves([coupled, independent], sizes=sizes, method="replay", repetitions=12)
    expected = np.array([by_definition(list(coupled), list(independent), n, 12) for n in sizes]).T
    np.testing.assert_allclose(curves, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("method", ["replay", "expected"])
def test_pairs_of_models_are_columns(method: str) -> None:
    values = np.random.default_rng(2).normal(size=(2, 90, 3))
    both = error_curves(list(values), method=method, repetitions=20)  # type: ignore[arg-type]
    assert both.shape == (2, len(sample_sizes(90)), 3)
    for column in range(3):
        alone = error_curves(list(values[:, :, column]), method=method, repetitions=20)  # type: ignore[arg-type]
        np.testing.assert_allclose(both[:, :, column], alone, rtol=0, atol=1e-12)


@given(st.integers(0, 30), st.integers(20, 120), st.integers(1, 40), st.integers(10, 40))
def test_the_closed_form_is_the_mean_over_all_samples(down: int, none: int, up: int, n: int) -> None:
    values = np.repeat([-1.0, 0.0, 1.0], [down, none, up])
    rows = len(values)
    n = min(n, rows - 10)
    spread = math.sqrt(n * (rows - n) / (rows - 1) * values.var())
    assume(spread >= 1)
    found = error_curves([values], sizes=[n])[0, 0]
    assert found == pytest.approx(exact(down, none, up, n), rel=0.005 if spread >= 2 else 0.05)


def test_the_closed_form_is_what_many_replays_tend_to() -> None:
    marks = np.random.default_rng(3).gamma(1.0, size=400)
    replayed = error_curves([marks], sizes=[20, 100, 380], method="replay", repetitions=2000)
    np.testing.assert_allclose(error_curves([marks], sizes=[20, 100, 380]), replayed, rtol=0.06)


@pytest.mark.parametrize("method", ["replay", "expected"])
def test_all_rows_have_no_error(method: str) -> None:
    found = error_curves([[0.0, 1.0, 0.0, 0.0]], sizes=[4], method=method)  # type: ignore[arg-type]
    assert found == pytest.approx(0, abs=1e-12)


def test_a_halved_variance_is_half_saved_by_the_rule_too() -> None:
    errors = 1 / np.sqrt(sample_sizes(8000))
    gain = largest_gain(errors / math.sqrt(2), errors, threshold=0.0001)
    assert gain == pytest.approx(0.5, abs=0.01)


def test_the_rule_finds_savings_where_nothing_is_shared() -> None:
    rng = np.random.default_rng(5)
    arms = [rng.integers(-1, 2, 2000).astype(float) for _ in range(2)]
    gain = largest_gain(*error_curves(arms, method="replay", repetitions=200))
    assert gain is not None and gain > 0.05


@given(st.lists(st.floats(0.01, 1), min_size=2, max_size=6), st.floats(0, 0.5))
def test_the_largest_gain_is_that_of_all_pairs(errors: list[float], threshold: float) -> None:
    own = [error * 1.1 for error in reversed(errors)]
    gains = [
        (i - c) / (i + 1)
        for c in range(1, len(errors))
        for i in range(len(own))
        if abs(errors[c] - own[i]) <= threshold * min(errors[c], own[i])
    ]
    assert largest_gain(errors, own, threshold=threshold) == (max(gains) if gains else None)


@pytest.mark.parametrize(
    ("arms", "sizes", "method", "key"),
    [
        ([], None, "expected", "arms"),
        ([[1.0, 2.0], [1.0]], None, "expected", "arms"),
        ([[1.0, math.nan]], None, "expected", "arms"),
        ([[1.0, 2.0]], [3], "expected", "sizes"),
        ([[1.0, 2.0]], [1], "bootstrap", "method"),
    ],
)
def test_what_has_no_curve_is_refused_by_name(
    arms: list[list[float]], sizes: list[int] | None, method: str, key: str
) -> None:
    with pytest.raises(ConfigurationError, match=f"error_curves: {key}"):
        error_curves(arms, sizes=sizes, method=method)  # type: ignore[arg-type]


@pytest.mark.parametrize("method", ["replay", "expected"])
def test_values_that_are_all_equal_have_no_error(method: str) -> None:
    assert not error_curves([[2.0] * 50], method=method, repetitions=5).any()  # type: ignore[arg-type]
