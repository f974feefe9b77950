"""Win rates with shared and with own dice: the paper's three models, identities, ranks, missing scores."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from coupled_arena.analysis.contest import Contest, contest
from coupled_arena.coupling.laws import win_rates
from coupled_arena.errors import ConfigurationError

Floats = NDArray[np.float64]

CHANCES = {"m1": (0.4, 1.0), "m2": (0.48, 0.9), "m3": (0.5, 0.89)}


def three_models(times: int) -> Contest:
    """The paper's example, its two prompts so many times, with every one of a hundred dice once."""
    dice = (np.arange(100) + 0.5) / 100
    return contest({name: [dice < chance for chance in pair * times] for name, pair in CHANCES.items()})


def answers(seed: int, models: int = 3) -> dict[str, Floats]:
    rng = np.random.default_rng(seed)
    dice, chances = rng.random((9, 4)), rng.random((models, 9, 1))
    return {f"m{number}": (dice < chance).astype(np.float64) for number, chance in enumerate(chances)}


def test_shared_dice_order_the_three_models_of_the_paper_by_accuracy_and_own_dice_the_other_way() -> None:
    found = three_models(600)
    right = np.array(list(CHANCES.values()))
    exact = win_rates(np.stack([right, 1 - right], axis=-1), [[1, 0], [1, 0]], coupled=True)
    np.testing.assert_allclose(found.coupled.wins, exact.wins, atol=1e-12)
    np.testing.assert_allclose(found.coupled.ties, exact.ties, atol=1e-12)
    assert found.coupled.averages.argsort().tolist() == [1, 2, 0]
    assert found.independent.averages.argsort().tolist() == [0, 1, 2]
    assert found.differ
    assert [(change.a, change.b) for change in found.changes if change.resolved] == [("m1", "m3")]
    assert found.coupled.ranks == ((1, 1), (3, 3), (2, 2))


def test_two_prompts_are_too_few_to_say_that_the_order_changes() -> None:
    found = three_models(1)
    assert any(change.turned for change in found.changes) and not found.differ
    assert found.independent.ranks == ((1, 3),) * 3


@given(st.integers(0, 2**32))
def test_wins_losses_and_ties_are_all_there_is(seed: int) -> None:
    found = contest(answers(seed))
    for table in (found.coupled, found.independent):
        off = ~np.eye(3, dtype=np.bool_)
        assert (table.wins + table.wins.T + table.ties)[off] == pytest.approx(1)
        assert table.averages == pytest.approx(table.wins.sum(axis=1) / 2)


@given(st.integers(0, 2**32))
def test_the_difference_of_two_win_rates_does_not_depend_on_the_dice(seed: int) -> None:
    scores = answers(seed)
    found = contest(scores)
    means = np.array([table.mean() for table in scores.values()])
    for table in (found.coupled, found.independent):
        assert table.wins - table.wins.T == pytest.approx(means[:, None] - means[None, :])


@given(st.integers(0, 2**32))
def test_shared_dice_turn_the_covariance_into_ties(seed: int) -> None:
    """Proposition 4: each win rate falls by the covariance within the question, ties grow by twice of it."""
    scores = answers(seed, models=2)
    found = contest(scores)
    a, b = (table - table.mean(axis=1, keepdims=True) for table in scores.values())
    covariance = float((a * b).sum(axis=1).mean() / 3)
    assert found.independent.wins[0, 1] - found.coupled.wins[0, 1] == pytest.approx(covariance)
    assert found.coupled.ties[0, 1] - found.independent.ties[0, 1] == pytest.approx(2 * covariance)
    assert not found.differ


@given(st.integers(0, 2**32))
def test_a_question_without_scores_is_left_out_and_counted(seed: int) -> None:
    scores = answers(seed)
    longer = {name: np.vstack([table, np.zeros((1, 4))]) for name, table in scores.items()}
    longer["m1"][-1] = math.nan
    found, other = contest(scores), contest(longer)
    assert (other.questions, other.dropped) == (9, 1)
    assert other.coupled.averages == pytest.approx(found.coupled.averages)
    assert other.changes == found.changes


def test_graded_scores_win_by_being_higher() -> None:
    found = contest({"a": [[3, 1], [2, 2]], "b": [[2, 2], [2, 1]]})
    assert found.coupled.wins.tolist() == [[0, 0.5], [0.25, 0]]
    assert found.independent.wins.tolist() == [[0, 0.5], [0.25, 0]]


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ({"a": [[1, 0], [0, 1]]}, "at least two models"),
        ({"a": [[1, 0]], "b": [[1]]}, "of one shape"),
        ({"a": [[1], [0]], "b": [[1], [1]]}, "own dice are other replicates"),
        ({"a": [[1, 0], [math.nan, 1]], "b": [[1, 0], [1, math.nan]]}, "need two questions"),
    ],
)
def test_what_cannot_meet_is_refused_with_the_reason(scores: dict[str, list[list[float]]], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        contest(scores)
