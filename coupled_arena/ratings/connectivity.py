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


def ties_bounded(won: NDArray[np.float64], tied: NDArray[np.float64]) -> bool:
    """Return whether Davidson's tie parameter has a finite maximum within a comparable group that has ties.

    The likelihood grows without end where strengths exist such that every win spans at least one and every tie at most
    one: all of it then fits ever better as strengths and tie parameter grow together. Such strengths exist unless a
    cycle of battles holds more wins than ties (Bellman and Ford's test of difference constraints); one pair with
    wins on both sides is such a cycle.

    Args:
        won: weight of the row model's wins over the column model, shape (models, models).
        tied: weight of the ties of two models, of the same shape.
    """
    if ((won > 0) & (won.T > 0)).any():
        return True
    steps = np.where(won > 0, -1.0, np.where(tied > 0, 1.0, np.inf))
    reach = np.zeros(len(won))
    for _ in range(len(won)):
        further = np.minimum(reach, (reach[:, None] + steps).min(axis=0))
        if (further == reach).all():
            return False
        reach = further
    return True


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
