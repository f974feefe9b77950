"""Counter-based exponential noise: a pure function of noise key, position and token identity.

There is no state, stream or device: any token's noise can be had alone, in any order, on any machine, so models with
different vocabularies share dice on every string they share, and a reply can be resumed in the middle.
"""

import math

import numpy as np
from numpy.typing import NDArray

from coupled_arena.coupling.keys import KEY_BYTES
from coupled_arena.errors import ConfigurationError, Problem

_WORD = (1 << 64) - 1
_GAMMA = 0x9E3779B97F4A7C15
_FIRST = 0xBF58476D1CE4E5B9
_SECOND = 0x94D049BB133111EB

_UNIT = 2.0**-53

GREATEST = 53 * math.log(2)
"""Largest value the noise can take, 36.7; the smallest is 1.1e-16, so `-log E` lies within [-3.61, 36.74]."""


def _mix(word: int) -> int:
    """One step of splitmix64 (Steele, Lea, Flood 2014): a bijection of 64-bit words that avalanches."""
    word = (word + _GAMMA) & _WORD
    word = ((word ^ (word >> 30)) * _FIRST) & _WORD
    word = ((word ^ (word >> 27)) * _SECOND) & _WORD
    return word ^ (word >> 31)


def exponentials(key: bytes, position: int, identities: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Return one Exp(1) variable per identity, independent over keys, positions and identities.

    `E = -log u` with u an odd multiple of 2**-53, so u is never 0 or 1. u comes from one splitmix64 finaliser between
    two pads, each of which depends on all 128 bits of the key and on the position.

    Args:
        key: noise key, 16 bytes.
        position: 0 .. 2**64 - 1: a step index, or the hash of a context.
        identities: 64-bit token identities, shape (n,).

    Returns:
        Noise in (0, 36.8), shape (n,), each value a function of (key, position, its identity) alone.

    Raises:
        ConfigurationError: the key or the position is out of range.

    Example:
        >>> both = exponentials(bytes(16), 0, np.array([1, 2], dtype=np.uint64))
        >>> bool(both[1] == exponentials(bytes(16), 0, np.array([2], dtype=np.uint64))[0])
        True
    """
    noise = _numerators(key, position, identities).astype(np.float64)
    noise *= _UNIT
    np.log(noise, out=noise)
    return np.negative(noise, out=noise)


def gaps(key: bytes, position: int, identities: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Return `1 - u` for the u of `exponentials`, exactly: a lower bound of the noise that needs no logarithm."""
    gap = _numerators(key, position, identities).astype(np.float64)
    gap *= -_UNIT
    gap += 1.0
    return gap


def _numerators(key: bytes, position: int, identities: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return u * 2**53: odd whole numbers below 2**53."""
    if len(key) != KEY_BYTES:
        raise ConfigurationError([Problem("exponentials", "key", f"must have {KEY_BYTES} bytes, not {len(key)}")])
    if not 0 <= position <= _WORD:
        raise ConfigurationError([Problem("exponentials", "position", f"must fit 64 bits, not {position}")])
    low, high = int.from_bytes(key[:8], "little"), int.from_bytes(key[8:], "little")
    inner = _mix(low ^ _mix(high ^ _mix(position)))
    outer = _mix(high ^ _mix(low ^ _mix(position ^ _WORD)))
    words = identities ^ np.uint64(inner)
    words ^= words >> np.uint64(30)
    words *= np.uint64(_FIRST)
    words ^= words >> np.uint64(27)
    words *= np.uint64(_SECOND)
    words ^= words >> np.uint64(31)
    words ^= np.uint64(outer)
    words >>= np.uint64(11)
    words |= np.uint64(1)
    # Below 2**53 the signed reading is the same number, and its conversion to float64 is cheaper.
    return words.view(np.int64)
