"""What can be wrong with a file or a disk is said with the path and what to do."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from coupled_arena.coupling import Sampling
from coupled_arena.errors import StoreError
from coupled_arena.models.calls import Call, Message, Reply
from coupled_arena.tournaments.storage import schema
from coupled_arena.tournaments.storage.columns import FRAMES
from coupled_arena.tournaments.storage.export import export
from coupled_arena.tournaments.storage.run_store import RunStore
from coupled_arena.tournaments.storage.store import Store
from tests.store_scene import CALL, KEY, battle, filled, opened, question


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


@pytest.mark.parametrize("replaced", [False, True])
@pytest.mark.parametrize(
    "write",
    [
        lambda run: run.save_battle(battle()),
        lambda run: run.save_ratings(1, []),
        lambda run: run.finish("finished"),
    ],
    ids=["battle", "ratings", "finish"],
)
def test_a_store_removed_or_replaced_under_a_run_is_noticed(
    tmp_path: Path, write: Callable[[RunStore], None], replaced: bool
) -> None:
    path = tmp_path / "runs.db"
    with Store(path) as store:
        gone = pytest.raises(StoreError, match="was removed or replaced while run demo-3f2a91 was writing")
        with gone as caught, opened(store) as run:
            path.rename(tmp_path / "moved.db")
            if replaced:
                path.write_bytes(b"another")
            write(run)
        assert not hasattr(caught.value, "__notes__")
        with opened(store, "another0") as run:
            path.unlink(missing_ok=True)
            (tmp_path / "moved.db").rename(path)
            write(run)


def test_a_store_in_a_relative_path_is_the_same_wherever_the_process_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with Store("runs.db") as store, opened(store) as run:
        monkeypatch.chdir("/")
        run.finish("finished")
        assert run.reader.status == "finished"


def test_what_ended_a_run_is_raised_even_where_the_store_is_gone(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    with Store(path) as store, pytest.raises(KeyboardInterrupt) as caught, opened(store):
        path.unlink()
        raise KeyboardInterrupt
    assert "was removed or replaced" in caught.value.__notes__[0]


def test_a_closed_store_says_that_it_was_closed(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs.db")
    run = opened(store)
    store.close()
    uses: list[Callable[[], object]] = [
        store.runs,
        store.run,
        lambda: opened(store),
        run.reader.load_battles,
        lambda: run.recall(KEY),
        lambda: run.remember(KEY, CALL, Reply(text="x", outcome="ok")),
        lambda: run.save_battle(battle()),
        lambda: run.finish("finished"),
    ]
    for use in uses:
        with pytest.raises(StoreError, match="the store was closed; open it again"):
            use()
    run.close()


DAMAGE = [
    "UPDATE turns SET sections = '[['",
    "UPDATE turns SET sections = '[1]'",
    "UPDATE turns SET step = 'first'",
    "UPDATE opinions SET probabilities = '[]'",
    "UPDATE opinions SET status = 'odd'",
    "UPDATE decisions SET votes = 'null'",
    "DELETE FROM decisions",
    "UPDATE calls SET messages = '{'",
    "UPDATE calls SET settings = '{'",
    "UPDATE calls SET text = CAST(x'ff' AS TEXT)",
    "UPDATE calls SET noise = 'text'",
    "DELETE FROM texts",
    "UPDATE runs SET definition = '{'",
    "UPDATE runs SET manifest = '[1]'",
    "UPDATE runs SET caveats = '{'",
    "UPDATE runs SET created = 'yesterday'",
    "UPDATE battles SET round = 'first' ",
    "UPDATE questions SET domain = x'00'",
    "DROP TABLE turns",
]


@pytest.mark.parametrize("damage", DAMAGE)
def test_rows_that_no_version_has_written_are_said_to_be_damaged(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "runs.db"
    filled(path)
    connection = sqlite3.connect(path)
    connection.execute(damage)
    connection.commit()
    connection.close()
    damaged = pytest.raises(StoreError, match=r"runs\.db: .*it is damaged; restore a copy")
    with damaged as caught, Store(path, create=False) as store:
        store.runs()
        run = store.run()
        kept = [run.definition, run.manifest, run.caveats, run.load_questions(), run.load_battles()]
        kept += [run.frame(frame) for frame in FRAMES]
        export(run, tmp_path / "files")
    assert "\n" not in str(caught.value)


def test_an_answer_that_cannot_be_read_is_not_recalled(tmp_path: Path) -> None:
    with Store(tmp_path / "runs.db") as store, opened(store) as run:
        run.remember(KEY, CALL, Reply(text="x", outcome="ok"))
        run._execute("UPDATE calls SET probabilities = '{'")
        with pytest.raises(StoreError, match="it is damaged"):
            run.recall(KEY)


def test_what_cannot_be_written_is_no_damage_of_the_store() -> None:
    with Store(":memory:") as store, pytest.raises(TypeError, match="not JSON serializable"):
        store.open_run("3f2a91", "demo", {"odd": object()}, {})


@pytest.mark.parametrize("at", [b"CREATE TABLE", b"runs"])
def test_a_store_whose_tables_are_garbled_is_said_to_be_damaged(tmp_path: Path, at: bytes) -> None:
    path = tmp_path / "runs.db"
    filled(path)
    content = path.read_bytes()
    path.write_bytes(content.replace(at, b"\xff" * len(at)))
    with pytest.raises(StoreError, match=r"runs\.db: .*damaged"), Store(path, create=False) as store:
        store.run().load_battles()


def test_a_store_and_a_run_are_shown_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Store("runs.db") as store, opened(store) as run:
        assert (repr(store), repr(run.reader)) == ("Store('runs.db')", "RunReader('demo-3f2a91')")
