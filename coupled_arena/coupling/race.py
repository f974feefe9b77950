"""The race that draws: `argmax(scaled - log E)`, the Gumbel-Max trick with noise from a counter-based hash."""

import numpy as np
from numpy.typing import NDArray

from coupled_arena.coupling.noise import UNIT, Words, exponentials, gaps

PLAIN_UP_TO = 1024
"""So many candidates are raced at once; among more, first those are found that can still win."""

_AT_ONCE = 1 << 15
"""Candidates that are hashed at a time, so that the words stay in the processor's cache."""

_SLACK = 1 + 1e-4
"""Covers the rounding of float32 weights, which is below 1e-5."""


def race(scaled: NDArray[np.float64], identities: Words, key: bytes, position: int) -> int:
    """Return the index of the candidate drawn from `softmax(scaled)` by the noise of this key and position.

    Args:
        scaled: log weights, the largest finite, shape (n,); -inf is never drawn.
        identities: what keys the noise of each, shape (n,).
        key: noise key, 16 bytes.
        position: 0 .. 2**64 - 1.
    """
    if len(scaled) == 1:
        return 0
    return int(races(scaled, identities, key, position))


def races(scaled: NDArray[np.float64], identities: Words, key: bytes, positions: int | Words) -> NDArray[np.intp]:
    """Return the indices drawn at several positions, shape (m,): what `race` returns at each of them."""
    noise = exponentials(key, positions, identities)
    return np.asarray(np.argmax(scaled - np.log(noise, out=noise), axis=-1))


def contenders(weights: NDArray[np.floating], identities: Words, key: bytes, position: int) -> NDArray[np.intp]:
    """Return where the few candidates are among whom the winner of the race is.

    Among many candidates the logarithms are what costs. The winner is the first arrival, the smallest `E / weight`,
    and `E = -log u >= 1 - u`; so any candidate whose `(1 - u) / weight` is above a known arrival has lost.

    Args:
        weights: relative probabilities to a relative 1e-5, the largest near 1, shape (n,).
        identities: what keys the noise of each, shape (n,).
        key: noise key, 16 bytes.
        position: 0 .. 2**64 - 1.
    """
    earliest = np.empty(len(weights), dtype=np.float32)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        for start in range(0, len(weights), _AT_ONCE):
            some = slice(start, start + _AT_ONCE)
            np.divide(
                gaps(key, position, identities[some]),
                weights[some],
                out=earliest[some],
                dtype=np.float32,
                casting="same_kind",
            )
        favourite = int(np.argmin(earliest))
        one = slice(favourite, favourite + 1)
        arrival = exponentials(key, position, identities[one]) / weights[one]
        return np.flatnonzero(earliest <= np.float32(arrival[0] * (_SLACK / UNIT)))
