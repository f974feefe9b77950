"""What is wrong with a file: all of it is looked for, the first of it is kept."""

from pathlib import Path

from coupled_arena.errors import ConfigurationError, Problem
from coupled_arena.shown import plural

MOST_PROBLEMS = 20
"""More problems of one file than this are counted, not listed."""

KEY = "rows"
"""What problems call what a file holds."""


class Problems:
    """What is wrong with a file.

    Example:
        >>> problems = Problems()
        >>> for line in range(1, 31):
        ...     problems.add(f"votes.csv:{line}", "winner", "is missing")
        >>> print(problems.error(Path("votes.csv")).problems[-1])
        votes.csv: rows: 10 more problems like these
    """

    def __init__(self) -> None:
        self.found: list[Problem] = []
        """The first problems."""
        self.more = 0
        """How many there are beside them."""

    def add(self, where: str, key: str, message: str) -> None:
        """Note what is wrong with a key somewhere."""
        self.append(Problem(where, key, message))

    def append(self, problem: Problem) -> None:
        """Note a problem."""
        if len(self.found) < MOST_PROBLEMS:
            self.found.append(problem)
        else:
            self.more += 1

    def error(self, path: Path) -> ConfigurationError:
        """Return the error that names them."""
        rest = [Problem(str(path), KEY, f"{plural(self.more, 'more problem')} like these")] if self.more else []
        return ConfigurationError([*self.found, *rest])
