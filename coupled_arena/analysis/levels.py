"""The coverage that an interval is asked for."""

from coupled_arena.arguments import is_share
from coupled_arena.errors import ConfigurationError, Problem


def level_problems(where: str, level: float) -> list[Problem]:
    """Return what is wrong with a coverage, which must be a share: 0.95, not 95.

    >>> level_problems("kappa", 0.95), level_problems("kappa", 95)[0].key
    ([], 'level')
    """
    if is_share(level):
        return []
    return [Problem(where, "level", f"needs a coverage between 0 and 1, not {level!r}")]


def require_level(where: str, level: float) -> None:
    """Raise `ConfigurationError` for a coverage that no interval can have."""
    if problems := level_problems(where, level):
        raise ConfigurationError(problems)
