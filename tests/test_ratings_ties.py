"""Davidson's tie model, and agreement with evalica under both tie models."""

import math

import evalica
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from coupled_arena.ratings import RatingInput, Ratings, rate
from coupled_arena.ratings.connectivity import comparable, ties_bounded
from coupled_arena.ratings.result import Ties
from coupled_arena.ratings.scale import POINTS, ends_of
from coupled_arena.ratings.score import score_of
from coupled_arena.ratings.table import Row

NAMES = tuple(f"m{index}" for index in range(8))


def played(battles: int, tie: float = 0.5, seed: int = 0) -> RatingInput:
    """Battles of eight models that follow Davidson's model, five of one question."""
    rng = np.random.default_rng(seed)
    strength = np.linspace(-1, 1, len(NAMES))
    a = rng.integers(0, len(NAMES), battles)
    b = (a + rng.integers(1, len(NAMES), battles)) % len(NAMES)
    odds = np.exp((strength[a] - strength[b]) / 2)
    total, drawn = odds + 1 / odds + tie, rng.random(battles)
    score = np.where(drawn * total < odds, 1.0, np.where(drawn * total < odds + tie, 0.5, 0.0))
    return RatingInput(NAMES, a, b, score, np.ones(battles), np.arange(battles) // 5)


def numbers(ratings: Ratings) -> list[float]:
    return [rating for rating in ratings.ratings if rating is not None]


@pytest.mark.parametrize("ties", ["half", "davidson"])
def test_ratings_agree_with_evalica(ties: Ties) -> None:
    table = played(4000)
    winners = {1.0: evalica.Winner.X, 0.0: evalica.Winner.Y, 0.5: evalica.Winner.Draw}
    xs, ys = ([NAMES[code] for code in side] for side in (table.a, table.b))
    who = [winners[score] for score in table.score]
    if ties == "half":
        scores = evalica.bradley_terry(xs, ys, who, tolerance=1e-12, limit=10_000).scores
    else:
        scores = evalica.newman(xs, ys, who, tolerance=1e-12, limit=10_000).scores
    log = np.log(scores.reindex(list(NAMES)).to_numpy())
    assert numbers(rate(table, ties=ties)) == pytest.approx(1000 + POINTS * (log - log.mean()), abs=1e-3)


def test_davidson_finds_the_truth_where_half_wins_shrink_it() -> None:
    table = played(20_000)
    found, half = rate(table, ties="davidson"), rate(table)
    truth = 2 * POINTS
    assert found.tie_parameter is not None and found.tie_se is not None
    assert abs(found.tie_parameter - 0.5) < 4 * found.tie_se < 0.1
    wide = found.difference("m7", "m0")
    assert wide.low is not None and wide.high is not None and wide.difference is not None
    assert wide.low < truth < wide.high
    assert (half.difference("m7", "m0").difference or 0) < 0.9 * truth
    assert found.ranking == half.ranking
    assert (half.tie_parameter, half.tie_se) == (None, None)
    assert "tie parameter 0.5" in repr(found)


def test_davidson_of_two_models_has_the_closed_form() -> None:
    rows: list[Row] = [("a", "b", s, 1, q) for q, s in enumerate([1] * 16 + [0] * 4 + [0.5] * 10)]
    found = rate(RatingInput.from_rows(rows), ties="davidson")
    assert found.difference("a", "b").difference == pytest.approx(POINTS * math.log(16 / 4))
    assert found.tie_parameter == pytest.approx(10 / math.sqrt(16 * 4))
    # The score of the fit is that of the battles, so its interval holds the difference.
    (pair,) = found.settled()
    assert pair.low is not None and pair.high is not None
    assert pair.low < (pair.difference or 0) < pair.high
    assert pair.resolved is (pair.low > 0) is score_of(RatingInput.from_rows(rows), "a", "b").settled


def test_without_ties_both_models_of_ties_are_one() -> None:
    table = played(500)
    plain = table.take(np.flatnonzero(table.score != 0.5))
    found = rate(plain, ties="davidson")
    assert numbers(found) == pytest.approx(numbers(rate(plain)))
    assert (found.tie_parameter, found.tie_se) == (0.0, None)


def test_nothing_but_ties_order_nobody_under_davidson() -> None:
    rows: list[Row] = [(a, b, 0.5, 1, q) for q in range(9) for a, b in (("a", "b"), ("b", "c"))]
    table = RatingInput.from_rows(rows)
    assert rate(table, ties="davidson").ratings == (None, None, None)
    found = rate(table, ties="davidson", prior="weak")
    assert numbers(found) == pytest.approx([1000] * 3)
    assert found.tie_parameter == math.inf


def test_wins_and_ties_without_a_loss_have_no_finite_ratings_under_davidson() -> None:
    rows: list[Row] = [("a", "b", score, 1, q) for q, score in enumerate([1] * 9 + [0.5] * 3)]
    table = RatingInput.from_rows(rows)
    assert None not in rate(table).ratings
    found = rate(table, ties="davidson")
    assert found.ratings == (None, None)
    assert found.comparable == (("a",), ("b",))
    (pair,) = found.settled()
    assert pair.line.startswith("a leads b [")
    assert pair.resolved
    assert None not in rate(table, ties="davidson", prior="weak").ratings


def cells(size: int, most: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(0, most), min_size=size * size, max_size=size * size)


@settings(max_examples=50)
@given(cells(3, 2), cells(3, 1))
def test_a_davidson_fit_is_finite_exactly_where_the_test_says_so(wins: list[int], ties: list[int]) -> None:
    won, tied = (np.array(entries, dtype=np.float64).reshape(3, 3) for entries in (wins, ties))
    for matrix in (won, tied):
        np.fill_diagonal(matrix, 0)
    tied = tied + tied.T
    assume(tied.any() and len(comparable(won + tied / 2)) == 1)
    rows: list[Row] = []
    for i in range(3):
        for j in range(3):
            rows += [(NAMES[i], NAMES[j], 1.0, 1.0, len(rows) + n) for n in range(int(won[i, j]))]
            rows += [(NAMES[i], NAMES[j], 0.5, 1.0, -1 - len(rows)) for _ in range(int(tied[i, j]) if i < j else 0)]
    found = rate(RatingInput.from_rows(rows), ties="davidson")
    assert (None not in found.ratings) is ties_bounded(won, tied)
    if found.tie_parameter is not None:
        assert found.converged
        assert max(map(abs, numbers(found))) < 1e5


def test_a_score_is_read_on_the_scale_of_the_tie_model() -> None:
    score = score_of(RatingInput.from_rows([("a", "b", s, 1, q) for q, s in enumerate([1, 1, 0, 0.5, 1])]), "a", "b")
    low, high = ends_of(score, 0.7)
    for end, share in ((low, score.low), (high, score.high)):
        root = math.exp((end or 0) / POINTS / 2)
        assert (root + 0.35) / (root + 1 / root + 0.7) == pytest.approx(share)
    assert ends_of(score) == pytest.approx([POINTS * math.log(s / (1 - s)) for s in (score.low or 0, score.high or 0)])
