"""Permutations drawn from a noise key: the only way the library shuffles anything."""

import numpy as np

from coupled_arena.coupling.noise import exponentials


def permutation(n: int, key: bytes) -> tuple[int, ...]:
    """Return a uniformly random permutation of `range(n)` that is a pure function of the key.

    Example:
        >>> sorted(permutation(5, bytes(16)))
        [0, 1, 2, 3, 4]
    """
    draws = exponentials(key, 0, np.arange(n, dtype=np.uint64))
    return tuple(int(index) for index in np.argsort(draws, kind="stable"))
