"""Elo's ratings: points change hands, and the order of the battles matters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coupled_arena.errors import RatingError
from coupled_arena.ratings import RatingInput
from coupled_arena.ratings.elo import elo
from coupled_arena.ratings.table import Row

ROWS = st.lists(
    st.tuples(
        st.sampled_from([("a", "b"), ("b", "c"), ("c", "a")]), st.sampled_from([0.0, 0.5, 1.0]), st.floats(0.1, 2)
    ),
    min_size=1,
    max_size=30,
)


def table(rows: list[Row]) -> RatingInput:
    return RatingInput.from_rows(rows)


def plainly(rows: list[Row], k: float) -> dict[str, float]:
    ratings = dict.fromkeys("abc", 1000.0)
    for a, b, score, weight, _ in rows:
        gain = k * weight * (score - 1 / (1 + 10 ** ((ratings[b] - ratings[a]) / 400)))
        ratings[a], ratings[b] = ratings[a] + gain, ratings[b] - gain
    return ratings


@given(ROWS)
def test_it_is_the_textbook_rule_and_the_mean_stays(drawn: list[tuple[tuple[str, str], float, float]]) -> None:
    rows: list[Row] = [(a, b, score, weight, n) for n, ((a, b), score, weight) in enumerate(drawn)]
    found = elo(table(rows), k=20)
    expected = plainly(rows, 20)
    assert found == pytest.approx({name: expected[name] for name in found})
    assert sum(found.values()) / len(found) == pytest.approx(1000)


def test_the_order_of_the_battles_matters() -> None:
    rows: list[Row] = [("a", "b", 1.0, 1.0, 0), ("a", "b", 0.0, 1.0, 1)]
    assert elo(table(rows), k=32)["a"] < 1000 < elo(table(rows[::-1]), k=32)["a"]


def test_an_endless_winner_overflows_nothing() -> None:
    found = elo(table([("a", "b", 1.0, 1e6, n) for n in range(20)]), k=1e3)
    assert found["a"] - found["b"] > 1e6
    back = elo(table([("a", "b", 1.0, 1e9, 0), ("a", "b", 0.0, 1.0, 1)]), k=1e3)
    assert back["a"] < 1e12


@pytest.mark.parametrize("options", [{"k": 0.0}, {"k": float("nan")}, {"start": float("inf")}])
def test_numbers_that_make_no_sense_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(RatingError, match="finite number"):
        elo(table([("a", "b", 1.0, 1.0, 0)]), **options)
