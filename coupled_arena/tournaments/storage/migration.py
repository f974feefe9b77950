"""From the tables of an earlier version to those of this one: what was added since, and nothing is ever taken away."""

from collections.abc import Iterator, Mapping

from sqlalchemy import Column, Connection, Table

from coupled_arena.tournaments.storage import schema

ADDED: Mapping[int, Mapping[str, tuple[str, ...]]] = {2: {"questions": ("difficulty",), "rejected": ("author",)}}
"""By version, the columns it added to each table; rows of earlier versions hold nothing there."""

ADDED_TABLES: Mapping[int, tuple[str, ...]] = {3: ("human_votes",)}
"""By version, the tables it added."""


def migrate(connection: Connection, version: int) -> None:
    """Add what later versions added, inside the caller's transaction.

    Args:
        connection: a store that may be written.
        version: the version its tables are of, at least 1.
    """
    for table, columns in _lacking(version):
        for column in columns:
            kind = column.type.compile(connection.dialect)
            connection.exec_driver_sql(f"ALTER TABLE {table} ADD COLUMN {column.name} {kind}")
    for new in _lacking_tables(version):
        new.create(connection)


def overlay(connection: Connection, version: int) -> None:
    """Let this connection see what later versions added, empty, and leave the file as it is.

    Args:
        connection: a store that may not be written.
        version: the version its tables are of, at least 1.
    """
    connection.exec_driver_sql("PRAGMA temp_store = MEMORY")
    for table, columns in _lacking(version):
        # A temporary view goes before the table of its name.
        empty = ", ".join(f"NULL AS {column.name}" for column in columns)
        connection.exec_driver_sql(f"CREATE TEMP VIEW {table} AS SELECT *, {empty} FROM main.{table}")
    for new in _lacking_tables(version):
        nothing = ", ".join(f'NULL AS "{column.name}"' for column in new.columns)
        connection.exec_driver_sql(f"CREATE TEMP VIEW {new.name} AS SELECT {nothing} WHERE 0")


def _lacking(version: int) -> Iterator[tuple[str, list[Column[object]]]]:
    """Yield every table to which versions after this one added columns, with these."""
    added: dict[str, list[Column[object]]] = {}
    for later in range(version + 1, schema.VERSION + 1):
        for table, names in ADDED.get(later, {}).items():
            added.setdefault(table, []).extend(schema.metadata.tables[table].c[name] for name in names)
    yield from added.items()


def _lacking_tables(version: int) -> list[Table]:
    return [
        schema.metadata.tables[name]
        for later in range(version + 1, schema.VERSION + 1)
        for name in ADDED_TABLES.get(later, ())
    ]
