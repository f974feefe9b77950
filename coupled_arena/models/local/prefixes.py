"""Prompt prefixes kept in evaluated form, least recently used out first, and the last whole prompt."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coupled_arena.models.local.engine import Logits, Snapshot

Tokens = NDArray[np.int32]
"""Token ids of a prompt, shape (length,)."""


def as_tokens(tokens: Sequence[int]) -> Tokens:
    """Return token ids as an array."""
    return np.asarray(tokens, dtype=np.int32)


class Whole(NamedTuple):
    """A prompt evaluated to its end."""

    prompt: Tokens
    """Its tokens."""
    snapshot: Snapshot
    """The sequence that holds it and nothing else."""
    logits: Logits
    """What comes next."""


class PrefixCache:
    """Snapshots of evaluated prefixes within a number of bytes.

    A snapshot serves every prompt that agrees with it up to some multiple of `cut`, since an engine can forget the
    rest exactly. A prefix that begins with an older one therefore replaces it.

    The last prompt is kept whole as well, since replicates of a call ask it again and again.

    Args:
        limit: most bytes of snapshots kept.
        cut: prefixes are shared at multiples of this many tokens only.
    """

    def __init__(self, limit: int, cut: int) -> None:
        self.limit = limit
        """Most bytes of snapshots kept."""
        self.cut = cut
        """Prefixes are shared at multiples of this many tokens."""
        self._entries: dict[bytes, tuple[Tokens, Snapshot]] = {}
        self._last: Whole | None = None

    @property
    def held(self) -> int:
        """Bytes of snapshots kept now."""
        last = 0 if self._last is None else self._last.snapshot.nbytes + self._last.logits.nbytes
        return last + sum(snapshot.nbytes for _, snapshot in self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)

    def shared(self, tokens: Tokens) -> int:
        """Return how many leading tokens of a prompt are kept here, a multiple of `cut`."""
        return self._closest(tokens)[0]

    def find(self, tokens: Tokens) -> tuple[Snapshot, int] | None:
        """Return the snapshot that shares most leading tokens with a prompt, and how many; it counts as used now."""
        length, key = self._closest(tokens)
        if key is None:
            return None
        entry = self._entries[key] = self._entries.pop(key)
        return entry[1], length

    def add(self, tokens: Tokens, snapshot: Snapshot) -> None:
        """Keep a prefix, unless it alone is beyond the limit; what it contains or displaces is dropped."""
        if snapshot.nbytes > self.limit:
            return
        data = tokens.tobytes()
        for key in [key for key in self._entries if data.startswith(key)]:
            del self._entries[key]
        self._entries[data] = (tokens, snapshot)
        self._shrink()

    def keep_last(self, prompt: Tokens, snapshot: Snapshot, logits: Logits) -> None:
        """Keep a whole prompt in place of the one before, unless it alone is beyond the limit."""
        if snapshot.nbytes + logits.nbytes > self.limit:
            return
        logits = logits.copy()
        logits.setflags(write=False)
        self._last = Whole(prompt, snapshot, logits)
        self._shrink()

    def last(self, prompt: Tokens) -> Whole | None:
        """Return the last prompt if it is this one."""
        return self._last if self._last is not None and np.array_equal(self._last.prompt, prompt) else None

    def _shrink(self) -> None:
        held = self.held
        while held > self.limit and self._entries:
            # A dict keeps the order of insertion, and `find` inserts anew: the first is the least recently used.
            _, dropped = self._entries.pop(next(iter(self._entries)))
            held -= dropped.nbytes

    def _closest(self, tokens: Tokens) -> tuple[int, bytes | None]:
        best: tuple[int, bytes | None] = (0, None)
        size = 0
        for key, (kept, snapshot) in self._entries.items():
            length = self._agreement(kept, tokens)
            # Of equals the smallest, which is the quickest to restore.
            if length > best[0] or (length == best[0] > 0 and snapshot.nbytes < size):
                best, size = (length, key), snapshot.nbytes
        return best

    def _agreement(self, left: Tokens, right: Tokens) -> int:
        length = min(len(left), len(right))
        same = left[:length] == right[:length]
        agreed = length if same.all() else int(np.argmin(same))
        return agreed // self.cut * self.cut
