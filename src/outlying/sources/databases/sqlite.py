"""SQLite, through ADBC: types are those of the values, as columns have none that binds.

The driver takes the type of a column from its first rows and fails where another comes later. So
the values of all rows are looked at first, and a first row of our own shows the driver which types
will come.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import sqlite3
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from outlying.errors import MissingExtraError, SourceError
from outlying.sources.batches import check_batch
from outlying.sources.columns import skipped
from outlying.sources.databases.adbc import AdbcFeeder, chosen_table, no_such_table
from outlying.sources.local import BATCH_ROWS, Field, Shape
from outlying.sources.passes import Batch
from outlying.sources.recognise import path_of
from outlying.sources.sql import Relation, identifier, literal, plain_errors, relation_of, selected
from outlying.sources.types.sqlite import Census, counts, example, in_batches

_BATCH_OPTION = "adbc.sqlite.query.batch_rows"
_COLUMNS_AT_ONCE = 100  # of 2000 columns that a result may have
_READING = (
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_RECURSIVE,
)
_TABLES = (
    "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') "
    "AND name NOT LIKE 'sqlite~_%' ESCAPE '~' ORDER BY name"
)


def stream(data: str | os.PathLike[str], table: str | None, query: str | None) -> SqliteFeeder:
    """Feed from a database file."""
    source = os.fsdecode(data)
    if query is not None:
        _check_select(path_of(source), source, query)
    return SqliteFeeder.of(lambda: _connected(path_of(source)), source, table, query)


class SqliteFeeder(AdbcFeeder):
    """A table, view or query of SQLite."""

    @classmethod
    def _find(cls, cursor: Any, source: str, table: str | None) -> Relation:
        cursor.execute(_TABLES)
        known = [row[0] for row in cursor.fetchall()]
        name = chosen_table(source, table, known)
        if name not in known:
            raise no_such_table(source, name, known)
        return Relation(identifier(name), name, is_query=False)

    def _shape_of(self, cursor: Any) -> Shape:
        names = self._columns(cursor).names
        declared = self._declared(cursor)
        fields, unused = [], []
        for name, census in zip(names, self._censuses(cursor, names), strict=True):
            plan = in_batches(name, census, is_flag="BOOL" in declared.get(name, "").upper())
            if isinstance(plan, Field):
                fields.append(plan)
            else:
                unused.append(skipped(name, plan))
        return Shape(tuple(fields), tuple(unused))

    def _declared(self, cursor: Any) -> dict[str, str]:
        """Return the declared types of a table's columns; queries have none."""
        if self._relation.is_query:
            return {}
        table = literal(self._relation.name)
        cursor.execute(f"SELECT name, type FROM pragma_table_info({table})")  # noqa: S608 (quoted)
        return dict(cursor.fetchall())

    def _censuses(self, cursor: Any, names: Sequence[str]) -> Iterator[Census]:
        width = len(dataclasses.fields(Census))
        for start in range(0, len(names), _COLUMNS_AT_ONCE):
            some = names[start : start + _COLUMNS_AT_ONCE]
            wanted = [count for name in some for count in counts(f"t.{identifier(name)}")]
            cursor.execute(self._select(wanted))
            row = cursor.fetchone()
            for place in range(len(some)):
                yield Census(*row[place * width : (place + 1) * width])

    def _read(self, fields: Sequence[Field]) -> Generator[Batch, None, None]:
        with self._cursor() as cursor:
            cursor.adbc_statement.set_options(**{_BATCH_OPTION: str(BATCH_ROWS)})
            cursor.execute(self._query(fields))
            with contextlib.closing(cursor.fetch_record_batch()) as reader:
                names, rows = [field.name for field in fields], -1  # the first one is our own
                for batch in reader:
                    check_batch(self.source, batch, names or batch.schema.names, rows)
                    yield batch.slice(1) if rows < 0 else batch
                    rows += batch.num_rows

    def _query(self, fields: Sequence[Field]) -> str:
        shown = selected([example(field.comes) for field in fields])
        return f"SELECT {shown} UNION ALL {super()._query(fields)}"


def _check_select(path: Path, source: str, query: str) -> None:
    """Refuse what is not exactly one SELECT by the engine's own parser, or does more than read."""

    def permitted(action: int, *_: object) -> int:
        return sqlite3.SQLITE_OK if action in _READING else sqlite3.SQLITE_DENY

    def is_explained(text: str) -> None:
        connection.execute(f"EXPLAIN {text}").close()

    with (
        plain_errors(source, sqlite3.Error, sqlite3.Warning),
        contextlib.closing(sqlite3.connect(_uri(path), uri=True)) as connection,
    ):
        connection.execute("SELECT name FROM sqlite_master").close()  # read before it is restricted
        connection.set_authorizer(permitted)
        try:
            is_explained(query)
            is_explained(f"SELECT * FROM {relation_of(query).sql}")  # noqa: S608 - just checked
        except sqlite3.DatabaseError as error:
            if "not authorized" not in str(error) and "one statement" not in str(error):
                raise
            raise SourceError(
                f"{source}: the query does more than read; allowed: exactly one SELECT"
            ) from None


def _uri(path: Path) -> str:
    return f"file:{quote(str(path))}?mode=ro"


@contextlib.contextmanager
def _connected(path: Path) -> Iterator[Any]:
    try:
        from adbc_driver_sqlite import dbapi
    except ImportError:
        raise MissingExtraError("SQLite", "databases") from None
    with contextlib.closing(dbapi.connect(_uri(path))) as connection:
        with contextlib.closing(connection.cursor()) as cursor:
            cursor.execute("PRAGMA trusted_schema = OFF")  # views of others call nothing unsafe
        yield connection
