"""How many more questions: the same answer for a share, a difference of ratings and one of scores."""

import math

import pytest

from coupled_arena.ratings.counting import MOST, more_questions
from coupled_arena.ratings.student import t_reach


@pytest.mark.parametrize("lead", [0.9, 0.3, 0.1, 0.02])
def test_as_many_more_as_said_settle_it_and_a_tenth_fewer_do_not(lead: float) -> None:
    more = more_questions(lead, 5, 0.95)
    assert more is not None and more > 0
    for number, settles in ((5 + more, True), (5 + math.floor(0.9 * more) - 1, False)):
        assert (lead * math.sqrt(number) > t_reach(0.95, number - 1)) is settles


def test_nothing_more_settles_what_is_settled_and_no_number_what_is_level() -> None:
    assert more_questions(2.0, 10, 0.95) == 0
    assert more_questions(0.0, 10, 0.95) is None
    assert more_questions(1.9 / math.sqrt(MOST * 2), 10, 0.95) is None
