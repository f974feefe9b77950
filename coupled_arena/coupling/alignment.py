"""Alignment: at which position of the noise a reply's next token is drawn.

By step, the n-th tokens of two replies share their dice (arXiv 2502.01754, section 3). By context, tokens that follow
the same last bytes of a reply do, so that texts that part and meet again share dice again, also where their
vocabularies cut them differently. Either way no position comes twice within a reply, so that each model keeps its own
law exactly.
"""

import hashlib
from collections import Counter
from collections.abc import Callable
from typing import Literal, Protocol

Alignment = Literal["step", "context"]
"""What places a token in the noise: its number, or what it follows."""

CONTEXT_BYTES = 6
"""How many last bytes of a reply are its context: about a word."""


class Positions(Protocol):
    """Places the tokens of one reply."""

    def next(self) -> int:
        """Return the position of the next token, 0 .. 2**64 - 1."""
        ...

    def append(self, data: bytes) -> None:
        """Take note of what the token drawn there wrote, perhaps nothing."""
        ...


class ByStep:
    """The first token is at 0, the next at 1, and so on.

    Example:
        >>> positions = ByStep()
        >>> positions.append(b"The"); positions.next()
        1
    """

    __slots__ = ("_step",)

    def __init__(self) -> None:
        self._step = 0

    def next(self) -> int:
        """Return the position of the next token."""
        return self._step

    def append(self, data: bytes) -> None:
        """Go on by one."""
        self._step += 1


class ByContext:
    """A token is where the hash of the last bytes of the reply puts it, and of how often they have come before.

    The prompt is no part of the context, and the beginning of the reply differs from every text.

    Args:
        length: bytes of context, at least 1.

    Example: two replies that part share dice again after the same few bytes.
        >>> one, other = ByContext(3), ByContext(3)
        >>> one.append(b"red cat"); other.append(b"old cat")
        >>> one.next() == other.next()
        True
    """

    __slots__ = ("_length", "_reply", "_seen")

    def __init__(self, length: int = CONTEXT_BYTES) -> None:
        self._length = length
        self._reply = b""
        self._seen: Counter[bytes] = Counter()

    def next(self) -> int:
        """Return the position of the next token."""
        times = self._seen[self._reply].to_bytes(8, "little")
        digest = hashlib.blake2b(self._reply, digest_size=8, salt=times, person=b"context")
        return int.from_bytes(digest.digest(), "little")

    def append(self, data: bytes) -> None:
        """Move on behind what was written."""
        self._seen[self._reply] += 1
        # A text shorter than the context is told from the end of a longer one by its length.
        self._reply = (self._reply + data)[-self._length :]


ALIGNMENTS: dict[Alignment, Callable[[], Positions]] = {"step": ByStep, "context": ByContext}
"""How positions of a new reply are made, by name."""
