"""The models that are loaded now, within a memory budget."""

from collections.abc import Callable, Iterator
from pathlib import Path

from coupled_arena.errors import ModelUnavailable
from coupled_arena.models.local.requests import Request
from coupled_arena.models.local.room import Room
from coupled_arena.models.local.settings import MEBIBYTE


class Shelf:
    """Loaded models by file, the least recently used unloaded first; used by one thread at a time.

    A model at work is never unloaded to make room for another.

    Args:
        budget: bytes that all loaded models together may be charged.
        charge: tells what a file will be charged, before it is loaded.
        load: loads a file.
    """

    def __init__(self, budget: int, charge: Callable[[Path], int], load: Callable[[Path, int], Room]) -> None:
        self.budget = budget
        """Bytes that all loaded models together may be charged."""
        self._charge = charge
        self._load = load
        self._models: dict[Path, Room] = {}

    def __contains__(self, path: Path) -> bool:
        return path in self._models

    def __iter__(self) -> Iterator[tuple[Path, Room]]:
        return iter(list(self._models.items()))

    def peek(self, path: Path) -> Room | None:
        """Return a model if it is loaded; it does not count as used."""
        return self._models.get(path)

    def get(self, path: Path) -> Room | None:
        """Return a model, loaded if need be, idle ones being unloaded to make room; None if the busy ones leave none.

        Raises:
            ModelUnavailable: it cannot be loaded, or is beyond the budget all by itself.
        """
        room = self._models.pop(path, None)
        if room is None:
            charge = self._charge(path)
            if charge > self.budget:
                raise ModelUnavailable(
                    f"{path}: needs {charge // MEBIBYTE} MB with its context and prefixes, and local models may take "
                    f"{self.budget // MEBIBYTE} MB; raise COUPLED_ARENA_MEMORY_MB or lower COUPLED_ARENA_CONTEXT"
                )
            if sum(other.charge for other in self._models.values() if other.busy) + charge > self.budget:
                return None
            while sum(other.charge for other in self._models.values()) + charge > self.budget:
                self.drop(next(other for other, kept in self._models.items() if not kept.busy))
            room = self._load(path, charge)
        self._models[path] = room
        return room

    def drop(self, path: Path) -> list[Request]:
        """Unload a model, if it is loaded; return the requests it was working on."""
        room = self._models.pop(path, None)
        return [] if room is None else room.close()
