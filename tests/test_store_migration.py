"""A store of an earlier version becomes one of this version, whole or not at all, and can be read where it may not."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from coupled_arena.errors import StoreError
from coupled_arena.protocols.examination import Rejected
from coupled_arena.tournaments.results.leaderboard import Row
from coupled_arena.tournaments.storage import schema
from coupled_arena.tournaments.storage.columns import FRAMES
from coupled_arena.tournaments.storage.migration import ADDED
from coupled_arena.tournaments.storage.store import Store
from tests.store_scene import CALL, KEY, battle, opened, question
from tests.test_store_readonly import read_only

V1 = Path(__file__).parent / "data" / "store_v1.sql"

KILLED_AT_EVERY_STATEMENT = """
import os, shutil, signal, sys
from sqlalchemy import Engine, event
from coupled_arena.tournaments.storage.store import Store

source, folder = sys.argv[1:]
said = 0
moment = 0

@event.listens_for(Engine, "before_cursor_execute")
def count(connection, cursor, statement, *rest):
    global said
    said += 1
    if said == moment:
        os.kill(os.getpid(), signal.SIGKILL)

while True:
    moment, said = moment + 1, 0
    copy = os.path.join(folder, f"{moment}.db")
    shutil.copy(source, copy)
    child = os.fork()
    if not child:
        Store(copy).close()
        os._exit(0)
    if os.waitpid(child, 0)[1] == 0:
        break
"""


def old(path: Path) -> None:
    """Write a store of version 1."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(V1.read_text(encoding="utf-8"))
        connection.execute("PRAGMA journal_mode = WAL")


def version_of(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


def columns_of(path: Path) -> dict[str, list[str]]:
    with closing(sqlite3.connect(path)) as connection:
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall()
        return {name: [row[1] for row in connection.execute(f"PRAGMA table_info({name})")] for (name,) in tables}


def require_all(store: Store) -> None:
    """Make sure that a store holds everything that was written into the one of version 1."""
    run = store.run()
    assert (run.id, run.name, run.status, run.caveats) == ("demo-3f2a91", "demo", "finished", ("math: few",))
    assert run.load_questions() == (question(),)
    assert run.load_battles() == (battle(),)
    assert {name: len(run.frame(name)) for name in FRAMES} == {**dict.fromkeys(FRAMES, 1), "turns": 2, "human_votes": 0}
    assert run.frame("questions")["difficulty"].isna().all()
    assert run.frame("rejected")["author"].isna().all()


def test_a_store_of_version_1_keeps_everything_and_has_the_tables_of_this_version(tmp_path: Path) -> None:
    old(tmp_path / "old.db")
    with Store(tmp_path / "old.db", create=False) as store:
        require_all(store)
    Store(tmp_path / "new.db").close()
    assert columns_of(tmp_path / "old.db") == columns_of(tmp_path / "new.db")
    assert version_of(tmp_path / "old.db") == schema.VERSION


def test_a_run_of_version_1_goes_on_and_answers_from_its_memo(tmp_path: Path) -> None:
    old(tmp_path / "runs.db")
    written = question(id="math-2", difficulty="easy")
    with Store(tmp_path / "runs.db") as store, opened(store) as run:
        answer = run.recall(KEY)
        run.save_question(written)
        run.save_rejected([Rejected(domain="math", text="2.", reason="other language", author="x")])
        run.save_ratings(1, [Row(1, "ada", None, None, None, 0, 0, 0, 0, 0, None)])
        assert run.id == "demo-3f2a91"
        assert answer is not None
        assert (answer.text, CALL.model.name) == ("x", "m")
        assert run.reader.load_questions() == (question(), written)
        assert run.reader.frame("rejected")["author"].tolist() == ["x"]


def test_a_store_of_version_1_that_may_not_be_written_is_read_as_it_is() -> None:
    with read_only(fill=old) as path:
        before = path.read_bytes()
        with Store(path, create=False) as store:
            require_all(store)
            with pytest.raises(StoreError, match="may not be written; change its permissions"):
                opened(store)
        assert path.read_bytes() == before


def test_a_store_killed_at_any_statement_of_its_migration_is_of_one_version_and_loses_nothing(tmp_path: Path) -> None:
    old(tmp_path / "source.db")
    folder = tmp_path / "killed"
    folder.mkdir()
    subprocess.run(
        [sys.executable, "-c", KILLED_AT_EVERY_STATEMENT, str(tmp_path / "source.db"), str(folder)], check=True
    )
    killed = sorted(folder.glob("*.db"))
    statements = sum(len(names) for tables in ADDED.values() for names in tables.values())
    assert len(killed) > statements + 5
    before, after = columns_of(tmp_path / "source.db"), None
    for path in killed:
        version, columns = version_of(path), columns_of(path)
        if version == 1:
            assert columns == before
        else:
            after = after or columns
            assert (version, columns) == (schema.VERSION, after)
        with Store(path) as store:
            require_all(store)
    assert after is not None


def test_a_store_whose_migration_fails_stays_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    old(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE rejected")
    before = columns_of(path)
    with pytest.raises(StoreError, match=r"no such table: rejected: it is damaged"):
        Store(path)
    assert (version_of(path), columns_of(path)) == (1, before)


def test_two_processes_may_migrate_one_store_at_once(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    old(path)
    command = "import sys; from coupled_arena.tournaments.storage.store import Store; Store(sys.argv[1]).close()"
    both = [subprocess.Popen([sys.executable, "-c", command, str(path)]) for _ in range(2)]
    assert [process.wait() for process in both] == [0, 0]
    with Store(path) as store:
        require_all(store)


def test_every_added_column_may_be_empty_and_stands_last() -> None:
    for tables in ADDED.values():
        for table, names in tables.items():
            columns = list(schema.metadata.tables[table].columns)
            assert all(schema.metadata.tables[table].c[name].nullable for name in names)
            assert [column.name for column in columns[-len(names) :]] == list(names)
