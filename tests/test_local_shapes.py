from hypothesis import given
from hypothesis import strategies as st

from coupled_arena.models.local.shapes import COMMON, SHORTEST, WIDEST, Shape, capacity_for, shape_for

CONTEXT, CAPACITY = 8192, WIDEST * COMMON


def test_one_short_reply_takes_little() -> None:
    assert shape_for([100], 0, capacity=CAPACITY, context=CONTEXT) == Shape(1, SHORTEST)


def test_those_who_wait_are_given_room_at_once() -> None:
    assert shape_for([100, 100], 18, capacity=CAPACITY, context=CONTEXT) == Shape(32, SHORTEST)


def test_long_replies_leave_room_for_fewer() -> None:
    assert shape_for([4000], 100, capacity=CAPACITY, context=CONTEXT) == Shape(16, 4096)
    assert shape_for([5000], 100, capacity=CAPACITY, context=CONTEXT) == Shape(8, 8192)


def test_a_context_may_be_shorter_than_the_shortest_sequence() -> None:
    assert shape_for([100], 0, capacity=4000, context=400) == Shape(1, 400)


@given(
    st.lists(st.integers(1, CONTEXT), min_size=1, max_size=40), st.integers(0, 200), st.integers(CONTEXT, 2 * CAPACITY)
)
def test_whatever_fits_is_given_a_shape_within_the_capacity(needs: list[int], waiting: int, capacity: int) -> None:
    shape = shape_for(needs, waiting, capacity=capacity, context=CONTEXT)
    if shape is None:
        assert len(needs) > min(WIDEST, capacity // min(CONTEXT, max(SHORTEST, 2 * max(needs))))
        return
    assert shape.width >= len(needs)
    assert max(needs) <= shape.length <= CONTEXT
    assert shape.width * shape.length <= capacity
    assert shape.width <= WIDEST


def test_a_model_is_given_at_least_one_whole_context_and_no_more_than_it_can_use() -> None:
    assert capacity_for(-5, 100, CONTEXT) == CONTEXT
    assert capacity_for(10**12, 100, CONTEXT) == CAPACITY
    assert capacity_for(100 * 10_000, 100, CONTEXT) == 10_000
    assert capacity_for(0, 0, CONTEXT) == CAPACITY
