"""Covariates of battles: adjusted for, or refused with the reason."""

import numpy as np
import pytest

from coupled_arena.errors import RatingError
from coupled_arena.ratings import RatingInput, rate
from coupled_arena.ratings.result import Ties

NAMES = ("ada", "bob", "cyd", "dee")
STRENGTH = np.array([0.6, 0.2, -0.2, -0.6])


def played(battles: int = 3000, side: float = 0.0, length: float = 0.0, tie: float = 0.0, seed: int = 1) -> RatingInput:
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 4, battles)
    b = (a + rng.integers(1, 4, battles)) % 4
    longer = 300 * (rng.normal(size=battles) + (a < b))
    odds = np.exp((STRENGTH[a] - STRENGTH[b] + side + length * longer) / 2)
    drawn = rng.random(battles) * (odds + 1 / odds + tie)
    score = np.where(drawn < odds, 1.0, np.where(drawn < odds + tie, 0.5, 0.0))
    return RatingInput(NAMES, a, b, score, np.ones(battles), np.arange(battles) // 3, {"length": longer})


@pytest.mark.parametrize(("ties", "tie"), [("half", 0.0), ("davidson", 0.6)])
def test_effects_and_strengths_are_found_together(ties: Ties, tie: float) -> None:
    table = played(side=0.5, length=0.002, tie=tie)
    found = rate(table, ties=ties, covariates=("side", "length"))
    for effect, truth in zip(found.effects, (0.5, 0.002), strict=True):
        assert effect.se is not None and effect.low is not None and effect.high is not None
        assert abs(effect.coefficient - truth) < 4 * effect.se < abs(truth)
        assert effect.low < effect.coefficient < effect.high
    assert [effect.name for effect in found.effects] == ["side", "length"]
    assert found.effects[1].points == pytest.approx(found.effects[1].coefficient * 173.7178)
    strengths = (np.array([rating or 0 for rating in found.ratings]) - 1000) / 173.7178
    assert strengths == pytest.approx(STRENGTH, abs=0.2)
    assert "side: +" in repr(found)
    plain = rate(table, ties=ties).difference("ada", "dee").difference or 0
    adjusted = found.difference("ada", "dee").difference or 0
    assert abs(plain - adjusted) > 5
    assert found.converged


def test_units_change_the_coefficient_and_nothing_else() -> None:
    table = played(length=0.002)
    longer = table.covariates["length"]
    other = RatingInput(NAMES, table.a, table.b, table.score, table.weight, table.cluster, {"length": longer / 1000})
    one, two = (rate(each, covariates=("length",)) for each in (table, other))
    assert two.effects[0].coefficient == pytest.approx(1000 * one.effects[0].coefficient)
    assert two.effects[0].se == pytest.approx(1000 * (one.effects[0].se or 0))
    assert [rating or 0 for rating in two.ratings] == pytest.approx([rating or 0 for rating in one.ratings])


def test_swapping_sides_turns_the_side_and_keeps_the_rest() -> None:
    table = played(side=0.5, length=0.002)
    turned = {"length": -table.covariates["length"]}
    swapped = RatingInput(NAMES, table.b, table.a, 1 - table.score, table.weight, table.cluster, turned)
    one, two = (rate(each, covariates=("side", "length")) for each in (table, swapped))
    assert two.effects[0].coefficient == pytest.approx(-one.effects[0].coefficient)
    assert two.effects[1].coefficient == pytest.approx(one.effects[1].coefficient)
    assert [rating or 0 for rating in two.ratings] == pytest.approx([rating or 0 for rating in one.ratings])


def with_column(name: str, column: "np.ndarray[tuple[int], np.dtype[np.float64]]", table: RatingInput) -> RatingInput:
    columns = {**table.covariates, name: column}
    return RatingInput(NAMES, table.a, table.b, table.score, table.weight, table.cluster, columns)


def test_a_covariate_that_decides_every_battle_is_refused() -> None:
    table = played(200)
    decides = with_column("verdict", 2 * table.score - 1 + np.linspace(0, 0.1, 200), table)
    with pytest.raises(RatingError, match="no finite effect of verdict fits best: it separates"):
        rate(decides, covariates=("verdict",))


def test_a_covariate_that_nearly_decides_converges() -> None:
    table = played(400)
    nearly = 2 * table.score - 1
    nearly[:3] *= -1
    found = rate(with_column("nearly", nearly, table), covariates=("nearly",))
    assert found.converged
    assert 2 < found.effects[0].coefficient < 12


def test_a_covariate_that_the_models_determine_is_refused() -> None:
    table = played(200)
    size = np.array([7.0, 1.0, 3.0, 2.0])
    known = with_column("size", size[table.a] - size[table.b], table)
    with pytest.raises(RatingError, match="cannot tell the effect of size apart from the strengths"):
        rate(known, covariates=("size",))


def test_covariates_that_are_one_are_refused_by_name() -> None:
    table = played(200)
    twice = with_column("words", table.covariates["length"] / 5, table)
    with pytest.raises(RatingError, match="length and words"):
        rate(twice, covariates=("side", "length", "words"))


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("mood",), "no covariate 'mood'; there are length, side"),
        (("length", "length"), "named twice"),
        (("none",), "none is 0 in every battle"),
    ],
)
def test_a_covariate_that_is_not_there_is_refused(names: tuple[str, ...], message: str) -> None:
    table = played(50)
    if names == ("none",):
        table = with_column("none", np.zeros(50), table)
    with pytest.raises(RatingError, match=message):
        rate(table, covariates=names)


def test_a_covariate_that_is_no_number_is_refused_by_its_row() -> None:
    table = played(50)
    with pytest.raises(RatingError, match="row 4 of 50: the covariate length must be a finite number"):
        with_column("length", np.where(np.arange(50) == 3, np.nan, 1.0), table)
