"""States of sequences, carried over to contexts with another number of sequences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from coupled_arena.errors import EngineFault
from coupled_arena.models.local.snapshots import with_streams

Words = NDArray[np.uint32]


def state(streams: int, own: int, cells: int, parts: tuple[tuple[int, bool], ...]) -> NDArray[np.uint8]:
    """Return a state as a context with so many streams writes it, with a part for each (layers, transposed)."""
    words = [2937339096, 0]
    for layers, transposed in parts:
        words += [streams] + [0] * own + [cells]
        words += [word for cell in range(cells) for word in (cell, 1, own)]
        words += [int(transposed), layers, 0, 0]
        row = [1, 8, 0, *range(2 * cells)]
        turned = [1, 2, 4, *range(2 * cells)]
        words += row * layers + (turned if transposed else row) * layers
        words += [0] * (streams - 1 - own)
    return np.array(words, dtype=np.uint32).view(np.uint8)


shapes = st.integers(1, 6).flatmap(lambda streams: st.tuples(st.just(streams), st.integers(0, streams - 1)))
contents = st.tuples(
    st.integers(1, 5),
    st.lists(st.tuples(st.integers(1, 4), st.booleans()), min_size=1, max_size=2).map(tuple),
)


@given(shapes, st.integers(1, 6), contents)
def test_a_state_is_read_by_a_context_of_any_width(
    shape: tuple[int, int], width: int, held: tuple[int, tuple[tuple[int, bool], ...]]
) -> None:
    streams, own = shape
    carried = with_streams(state(streams, own, *held), width)
    if width == streams:
        assert np.array_equal(carried, state(streams, own, *held))
    else:
        # Whoever reads a state takes the one stream that holds cells, wherever it stands.
        places = carried.view(np.uint32)
        expected = state(width, 0, *held).view(np.uint32).copy()
        for part in np.flatnonzero(places != expected):
            assert places[part] == own
        assert len(places) == len(expected)


@given(st.integers(1, 5), st.integers(1, 40))
def test_a_state_that_was_cut_off_is_refused(cells: int, missing: int) -> None:
    whole = state(2, 1, cells, ((2, False),))
    with pytest.raises(EngineFault, match="limit it to a concurrency of 1"):
        with_streams(whole[: max(12, len(whole) - missing * 4)], 3)
