"""The models that are loaded now, within a memory budget."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from coupled_arena.coupling import Sampler
from coupled_arena.errors import ModelUnavailable
from coupled_arena.models.local.canonical import Evaluator
from coupled_arena.models.local.settings import MEBIBYTE


@dataclass(frozen=True, slots=True)
class Loaded:
    """A model ready to be asked."""

    evaluator: Evaluator
    """Evaluates it, and holds its engine and its prefixes."""
    sampler: Sampler
    """Draws from its vocabulary."""
    charge: int
    """Bytes it counts in the budget: weights, context and the limit of its prefixes."""


class Shelf:
    """Loaded models by file, the least recently used unloaded first; used by one thread at a time.

    Args:
        budget: bytes that all loaded models together may be charged.
        charge: tells what a file will be charged, before it is loaded.
        load: loads a file.
    """

    def __init__(self, budget: int, charge: Callable[[Path], int], load: Callable[[Path, int], Loaded]) -> None:
        self.budget = budget
        """Bytes that all loaded models together may be charged."""
        self._charge = charge
        self._load = load
        self._models: dict[Path, Loaded] = {}

    def __contains__(self, path: Path) -> bool:
        return path in self._models

    def peek(self, path: Path) -> Loaded | None:
        """Return a model if it is loaded; it does not count as used."""
        return self._models.get(path)

    def get(self, path: Path) -> Loaded:
        """Return a model, loaded if need be, others being unloaded to make room.

        Raises:
            ModelUnavailable: it cannot be loaded, or is beyond the budget all by itself.
        """
        loaded = self._models.pop(path, None)
        if loaded is None:
            charge = self._charge(path)
            if charge > self.budget:
                raise ModelUnavailable(
                    f"{path}: needs {charge // MEBIBYTE} MB with its context and prefixes, and local models may take "
                    f"{self.budget // MEBIBYTE} MB; raise COUPLED_ARENA_MEMORY_MB or lower COUPLED_ARENA_CONTEXT"
                )
            while self._models and sum(model.charge for model in self._models.values()) + charge > self.budget:
                self.drop(next(iter(self._models)))
            loaded = self._load(path, charge)
        self._models[path] = loaded
        return loaded

    def drop(self, path: Path) -> None:
        """Unload a model, if it is loaded."""
        loaded = self._models.pop(path, None)
        if loaded is not None:
            loaded.evaluator.engine.close()

    def clear(self) -> None:
        """Unload every model."""
        for path in list(self._models):
            self.drop(path)
