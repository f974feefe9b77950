"""How a model's memory for tokens is divided: into many short sequences, or into fewer that hold more."""

from collections.abc import Sequence
from typing import NamedTuple

WIDEST = 32
"""Most sequences a model evaluates at once."""

SHORTEST = 1024
"""Sequences hold so many tokens, or a power of two times as many."""


class Shape(NamedTuple):
    """A number of sequences and what each can hold."""

    width: int
    """How many sequences there are."""
    length: int
    """Tokens each can hold."""


COMMON = 2048
"""A model's memory is enough for as many sequences as it evaluates at once if they hold so many tokens each."""


def capacity_for(room: int, token_bytes: int, context: int) -> int:
    """Return how many tokens a model's sequences may hold together.

    Args:
        room: bytes they may take, if one whole context does not take more.
        token_bytes: bytes of a token, 0 if that is not known.
        context: most tokens one sequence can hold.

    Example:
        >>> capacity_for(10**9, 23_040, 8192), capacity_for(10**10, 23_040, 8192), capacity_for(0, 23_040, 8192)
        (43402, 65536, 8192)
    """
    most = WIDEST * COMMON
    return max(min(room // token_bytes if token_bytes else most, most), context)


def shape_for(needs: Sequence[int], waiting: int, *, capacity: int, context: int) -> Shape | None:
    """Return a shape in which sequences of these lengths fit side by side, or None if there is none.

    Sequences are as short as the longest of them allows. There are as many as will soon be wanted, rounded up to a
    power of two, so that a single user's model stays small.

    Args:
        needs: tokens each sequence needs, each at most `context`.
        waiting: how many more sequences would be welcome.
        capacity: tokens of all sequences together, at least `context`.
        context: most tokens a sequence can hold.

    Example:
        >>> shape_for([300, 20], 0, capacity=65536, context=8192)
        Shape(width=2, length=1024)
        >>> shape_for([5000], 100, capacity=65536, context=8192)
        Shape(width=8, length=8192)
        >>> shape_for([5000] * 9, 0, capacity=65536, context=8192) is None
        True
    """
    length = SHORTEST
    while length < max(needs):
        length *= 2
    length = min(length, context)
    widest = min(WIDEST, capacity // length)
    if len(needs) > widest:
        return None
    width = 1
    while width < len(needs) + waiting:
        width *= 2
    return Shape(min(width, widest), length)
