"""Lanes: asked less where a provider refuses, then again more, and never closed for good."""

import math

from coupled_arena.models.limits.lanes import PATIENT, Lane
from coupled_arena.models.limits.waits import FIRST_WAIT, LONGEST_WAIT, backoff


def entered(lane: Lane, count: int) -> Lane:
    for _ in range(count):
        lane.enter(0.0)
    return lane


def test_a_lane_is_boundless_until_it_is_refused() -> None:
    lane = entered(Lane(), 10_000)
    assert lane.opens(0.0) == 0.0
    lane.answered()
    assert lane.window == math.inf


def test_a_burst_of_refusals_halves_a_lane_once() -> None:
    lane = entered(Lane(), 64)
    waits = [lane.refused(now=1.0 + late, sent=0.5, stated=None, jitter=1.0) for late in (0.0, 0.1, 0.2)]
    assert lane.window == 32
    assert waits[0] == FIRST_WAIT
    assert lane.refused(now=3.0, sent=2.0, stated=None, jitter=1.0) == 2 * FIRST_WAIT
    assert lane.window == 16


def test_a_lane_never_closes_for_good() -> None:
    lane = entered(Lane(), 1)
    for now in range(1, 50):
        lane.refused(now=1000.0 * now, sent=1000.0 * now - 1, stated=None, jitter=1.0)
    lane.leave()
    assert lane.window == 1
    assert lane.paused_until == 49_000 + LONGEST_WAIT
    assert lane.opens(lane.paused_until) == lane.paused_until


def test_answers_widen_a_lane_by_one_for_each_round() -> None:
    lane = entered(Lane(), 8)
    lane.refused(now=1.0, sent=0.5, stated=0.0, jitter=0.0)
    assert lane.window == 4
    for _ in range(4):
        lane.leave()
    for _ in range(4):
        lane.answered()
    assert 4.8 < lane.window < 5
    wide = lane.window
    for _ in range(3):
        lane.leave()
    lane.answered()
    assert lane.window == wide, "a lane that is not full has nothing to learn"


def test_a_stated_wait_is_believed_until_it_proves_too_short() -> None:
    lane = entered(Lane(), 1)
    waits = [lane.refused(now=100.0 * i, sent=100.0 * i - 1, stated=0.0, jitter=0.0) for i in range(1, 7)]
    assert waits == [0.0, 0.0, *(backoff(times, 0.0) for times in (3, 4, 5, 6))]
    assert PATIENT == 2


def test_an_answer_ends_the_row_of_refusals() -> None:
    lane = entered(Lane(), 1)
    for moment in (100.0, 200.0, 300.0):
        lane.refused(now=moment, sent=moment - 1, stated=None, jitter=1.0)
    lane.answered()
    assert lane.refused(now=400.0, sent=399.0, stated=None, jitter=1.0) == FIRST_WAIT
