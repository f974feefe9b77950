"""Degenerate tournaments, and what the result says of them."""

import math
from typing import Any

import pytest

from coupled_arena.errors import RatingError
from coupled_arena.ratings import Count, RatingInput, Ratings, rate
from coupled_arena.ratings.result import Prior
from coupled_arena.ratings.score import score_of
from coupled_arena.ratings.table import Row
from coupled_arena.records import Battle, Decision, Verdict


def mixed(a: str, b: str, questions: int = 12, share: float = 0.5, start: int = 0) -> list[Row]:
    """Battles of which a wins this share, one a question."""
    return [(a, b, float(index < share * questions), 1.0, start + index) for index in range(questions)]


def won(a: str, b: str, questions: int = 12) -> list[Row]:
    return [(a, b, 1.0, 1.0, index) for index in range(questions)]


def rated(rows: list[Row], **settings: Any) -> Ratings:
    models = settings.pop("models", ())
    return rate(RatingInput.from_rows(rows, models=models), **settings)


def lines(ratings: Ratings) -> list[str]:
    return [pair.line for pair in ratings.settled()]


def test_an_undefeated_model_has_no_number_and_the_others_keep_theirs() -> None:
    ratings = rated([*won("a", "b"), *won("a", "c"), *mixed("b", "c", share=0.75)])
    alone = rated(mixed("b", "c", share=0.75))
    assert ratings.ratings == (None, *alone.ratings)
    assert (ratings.low[0], ratings.high[0], ratings.se[0]) == (None, None, None)
    assert ratings.separated == ("a",)
    assert ratings.components == (("a", "b", "c"),)
    assert ratings.comparable == (("a",), ("b", "c"))
    assert ratings.difference("a", "b") == ("a", "b", None, None, None, None)
    assert ratings.notes == ("a won every battle: it has no rating",)
    assert lines(ratings)[1] == "c trails a [101, ∞], by their own 12 battles: resolved"


def test_a_winless_model_has_no_number_either() -> None:
    ratings = rated([*won("b", "a"), *won("c", "a"), *mixed("b", "c")])
    assert ratings.ratings[0] is None
    assert ratings.separated == ("a",)
    assert ratings.notes == ("a lost every battle: it has no rating",)
    assert lines(ratings)[1].endswith("by their own 12 battles: resolved")


def test_groups_that_never_met_are_not_compared() -> None:
    ratings = rated([*mixed("a", "b", share=0.75), *mixed("c", "d")])
    assert ratings.ratings == (None,) * 4
    assert ratings.components == ratings.comparable == (("a", "b"), ("c", "d"))
    assert ratings.separated == ()
    assert ratings.difference("a", "c").difference is None
    inside = ratings.difference("a", "b")
    assert inside.difference == pytest.approx(400 * math.log10(3))
    assert inside.low is not None
    assert ratings.notes == ("no battle connects a, b | c, d",)
    assert lines(ratings)[1] == "b and c are not comparable: not resolved: no battles connect them"


def test_the_larger_of_two_groups_is_the_scale() -> None:
    ratings = rated([*mixed("a", "b"), *mixed("b", "c"), *mixed("d", "e")])
    assert ratings.ratings[3:] == (None, None)
    assert all(rating is not None for rating in ratings.ratings[:3])


def test_a_chain_of_sweeps_compares_nobody() -> None:
    ratings = rated([*won("a", "b"), *won("b", "c"), *won("c", "d")])
    assert ratings.ratings == (None,) * 4
    assert ratings.separated == ("a", "b", "c", "d")
    assert lines(ratings)[0].startswith("a leads b [")
    assert all(line.endswith("∞], by their own 12 battles: resolved") for line in lines(ratings))
    assert len(ratings.notes) == 4
    short = rated([*won("a", "b", 2), *won("b", "c", 2)])
    assert [line.endswith("not comparable: not resolved: too few questions") for line in lines(short)] == [True, True]


def test_sweeps_of_others_say_nothing_of_two_that_never_met() -> None:
    ratings = rated([*won("a", "b"), *won("a", "c")])
    assert lines(ratings)[1] == "b and c are not comparable: not resolved: all battles that connect them went one way"


@pytest.mark.parametrize("prior", ["weak", 0.0])
def test_a_clean_sweep_over_many_questions_is_resolved_among_several_models(prior: Prior) -> None:
    rows = [*won("a", "b", 400), *won("a", "c", 400), *mixed("b", "c", 400, 0.6)]
    ratings = rated(rows, prior=prior)
    line = next(line for line in lines(ratings) if "a" in line.split()[:3])
    assert line.endswith("by their own 400 battles: resolved")
    assert "∞" in line
    pair = next(pair for pair in ratings.settled() if "a" in (pair.a, pair.b))
    assert pair.multiplicity == "Bonferroni over 2 neighbouring pairs"
    score = score_of(RatingInput.from_rows(rows), pair.a, pair.b, level=0.975)
    end = pair.low if pair.a == "a" else -(pair.high or 0)
    share = score.low if pair.a == "a" else 1 - (score.high or 0)
    assert end == pytest.approx(400 * math.log10((share or 0) / (1 - (share or 0))))


def test_an_undefeated_model_does_not_widen_the_intervals_of_others() -> None:
    others = [*mixed("b", "c", 60, 0.6), *mixed("c", "d", 60, 0.7), *mixed("b", "d", 60, 0.5)]
    swept = [row for name in "bcd" for row in won("a", name, 60)]
    for prior in (0.0, 1.0):
        alone, beside = rated(others, prior=prior), rated([*swept, *others], prior=prior)
        for pair in (("b", "c"), ("c", "d"), ("b", "d")):
            assert beside.difference(*pair).se == pytest.approx(alone.difference(*pair).se, rel=0.02)
        assert [beside.se[1:][place] for place in range(3)] == pytest.approx(list(alone.se), rel=0.02)


def test_a_model_without_a_battle_is_not_comparable() -> None:
    ratings = rated(mixed("a", "b"), models=["idle"])
    assert ratings.ratings[2] is None
    assert ratings.comparable == (("a", "b"), ("idle",))
    assert ratings.separated == ()
    assert ratings.counts[2] == Count(0, 0, 0, 0)
    assert ratings.notes == ("idle has no rated battle and no rating",)
    assert lines(ratings)[-1] == "b and idle are not comparable: not resolved: idle has no rated battle"
    assert rated(mixed("a", "b"), models=["idle"], prior="weak").ratings[2] is None


def test_all_ties_of_three_models_are_level_within_the_interval_of_their_own_battles() -> None:
    pairs = (("a", "b"), ("a", "c"), ("b", "c"))
    ratings = rated([(*pair, 0.5, 1.0, question) for question in range(20) for pair in pairs])
    assert ratings.ratings == (1000.0, 1000.0, 1000.0)
    assert ratings.se == ratings.low == ratings.high == (None, None, None)
    assert lines(ratings)[0] == "a and b are level [-57, 57], by their own 20 battles: not resolved"


def test_all_ties_of_two_models_are_level_within_an_interval() -> None:
    ratings = rated([("a", "b", 0.5, 1.0, question) for question in range(20)])
    assert ratings.ratings == (1000.0, 1000.0)
    assert lines(ratings) == ["a and b are level [-49, 49]: not resolved"]


def test_two_models_have_the_interval_of_their_score_everywhere() -> None:
    table = RatingInput.from_rows(mixed("a", "b", 40, 0.675))
    score, ratings = score_of(table, "a", "b"), rate(table, prior="weak")
    assert ratings.score == score
    (pair,), found, turned = ratings.settled(), ratings.difference("a", "b"), ratings.difference("b", "a")
    ends = [400 * math.log10(end / (1 - end)) for end in (score.low or 0, score.high or 0)]
    assert [found.low, found.high] == [pair.low, pair.high] == pytest.approx(ends)
    assert [turned.high, turned.low] == pytest.approx([-end for end in ends])
    assert [ratings.low[0], ratings.high[0]] == pytest.approx([1000 + end / 2 for end in ends])
    assert [ratings.high[1], ratings.low[1]] == pytest.approx([1000 - end / 2 for end in ends])
    assert (pair.resolved, pair.more_questions) == (score.settled, score.more_questions) == (True, 0)


@pytest.mark.parametrize("prior", ["weak", 0.0])
@pytest.mark.parametrize(("questions", "ending"), [(5, ": not resolved: about 2 more questions"), (7, ": resolved")])
def test_a_clean_sweep_of_two_models_has_an_interval_that_is_open_on_one_side(
    prior: Prior, questions: int, ending: str
) -> None:
    ratings = rated(won("b", "a", questions), prior=prior)
    (pair,) = ratings.settled()
    assert pair.line.endswith(ending)
    assert "∞" in pair.line
    assert (pair.low is None) is not (pair.high is None)
    assert pair.line.startswith("b leads a by" if prior else "a trails b [")
    found = ratings.difference("b", "a")
    assert found.low is not None and found.high is None and found.se is None
    assert (found.low > 0) is pair.resolved
    assert (ratings.high[1], ratings.low[0]) == (None, None)


def test_no_battles_make_an_empty_result() -> None:
    ratings = rated([])
    assert (ratings.names, ratings.ratings, ratings.settled(), ratings.clusters) == ((), (), (), 0)
    assert "0 models" in repr(ratings)
    assert rate([]).names == ()


def test_one_model_is_compared_with_nobody() -> None:
    assert rated([], models=["a"]).ratings == (None,)
    assert rated([], models=["a"], prior="weak").ratings == (None,)
    assert rated([], models=["a"]).settled() == ()


def test_a_prior_makes_all_that_played_finite_and_is_named() -> None:
    rows = [*won("a", "b"), *mixed("b", "c", share=0.75)]
    ratings = rated(rows, prior="weak", models=["idle"])
    assert sum(rating or 0 for rating in ratings.ratings) == pytest.approx(3000)
    assert (ratings.ranking[0], ratings.ranking[-1], ratings.ratings[3]) == ("a", "idle", None)
    assert ratings.prior == "weak"
    assert "prior weak" in repr(ratings)
    assert ratings.notes == (
        "idle has no rated battle and no rating",
        "a won every battle: its rating is finite by the prior alone",
    )
    assert ratings.low[0] is None
    found = ratings.difference("a", "b")
    assert (found.low, found.high, found.se) == (None, None, None)
    assert (found.difference or 0) > 200
    assert ", finite by the prior alone, by their own 12 battles: resolved" in lines(ratings)[0]


def test_a_prior_that_alone_connects_groups_is_named_with_them() -> None:
    ratings = rated([*mixed("a", "b"), *mixed("c", "d")], prior="weak")
    assert ratings.notes == ("no battle connects a, b | c, d: only the prior puts them on one scale",)
    assert lines(ratings)[1].endswith("finite by the prior alone: not resolved: no battles connect them")


def test_a_model_that_a_single_question_connects_has_no_interval() -> None:
    ratings = rated([*mixed("a", "b", 30), ("c", "a", 1, 1, 0), ("c", "a", 0, 1, 0)])
    assert ratings.ratings[2] is not None
    assert ratings.se[2] is ratings.low[2] is ratings.difference("a", "c").low is None
    assert ratings.difference("a", "b").low is not None


def test_the_weak_prior_is_one_virtual_tie_with_the_mean() -> None:
    rows = mixed("a", "b", share=0.75)
    assert rated(rows, prior="weak").ratings == rated(rows, prior=1.0).ratings
    spreads = [rated(rows, prior=prior).difference("a", "b").difference or 0 for prior in (0.0, 0.5, 1.0, 10.0)]
    assert spreads == sorted(spreads, reverse=True)
    # Nine wins and three losses, and one tie of each with 1000: 9 - 12 p + 0.5 - q = 0 where p, q are the chances
    # of a against b and against 1000.
    half = spreads[2] / 2
    chance, share = (1 / (1 + 10 ** (-points / 400)) for points in (2 * half, half))
    assert 9 - 12 * chance + 0.5 - share == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(("questions", "has_interval"), [(2, False), (3, True)])
def test_intervals_need_more_clusters_than_models(questions: int, has_interval: bool) -> None:
    rows: list[Row] = [
        ("a", "b", score, 1.0, question) for question in range(questions) for score in (1.0, 0.0, float(question == 0))
    ]
    ratings = rated(rows)
    assert (ratings.low[0] is not None, ratings.se[0] is not None) == (has_interval, has_interval)
    assert lines(ratings)[0].endswith("too few questions") is not has_interval


def test_a_clear_lead_is_resolved() -> None:
    ratings = rated(mixed("a", "b", questions=100, share=0.8))
    (pair,) = ratings.settled()
    assert pair.resolved
    assert pair.more_questions == 0
    assert pair.line.startswith("a leads b by 241 [")
    assert pair.line.endswith(": resolved")


def test_a_close_race_says_how_many_more_questions_would_settle_it() -> None:
    share, questions = 9 / 16, 96
    (pair,) = rated(mixed("a", "b", questions, share)).settled()
    assert not pair.resolved
    assert pair.more_questions is not None
    assert pair.line.endswith(f"not resolved: about {pair.more_questions} more questions")
    needed = round((questions + pair.more_questions) / 16) * 16
    assert rated(mixed("a", "b", needed + 16, share)).settled()[0].resolved
    assert not rated(mixed("a", "b", needed - 32, share)).settled()[0].resolved


def test_a_dead_heat_of_three_models_is_called_level_and_plans_nothing() -> None:
    pair, _ = rated([*mixed("a", "b"), *mixed("b", "c"), *mixed("a", "c")]).settled()
    assert pair.difference == pytest.approx(0)
    assert not pair.resolved
    assert pair.more_questions is None
    assert pair.line.startswith("a and b are level [-")
    assert pair.line.endswith("]: not resolved")


def test_intervals_of_neighbours_are_widened_for_their_number() -> None:
    rows = [*mixed("a", "b", 20, 0.6), *mixed("b", "c", 20, 0.6, 20), *mixed("c", "d", 20, 0.6, 40)]
    ratings = rated(rows)
    first = ratings.settled()[0]
    plain = ratings.difference(first.a, first.b)
    assert first.multiplicity == "Bonferroni over 3 neighbouring pairs"
    assert first.low is not None and plain.low is not None
    assert first.low < plain.low
    joint = rated(rows, level=1 - 0.05 / 3).difference(first.a, first.b)
    assert first.low == pytest.approx(joint.low)


def test_ranks_break_ties_by_name() -> None:
    ratings = rated([*mixed("b", "a"), *mixed("a", "c"), *mixed("c", "b")])
    assert ratings.ranking == ("a", "b", "c")


def test_counts_are_of_battles_whatever_their_weight() -> None:
    rows: list[Row] = [("a", "b", 1, 0.5, 0), ("b", "a", 1, 0.5, 0), ("b", "a", 0.5, 1, 1), ("a", "c", 0, 1, 1)]
    ratings = rated(rows)
    assert ratings.counts == (Count(4, 1, 2, 1), Count(3, 1, 1, 1), Count(1, 1, 0, 0))
    assert ratings.clusters == 2


def test_battles_are_rated_as_their_rows_are() -> None:
    verdicts: tuple[Verdict, ...] = ("A", "B", "tie", "A", "A")
    battles = [
        Battle(
            id=f"b{index}",
            round=1,
            question=f"q{index}",
            domain="math",
            replicate=0,
            a="ada",
            b="bob",
            arm="coupled",
            decision=Decision(status="decided", verdict=verdict),
        )
        for index, verdict in enumerate(verdicts)
    ]
    scores = {"A": 1.0, "B": 0.0, "tie": 0.5}
    rows: list[Row] = [("ada", "bob", scores[verdict], 1.0, index) for index, verdict in enumerate(verdicts)]
    assert rate(battles).ratings == rated(rows).ratings
    assert rate(iter(battles)).low == rated(rows).low


def test_the_table_shows_ranks_numbers_and_who_is_not_comparable() -> None:
    ratings = rated(mixed("ada", "bob", 100, 0.8), models=["idle"])
    shown = repr(ratings).splitlines()
    assert shown[0] == "3 models, 100 clusters, ties half, no prior, level 0.95"
    assert shown[1].split() == ["rank", "model", "rating", "low", "high", "battles"]
    assert shown[2].split()[:3] == ["1", "ada", "1120"]
    assert shown[4].split() == ["-", "idle", "-", "-", "-", "0"]
    assert shown[5:] == ["comparable only within: ada, bob | idle", "note: idle has no rated battle and no rating"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"ties": "rao"}, "ties must be one of half, davidson"),
        ({"prior": "strong"}, "prior must be 'weak' or a finite number"),
        ({"prior": -1.0}, "prior must be"),
        ({"prior": math.inf}, "prior must be"),
        ({"cluster": "pair"}, "cluster must be one of question, battle"),
        ({"level": 1.0}, "level must lie between 0 and 1"),
    ],
)
def test_an_argument_out_of_range_is_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(RatingError, match=message):
        rated(mixed("a", "b"), **settings)


def test_an_unknown_model_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(RatingError, match="no model named 'zoe' was rated; there are a, b"):
        rated(mixed("a", "b")).difference("a", "zoe")
