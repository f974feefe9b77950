"""Ratings freed of the judges' biases: read back, beside the raw ones, or refused with a reason."""

from dataclasses import replace

import numpy as np
import pytest

from coupled_arena.analysis.correction import TERMS, Corrected, Term, correct
from coupled_arena.analysis.judges.table import Opinions
from coupled_arena.errors import ConfigurationError, RatingError
from coupled_arena.ratings import RatingInput, rate
from coupled_arena.ratings.scale import POINTS
from tests.correction_scene import STRENGTH, drawn, rows_of

TRUTH = 1000 + POINTS * STRENGTH


def why(found: Corrected, judge: str, term: Term) -> str:
    (left,) = [left for left in found.unestimated if (left.judge, left.term) == (judge, term)]
    return left.reason


def test_biases_are_read_back_and_ratings_come_closer_to_the_truth() -> None:
    found = correct(drawn(questions=150, position=0.5, length=0.6, family=0.8, spread=0.3))
    truths: dict[Term, float] = {"position": 0.5, "length": 0.6, "family": 0.8}
    for term, truth in truths.items():
        for judge in ("j0", "j1"):
            bias = found.bias(judge, term)
            assert bias is not None and bias.se is not None and bias.shown
            assert abs(bias.value - truth) < 3.5 * bias.se
    assert found.bias("j0", "length").points == pytest.approx(POINTS * found.bias("j0", "length").value)  # type: ignore[union-attr]
    raw, corrected = (np.array(ratings.ratings, dtype=float) for ratings in (found.raw, found.ratings))
    assert np.abs(corrected - TRUTH).mean() < np.abs(raw - TRUTH).mean() / 2
    assert found.ratings.ranking == ("m0", "m1", "m2", "m3", "m4")
    assert found.ratings.settled()[0].a == "m0"
    assert len(found.ratings.ranks().rows) == 5


def test_without_lapses_it_is_a_rating_with_covariates() -> None:
    opinions = drawn(position=0.4, length=0.5, family=0.6, ties=0.1)
    found = correct(opinions, terms=("position", "length", "family"), prior=0)
    a, b = opinions.a[opinions.battle], opinions.b[opinions.battle]
    columns = {}
    for judge in range(3):
        own = opinions.judge == judge
        kin = np.array([family == "xyz"[judge] for family in opinions.model_family], dtype=float)
        columns[f"position {judge}"] = own * np.where(opinions.turned, -1.0, 1.0)
        columns[f"length {judge}"] = own * opinions.length[opinions.battle]
        columns[f"family {judge}"] = own * (kin[a] - kin[b])
    question = opinions.question[opinions.battle]
    table = RatingInput(opinions.models, a, b, opinions.score, np.ones(len(a)), question, columns)
    twin = rate(table, covariates=tuple(columns))
    assert found.ratings.ratings == pytest.approx(twin.ratings, abs=1e-4)
    assert found.ratings.low == pytest.approx(twin.low, abs=1e-3)
    for effect in twin.effects:
        term, number = effect.name.split()
        bias = found.bias(f"j{number}", term)  # type: ignore[arg-type]
        assert bias is not None and bias.value == pytest.approx(effect.coefficient, abs=1e-6)
        assert bias.se == pytest.approx(effect.se, abs=1e-6) and bias.high == pytest.approx(effect.high, abs=1e-6)
    raw = rate(RatingInput(opinions.models, a, b, opinions.score, np.ones(len(a)), question))
    assert found.raw.ratings == pytest.approx(raw.ratings)


def test_lapses_are_read_back_where_battles_are_one_sided_enough() -> None:
    opinions = drawn(questions=250, lapse=0.25, strength=3 * STRENGTH)
    found = correct(opinions)
    for judge in ("j0", "j1", "j2"):
        bias = found.bias(judge, "lapse")
        assert bias is not None and bias.se is not None and abs(bias.value - 0.25) < 4 * bias.se
        assert bias.points is None
    plain = correct(opinions, terms=("position",))
    gap, shrunk = (one.ratings.difference("m0", "m4").difference for one in (found, plain))
    truth = POINTS * 3 * 1.8
    assert gap is not None and shrunk is not None and abs(gap - truth) < abs(shrunk - truth) / 2


def test_lapses_are_left_out_where_close_battles_look_the_same() -> None:
    found = correct(drawn(questions=40, lapse=0.25))
    assert "cannot tell lapses from close battles" in why(found, "panel", "lapse")
    assert all(bias.term != "lapse" for bias in found.biases)


def test_a_judge_without_relatives_has_no_family_preference() -> None:
    opinions = drawn()
    kept = ~np.isin(opinions.b, [4]) & ~np.isin(opinions.a, [4])
    found = correct(rows_of(opinions, kept[opinions.battle]))
    assert why(found, "j2", "family") == "it judged no battle of one of its family against another"
    assert found.bias("j0", "family") is not None and found.bias("j2", "length") is not None
    assert found.ratings.rating("m4") is None


def test_judges_of_one_family_cannot_be_told_from_its_strength() -> None:
    opinions = replace(drawn(family=0.8), judge_family=("x", "x", "x"))
    found = correct(opinions)
    for judge in ("j0", "j1", "j2"):
        assert why(found, judge, "family") == ("the opinions cannot tell it apart from the strengths of the models")
    assert found.bias("j0", "length") is not None


def test_one_fair_judge_is_enough_to_tell_a_family_from_its_strength() -> None:
    opinions = replace(drawn(family=0.8, questions=120), judge_family=("x", "x", ""))
    found = correct(opinions)
    bias = found.bias("j0", "family")
    assert bias is not None and bias.shown


def test_texts_of_one_length_have_no_length_effect() -> None:
    opinions = drawn()
    found = correct(replace(opinions, length=np.zeros_like(opinions.length)))
    assert why(found, "j1", "length") == "both texts of all its battles are of one length"
    length = opinions.length.copy()
    length[3] = np.nan
    assert why(correct(replace(opinions, length=length)), "panel", "length") == (
        "the opinions do not say how long all texts are"
    )


def test_lengths_that_only_name_the_model_cannot_be_told_from_its_strength() -> None:
    opinions = drawn()
    words = np.array([3.0, 1.0, 0.0, 0.5, 2.0])
    found = correct(replace(opinions, length=words[opinions.a] - words[opinions.b]))
    assert "the strengths of the models" in why(found, "j0", "length")
    assert found.bias("j0", "position") is not None


def test_one_order_is_enough_and_says_what_it_means() -> None:
    opinions = drawn(position=0.6, questions=120)
    found = correct(rows_of(opinions, ~opinions.turned))
    bias = found.bias("j0", "position")
    assert bias is not None and bias.se is not None and abs(bias.value - 0.6) < 4 * bias.se
    assert found.notes[0].startswith("judges saw side A first only")
    both = correct(opinions)
    assert not both.notes


def test_an_effect_that_separates_is_refused_by_name() -> None:
    opinions = drawn(questions=80)
    score = opinions.score.copy()
    own = opinions.judge == 1
    score[own] = np.where(opinions.turned[own], 0.0, 1.0)
    with pytest.raises(RatingError, match=r"no finite effect fits best: .* by position of j1"):
        correct(replace(opinions, score=score))
    assert correct(rows_of(replace(opinions, score=score), ~own)).bias("j0", "position") is not None


def test_models_that_are_not_compared_are_refused() -> None:
    opinions = drawn(questions=120)
    apart = (opinions.a < 2) == (opinions.b < 2)
    with pytest.raises(RatingError, match=r"no battle connects m0, m1 \| m2, m3, m4"):
        correct(rows_of(opinions, apart[opinions.battle]))
    best = opinions.a[opinions.battle] == 0
    worst = opinions.b[opinions.battle] == 0
    swept = replace(opinions, score=np.where(best, 1.0, np.where(worst, 0.0, opinions.score)))
    with pytest.raises(RatingError, match="went one way: give a prior"):
        correct(swept, prior=0)
    assert correct(swept, prior="weak").ratings.ranking[0] == "m0"


def test_nothing_to_correct_is_refused_with_all_reasons() -> None:
    opinions = replace(drawn(), length=np.full(300, np.nan))
    with pytest.raises(RatingError, match="no bias of the judges can be estimated: length of panel"):
        correct(opinions, terms=("length",))
    with pytest.raises(RatingError, match="position of j0: only 1 question bears on it, of 3 needed"):
        correct(drawn(questions=1, pairs=20), terms=("position",))
    with pytest.raises(RatingError, match="no judge has a verdict of its own at stage 1"):
        correct(opinions, stage=1)
    with pytest.raises(RatingError, match="do not say who debated"):
        correct(replace(opinions, absent=("a", "b")))


def test_carried_and_missing_verdicts_do_not_count() -> None:
    opinions = drawn()
    carried = np.zeros(len(opinions.score), dtype=np.bool_)
    carried[:50] = True
    score = opinions.score.copy()
    score[50:90] = np.nan
    found = correct(replace(opinions, carried=carried, score=score))
    assert found.opinions == len(score) - 90
    keep = np.arange(len(score)) >= 90
    assert found.document() == correct(rows_of(opinions, keep)).document()


def test_a_panel_that_shares_its_effects_needs_fewer_questions() -> None:
    opinions = drawn(questions=14, position=0.6, length=0.6, family=0.6)
    own, shared = (correct(opinions, per=per, terms=TERMS[:3]) for per in ("judge", "panel"))
    assert own.ratings.low[0] is None and own.notes == (
        "no intervals: 14 questions do not outnumber 14 strengths and effects",
    )
    assert {bias.reason for bias in own.biases} == {"too few questions"}
    assert shared.ratings.low[0] is not None and [bias.judge for bias in shared.biases] == ["panel"] * 3


def test_neither_order_of_rows_nor_sides_matter() -> None:
    opinions = drawn(position=0.4, length=0.5, family=0.6, ties=0.1, questions=30)
    found = correct(opinions)
    mixed = np.random.default_rng(0).permutation(len(opinions.score))
    shuffled = rows_of(opinions, mixed)
    for other in (shuffled, opinions.swapped()):
        again = correct(other)
        assert again.ratings.ratings == pytest.approx(found.ratings.ratings)
        assert again.ratings.low == pytest.approx(found.ratings.low)
        assert [bias.value for bias in again.biases] == pytest.approx([bias.value for bias in found.biases])


def test_results_are_shown_side_by_side() -> None:
    found = correct(drawn(length=0.8, questions=80))
    frame = found.frame()
    assert frame["rank"].tolist() == [1, 2, 3, 4, 5]
    assert frame["raw"].tolist() == pytest.approx([found.raw.rating(name) for name in frame["model"]])
    assert set(found.bias_frame()["term"]) <= set(TERMS)
    document = found.document()
    assert [row["model"] for row in document["ratings"]] == list(found.ratings.ranking)
    assert document["questions"] == 80 and document["notes"] == []
    assert "m0" in repr(found) and "length +0." in repr(found)


@pytest.mark.parametrize(
    ("wrong", "key"),
    [({"terms": ("side",)}, "terms"), ({"terms": ()}, "terms"), ({"per": "x"}, "per"), ({"level": 95}, "level")],
)
def test_wrong_arguments_are_named(wrong: dict[str, object], key: str) -> None:
    with pytest.raises(ConfigurationError) as error:
        correct(drawn(questions=5), **wrong)  # type: ignore[arg-type]
    assert error.value.problems[0].key == key


def test_intervals_hold_the_truth() -> None:
    """A small version of the benchmark: 24 sets of opinions, intervals of all differences with the first model."""
    held = []
    for seed in range(24):
        found = correct(drawn(seed, questions=30, position=0.4, length=0.5, family=0.6), terms=TERMS[:3])
        for model in range(1, 5):
            one = found.ratings.difference("m0", f"m{model}")
            truth = POINTS * (STRENGTH[0] - STRENGTH[model])
            assert one.low is not None and one.high is not None
            held.append(one.low <= truth <= one.high)
    assert 0.88 < np.mean(held) < 1


def opinions_of_two(opinions: Opinions) -> Opinions:
    return rows_of(opinions, ((opinions.a < 2) & (opinions.b < 2))[opinions.battle])


def test_two_models_have_intervals_of_their_own_effects() -> None:
    found = correct(opinions_of_two(drawn(questions=60, position=0.5)), terms=("position", "length"))
    assert found.ratings.score is None and found.ratings.low[0] is not None
    assert found.ratings.difference("m0", "m1").low is not None
