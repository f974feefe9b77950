"""What a function is given, checked where it comes in: anything else is a problem with the argument's name."""

import os
from numbers import Integral, Real
from pathlib import Path
from typing import Any, NoReturn

from coupled_arena.errors import ConfigurationError, Problem


def refuse(where: str, name: str, wanted: str, given: object) -> NoReturn:
    """Raise `ConfigurationError`: an argument is not what it must be.

    >>> refuse("rate", "level", "a number", None)
    Traceback (most recent call last):
        ...
    coupled_arena.errors.ConfigurationError: rate: level: must be a number, not None
    """
    simple = given is None or isinstance(given, str | bytes | int | float)
    raise ConfigurationError(
        [Problem(where, name, f"must be {wanted}, not {repr(given) if simple else type(given).__name__}")]
    )


def path_of(given: Any, where: str, name: str = "path") -> Path:
    """Return a path, which is not empty.

    >>> path_of("runs.db", "Store").name
    'runs.db'
    """
    path = os.fspath(given) if isinstance(given, str | os.PathLike) else None
    if not isinstance(path, str) or not path:
        refuse(where, name, "a path", given)
    return Path(given)


def count_of(given: Any, where: str, name: str) -> int:
    """Return a whole number of at least 1."""
    if isinstance(given, bool) or not isinstance(given, Integral) or int(given) < 1:
        refuse(where, name, "a whole number of at least 1", given)
    return int(given)


def is_share(given: Any) -> bool:
    """Return whether a value is a number between 0 and 1, both excluded.

    >>> is_share(0.95), is_share(95), is_share("0.95"), is_share(None)
    (True, False, False, False)
    """
    return isinstance(given, Real) and 0 < float(given) < 1
