"""A store where nothing may be written can be read, and says so to whoever would write."""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from coupled_arena.errors import StoreError
from coupled_arena.tournaments.storage.store import Store
from tests.store_scene import battle, filled, opened

NOBODY = 65534


@contextmanager
def read_only(log: bytes = b"", *, fill: Callable[[Path], None] = filled) -> Iterator[Path]:
    """Yield a store in a folder where this process may write nothing, root or not."""
    # The folders of the fixture belong to one user, and whoever is nobody may not even pass through them.
    folder = Path(tempfile.mkdtemp())
    path = folder / "a?b%#.db"
    fill(path)
    if log:
        path.with_name(f"{path.name}-wal").write_bytes(log)
    for file in folder.iterdir():
        file.chmod(0o444)
    folder.chmod(0o555)
    user = os.geteuid()
    try:
        if user == 0:
            os.seteuid(NOBODY)
        yield path
    finally:
        os.seteuid(user)
        folder.chmod(0o755)
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()


def test_a_store_that_may_not_be_written_can_be_read() -> None:
    with read_only() as path:
        before = sorted(path.parent.iterdir())
        with Store(path, create=False) as store:
            assert [info.battles for info in store.runs()] == [1]
            assert store.run().load_battles() == (battle(),)
            with pytest.raises(StoreError, match="may not be written; change its permissions"):
                opened(store)
            with pytest.raises(StoreError, match="may not be written; change its permissions"):
                opened(store, "another0")
        assert sorted(path.parent.iterdir()) == before


def test_a_store_that_may_not_be_written_is_not_opened_for_writing() -> None:
    with read_only() as path, pytest.raises(StoreError, match="may not be written"):
        Store(path)


def test_what_is_no_store_is_named_where_nothing_may_be_written_too() -> None:
    with read_only() as path:
        os.seteuid(os.getuid())
        path.chmod(0o644)
        path.write_bytes(b"no database " * 100)
        path.chmod(0o444)
        os.seteuid(NOBODY if os.getuid() == 0 else os.getuid())
        with pytest.raises(StoreError, match=r"not a database.*another file"):
            Store(path, create=False)


def test_answers_in_a_log_that_cannot_be_read_are_not_left_out() -> None:
    with read_only(log=b"x" * 100) as path, pytest.raises(StoreError, match="its folder exists and may be written"):
        Store(path, create=False)
