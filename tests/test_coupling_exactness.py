"""The sampler draws from exactly the law it says; samplers that are 1 % wrong are noticed by the same statistics.

All p values are taken at a family-wise level of 1e-4 with Bonferroni's correction (`benchmarks/sampler_exactness.py`,
which draws 200,000 times from the full vocabulary too). Seeds are fixed.
"""

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks import sampler_exactness as exactness
from benchmarks.sampler_exactness import (
    CASES,
    DRAWS,
    FULL,
    P_VALUES,
    THRESHOLD,
    WRONG,
    Case,
    Logits,
    differences,
    judged,
    key,
    likelihood_ratio,
    p_of_normal,
    pair_counts,
    pair_law,
    replied,
    verdict,
    words,
)
from coupled_arena.coupling import Sampler, Sampling, Vocabulary, exponentials
from coupled_arena.coupling import race as races
from coupled_arena.coupling import sampler as samplers
from coupled_arena.coupling.alignment import ALIGNMENTS, Alignment, Positions
from coupled_arena.coupling.laws import independent_law, win_rates

FULL_DRAWS = 5_000
BY_NAME = {case.name: case for case in (*CASES, FULL)}
FILTERED = [case.name for case in CASES if case.name.startswith(("top", "min"))]


def number(case: Case) -> int:
    return FULL_DRAWS if case is FULL else DRAWS * case.times


@cache
def tokens(name: str) -> NDArray[np.intp]:
    return replied(BY_NAME[name], number(BY_NAME[name]))


def test_no_more_p_values_are_taken_than_the_level_allows_for() -> None:
    three_each, pair, replies, repeats, wins = 3 * len(BY_NAME), 3, 2, 2, 12
    assert three_each + pair + replies + repeats + wins <= P_VALUES


@pytest.mark.parametrize("name", BY_NAME)
def test_the_law_is_drawn_exactly(name: str) -> None:
    found = judged(BY_NAME[name], tokens(name))
    assert not found.rejected, found


@pytest.mark.parametrize("name", [case.name for case in CASES if case.alignment == "step"])
def test_a_temperature_one_per_cent_too_high_is_noticed(name: str) -> None:
    case = BY_NAME[name]
    assert judged(case, exactness.too_hot(case, number(case))).rejected


@pytest.mark.parametrize("name", [case.name for case in CASES])
def test_one_draw_in_a_hundred_that_goes_astray_is_noticed(name: str) -> None:
    case = BY_NAME[name]
    assert judged(case, exactness.led_astray(tokens(name), case.law)).rejected


@pytest.mark.parametrize("name", FILTERED)
def test_a_filter_whose_edge_is_one_candidate_off_is_noticed(name: str) -> None:
    case = BY_NAME[name]
    assert [judged(case, found).rejected for found in exactness.edges_off(case, number(case))] == [True, True]


def test_end_tokens_that_are_not_merged_or_merged_before_the_temperature_are_noticed() -> None:
    case = BY_NAME["two end tokens, T 0.7"]
    for wrong in (exactness.unmerged, exactness.merged_early):
        assert judged(case, wrong(case, number(case))).rejected


@pytest.mark.parametrize("name", ["5 candidates", "50 candidates"])
def test_noise_that_is_one_per_cent_too_wide_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Gumbel noise is `-log E`, so it is wider by 1 % where E is raised to the power 1.01."""
    monkeypatch.setattr(races, "exponentials", lambda *given: exponentials(*given) ** WRONG)
    assert judged(BY_NAME[name], replied(BY_NAME[name], number(BY_NAME[name]))).rejected


@pytest.mark.parametrize("name", ["5 candidates", "1,000 candidates", "full vocabulary of 49,152"])
def test_many_draws_at_once_are_the_draws_one_by_one(name: str) -> None:
    case = BY_NAME[name]
    sampler = Sampler(case.vocabulary)
    single = [sampler.draw(case.logits, case.sampling, key(name), position).token for position in range(200)]
    assert single == tokens(name)[:200].tolist()


def again(drawn: NDArray[np.intp]) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Return counts of pairs of neighbours, their law, and their law if 1 token in 100 is its neighbour again."""
    law = BY_NAME["context"].law
    counts = np.bincount(drawn[::2] * len(law) + drawn[1::2], minlength=len(law) ** 2)
    apart = independent_law(law, law)
    return counts, apart.ravel(), (0.99 * apart + 0.01 * np.diag(law)).ravel()


@pytest.mark.parametrize("alignment", ["step", "context"])
def test_neighbouring_tokens_are_independent_and_one_repeated_in_a_hundred_is_noticed(alignment: Alignment) -> None:
    case = BY_NAME["context"]
    drawn = tokens("context") if alignment == "context" else replied(Case(case.name, case.logits, case.sampling), DRAWS)
    assert p_of_normal(likelihood_ratio(*again(drawn))) > THRESHOLD
    stuck = drawn.copy()
    stuck[1::200] = stuck[::200]
    assert p_of_normal(likelihood_ratio(*again(stuck))) < THRESHOLD


CHAIN = np.array([[0.5, 0.3, 0.2], [0.2, 0.6, 0.2], [0.45, 0.25, 0.3]])
"""What follows the beginning, a and b: a, b or the end."""
LONGEST = 4


def replies_law() -> NDArray[np.float64]:
    """Return the law of whole replies of at most four tokens, each a number in base 3 whose digits are its tokens."""
    law = np.zeros(3**LONGEST)

    def follow(state: int, told: int, length: int, chance: float) -> None:
        if length == LONGEST:
            law[told] += chance
            return
        for token, share in enumerate(CHAIN[state]):
            if token == 2:
                law[(told * 3 + 2) * 3 ** (LONGEST - length - 1)] += chance * share
            else:
                follow(token + 1, told * 3 + token, length + 1, chance * share)

    follow(0, 0, 0, 1.0)
    return law


class WithoutCounter:
    """Alignment by the last byte alone, however often it came before."""

    def __init__(self) -> None:
        self._positions = ALIGNMENTS["context"]()

    def next(self) -> int:
        return self._positions.next()

    def append(self, data: bytes) -> None:
        self._positions = ALIGNMENTS["context"]()
        self._positions.append(data)


def replies(make: type[Positions] | object, draws: int) -> NDArray[np.int64]:
    vocabulary = Vocabulary([b"a", b"b", b"</s>"], end_tokens=[2])
    laws = [Sampler(vocabulary).law(np.log(row).astype(np.float32), Sampling(1)) for row in CHAIN]
    counts = np.zeros(3**LONGEST, dtype=np.int64)
    for reply in range(draws):
        dice, positions, state, told = key(f"reply {reply}"), make(), 0, 0  # type: ignore[operator]
        for length in range(LONGEST):
            drawn = laws[state].draw(dice, positions.next())
            told = told * 3 + drawn.token
            if drawn.end:
                told *= 3 ** (LONGEST - length - 1)
                break
            positions.append(b"ab"[drawn.token : drawn.token + 1])
            state = drawn.token + 1
        counts[told] += 1
    return counts


@pytest.mark.parametrize("alignment", ["step", "context"])
def test_whole_replies_follow_the_models_own_law(alignment: Alignment) -> None:
    assert exactness.chi_squared(replies(ALIGNMENTS[alignment], 10_000), replies_law()) > THRESHOLD


def test_a_context_that_gives_the_same_dice_each_time_it_comes_is_noticed() -> None:
    assert exactness.chi_squared(replies(WithoutCounter, 2000), replies_law()) < THRESHOLD


def test_two_models_with_different_vocabularies_answer_together_by_their_joint_law() -> None:
    null, alternative = pair_law(), pair_law(alternative=True)
    found = verdict(pair_counts(DRAWS), null, alternative)
    assert not found.rejected, found
    assert verdict(pair_counts(DRAWS, WRONG), null, alternative).rejected
    assert verdict(pair_counts(DRAWS, other="dice of its own"), null, alternative).rejected


RIGHT = np.array([[0.4, 1.0], [0.48, 0.9], [0.5, 0.89]])
RATES = {
    coupled: win_rates(np.stack([RIGHT, 1 - RIGHT], axis=-1), [[1, 0], [1, 0]], coupled=coupled)
    for coupled in (True, False)
}


def played(*, coupled: bool) -> NDArray[np.float64]:
    """Return how often the row's model was right and the column's was not, over both questions, shape (3, 3)."""
    sampler, wins = Sampler(Vocabulary([b"right", b"wrong"], [])), np.zeros((3, 3))
    for question in range(2):
        right = []
        for model in range(3):
            share = RIGHT[model, question]
            with np.errstate(divide="ignore"):
                law = sampler.law(np.log([share, 1 - share]).astype(np.float32), Sampling(1))
            name = key(f"question {question}" if coupled else f"question {question}, model {model}")
            right.append(law.tokens_at(name, np.arange(DRAWS, dtype=np.uint64)) == 0)
        wins += [[(one & ~other).mean() / 2 for other in right] for one in right]
    return wins


@pytest.mark.parametrize("coupled", [True, False])
def test_three_models_win_as_often_as_the_law_says_and_their_ranking_flips(coupled: bool) -> None:
    wins, exact, other = played(coupled=coupled), RATES[coupled], RATES[not coupled]
    assert np.argsort(-wins.sum(axis=1)).tolist() == np.argsort(-exact.averages).tolist()
    assert np.argsort(-exact.averages).tolist() != np.argsort(-other.averages).tolist()

    def worst(expected: NDArray[np.float64]) -> float:
        """Return the smallest p value of the six win rates; standard errors are those of independent questions."""
        error = np.sqrt(np.maximum(expected * (1 - expected), 1e-12) / (2 * DRAWS))
        return min(p_of_normal(z) for z in ((wins - expected) / error)[~np.eye(3, dtype=bool)])

    assert worst(exact.wins) > THRESHOLD
    assert worst(other.wins) < THRESHOLD


@cache
def random_cases(number: int) -> list[tuple[Logits, Vocabulary, Sampling]]:
    return exactness.random_cases(number)


def test_a_draw_is_the_argmax_over_noise_for_the_whole_vocabulary() -> None:
    assert differences(random_cases(10_000), exactness.as_it_is) == 0


def heavier(logits: Logits, vocabulary: Vocabulary, sampling: Sampling, key: bytes, position: int) -> int:
    """The likeliest candidate weighs 1 % more."""
    logits = logits.copy()
    logits[np.argmax(logits)] += 0.01 * sampling.temperature
    return exactness.as_it_is(logits, vocabulary, sampling, key, position)


def hotter(logits: Logits, vocabulary: Vocabulary, sampling: Sampling, key: bytes, position: int) -> int:
    wrong = Sampling(sampling.temperature * WRONG, sampling.top_k, sampling.top_p, sampling.min_p)
    return exactness.as_it_is(logits, vocabulary, wrong, key, position)


def one_more(logits: Logits, vocabulary: Vocabulary, sampling: Sampling, key: bytes, position: int) -> int:
    top_k = None if sampling.top_k is None else sampling.top_k + 1
    wrong = Sampling(sampling.temperature, top_k, sampling.top_p, sampling.min_p)
    return exactness.as_it_is(logits, vocabulary, wrong, key, position)


def wider(logits: Logits, vocabulary: Vocabulary, sampling: Sampling, key: bytes, position: int) -> int:
    """The nucleus holds 1 % more of the mass that it leaves out."""
    top_p = None if sampling.top_p is None else sampling.top_p + 0.01 * (1 - sampling.top_p)
    wrong = Sampling(sampling.temperature, sampling.top_k, top_p, sampling.min_p)
    return exactness.as_it_is(logits, vocabulary, wrong, key, position)


def lower(logits: Logits, vocabulary: Vocabulary, sampling: Sampling, key: bytes, position: int) -> int:
    min_p = None if sampling.min_p is None else sampling.min_p * 0.9
    wrong = Sampling(sampling.temperature, sampling.top_k, sampling.top_p, min_p)
    return exactness.as_it_is(logits, vocabulary, wrong, key, position)


def by_number(logits: Logits, vocabulary: Vocabulary, sampling: Sampling, key: bytes, position: int) -> int:
    """Ties at an edge go to the token with the smaller number."""
    with np.errstate(invalid="ignore"):
        logits = logits - np.arange(len(logits), dtype=np.float32) * np.float32(1e-5)
    return exactness.as_it_is(logits, vocabulary, sampling, key, position)


def two_ends(logits: Logits, vocabulary: Vocabulary, sampling: Sampling, key: bytes, position: int) -> int:
    """Only the likeliest end token ends a reply."""
    logits, ends = logits.copy(), vocabulary.end_tokens
    logits[ends] = np.where(np.arange(len(ends)) == np.argmax(logits[ends]) if len(ends) else [], logits[ends], -np.inf)
    return exactness.as_it_is(logits, vocabulary, sampling, key, position)


@pytest.mark.parametrize("wrong", [heavier, hotter, one_more, wider, lower, by_number, two_ends])
def test_draw_for_draw_a_slightly_wrong_sampler_differs_from_the_argmax(wrong: exactness.Draw) -> None:
    assert differences(random_cases(10_000)[:3000], wrong) > 0


def test_draws_from_a_full_vocabulary_are_the_argmax_and_one_per_cent_shows() -> None:
    cases = [(FULL.logits, FULL.vocabulary, FULL.sampling)] * 400
    assert differences(cases, exactness.as_it_is) == 0
    assert differences(cases, hotter) > 0


def test_the_race_loses_nobody_who_could_still_win(monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case("contenders", exactness.two_levels(6000, 1, 10.0), Sampling(1))
    cases = [(case.logits, case.vocabulary, case.sampling)] * 1000
    assert differences(cases, exactness.as_it_is) == 0
    monkeypatch.setattr(samplers, "contenders", lambda *given: races.contenders(*given)[:1])
    assert differences(cases, exactness.as_it_is) > 0


def test_noise_for_many_positions_is_the_noise_of_each() -> None:
    identities = Vocabulary(words(7), []).identities
    positions = np.array([0, 1, 5, 2**40, 2**64 - 1], dtype=np.uint64)
    together = exponentials(key("many"), positions, identities)
    assert together.tolist() == [exponentials(key("many"), int(one), identities).tolist() for one in positions]
