"""Problems in the words of the command line."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from coupled_arena.errors import BudgetReached, ConfigurationError, Problem


@contextmanager
def in_flags(flags: Mapping[str, str], *, keys: bool = True) -> Iterator[None]:
    """Call the parameters that problems name by the options they come from.

    Messages are put into these words too where a parameter's name has a dot or stands in backticks: others may be plain
    words. What a run stopped at is a bound of its budget in these words, too.

    Args:
        flags: options by parameter.
        keys: whether what problems name as their keys are parameters, rather than columns of a file.

    Example:
        >>> with in_flags({"budget.usd": "--budget-usd"}):
        ...     raise ConfigurationError([Problem("run", "budget", "budget.usd = 5 is too little")])
        Traceback (most recent call last):
            ...
        coupled_arena.errors.ConfigurationError: run: budget: --budget-usd 5 is too little
    """
    try:
        yield
    except ConfigurationError as error:
        raise ConfigurationError([_flagged(problem, flags, keys) for problem in error.problems]) from None
    except BudgetReached as stop:
        stop.args = (_worded(str(stop), flags),)
        raise


def _flagged(problem: Problem, flags: Mapping[str, str], keys: bool) -> Problem:
    message = re.sub(r"`(\w+)`", lambda found: flags.get(found[1], found[0]), problem.message)
    key = flags.get(problem.key, problem.key) if keys else problem.key
    return problem._replace(key=key, message=_worded(message, flags))


def _worded(message: str, flags: Mapping[str, str]) -> str:
    """Return a message with options in the place of parameters whose names have a dot."""

    def flag(found: re.Match[str]) -> str:
        return f"{flags[found[1]]} {found[2]}" if found[2] else flags[found[1]]

    dotted = [re.escape(key) for key in flags if "." in key]
    return re.sub(rf"\b({'|'.join(dotted)})(?: = \"?(\w+)\"?)?", flag, message) if dotted else message
