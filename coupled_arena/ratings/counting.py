"""How many more questions it takes: a search, and a number that promises no more than it knows."""

import math
from collections.abc import Callable

from coupled_arena.ratings.student import t_reach

MOST = 10_000_000
"""More questions than about this are not counted out."""

_SIGNIFICANT = 2


def more_questions(lead: float, questions: int, level: float) -> int | None:
    """Return about how many more questions settle a difference if it stays as it is; 0 if it is settled already.

    Its standard error is taken to fall with the square root of the number of questions, and the quantile of Student's
    distribution with it: n questions settle it where `lead sqrt(n)` exceeds the quantile with n - 1 degrees of freedom.

    Args:
        lead: the difference over what one question says of it as a standard deviation, at least 0.
        questions: how many there are, at least 2.
        level: coverage of the interval that is to exclude no difference.

    Returns:
        a number as `more_until` gives it, None beyond `MOST`.

    >>> more_questions(0.5, 10, 0.95), more_questions(0.05, 10, 0.95), more_questions(1.0, 10, 0.95)
    (8, 1600, 0)
    """
    return more_until(lambda number: lead * math.sqrt(number) > t_reach(level, number - 1), questions, MOST)


def more_until(settles: Callable[[int], bool], seen: int, most: int) -> int | None:
    """Return about how many more than were seen settle it, rounded up to two digits.

    Args:
        settles: whether so many settle it; once some do, more do too.
        seen: how many there are.
        most: None is returned where more than about so many would be needed.

    >>> more_until(lambda number: number >= 1234, 34, 10_000), more_until(lambda number: number >= 3, 3, 10)
    (1200, 0)
    """
    if settles(seen):
        return 0
    few, enough = seen, 2 * seen
    while not settles(enough):
        if enough > most:
            return None
        few, enough = enough, 2 * enough
    while enough - few > 1:
        middle = (few + enough) // 2
        few, enough = (few, middle) if settles(middle) else (middle, enough)
    more = enough - seen
    step = int(10 ** max(0, len(str(more)) - _SIGNIFICANT))
    return math.ceil(more / step) * step
