"""SQLite, through ADBC: types are those of the values, as columns have none that binds.

The driver takes the type of a column from its first rows and fails where another comes later. So
the values of all rows are looked at first, and a first row of our own shows the driver which types
will come. As in CSV files, texts that are all dates or timestamps by ISO 8601 are read as such.
Whole numbers in a column that was declared as boolean are read as true and false.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from outlying.errors import MissingExtraError, SourceError, unknown_name
from outlying.sources.columns import skip_reason
from outlying.sources.databases.adbc import (
    AdbcFeeder,
    Connected,
    columns_of,
    identifier,
    no_table,
    plain_errors,
    subquery,
)
from outlying.sources.local import BATCH_ROWS, Field, Shape
from outlying.sources.passes import Batch
from outlying.table.table import SkippedColumn

if TYPE_CHECKING:
    import pyarrow

MAGIC = b"SQLite format 3\0"
_BATCH_OPTION = "adbc.sqlite.query.batch_rows"
_COLUMNS_AT_ONCE = 100  # of 2000 columns that a result may have

_DAY = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]"
_MINUTE = "[0-9][0-9]:[0-9][0-9]"
_IS_DAY = f"{{}} GLOB '{_DAY}' AND date({{}}) = {{}}"
_WITHOUT_ZONE = (
    "CASE WHEN {} GLOB '*Z' THEN substr({}, 1, length({}) - 1) "
    f"WHEN {{}} GLOB '*[+-]{_MINUTE}' THEN substr({{}}, 1, length({{}}) - 6) ELSE {{}} END"
)
_IS_MOMENT = (
    f"({{}} GLOB '{_DAY}[ T]{_MINUTE}' OR {{}} GLOB '{_DAY}[ T]{_MINUTE}:[0-9][0-9]' "
    f"OR ({{}} GLOB '{_DAY}[ T]{_MINUTE}:[0-9][0-9].[0-9]*' AND length({{}}) <= 26 "
    "AND trim(substr({}, 21), '0123456789') = '')) "
    "AND strftime('%Y-%m-%d %H:%M', {}) = replace(substr({}, 1, 16), 'T', ' ')"
)
_HAS_ZONE = f"({{}} GLOB '*Z' OR {{}} GLOB '*:*[+-]{_MINUTE}')"


@dataclasses.dataclass(frozen=True, slots=True)
class Census:
    """How many values of a column are of which kind."""

    integers: int
    reals: int
    texts: int
    blobs: int
    days: int
    moments: int
    instants: int
    flags: int
    """Whole numbers that are 0 or 1."""


class SqliteFeeder(AdbcFeeder):
    """A table, view or query of SQLite."""

    def _shape_of(self, cursor: Any) -> Shape:
        names = columns_of(cursor, self.source, self._relation).names
        declared = self._declared(cursor)
        fields, skipped = [], []
        for name, census in zip(names, self._censuses(cursor, names), strict=True):
            if census.blobs:
                skipped.append(SkippedColumn(name, skip_reason("bytes")))
            else:
                is_flag = "BOOL" in declared.get(name, "").upper()
                fields.append(_planned(name, census, is_flag=is_flag))
        return Shape(tuple(fields), tuple(skipped))

    def _declared(self, cursor: Any) -> dict[str, str]:
        """Return the declared types of a table's columns; queries have none."""
        if not self._relation.startswith('"'):
            return {}
        table = self._relation[1:-1].replace('""', '"').replace("'", "''")
        cursor.execute(f"SELECT name, type FROM pragma_table_info('{table}')")  # noqa: S608
        return dict(cursor.fetchall())

    def _censuses(self, cursor: Any, names: Sequence[str]) -> Iterator[Census]:
        width = len(dataclasses.fields(Census))
        for start in range(0, len(names), _COLUMNS_AT_ONCE):
            some = names[start : start + _COLUMNS_AT_ONCE]
            counts = ", ".join(_counts(f"t.{identifier(name)}") for name in some)
            cursor.execute(f"SELECT {counts} FROM {self._relation} AS t")  # noqa: S608
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
        shown = ", ".join(f"{_example(f.comes)} AS c{i}" for i, f in enumerate(fields))
        rows = super()._query(fields)
        return f"SELECT {shown or '1 AS c0'} UNION ALL {rows}"


def _counts(column: str) -> str:
    """Write the counts of a census, in its order."""
    is_text = "typeof({}) = 'text'"
    bare = _WITHOUT_ZONE
    tests = [
        "typeof({}) = 'integer'",
        "typeof({}) = 'real'",
        is_text,
        "typeof({}) = 'blob'",
        f"{is_text} AND {_IS_DAY}",
        f"{is_text} AND {_IS_MOMENT}",
        f"{is_text} AND {_HAS_ZONE} AND {_IS_MOMENT.replace('{}', f'({bare})')}",
        "typeof({}) = 'integer' AND {} IN (0, 1)",
    ]
    return ", ".join(f"coalesce(sum({test.replace('{}', column)}), 0)" for test in tests)


def _planned(name: str, census: Census, *, is_flag: bool) -> Field:
    import pyarrow

    column = f"t.{identifier(name)}"
    if census.texts:
        comes, kind = pyarrow.string(), _kind_of_texts(census)
        return Field(name, f"CAST({column} AS TEXT)", comes, kind)
    if census.reals:
        # no cast of what else may come later: that has to be an error, not 0.0
        sql = f"CASE typeof({column}) WHEN 'integer' THEN CAST({column} AS REAL) ELSE {column} END"
        return Field(name, sql, pyarrow.float64(), pyarrow.float64())
    if not census.integers:
        return Field(name, f"CAST({column} AS TEXT)", pyarrow.string(), pyarrow.string())
    flags = is_flag and census.flags == census.integers
    return Field(name, column, pyarrow.int64(), pyarrow.bool_() if flags else pyarrow.int64())


def _kind_of_texts(census: Census) -> pyarrow.DataType:
    import pyarrow

    if census.integers or census.reals:
        return pyarrow.string()
    kinds = (
        (census.days, pyarrow.date32()),
        (census.moments, pyarrow.timestamp("us")),
        (census.instants, pyarrow.timestamp("us", "UTC")),
    )
    return next((kind for count, kind in kinds if count == census.texts), pyarrow.string())


def _example(kind: pyarrow.DataType) -> str:
    import pyarrow

    return {pyarrow.int64(): "0", pyarrow.float64(): "0.5"}.get(kind, "''")


def is_sqlite(path: Path) -> bool:
    """Tell a database from other files by its first bytes."""
    with path.open("rb") as stream:
        return stream.read(len(MAGIC)) == MAGIC


def feeder(
    path: Path, source: str, table: str | None, query: str | None, workers: int | None = None
) -> SqliteFeeder:
    """Feed from a database file."""
    return of_connection(lambda: _connected(path), source, table, query, workers)


def of_connection(
    connected: Connected,
    source: str,
    table: str | None,
    query: str | None,
    workers: int | None = None,
) -> SqliteFeeder:
    """Feed from a table or query of a database that can be connected to."""
    if query is not None:
        return SqliteFeeder(connected, subquery(query), f"{source} (query)", workers)
    with (
        plain_errors(source),
        connected() as connection,
        contextlib.closing(connection.cursor()) as cursor,
    ):
        cursor.execute(
            "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') "
            "AND name NOT LIKE 'sqlite~_%' ESCAPE '~' ORDER BY name"
        )
        known = [row[0] for row in cursor.fetchall()]
    if table is None and len(known) != 1:
        raise SourceError(no_table(source, known))
    name = known[0] if table is None else table
    if name not in known:
        raise SourceError(f"{source}: {unknown_name('table', name, known)}")
    return SqliteFeeder(connected, identifier(name), f"{source} {name}", workers)


@contextlib.contextmanager
def _connected(path: Path) -> Iterator[Any]:
    try:
        from adbc_driver_sqlite import dbapi
    except ImportError:
        raise MissingExtraError("SQLite", "databases") from None
    with contextlib.closing(dbapi.connect(f"file:{quote(str(path))}?mode=ro")) as connection:
        yield connection
