"""How many more questions it takes: a search, and a number that promises no more than it knows."""

import math
from collections.abc import Callable

_SIGNIFICANT = 2


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
