from pathlib import Path

import pytest

from coupled_arena.errors import ModelUnavailable
from coupled_arena.models.local.canonical import CUT
from coupled_arena.models.local.prefixes import PrefixCache
from coupled_arena.models.local.room import Room
from coupled_arena.models.local.settings import MEBIBYTE
from coupled_arena.models.local.shelf import Shelf
from tests.local_fixtures import FakeEngine

SIZES = {Path("small"): 1 * MEBIBYTE, Path("big"): 3 * MEBIBYTE, Path("huge"): 9 * MEBIBYTE, Path("tiny"): MEBIBYTE}


class Store:
    """Loads fake engines and remembers them."""

    def __init__(self) -> None:
        self.engines: dict[Path, FakeEngine] = {}

    def load(self, path: Path, charge: int) -> Room:
        engine = self.engines[path] = FakeEngine()
        return Room(engine, PrefixCache(0, CUT), capacity=4096, charge=charge, joint=True)


@pytest.fixture
def store() -> Store:
    return Store()


@pytest.fixture
def shelf(store: Store) -> Shelf:
    return Shelf(4 * MEBIBYTE, SIZES.__getitem__, store.load)


def test_a_model_is_loaded_once(shelf: Shelf) -> None:
    assert shelf.get(Path("small")) is shelf.get(Path("small"))


def test_the_least_recently_used_model_makes_room(shelf: Shelf, store: Store) -> None:
    shelf.get(Path("small"))
    shelf.get(Path("big"))
    shelf.get(Path("small"))
    shelf.get(Path("tiny"))
    assert store.engines[Path("big")].closed
    assert not store.engines[Path("small")].closed
    assert (Path("big") in shelf, Path("small") in shelf, Path("tiny") in shelf) == (False, True, True)


def test_looking_does_not_count_as_use(shelf: Shelf, store: Store) -> None:
    shelf.get(Path("small"))
    shelf.get(Path("big"))
    assert shelf.peek(Path("small")) is not None
    shelf.get(Path("tiny"))
    assert store.engines[Path("small")].closed


def test_a_model_beyond_the_budget_is_refused_and_displaces_nothing(shelf: Shelf, store: Store) -> None:
    shelf.get(Path("small"))
    with pytest.raises(ModelUnavailable, match=r"huge: needs 9 MB .* may take 4 MB; raise COUPLED_ARENA_MEMORY_MB"):
        shelf.get(Path("huge"))
    assert not store.engines[Path("small")].closed
