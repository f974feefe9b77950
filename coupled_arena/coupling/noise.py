"""Counter-based exponential noise: a pure function of noise key, position and token identity.

There is no state, stream or device: any token's noise can be had alone, in any order, on any machine, so models with
different vocabularies share dice on every string they share, and a reply can be resumed in the middle.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coupled_arena.coupling.keys import KEY_BYTES
from coupled_arena.errors import ConfigurationError, Problem

_WORD = (1 << 64) - 1
_GAMMA = 0x9E3779B97F4A7C15
_FIRST = 0xBF58476D1CE4E5B9
_SECOND = 0x94D049BB133111EB

UNIT = 2.0**-53
"""The smallest difference of two uniforms."""

GREATEST = 53 * math.log(2)
"""Largest value the noise can take, 36.7; the smallest is 1.1e-16, so `-log E` lies within [-3.61, 36.74]."""


Words = NDArray[np.uint64]


def _mix(word: Any) -> Any:
    """One step of splitmix64 (Steele, Lea, Flood 2014), of an int or of Words: a bijection that avalanches."""
    word = (word + _GAMMA) & _WORD
    word = ((word ^ (word >> 30)) * _FIRST) & _WORD
    word = ((word ^ (word >> 27)) * _SECOND) & _WORD
    return word ^ (word >> 31)


def exponentials(key: bytes, position: int | Words, identities: Words) -> NDArray[np.float64]:
    """Return one Exp(1) variable per identity, independent over keys, positions and identities.

    `E = -log u` with u an odd multiple of 2**-53, so u is never 0 or 1. u comes from one splitmix64 finaliser between
    two pads, each of which depends on all 128 bits of the key and on the position.

    Args:
        key: noise key, 16 bytes.
        position: 0 .. 2**64 - 1: a step index, or the hash of a context; or several, shape (m,).
        identities: 64-bit token identities, shape (n,).

    Returns:
        Noise in (0, 36.8), each value a function of (key, its position, its identity) alone; shape (n,), or (m, n) for
        several positions.

    Raises:
        ConfigurationError: the key or the position is out of range.

    Example:
        >>> both = exponentials(bytes(16), 0, np.array([1, 2], dtype=np.uint64))
        >>> bool(both[1] == exponentials(bytes(16), 0, np.array([2], dtype=np.uint64))[0])
        True
    """
    noise = _numerators(key, position, identities).astype(np.float64)
    noise *= UNIT
    np.log(noise, out=noise)
    return np.negative(noise, out=noise)


def gaps(key: bytes, position: int, identities: Words) -> NDArray[np.int64]:
    """Return the whole numbers `2**53 (1 - u)`, or one less, for the u of `exponentials`.

    In units of 2**-53 they bound the noise from below, `-log u >= 1 - u`, without a logarithm.
    """
    # The bits of 2**53 - n, n odd, are those of n turned over, but for the last.
    words = _hash(key, position, identities, turned=_WORD)
    words >>= np.uint64(11)
    return words.view(np.int64)


def _numerators(key: bytes, position: int | Words, identities: Words) -> NDArray[np.int64]:
    """Return u * 2**53: odd whole numbers below 2**53."""
    words = _hash(key, position, identities)
    words >>= np.uint64(11)
    words |= np.uint64(1)
    # Below 2**53 the signed reading is the same number, and its conversion to a float is cheaper.
    return words.view(np.int64)


def _hash(key: bytes, position: int | Words, identities: Words, turned: int = 0) -> Words:
    """Return 64 random bits for each position and identity, turned over where `turned` has ones."""
    if len(key) != KEY_BYTES:
        raise ConfigurationError([Problem("exponentials", "key", f"must have {KEY_BYTES} bytes, not {len(key)}")])
    low, high = int.from_bytes(key[:8], "little"), int.from_bytes(key[8:], "little")
    inner: np.uint64 | Words
    outer: np.uint64 | Words
    if isinstance(position, int):
        if not 0 <= position <= _WORD:
            raise ConfigurationError([Problem("exponentials", "position", f"must fit 64 bits, not {position}")])
        inner = np.uint64(_mix(low ^ _mix(high ^ _mix(position))))
        outer = np.uint64(_mix(high ^ _mix(low ^ _mix(position ^ _WORD))) ^ turned)
    else:
        rows = position[:, np.newaxis]
        inner = _mix(low ^ _mix(high ^ _mix(rows)))
        outer = _mix(high ^ _mix(low ^ _mix(rows ^ _WORD))) ^ turned
    words = identities ^ inner
    shifted = np.empty_like(words)
    words ^= np.right_shift(words, 30, out=shifted)
    words *= np.uint64(_FIRST)
    words ^= np.right_shift(words, 27, out=shifted)
    words *= np.uint64(_SECOND)
    words ^= np.right_shift(words, 31, out=shifted)
    words ^= outer
    return words
