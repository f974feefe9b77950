"""Which models the battles compare: components of the match graph and Ford's test on it."""

import numpy as np
from numpy.typing import NDArray

Groups = tuple[NDArray[np.intp], ...]
"""Codes of models, ascending within each group; groups by their smallest code."""


def components(wins: NDArray[np.float64]) -> Groups:
    """Return the groups of models that battles connect, whoever won them; `wins` has shape (models, models)."""
    met = wins + wins.T > 0
    return _groups(met, met)


def comparable(wins: NDArray[np.float64]) -> Groups:
    """Return the groups within which a finite Bradley-Terry maximum exists.

    Ford (1957): the maximum exists exactly where every model has beaten or drawn with every other through a chain of
    others, that is where the graph of wins is strongly connected. Between two groups of one component all battles went
    one way, and their difference has no maximum.
    """
    won = wins > 0
    return _groups(won, won.T)


def _groups(forward: NDArray[np.bool_], backward: NDArray[np.bool_]) -> Groups:
    left = np.ones(len(forward), dtype=np.bool_)
    groups = []
    while left.any():
        start = int(np.argmax(left))
        group = _reach(forward, start, left) & _reach(backward, start, left)
        groups.append(np.flatnonzero(group))
        left &= ~group
    return tuple(groups)


def _reach(edges: NDArray[np.bool_], start: int, within: NDArray[np.bool_]) -> NDArray[np.bool_]:
    reached = np.zeros(len(edges), dtype=np.bool_)
    reached[start] = True
    front = reached
    while front.any():
        front = edges[front].any(axis=0) & within & ~reached
        reached = reached | front
    return reached
