"""The likelihood of single verdicts, its maximum and its spread, against loops, differences and brute force."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from coupled_arena.analysis.correction.fit import MOST_LAPSE, fit
from coupled_arena.analysis.correction.likelihood import Likelihood, mean_free
from coupled_arena.analysis.correction.spread import clustered

Floats = NDArray[np.float64]


def scene(seed: int = 1, *, votes: int = 400, lapsing: bool = True, virtual_ties: float = 0.5) -> Likelihood:
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 4, votes)
    b = (a + rng.integers(1, 4, votes)) % 4
    effects = rng.normal(size=(votes, 2))
    judge = rng.integers(0, 2, votes)
    strength = np.array([2.0, 0.7, -0.7, -2.0])
    chance = 0.1 + 0.8 / (1 + np.exp(strength[b] - strength[a] - effects @ [0.8, -0.5]))
    score = np.where(rng.random(votes) < 0.1, 0.5, (rng.random(votes) < chance).astype(float))
    return Likelihood.of(4, a, b, score, effects, judge if lapsing else np.full(votes, -1), virtual_ties)


def by_loop(likelihood: Likelihood, point: Floats) -> float:
    linear = likelihood.design.shape[1]
    total = 0.0
    for row, y, lapse in zip(likelihood.design, likelihood.score, likelihood.lapse, strict=True):
        e = point[linear + lapse] if lapse >= 0 else 0.0
        p = e / 2 + (1 - e) / (1 + math.exp(-float(row @ point[:linear])))
        total += y * math.log(p) + (1 - y) * math.log(1 - p)
    for strength in likelihood.basis @ point[: likelihood.basis.shape[1]]:
        total -= likelihood.virtual_ties * (math.log1p(math.exp(strength)) + math.log1p(math.exp(-strength))) / 2
    return total


def slopes(function: Callable[[Floats], Floats], point: Floats, step: float = 1e-5) -> Floats:
    moves = step * np.eye(len(point))
    return np.array([(function(point + move) - function(point - move)) / (2 * step) for move in moves])


POINT = np.array([0.4, -0.8, 0.3, 0.6, -0.2, 0.15, 0.4])


def test_the_likelihood_is_that_of_a_plain_loop() -> None:
    likelihood = scene()
    assert likelihood.at(POINT).level == pytest.approx(by_loop(likelihood, POINT))
    plain = scene(lapsing=False)
    assert plain.at(POINT[:5]).level == pytest.approx(by_loop(plain, POINT[:5]))


def test_derivatives_are_those_of_finite_differences() -> None:
    likelihood = scene()
    found = likelihood.at(POINT)
    assert found.gradient == pytest.approx(slopes(lambda at: np.array(by_loop(likelihood, at)), POINT), abs=1e-5)
    assert found.observed == pytest.approx(-slopes(lambda at: likelihood.at(at).gradient, POINT), abs=1e-4)


def test_expected_information_is_the_mean_of_the_observed_one() -> None:
    likelihood = scene(virtual_ties=0.0)
    linear = likelihood.design.shape[1]
    e = POINT[linear:][likelihood.lapse]
    chance = e / 2 + (1 - e) / (1 + np.exp(-likelihood.design @ POINT[:linear]))
    fair = Likelihood(likelihood.basis, likelihood.design, chance, likelihood.lapse, likelihood.lapses, 0.0)
    found = fair.at(POINT)
    assert found.observed == pytest.approx(found.expected, abs=1e-8)
    assert found.gradient == pytest.approx(np.zeros(7), abs=1e-8)


def test_the_fit_is_a_maximum_wherever_it_starts() -> None:
    likelihood = scene(votes=3000)
    found = fit(likelihood)
    assert found.converged and found.free.all() and found.iterations < 30
    assert np.abs(found.point[:-2] - fit(likelihood, np.full(5, 0.5)).point[:-2]).max() < 1e-6
    here = likelihood.at(found.point)
    assert np.abs(here.gradient).max() < 1e-5
    assert np.linalg.eigvalsh(here.observed)[0] > 0
    assert found.bread @ here.observed == pytest.approx(np.eye(7), abs=1e-8)
    rng = np.random.default_rng(0)
    assert all(likelihood.at(found.point + move).level < here.level for move in rng.normal(0, 0.02, (50, 7)))


def test_a_lapse_that_would_be_negative_is_held_at_none() -> None:
    rng = np.random.default_rng(5)
    plain = scene(votes=300, lapsing=False)
    # Verdicts more one-sided than any strengths make them.
    score = (plain.design[:, 0] + 0.05 * rng.normal(size=300) > 0).astype(float)
    likelihood = Likelihood(plain.basis, plain.design, score, np.zeros(300, dtype=np.intp), 1, 1.0)
    found = fit(likelihood)
    assert found.converged and not found.free[-1] and found.point[-1] == 0
    assert not found.bread[-1].any() and likelihood.at(found.point).gradient[-1] < 0
    assert 0 < MOST_LAPSE < 1


def test_the_spread_is_that_of_leaving_out_questions_one_by_one() -> None:
    likelihood = scene(votes=3000, virtual_ties=0.0)
    question = np.random.default_rng(2).integers(0, 60, 3000)
    fitted = fit(likelihood)
    covariance, alone = clustered(likelihood, fitted, question)
    without = np.array([fit(likelihood.part(np.flatnonzero(question != one))).point for one in range(60)])
    off = without - fitted.point
    assert not alone
    brute = 59 / 60 * off.T @ off
    assert np.sqrt(np.diag(covariance)) == pytest.approx(np.sqrt(np.diag(brute)), rel=0.05)


def test_a_question_that_alone_tells_an_effect_is_named() -> None:
    plain = scene(lapsing=False, virtual_ties=0.0)
    question = np.arange(400) // 8
    design = plain.design.copy()
    design[:, -1] = np.where(question == 7, design[:, -1], 0.0)
    likelihood = Likelihood(plain.basis, design, plain.score, plain.lapse, 0, 0.0)
    fitted = fit(likelihood)
    assert fitted.converged
    covariance, alone = clustered(likelihood, fitted, question)
    assert alone == (7,) and np.isfinite(covariance).all()


@pytest.mark.parametrize("models", [2, 3, 7])
def test_the_basis_spans_what_has_mean_0(models: int) -> None:
    basis = mean_free(models)
    assert basis.T @ basis == pytest.approx(np.eye(models - 1))
    assert basis @ basis.T == pytest.approx(np.eye(models) - 1 / models)
