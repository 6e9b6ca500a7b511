"""Databases through ADBC, whose drivers give Arrow batches: any open connection of that kind.

A driver brings its own types. They are taken as they come where Arrow has a plain one, and the
column is left out where not; `postgres` and `sqlite` know their databases better.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, TypeAlias

from outlying.errors import MissingExtraError, SourceError
from outlying.sources.columns import unique_names
from outlying.sources.local import Field, LocalFeeder, Shape
from outlying.sources.passes import Batch
from outlying.sources.types.arrow_names import unusable
from outlying.table.table import SkippedColumn

if TYPE_CHECKING:
    import pyarrow

Connected: TypeAlias = Callable[[], AbstractContextManager[Any]]
"""Opens a connection by the rules of Python's DB-API, with ADBC's additions."""


class AdbcFeeder(LocalFeeder):
    """A table, view or query of a database."""

    def __init__(
        self, connected: Connected, relation: str, source: str, workers: int | None = None
    ) -> None:
        """Feed from a relation, which is written in SQL: a quoted name, or a query in brackets."""
        super().__init__(source, workers)
        self._connected = connected
        self._relation = relation

    def _inspect(self) -> Shape:
        with self._cursor() as cursor:
            return self._shape_of(cursor)

    def _shape_of(self, cursor: Any) -> Shape:
        fields, skipped = [], []
        for column in columns_of(cursor, self.source, self._relation):
            reason = unusable(column.type)
            if reason is None:
                fields.append(Field(column.name, identifier(column.name), column.type, column.type))
            else:
                skipped.append(SkippedColumn(column.name, reason))
        return Shape(tuple(fields), tuple(skipped))

    def _read(self, fields: Sequence[Field]) -> Generator[Batch, None, None]:
        with self._cursor() as cursor:
            cursor.execute(self._query(fields))
            with contextlib.closing(cursor.fetch_record_batch()) as reader:
                yield from reader

    def _query(self, fields: Sequence[Field]) -> str:
        columns = [f"{field.sql} AS c{place}" for place, field in enumerate(fields)]
        return f"SELECT {', '.join(columns) or '1 AS c0'} FROM {self._relation} AS t"  # noqa: S608

    @contextlib.contextmanager
    def _cursor(self) -> Iterator[Any]:
        with (
            plain_errors(self.source),
            self._connected() as connection,
            contextlib.closing(connection.cursor()) as cursor,
        ):
            yield cursor


def columns_of(cursor: Any, source: str, relation: str) -> pyarrow.Schema:
    """Look at the columns of a relation without reading a row."""
    cursor.execute(f"SELECT * FROM {relation} AS t LIMIT 0")  # noqa: S608 (quoted)
    with contextlib.closing(cursor.fetch_record_batch()) as reader:
        schema = reader.schema
    unique_names(source, schema.names)
    return schema


def identifier(name: str) -> str:
    """Write a name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def subquery(query: str) -> str:
    """Write a query so that it can stand where a table can; a comment at its end stays one."""
    return f"(\n{query.strip().removesuffix(';')}\n)"


def named(table: str) -> list[str]:
    """Return the ways to understand a name: as it is, or divided at its dots."""
    parts = table.split(".")
    return [identifier(table), *([".".join(map(identifier, parts))] if len(parts) > 1 else [])]


def no_table(source: str, known: Sequence[str]) -> str:
    """Say that one of several tables has to be named."""
    if not known:
        return f"{source}: holds no table"
    shown = ", ".join(known[:20]) + (", ..." if len(known) > 20 else "")
    return f"{source}: holds {len(known)} tables; name one with table=: {shown}"


@contextlib.contextmanager
def plain_errors(source: str) -> Iterator[None]:
    """Turn the driver's errors into ours; those of a stream reach us through Arrow."""
    import pyarrow

    try:
        from adbc_driver_manager import Error
    except ImportError:
        raise MissingExtraError("reading a database", "databases") from None
    try:
        yield
    except (Error, OSError, pyarrow.ArrowException) as error:
        raise SourceError(f"{source}: cannot be read: {reason(error)}") from None


def reason(error: Exception) -> str:
    """Take the sentence of an error that says what is wrong, without passwords."""
    text = str(error)
    found = re.search(r"(?:ERROR|FATAL):\s*(.+)", text)
    first = found[1] if found else text.strip().split("\n")[0]
    return re.sub(r"//([^:/@\s]+):[^@\s]*@", r"//\1@", first) or type(error).__name__
