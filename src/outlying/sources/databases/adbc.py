"""Databases through ADBC, whose drivers bring Arrow batches: any open connection of that kind.

A driver brings its own types. They are taken as they come where Arrow has a plain one, and the
column is left out where not; `postgres` and `sqlite` know their databases better.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from outlying.errors import MissingExtraError, SourceError, unknown_name
from outlying.sources.arrow_types import unusable
from outlying.sources.columns import skipped, unique_names
from outlying.sources.local import Field, LocalFeeder, Shape
from outlying.sources.passes import Batch
from outlying.sources.recognise import name_of
from outlying.sources.sql import (
    Relation,
    first_line,
    identifier,
    plain_errors,
    readings_of,
    relation_of,
    selected,
)

if TYPE_CHECKING:
    import pyarrow


def chosen_table(source: str, table: str | None, known: Sequence[str]) -> str:
    """Return the name of the table to read; one of several has to be named."""
    if table is not None:
        return table
    if len(known) == 1:
        return known[0]
    if not known:
        raise SourceError(f"{source}: holds no table")
    shown = ", ".join(known[:20]) + (", ..." if len(known) > 20 else "")
    raise SourceError(f"{source}: holds {len(known)} tables; name one with table=: {shown}")


def no_such_table(source: str, table: str, known: Sequence[str]) -> SourceError:
    """Make the error of a table that is not there."""
    return SourceError(f"{source}: {unknown_name('table', table, known)}")


Connected: TypeAlias = Callable[[], AbstractContextManager[Any]]
"""Opens a connection by the rules of Python's DB-API, with ADBC's additions."""


def stream(connection: Any, table: str | None, query: str | None) -> AdbcFeeder:
    """Feed from a table or a query of an open connection."""
    if not hasattr(connection, "adbc_get_info"):
        raise SourceError(
            f"{name_of(connection)} gives no Arrow batches; give the path of a SQLite file, a "
            "postgresql:// address, or a connection of ADBC, such as adbc_driver_postgresql makes"
        )
    vendor = str(connection.adbc_get_info().get("vendor_name", "database"))
    return _feeder_for(vendor).of(lambda: contextlib.nullcontext(connection), vendor, table, query)


def _feeder_for(vendor: str) -> type[AdbcFeeder]:
    from outlying.sources.databases.postgres import PostgresFeeder
    from outlying.sources.databases.sqlite import SqliteFeeder

    known: dict[str, type[AdbcFeeder]] = {"PostgreSQL": PostgresFeeder, "SQLite": SqliteFeeder}
    return known.get(vendor, AdbcFeeder)


class AdbcFeeder(LocalFeeder):
    """A table, view or query of a database."""

    def __init__(self, connected: Connected, relation: Relation, source: str) -> None:
        super().__init__(f"{source} {relation.name}")
        self._connected = connected
        self._relation = relation

    @classmethod
    def of(cls, connected: Connected, source: str, table: str | None, query: str | None) -> Self:
        """Feed from a table or query of a database that can be connected to."""
        if query is not None:
            return cls(connected, relation_of(query), source)
        with _cursor(source, connected) as cursor:
            relation = cls._find(cursor, source, table)
        return cls(connected, relation, source)

    @classmethod
    def _find(cls, cursor: Any, source: str, table: str | None) -> Relation:  # noqa: ARG003
        """Find a table by its name, or the only one there is."""
        if table is None:
            raise SourceError(f"{source}: name what to read with table= or query=")
        return Relation(readings_of(table)[-1], table, is_query=False)

    def _inspect(self) -> Shape:
        with self._cursor() as cursor:
            return self._shape_of(cursor)

    def _shape_of(self, cursor: Any) -> Shape:
        fields, unused = [], []
        for column in self._columns(cursor):
            what = unusable(column.type)
            if what is None:
                fields.append(Field(column.name, identifier(column.name), column.type, column.type))
            else:
                unused.append(skipped(column.name, what))
        return Shape(tuple(fields), tuple(unused))

    def _columns(self, cursor: Any) -> pyarrow.Schema:
        """Look at the columns without reading a row."""
        schema = _schema_of(cursor, f"SELECT * FROM {self._relation.sql} AS t LIMIT 0")  # noqa: S608
        unique_names(self.source, schema.names)
        return schema

    def _types(self, cursor: Any, columns: Sequence[str]) -> list[pyarrow.DataType]:
        """Return the types that arrive for these expressions."""
        return list(_schema_of(cursor, f"{self._select(columns)} LIMIT 0").types)

    def _read(self, fields: Sequence[Field]) -> Generator[Batch, None, None]:
        with self._cursor() as cursor:
            cursor.execute(self._query(fields))
            with contextlib.closing(cursor.fetch_record_batch()) as reader:
                yield from reader

    def _query(self, fields: Sequence[Field]) -> str:
        return self._select([field.sql for field in fields])

    def _select(self, columns: Sequence[str]) -> str:
        return f"SELECT {selected(columns)} FROM {self._relation.sql} AS t"  # noqa: S608 (quoted)

    def _cursor(self) -> AbstractContextManager[Any]:
        return _cursor(self.source, self._connected)


@contextlib.contextmanager
def _cursor(source: str, connected: Connected) -> Iterator[Any]:
    """Open a cursor; errors of the driver become ours, those that come through Arrow too."""
    import pyarrow

    try:
        from adbc_driver_manager import Error
    except ImportError:
        raise MissingExtraError("reading a database", "databases") from None
    with (
        plain_errors(
            source, Error, OSError, UnicodeDecodeError, pyarrow.ArrowException, reason=reason
        ),
        connected() as connection,
        contextlib.closing(connection.cursor()) as cursor,
    ):
        yield cursor


def _schema_of(cursor: Any, query: str) -> pyarrow.Schema:
    cursor.execute(query)
    with contextlib.closing(cursor.fetch_record_batch()) as reader:
        return reader.schema


def reason(error: Exception) -> str:
    """Return the sentence of an error that says what is wrong, without passwords."""
    if isinstance(error, UnicodeDecodeError):
        return f"a name in it is not UTF-8 ({error.object!r}); rename that in the database"
    found = re.search(r"(?:ERROR|FATAL):\s*(.+)", str(error))
    line = found[1] if found else first_line(error)
    return re.sub(r"//([^:/@\s]+):[^@\s]*@", r"//\1@", line)
