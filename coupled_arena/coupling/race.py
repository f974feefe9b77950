"""The race that draws: `argmax(scaled - log E)`, the Gumbel-Max trick with noise from a counter-based hash."""

import numpy as np
from numpy.typing import NDArray

from coupled_arena.coupling.filters import weigh
from coupled_arena.coupling.noise import exponentials, gaps

_PLAIN_UP_TO = 1024
"""Fewer candidates than this are raced at once."""

_SLACK = 1 + 1e-4
"""Covers the rounding of float32 weights, which is below 1e-5."""


def race(scaled: NDArray[np.float64], identities: NDArray[np.uint64], key: bytes, position: int) -> int:
    """Return the index of the candidate drawn from `softmax(scaled)` by the noise of this key and position.

    Among many candidates the logarithms are what costs. The winner is the first arrival, the smallest `E / weight`,
    and `E = -log u >= 1 - u`; so any candidate whose `(1 - u) / weight` is above a known arrival has lost, and only
    the few others are raced exactly. The result is the same.

    Args:
        scaled: log weights with a largest value near 0, shape (n,); -inf is never drawn.
        identities: what keys the noise of each, shape (n,).
        key: noise key, 16 bytes.
        position: 0 .. 2**64 - 1.
    """
    if len(scaled) <= _PLAIN_UP_TO:
        return _finish(scaled, identities, key, position)
    with np.errstate(divide="ignore"):
        earliest = gaps(key, position, identities) / weigh(scaled)
    favourite = int(np.argmin(earliest))
    one = slice(favourite, favourite + 1)
    arrival = float((exponentials(key, position, identities[one]) / np.exp(scaled[one]))[0])
    contenders = np.flatnonzero(earliest <= arrival * _SLACK)
    return int(contenders[_finish(scaled[contenders], identities[contenders], key, position)])


def _finish(scaled: NDArray[np.float64], identities: NDArray[np.uint64], key: bytes, position: int) -> int:
    noise = exponentials(key, position, identities)
    return int(np.argmax(scaled - np.log(noise, out=noise)))
