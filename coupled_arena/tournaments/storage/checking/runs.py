"""A store looked at as a whole: its file, and every run by its own rules."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args

from sqlalchemy import BLOB, Connection, cast, func, select

from coupled_arena.errors import ArenaError
from coupled_arena.records import Battle, Outcome
from coupled_arena.shown import plural
from coupled_arena.tournaments.definition import Tournament
from coupled_arena.tournaments.results.leaderboard import leading, rated, rows_of
from coupled_arena.tournaments.storage import schema
from coupled_arena.tournaments.storage.checking.battles import battle_problems, twin_problems
from coupled_arena.tournaments.storage.checking.file import json_problems, page_problems, table_problems, text_problems
from coupled_arena.tournaments.storage.checking.findings import Checked, Finding, listed
from coupled_arena.tournaments.storage.columns import FRAMES
from coupled_arena.tournaments.storage.database import decoded
from coupled_arena.tournaments.storage.reader import RunReader
from coupled_arena.tournaments.storage.run_store import Status

KEY_BYTES = 32
"""Length of a memo key."""
NOISE_BYTES = 16
"""Length of a noise key."""
CLOSE = 1e-6
"""How far a stored rating may be from the one that is fitted again, relatively: sums have another order."""

_WORDS = ("text", "reasoning", "detail")
_NUMBERS = ("prompt_tokens", "completion_tokens", "retries", "sample", "attempt")


def checked(connection: Connection, where: str) -> Checked:
    """Look at everything a store holds.

    Args:
        connection: the store, inside a transaction, so that nothing changes meanwhile.
        where: the store, as messages name it.
    """
    findings = [*_guarded("file", page_problems(connection, indexes=True), where)]
    findings += _guarded("file", table_problems(connection), where)
    if findings:
        # Of rows in damaged pages or of tables that are not there nothing can be said.
        return Checked(0, 0, 0, 0, tuple(findings))
    findings += _guarded("file", text_problems(connection), where)
    battles = 0
    runs = connection.exec_driver_sql("SELECT id FROM runs ORDER BY id").scalars().all()
    for run in runs:
        own = [*_guarded(run, json_problems(connection, run), where)]
        own += _guarded(run, _call_problems(connection, run), where)
        reader = RunReader(connection, where, run)
        stored: tuple[Battle, ...] = ()
        if not own:
            try:
                stored = reader.load_battles()
                own += _guarded(run, _run_problems(connection, reader, stored), where)
            except ArenaError as error:
                own.append(Finding(run, _without(where, error)))
        battles += len(stored)
        findings += own
    calls, texts = (
        connection.execute(select(func.count()).select_from(table)).scalar_one()
        for table in (schema.calls, schema.texts)
    )
    return Checked(len(runs), battles, calls, texts, tuple(findings))


def _guarded(where: str, problems: Iterator[str], path: str) -> Iterator[Finding]:
    """Yield findings, and what keeps the rest from being found."""
    try:
        with decoded(path):
            yield from listed(where, problems)
    except ArenaError as error:
        yield Finding(where, _without(path, error))


def _without(path: str, error: ArenaError) -> str:
    return str(error).removeprefix(f"{path}: ")


def _run_problems(connection: Connection, run: RunReader, battles: Sequence[Battle]) -> Iterator[str]:
    definition, manifest, _ = run.definition, run.manifest, run.caveats
    if run.status not in get_args(Status):
        yield f"its status {run.status!r} is none"
    if run.is_bench:
        yield from _bench_problems(connection, run, definition, battles)
        return
    if "digest" not in manifest.get("prompts", {}):
        yield "its manifest does not say by which prompts it was played"
    try:
        tournament = Tournament.stored(definition)
    except ArenaError as error:
        yield f"its definition cannot be read: {'; '.join(str(error).splitlines())}"
        return
    questions = {question.id: question for question in run.load_questions()}
    for battle in battles:
        yield from (f"battle {battle.id}: {problem}" for problem in battle_problems(battle, tournament, questions))
    yield from twin_problems(battles)
    if run.status == "finished":
        yield from _rating_problems(run, tournament, battles)


def _rating_problems(run: RunReader, tournament: Tournament, battles: Sequence[Battle]) -> Iterator[str]:
    """The ratings after every round are those that the battles up to it make."""
    stored: dict[int, list[dict[str, Any]]] = {}
    for row in run.rows("ratings"):
        known: dict[str, Any] = dict(zip(_RATING_COLUMNS, row, strict=True))
        stored.setdefault(known["round"], []).append(known)
    played = {battle.round for battle in battles}
    yield from (f"round {number}: it has no ratings" for number in sorted(played - stored.keys()))
    yield from (f"round {number}: it has ratings and no battle" for number in sorted(stored.keys() - played))
    for number in sorted(played & stored.keys()):
        until = [battle for battle in battles if battle.round <= number]
        again = {row.model: row for row in rows_of(rated(tournament, until), leading(tournament, until))}
        if again.keys() != {line["model"] for line in stored[number]}:
            yield f"round {number}: the rated models are not those of the definition"
            continue
        for line in stored[number]:
            fitted = again[line["model"]]
            wrong = [name for name in _COMPARED if not _same(line[name], getattr(fitted, name))]
            if wrong:
                shown = ", ".join(f"{name} {line[name]} (again: {getattr(fitted, name)})" for name in wrong)
                yield f"round {number}: {line['model']!r}: {shown}"


_RATING_COLUMNS = [column.name for column in FRAMES["ratings"]]
_COMPARED = [name for name in _RATING_COLUMNS if name not in ("run", "round", "model")]


def _same(stored: Any, again: Any) -> bool:
    if stored is None or again is None:
        return stored is again
    return math.isclose(stored, again, rel_tol=CLOSE, abs_tol=CLOSE)


def _bench_problems(
    connection: Connection, run: RunReader, definition: Mapping[str, Any], battles: Sequence[Battle]
) -> Iterator[str]:
    """A bench has no battles, and asks no more often than its plan says."""
    if battles:
        yield f"it is a bench, and holds {plural(len(battles), 'battle')}"
    most = len(definition["models"]) * len(definition["settings"]) * definition["items"] * definition["repeats"]
    calls = schema.calls.c
    asked = select(func.count()).where(calls.run == run.id, calls.attempt == 0)
    first = connection.execute(asked).scalar_one()
    if first > most:
        yield f"{first} calls were answered, and there are {most} to be"
    if run.status == "finished" and first < definition["items"]:
        yield f"it is finished with {first} calls, and there are {definition['items']} items"


def _call_problems(connection: Connection, run: str) -> Iterator[str]:
    """Calls are what they say: keys of their length, known outcomes, text that can be read."""
    outcomes = get_args(Outcome)
    call = schema.calls.c
    rows = connection.execute(
        select(
            call.number,
            func.length(call.key),
            func.length(call.noise),
            call.outcome,
            (call.text != "") | (call.tool_calls != "[]") | (call.state != "{}"),
            func.min(*(call[name] for name in _NUMBERS)) >= 0,
            call.reused_from.is_(None) | call.reused_from.in_(select(schema.runs.c.id)),
            *(cast(call[name], BLOB) for name in _WORDS),
        ).where(call.run == run)
    )
    for number, key, noise, outcome, text, counted, reused, *words in rows:
        for name, said in zip(_WORDS, words, strict=True):
            if not _is_text(said):
                yield f"call {number}: its {name} is no UTF-8"
        if key != KEY_BYTES:
            yield f"call {number}: its key has {key} bytes"
        if noise != NOISE_BYTES:
            yield f"call {number}: its noise key has {noise} bytes"
        if outcome not in outcomes:
            yield f"call {number}: its outcome {outcome!r} is none"
        elif outcome == "ok" and not text:
            yield f"call {number}: it is ok and holds nothing"
        if not counted:
            yield f"call {number}: a count is negative"
        if not reused:
            yield f"call {number}: it was reused from a run that is not there"


def _is_text(stored: bytes) -> bool:
    try:
        stored.decode()
    except UnicodeDecodeError:
        return False
    return True
