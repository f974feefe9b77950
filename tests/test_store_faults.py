"""What can be wrong with a file or a disk is said with the path and what to do."""

import sqlite3
from pathlib import Path

import pytest

from coupled_arena.coupling import Sampling
from coupled_arena.errors import StoreError
from coupled_arena.models.calls import Call, Message, Reply
from coupled_arena.tournaments import schema
from coupled_arena.tournaments.store import Store
from tests.store_scene import CALL, KEY, opened, question


def test_what_is_no_store_is_named(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("no database " * 100, encoding="utf-8")
    with pytest.raises(StoreError, match=r"notes\.txt.*not a database.*another file"):
        Store(path)


def test_a_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE mine (x)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="another program"):
        Store(path)
    assert path.read_bytes() == before


def test_a_newer_store_asks_for_an_upgrade(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    Store(path).close()
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {schema.VERSION + 1}")
    connection.close()
    with pytest.raises(StoreError, match="upgrade coupled-arena"):
        Store(path)


def test_a_damaged_store_is_said_to_be_damaged(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    with Store(path) as store, opened(store) as run:
        for number in range(200):
            run.remember(bytes([number]) * 32, CALL, Reply(text="x" * 2000, outcome="ok"))
    content = bytearray(path.read_bytes())
    content[4096 * 2 :] = b"\xff" * (len(content) - 4096 * 2)
    path.write_bytes(content)
    with pytest.raises(StoreError, match=r"malformed.*damaged"), Store(path) as store:
        store.run().rows("calls")


def test_a_store_that_may_not_be_written_says_so(tmp_path: Path) -> None:
    with Store(tmp_path / "runs.db") as store, opened(store) as run:
        run._execute("PRAGMA query_only = ON")
        with pytest.raises(StoreError, match="may not be written"):
            run.remember(KEY, CALL, Reply(text="x", outcome="ok"))
        run._execute("PRAGMA query_only = OFF")


def test_a_full_disk_says_so_and_loses_nothing_answered(tmp_path: Path) -> None:
    with Store(tmp_path / "runs.db") as store, opened(store) as run:
        run.remember(KEY, CALL, Reply(text="kept", outcome="ok"))
        (pages,) = run._execute("PRAGMA page_count").fetchone()
        run._execute(f"PRAGMA max_page_count = {pages}")
        big = Call(CALL.model, (Message("user", "x" * 1_000_000),), Sampling(), 10, bytes(16))
        with pytest.raises(StoreError, match="the disk is full; make room and run again"):
            run.remember(b"l" * 32, big, Reply(text="y" * 1_000_000, outcome="ok"))
        with pytest.raises(StoreError, match="the disk is full; make room and run again"):
            run.save_question(question(text="x" * 1_000_000))
        recalled = run.recall(KEY)
    assert recalled is not None
    assert recalled.text == "kept"


def test_a_missing_folder_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="check that its folder exists"):
        Store(tmp_path / "no" / "runs.db")
