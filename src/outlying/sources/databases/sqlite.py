"""SQLite, through ADBC: types are those of the values, as columns have none that binds.

The driver takes the type of a column from its first rows and fails where another comes later. So
the values of all rows are looked at first, and a first row of our own shows the driver which types
will come.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from outlying.errors import MissingExtraError
from outlying.sources.columns import skipped
from outlying.sources.databases.adbc import AdbcFeeder, chosen_table, no_such_table
from outlying.sources.local import BATCH_ROWS, Field, Shape
from outlying.sources.passes import Batch
from outlying.sources.recognise import path_of
from outlying.sources.sql import Relation, identifier, literal, selected
from outlying.sources.types.sqlite import Census, counts, example, in_batches

_BATCH_OPTION = "adbc.sqlite.query.batch_rows"
_COLUMNS_AT_ONCE = 100  # of 2000 columns that a result may have
_TABLES = (
    "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') "
    "AND name NOT LIKE 'sqlite~_%' ESCAPE '~' ORDER BY name"
)


def stream(data: str | os.PathLike[str], table: str | None, query: str | None) -> SqliteFeeder:
    """Feed from a database file."""
    source = os.fsdecode(data)
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
                first = next(reader)
                yield first.slice(1)
                yield from reader

    def _query(self, fields: Sequence[Field]) -> str:
        shown = selected([example(field.comes) for field in fields])
        return f"SELECT {shown} UNION ALL {super()._query(fields)}"


@contextlib.contextmanager
def _connected(path: Path) -> Iterator[Any]:
    try:
        from adbc_driver_sqlite import dbapi
    except ImportError:
        raise MissingExtraError("SQLite", "databases") from None
    with contextlib.closing(dbapi.connect(f"file:{quote(str(path))}?mode=ro")) as connection:
        yield connection
