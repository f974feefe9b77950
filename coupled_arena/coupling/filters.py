"""Candidate filters: who is likely enough to be drawn at all, ties at an edge broken by identity.

Candidates are given by `scaled`, their `logit / T` up to a constant, and by their identities; both have shape (n,).
"""

import math

import numpy as np
from numpy.typing import NDArray

_BLOCKS_PER_CANDIDATE = 8
"""Blocks whose maxima bound the k-th largest logit; with eight for each, 7 % more than k values pass the bound."""

_FIRST_GUESS = 256
"""The nucleus is looked for among this many likeliest tokens first."""

EXACT_UP_TO = 4096
"""More candidates than this are weighed in float32, which numpy vectorises on every processor."""

_ROUNDING = 1e-4
"""Covers the rounding of float32 weights, which is below 1e-5, where a bound must not cut off too much."""


_HOTTEST = 1e38
"""No temperature above changes a float32 weight that is not 0 anyway."""

_MANTISSA_LEFT = 20
"""Bits of a float32 behind its exponent and three bits of its mantissa."""


def weigh(scaled: NDArray[np.float64]) -> NDArray[np.float64] | NDArray[np.float32]:
    """Return `exp(scaled)`, each to a relative 5e-6, and to rounding where there are at most 4096 candidates."""
    return np.exp(scaled) if len(scaled) <= EXACT_UP_TO else np.exp(scaled.astype(np.float32))


def vectorised(count: int, temperature: float) -> bool:
    """Return whether so many logits at this temperature are weighed in float32."""
    return count > EXACT_UP_TO and temperature >= float(np.finfo(np.float32).tiny)


def weigh_logits(logits: NDArray[np.float32], top: float, temperature: float) -> NDArray[np.float32]:
    """Return `exp((logits - top) / temperature)`, each to a relative 1e-5, shape (n,)."""
    with np.errstate(over="ignore"):
        weights: NDArray[np.float32] = logits - np.float32(top)
        if temperature != 1:
            weights /= np.float32(min(temperature, _HOTTEST))
    return np.exp(weights, out=weights)


def mass(weights: NDArray[np.floating]) -> float:
    """Return the sum of weights; numpy adds pairwise, so that in float32 too it is right to a relative 5e-6."""
    return float(weights.sum())


def bound_of_likeliest(logits: NDArray[np.float32], count: int) -> float:
    """Return a value that at least `count` logits reach, close to the largest such value; -inf if there are fewer.

    The vocabulary is cut into blocks; the `count`-th largest of their maxima is such a value, at the price of one
    vectorised maximum instead of a partition of the whole vocabulary.
    """
    size = len(logits)
    if count > size:
        return -np.inf
    blocks = count * _BLOCKS_PER_CANDIDATE
    height = size // blocks
    maxima = logits[: height * blocks].reshape(height, blocks).max(axis=0) if height > 1 else logits
    return float(np.partition(maxima, len(maxima) - count)[len(maxima) - count])


def bound_of_nucleus(
    logits: NDArray[np.float32], top: float, temperature: float, share: float
) -> tuple[float, float | None]:
    """Return a value that all logits of the nucleus reach, and the mass of all tokens in units of the likeliest.

    The mass is None where it is better taken exactly from all candidates, and the value -inf.

    The likeliest 256 tokens hold a nucleus nearly always. If not, masses are added up by the leading bits of the
    weights, from the likeliest down.
    """
    if not vectorised(len(logits), temperature):
        return -math.inf, None
    weights = weigh_logits(logits, top, temperature)
    total = mass(weights)
    bound = bound_of_likeliest(logits, _FIRST_GUESS)
    if mass(weights[logits >= bound]) >= share * total * (1 + _ROUNDING):
        return bound, total
    held = np.cumsum(np.bincount(weights.view(np.int32) >> _MANTISSA_LEFT, weights)[::-1])
    steps = int(np.searchsorted(held, share * total * (1 + _ROUNDING)))
    lowest = np.array([max(len(held) - 1 - steps, 0) << _MANTISSA_LEFT], dtype=np.int32).view(np.float32)[0]
    return (top + temperature * (math.log(lowest) - _ROUNDING) if lowest > 0 else -math.inf), total


def likeliest(scaled: NDArray[np.float64], identities: NDArray[np.uint64], count: int) -> NDArray[np.intp]:
    """Return where the `count` likeliest candidates are, in no order; equals at the edge enter by smaller identity."""
    if count >= len(scaled):
        return np.arange(len(scaled))
    order = np.argpartition(scaled, len(scaled) - count)
    left, kept = order[:-count], order[-count:]
    edge = scaled[kept[0]]
    tied = left[scaled[left] == edge]
    if not len(tied):
        return kept
    inside = scaled[kept] == edge
    tied = np.append(tied, kept[inside])
    chosen = tied[np.argsort(identities[tied])[: np.count_nonzero(inside)]]
    return np.concatenate((kept[~inside], chosen))


def nucleus(scaled: NDArray[np.float64], identities: NDArray[np.uint64], needed: float) -> NDArray[np.intp]:
    """Return where the fewest likeliest candidates are that hold the mass needed, in no order."""
    held = np.cumsum(np.sort(np.exp(scaled))[::-1])
    return likeliest(scaled, identities, int(np.searchsorted(held, needed)) + 1)
