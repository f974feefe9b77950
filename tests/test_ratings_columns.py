"""Columns and data frames: what enters, what is refused, and that their order never matters."""

import math
from collections.abc import Hashable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coupled_arena.errors import RatingError
from coupled_arena.ratings import RatingInput, Ratings, rate
from coupled_arena.ratings.result import Ties
from coupled_arena.ratings.table import SCORE_OF, Row

FRAME = pd.DataFrame(
    {
        "a": ["ada", "bob", "ada", "eve"],
        "b": ["bob", "eve", "eve", "ada"],
        "verdict": ["A", "tie", "B", "void"],
        "question": ["q1", "q1", "q2", "q3"],
        "weight": [1.0, 0.5, 1.0, 1.0],
        "length": [10, -4, 0, 3],
    },
    index=[7, 7, 8, 9],
)


def changed(row: int, **values: Any) -> pd.DataFrame:
    frame = FRAME.reset_index(drop=True).astype(object)
    for column, value in values.items():
        frame.loc[row, column] = value
    return frame


def test_a_frame_becomes_columns_of_codes_without_its_void_rows() -> None:
    table = RatingInput.from_frame(FRAME, covariates=["length"], models=["zoe"])
    assert table.names == ("ada", "bob", "eve", "zoe")
    assert (table.a.tolist(), table.b.tolist()) == ([0, 1, 0], [1, 2, 2])
    assert (table.score.tolist(), table.weight.tolist()) == ([1.0, 0.5, 0.0], [1.0, 0.5, 1.0])
    assert (table.cluster[0] == table.cluster[1], table.clusters) == (True, 2)
    assert table.covariates["length"].tolist() == [10.0, -4.0, 0.0]


@pytest.mark.parametrize("models", [3, 256, 257, 600])
@pytest.mark.parametrize("battles", [4096, 4097, 9000])
def test_names_are_read_right_however_many_there_are(models: int, battles: int) -> None:
    names = [f"m{(7 * place) % models:03d}" for place in range(battles + 1)]
    table = RatingInput.from_columns(names[:-1], names[1:], ["A"] * battles)
    assert [table.names[code] for code in table.a] == names[:-1]
    assert [table.names[code] for code in table.b] == names[1:]


def test_columns_have_other_names_and_verdicts_other_words() -> None:
    frame = pd.DataFrame({"left": ["x", "y"], "right": ["y", "x"], "winner": ["model_a", "both bad"]})
    words: dict[Hashable, float | None] = {"model_a": 1.0, "both bad": 0.5}
    table = RatingInput.from_frame(frame, a="left", b="right", verdict="winner", verdicts=words)
    assert (table.score.tolist(), table.clusters) == ([1.0, 0.5], 2)
    assert RatingInput.from_frame(
        frame.assign(winner=[1, 0.5]), a="left", b="right", verdict="winner"
    ).score.tolist() == [
        1.0,
        0.5,
    ]


@pytest.mark.parametrize("kind", ["lists", "arrays", "series", "categories"])
def test_every_kind_of_column_is_read_alike(kind: str) -> None:
    a, b, verdict = ["x", "y", "z"], ["y", "z", "x"], ["A", "B", "tie"]
    as_kind: dict[str, Any] = {
        "lists": list,
        "arrays": lambda column: np.array(column, dtype=object),
        "series": pd.Series,
        "categories": lambda column: pd.Series(column, dtype="category"),
    }
    make = as_kind[kind]
    table = RatingInput.from_columns(make(a), make(b), make(verdict), question=np.array([100, 101, 100]))
    assert (table.names, table.a.tolist(), table.b.tolist()) == (("x", "y", "z"), [0, 1, 2], [1, 2, 0])
    assert (table.score.tolist(), table.cluster.tolist()) == ([1.0, 0.0, 0.5], [0, 1, 0])


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (changed(1, a=None), "row 2 of 4: the model on side A is missing"),
        (changed(2, b=float("nan")), "row 3 of 4: the model on side B is missing"),
        (changed(2, b=3), "row 3 of 4: the model on side B is 3, not a name"),
        (changed(0, b="ada"), "row 1 of 4: a model cannot meet itself"),
        (changed(2, verdict=None), "row 3 of 4: the verdict is missing"),
        (changed(1, verdict="C"), "row 2 of 4: unknown verdict 'C'; known are A, B, tie, 1, 0, 0.5, void"),
        (changed(1, question=None), "row 2 of 4: the question is missing"),
        (changed(0, weight="much"), "row 1 of 4: the weight is missing or no number"),
        (changed(0, weight=-1), "row 1 of 4: the weight must be finite and above 0"),
        (FRAME.drop(columns="verdict"), "no column 'verdict'; it has a, b, question, weight, length"),
    ],
)
def test_a_frame_that_cannot_be_rated_is_refused_by_its_row(frame: pd.DataFrame, message: str) -> None:
    with pytest.raises(RatingError, match=message):
        RatingInput.from_frame(frame)


def test_two_rows_of_one_battle_are_refused_where_a_key_is_given() -> None:
    twice = pd.concat([FRAME, FRAME.iloc[[1]]])
    assert len(RatingInput.from_frame(twice)) == 4
    with pytest.raises(RatingError, match="rows 2 and 5 are one battle: a bob, b eve, question q1; leave one out"):
        RatingInput.from_frame(twice, key=["a", "b", "question"])
    with pytest.raises(RatingError, match="no column 'replicate'"):
        RatingInput.from_frame(twice, key=["replicate"])


def test_columns_of_different_lengths_are_refused() -> None:
    with pytest.raises(RatingError, match="one length"):
        RatingInput.from_columns(["x"], ["y", "y"], ["A"])


Battles = list[tuple[int, int, str, int]]
battles = st.lists(
    st.tuples(st.integers(0, 3), st.integers(1, 3), st.sampled_from(["A", "B", "tie"]), st.integers(0, 11)),
    min_size=4,
    max_size=60,
)


def rated(rows: Battles, davidson: bool, names: str = "pqrs") -> Ratings:
    a, b = [names[row[0]] for row in rows], [names[(row[0] + row[1]) % 4] for row in rows]
    table = RatingInput.from_columns(a, b, [row[2] for row in rows], question=[row[3] for row in rows], models=names)
    return rate(table, ties="davidson" if davidson else "half", prior=0.5)


def same(one: Ratings, other: Ratings, factor: float = 1.0) -> None:
    for name in one.names:
        assert one.rating(name) == (None if other.rating(name) is None else pytest.approx(other.rating(name), abs=1e-5))
    for a, b in (("p", "q"), ("r", "s")):
        first, second = one.difference(a, b).se, other.difference(a, b).se
        assert (first is None) is (second is None)
        assert first is None or first * factor == pytest.approx(second, rel=1e-5, abs=1e-5)


@settings(max_examples=40)
@given(battles, st.booleans(), st.randoms(use_true_random=False))
def test_neither_order_nor_sides_nor_names_matter(rows: Battles, davidson: bool, random: Any) -> None:
    plain = rated(rows, davidson)
    turn = {"A": "B", "B": "A", "tie": "tie"}
    shuffled = random.sample(rows, len(rows))
    same(plain, rated(shuffled, davidson))
    same(plain, rated([((a + step) % 4, 4 - step, turn[verdict], q) for a, step, verdict, q in rows], davidson))
    renamed = rated(rows, davidson, "srqp")
    for old, new in zip("pqrs", "srqp", strict=True):
        value = plain.rating(old)
        assert renamed.rating(new) == (None if value is None else pytest.approx(value, abs=1e-5))


@pytest.mark.parametrize("ties", ["half", "davidson"])
def test_twice_the_data_have_the_same_ratings_and_errors_by_the_root_of_two(ties: Ties) -> None:
    rng = np.random.default_rng(3)
    rows: list[Row] = []
    for question in range(400):
        a, b = rng.choice(4, size=2, replace=False)
        rows.append(("pqrs"[a], "pqrs"[b], float(rng.choice([0, 0.5, 1])), 1.0, question))
    again: list[Row] = [(a, b, score, weight, ("again", question)) for a, b, score, weight, question in rows]
    once, twice = (rate(RatingInput.from_rows(battles), ties=ties) for battles in (rows, [*rows, *again]))
    for a, b in (("p", "q"), ("r", "s")):
        assert twice.difference(a, b).difference == pytest.approx(once.difference(a, b).difference, abs=1e-6)
        ratio = (once.difference(a, b).se or 0) / (twice.difference(a, b).se or 1)
        assert ratio == pytest.approx(math.sqrt(2), rel=0.01)


def test_void_battles_change_nothing() -> None:
    table = RatingInput.from_frame(FRAME)
    more = pd.concat([FRAME, FRAME.iloc[[0, 1]].assign(verdict="void")])
    again = RatingInput.from_frame(more)
    assert rate(again, prior="weak").ratings == rate(table, prior="weak").ratings
    assert SCORE_OF["void"] is None
