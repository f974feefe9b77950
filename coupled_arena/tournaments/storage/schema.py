"""The tables of a store."""

from collections.abc import Sequence
from dataclasses import make_dataclass
from functools import cache
from typing import Any

from sqlalchemy import (
    BLOB,
    REAL,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    insert,
)
from sqlalchemy.dialects import sqlite

VERSION = 3
"""Version of the tables, kept in `PRAGMA user_version`; `migration` says what each one added."""

APPLICATION = 0x43414152
"""Mark of our files, kept in `PRAGMA application_id`."""

metadata = MetaData()

runs = Table(
    "runs",
    metadata,
    Column("id", Text, primary_key=True),
    Column("digest", Text, nullable=False, index=True),
    Column("name", Text, nullable=False),
    Column("definition", Text, nullable=False),
    Column("manifest", Text, nullable=False),
    Column("caveats", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("writer", Text, nullable=False),
    Column("opened", Integer, nullable=False),
    Column("created", REAL, nullable=False),
)

texts = Table(
    "texts",
    metadata,
    Column("digest", BLOB, primary_key=True),
    Column("content", Text, nullable=False),
    sqlite_with_rowid=False,
)

calls = Table(
    "calls",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("run", Text, ForeignKey("runs.id"), nullable=False),
    Column("key", BLOB, nullable=False),
    Column("model", Text, nullable=False),
    Column("noise", BLOB, nullable=False),
    Column("sample", Integer, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("settings", Text, nullable=False),
    Column("messages", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("prompt_tokens", Integer, nullable=False),
    Column("completion_tokens", Integer, nullable=False),
    Column("cost", REAL),
    Column("latency", REAL, nullable=False),
    Column("reasoning", Text, nullable=False),
    Column("probabilities", Text, nullable=False),
    Column("tool_calls", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("sharing", Text, nullable=False),
    Column("detail", Text, nullable=False),
    Column("retries", Integer, nullable=False),
    Column("reused_from", Text),
    Column("created", REAL, nullable=False),
    Index("calls_by_key", "key", "run", unique=True),
)

questions = Table(
    "questions",
    metadata,
    Column("run", Text, ForeignKey("runs.id"), primary_key=True),
    Column("id", Text, primary_key=True),
    Column("domain", Text, nullable=False),
    Column("language", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("author", Text, nullable=False),
    Column("reference", Text),
    Column("difficulty", Text),
)

rejected = Table(
    "rejected",
    metadata,
    Column("run", Text, ForeignKey("runs.id"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("domain", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("author", Text),
)

battles = Table(
    "battles",
    metadata,
    Column("run", Text, ForeignKey("runs.id"), primary_key=True),
    Column("id", Text, primary_key=True),
    Column("round", Integer, nullable=False),
    Column("question", Text, nullable=False),
    Column("domain", Text, nullable=False),
    Column("replicate", Integer, nullable=False),
    Column("a", Text, nullable=False),
    Column("b", Text, nullable=False),
    Column("arm", Text, nullable=False),
    Column("weight", REAL, nullable=False),
)


def _of_battle(name: str, *columns: Column[Any], many: bool = True) -> Table:
    position = [Column("position", Integer, primary_key=True)] if many else []
    return Table(
        name,
        metadata,
        Column("run", Text, primary_key=True),
        Column("battle", Text, primary_key=True),
        *position,
        *columns,
        ForeignKeyConstraint(["run", "battle"], ["battles.run", "battles.id"], ondelete="CASCADE"),
    )


turns = _of_battle(
    "turns",
    Column("step", Integer, nullable=False),
    Column("round", Integer, nullable=False),
    Column("speaker", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("sections", Text, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("missing", Text, nullable=False),
    Column("cut", Integer, nullable=False),
    Column("by_section", Integer, nullable=False),
    Column("requests", Integer, nullable=False),
    Column("prompt_tokens", Integer, nullable=False),
    Column("completion_tokens", Integer, nullable=False),
    Column("sharing", Text, nullable=False),
    Column("detail", Text, nullable=False),
)

opinions = _of_battle(
    "opinions",
    Column("judge", Text, nullable=False),
    Column("stage", Integer, nullable=False),
    Column("order", Text, nullable=False),
    Column("verdict", Text),
    Column("status", Text, nullable=False),
    Column("carried", Integer, nullable=False),
    Column("reasons", Text, nullable=False),
    Column("probabilities", Text, nullable=False),
    Column("repairs", Integer, nullable=False),
    Column("prompt_tokens", Integer, nullable=False),
    Column("completion_tokens", Integer, nullable=False),
    Column("sharing", Text, nullable=False),
    Column("detail", Text, nullable=False),
)

decisions = _of_battle(
    "decisions",
    Column("status", Text, nullable=False),
    Column("verdict", Text),
    Column("votes", Text, nullable=False),
    Column("stages", Text, nullable=False),
    Column("forfeited", Text, nullable=False),
    Column("reason", Text, nullable=False),
    many=False,
)

ratings = Table(
    "ratings",
    metadata,
    Column("run", Text, ForeignKey("runs.id"), primary_key=True),
    Column("round", Integer, primary_key=True),
    Column("model", Text, primary_key=True),
    Column("rank", Integer),
    Column("rating", REAL),
    Column("low", REAL),
    Column("high", REAL),
    Column("wins", Integer, nullable=False),
    Column("losses", Integer, nullable=False),
    Column("ties", Integer, nullable=False),
    Column("void", Integer, nullable=False),
    Column("forfeited", Integer, nullable=False),
    Column("availability", REAL),
)

# They belong to a text, not to a battle: battles are stored anew whenever a run goes on, and judged anew in other runs.
human_votes = Table(
    "human_votes",
    metadata,
    Column("shown", BLOB, primary_key=True),
    Column("annotator", Text, primary_key=True),
    Column("run", Text, ForeignKey("runs.id"), nullable=False),
    Column("battle", Text, nullable=False),
    Column("order", Text, nullable=False),
    Column("verdict", Text),
    Column("created", REAL, nullable=False),
)


def insertion(table: Table, *, ignore: bool = False, replace: bool = False, skip: Sequence[str] = ()) -> str:
    """Return the SQL that inserts a row given as a tuple in the table's column order, without the columns in `skip`."""
    names = [column.name for column in table.columns if column.name not in skip]
    statement = insert(table).values(dict.fromkeys(names))
    if ignore or replace:
        statement = statement.prefix_with("OR IGNORE" if ignore else "OR REPLACE")
    return str(statement.compile(dialect=sqlite.dialect(paramstyle="qmark"), column_keys=names))


@cache
def row_of(table: Table) -> type:
    """Return a class of a table's rows, whose columns are read several times faster than those of SQLAlchemy's."""
    return make_dataclass(table.name, table.columns.keys(), slots=True)
