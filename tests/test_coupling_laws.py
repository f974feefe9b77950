"""The exact joint law of two models that share their dice, against enumeration, symmetry and the sampler itself."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from coupled_arena.coupling import Sampler, Sampling, Vocabulary, noise_key
from coupled_arena.coupling.laws import independent_law, joint_law, win_rates
from coupled_arena.errors import ConfigurationError

RIGHT = np.array([[0.4, 1.0], [0.48, 0.9], [0.5, 0.89]])
EXAMPLE = np.stack([RIGHT, 1 - RIGHT], axis=-1)
SCORES = [[1, 0], [1, 0]]


@st.composite
def laws(draw: st.DrawFn, *, models: int = 2, zeros: bool = True) -> list[NDArray[np.float64]]:
    answers = draw(st.integers(1, 7))
    least = 0 if zeros else 1
    found = []
    for _ in range(models):
        weights = draw(st.lists(st.integers(least, 1000), min_size=answers, max_size=answers).filter(any))
        found.append(np.array(weights) / sum(weights))
    return found


@given(laws())
def test_each_model_keeps_its_own_law(pair: list[NDArray[np.float64]]) -> None:
    p, q = pair
    joint = joint_law(p, q)
    assert (joint >= 0).all()
    np.testing.assert_allclose(joint.sum(axis=1), p, rtol=0, atol=1e-12)
    np.testing.assert_allclose(joint.sum(axis=0), q, rtol=0, atol=1e-12)


@given(laws())
def test_exchanging_the_models_exchanges_the_axes(pair: list[NDArray[np.float64]]) -> None:
    p, q = pair
    np.testing.assert_allclose(joint_law(p, q), joint_law(q, p).T, rtol=0, atol=1e-12)


@given(laws())
def test_equal_models_always_agree(pair: list[NDArray[np.float64]]) -> None:
    np.testing.assert_allclose(joint_law(pair[0], pair[0]), np.diag(pair[0]), rtol=0, atol=1e-12)


@given(laws(zeros=False))
def test_two_models_agree_more_often_than_without_shared_dice(pair: list[NDArray[np.float64]]) -> None:
    p, q = pair
    together, apart = np.diag(joint_law(p, q)), np.diag(independent_law(p, q))
    distance = np.abs(p - q).sum() / 2
    assert (together >= apart - 1e-15).all()
    assert (1 - distance) / (1 + distance) - 1e-12 <= together.sum() <= 1 - distance + 1e-12


@given(laws(), st.integers(0, 6), st.integers(0, 6))
def test_what_gains_probability_never_loses_to_what_loses(pair: list[NDArray[np.float64]], i: int, j: int) -> None:
    """Counterfactual stability (arXiv 2502.01754, definition 1)."""
    p, q = pair
    i, j = i % len(p), j % len(p)
    if i != j and q[i] * p[j] >= q[j] * p[i]:
        assert joint_law(p, q)[i, j] <= 1e-15


def test_three_answers_against_the_integral_in_exact_arithmetic() -> None:
    """One cut, at t = 2/3 of [1/3, 3]: both pieces of 1 / (A + B t)**2 by hand."""
    p, q = [Fraction(3, 6), Fraction(1, 6), Fraction(2, 6)], [Fraction(1, 8), Fraction(3, 8), Fraction(4, 8)]
    low, high = p[1] / p[0], q[1] / q[0]
    cut = p[2] / p[0] * q[1] / q[2]

    def piece(constant: Fraction, slope: Fraction, start: Fraction, end: Fraction) -> Fraction:
        return (end - start) / ((constant + slope * start) * (constant + slope * end))

    exact = piece(1 + p[2] / p[0], Fraction(1), low, cut) + piece(Fraction(1), 1 + q[2] / q[1], cut, high)
    assert low < cut < high
    joint = joint_law([float(x) for x in p], [float(x) for x in q])
    assert joint[0, 1] == pytest.approx(float(exact), abs=1e-15)


def test_the_sampler_draws_two_models_together_as_often_as_the_law_says() -> None:
    p, q = np.array([0.5, 0.2, 0.25, 0.05]), np.array([0.2, 0.4, 0.1, 0.3])
    sampler = Sampler(Vocabulary([b"a", b"b", b"c", b"d"], []))
    draws, seen = 20_000, np.zeros((4, 4))
    with np.errstate(divide="ignore"):
        rows = [np.log(law).astype(np.float32) for law in (p, q)]
    for number in range(draws):
        key = noise_key(seed=number, scope=("law",), role=(), label=(), part="whole")
        i, j = (sampler.draw(row, Sampling(1.0), key, 0).token for row in rows)
        seen[i, j] += 1
    expected = joint_law(p, q)
    assert (seen[expected == 0] == 0).all()
    errors = np.sqrt(expected * (1 - expected) * draws)
    possible = errors > 0
    # A family-wise level of 1e-4 over at most 16 cells.
    assert (np.abs(seen - expected * draws)[possible] / errors[possible]).max() < 4.7


def test_the_ranking_of_three_models_flips_with_shared_dice() -> None:
    """The example of arXiv 2502.01754, section 4."""
    apart, together = (win_rates(EXAMPLE, SCORES, coupled=coupled) for coupled in (False, True))
    np.testing.assert_allclose(apart.averages, [0.1545, 0.15675, 0.16225], rtol=0, atol=1e-12)
    np.testing.assert_allclose(together.averages, [0.0525, 0.0225, 0.03], rtol=0, atol=1e-12)
    assert (np.argsort(-apart.averages).tolist(), np.argsort(-together.averages).tolist()) == ([2, 1, 0], [0, 2, 1])


@given(laws(models=3), st.data())
def test_wins_losses_and_ties_add_up_and_their_difference_needs_no_dice(
    found: list[NDArray[np.float64]], data: st.DataObject
) -> None:
    scores = data.draw(st.lists(st.integers(0, 3), min_size=len(found[0]), max_size=len(found[0])))
    given_laws = np.array(found)[:, None, :]
    together, apart = (win_rates(given_laws, [scores], coupled=coupled) for coupled in (True, False))
    for rates in (together, apart):
        off = ~np.eye(3, dtype=bool)
        np.testing.assert_allclose((rates.wins + rates.wins.T + rates.ties)[off], 1, atol=1e-12)
    np.testing.assert_allclose(apart.covariance[~np.eye(3, dtype=bool)], 0, atol=1e-12)


@given(laws(), st.integers(0, 6))
def test_scores_of_one_right_answer_vary_together_by_the_law(pair: list[NDArray[np.float64]], right: int) -> None:
    """Binary scores: each win rate falls by the covariance, ties grow by twice as much (proposition 4)."""
    right %= len(pair[0])
    scores = [[float(answer == right) for answer in range(len(pair[0]))]]
    found = np.array(pair)[:, None, :]
    together, apart = (win_rates(found, scores, coupled=coupled) for coupled in (True, False))
    covariance = together.covariance[0, 1]
    assert covariance >= -1e-12
    assert together.wins[0, 1] == pytest.approx(apart.wins[0, 1] - covariance, abs=1e-12)
    assert together.ties[0, 1] == pytest.approx(apart.ties[0, 1] + 2 * covariance, abs=1e-12)


def test_questions_count_by_their_weights() -> None:
    one = win_rates(EXAMPLE[:, :1], SCORES[:1], coupled=True)
    weighted = win_rates(EXAMPLE, SCORES, coupled=True, weights=[5, 0])
    np.testing.assert_allclose(weighted.wins, one.wins, atol=1e-15)


@pytest.mark.parametrize(
    ("first", "second"),
    [([0.5, 0.6], [0.5, 0.5]), ([], []), ([1.0], [0.5, 0.5]), ([-0.5, 1.5], [0.5, 0.5]), ([np.nan, 1], [0.5, 0.5])],
)
def test_what_is_no_law_is_refused(first: list[float], second: list[float]) -> None:
    with pytest.raises(ConfigurationError):
        joint_law(first, second)


@pytest.mark.parametrize("weights", [[1.0], [0.0, 0.0], [-1.0, 2.0], [np.inf, 1.0]])
def test_weights_that_are_no_shares_are_refused(weights: list[float]) -> None:
    with pytest.raises(ConfigurationError, match="weights"):
        win_rates(EXAMPLE, SCORES, coupled=True, weights=weights)
