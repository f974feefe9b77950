"""The state of a sequence as llama.cpp writes it, carried over to a context with another number of sequences.

After two words of its own a state holds a part for each kind of attention its model has: one, or two where some layers
see a window only. A part begins with the number of streams of the context that wrote it. For each stream follow its
number of cells and, unless that is 0, as in all streams but the sequence's own, the cells: three words for the place of
each, four words that head the layers, and the keys of every layer and its values, each behind three words of their own.
"""

import numpy as np
from numpy.typing import NDArray

from coupled_arena.errors import EngineFault
from coupled_arena.models.local.engine import Snapshot

_WORD = 4
_HEAD = 2
_PLACE, _LAYERS, _ROWS = 3, 4, 3

Words = NDArray[np.uint32]


def with_streams(snapshot: Snapshot, streams: int) -> Snapshot:
    """Return a snapshot as a context with so many streams reads it.

    Raises:
        EngineFault: the snapshot is not laid out as described above.
    """
    if len(snapshot) % _WORD:
        raise _unknown()
    words: Words = snapshot.view(np.uint32)
    if words[_HEAD] == streams:
        return snapshot
    pieces, place = [words[:_HEAD]], _HEAD
    empty = np.zeros(streams - 1, dtype=np.uint32)
    while place < len(words):
        written, place = int(words[place]), place + 1
        for _ in range(written):
            end = _behind(words, place)
            if words[place]:
                pieces += [np.array([streams], dtype=np.uint32), words[place:end], empty]
            place = end
    if place != len(words):
        raise _unknown()
    return np.concatenate(pieces).view(np.uint8)


def _behind(words: Words, place: int) -> int:
    """Return where the stream that begins here ends."""
    try:
        cells = int(words[place])
        if not cells:
            return place + 1
        place += 1 + _PLACE * cells
        transposed, layers = bool(words[place]), int(words[place + 1])
        place += _LAYERS
        for rows in range(2 * layers):
            sizes = int(words[place + 1]), int(words[place + 2])
            row = sizes[0] * sizes[1] if transposed and rows >= layers else sizes[0]
            place += _ROWS + row * cells // _WORD
    except IndexError:
        raise _unknown() from None
    return place


def _unknown() -> EngineFault:
    return EngineFault("the state of this model has an unknown layout; limit it to a concurrency of 1")
