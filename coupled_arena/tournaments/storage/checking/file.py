"""What can be said of a store without knowing what its runs mean: pages, tables, texts, JSON."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Table

from coupled_arena.shown import plural
from coupled_arena.tournaments.storage import schema

OUR_JSON: Mapping[str, Sequence[str]] = {
    "calls": ("messages", "probabilities"),
    "turns": ("sections", "missing"),
    "opinions": ("probabilities",),
    "decisions": ("votes", "stages", "forfeited"),
}
"""Columns of JSON that hold no number but ordinary ones."""

OTHERS_JSON = ("settings", "tool_calls", "state")
"""Columns of `calls` that hold what users and models gave, numbers that only Python reads included."""


def page_problems(connection: Connection, *, indexes: bool) -> Iterator[str]:
    """Yield what SQLite says of its pages, and of rows that belong to no other row.

    Args:
        connection: the store.
        indexes: also whether every index holds what its table does, which takes about twice as long.
    """
    pragma = "integrity_check" if indexes else "quick_check(1)"
    for (words,) in connection.exec_driver_sql(f"PRAGMA {pragma}"):
        if words != "ok":
            yield f"damaged: {' '.join(str(words).split())}"
    if indexes:
        for table, row, other, _ in connection.exec_driver_sql("PRAGMA foreign_key_check"):
            yield f"{table}: row {row} belongs to no row of {other}"


def table_problems(connection: Connection) -> Iterator[str]:
    """Yield the tables, columns and indexes that are missing."""
    # What a file of an earlier version lacks stands in the temporary schema where the file may not be written.
    both = "SELECT name FROM sqlite_master UNION SELECT name FROM sqlite_temp_master"
    found = connection.exec_driver_sql(both).scalars().all()
    for table in schema.metadata.sorted_tables:
        if table.name not in found:
            yield f"table {table.name} is missing"
            continue
        columns = {row[1] for row in connection.exec_driver_sql(f"PRAGMA table_info({table.name})")}
        yield from (f"{table.name}: column {name} is missing" for name in table.columns.keys() if name not in columns)  # noqa: SIM118
        yield from (f"{table.name}: index {name} is missing" for name in _indexes(table) if name not in found)


def _indexes(table: Table) -> list[str]:
    return sorted(str(index.name) for index in table.indexes)


def json_problems(connection: Connection, run: str) -> Iterator[str]:
    """Yield the columns of a run's rows that hold no JSON."""
    for table, columns in OUR_JSON.items():
        for column in columns:
            # Text that is no UTF-8 would end the query, so only its place is asked for.
            bad = connection.exec_driver_sql(
                f"SELECT count(*), min(rowid) FROM {table} WHERE run = ? AND NOT json_valid({column})", (run,)
            ).one()
            if bad[0]:
                yield f"{table}: {column} of {plural(bad[0], 'row')} is no JSON (the first one is row {bad[1]})"
    for column in OTHERS_JSON:
        values = connection.exec_driver_sql(
            f"SELECT {column}, min(rowid) FROM calls WHERE run = ? GROUP BY {column}", (run,)
        )
        for text, row in values:
            if not is_json(text):
                yield f"calls: {column} of row {row} is no JSON"


def is_json(text: object) -> bool:
    """Return whether a stored value is JSON, as Python reads it."""
    try:
        json.loads(str(text))
    except (ValueError, RecursionError):
        return False
    return True


def text_problems(connection: Connection) -> Iterator[str]:
    """Yield the stored texts that are not those their digests stand for, and those that no call names."""
    named = set[str]()
    for (messages,) in connection.exec_driver_sql("SELECT messages FROM calls"):
        named.update(_digests(messages))
    for binary, content in connection.exec_driver_sql("SELECT digest, content FROM texts"):
        digest = bytes(binary).hex()
        if digest not in named:
            yield f"texts: {digest} is part of no call"
        named.discard(digest)
        if hashlib.blake2b(str(content).encode(), digest_size=16).digest() != binary:
            yield f"texts: {digest} is not the text it was"
    yield from (f"texts: {digest} is missing, and calls name it" for digest in sorted(named))


def _digests(messages: Any) -> list[str]:
    try:
        return [str(message[1]) for message in json.loads(messages)]
    except (ValueError, TypeError, LookupError):
        # `json_problems` says which rows these are.
        return []
