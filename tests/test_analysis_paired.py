"""The difference of two models and what shared dice saved: identities, missing scores, degenerate cases, coverage."""

import math
from random import Random

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from benchmarks.coupling_coverage import LAWS, cover
from coupled_arena.analysis.paired import Paired, paired
from coupled_arena.analysis.two_runs import two_runs
from coupled_arena.errors import ConfigurationError

Floats = NDArray[np.float64]


@st.composite
def scores(draw: st.DrawFn, missing: bool = False, repeats: int = 2) -> tuple[Floats, Floats]:
    """Right and wrong answers, or marks, of two models that share part of their dice."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    shape = (draw(st.integers(2, 12)), draw(st.integers(repeats, 5)))
    level, dice = rng.normal(size=(shape[0], 1)), rng.normal(size=shape)
    a, b = (level + dice + 0.5 * rng.normal(size=shape) + shift for shift in (0.0, draw(st.floats(-1, 1))))
    if draw(st.booleans()):
        a, b = (a > 0).astype(np.float64), (b > 0).astype(np.float64)
    if missing:
        for table in (a, b):
            table[rng.random(shape) < 0.2] = math.nan
    return a, b


def pairings(a: Floats, b: Floats, *, same: bool) -> Floats:
    """Differences of the replicates of a question that are the same, or are not, shape (questions, pairings)."""
    repeats = a.shape[1]
    chosen = np.eye(repeats, dtype=np.bool_) == same
    return np.array((a[:, :, None] - b[:, None, :])[:, chosen])


def total_variance(apart: Floats) -> float:
    """Mean square less the square of the mean, both unbiased: products of different questions only."""
    means = apart.mean(axis=1)
    questions = len(means)
    return float((apart**2).mean() - (means.sum() ** 2 - (means**2).sum()) / (questions * (questions - 1)))


@given(scores())
def test_own_dice_cost_twice_the_covariance_within_a_question_more(pair: tuple[Floats, Floats]) -> None:
    found = paired(*pair, resamples=100)
    assert found.variance is not None and found.covariance is not None
    assert found.variance == pytest.approx(total_variance(pairings(*pair, same=True)), abs=1e-9)
    assert found.variance + 2 * found.covariance == pytest.approx(total_variance(pairings(*pair, same=False)), abs=1e-9)


@given(scores())
def test_the_two_noises_make_the_variance_and_the_two_errors_differ_by_the_covariance(
    pair: tuple[Floats, Floats],
) -> None:
    found = paired(*pair, resamples=100)
    assert found.variance is not None and found.data_noise is not None and found.prediction_noise is not None
    assert found.variance == pytest.approx(found.data_noise + found.prediction_noise, abs=1e-12)
    assert found.se_coupled is not None and found.covariance is not None
    square = found.se_coupled**2 + 2 * found.covariance / pair[0].size
    assert found.se_independent == (None if square <= 0 else pytest.approx(math.sqrt(square), abs=1e-9))


@given(scores(missing=True))
def test_swapping_the_models_turns_the_sign_and_nothing_else(pair: tuple[Floats, Floats]) -> None:
    one, other = paired(*pair, resamples=100), paired(*reversed(pair), resamples=100)
    assume(one.difference is not None and abs(one.difference) > 1e-9)
    assert one.difference is not None and other.difference == pytest.approx(-one.difference)
    for field in ("se_coupled", "se_independent", "covariance", "variance", "saved", "saved_low", "saved_high"):
        assert getattr(other, field) == (None if getattr(one, field) is None else pytest.approx(getattr(one, field)))
    assert one.low is None or (other.high == pytest.approx(-one.low) and other.low == pytest.approx(-(one.high or 0)))
    assert (one.questions, one.dropped, one.notes) == (other.questions, other.dropped, other.notes)


@given(scores(), st.randoms(use_true_random=False))
def test_the_order_of_questions_and_of_replicates_does_not_matter(pair: tuple[Floats, Floats], random: Random) -> None:
    questions, repeats = (random.sample(range(size), size) for size in pair[0].shape)
    one = paired(*pair, resamples=100)
    other = paired(*(table[questions][:, repeats] for table in pair), resamples=100)
    for field in ("difference", "low", "covariance", "variance", "saved"):
        assert getattr(other, field) == (None if getattr(one, field) is None else pytest.approx(getattr(one, field)))


@given(scores(missing=True, repeats=1))
def test_a_replicate_without_one_of_the_scores_is_as_if_it_had_none(pair: tuple[Floats, Floats]) -> None:
    a, b = pair
    gone = np.isnan(a) | np.isnan(b)
    emptied = [np.where(gone, math.nan, table) for table in pair]
    found = paired(a, b, resamples=100)
    assert found == paired(*emptied, resamples=100)
    assert found.dropped == np.count_nonzero(gone)
    assert found.questions == np.count_nonzero(~gone.all(axis=1))
    wide = [np.hstack([table, np.full((len(table), 1), math.nan)]) for table in pair]
    assert paired(*wide, resamples=100).difference == found.difference


@given(scores(missing=True), st.sampled_from([1e-9, 0.1, 1e9]))
def test_the_unit_of_the_scores_does_not_matter(pair: tuple[Floats, Floats], unit: float) -> None:
    one, other = paired(*pair, resamples=100), paired(*(unit * table for table in pair), resamples=100)
    for field in ("saved", "saved_within", "notes"):
        assert getattr(other, field) == (getattr(one, field) if field == "notes" else close(getattr(one, field)))
    for field in ("low", "se_coupled", "se_independent"):
        value = getattr(one, field)
        assert getattr(other, field) == (None if value is None else pytest.approx(unit * value, abs=unit * 1e-9))


def close(value: float | None) -> object:
    return None if value is None else pytest.approx(value, abs=1e-9)


def test_one_replicate_leaves_the_savings_open_and_says_so() -> None:
    found = paired([[1], [0], [1]], [[0], [0], [1]])
    assert found.difference == pytest.approx(1 / 3) and found.variance == pytest.approx(1 / 3)
    unknown = (found.covariance, found.saved, found.saved_low, found.se_independent, found.data_noise)
    assert unknown == (None,) * 5
    assert any("two replicates" in note for note in found.notes)


def test_dice_that_were_not_shared_save_nothing_that_could_be_told() -> None:
    a, b = [[1, 0, 1], [0, 0, 1]], [[1, 1, 0], [0, 1, 0]]
    found = paired(a, b, shared=False)
    assert (found.covariance, found.saved, found.saved_low, found.saved_within, found.se_coupled) == (None,) * 5
    assert found.se_independent is not None and found.prediction_noise == pytest.approx(2 / 3)
    assert "nothing saved: dice were not shared" in found.notes


@pytest.mark.parametrize(
    ("a", "b", "note"),
    [
        ([[1, 1], [1, 1]], [[1, 1], [1, 1]], "neither score ever varies"),
        ([[1, 0], [0, 1]], [[1, 0], [0, 1]], "the difference is the same for every question"),
        ([[1, 0]], [[1, 1]], "it needs two questions"),
        ([[math.nan, math.nan]], [[1, 1]], "1 of 1 questions left out"),
    ],
)
def test_what_has_no_interval_says_why(a: list[list[float]], b: list[list[float]], note: str) -> None:
    found = paired(a, b)
    assert (found.low, found.high, found.saved_low, found.saved_high) == (None,) * 4
    assert any(note in said for said in found.notes)


def test_equal_answers_save_everything() -> None:
    found = paired([[1, 0], [0, 1]], [[1, 0], [0, 1]])
    assert (found.difference, found.saved, found.saved_within) == (0, 1, 1)


@pytest.mark.parametrize(
    ("changed", "key"),
    [
        ({"a": [1, 0]}, "a, b"),
        ({"a": [[math.inf, 0]]}, "a, b"),
        ({"level": 1.0}, "level"),
        ({"resamples": 9}, "resamples"),
    ],
)
def test_what_cannot_be_compared_is_refused_by_name(changed: dict[str, object], key: str) -> None:
    with pytest.raises(ConfigurationError, match=f"paired: {key}"):
        paired(**{"a": [[1, 0]], "b": [[1, 1]], **changed})  # type: ignore[arg-type]


def test_two_runs_are_refused_in_their_own_name() -> None:
    pair = ([[1, 0]], [[1, 1]])
    with pytest.raises(ConfigurationError, match="two_runs: resamples"):
        two_runs(pair, pair, resamples=9)
    with pytest.raises(ConfigurationError, match="two_runs: independent: need the same questions in both runs"):
        two_runs(pair, ([[1, 0]] * 2, [[1, 1]] * 2))


@given(scores())
def test_two_equal_runs_saved_nothing(pair: tuple[Floats, Floats]) -> None:
    found = two_runs(pair, pair, resamples=100)
    assert found.saved is None or (found.saved, found.low, found.high) == (0, 0, 0)


def test_the_interval_does_not_depend_on_anything_but_scores_and_seed() -> None:
    rng = np.random.default_rng(4)
    a, b = rng.normal(size=(2, 30, 4))
    first, again, other = (paired(a, b, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first.saved_low != other.saved_low


def test_a_higher_level_is_a_wider_interval() -> None:
    rng = np.random.default_rng(4)
    a, b = rng.normal(size=(2, 30, 4)) + rng.normal(size=(30, 4))

    def widths(found: Paired) -> tuple[float, float]:
        assert found.low is not None and found.high is not None
        assert found.saved_low is not None and found.saved_high is not None
        return found.high - found.low, found.saved_high - found.saved_low

    narrow, wide = widths(paired(a, b, level=0.8)), widths(paired(a, b, level=0.99))
    assert narrow[0] < wide[0] and narrow[1] < wide[1]


@pytest.mark.parametrize("law", sorted(LAWS))
def test_both_intervals_cover(law: str) -> None:
    """A few hundred runs; `benchmarks/coupling_coverage.py` has more, of more sizes."""
    found = cover(law, questions=40, repeats=5, runs=300)
    # Three standard errors of 300 runs are 3.8 %.
    assert 0.95 - 0.045 < found.difference <= 1
    assert 0.95 - 0.045 < found.saved <= 1


def test_what_no_resample_changes_has_no_interval() -> None:
    # Nothing varies within a question, so that every resample says 0: that is no proof that nothing is saved.
    found = paired([[1, 1], [0, 0], [1, 1]], [[0, 0], [0, 0], [1, 1]])
    assert (found.saved, found.saved_low, found.saved_high) == (0.0, None, None)
    assert found.notes == ("no interval of what was saved: it is the same in every resample of the questions",)


@pytest.mark.parametrize("scores", [[[1, 0], [0]], [["right"]]])
def test_scores_that_make_no_table_of_numbers_are_refused(scores: list[list[int | str]]) -> None:
    with pytest.raises(ConfigurationError, match="a, b: need numbers in as many replicates for every question"):
        paired(scores, scores)
