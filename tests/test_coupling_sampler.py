"""The sampler: exact law, filters in their order, ties, end tokens, shared dice."""

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from coupled_arena.coupling import Sampler, Sampling, Vocabulary, exponentials, noise_key, token_identity
from coupled_arena.errors import EngineFault

CHI2_AT_1E4 = {3: 21.11, 4: 23.51, 5: 25.74}
"""0.9999 quantiles of chi-squared, by degrees of freedom."""

KEY = noise_key(seed=7, scope=("sampler",), role=(), label=(), part="whole")

Logits = NDArray[np.float32]


def logits(values: Sequence[float]) -> Logits:
    return np.array(values, dtype=np.float32)


def words(size: int) -> list[bytes]:
    return [b"w%d" % index for index in range(size)]


def reference(values: Logits, vocabulary: Vocabulary, sampling: Sampling) -> dict[int, float]:
    """The law after temperature, merging and filters, written as slowly and plainly as can be."""
    ends = vocabulary.end_tokens.tolist()
    scores = {t: float(v) / sampling.temperature for t, v in enumerate(values) if t not in ends}
    if ends:
        scores[ends[0]] = float(np.logaddexp.reduce([float(values[t]) / sampling.temperature for t in ends]))
    order = sorted(scores, key=lambda t: (-scores[t], int(vocabulary.identities[t])))
    if sampling.top_k is not None:
        order = order[: sampling.top_k]
    highest = scores[order[0]]
    mass = {t: math.exp(scores[t] - highest) for t in order}
    if sampling.top_p is not None:
        needed, held, kept = sampling.top_p * math.fsum(mass.values()), 0.0, []
        for t in order:
            if held >= needed:
                break
            kept.append(t)
            held += mass[t]
        order = kept
    if sampling.min_p is not None:
        order = [t for t in order if scores[t] >= highest + math.log(sampling.min_p)]
    total = math.fsum(mass[t] for t in order)
    return {t: mass[t] / total for t in order}


def reference_draw(law: dict[int, float], vocabulary: Vocabulary, key: bytes, position: int) -> int:
    noise = {t: float(exponentials(key, position, vocabulary.identities[[t]])[0]) for t in law}
    return max(law, key=lambda t: math.log(law[t]) - math.log(noise[t]) if law[t] else -math.inf)


samplings = st.builds(
    Sampling,
    temperature=st.floats(0.05, 5),
    top_k=st.none() | st.integers(1, 12),
    top_p=st.none() | st.floats(0.05, 1),
    min_p=st.none() | st.floats(0.01, 1),
)
scores = st.lists(st.integers(-12, 12).map(lambda n: n / 4), min_size=2, max_size=40)


@given(scores, samplings, st.sets(st.integers(0, 39), max_size=3), st.integers(0, 2**64 - 1))
def test_a_draw_is_the_plain_argmax_over_the_filtered_law(
    values: list[float], sampling: Sampling, ends: set[int], position: int
) -> None:
    vocabulary = Vocabulary(words(len(values)), {end for end in ends if end < len(values)})
    law = reference(logits(values), vocabulary, sampling)
    draw = Sampler(vocabulary).draw(logits(values), sampling, KEY, position)
    assert draw.token == reference_draw(law, vocabulary, KEY, position)
    assert draw.logprob == pytest.approx(math.log(law[draw.token]), abs=1e-9)
    assert draw.end == (draw.token in vocabulary.end_tokens)


@pytest.mark.parametrize(
    "sampling",
    [
        Sampling(temperature=1),
        Sampling(temperature=0.1),
        Sampling(temperature=3),
        Sampling(temperature=0.7, top_k=50),
        Sampling(temperature=1, top_p=0.9),
        Sampling(temperature=1, min_p=0.05),
        Sampling(temperature=2, top_k=3000, top_p=0.95, min_p=0.001),
    ],
    ids=str,
)
@pytest.mark.parametrize("spread", [0.1, 3.0, 12.0])
def test_a_large_vocabulary_is_drawn_from_as_a_small_one(sampling: Sampling, spread: float) -> None:
    rng = np.random.default_rng(3)
    vocabulary = Vocabulary(words(8192), [5, 700])
    values = (rng.normal(size=8192) * spread).astype(np.float32)
    law = reference(values, vocabulary, sampling)
    tokens = np.array(list(law))
    chances = np.array([math.log(chance) if chance else -math.inf for chance in law.values()])
    for position in range(20):
        draw = Sampler(vocabulary).draw(values, sampling, KEY, position)
        noise = exponentials(KEY, position, vocabulary.identities[tokens])
        assert draw.token == tokens[np.argmax(chances - np.log(noise))]
        assert draw.logprob == pytest.approx(math.log(law[draw.token]), abs=1e-6)


def statistic(counts: Counter[int], law: dict[int, float]) -> float:
    total = counts.total()
    assert set(counts) <= set(law)
    return sum((counts[token] - total * chance) ** 2 / (total * chance) for token, chance in law.items())


VOCABULARY = Vocabulary(words(6), end_tokens=[4, 5])
VALUES = logits([3.0, 1.5, 0.0, -1.0, -0.5, -0.8])


@pytest.mark.parametrize(
    "sampling", [Sampling(temperature=0.7), Sampling(temperature=1, top_k=4), Sampling(temperature=1, top_p=0.97)]
)
def test_the_models_own_law_is_drawn_exactly_and_a_law_one_per_cent_off_is_noticed(sampling: Sampling) -> None:
    sampler, draws = Sampler(VOCABULARY), 20_000
    counts = Counter(sampler.draw(VALUES, sampling, KEY, position).token for position in range(draws))
    law = reference(VALUES, VOCABULARY, sampling)
    threshold = CHI2_AT_1E4[len(law) - 1]
    assert statistic(counts, law) < threshold
    rarest = min(law, key=lambda token: law[token])
    moved = {token: chance * 0.99 + 0.01 * (token == rarest) for token, chance in law.items()}
    assert statistic(counts, moved) > threshold


def test_the_law_holds_over_keys_as_over_positions() -> None:
    sampler, sampling = Sampler(VOCABULARY), Sampling(temperature=1)
    counts = Counter(
        sampler.draw(
            VALUES, sampling, noise_key(seed=7, scope=("k",), role=(), label=(), part="whole", sample=sample), 0
        ).token
        for sample in range(10_000)
    )
    assert statistic(counts, reference(VALUES, VOCABULARY, sampling)) < CHI2_AT_1E4[4]


def test_end_tokens_are_one_candidate_with_the_mass_of_all() -> None:
    several = Sampler(Vocabulary([b"a", b"b", b"<eos>", b"<eot>"], end_tokens=[2, 3]))
    single = Sampler(Vocabulary([b"b", b"a", b"</s>"], end_tokens=[2]))
    merged = math.log(math.exp(1 / 0.7) + math.exp(0.5 / 0.7)) * 0.7
    for position in range(200):
        one = several.draw(logits([1, 0, 1, 0.5]), Sampling(), KEY, position)
        two = single.draw(logits([0, 1, merged]), Sampling(), KEY, position)
        assert (one.token, two.token) in {(0, 1), (1, 0), (2, 2)}
        assert one.end == two.end == (one.token == 2)
        assert one.logprob == pytest.approx(two.logprob, abs=1e-6)


def test_end_tokens_are_merged_before_the_filters() -> None:
    sampler = Sampler(Vocabulary([b"a", b"<eos>", b"<eot>"], end_tokens=[1, 2]))
    draw = sampler.draw(logits([1.0, 0.9, 0.9]), Sampling(temperature=1, top_k=1), KEY, 0)
    assert draw == (1, True, 0.0)


def test_ties_at_the_edge_of_a_filter_are_broken_by_identity() -> None:
    data = words(9)
    order = sorted(range(9), key=lambda t: token_identity(data[t]))
    sampler = Sampler(Vocabulary(data, end_tokens=[]))
    for sampling in (Sampling(temperature=1, top_k=3), Sampling(temperature=1, top_p=3 / 9 - 1e-9)):
        drawn = {sampler.draw(logits([1.0] * 9), sampling, KEY, position).token for position in range(300)}
        assert drawn == set(order[:3])


def test_temperature_zero_takes_the_likeliest_and_breaks_ties_by_identity() -> None:
    data = words(4)
    sampler = Sampler(Vocabulary(data, end_tokens=[]))
    greedy = Sampling(temperature=0, top_k=2, top_p=0.5)
    assert sampler.draw(logits([0, 3, 1, 2]), greedy, KEY, 0) == (1, False, 0.0)
    first = min(range(4), key=lambda t: token_identity(data[t]))
    assert {sampler.draw(logits([1, 1, 1, 1]), greedy, KEY, position).token for position in range(20)} == {first}


def test_greedy_ends_when_any_end_token_is_likeliest() -> None:
    sampler = Sampler(Vocabulary([b"a", b"<eos>", b"<eot>"], end_tokens=[1, 2]))
    assert sampler.draw(logits([0.5, -1, 1]), Sampling(temperature=0), KEY, 0) == (1, True, 0.0)


def test_the_order_of_a_vocabulary_never_matters() -> None:
    data, values = words(30), np.linspace(-2, 2, 30).astype(np.float32)
    shuffled = np.random.default_rng(1).permutation(30)
    here, there = Sampler(Vocabulary(data, [])), Sampler(Vocabulary([data[index] for index in shuffled], []))
    for sampling in (Sampling(), Sampling(top_k=5), Sampling(top_p=0.8), Sampling(min_p=0.2), Sampling(temperature=0)):
        for position in range(50):
            one = here.draw(values, sampling, KEY, position)
            two = there.draw(values[shuffled], sampling, KEY, position)
            assert one.token == shuffled[two.token]
            assert one.logprob == pytest.approx(two.logprob, abs=1e-12)


def test_near_equal_models_draw_the_same_token_far_more_often_coupled_than_not() -> None:
    rng = np.random.default_rng(5)
    data = words(200)
    one, two = Sampler(Vocabulary(data, [])), Sampler(Vocabulary([*data, b"new"], []))
    base = rng.normal(size=200).astype(np.float32) * 2
    near = np.append(base + rng.normal(size=200).astype(np.float32) * 0.1, np.float32(-9))
    other = noise_key(seed=8, scope=("sampler",), role=(), label=(), part="whole")
    draws = [one.draw(base, Sampling(temperature=1), KEY, position).token for position in range(500)]
    shared = [two.draw(near, Sampling(temperature=1), KEY, position).token for position in range(500)]
    apart = [two.draw(near, Sampling(temperature=1), other, position).token for position in range(500)]
    assert sum(a == b for a, b in zip(draws, shared, strict=True)) > 420
    assert sum(a == b for a, b in zip(draws, apart, strict=True)) < 100


def test_impossible_tokens_are_never_drawn() -> None:
    sampler = Sampler(Vocabulary(words(5), end_tokens=[3, 4]))
    values = logits([0, -math.inf, 0, -math.inf, -math.inf])
    for sampling in (Sampling(temperature=5), Sampling(top_k=4), Sampling(top_p=0.99), Sampling(min_p=1e-9)):
        assert {sampler.draw(values, sampling, KEY, position).token for position in range(50)} == {0, 2}


@pytest.mark.parametrize("temperature", [1e-320, 1e-9, 1e9, 1e39, 1e308])
def test_extreme_temperatures_are_drawn_without_a_warning(temperature: float) -> None:
    sampler = Sampler(Vocabulary(words(4), end_tokens=[3]))
    drawn = {sampler.draw(logits([3, 1, 2, 0]), Sampling(temperature), KEY, position).token for position in range(99)}
    assert drawn == ({0, 1, 2, 3} if temperature > 1 else {0})


@pytest.mark.parametrize("temperature", [1e-320, 1e-38, 1e-9, 1e9, 1e39, 1e308])
@pytest.mark.parametrize("top_p", [None, 0.5])
def test_a_large_vocabulary_too_is_drawn_at_extreme_temperatures(temperature: float, top_p: float | None) -> None:
    values = np.linspace(-3e38, 3e38, 6000).astype(np.float32)
    values[::2] = -np.inf
    sampler, sampling = Sampler(Vocabulary(words(6000), [])), Sampling(temperature, top_p=top_p)
    drawn = {sampler.draw(values, sampling, KEY, position).token for position in range(20)}
    assert all(token % 2 for token in drawn)
    assert (len(drawn) > 1) == (temperature >= 1e39)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1.0, 2.0], "for 3 tokens"),
        ([1.0, math.nan, 2.0], "nan"),
        ([-math.inf] * 3, "-inf"),
        ([0.0, math.inf, 0.0], "inf"),
    ],
)
def test_logits_that_no_law_can_be_made_of_are_an_engine_fault(values: list[float], message: str) -> None:
    with pytest.raises(EngineFault, match=message):
        Sampler(Vocabulary(words(3), [])).draw(logits(values), Sampling(), KEY, 0)


@pytest.mark.parametrize("size", [40, 6000])
@pytest.mark.parametrize("ends", [(), (1, 3)])
@pytest.mark.parametrize("sampling", [Sampling(temperature=1), Sampling(temperature=0.7, top_p=0.99)], ids=str)
def test_a_law_says_how_likely_each_candidate_is(size: int, ends: tuple[int, ...], sampling: Sampling) -> None:
    vocabulary = Vocabulary(words(size), ends)
    values = np.random.default_rng(4).normal(size=size).astype(np.float32)
    law = Sampler(vocabulary).law(values, sampling)
    expected = reference(values, vocabulary, sampling)
    given = {t: chance for t, chance in zip(law.tokens.tolist(), law.probabilities.tolist(), strict=True) if chance}
    assert given == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("size", [40, 6000])
def test_a_law_stays_when_the_logits_it_was_made_from_change(size: int) -> None:
    values = np.random.default_rng(4).normal(size=size).astype(np.float32)
    law = Sampler(Vocabulary(words(size), [])).law(values, Sampling(temperature=1))
    before = law.draw(KEY, 3)
    values[:] = -np.arange(size)
    assert law.draw(KEY, 3) == before
    assert law.tokens_at(KEY, np.array([3], dtype=np.uint64)).tolist() == [before.token]


@pytest.mark.parametrize("temperature", [0, 0.7])
def test_logits_may_be_any_sequence_of_numbers(temperature: float) -> None:
    sampler, sampling = Sampler(Vocabulary(words(3), [])), Sampling(temperature)
    drawn = {sampler.draw(values, sampling, KEY, 0) for values in ([2, 1, -9], (2.0, 1.0, -9.0), logits([2, 1, -9]))}
    assert len(drawn) == 1
    assert sampler.law([2, 1, -9], sampling).draw(KEY, 0) in drawn


def test_logits_that_are_no_numbers_are_refused() -> None:
    sampler = Sampler(Vocabulary(words(2), []))
    for values in (["a", "b"], [[1.0], [1.0, 2.0]], [None, object()]):
        with pytest.raises(EngineFault, match="no numbers"):
            sampler.draw(values, Sampling(1), KEY, 0)  # type: ignore[arg-type]
    with pytest.raises(EngineFault, match="shape"):
        sampler.draw([1.0], Sampling(1), KEY, 0)
