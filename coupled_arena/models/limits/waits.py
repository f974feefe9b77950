"""How long to wait before asking again."""

FIRST_WAIT = 0.5
"""Seconds before the first repetition of a request, doubled for every further one, where the provider states none."""

LONGEST_WAIT = 60.0
"""Most seconds to wait for a repetition; a provider that asks for more is given up."""


def backoff(times: int, jitter: float) -> float:
    """Return the seconds to wait after a fault, between half and all of a time that doubles up to the longest wait.

    Args:
        times: how often it went wrong, at least 1.
        jitter: uniform in [0, 1).

    Example:
        >>> [backoff(times, jitter=0.0) for times in (1, 2, 3, 99)]
        [0.25, 0.5, 1.0, 30.0]
    """
    doubled: float = FIRST_WAIT * 2 ** min(times - 1, 20)
    return min(LONGEST_WAIT, doubled) * (0.5 + jitter / 2)
