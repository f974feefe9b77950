"""Candidate filters: who is likely enough to be drawn at all, ties at an edge broken by identity.

Candidates are given by `scaled`, their `logit / T` up to a constant, and by their identities; both have shape (n,).
"""

import numpy as np
from numpy.typing import NDArray

_BLOCKS_PER_CANDIDATE = 8
"""Blocks whose maxima bound the k-th largest logit; with eight for each, 7 % more than k values pass the bound."""

_FIRST_GUESS = 256
_GROWTH = 8
"""The nucleus is looked for among this many likeliest candidates first, then among so many times more."""

_EXACT_UP_TO = 4096
"""More candidates than this are weighed in float32, which numpy vectorises on every processor."""


def weigh(scaled: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return `exp(scaled)`, each to a relative 5e-6, and to rounding where there are at most 4096 candidates."""
    if len(scaled) <= _EXACT_UP_TO:
        return np.exp(scaled)
    return np.exp(scaled.astype(np.float32)).astype(np.float64)


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


def likeliest(scaled: NDArray[np.float64], identities: NDArray[np.uint64], count: int) -> NDArray[np.intp]:
    """Return where the `count` likeliest candidates are, in no order; equals at the edge enter by smaller identity."""
    if count >= len(scaled):
        return np.arange(len(scaled))
    edge = np.partition(scaled, len(scaled) - count)[len(scaled) - count]
    above = np.flatnonzero(scaled > edge)
    tied = np.flatnonzero(scaled == edge)
    room = count - len(above)
    if len(tied) > room:
        tied = tied[np.argsort(identities[tied])[:room]]
    return np.concatenate((above, tied))


def nucleus(scaled: NDArray[np.float64], identities: NDArray[np.uint64], share: float) -> NDArray[np.intp]:
    """Return where the fewest likeliest candidates are that hold `share` of the mass, in no order."""
    weights = weigh(scaled)
    needed = share * float(weights.sum())
    guess = _FIRST_GUESS
    while True:
        head = likeliest(scaled, identities, guess)
        held = np.cumsum(-np.sort(-weights[head]))
        if held[-1] >= needed or len(head) == len(scaled):
            return likeliest(scaled, identities, int(np.searchsorted(held, needed)) + 1)
        guess *= _GROWTH
