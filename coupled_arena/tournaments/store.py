"""Where runs live: an SQLite file with every call, question, battle and rating."""

import hashlib
import json
import os
import re
import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

from filelock import FileLock, Timeout
from sqlalchemy import Connection, func, select

from coupled_arena.errors import RunNotFound, StoreError, StoreLocked
from coupled_arena.models.calls import Call, Reply
from coupled_arena.models.encoding import storable
from coupled_arena.models.masking import without_secrets
from coupled_arena.records import Battle, Question, Usage
from coupled_arena.tournaments import schema
from coupled_arena.tournaments.database import MEMORY, engine_for, explained, explanation, prepare, transaction
from coupled_arena.tournaments.reader import RunReader

if TYPE_CHECKING:
    from coupled_arena.tournaments.result import Row

Status = Literal["running", "finished", "interrupted", "failed"]
"""What became of a run; a run whose process is gone is `interrupted`."""

REMEMBERED_TEXTS = 65_536
"""How many digests of stored messages are kept before they are looked up again."""

_REPLY_COLUMNS = (
    "text, outcome, prompt_tokens, completion_tokens, cost, latency, reasoning, probabilities, sharing, detail, retries"
)
_CALL_COLUMNS = f"key, model, noise, sample, attempt, settings, messages, {_REPLY_COLUMNS}"
_RECALL_OWN = f"SELECT {_REPLY_COLUMNS} FROM calls WHERE key = ? AND run = ?"
_FIND_OTHER = (
    "SELECT number, run FROM calls WHERE key = ? AND run <> ? AND outcome IN ('ok', 'truncated') "
    "AND reused_from IS NULL ORDER BY number LIMIT 1"
)
_COPY = (
    f"INSERT OR IGNORE INTO calls (run, reused_from, created, {_CALL_COLUMNS}) "
    f"SELECT ?, ?, ?, {_CALL_COLUMNS} FROM calls WHERE number = ?"
)
_REMEMBER = schema.insertion(schema.calls, ignore=True, skip=("number",))
_REMEMBER_TEXT = schema.insertion(schema.texts, ignore=True)
_SAVE_TURN = schema.insertion(schema.turns)
_SAVE_OPINION = schema.insertion(schema.opinions)
_SAVE_DECISION = schema.insertion(schema.decisions)
_SAVE_BATTLE = schema.insertion(schema.battles)
_SAVE_QUESTION = schema.insertion(schema.questions)
_RATING_COLUMNS = [column.name for column in schema.ratings.columns if column.name not in ("run", "round")]
_SAVE_RATING = schema.insertion(schema.ratings)


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


class Store:
    """An SQLite file that holds runs.

    Args:
        path: the file, or `:memory:`.
        create: make the file if it is not there; otherwise that is an error.
        clock: seconds since 1970.

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
        self, path: str | os.PathLike[str], *, create: bool = True, clock: Callable[[], float] = time.time
    ) -> None:
        self.path = None if os.fspath(path) == MEMORY else Path(path)
        """The file, or None for a store in memory."""
        self._where = str(path)
        self._clock = clock
        if self.path is not None and not create and not self.path.exists():
            raise StoreError(f"{self._where}: there is no store yet; `coupled-arena run FILE.toml` makes one")
        self._engine = engine_for(self.path)
        try:
            with explained(self._where):
                self._connection = self._engine.connect()
                prepare(self._connection, self._where)
        except BaseException:
            self._engine.dispose()
            raise

    def open_run(
        self, digest: str, name: str, definition: Mapping[str, Any], manifest: Mapping[str, Any]
    ) -> "RunStore":
        """Open the newest run of a definition for writing, or a new run if there is none.

        Args:
            digest: hex digest of everything in the definition that can change a result, at least 6 digits.
            name: name of the definition; it begins the id of a new run.
            definition: the definition as plain data; text under secret names is masked.
            manifest: settings, prompts, versions, seed and date as plain data; kept as the run was first played.

        Raises:
            StoreLocked: another process, or another object of this one, is writing the run.
            StoreError: the store cannot be written.
        """
        with explained(self._where), transaction(self._connection):
            run = self._newest(digest) or self._new_run(digest, name, definition, manifest)
        lock = self._lock(run)
        if lock is not None:
            try:
                lock.acquire(blocking=False)
            except Timeout:
                writer = self._connection.execute(select(schema.runs.c.writer).where(schema.runs.c.id == run)).scalar()
                raise StoreLocked(
                    f"{self._where}: run {run} is being written by process {writer}; wait for it, or stop it"
                ) from None
        with explained(self._where), transaction(self._connection):
            opened = self._connection.execute(select(func.max(schema.runs.c.opened))).scalar() or 0
            self._connection.execute(
                schema.runs.update()
                .where(schema.runs.c.id == run)
                .values(status="running", writer=os.getpid(), opened=opened + 1)
            )
        return RunStore(self._connection, self._where, run, lock, self._clock)

    def runs(self) -> list[RunInfo]:
        """Return every run, the one opened last first."""
        battles = select(func.count()).where(schema.battles.c.run == schema.runs.c.id).scalar_subquery()
        calls = select(func.count()).where(schema.calls.c.run == schema.runs.c.id).scalar_subquery()
        run = schema.runs.c
        with explained(self._where):
            rows = self._connection.execute(
                select(run.id, run.name, run.digest, run.status, run.created, battles, calls).order_by(
                    run.opened.desc()
                )
            ).all()
        infos = [RunInfo._make(row) for row in rows]
        return [
            info._replace(status="interrupted") if info.status == "running" and not self._held(info.id) else info
            for info in infos
        ]

    def run(self, run: str | None = None) -> RunReader:
        """Return what a run holds; None is the one opened last.

        Raises:
            RunNotFound: the store holds no such run.
        """
        with explained(self._where):
            known = list(
                self._connection.execute(select(schema.runs.c.id).order_by(schema.runs.c.opened.desc())).scalars()
            )
        if not known:
            raise RunNotFound(f"{self._where}: holds no run yet; `coupled-arena run FILE.toml` plays one")
        if run is not None and run not in known:
            raise RunNotFound(f"{self._where}: holds no run {run!r}; it holds {', '.join(known)}")
        return RunReader(self._connection, self._where, run or known[0])

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
                definition=schema.as_json(without_secrets(definition)),
                manifest=schema.as_json(without_secrets(manifest)),
                status="running",
                writer=os.getpid(),
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
        except Timeout:
            return True


class RunStore:
    """One run, open for writing; also the run's memo.

    As a context manager it ends as `interrupted` if it is left by an exception before `finish`.
    """

    def __init__(
        self, connection: Connection, where: str, run: str, lock: FileLock | None, clock: Callable[[], float]
    ) -> None:
        self.id = run
        """Id of the run."""
        self._connection = connection
        self._where = where
        self._lock = lock
        self._clock = clock
        self._texts: set[bytes] = set()
        self._settings: dict[int, tuple[Any, str]] = {}
        driver = connection.connection.driver_connection
        if not isinstance(driver, sqlite3.Connection):
            raise StoreError(f"{where}: is not reached through SQLite")
        # Past SQLAlchemy, which would triple the cost of a call that is answered from the memo.
        self._execute = driver.execute
        self._execute_many = driver.executemany

    @property
    def reader(self) -> RunReader:
        """What the run holds so far."""
        return RunReader(self._connection, self._where, self.id)

    def recall(self, key: bytes) -> Reply | None:
        """Return this run's answer to a call, whatever its outcome, else another run's if it has text.

        The other run's answer becomes this run's own.
        """
        try:
            row = self._execute(_RECALL_OWN, (key, self.id)).fetchone()
            if row is None:
                other = self._execute(_FIND_OTHER, (key, self.id)).fetchone()
                if other is None:
                    return None
                number, source = other
                self._execute(_COPY, (self.id, source, self._clock(), number))
                row = self._execute(_RECALL_OWN, (key, self.id)).fetchone()
        except sqlite3.Error as error:
            raise explanation(self._where, error) from error
        text, outcome, read, written, cost, latency, reasoning, probabilities, sharing, detail, retries = row
        return Reply(
            text=text,
            outcome=outcome,
            usage=Usage(prompt_tokens=read, completion_tokens=written),
            cost=cost,
            latency=latency,
            reasoning=reasoning,
            probabilities=json.loads(probabilities) if probabilities != "{}" else {},
            sharing=sharing,
            detail=detail,
            retries=retries,
        )

    def remember(self, key: bytes, call: Call, reply: Reply) -> None:
        """Store an answer in a transaction of its own; the first one for a key stays."""
        messages, new = self._stored_messages(call)
        row = (
            self.id,
            key,
            call.model.name,
            call.noise,
            call.sample,
            call.attempt,
            _settings_of(call),
            messages,
            storable(reply.text),
            reply.outcome,
            reply.usage.prompt_tokens,
            reply.usage.completion_tokens,
            reply.cost,
            reply.latency,
            storable(reply.reasoning),
            schema.as_json(reply.probabilities) if reply.probabilities else "{}",
            reply.sharing,
            storable(reply.detail),
            reply.retries,
            None,
            self._clock(),
        )
        try:
            self._execute("BEGIN IMMEDIATE")
            try:
                self._execute_many(_REMEMBER_TEXT, new)
                self._execute(_REMEMBER, row)
                self._execute("COMMIT")
            except BaseException:
                self._execute("ROLLBACK")
                raise
        except sqlite3.Error as error:
            raise explanation(self._where, error) from error
        self._texts.update(digest for digest, _ in new)

    def save_question(self, question: Question) -> None:
        """Store a question, or what it has become."""
        with explained(self._where), transaction(self._connection):
            self._execute("DELETE FROM questions WHERE run = ? AND id = ?", (self.id, question.id))
            self._execute(_SAVE_QUESTION, schema.question_row(self.id, question))

    def save_battle(self, battle: Battle) -> None:
        """Store a battle with its turns, opinions and decision, or what it has become."""
        run, name = self.id, battle.id
        with explained(self._where), transaction(self._connection):
            self._execute("DELETE FROM battles WHERE run = ? AND id = ?", (run, name))
            self._execute(_SAVE_BATTLE, schema.battle_row(run, battle))
            self._execute_many(_SAVE_TURN, [schema.turn_row(run, name, i, turn) for i, turn in enumerate(battle.turns)])
            self._execute_many(
                _SAVE_OPINION, [schema.opinion_row(run, name, i, opinion) for i, opinion in enumerate(battle.opinions)]
            )
            self._execute(_SAVE_DECISION, schema.decision_row(run, name, battle.decision))

    def save_ratings(self, number: int, rows: "Iterable[Row]") -> None:
        """Store the leaderboard after a round, or what it has become."""
        lines = [(self.id, number, *(getattr(row, name) for name in _RATING_COLUMNS)) for row in rows]
        with explained(self._where), transaction(self._connection):
            self._execute("DELETE FROM ratings WHERE run = ? AND round = ?", (self.id, number))
            self._execute_many(_SAVE_RATING, lines)

    def finish(self, status: Status) -> None:
        """Say what became of the run."""
        with explained(self._where), transaction(self._connection):
            self._execute("UPDATE runs SET status = ? WHERE id = ?", (status, self.id))

    def close(self) -> None:
        """Let another process write the run."""
        if self._lock is not None:
            self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is not None and self.reader.status == "running":
                self.finish("interrupted")
        finally:
            self.close()

    def _stored_messages(self, call: Call) -> tuple[str, list[tuple[bytes, str]]]:
        # A debate sends the same texts again and again: each is stored once and named by its digest.
        if len(self._texts) > REMEMBERED_TEXTS:
            self._texts.clear()
        named, new = [], []
        for role, content in call.messages:
            clean = storable(content)
            digest = hashlib.blake2b(clean.encode(), digest_size=16).digest()
            named.append((role, digest.hex()))
            if digest not in self._texts:
                new.append((digest, clean))
        return schema.as_json(named), new


def _settings_of(call: Call) -> str:
    sampling = call.sampling
    settings: dict[str, Any] = {
        "temperature": sampling.temperature,
        "top_k": sampling.top_k,
        "top_p": sampling.top_p,
        "min_p": sampling.min_p,
        "max_tokens": call.max_tokens,
        "prefix": call.prefix,
        "stop": call.stop,
        "choices": call.choices,
        "schema": call.schema,
        "model": call.model.model,
        "api_base": call.model.api_base,
        "options": without_secrets(call.model.options),
    }
    return schema.as_json({name: value for name, value in settings.items() if value not in (None, "", (), {})})
