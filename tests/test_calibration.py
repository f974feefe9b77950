"""Ratings calibrated to a slice of labels: against brute force, and refused where the slice does not support them."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from coupled_arena.analysis.calibration import calibrate
from coupled_arena.analysis.calibration.estimate import powered
from coupled_arena.analysis.calibration.slice import Slice
from coupled_arena.analysis.calibration.support import why_chosen
from coupled_arena.analysis.judges.table import Opinions
from coupled_arena.errors import ConfigurationError, RatingError
from coupled_arena.ratings import rate
from coupled_arena.ratings.scale import POINTS
from tests.correction_scene import drawn, rows_of

Floats = NDArray[np.float64]


def labelled(seed: int = 1, *, questions: int = 60, pairs: int = 10, share: float = 0.3) -> tuple[Opinions, Floats]:
    """Return opinions of judges that prefer m0 and m1, which write at length, and labels of fair ones."""
    opinions = drawn(seed, questions=questions, pairs=pairs, length=0.8, family=0.5, spread=1.5)
    rng = np.random.default_rng([seed, 7])
    fair = opinions.truth.copy()
    mean = np.bincount(opinions.battle, opinions.score) / np.bincount(opinions.battle)
    lean = 2 * mean - 1 - 0.5 * opinions.length
    kept = rng.permutation(opinions.battles) < share * opinions.battles
    score = np.where(np.abs(lean) < 0.1, 0.5, (lean + rng.normal(0, 0.4, opinions.battles) > 0).astype(float))
    fair[kept] = score[kept]
    return opinions, fair


def part_of(opinions: Opinions, label: Floats) -> Slice:
    return Slice.of(opinions, label, {})[0]


def by_loop(part: Slice, weight: float, strength: Floats) -> Floats:
    """The equation, model by model."""
    total = np.zeros(len(part.models))
    labels = int(part.labelled.sum())
    for a, b, m, y in zip(part.a, part.b, part.judged, part.label, strict=True):
        expected = 1 / (1 + np.exp(strength[b] - strength[a]))
        left = weight * (m - expected) / len(part)
        if not np.isnan(y):
            left += ((y - expected) - weight * (m - expected)) / labels
        total[a] += left
        total[b] -= left
    return total


@pytest.mark.parametrize("weight", [0.0, 0.4, 1.0])
def test_strengths_solve_the_equation_of_a_plain_loop(weight: float) -> None:
    part = part_of(*labelled())
    found = powered(part, weight)
    assert found is not None and found.weight == weight
    assert np.abs(by_loop(part, weight, found.strength)).max() < 1e-9
    assert found.strength.sum() == pytest.approx(0)


def test_without_weight_it_is_a_rating_of_the_labels() -> None:
    part = part_of(*labelled())
    found, twin = powered(part, 0.0), rate(part.labels())
    assert found is not None
    assert 1000 + POINTS * found.strength == pytest.approx(np.array(twin.ratings, dtype=float))
    assert POINTS * np.sqrt(np.diag(found.covariance)) == pytest.approx(np.array(twin.se, dtype=float), rel=0.02)


def test_where_all_is_labelled_by_the_judges_it_is_a_rating_of_the_judges() -> None:
    opinions, _ = labelled()
    verdict = np.round(np.bincount(opinions.battle, opinions.score) / np.bincount(opinions.battle))
    same = replace(opinions, score=verdict[opinions.battle])
    found = calibrate(same, verdict)
    assert found.ratings.ratings == pytest.approx(found.raw.ratings)
    assert found.ratings.low == pytest.approx(found.raw.low, abs=1.0)
    assert found.labelled.ratings == pytest.approx(found.raw.ratings)


def test_the_spread_is_that_of_leaving_out_questions_one_by_one() -> None:
    part = part_of(*labelled(questions=60, pairs=12, share=0.5))
    found = powered(part)
    assert found is not None and 0 < found.weight < 1
    without = []
    for one in range(60):
        left = np.flatnonzero(part.question != one)
        question = np.unique(part.question[left], return_inverse=True)[1]
        again = powered(
            Slice(part.models, part.a[left], part.b[left], question, part.judged[left], part.label[left], {})
        )
        assert again is not None
        without.append(again.strength)
    off = np.array(without) - found.strength
    brute = np.sqrt(np.diag(59 / 60 * off.T @ off))
    assert np.sqrt(np.diag(found.covariance)) == pytest.approx(brute, rel=0.05)


def test_no_other_weight_has_less_variance() -> None:
    part = part_of(*labelled(questions=120))
    found = powered(part)
    assert found is not None
    best = np.trace(found.covariance)
    others = [powered(part, weight) for weight in (0.0, found.weight - 0.2, found.weight + 0.2, 1.0)]
    # The best weight pays for being chosen, which is little.
    assert all(other is not None and np.trace(other.covariance) > 0.98 * best for other in others)


def test_labels_correct_what_the_judges_prefer() -> None:
    opinions, label = labelled(questions=120)
    _, everything = labelled(questions=120, share=1.0)
    found = calibrate(opinions, label)
    truth = rate(part_of(opinions, everything).labels())
    off = [
        abs(one.difference("m1", "m2").difference - truth.difference("m1", "m2").difference)  # type: ignore[operator]
        for one in (found.ratings, found.raw)
    ]
    assert off[0] < off[1] / 2
    one = found.ratings.difference("m1", "m2")
    assert one.low is not None and one.high is not None
    assert one.low < (truth.difference("m1", "m2").difference or 0) < one.high
    raw = found.raw.difference("m1", "m2")
    assert raw.low is not None and raw.low > (truth.difference("m1", "m2").difference or 0)
    assert found.worth is not None and found.worth > 1.1 and 0.3 < found.weight <= 1
    assert (found.labels, found.battles, found.questions) == (360, 1200, 120)


def test_judges_that_say_nothing_get_little_weight() -> None:
    opinions, label = labelled()
    rng = np.random.default_rng(3)
    found = calibrate(replace(opinions, score=rng.integers(0, 2, len(opinions.score)).astype(float)), label)
    assert found.weight < 0.3
    assert found.ratings.ratings == pytest.approx(found.labelled.ratings, abs=15)


def test_the_last_verdict_counts_and_battles_without_one_do_not() -> None:
    opinions, label = labelled()
    heard = replace(opinions, stage=opinions.stage + 1, score=1 - opinions.score)
    names = ("battle", "judge", "score", "stage", "turned", "dice", "status", "carried", "named", "chances")
    columns: dict[str, Any] = {name: np.concatenate([getattr(opinions, name), getattr(heard, name)]) for name in names}
    both = replace(opinions, **columns)
    assert calibrate(both, label).document() == calibrate(heard, label).document()
    silent = int(np.flatnonzero(~np.isnan(label))[0])
    found = calibrate(rows_of(opinions, opinions.battle != silent), label)
    assert found.notes == ("left out: 1 label of battles without a judge's verdict",)


def test_too_few_labelled_questions_are_refused() -> None:
    opinions, label = labelled()
    few = np.where(opinions.question < 9, label, np.nan)
    with pytest.raises(RatingError, match="labels lie on 9 questions, and 10 are needed for 5 models"):
        calibrate(opinions, few)
    one = np.full(opinions.battles, np.nan)
    one[5] = 1.0
    with pytest.raises(RatingError, match="labels lie on 1 question, and 10 are needed"):
        calibrate(opinions, one)
    with pytest.raises(RatingError, match="no battle that the judges have scored has a label"):
        calibrate(opinions, np.full(opinions.battles, np.nan))


def test_models_that_no_label_connects_are_refused() -> None:
    opinions, label = labelled()
    apart = np.where((opinions.a < 2) == (opinions.b < 2), label, np.nan)
    with pytest.raises(RatingError, match=r"no labelled battle connects m0, m1 \| m2, m3, m4: label battles between"):
        calibrate(opinions, apart)


def test_labels_that_all_go_one_way_are_named_and_refused_where_judges_say_the_same() -> None:
    opinions, label = labelled(share=0.1)

    def swept(score: Floats, battle: NDArray[np.intp]) -> Floats:
        best, worst = opinions.a[battle] == 0, opinions.b[battle] == 0
        return np.where(best, 1.0, np.where(worst, 0.0, score))

    won = np.where(np.isnan(label), np.nan, swept(label, np.arange(opinions.battles)))
    guessing = np.random.default_rng(0).integers(0, 2, len(opinions.score)).astype(float)
    notes = calibrate(replace(opinions, score=guessing), won).notes
    assert notes[0] == "all labels of m0 went one way: its intervals may be too narrow"
    assert notes[1].startswith("the judges' scores say nothing of the labels")
    with pytest.raises(RatingError, match="no finite ratings: all that some model has went one way"):
        calibrate(replace(opinions, score=swept(opinions.score, opinions.battle)), won)


def test_labels_that_do_not_vary_give_no_intervals() -> None:
    opinions, label = labelled(share=0.1)
    found = calibrate(opinions, np.where(np.isnan(label), np.nan, 0.5))
    assert set(found.ratings.low) == {None}
    assert found.worth is None
    assert "the labels do not vary: there are no intervals" in found.notes


@pytest.mark.parametrize(
    ("chosen", "word"),
    [("close", "battles that the judges find clear"), ("model", "battles of m0"), ("domain", "battles in math")],
)
def test_a_slice_that_was_chosen_is_refused(chosen: str, word: str) -> None:
    opinions, everything = labelled(questions=100, share=1.0)
    mean = np.bincount(opinions.battle, opinions.score) / np.bincount(opinions.battle)
    math = (opinions.question < 30).astype(float)
    rng = np.random.default_rng(2)
    likely = {
        "close": np.where(np.abs(mean - 0.5) < 0.2, 0.5, 0.1),
        "model": np.where((opinions.a == 0) | (opinions.b == 0), 0.5, 0.1),
        "domain": np.where(math, 0.5, 0.1),
    }[chosen]
    label = np.where(rng.random(opinions.battles) < likely, everything, np.nan)
    with pytest.raises(RatingError, match=f"no random part of all: (more|less) of {word}"):
        calibrate(opinions, label, traits={"battles in math": math})


def test_a_random_slice_is_hardly_ever_refused() -> None:
    opinions, everything = labelled(questions=50, share=1.0)
    rng = np.random.default_rng(4)
    alarms = 0
    for _ in range(300):
        whole = rng.random(50) < 0.3
        label = np.where(whole[opinions.question], everything, np.nan)
        alarms += bool(why_chosen(part_of(opinions, label)))
        label = np.where(rng.random(opinions.battles) < 0.1, everything, np.nan)
        alarms += bool(why_chosen(part_of(opinions, label)))
    assert alarms <= 4


def test_neither_order_of_rows_nor_sides_matter() -> None:
    opinions, label = labelled()
    found, swapped = calibrate(opinions, label), calibrate(opinions.swapped(), 1 - label)
    mixed = np.random.default_rng(0).permutation(len(opinions.score))
    shuffled = calibrate(rows_of(opinions, mixed), label)
    for other in (swapped, shuffled):
        assert other.ratings.ratings == pytest.approx(found.ratings.ratings)
        assert other.ratings.low == pytest.approx(found.ratings.low)
        assert other.weight == pytest.approx(found.weight)


def test_results_are_shown_side_by_side() -> None:
    found = calibrate(*labelled())
    frame = found.frame()
    assert frame["model"].tolist() == list(found.ratings.ranking) and frame["rank"].tolist() == [1, 2, 3, 4, 5]
    assert frame["raw"].tolist() == pytest.approx([found.raw.rating(name) for name in frame["model"]])
    document = found.document()
    assert document["labels"] == 180 and document["labelled_questions"] == found.ratings.clusters
    assert "calibrated to 180 of 600 battles" in repr(found)
    assert len(found.ratings.settled()) == 4
    with pytest.raises(ConfigurationError, match="level"):
        calibrate(*labelled(), level=95)


def test_intervals_hold_the_rating_by_all_labels() -> None:
    """A small version of the benchmark: labels of 20 % of the battles against those of a hundred times as many."""
    opinions, everything = labelled(999, questions=1500, share=1.0)
    truth = rate(part_of(opinions, everything).labels())
    held: dict[str, list[bool]] = {"calibrated": [], "raw": []}
    for seed in range(25):
        found = calibrate(*labelled(seed, questions=40, share=0.2))
        for name, ratings in (("calibrated", found.ratings), ("raw", found.raw)):
            for model in range(1, 5):
                one, right = (each.difference("m0", f"m{model}") for each in (ratings, truth))
                if one.low is not None and one.high is not None and right.difference is not None:
                    held[name].append(one.low <= right.difference <= one.high)
    assert 0.9 < np.mean(held["calibrated"]) <= 1 and np.mean(held["raw"]) < 0.75
