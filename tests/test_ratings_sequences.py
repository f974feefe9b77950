"""Confidence sequences: right at every look together, exact where that can be counted out, fair to both models."""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coupled_arena.errors import RatingError
from coupled_arena.ratings.counting import more_until
from coupled_arena.ratings.sequences import BETS, capital, decided, mean_interval, more_scores, threshold

OUTCOMES = (1.0, 0.5, 0.0)
SCORES = st.lists(st.sampled_from([*OUTCOMES, 0.25, 0.75]), min_size=1, max_size=40)


def beta_moment(power: int) -> Fraction:
    """The expected power of a fraction of distribution Beta(1/2, 1/2)."""
    return Fraction(math.comb(2 * power, power), 4**power)


def exact_capital(wins: int, losses: int) -> Fraction:
    """What becomes of a stake of one at one half, by expanding (1 + c)^wins (1 - c)^losses; ties change nothing."""
    return sum(
        (
            math.comb(wins, i) * math.comb(losses, j) * (-1) ** j * beta_moment(i + j)
            for i in range(wins + 1)
            for j in range(losses + 1)
        ),
        Fraction(0),
    )


@pytest.mark.parametrize(("wins", "losses"), [(0, 0), (1, 0), (0, 1), (8, 0), (5, 3), (3, 5), (20, 10), (10, 10)])
@pytest.mark.parametrize("ties", [0, 7])
def test_at_one_half_the_capital_is_that_of_a_beta_mixture(wins: int, losses: int, ties: int) -> None:
    found = math.exp(float(capital(OUTCOMES, [wins, ties, losses])))
    assert math.isclose(found, exact_capital(wins, losses), rel_tol=1e-9)


@given(SCORES, st.floats(0.05, 0.95))
def test_the_capital_is_the_mean_over_bets_of_what_each_multiplies_its_stake_to(
    scores: list[float], mean: float
) -> None:
    fractions = [math.sin(math.pi * (2 * j + 1) / (4 * BETS)) ** 2 for j in range(BETS)]
    direct = sum(math.prod(1 + c * (x / mean - 1) for x in scores) for c in fractions) / BETS
    values, counts = np.unique(scores, return_counts=True)
    assert math.isclose(math.exp(float(capital(values, counts, mean))), direct, rel_tol=1e-9)


def false_alarms(questions: int, level: float) -> float:
    """The exact chance that fair battles are ever taken for one-sided within so many questions."""
    limit = threshold(level)
    lasting = {0: 1.0}
    alarmed = 0.0
    for asked in range(1, questions + 1):
        moved: dict[int, float] = {}
        for wins, chance in lasting.items():
            for won in (wins, wins + 1):
                moved[won] = moved.get(won, 0.0) + chance / 2
        lasting = {}
        for wins, chance in moved.items():
            sides = capital((1.0, 0.0), [[wins, asked - wins], [asked - wins, wins]])
            if float(sides.max()) >= limit:
                alarmed += chance
            else:
                lasting[wins] = chance
    return alarmed


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_looking_after_every_question_never_finds_a_difference_too_often_where_there_is_none(level: float) -> None:
    found = false_alarms(150, level)
    assert (1 - level) / 4 < found <= 1 - level


LAWS = {
    "fair": (0.5, 0.0, 0.5),
    "mostly ties": (0.05, 0.9, 0.05),
    "skewed": (0.9, 0.0, 0.1),
    "hardly ever": (0.02, 0.0, 0.98),
    "skewed with ties": (0.6, 0.3, 0.1),
}


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_the_intervals_of_all_looks_hold_the_mean_together(law: Sequence[float]) -> None:
    truth, level, runs = float(np.dot(law, OUTCOMES)), 0.9, 1_000
    drawn = np.random.default_rng(3).choice(3, size=(runs, 80), p=law)
    counts = np.stack([np.cumsum(drawn == kind, axis=1) for kind in range(3)], axis=-1)
    above = capital(OUTCOMES, counts, truth)
    below = capital([1 - x for x in OUTCOMES], counts, 1 - truth)
    missed = float((np.maximum(above, below).max(axis=1) >= threshold(level)).mean())
    assert missed <= 1 - level


@given(SCORES, st.sampled_from([0.5, 0.9, 0.95, 0.999]))
def test_the_interval_is_every_mean_that_no_bet_excludes(scores: list[float], level: float) -> None:
    low, high = mean_interval(scores, level)
    values, counts = np.unique(scores, return_counts=True)
    assert 0 <= low < high <= 1
    assert low <= np.mean(scores) <= high
    for mean in (0.01, 0.2, 0.5, 0.7, 0.99):
        sides = capital(values, counts, mean), capital(1 - values, counts, 1 - mean)
        inside = max(map(float, sides)) < threshold(level)
        assert inside is (low <= mean <= high) or min(abs(mean - low), abs(mean - high)) < 1e-9
    assert decided(scores, level) == (1 if low > 0.5 else -1 if high < 0.5 else 0)


@given(SCORES, st.randoms(use_true_random=False))
def test_neither_the_order_of_the_scores_nor_which_model_they_are_of_matters(
    scores: list[float], random: object
) -> None:
    shuffled = list(scores)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    low, high = mean_interval(scores)
    assert mean_interval(shuffled) == (low, high)
    turned = [1 - score for score in scores]
    assert mean_interval(turned) == pytest.approx((1 - high, 1 - low))
    assert decided(turned) == -decided(scores)
    assert more_scores(turned) == more_scores(scores)


@given(SCORES, st.integers(0, 39))
def test_a_better_score_never_lowers_either_end(scores: list[float], place: int) -> None:
    better = list(scores)
    better[place % len(scores)] = 1.0
    low, high = mean_interval(scores)
    raised = mean_interval(better)
    assert raised[0] >= low
    assert raised[1] >= high


@given(st.lists(st.sampled_from(OUTCOMES), min_size=1, max_size=12), st.sampled_from([0.8, 0.95]))
def test_so_many_more_scores_of_the_same_kind_decide_it(scores: list[float], level: float) -> None:
    more = more_scores(scores, level)
    if more is None:
        assert sum(scores) == len(scores) / 2
    elif more == 0:
        assert decided(scores, level)
    else:
        copies = math.ceil((len(scores) + more) / len(scores))
        assert decided(scores * copies, level)
        assert not decided(scores, level)


def test_eight_wins_in_a_row_decide_it_and_seven_do_not() -> None:
    assert [decided([1.0] * wins) for wins in (7, 8)] == [0, 1]
    assert exact_capital(7, 0) < 40 < exact_capital(8, 0)
    assert mean_interval([]) == (0.0, 1.0)
    assert (decided([]), more_scores([])) == (0, None)


def test_what_cannot_be_counted_out_is_not() -> None:
    assert more_scores([1.0, *[0.5] * 3_000_000]) is None
    assert more_until(lambda number: False, 3, 100) is None


@pytest.mark.parametrize("scores", [[-0.1], [1.1], [math.nan]])
def test_scores_outside_their_range_are_refused(scores: list[float]) -> None:
    with pytest.raises(RatingError, match="between 0 and 1"):
        mean_interval(scores)
    with pytest.raises(RatingError, match="level must lie between"):
        threshold(1.0)
