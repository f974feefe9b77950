"""Rank intervals that hold together, and the set that holds the best model."""

from importlib import import_module
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coupled_arena.errors import RatingError
from coupled_arena.ratings import RatingInput, Ratings, rate
from coupled_arena.ratings.ranks import Rank, ranks, top_set
from coupled_arena.ratings.table import Row

module = import_module("coupled_arena.ratings.ranks")


def everybody(strength: dict[str, float], questions: int, seed: int) -> list[Row]:
    """Return battles of all pairs on every question; what the question does to a model is shared by its battles."""
    generator = np.random.default_rng(seed)
    rows: list[Row] = []
    for question in range(questions):
        moved = {name: value + generator.normal(scale=0.5) for name, value in strength.items()}
        for a, b in combinations(strength, 2):
            won = generator.random() < 1 / (1 + np.exp(moved[b] - moved[a]))
            rows.append((a, b, float(won), 1.0, question))
    return rows


def rated(rows: list[Row], **options: float) -> Ratings:
    return rate(RatingInput.from_rows(rows), **options)  # type: ignore[arg-type]


def truth(strength: dict[str, float]) -> dict[str, tuple[int, int]]:
    """Return the ranks a model truly has: with level models, all that they share."""
    values = strength.values()
    return {
        name: (1 + sum(other > own for other in values), sum(other >= own for other in values))
        for name, own in strength.items()
    }


def test_rank_intervals_and_the_top_set_cover_at_least_as_often_as_they_say() -> None:
    strength = {"a": 0.6, "b": 0.6, "c": 0.3, "d": 0.0, "e": -0.4}
    right, holds, runs = 0, 0, 60
    for seed in range(runs):
        found = rated(everybody(strength, 30, seed))
        rows = ranks(found).rows
        right += all(
            row.low is not None and row.high is not None and row.low <= low and high <= row.high
            for row, (low, high) in zip(rows, truth(strength).values(), strict=True)
        )
        holds += bool({"a", "b"} & set(top_set(found)))
    assert right / runs >= 0.9
    assert holds / runs >= 0.9


def test_many_questions_leave_one_rank_and_few_leave_all() -> None:
    strength = {"a": 2.0, "b": 0.0, "c": -2.0}
    many, few = (ranks(rated(everybody(strength, questions, 1), prior=1.0)) for questions in (200, 4))
    assert [(row.low, row.high) for row in many.rows] == [(1, 1), (2, 2), (3, 3)]
    assert many.of("a").best == pytest.approx(1)
    widths = [row.high - row.low for row in few.rows if row.low is not None and row.high is not None]
    assert max(widths) > 0
    with pytest.raises(RatingError, match="no model named 'x'"):
        many.of("x")


def test_the_chances_to_be_best_add_up_to_one() -> None:
    found = ranks(rated(everybody({"a": 0.2, "b": 0.1, "c": 0.0}, 20, 3)))
    assert sum(row.best or 0 for row in found.rows) == pytest.approx(1)
    assert "6 ordered pairs" in found.multiplicity


def test_ratings_answer_for_themselves() -> None:
    found = rated(everybody({"a": 1.0, "b": 0.1, "c": 0.0}, 40, 3))
    assert found.ranks() == ranks(found)
    assert found.top_set(0.5) == top_set(found, 0.5)
    assert set(found.top_set(0.5)) <= set(found.top_set(0.999))


def test_there_are_no_ranks_where_clusters_do_not_outnumber_models() -> None:
    rows: list[Row] = [("a", "b", float(n % 2), 1.0, n % 3) for n in range(9)]
    rows += [("b", "c", float(n % 2), 1.0, n % 3) for n in range(9)]
    found = rated(rows)
    assert {row[1:] for row in ranks(found).rows} == {(None, None, None)}
    assert set(top_set(found)) == {"a", "b", "c"}


def test_a_model_that_cannot_be_compared_takes_no_rank_and_changes_none() -> None:
    core = everybody({"b": 0.8, "c": 0.0, "d": -0.5}, 40, 5)
    alone = ranks(rated(core))
    found = rated([*core, *(("a", name, 1.0, 1.0, question) for name in "bcd" for question in range(40))])
    assert ranks(found).of("a") == Rank("a", None, None, None)
    assert [row[:3] for row in ranks(found).rows[1:]] == [row[:3] for row in alone.rows]
    assert set(top_set(found)) == {"a", *top_set(rated(core))}


def test_a_model_that_a_single_question_connects_has_no_rank_and_may_be_the_best() -> None:
    core = everybody({"b": 0.8, "c": 0.0, "d": -2.0}, 60, 5)
    found = rated([*core, ("a", "b", 1.0, 1.0, 99), ("b", "a", 1.0, 1.0, 99)])
    assert found.degrees[0] is None
    assert ranks(found).of("a") == Rank("a", None, None, None)
    assert {row.best for row in ranks(found).rows} == {None}
    assert ranks(found).of("d")[1:3] == (3, 4)
    assert "a" in top_set(found)


def test_battles_that_do_not_vary_order_nothing() -> None:
    found = rated([(a, b, 0.5, 1.0, question) for question in range(9) for a, b in combinations("abc", 2)])
    assert {row[1:] for row in ranks(found).rows} == {(None, None, None)}
    assert top_set(found) == ("a", "b", "c")


def test_two_models_are_ranked_as_their_score_says() -> None:
    swept = rated([("a", "b", 1.0, 1.0, question) for question in range(20)])
    assert [row[:3] for row in ranks(swept).rows] == [("a", 1, 1), ("b", 2, 2)]
    assert top_set(swept) == ("a",)
    level = rated([("a", "b", float(question % 2), 1.0, question) for question in range(20)])
    assert [row[:3] for row in ranks(level).rows] == [("a", 1, 2), ("b", 1, 2)]
    assert set(top_set(level)) == {"a", "b"}


def test_a_group_too_large_to_draw_takes_holms_values_and_agrees(monkeypatch: pytest.MonkeyPatch) -> None:
    found = rated(everybody({"a": 1.5, "b": 0.0, "c": -1.5}, 60, 2))
    drawn = ranks(found)
    monkeypatch.setattr(module, "MOST_DRAWN", 2)
    module._dice.cache_clear()
    by_holm = ranks(found)
    module._dice.cache_clear()
    assert by_holm.multiplicity.startswith("Holm")
    assert [row[:3] for row in by_holm.rows] == [row[:3] for row in drawn.rows]


def test_a_level_out_of_range_is_refused() -> None:
    found = rated(everybody({"a": 0.5, "b": 0.0}, 10, 1))
    with pytest.raises(RatingError, match="level must lie between 0 and 1"):
        top_set(found, 1.0)


@settings(max_examples=10, deadline=None)
@given(st.permutations(["a", "b", "c", "d"]))
def test_ranks_do_not_depend_on_the_names(names: list[str]) -> None:
    rows = everybody({"a": 0.9, "b": 0.2, "c": 0.0, "d": -0.9}, 30, 4)
    new = dict(zip("abcd", names, strict=True))
    before = ranks(rated(rows))
    after = ranks(rated([(new[a], new[b], *rest) for a, b, *rest in rows]))  # type: ignore[misc]
    for row in before.rows:
        twin = after.of(new[row.model])
        assert twin.best == pytest.approx(row.best, abs=0.03)
        assert (twin.low, twin.high) == (row.low, row.high)
