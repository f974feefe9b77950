"""A damaged store is said to be damaged in one line by every command, and no command makes it worse."""

import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection

from coupled_arena.cli import main
from coupled_arena.errors import StoreError
from coupled_arena.tournaments.storage import schema
from coupled_arena.tournaments.storage.checking.file import page_problems
from coupled_arena.tournaments.storage.store import Store
from tests.store_damage import small
from tests.store_scene import filled, opened

COMMANDS = {
    "check": ("check", "--store", "runs.db"),
    "leaderboard": ("leaderboard", "--store", "runs.db"),
    "run": ("run", "small.toml", "--store", "runs.db"),
}


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a definition and a store that holds its run."""
    folder = tmp_path_factory.mktemp("sound")
    small(folder)
    return folder


def truncate(content: bytes) -> bytes:
    return content[: len(content) * 2 // 3]


def empty(_: bytes) -> bytes:
    return b""


def flip_pages(content: bytes) -> bytes:
    """Turn over every bit of a quarter of the file, from the middle on."""
    half, end = len(content) // 2, len(content) * 3 // 4
    return content[:half] + bytes(byte ^ 0xFF for byte in content[half:end]) + content[end:]


def flip_header(content: bytes) -> bytes:
    return bytes(byte ^ 0xFF for byte in content[:100]) + content[100:]


def sql(statement: str) -> Callable[[bytes], bytes]:
    def damaged(content: bytes) -> bytes:
        # Bytes 18 and 19 say whether there is a log beside the file, which memory has no place for.
        connection = sqlite3.connect(":memory:")
        connection.deserialize(content[:18] + b"\1\1" + content[20:])
        connection.execute(statement)
        connection.commit()
        changed = connection.serialize()
        connection.close()
        return changed[:18] + content[18:20] + changed[20:]

    damaged.__name__ = statement
    return damaged


DAMAGE = [
    truncate,
    empty,
    flip_pages,
    flip_header,
    sql("UPDATE turns SET sections = 'x'"),
    sql("UPDATE calls SET messages = 'x'"),
    sql("UPDATE calls SET settings = 'x'"),
    sql("DROP TABLE turns"),
    sql("DROP TABLE ratings"),
    sql("DROP TABLE runs"),
    sql("ALTER TABLE calls DROP COLUMN latency"),
]


UNREAD = {
    "UPDATE calls SET messages = 'x'",
    "UPDATE calls SET settings = 'x'",
    "DROP TABLE ratings",
    "ALTER TABLE calls DROP COLUMN latency",
}
"""Damage to what a leaderboard does not read."""


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("damage", DAMAGE, ids=lambda damage: damage.__name__)
def test_damage_is_said_in_one_line_and_not_made_worse(
    sound: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    damage: Callable[[bytes], bytes],
    command: str,
) -> None:
    shutil.copy(sound / "small.toml", tmp_path)
    content = damage((sound / "runs.db").read_bytes())
    (tmp_path / "runs.db").write_bytes(content)
    if (damage, command) == (empty, "run"):
        pytest.skip("an empty file is a place for a new store, and nothing can be made worse in it")
    if command == "leaderboard" and damage.__name__ in UNREAD:
        pytest.skip("a leaderboard reads battles, and they are whole")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["coupled-arena", *COMMANDS[command]])
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr()
    assert (ended.value.code, said.out) == (1, "")
    lines = said.err.splitlines()
    assert lines and all("runs.db: " in line for line in lines), lines
    assert command == "check" or len(lines) == 1, lines
    assert (tmp_path / "runs.db").read_bytes() == content


def test_a_damaged_store_of_an_earlier_version_is_not_brought_to_this_one(
    sound: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    content = flip_pages(sql(f"PRAGMA user_version = {schema.VERSION - 1}")((sound / "runs.db").read_bytes()))
    (tmp_path / "runs.db").write_bytes(content)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["coupled-arena", "leaderboard", "--store", "runs.db"])
    with pytest.raises(SystemExit):
        main()
    assert "damaged" in capsys.readouterr().err
    assert (tmp_path / "runs.db").read_bytes() == content


def test_the_whole_file_is_looked_at_again_only_after_somebody_else_wrote_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[bool] = []

    def looking(connection: Connection, *, indexes: bool) -> Iterator[str]:
        looks.append(indexes)
        return page_problems(connection, indexes=indexes)

    monkeypatch.setattr("coupled_arena.tournaments.storage.store.page_problems", looking)
    with Store(tmp_path / "runs.db") as store:
        opened(store, "3f2a91c0d1").close()
        opened(store, "5a1e00c0d1").close()
        assert len(looks) == 1
        with Store(tmp_path / "runs.db") as other:
            opened(other, "77aa00c0d1").close()
        assert len(looks) == 2
        opened(store, "3f2a91c0d1").close()
        assert len(looks) == 3


def test_a_battle_whose_question_is_lost_is_damage_with_a_name(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    filled(path)
    with Store(path) as store:
        assert store.run().battle("b1")[1].id == "math-1"
    with sqlite3.connect(path) as file:
        file.execute("DELETE FROM questions")
    file.close()
    with Store(path, reading=True) as store, pytest.raises(StoreError, match=r"KeyError: 'math-1'.*damaged"):
        store.run().battle("b1")
