"""One run of a store, open for writing: the memo of its gateway, and what it comes to."""

import hashlib
import json
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self

from filelock import FileLock
from sqlalchemy import Connection

from coupled_arena.errors import StoreError
from coupled_arena.models.calls import Call, Reply
from coupled_arena.models.encoding import storable
from coupled_arena.models.masking import without_secrets
from coupled_arena.records import Battle, Question, Usage
from coupled_arena.tournaments.storage import packing, schema
from coupled_arena.tournaments.storage.database import (
    UNREADABLE,
    Placed,
    explained,
    explanation,
    require_in_place,
    transaction,
)
from coupled_arena.tournaments.storage.reader import RunReader

if TYPE_CHECKING:
    from coupled_arena.protocols.examination import Rejected
    from coupled_arena.tournaments.results.leaderboard import Row

Status = Literal["running", "finished", "interrupted", "failed"]
"""What became of a run; a run whose process is gone is `interrupted`."""

REMEMBERED_TEXTS = 4096
"""How many stored messages keep their digests at hand before the table is emptied."""

REMEMBERED_SETTINGS = 1024
"""How many settings of calls are kept as JSON before the table is emptied."""

_UNSET: tuple[Any, ...] = (None, "", (), {})
_REPLY_COLUMNS = (
    "text, outcome, prompt_tokens, completion_tokens, cost, latency, reasoning, probabilities, "
    "tool_calls, state, sharing, detail, retries"
)
_CALL_COLUMNS = f"key, model, noise, sample, attempt, settings, messages, {_REPLY_COLUMNS}"
_RECALL = (
    f"SELECT run, number, {_REPLY_COLUMNS} FROM calls "
    "WHERE key = ? AND (run = ? OR (outcome IN ('ok', 'truncated') AND reused_from IS NULL)) "
    "ORDER BY run <> ?, number LIMIT 1"
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
_SAVE_REJECTED = schema.insertion(schema.rejected)
_REWRITTEN = {"questions": "id", "rejected": "position", "battles": "id", "ratings": "round"}
_LISTED = "(SELECT value FROM json_each(?))"
_RATING_COLUMNS = [column.name for column in schema.ratings.columns if column.name not in ("run", "round")]
_SAVE_RATING = schema.insertion(schema.ratings)


class RunStore:
    """One run, open for writing; also the run's memo.

    As a context manager it ends as `interrupted` if it is left by an exception before `finish`.
    """

    def __init__(
        self,
        connection: Connection,
        where: str,
        run: str,
        lock: FileLock | None,
        clock: Callable[[], float],
        file: Placed | None = None,
    ) -> None:
        self.id = run
        """Id of the run."""
        self._connection = connection
        self._where = where
        self._lock = lock
        self._clock = clock
        self._file = file
        self._texts: dict[str, str] = {}
        self._settings: dict[tuple[Any, ...], tuple[Call, str, str]] = {}
        self._saved: defaultdict[str, set[str | int]] = defaultdict(set)
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
            row = self._execute(_RECALL, (key, self.id, self.id)).fetchone()
            if row is None:
                return None
            run, number, *answer = row
            if run != self.id:
                self._execute(_COPY, (self.id, run, self._clock(), number))
            text, outcome, read, written, cost, latency, reasoning, probabilities, *rest = answer
            tool_calls, state, sharing, detail, retries = rest
            return Reply(
                text=text,
                outcome=outcome,
                usage=Usage(prompt_tokens=read, completion_tokens=written),
                cost=cost,
                latency=latency,
                reasoning=reasoning,
                probabilities=json.loads(probabilities) if probabilities != "{}" else {},
                tool_calls=json.loads(tool_calls) if tool_calls != "[]" else (),
                state=json.loads(state) if state != "{}" else {},
                sharing=sharing,
                detail=detail,
                retries=retries,
            )
        except (sqlite3.Error, *UNREADABLE) as error:
            raise explanation(self._where, error) from error

    def remember(self, key: bytes, call: Call, reply: Reply) -> None:
        """Store an answer in a transaction of its own; the first one for a key stays."""
        messages, new = self._stored_messages(call)
        model, settings = self._stored_settings(call)
        row = _clean(
            self.id,
            key,
            model,
            call.noise,
            call.sample,
            call.attempt,
            settings,
            messages,
            reply.text,
            reply.outcome,
            reply.usage.prompt_tokens,
            reply.usage.completion_tokens,
            reply.cost,
            reply.latency,
            reply.reasoning,
            packing.as_json(reply.probabilities) if reply.probabilities else "{}",
            packing.as_json([call.model_dump() for call in reply.tool_calls]) if reply.tool_calls else "[]",
            packing.as_json(reply.state) if reply.state else "{}",
            reply.sharing,
            reply.detail,
            reply.retries,
            None,
            self._clock(),
        )
        try:
            if new:
                self._execute("BEGIN IMMEDIATE")
                try:
                    self._execute_many(_REMEMBER_TEXT, new)
                    self._execute(_REMEMBER, row)
                    self._execute("COMMIT")
                except BaseException:
                    # A full disk makes SQLite roll back by itself; what went wrong is the first error.
                    with suppress(sqlite3.Error):
                        self._execute("ROLLBACK")
                    raise
            else:
                self._execute(_REMEMBER, row)
        except sqlite3.Error as error:
            raise explanation(self._where, error) from error
        self._texts.update((text, digest.hex()) for digest, text in new)

    def save_question(self, question: Question) -> None:
        """Store a question, in place of what an earlier execution stored under its id.

        Raises:
            StoreError: this execution has stored a question of this id before, or the store cannot be written.
        """
        name = self._new("questions", question.id)
        with explained(self._where), transaction(self._connection):
            self._execute("DELETE FROM questions WHERE run = ? AND id = ?", (self.id, name))
            self._execute(_SAVE_QUESTION, _clean(*packing.question_row(self.id, question)))
        self._saved["questions"].add(name)

    def save_rejected(self, rejected: "Iterable[Rejected]") -> None:
        """Store what examiners wrote and nobody is asked, in place of what was stored before."""
        rows = [_clean(self.id, i, text.domain, text.text, text.reason, text.author) for i, text in enumerate(rejected)]
        with explained(self._where), transaction(self._connection):
            self._execute("DELETE FROM rejected WHERE run = ?", (self.id,))
            self._execute_many(_SAVE_REJECTED, rows)
        self._saved["rejected"] = set(range(len(rows)))

    def save_battle(self, battle: Battle) -> None:
        """Store a battle with its turns, opinions and decision, in place of what an earlier execution stored.

        Raises:
            StoreError: this execution has stored a battle of this id before, or the store cannot be written.
        """
        run, name = self.id, self._new("battles", battle.id)
        with explained(self._where), transaction(self._connection):
            self._execute("DELETE FROM battles WHERE run = ? AND id = ?", (run, name))
            self._execute(_SAVE_BATTLE, _clean(*packing.battle_row(run, battle)))
            self._execute_many(
                _SAVE_TURN, [_clean(*packing.turn_row(run, name, i, turn)) for i, turn in enumerate(battle.turns)]
            )
            self._execute_many(
                _SAVE_OPINION,
                [_clean(*packing.opinion_row(run, name, i, opinion)) for i, opinion in enumerate(battle.opinions)],
            )
            self._execute(_SAVE_DECISION, _clean(*packing.decision_row(run, name, battle.decision)))
        self._still_there()
        self._saved["battles"].add(name)

    def copy_battles(self, run: str, ids: Iterable[str]) -> None:
        """Store battles of another run of this store as this run's own, in place of what was stored before."""
        names = sorted(map(storable, ids))
        with explained(self._where), transaction(self._connection):
            chosen = (packing.as_json(names),)
            self._execute(f"DELETE FROM battles WHERE run = ? AND id IN {_LISTED}", (self.id, *chosen))
            for table in (schema.battles, schema.turns, schema.opinions, schema.decisions):
                columns = ", ".join(f'"{column.name}"' for column in table.columns if column.name != "run")
                self._execute(
                    f"INSERT INTO {table.name} (run, {columns}) SELECT ?, {columns} FROM {table.name} "
                    f"WHERE run = ? AND {'id' if table is schema.battles else 'battle'} IN {_LISTED}",
                    (self.id, run, *chosen),
                )
        self._still_there()
        self._saved["battles"].update(names)

    def save_ratings(self, number: int, rows: "Iterable[Row]") -> None:
        """Store the leaderboard after a round, or what it has become."""
        lines = [_clean(self.id, number, *(getattr(row, name) for name in _RATING_COLUMNS)) for row in rows]
        with explained(self._where), transaction(self._connection):
            self._execute("DELETE FROM ratings WHERE run = ? AND round = ?", (self.id, number))
            self._execute_many(_SAVE_RATING, lines)
        self._still_there()
        self._saved["ratings"].add(number)

    def drop_unsaved(self) -> None:
        """Forget the questions, rejected texts, battles and ratings that were not saved since the run was opened.

        For the end of a whole execution: where failed calls were asked again, later rounds may be paired otherwise, and
        what an earlier execution played in their place is no part of the run any more. Calls are kept.
        """
        with explained(self._where), transaction(self._connection):
            for table, column in _REWRITTEN.items():
                stored = self._execute(f"SELECT DISTINCT {column} FROM {table} WHERE run = ?", (self.id,)).fetchall()
                stale = [(self.id, name) for (name,) in stored if name not in self._saved[table]]
                self._execute_many(f"DELETE FROM {table} WHERE run = ? AND {column} = ?", stale)

    def finish(self, status: Status, caveats: Sequence[str] = ()) -> None:
        """Say what became of the run, and what a reader of its leaderboard must know.

        Raises:
            StoreError: the store cannot be written, or its file was removed or replaced.
        """
        with explained(self._where), transaction(self._connection):
            self._execute(
                "UPDATE runs SET status = ?, caveats = ? WHERE id = ?",
                (status, packing.as_json(list(caveats)), self.id),
            )
        self._still_there()

    def close(self) -> None:
        """Let another process write the run."""
        # Who wrote it is nobody's business any more: stores are passed on. What cannot be written is said elsewhere.
        with suppress(sqlite3.Error):
            self._execute("UPDATE runs SET writer = '' WHERE id = ?", (self.id,))
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
        except StoreError as fault:
            # What went wrong is the first error, and a run without a writer counts as interrupted anyway.
            if error is not None and str(fault) != str(error):
                error.add_note(str(fault))
        finally:
            self.close()

    def _still_there(self) -> None:
        advice = "nothing of the run is in the file of that name: leave it where it is, and run again"
        require_in_place(self._file, self._where, f"run {self.id} was writing", advice)

    def _new(self, table: str, name: str) -> str:
        """Return an id as it is stored; the same one twice would put one record in the place of another."""
        stored = storable(name)
        if stored in self._saved[table]:
            raise StoreError(
                f"{self._where}: run {self.id} holds two {table} of the id {stored!r}; give questions and models other "
                "names"
            )
        return stored

    def _stored_messages(self, call: Call) -> tuple[str, list[tuple[bytes, str]]]:
        """Return the chat as JSON that names each text by its digest, and the texts that may be new."""
        # A debate sends the same texts again and again: each is digested and stored once.
        if len(self._texts) > REMEMBERED_TEXTS:
            self._texts.clear()
        named, new = [], []
        for role, content, extra in call.messages:
            digest = self._texts.get(content)
            if digest is None:
                clean = storable(content)
                binary = hashlib.blake2b(clean.encode(), digest_size=16).digest()
                digest = binary.hex()
                new.append((binary, clean))
            named.append((role, digest, storable(extra)) if extra else (role, digest))
        return packing.as_json(named), new

    def _stored_settings(self, call: Call) -> tuple[str, str]:
        """Return the model string and, as JSON, what else was sent; secrets masked.

        The name stays out: several names of one model string make equal calls, and nobody shall see which asked first.
        """
        # Schemas and tools are compared by identity, which is safe as long as a call that holds them is kept.
        nested = (id(call.schema), id(call.tools), call.tool_choice)
        key = (call.model, nested, call.sampling, call.max_tokens, call.prefix, call.stop, call.choices)
        known = self._settings.get(key)
        if known is None:
            if len(self._settings) >= REMEMBERED_SETTINGS:
                self._settings.clear()
            settings = packing.as_json(without_secrets(_settings_of(call)))
            known = self._settings[key] = (call, without_secrets(call.model.model), settings)
        return known[1:]


def _clean(*row: Any) -> tuple[Any, ...]:
    # The driver refuses lone surrogates, and a model or a file may hold them anywhere.
    return tuple([storable(value) if isinstance(value, str) else value for value in row])


def _settings_of(call: Call) -> dict[str, Any]:
    sampling = call.sampling
    settings = {
        "temperature": sampling.temperature,
        "top_k": sampling.top_k,
        "top_p": sampling.top_p,
        "min_p": sampling.min_p,
        "max_tokens": call.max_tokens,
        "prefix": call.prefix,
        "stop": call.stop,
        "choices": call.choices,
        "schema": call.schema,
        "tools": call.tools,
        "tool_choice": call.tool_choice,
        "thinking_tokens": call.model.thinking_tokens or None,
        "api_base": call.model.api_base,
        "options": call.model.options,
    }
    return {name: value for name, value in settings.items() if value not in _UNSET}
