"""The score of two models: intervals that cover, also where battles all went one way, and an honest `how many more`."""

import math
from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coupled_arena.errors import RatingError
from coupled_arena.ratings import RatingInput
from coupled_arena.ratings.score import FEWEST, Score, score_of
from coupled_arena.ratings.student import t_quantile
from coupled_arena.ratings.table import Row

NOMINAL = 0.95

Law = tuple[float, float, float]
"""Chances that a battle is won, lost, tied."""

LAWS: dict[str, Law] = {
    "even": (0.5, 0.5, 0.0),
    "seven of ten": (0.7, 0.3, 0.0),
    "nine of ten": (0.9, 0.1, 0.0),
    "even with ties": (0.35, 0.35, 0.3),
    "ahead with ties": (0.55, 0.15, 0.3),
    "never beaten": (0.7, 0.0, 0.3),
    "mostly ties": (0.05, 0.05, 0.9),
    "ahead, mostly ties": (0.1, 0.0, 0.9),
}


def table_of(results: Sequence[float], weight: float = 1.0) -> RatingInput:
    """One battle a question, all with a on side A."""
    rows: list[Row] = [("a", "b", result, weight, question) for question, result in enumerate(results)]
    return RatingInput.from_rows(rows, models=["a", "b"])


@cache
def score(wins: int, losses: int, ties: int = 0, level: float = NOMINAL) -> Score:
    return score_of(table_of([1.0] * wins + [0.0] * losses + [0.5] * ties), "a", "b", level=level)


def interval(found: Score) -> tuple[float, float]:
    assert found.low is not None and found.high is not None
    return found.low, found.high


def outcomes(law: Law, questions: int) -> Iterator[tuple[float, Score]]:
    """Every outcome of so many battles with its probability."""
    won, lost, tied = law
    for ties in range(questions + 1 if tied else 1):
        for wins in range(questions - ties + 1):
            losses = questions - ties - wins
            ways = math.comb(questions, ties) * math.comb(questions - ties, wins)
            chance = ways * won**wins * lost**losses * tied**ties
            if chance > 1e-9:
                yield chance, score(wins, losses, ties)


def coverage(law: Law, questions: int) -> float:
    """Return the exact probability that the interval holds the true mean score."""
    truth = law[0] + law[2] / 2
    return sum(c for c, found in outcomes(law, questions) if interval(found)[0] <= truth <= interval(found)[1] + 1e-12)


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
@pytest.mark.parametrize("questions", [5, 10, 20])
def test_intervals_cover_in_small_samples(law: Law, questions: int) -> None:
    assert coverage(law, questions) > 0.95


@pytest.mark.parametrize("questions", [40, 80])
@pytest.mark.parametrize("chance", [0.5, 0.7, 0.9, 0.99])
def test_intervals_cover_in_larger_samples(questions: int, chance: float) -> None:
    """Counts are whole numbers, so the coverage swings about the nominal one."""
    assert 0.935 < coverage((chance, 1 - chance, 0.0), questions) < 0.97


@pytest.mark.parametrize("questions", [5, 10, 20, 40, 80])
def test_on_average_over_all_win_rates_intervals_cover_as_promised_and_nowhere_far_below(questions: int) -> None:
    found = [coverage((percent / 100, 1 - percent / 100, 0.0), questions) for percent in range(50, 100)]
    assert np.mean(found) >= NOMINAL
    assert min(found) > 0.9


@pytest.mark.parametrize("questions", [5, 10, 20, 40, 80])
def test_equal_models_are_told_apart_as_rarely_as_promised(questions: int) -> None:
    wrongly = sum(chance for chance, found in outcomes((0.5, 0.5, 0.0), questions) if found.settled)
    assert wrongly < 0.06


def test_battles_of_one_question_count_as_one_where_they_agree_and_as_many_where_they_do_not() -> None:
    rng = np.random.default_rng(11)
    covered = {"replicates": 0, "both sides": 0}
    naive, trials, questions = 0, 1000, 20
    for _ in range(trials):
        # Each question favours one model by a Beta(0.75, 0.25) draw, so that its battles depend on each other.
        favour = rng.beta(0.75, 0.25, questions)
        rows = [(q, float(rng.random() < favour[q])) for q in range(questions) for _ in range(4)]
        same = RatingInput.from_rows([("a", "b", result, 1.0, q) for q, result in rows])
        low, high = interval(score_of(same, "a", "b"))
        covered["replicates"] += low <= 0.75 <= high
        alone = RatingInput.from_rows([("a", "b", result, 1.0, i) for i, (_, result) in enumerate(rows)])
        low, high = interval(score_of(alone, "a", "b"))
        naive += low <= 0.75 <= high
        halves: list[Row] = []
        for q in range(questions):
            first, second = rng.random(2) < favour[q]
            halves += [("a", "b", float(first), 0.5, q), ("b", "a", 1.0 - second, 0.5, q)]
        low, high = interval(score_of(RatingInput.from_rows(halves), "a", "b"))
        covered["both sides"] += low <= 0.75 <= high
    assert all(0.935 < count / trials < 0.985 for count in covered.values()), covered
    assert naive / trials < 0.85


def test_five_votes_of_a_panel_that_agrees_often_make_no_interval_too_wide() -> None:
    rng, questions, trials, covered = np.random.default_rng(5), 10, 800, 0
    question = np.repeat(np.arange(questions), 5)
    first, second = np.zeros_like(question), np.ones_like(question)
    weight = np.ones(len(question))
    for chance in rng.uniform(0.5, 0.75, trials):
        common = np.repeat(rng.random(questions) < chance, 5)
        votes = np.where(rng.random(len(question)) < 0.7, common, rng.random(len(question)) < chance)
        found = score_of(RatingInput(("a", "b"), first, second, votes.astype(np.float64), weight, question), "a", "b")
        low, high = interval(found)
        covered += low <= chance <= high
    assert 0.94 < covered / trials < 0.975


def test_without_ties_it_is_wilsons_interval_with_students_quantile() -> None:
    found, t = score(27, 13), t_quantile(0.975, 39)
    for end in interval(found):
        assert (0.675 - end) ** 2 == pytest.approx(t**2 * end * (1 - end) / 40)


@pytest.mark.parametrize(("wins", "settled"), [(3, False), (5, False), (6, False), (7, True), (40, True)])
def test_a_clean_sweep_settles_it_from_seven_questions_on(wins: int, settled: bool) -> None:
    found = score(wins, 0)
    assert (found.settled, found.high) == (settled, 1.0)
    assert score(0, wins).low == 0.0
    # Seven heads of seven have chance 1/64 if the models are even, and six of six 1/32: this asks for more than that.
    assert interval(found)[0] > 0


def test_nothing_but_ties_is_level_and_narrows_with_the_questions() -> None:
    few, many = score(0, 0, 10), score(0, 0, 40)
    assert (many.share, many.settled, many.more_questions) == (0.5, False, None)
    assert 0 < interval(few)[0] < interval(many)[0] < 0.5 < interval(many)[1] < interval(few)[1]


def test_a_win_more_never_lowers_the_interval() -> None:
    """Between all ties and all wins there is no jump: a sample without spread is no special case."""
    lows = [interval(score(wins, 0, 20 - wins))[0] for wins in range(21)]
    assert lows == sorted(lows)
    assert max(np.diff(lows)) < 0.06


@pytest.mark.parametrize("wins", [21, 22, 24, 26])
def test_so_many_more_questions_at_the_same_rate_settle_it(wins: int) -> None:
    more = score(wins, 40 - wins).more_questions
    assert more is not None and more > 0
    assert more < 100 or more % 10 ** (len(str(more)) - 2) == 0

    def settles(questions: int) -> bool:
        share = wins / 40
        return questions * (2 * share - 1) ** 2 > t_quantile(0.975, questions - 1) ** 2

    assert settles(40 + more)
    assert not settles(40 + math.floor(more * 0.9) - 1)


def test_a_lead_too_small_to_ever_count_out_has_no_number() -> None:
    rows: list[Row] = [("a", "b", float(q % 2), 1.0 + (q == 1) * 1e-6, q) for q in range(40)]
    found = score_of(RatingInput.from_rows(rows), "a", "b")
    assert (found.settled, found.more_questions) == (False, None)


def test_fewer_than_three_questions_have_a_score_without_interval() -> None:
    found = score(2, 0)
    assert (found.share, found.low, found.high, found.settled, found.more_questions) == (1.0, None, None, False, None)
    assert (score(0, 0).share, score(0, 0).battles, score(0, 0).questions) == (None, 0, 0)


def test_only_the_battles_of_the_two_count_whatever_their_sides() -> None:
    rows: list[Row] = [("a", "b", 1, 1, 0), ("b", "a", 0, 1, 1), ("b", "a", 0.5, 1, 2), ("b", "a", 1, 1, 3)]
    alone = score_of(RatingInput.from_rows(rows), "a", "b")
    among = score_of(RatingInput.from_rows([*rows, ("a", "c", 0, 1, 4), ("c", "b", 1, 1, 0)]), "a", "b")
    assert among == alone
    assert (alone.wins, alone.losses, alone.ties, alone.questions, alone.share) == (2, 1, 1, 4, 0.625)


def test_a_name_that_was_not_rated_is_refused() -> None:
    with pytest.raises(RatingError, match="no model named 'zoe' was rated; there are a, b"):
        score_of(table_of([1.0]), "a", "zoe")


@given(
    st.lists(st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.integers(0, 9), st.floats(0.1, 10)), max_size=40),
    st.sampled_from([0.5, 0.9, 0.95, 0.99375]),
)
def test_an_interval_holds_the_score_and_turns_with_the_models(
    battles: list[tuple[float, int, float]], level: float
) -> None:
    rows: list[Row] = [("a", "b", result, weight, question) for result, question, weight in battles]
    table = RatingInput.from_rows(rows, models=["a", "b"])
    found, other = score_of(table, "a", "b", level=level), score_of(table, "b", "a", level=level)
    turned = found.turned()
    assert (turned.a, turned.wins, turned.losses, turned.settled) == ("b", other.wins, other.losses, other.settled)
    for mine, its in ((turned.share, other.share), (turned.low, other.low), (turned.high, other.high)):
        assert mine == (None if its is None else pytest.approx(its))
    assert (found.low is None) is (found.questions < FEWEST)
    if found.low is not None and found.high is not None and found.share is not None:
        assert 0 <= found.low <= found.share <= found.high <= 1
        assert found.settled is not (found.low <= 0.5 <= found.high)
        assert (found.more_questions == 0) is found.settled
