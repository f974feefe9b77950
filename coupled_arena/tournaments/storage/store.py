"""Where runs live: an SQLite file with every call, question, battle and rating."""

import os
import re
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from filelock import FileLock, Timeout
from sqlalchemy import Engine, Table, func, select

from coupled_arena.arguments import path_of
from coupled_arena.errors import RunNotFound, StoreError, StoreLocked
from coupled_arena.models.encoding import storable
from coupled_arena.models.masking import published
from coupled_arena.tournaments.storage import packing, schema
from coupled_arena.tournaments.storage.checking.file import json_problems, page_problems, table_problems
from coupled_arena.tournaments.storage.database import (
    MEMORY,
    decoded,
    engine_for,
    explained,
    identity_of,
    prepare,
    reading_engine,
    require,
    snapshot,
    transaction,
)
from coupled_arena.tournaments.storage.holder import holder_words, may_live, this_process
from coupled_arena.tournaments.storage.human_votes import HumanVotes
from coupled_arena.tournaments.storage.reader import RunReader
from coupled_arena.tournaments.storage.run_store import RunStore, Status

if TYPE_CHECKING:
    from coupled_arena.tournaments.storage.checking.findings import Checked

__all__ = ["RunInfo", "RunStore", "Status", "Store"]

_BASE = func.json_extract(schema.runs.c.manifest, "$.base.run").label("base")


class RunInfo(NamedTuple):
    """One run of a store."""

    id: str
    """Its id, short and readable: `demo-3f2a91`."""
    name: str
    """Name of its definition."""
    digest: str
    """Digest of its definition."""
    status: Status
    """What became of it."""
    created: float
    """When it was first played, in seconds since 1970."""
    battles: int
    """Battles stored so far."""
    calls: int
    """Calls stored so far."""
    base: str | None
    """Id of the run it was derived from, by `add` or `rejudge`; None where it was played from nothing."""


class Seen(NamedTuple):
    """What a look at a run tells."""

    id: str
    """Its id."""
    name: str
    """Name of its definition."""
    status: Status
    """What became of it."""
    created: float
    """When it was first played, in seconds since 1970."""
    opened: int
    """Raised whenever it goes on."""
    round: int
    """The last round with ratings; 0 before there are any."""
    battles: int
    """Battles stored so far."""
    bench: bool
    """Whether it is a bench, which has no battles."""
    base: str | None = None
    """Id of the run it was derived from; None where it was played from nothing."""


class Store:
    """An SQLite file that holds runs.

    Args:
        path: the file, or `:memory:`.
        create: make the file if it is not there; otherwise that is an error, and a file that may not be written can
            still be read.
        clock: seconds since 1970.
        reading: only read, which leaves the file as it is, of an earlier version too; it must be there.

    Raises:
        StoreError: the file is no store, is of a newer version, or cannot be opened.

    Example:
        >>> with Store(":memory:") as store:
        ...     with store.open_run("3f2a91c0", "demo", {"seed": 7}, {}) as run:
        ...         run.finish("finished")
        ...     [(info.id, info.status) for info in store.runs()]
        [('demo-3f2a91', 'finished')]
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        create: bool = True,
        clock: Callable[[], float] = time.time,
        reading: bool = False,
    ) -> None:
        file = path_of(path, "Store")
        self.path = None if str(file) == MEMORY else file
        """The file, or None for a store in memory."""
        self._where = str(path)
        self._clock = clock
        self._sound: int | None = None
        create = create and not reading
        there = self.path is not None and _there(self.path)
        if self.path is not None and not create and not there:
            raise StoreError(f"{self._where}: there is no store yet; `coupled-arena run FILE.toml` makes one")
        # Opening a pipe would wait for ever.
        if self.path is not None and there and not self.path.is_file():
            raise StoreError(f"{self._where}: is a folder or a device, and no file; name a file")
        try:
            if reading and self.path is not None:
                self._open(reading_engine(self.path, still=False), create=False, reading=True)
            else:
                self._open(engine_for(self.path), create=create)
        except StoreError:
            if self.path is None or create or not _unwritable(self.path):
                raise
            self._open(reading_engine(self.path, still=True), create=False, reading=True)
        # Absolute, because the working folder may be changed while a run writes.
        self._file = None if self.path is None else (self.path.absolute(), identity_of(self.path))

    def __repr__(self) -> str:
        return f"Store({self._where!r})"

    def open_run(self, digest: str, name: str, definition: Mapping[str, Any], manifest: Mapping[str, Any]) -> RunStore:
        """Open the newest run of a definition for writing, or a new run if there is none.

        Args:
            digest: hex digest of everything in the definition that can change a result, at least 6 digits.
            name: name of the definition; it begins the id of a new run.
            definition: the definition as plain data; text under secret names is masked.
            manifest: what else a reader needs to repeat the run, as plain data; kept as the run was first played,
                and dated.

        Raises:
            StoreLocked: another process, or another object of this one, is writing the run.
            StoreError: the store cannot be written, or it is damaged, which writing would make worse.
        """
        self._require_sound(digest)
        with explained(self._where), transaction(self._connection):
            run = self._newest(digest) or self._new_run(digest, name, definition, manifest)
        lock = self._lock(run)
        if lock is not None:
            try:
                lock.acquire(blocking=False)
            except Timeout:
                writer = self._connection.execute(select(schema.runs.c.writer).where(schema.runs.c.id == run)).scalar()
                raise StoreLocked(
                    f"{self._where}: run {run} is being written by {holder_words(writer)}; wait for it, or stop it"
                ) from None
            except OSError as error:
                raise StoreError(
                    f"{lock.lock_file}: cannot be locked ({error.strerror}), so the store may not be written; "
                    "change its permissions, or copy it to where you may write"
                ) from error
        try:
            with explained(self._where), transaction(self._connection):
                opened = self._connection.execute(select(func.max(schema.runs.c.opened))).scalar() or 0
                self._connection.execute(
                    schema.runs.update()
                    .where(schema.runs.c.id == run)
                    .values(status="running", writer=this_process(self._clock()), opened=opened + 1)
                )
        except BaseException:
            if lock is not None:
                lock.release()
            raise
        return RunStore(self._connection, self._where, run, lock, self._clock, self._file)

    def runs(self) -> list[RunInfo]:
        """Return every run, the one opened last first."""
        run = schema.runs.c
        with decoded(self._where):
            rows = self._connection.execute(
                select(run.id, run.name, run.digest, run.status, run.created, _BASE).order_by(run.opened.desc())
            ).all()
            battles, calls = self._counted(schema.battles), self._counted(schema.calls)
            infos = [RunInfo(*row[:-1], battles.get(row.id, 0), calls.get(row.id, 0), row.base) for row in rows]
            for info in infos:
                datetime.fromtimestamp(info.created, UTC)
        return [
            info._replace(status="interrupted") if info.status == "running" and not self._held(info.id) else info
            for info in infos
        ]

    @property
    def version(self) -> int:
        """A number that changes whenever another process has written to the file."""
        with explained(self._where):
            return int(self._connection.exec_driver_sql("PRAGMA data_version").scalar_one())

    def look(self) -> tuple[Seen, ...]:
        """Return what can be told of every run without going through its calls, the one opened last first.

        A run whose process is gone is `interrupted`; nothing is locked to find out.
        """
        run, rated = schema.runs.c, schema.ratings.c
        with decoded(self._where), snapshot(self._connection):
            rows = self._connection.execute(
                select(
                    run.id, run.name, run.status, run.created, run.opened, run.writer,
                    func.json_type(run.definition, "$.task").is_not(None).label("bench"),
                    _BASE,
                ).order_by(run.opened.desc())
            ).all()  # fmt: skip
            battles = self._counted(schema.battles)
            latest = select(rated.run, func.max(rated.round)).group_by(rated.run)
            rounds = {row[0]: row[1] for row in self._connection.execute(latest)}
        return tuple(
            Seen(
                id=row.id,
                name=row.name,
                status="interrupted" if row.status == "running" and not may_live(row.writer) else row.status,
                created=row.created,
                opened=row.opened,
                round=rounds.get(row.id, 0),
                battles=battles.get(row.id, 0),
                bench=bool(row.bench),
                base=row.base,
            )
            for row in rows
        )

    def run(self, run: str | None = None) -> RunReader:
        """Return what a run holds; None is the one opened last.

        Raises:
            RunNotFound: the store holds no such run.
        """
        with decoded(self._where):
            known = list(
                self._connection.execute(select(schema.runs.c.id).order_by(schema.runs.c.opened.desc())).scalars()
            )
        if not known:
            raise RunNotFound(f"{self._where}: holds no run yet; `coupled-arena run FILE.toml` plays one")
        if run is not None and run not in known:
            raise RunNotFound(f"{self._where}: holds no run {run!r}; it holds {', '.join(known)}")
        return RunReader(self._connection, self._where, run or known[0])

    @property
    def human_votes(self) -> HumanVotes:
        """The votes of people on battles."""
        return HumanVotes(self._connection, self._where, self._file)

    def find(self, digest: str) -> RunReader | None:
        """Return the newest run of a definition by its digest, or None where there is none."""
        with decoded(self._where):
            run = self._newest(digest)
        return None if run is None else RunReader(self._connection, self._where, run)

    def check(self) -> "Checked":
        """Look at everything the store holds: its pages, tables and texts, and every run by its own rules.

        Decisions are made again from their opinions, and ratings from their battles. Nothing is written.

        Raises:
            StoreError: the store was closed.
        """
        from coupled_arena.tournaments.storage.checking.runs import checked

        with explained(self._where), snapshot(self._connection):
            return checked(self._connection, self._where)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _open(self, engine: Engine, *, create: bool, reading: bool = False) -> None:
        self._engine = engine
        try:
            with decoded(self._where):
                self._connection = engine.connect()
                prepare(self._connection, self._where, create=create, reading=reading)
        except BaseException:
            engine.dispose()
            raise

    def _require_sound(self, digest: str) -> None:
        """Look for damage: once at the whole file, as long as nobody else writes to it, and always at the run."""
        with decoded(self._where), snapshot(self._connection):
            run = self._newest(digest)
            if self._sound != (version := self.version):
                require(self._where, page_problems(self._connection, indexes=False))
                require(self._where, table_problems(self._connection))
                self._sound = version
            if run is not None:
                require(self._where, json_problems(self._connection, run))

    def _counted(self, table: Table) -> dict[str, int]:
        counted = self._connection.execute(select(table.c.run, func.count()).group_by(table.c.run))
        return {row[0]: row[1] for row in counted}

    def _newest(self, digest: str) -> str | None:
        table = schema.runs.c
        return self._connection.execute(
            select(table.id).where(table.digest == digest).order_by(table.opened.desc()).limit(1)
        ).scalar()

    def _new_run(self, digest: str, name: str, definition: Mapping[str, Any], manifest: Mapping[str, Any]) -> str:
        taken = set(self._connection.execute(select(schema.runs.c.id)).scalars())
        word = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:24].rstrip("-") or "run"
        run = next(
            candidate for length in range(6, len(digest) + 6) if (candidate := f"{word}-{digest[:length]}") not in taken
        )
        self._connection.execute(
            schema.runs.insert().values(
                id=run,
                digest=digest,
                name=storable(name),
                definition=packing.as_json(published(definition)),
                manifest=packing.as_json(published(manifest)),
                caveats=packing.as_json([]),
                status="running",
                writer="",
                opened=0,
                created=self._clock(),
            )
        )
        return run

    def _lock(self, run: str) -> FileLock | None:
        if self.path is None:
            return None
        # Not bound to a thread: a run may be opened in one and closed in another.
        return FileLock(f"{self.path}.{run}.lock", thread_local=False)

    def _held(self, run: str) -> bool:
        lock = self._lock(run)
        if lock is None:
            return True
        if not Path(lock.lock_file).exists():
            return False
        try:
            with lock.acquire(blocking=False):
                return False
        except (Timeout, OSError):
            # Without leave to lock nobody can tell, and what was last written stands.
            return True


def _there(path: Path) -> bool:
    """Return whether there is such a file; one whose name no file system takes cannot be there."""
    try:
        return path.exists()
    except OSError:
        return False


def _unwritable(path: Path) -> bool:
    """Return whether a file lies where nothing may be written, and holds everything that was written."""
    if all(os.access(place, os.W_OK, effective_ids=True) for place in (path, path.absolute().parent)):
        return False
    log = path.with_name(f"{path.name}-wal")
    return not log.exists() or log.stat().st_size == 0
