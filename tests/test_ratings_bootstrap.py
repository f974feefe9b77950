"""The cluster bootstrap: the closed form's answer in large samples, and no replicate lost unseen."""

from dataclasses import replace
from importlib import import_module
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from coupled_arena.errors import RatingError
from coupled_arena.ratings import Effect, RatingInput, Ratings, rate
from coupled_arena.ratings.bootstrap import Bootstrap, bootstrap
from coupled_arena.ratings.table import Row

module = import_module("coupled_arena.ratings.redraw")


def votes(questions: int, each: int, seed: int = 0, models: str = "abcd") -> list[Row]:
    """Return several votes on one debate of every pair a question, which share the debate's quality."""
    generator = np.random.default_rng(seed)
    rows: list[Row] = []
    pairs = list(combinations(models, 2))
    for question in range(questions):
        a, b = pairs[question % len(pairs)]
        lean = generator.normal(loc=0.3 * (models.index(b) - models.index(a)))
        won = generator.random(each) < 1 / (1 + np.exp(-lean))
        rows += [(a, b, float(vote), 1.0, question) for vote in won]
    return rows


def both(rows: list[Row], replicates: int = 400, **options: Any) -> tuple[Ratings, Bootstrap]:
    table = RatingInput.from_rows(rows)
    ratings = rate(table, **options)
    return ratings, bootstrap(table, ratings, replicates=replicates)


def numbers(values: tuple[float | None, ...]) -> list[float]:
    assert None not in values
    return [value for value in values if value is not None]


@pytest.mark.parametrize("each", [1, 5])
def test_it_says_what_the_closed_form_says(each: int) -> None:
    ratings, found = both(votes(600, each))
    assert found.lost == 0
    assert numbers(found.se) == pytest.approx(numbers(ratings.se), rel=0.15)
    assert numbers(found.low) == pytest.approx(numbers(ratings.low), abs=8)
    assert numbers(found.high) == pytest.approx(numbers(ratings.high), abs=8)
    assert found.draws.mean(axis=0) == pytest.approx(numbers(ratings.ratings), abs=5)


def test_every_replicate_is_the_fit_of_its_own_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_CELLS", 100)
    rows = votes(60, 1)
    table = RatingInput.from_rows(rows)
    for prior in (0.0, 1.0):
        ratings = rate(table, prior=prior)
        found = bootstrap(table, ratings, replicates=10, seed=3)
        drawn = list(module.redrawn(table, 10, np.random.default_rng(3)))
        assert len(drawn) > 1
        for wins, own in zip(np.concatenate(drawn), found.draws, strict=True):
            again = [
                (table.names[a], table.names[b], 1.0, float(wins[a, b]), n)
                for n, (a, b) in enumerate(np.argwhere(wins > 0).tolist())
            ]
            assert wins.sum() == pytest.approx(60)
            if not np.isnan(own).any():
                assert own == pytest.approx(rate(RatingInput.from_rows(again), prior=prior).within, abs=1e-4)


def test_one_seed_draws_one_sample_however_it_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    table = RatingInput.from_rows(votes(40, 3))
    ratings = rate(table)
    whole = bootstrap(table, ratings, replicates=20)
    monkeypatch.setattr(module, "_MOST_CELLS", 1)
    assert bootstrap(table, ratings, replicates=20).draws == pytest.approx(whole.draws, nan_ok=True)
    assert not np.allclose(bootstrap(table, ratings, replicates=20, seed=1).draws, whole.draws, equal_nan=True)


@pytest.mark.parametrize("weight", [1.0, 0.3])
def test_clusters_of_one_pair_and_of_several_are_drawn_alike(monkeypatch: pytest.MonkeyPatch, weight: float) -> None:
    rows = votes(40, 3) + [(*row[:4], 100 + place % 7) for place, row in enumerate(votes(40, 2, seed=1))]
    table = RatingInput.from_rows([(a, b, score, weight, cluster) for a, b, score, _, cluster in rows])
    found = np.concatenate(list(module.redrawn(table, 3000, np.random.default_rng(0))))
    assert found.mean(axis=0) == pytest.approx(table.wins(), rel=0.05, abs=0.1)
    monkeypatch.setattr(module, "_MOST_DENSE", 0)
    again = np.concatenate(list(module.redrawn(table, 3000, np.random.default_rng(0))))
    assert again == pytest.approx(found, abs=1e-9)


def test_battles_of_one_cluster_are_redrawn_together() -> None:
    rows = votes(30, 20)
    _, together = both(rows)
    _, apart = both([(a, b, score, weight, n) for n, (a, b, score, weight, _) in enumerate(rows)])
    assert min(numbers(together.se)) > 1.5 * max(numbers(apart.se))


def test_lost_replicates_are_counted_and_open_the_interval() -> None:
    rows: list[Row] = [("a", "b", float(question > 0), 1.0, question) for question in range(12)]
    ratings, found = both(rows)
    assert found.lost / found.replicates == pytest.approx((11 / 12) ** 12, abs=0.08)
    assert np.isnan(found.draws).all(axis=1).sum() == found.lost
    assert (found.low, found.high) == ((None, None), (None, None))
    assert ratings.comparable == (("a", "b"),)


def test_a_model_that_nothing_compares_has_no_draws_and_loses_none() -> None:
    rows = votes(200, 1, models="bcd")
    rows += [("a", name, 1.0, 1.0, 1000 + n) for n, name in enumerate("bcd" * 5)]
    _, found = both(rows, 50)
    assert found.lost == 0
    assert (found.se[0], found.low[0], found.high[0]) == (None, None, None)
    assert np.isnan(found.draws[:, 0]).all()
    assert None not in found.low[1:]


def test_a_prior_loses_nothing() -> None:
    rows: list[Row] = [("a", "b", 1.0, 1.0, question) for question in range(12)]
    _, found = both(rows, 50, prior="weak")
    assert found.lost == 0
    assert numbers(found.se) == pytest.approx([0, 0], abs=1e-6)


def test_what_was_not_rated_so_is_refused() -> None:
    table = RatingInput.from_rows(votes(12, 1))
    ratings = rate(table)
    with pytest.raises(RatingError, match="at least 1"):
        bootstrap(table, ratings, replicates=0)
    with pytest.raises(RatingError, match="of other models"):
        bootstrap(RatingInput.from_rows(votes(12, 1, models="bcd")), ratings)
    with pytest.raises(RatingError, match="half wins"):
        bootstrap(table, replace(ratings, ties="davidson"))
    with pytest.raises(RatingError, match="refits no covariates"):
        bootstrap(table, replace(ratings, effects=(Effect("side", 0.1, None, None, None),)))
    with pytest.raises(RatingError, match="no battles"):
        bootstrap(RatingInput.from_rows([], models=["a"]), rate(RatingInput.from_rows([], models=["a"])))
