"""An SQLite file opened as a store, every fault said with the path and what to do."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event, exc
from sqlalchemy.pool import StaticPool

from coupled_arena.errors import RunNotFound, StoreError
from coupled_arena.tournaments.storage import schema
from coupled_arena.tournaments.storage.checking.file import page_problems
from coupled_arena.tournaments.storage.migration import migrate, overlay

MEMORY = ":memory:"
"""Path of a store that lives in the process."""

BUSY_SECONDS = 60.0
"""How long a write waits for another process that is writing another run."""

CHECKPOINT_PAGES = 8192
"""Pages of 4 KiB in the write-ahead log before they are copied to the file: replies touch the same ones often."""

CACHE_KILOBYTES = 32_768
"""Memory for pages."""

_DAMAGED = "it is damaged; restore a copy, or name another file and play again"

UNREADABLE = (ValueError, LookupError, TypeError, AttributeError, OverflowError)
"""What becomes of rows that no version of ours has written, as they are made records."""


def is_memory(store: object) -> bool:
    """Return whether a run is kept in memory: where no store is named, or `MEMORY` is."""
    return store is None or str(store) == MEMORY


def engine_for(path: Path | None) -> Engine:
    """Return an engine with one connection, without opening the file; None is a store in memory."""

    def connect() -> sqlite3.Connection:
        return sqlite3.connect(MEMORY if path is None else path, timeout=BUSY_SECONDS, check_same_thread=False)

    return _engine(connect)


def reading_engine(path: Path, *, still: bool) -> Engine:
    """Return an engine that cannot write a file.

    Args:
        path: the file.
        still: whether it lies where nothing may be written, not even the files that SQLite puts beside it; otherwise
            another process may be writing it.
    """
    address = f"file:{quote(str(path.absolute()))}?mode=ro{'&immutable=1' if still else ''}"
    return _engine(lambda: sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS, check_same_thread=False))


def _engine(connect: Callable[[], sqlite3.Connection]) -> Engine:
    # Transactions are begun by hand: the driver's own begin before writes only, and never before a read.
    engine = create_engine("sqlite://", creator=connect, isolation_level="AUTOCOMMIT", poolclass=StaticPool)

    @event.listens_for(engine, "connect")
    def configure(connection: sqlite3.Connection, record: object) -> None:
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
        connection.execute(f"PRAGMA cache_size = -{CACHE_KILOBYTES}")

    return engine


def identity_of(path: Path) -> tuple[int, int] | None:
    """Return what tells a file from every other on this machine, or None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


Placed = tuple[Path, tuple[int, int] | None]
"""A file, and what told it from every other when it was opened."""


def require_in_place(file: Placed | None, where: str, doing: str, advice: str) -> None:
    """Make sure that what is written is in the file of that name: SQLite writes on into a removed one.

    Raises:
        StoreError: it is not.
    """
    if file is not None and identity_of(file[0]) != file[1]:
        raise StoreError(f"{where}: was removed or replaced while {doing}; {advice}")


def prepare(connection: Connection, where: str, *, create: bool, reading: bool = False) -> None:
    """Make the tables of a new store, or check that an existing file is one this version can read.

    A file of an earlier version becomes one of this version, whole or not at all.

    Args:
        connection: the open file.
        where: its name, for messages.
        create: whether an empty file may become a store.
        reading: whether nothing may be written; then an earlier version is read as it is.

    Raises:
        RunNotFound: the file is empty and may not become a store.
        StoreError: it belongs to another program or to a newer version, or is damaged and would be changed.
    """
    version = connection.exec_driver_sql("PRAGMA user_version").scalar_one()
    application = connection.exec_driver_sql("PRAGMA application_id").scalar_one()
    tables = connection.exec_driver_sql("SELECT count(*) FROM sqlite_master").scalar_one()
    if not tables and not create:
        raise RunNotFound(f"{where}: is empty and holds no run; restore a copy, or name another file")
    if tables and application != schema.APPLICATION:
        raise StoreError(f"{where}: is a database of another program; name another file for the store")
    if version > schema.VERSION:
        raise StoreError(
            f"{where}: was written by a newer version (tables {version}, this version reads {schema.VERSION}); "
            "upgrade coupled-arena, or name another file"
        )
    if version == schema.VERSION:
        return
    if tables and reading:
        overlay(connection, version)
        return
    connection.exec_driver_sql("PRAGMA journal_mode = WAL")
    with transaction(connection):
        # Another process may have made or changed the tables between the look above and this lock.
        version = connection.exec_driver_sql("PRAGMA user_version").scalar_one()
        if not version:
            schema.metadata.create_all(connection)
            connection.exec_driver_sql(f"PRAGMA application_id = {schema.APPLICATION}")
        elif version < schema.VERSION:
            require(where, page_problems(connection, indexes=False))
            migrate(connection, version)
        if version < schema.VERSION:
            connection.exec_driver_sql(f"PRAGMA user_version = {schema.VERSION}")


@contextmanager
def transaction(connection: Connection) -> Iterator[None]:
    """Write everything within or nothing."""
    connection.exec_driver_sql("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        # A full disk makes SQLite roll back by itself; what went wrong is the first error.
        with suppress(exc.SQLAlchemyError):
            connection.exec_driver_sql("ROLLBACK")
        raise
    connection.exec_driver_sql("COMMIT")


@contextmanager
def snapshot(connection: Connection) -> Iterator[None]:
    """Read everything within as it was at one moment, whatever others write."""
    connection.exec_driver_sql("BEGIN")
    try:
        yield
    finally:
        with suppress(exc.SQLAlchemyError):
            connection.exec_driver_sql("ROLLBACK")


@contextmanager
def explained(where: str) -> Iterator[None]:
    """Turn the driver's errors into a `StoreError` that names the file and what to do."""
    try:
        yield
    except (sqlite3.Error, exc.SQLAlchemyError) as error:
        raise explanation(where, error) from error


@contextmanager
def decoded(where: str) -> Iterator[None]:
    """Turn, beside the driver's errors, what rows that cannot be read raise into a `StoreError`.

    Only around reading: while writing such an exception is the fault of what is written, not of the file.
    """
    try:
        yield
    except (sqlite3.Error, exc.SQLAlchemyError, *UNREADABLE) as error:
        raise explanation(where, error) from error


def explanation(where: str, error: Exception) -> StoreError:
    """Return an error of the driver or of `UNREADABLE` as a `StoreError` that names the file and what to do."""
    words = " ".join(str(getattr(error, "orig", None) or error).split())
    if isinstance(error, exc.ResourceClosedError) or "closed database" in words:
        return StoreError(f"{where}: the store was closed; open it again")
    if isinstance(error, (*UNREADABLE, exc.NoResultFound)):
        return damaged(where, f"what it holds cannot be read ({type(error).__name__}: {words})")
    advice = {
        "not a database": "it is no store; name another file",
        "malformed": _DAMAGED,
        "decode": _DAMAGED,
        "no such": _DAMAGED,
        "unable to open": "check that its folder exists and may be written, and that it is a file",
        "readonly": "it may not be written; change its permissions, or copy it to where you may write",
        "locked": "another process is writing; wait for it, or stop it",
        "full": "the disk is full; make room and run again, nothing answered is lost",
        "I/O": "the disk failed, or a limit on its use is reached; make room and run again, nothing answered is lost",
    }
    what = next((advice[mark] for mark in advice if mark in words), "run again; if it stays, name another file")
    return StoreError(f"{where}: {words}: {what}")


def require(where: str, problems: Iterator[str]) -> None:
    """Make sure that nothing is wrong with a file that is to be written, which writing would make worse.

    Raises:
        StoreError: it is damaged.
    """
    for problem in problems:
        raise damaged(where, problem)


def damaged(where: str, what: str) -> StoreError:
    """Return that a store is damaged, and what to do."""
    return StoreError(f"{where}: {what}: {_DAMAGED}")
