"""Finds the run that a command builds on, and makes the definition of the one that is derived from it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypedDict, TypeVar

from coupled_arena.errors import ConfigurationError, Problem
from coupled_arena.models.budget import Budget
from coupled_arena.models.limits.limit import Limit
from coupled_arena.tournaments.base import Base, base_of
from coupled_arena.tournaments.definition import Tournament
from coupled_arena.tournaments.derived import Derived
from coupled_arena.tournaments.playing.events import Listener
from coupled_arena.tournaments.storage.reader import RunReader
from coupled_arena.tournaments.storage.store import Store
from coupled_arena.tournaments.stored import digest_of

DerivedT = TypeVar("DerivedT", bound=Derived)


class Bounds(TypedDict, total=False):
    """What a derived run may spend and send, which changes no result."""

    budget: Budget | Mapping[str, Any]
    """What it may spend before it stops; the base's own budget does not count."""
    limits: Mapping[str, Limit | Mapping[str, Any]]
    """What hosted models may send; left out, those of `definition`."""
    concurrency: int
    """Battles in flight."""


class Playing(TypedDict, total=False):
    """How a run is played, which changes no result."""

    listeners: Sequence[Listener]
    """Told of every event."""
    retry_failed: bool
    """Ask again what was answered without text."""
    preflight: bool
    """Ask every hosted model once before the first call; true by default."""


def playing_of(rules: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return how a run is played, and the other rules."""
    how = {key: value for key, value in rules.items() if key in Playing.__annotations__}
    return how, {key: value for key, value in rules.items() if key not in how}


def bounds_of(given: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return the bounds that were given.

    Raises:
        ConfigurationError: a key is none of `Bounds`.
    """
    known = ", ".join(sorted(Bounds.__annotations__))
    if unknown := sorted(given.keys() - Bounds.__annotations__.keys()):
        message = f"stays as it was in the run; beside what this command is about, set {known}"
        raise ConfigurationError([Problem(where, key, message) for key in unknown])
    return {key: value for key, value in given.items() if value is not None}


def derived(
    store: Store | Path | str,
    run: str | None,
    make: Callable[[Base], DerivedT],
    *,
    definition: Tournament | None = None,
) -> DerivedT:
    """Return the definition of a run that is derived from another one.

    Args:
        store: where the run lives, and the new one will.
        run: id of the run to start from; None is the newest that was played rather than judged anew, or, where that is
            what this very call made before, the run that it was made from: the same call twice is one run.
        make: makes the definition from the run.
        definition: the run's own definition, for what a store does not keep.

    Raises:
        ConfigurationError: with every problem found.
        RunNotFound: the store holds no such run, or it is a bench.
        StoreError: the store cannot be read.
    """
    with _reading(store) as opened:
        if run is not None:
            found = opened.run(run)
        else:
            found = _newest_played(opened)
            if (before := _before(opened, found, make, definition)) is not None:
                return before
        return make(base_of(found, definition))


def started_from(store: Store | Path | str, run: str | None, definition: Tournament | None = None) -> Base:
    """Return the run that others are derived from; None is the newest that was played rather than judged anew.

    Raises:
        ConfigurationError: it is not finished, or is of another definition.
        RunNotFound: the store holds no such run, or it is a bench.
        StoreError: the store cannot be read.
    """
    with _reading(store) as opened:
        return base_of(_newest_played(opened) if run is None else opened.run(run), definition)


def _newest_played(store: Store) -> RunReader:
    runs = (store.run(info.id) for info in store.runs())
    played = (run for run in runs if not run.is_bench and "judged" not in run.manifest.get("base", {}))
    return next(played, None) or store.run()


def _before(
    store: Store, run: RunReader, make: Callable[[Base], DerivedT], definition: Tournament | None
) -> DerivedT | None:
    """Return the definition that a run was made by, if the same is asked for again."""
    origin = run.manifest.get("base")
    if origin is None:
        return None
    try:
        again = make(base_of(store.run(origin["run"]), definition))
    except ConfigurationError:
        # What is wrong with another base is nobody's question; the run itself is tried next.
        return None
    return again if digest_of(again) == run.digest else None


@contextmanager
def _reading(store: Store | Path | str) -> Iterator[Store]:
    if isinstance(store, Store):
        yield store
    else:
        with Store(store, create=False) as opened:
            yield opened
