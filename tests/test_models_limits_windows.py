"""Patterns of limits, and the sliding windows that hold a minute to them exactly."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coupled_arena.models.limits.limit import Limit, patterns_for
from coupled_arena.models.limits.windows import SPAN, SlidingWindow


@pytest.mark.parametrize(
    ("pattern", "fits"),
    [
        ("openai/mini", True),
        ("openai/*", True),
        ("*", True),
        ("*/m[a-k]ni", True),
        ("OpenAI/*", False),
        ("mini", False),
        ("openai/min", False),
    ],
)
def test_a_pattern_fits_the_whole_model_string_and_minds_case(pattern: str, fits: bool) -> None:
    assert bool(patterns_for("openai/mini", {pattern: Limit()})) is fits


def test_the_narrowest_pattern_comes_first_and_names_decide_between_equals() -> None:
    limits = {pattern: Limit() for pattern in ("*", "openai/*", "*ini", "o*ni")}
    assert patterns_for("openai/mini", limits) == ["openai/*", "*ini", "o*ni", "*"]


def test_a_window_forgets_after_exactly_a_minute() -> None:
    window = SlidingWindow(2)
    window.take(0.0, 1)
    window.take(30.0, 1)
    assert window.opens(59.999, 1) == 60.0
    assert window.opens(60.0, 1) == 60.0
    assert window.opens(60.0, 2) == 90.0


def test_an_amount_above_the_limit_waits_until_the_window_is_empty() -> None:
    window = SlidingWindow(10)
    assert window.opens(0.0, 99) == 0.0
    window.take(0.0, 99)
    assert window.opens(1.0, 1) == 60.0
    assert window.opens(60.0, 99) == 60.0
    window.take(60.0, 3)
    assert window.opens(61.0, 99) == 120.0


def test_a_corrected_amount_counts_as_corrected_and_not_after_its_minute() -> None:
    window = SlidingWindow(10)
    taken = window.take(0.0, 10)
    assert window.opens(1.0, 4) == 60.0
    taken.become(5)
    assert window.opens(1.0, 4) == 1.0
    assert window.opens(60.0, 10) == 60.0
    taken.become(100)
    assert (window.total, window.opens(61.0, 10)) == (0, 61.0)


@given(
    limit=st.integers(1, 5),
    steps=st.lists(st.tuples(st.floats(0, 40), st.integers(1, 4)), max_size=40),
)
def test_no_minute_holds_more_than_a_window_allows(limit: int, steps: Sequence[tuple[float, int]]) -> None:
    window, now = SlidingWindow(limit), 0.0
    taken: list[tuple[float, int]] = []
    for pause, amount in steps:
        now += pause
        for _ in range(100):
            opens = window.opens(now, amount)
            if opens <= now:
                break
            now = opens
        else:
            raise AssertionError("it never opened")
        window.take(now, amount)
        taken.append((now, amount))
    for start, _ in taken:
        inside = [amount for at, amount in taken if start <= at and at < start + SPAN]
        assert sum(inside) <= limit or len(inside) == 1
