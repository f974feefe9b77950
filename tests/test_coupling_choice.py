"""One draw among labels."""

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coupled_arena.coupling import choose, noise_key, token_identity
from coupled_arena.errors import ConfigurationError

CHI2_2_AT_1E4 = 18.42
"""0.9999 quantile of chi-squared with 2 degrees of freedom."""

LABELS = ["A", "B", "tie"]


def key(sample: int) -> bytes:
    return noise_key(seed=7, scope=("choice",), role=(), label=(), part="choice", sample=sample)


def test_labels_are_drawn_by_their_probabilities_at_the_temperature() -> None:
    logprobs, temperature, draws = [math.log(0.6), math.log(0.3), math.log(0.1)], 0.5, 20_000
    weights = [chance ** (1 / temperature) for chance in (0.6, 0.3, 0.1)]
    counts = Counter(choose(LABELS, logprobs, key(sample), temperature=temperature) for sample in range(draws))
    expected = [draws * weight / sum(weights) for weight in weights]
    assert sum((counts[i] - expected[i]) ** 2 / expected[i] for i in range(3)) < CHI2_2_AT_1E4


@given(st.permutations(range(3)), st.integers(0, 10_000), st.sampled_from([0.0, 0.1, 1.0]))
def test_the_order_of_the_labels_never_matters(order: list[int], sample: int, temperature: float) -> None:
    logprobs = [-1.0, -1.0, -2.0]
    plain = choose(LABELS, logprobs, key(sample), temperature=temperature)
    shuffled = choose([LABELS[i] for i in order], [logprobs[i] for i in order], key(sample), temperature=temperature)
    assert order[shuffled] == plain


def test_temperature_zero_takes_the_likeliest_and_breaks_ties_by_identity() -> None:
    assert choose(LABELS, [-3, -1, -2], key(0), temperature=0) == 1
    first = min(range(3), key=lambda i: token_identity(LABELS[i].encode()))
    assert {choose(LABELS, [-1, -1, -1], key(sample), temperature=0) for sample in range(20)} == {first}


def test_an_impossible_label_is_never_drawn() -> None:
    assert {choose(LABELS, [-math.inf, -1, -1], key(sample), temperature=9) for sample in range(100)} == {1, 2}


@pytest.mark.parametrize(
    ("labels", "logprobs", "temperature", "message"),
    [
        ([], [], 1, "finite largest"),
        (["A", "A"], [0, 0], 1, "must differ"),
        (["A", "B"], [0], 1, "one for each of 2 labels"),
        (["A", "B"], [-math.inf, -math.inf], 1, "finite largest"),
        (["A", "B"], [0, math.nan], 1, "finite largest"),
        (["A", "B"], [0, 0], -1, "temperature"),
    ],
)
def test_what_cannot_be_chosen_from_is_refused(
    labels: list[str], logprobs: list[float], temperature: float, message: str
) -> None:
    with pytest.raises(ConfigurationError, match=message):
        choose(labels, logprobs, key(0), temperature=temperature)
