"""The noise: a pure function of key, position and identity, and exponential."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from coupled_arena.coupling import exponentials, noise_key
from coupled_arena.coupling.noise import GREATEST, UNIT, gaps
from coupled_arena.errors import ConfigurationError

CHI2_255_AT_1E4 = 347.7
"""0.9999 quantile of chi-squared with 255 degrees of freedom."""

words = st.integers(min_value=0, max_value=2**64 - 1)
keys = st.binary(min_size=16, max_size=16)


def identities(*values: int) -> NDArray[np.uint64]:
    return np.array(values, dtype=np.uint64)


def key(part: str) -> bytes:
    return noise_key(seed=7, scope=("noise",), role=(), label=(), part=part)


@given(keys, words, st.lists(words, min_size=1, max_size=20), st.randoms())
def test_noise_of_a_token_depends_on_nobody_else(key: bytes, position: int, tokens: list[int], random: object) -> None:
    everything = dict(zip(tokens, exponentials(key, position, identities(*tokens)), strict=True))
    for token in tokens:
        assert exponentials(key, position, identities(token))[0] == everything[token]
    backwards = exponentials(key, position, identities(*reversed(tokens)))
    assert backwards.tolist() == [everything[token] for token in reversed(tokens)]


@given(keys, words, words)
def test_noise_is_finite_and_positive_and_above_its_bound(key: bytes, position: int, token: int) -> None:
    noise = float(exponentials(key, position, identities(token))[0])
    gap = float(gaps(key, position, identities(token))[0]) * UNIT
    assert 2.0**-53 <= noise <= GREATEST
    assert 0 <= gap <= noise
    assert math.exp(-noise) == pytest.approx(1 - gap, abs=1e-15)


def test_noise_is_the_same_in_every_release() -> None:
    noise = exponentials(bytes(range(16)), 3, identities(0, 1, 2**64 - 1))
    assert noise.tolist() == pytest.approx([3.915316278711847, 1.5933134561086852, 0.3545434391904682], rel=1e-15)


def bins(noise: NDArray[np.float64]) -> float:
    """Chi-squared statistic of 256 equally likely bins."""
    counts = np.bincount((np.exp(-noise) * 256).astype(int), minlength=256)
    expected = len(noise) / 256
    return float(((counts - expected) ** 2 / expected).sum())


def test_noise_is_exponential_over_tokens_positions_and_keys() -> None:
    tokens = np.arange(100_000, dtype=np.uint64)
    assert bins(exponentials(key("tokens"), 0, tokens)) < CHI2_255_AT_1E4
    one = identities(42)
    positions = np.array([exponentials(key("positions"), position, one)[0] for position in range(10_000)])
    assert bins(positions) < CHI2_255_AT_1E4
    over_keys = np.array([exponentials(key(str(part)), 0, one)[0] for part in range(10_000)])
    assert bins(over_keys) < CHI2_255_AT_1E4


def test_the_bins_notice_noise_that_is_one_per_cent_wrong() -> None:
    noise = exponentials(key("tokens"), 0, np.arange(4_000_000, dtype=np.uint64))
    assert bins(noise) < CHI2_255_AT_1E4 < bins(noise * 1.01)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ((key("reasons"), 0), (key("choice"), 0)),
        ((key("whole"), 0), (key("whole"), 1)),
        ((bytes(16), 0), (bytes(15) + b"\1", 0)),
    ],
)
def test_parts_positions_and_neighbouring_keys_are_independent(one: tuple[bytes, int], two: tuple[bytes, int]) -> None:
    tokens = np.arange(100_000, dtype=np.uint64)
    x, y = (np.exp(-exponentials(key, position, tokens)) for key, position in (one, two))
    cells = np.bincount((x * 16).astype(int) * 16 + (y * 16).astype(int), minlength=256)
    expected = len(tokens) / 256
    assert ((cells - expected) ** 2 / expected).sum() < CHI2_255_AT_1E4
    assert abs(np.corrcoef(x, y)[0, 1]) < 4 / math.sqrt(len(tokens))


def test_every_bit_of_the_key_matters() -> None:
    token = identities(1)
    single = [(1 << bit).to_bytes(16, "little") for bit in range(128)]
    assert len({float(exponentials(key, 0, token)[0]) for key in [bytes(16), *single]}) == 129


def test_a_key_or_position_out_of_range_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="16 bytes"):
        exponentials(b"short", 0, identities(1))
    for position in (-1, 2**64):
        with pytest.raises(ConfigurationError, match="64 bits"):
            exponentials(bytes(16), position, identities(1))
