"""The fit and its intervals: against the textbook, a naive loop, invariances and simulation."""

import math
from collections.abc import Sequence
from importlib import import_module
from typing import get_args

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from coupled_arena.ratings import RatingInput, Ratings, rate
from coupled_arena.ratings import sandwich as summing
from coupled_arena.ratings.cells import Cells
from coupled_arena.ratings.connectivity import comparable
from coupled_arena.ratings.fit import Fit, fit
from coupled_arena.ratings.result import Ties
from coupled_arena.ratings.sandwich import sandwich
from coupled_arena.ratings.scale import POINTS
from coupled_arena.ratings.table import Cluster, Row

fitting = import_module("coupled_arena.ratings.fit")

TEXTBOOK = {
    ("A", "B"): 2,
    ("A", "D"): 1,
    ("B", "A"): 3,
    ("B", "C"): 5,
    ("C", "B"): 3,
    ("C", "D"): 1,
    ("D", "A"): 4,
    ("D", "C"): 3,
}
"""Wins of the worked example of the encyclopaedia's article on the Bradley-Terry model."""


def rows_of(wins: dict[tuple[str, str], int]) -> list[Row]:
    winners = [pair for pair, times in wins.items() for _ in range(times)]
    return [(a, b, 1.0, 1.0, question) for question, (a, b) in enumerate(winners)]


def simulated(rng: np.random.Generator, models: int = 5, questions: int = 30, per_question: int = 4) -> list[Row]:
    names = [f"m{index}" for index in range(models)]
    rows: list[Row] = []
    for question in range(questions):
        for _ in range(per_question):
            a, b = rng.choice(models, size=2, replace=False)
            score = float(rng.choice([0, 0.5, 1], p=[0.3, 0.2, 0.5] if a < b else [0.5, 0.2, 0.3]))
            rows.append((names[a], names[b], score, 1.0, question))
    return rows


def numbers(values: Sequence[float | None]) -> list[float]:
    assert all(value is not None for value in values)
    return [value for value in values if value is not None]


def rated(rows: list[Row]) -> Ratings:
    return rate(RatingInput.from_rows(rows))


def fit_wins(wins: NDArray[np.float64], virtual_ties: float) -> Fit:
    """The fit of a matrix of wins of row over column model."""
    a, b = np.triu_indices(len(wins), 1)
    met = wins[a, b] + wins[b, a]
    cells = Cells(len(wins), a, b, wins[a, b], np.zeros(len(a)), met, np.zeros((len(a), 0)))
    return fit(cells, virtual_ties=virtual_ties)


def covariance_of(table: RatingInput, found: Fit) -> NDArray[np.float64]:
    return sandwich(table, found, table.tally().code, np.zeros((len(table), 0))).matrix


def test_the_textbook_example_comes_out() -> None:
    ratings = rated(rows_of(TEXTBOOK))
    strengths = [10 ** ((rating - 1000) / 400) for rating in numbers(ratings.ratings)]
    assert strengths == pytest.approx([0.640, 1.043, 0.660, 2.270], abs=5e-4)
    assert sum(numbers(ratings.ratings)) == pytest.approx(4000)
    assert ratings.ranking == ("D", "B", "C", "A")
    assert ratings.converged


def test_two_models_have_the_closed_form_rating_and_standard_error() -> None:
    scores = [1, 1, 1, 0.5, 0, 1, 0.5, 0, 1, 1]
    ratings = rated([("a", "b", score, 1, question) for question, score in enumerate(scores)])
    mean = sum(scores) / len(scores)
    found = ratings.difference("a", "b")
    assert found.difference == pytest.approx(400 * math.log10(mean / (1 - mean)), abs=1e-7)
    error = math.sqrt(sum((score - mean) ** 2 for score in scores) / (len(scores) - 1) / len(scores))
    assert found.se == pytest.approx(POINTS * error / (mean * (1 - mean)), rel=1e-9)


def test_several_models_have_intervals_of_so_many_standard_errors() -> None:
    found = rated(simulated(np.random.default_rng(7), questions=10)).difference("m0", "m1")
    assert found.low is not None and found.high is not None
    assert (found.high - found.low) / 2 == pytest.approx(2.26215716 * (found.se or 0), rel=1e-7)


def minorise(wins: NDArray[np.float64]) -> list[float]:
    """Hunter's MM loop (2004), written plainly; log strengths of mean 0."""
    size = len(wins)
    gamma = [1.0] * size
    for _ in range(20_000):
        updated = [
            sum(wins[i]) / sum((wins[i, j] + wins[j, i]) / (gamma[i] + gamma[j]) for j in range(size) if j != i)
            for i in range(size)
        ]
        centre = math.exp(sum(map(math.log, updated)) / size)
        updated = [value / centre for value in updated]
        moved = max(abs(math.log(new / old)) for new, old in zip(updated, gamma, strict=True))
        gamma = updated
        if moved < 1e-13:
            break
    return [math.log(value) for value in gamma]


@given(st.integers(2, 5).flatmap(lambda size: st.lists(st.integers(0, 8), min_size=size**2, max_size=size**2)))
def test_newton_agrees_with_a_naive_loop(cells: list[int]) -> None:
    size = math.isqrt(len(cells))
    wins = np.array(cells, dtype=np.float64).reshape(size, size) / 2
    np.fill_diagonal(wins, 0)
    assume(len(comparable(wins)) == 1)
    found = fit_wins(wins, 0.0)
    assert found.converged
    assert found.strength.tolist() == pytest.approx(minorise(wins), abs=1e-7)


@given(
    st.integers(2, 6).flatmap(lambda size: st.lists(st.integers(0, 1000), min_size=size**2, max_size=size**2)),
    st.sampled_from([0.01, 1.0, 5.0]),
)
def test_a_prior_always_gives_a_finite_maximum(cells: list[int], virtual_ties: float) -> None:
    size = math.isqrt(len(cells))
    wins = np.array(cells, dtype=np.float64).reshape(size, size)
    np.fill_diagonal(wins, 0)
    found = fit_wins(wins, virtual_ties)
    assert found.converged
    assert np.isfinite(found.strength).all()
    assert found.strength.sum() == pytest.approx(0, abs=1e-9)


def test_a_long_chain_of_lopsided_pairs_converges() -> None:
    size = 30
    wins = np.zeros((size, size))
    for index in range(size - 1):
        wins[index, index + 1], wins[index + 1, index] = 1e6, 1
    found = fit_wins(wins, 0.0)
    assert found.converged
    assert np.diff(found.strength) == pytest.approx([-math.log(1e6)] * (size - 1), rel=1e-6)


def test_many_models_have_the_same_maximum_however_steps_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = simulated(np.random.default_rng(3), models=60, questions=600)
    for ties in get_args(Ties):
        direct = rate(RatingInput.from_rows(rows), ties=ties)
        with monkeypatch.context() as patched:
            patched.setattr(fitting, "_MANY", 2)
            found = rate(RatingInput.from_rows(rows), ties=ties)
            patched.setattr(fitting, "_MOST_ROUNDS", 1)
            again = rate(RatingInput.from_rows(rows), ties=ties)
        assert found.converged
        assert found.ratings == pytest.approx(numbers(direct.ratings), abs=1e-8)
        assert found.covariance == pytest.approx(direct.covariance, abs=1e-8)
        assert again.ratings == pytest.approx(numbers(direct.ratings), abs=1e-8)


@pytest.mark.parametrize("ties", get_args(Ties))
@pytest.mark.parametrize("per_question", [1, 4])
def test_few_battles_of_many_models_weigh_as_so_many_more(ties: Ties, per_question: int) -> None:
    few = simulated(np.random.default_rng(4), models=30, questions=600 // per_question, per_question=per_question)
    found = rate(RatingInput.from_rows([(*row[:3], 4.0, row[4]) for row in few]), ties=ties)
    many = rate(RatingInput.from_rows([row for row in few for _ in range(4)]), ties=ties)
    assert found.ratings == pytest.approx(numbers(many.ratings), abs=1e-8)
    assert found.covariance == pytest.approx(many.covariance, rel=1e-8, abs=1e-8)


def test_names_sides_and_row_order_never_matter() -> None:
    rng = np.random.default_rng(1)
    rows = simulated(rng)
    plain = rated(rows)
    swapped = rated([(b, a, 1 - score, weight, cluster) for a, b, score, weight, cluster in rows])
    shuffled = rated([rows[index] for index in rng.permutation(len(rows))])
    renamed = rated([(f"x{9 - int(a[1])}", f"x{9 - int(b[1])}", s, w, c) for a, b, s, w, c in rows])
    for other in (swapped, shuffled):
        assert numbers(other.ratings) == pytest.approx(numbers(plain.ratings), abs=1e-7)
        assert numbers(other.se) == pytest.approx(numbers(plain.se), rel=1e-9)
    assert numbers(renamed.ratings) == pytest.approx(numbers(plain.ratings)[::-1], abs=1e-7)
    assert numbers(renamed.se) == pytest.approx(numbers(plain.se)[::-1], rel=1e-9)


def test_twice_the_questions_give_the_same_ratings_and_smaller_errors() -> None:
    rows = simulated(np.random.default_rng(2), questions=200)
    again = [(a, b, score, weight, f"again {cluster}") for a, b, score, weight, cluster in rows]
    once, twice = rated(rows), rated([*rows, *again])
    assert numbers(twice.ratings) == pytest.approx(numbers(once.ratings), abs=1e-7)
    shrink = math.sqrt(2 * 399 / 400 * 200 / 199)
    assert [se * shrink for se in numbers(twice.se)] == pytest.approx(numbers(once.se), rel=1e-9)


def test_copies_of_a_battle_on_the_same_question_teach_nothing_new() -> None:
    rows = simulated(np.random.default_rng(2))
    once, copied = rated(rows), rated([row for row in rows for _ in range(3)])
    assert numbers(copied.ratings) == pytest.approx(numbers(once.ratings), abs=1e-7)
    assert numbers(copied.se) == pytest.approx(numbers(once.se), rel=1e-9)


def test_weights_count_as_so_many_battles() -> None:
    rows = simulated(np.random.default_rng(3))
    heavy = rated([(a, b, score, 2.0, cluster) for a, b, score, _, cluster in rows])
    copied = rated([row for row in rows for _ in range(2)])
    assert numbers(heavy.ratings) == pytest.approx(numbers(copied.ratings), abs=1e-7)
    assert numbers(heavy.se) == pytest.approx(numbers(copied.se), rel=1e-9)


def test_clusters_cover_where_independent_battles_do_not() -> None:
    """Five judges share a debate: 95 % intervals must cover, and those that treat votes as battles must not."""
    rng = np.random.default_rng(4)
    truth = 400 * math.log10(0.6 / 0.4)
    covered = {"question": 0, "battle": 0}
    trials = 400
    for _ in range(trials):
        rows: list[Row] = []
        for question in range(40):
            chance = 0.95 if rng.random() < (0.6 - 0.05) / 0.9 else 0.05
            rows += [("a", "b", float(rng.random() < chance), 1.0, question) for _ in range(5)]
        table = RatingInput.from_rows(rows)
        for cluster in get_args(Cluster):
            found = rate(table, cluster=cluster).difference("a", "b")
            assert found.low is not None and found.high is not None
            covered[cluster] += found.low <= truth <= found.high
    assert 0.92 <= covered["question"] / trials <= 0.98
    assert covered["battle"] / trials < 0.8


def jackknifed(table: RatingInput) -> NDArray[np.float64]:
    """The covariance written plainly: one Newton step without each cluster, spread about no step."""
    models = len(table.names)
    found = fit(Cells.of_pairs(table.tally()))
    clusters = sorted(set(table.cluster.tolist()))
    total = np.zeros((models, models))
    for cluster in clusters:
        score, information = np.zeros(models), np.zeros((models, models))
        for row in np.flatnonzero(table.cluster == cluster):
            direction = np.eye(models)[table.a[row]] - np.eye(models)[table.b[row]]
            chance = 1 / (1 + math.exp(-direction @ found.strength))
            score += table.weight[row] * (table.score[row] - chance) * direction
            information += table.weight[row] * chance * (1 - chance) * np.outer(direction, direction)
        step = np.linalg.solve(found.information - information, score)
        total += np.outer(step, step)
    return total * (len(clusters) - 1) / len(clusters)


def test_the_covariance_is_the_jackknife_over_questions_to_first_order() -> None:
    rng = np.random.default_rng(5)
    several = RatingInput.from_rows(simulated(rng, questions=12))
    panel = [(a, b, s, w, (q, a, b)) for a, b, s, w, q in simulated(rng, questions=12, per_question=2)]
    pairs = RatingInput.from_rows([row for row in panel for _ in range(2)])
    alone = RatingInput.from_rows([(*row[:4], index) for index, row in enumerate(simulated(rng, questions=10))])
    for table in (several, pairs, alone):
        assert np.allclose(covariance_of(table, fit(Cells.of_pairs(table.tally()))), jackknifed(table), rtol=1e-6)


def test_many_small_clusters_have_the_plain_sandwich() -> None:
    table = RatingInput.from_rows(simulated(np.random.default_rng(5), questions=400))
    found = fit(Cells.of_pairs(table.tally()))
    chance = 1 / (1 + np.exp(found.strength[table.b] - found.strength[table.a]))
    scores = np.zeros((400, 5))
    np.add.at(scores, (table.cluster, table.a), table.score - chance)
    np.add.at(scores, (table.cluster, table.b), chance - table.score)
    plain = found.bread @ scores.T @ scores @ found.bread * 400 / 399
    assert np.allclose(covariance_of(table, found), plain, rtol=1e-10)


@pytest.mark.parametrize("questions", [12, 60])
def test_the_covariance_does_not_depend_on_how_it_is_summed(monkeypatch: pytest.MonkeyPatch, questions: int) -> None:
    rng = np.random.default_rng(5)
    table = RatingInput.from_rows(simulated(rng, questions=questions))
    found = fit(Cells.of_pairs(table.tally()))
    whole = covariance_of(table, found)
    shuffled = table.take(rng.permutation(len(table)))
    monkeypatch.setattr(summing, "_MOST_CELLS", 5 * 7)
    monkeypatch.setattr(summing, "_MOST_ENTRIES", 5 * 5 * 2)
    assert np.allclose(covariance_of(table, found), whole, rtol=1e-12)
    assert np.allclose(covariance_of(shuffled, found), whole, rtol=1e-10)


def test_differences_use_the_covariance_of_both() -> None:
    ratings = rated(simulated(np.random.default_rng(6)))
    cov = ratings.covariance
    found = ratings.difference("m0", "m3")
    assert found.se == pytest.approx(math.sqrt(cov[0, 0] + cov[3, 3] - 2 * cov[0, 3]), rel=1e-12)
    assert numbers(ratings.se) == pytest.approx([math.sqrt(cov[i, i]) for i in range(5)])
    opposite = ratings.difference("m3", "m0")
    assert opposite.difference == pytest.approx(-(found.difference or 0))
    assert opposite.se == pytest.approx(found.se)
