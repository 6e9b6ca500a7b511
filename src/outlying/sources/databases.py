"""Databases through ADBC, whose drivers bring Arrow batches: PostgreSQL, SQLite and any other."""

from __future__ import annotations

import contextlib
import importlib
import itertools
import os
import re
import sqlite3
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import quote, urlsplit, urlunsplit

from outlying.errors import MissingExtraError, SourceError
from outlying.parsing import pa
from outlying.sources.columns import skipped, unique_names
from outlying.sources.duckdb import (
    TableSql,
    find_table,
    identifier,
    literal,
    readings_of,
    relation_of,
    select_list,
)
from outlying.sources.passes import (
    BATCH_ROWS,
    Batch,
    Feeder,
    SourceField,
    SourceShape,
    check_batch,
    shape_of,
)
from outlying.sources.recognise import first_line, name_of, path_of, scheme_of, translate_errors

#: Opens a connection by the rules of Python's DB-API, with ADBC's additions.
OpenConnection: TypeAlias = Callable[[], AbstractContextManager[Any]]


def stream(data: Any, table: str | None, query: str | None) -> AdbcFeeder:
    """Feed from a table or query of an address (PostgreSQL), a file (SQLite) or a connection."""
    if scheme_of(data) is not None:
        connect = _connects("postgresql", data, "SET TRANSACTION READ ONLY")
        parts = urlsplit(data)
        user, at, place = parts.netloc.rpartition("@")
        bare = urlunsplit((parts.scheme, user.split(":")[0] + at + place, parts.path, "", ""))
        return PostgresFeeder(connect, bare, table, query)
    if isinstance(data, (str, os.PathLike)):
        source, path = os.fsdecode(data), path_of(data)
        if query is not None:
            _check_select(path, source, query)
        # views of others call nothing unsafe
        connect = _connects("sqlite", _uri(path), "PRAGMA trusted_schema = OFF")
        return SqliteFeeder(connect, source, table, query)
    if not hasattr(data, "adbc_get_info"):
        raise SourceError(
            f"{name_of(data)} gives no Arrow batches; give the path of a SQLite file, a "
            "postgresql:// address, or a connection of ADBC, such as adbc_driver_postgresql makes"
        )
    vendor = str(data.adbc_get_info().get("vendor_name", "database"))
    known: dict[str, type[AdbcFeeder]] = {"PostgreSQL": PostgresFeeder, "SQLite": SqliteFeeder}
    feeder = known.get(vendor, AdbcFeeder)
    return feeder(lambda: contextlib.nullcontext(data), vendor, table, query)


def _connects(driver: str, place: str, first: str) -> OpenConnection:
    """Return what connects by a driver, and runs a first statement."""

    @contextlib.contextmanager
    def connected() -> Iterator[Any]:
        try:
            dbapi = importlib.import_module(f"adbc_driver_{driver}.dbapi")
        except ImportError:
            raise MissingExtraError("reading a database", "databases") from None
        with contextlib.closing(dbapi.connect(place)) as connection:
            with contextlib.closing(connection.cursor()) as cursor:
                cursor.execute(first)
            yield connection

    return connected


def describe_error(source: str, error: Exception) -> SourceError:
    """Say what is wrong by the sentence of an error that tells it, without passwords."""
    if isinstance(error, UnicodeDecodeError):
        said = f"a name in it is not UTF-8 ({error.object!r}); rename that in the database"
    else:
        found = re.search(r"(?:ERROR|FATAL):\s*(.+)", str(error))
        said = found[1] if found else first_line(error)
    return SourceError(
        f"{source}: cannot be read: " + re.sub(r"//([^:/@\s]+):[^@\s]*@", r"//\1@", said)
    )


@contextlib.contextmanager
def _cursor(source: str, connected: OpenConnection) -> Iterator[Any]:
    """Open a cursor; errors of the driver become ours, those that come through Arrow too."""
    with (
        translate_errors(source, "adbc_driver_manager", "pyarrow", explain=describe_error),
        connected() as connection,
        contextlib.closing(connection.cursor()) as cursor,
    ):
        yield cursor


def _rows(cursor: Any, query: str) -> list[Any]:
    cursor.execute(query)
    return list(cursor.fetchall())


class AdbcFeeder(Feeder):
    """A table, view or query of a database."""

    def __init__(
        self, connected: OpenConnection, source: str, table: str | None, query: str | None
    ) -> None:
        """Feed from a table or query of a database that can be connected to."""
        if query is None:
            with _cursor(source, connected) as cursor:
                self._relation = self._find(cursor, source, table)
        else:
            self._relation = relation_of(query)
        super().__init__(f"{source} {self._relation.name}")
        self._connected = connected

    def _find(self, cursor: Any, source: str, table: str | None) -> TableSql:  # noqa: ARG002
        """Find a table by its name, or the only one there is."""
        if table is None:
            raise SourceError(f"{source}: name what to read with table= or query=")
        return TableSql(readings_of(table)[-1], table, is_query=False)

    def _inspect(self) -> SourceShape:
        """Plan the columns: SQL that selects each, and the type that comes of it."""
        with _cursor(self.source, self._connected) as cursor:
            names = unique_names(self.source, self._schema(cursor, "*").names)
            plans = dict(zip(names, self._plans(cursor, names), strict=True))
            sql = {name: plan for name, (plan, what) in plans.items() if what is None}
            types = self._schema(cursor, select_list(list(sql.values()))).types
        comes = dict(zip(sql, types, strict=False))  # without columns, one of nothing
        kinds = {name: what or comes[name] for name, (_, what) in plans.items()}
        return shape_of(self.source, kinds, sql)

    def _plans(self, cursor: Any, names: Sequence[str]) -> list[tuple[str, str | None]]:  # noqa: ARG002
        """Write the SQL that selects each column; or say what it holds that cannot be used."""
        return [(f"t.{identifier(name)}", None) for name in names]

    def _schema(self, cursor: Any, columns: str) -> pa.Schema:
        """Return what would come, without reading a row."""
        cursor.execute(f"SELECT {columns} FROM {self._relation.sql} AS t LIMIT 0")  # noqa: S608
        with contextlib.closing(cursor.fetch_record_batch()) as reader:
            return reader.schema

    def _query(self, fields: Sequence[SourceField]) -> str:
        wanted = select_list([field.sql for field in fields])
        return f"SELECT {wanted} FROM {self._relation.sql} AS t"  # noqa: S608 (quoted)

    def _read(self, fields: Sequence[SourceField]) -> Generator[Batch, None, None]:
        with _cursor(self.source, self._connected) as cursor:
            cursor.execute(self._query(fields))
            with contextlib.closing(cursor.fetch_record_batch()) as reader:
                yield from reader


# --- PostgreSQL ----------------------------------------------------------------------------------

_POSTGRES_TABLES = (
    "SELECT CASE WHEN pg_table_is_visible(c.oid) THEN '' ELSE n.nspname || '.' END || c.relname "
    "FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
    "WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname !~ '^pg_' "
    "AND n.nspname <> 'information_schema' ORDER BY 1"
)
_FINITE = "CASE WHEN isfinite({}) THEN {} END"
#: What the driver brings unharmed, and what the database casts: the driver brings infinite dates
#: as dates of some year, money as cents, and types that are none of Arrow's as bytes.
_CASTS = {
    **dict.fromkeys(("bool", "int2", "int4", "int8", "float4", "float8", "time", "interval"), "{}"),
    "oid": "{}::int8",
    "numeric": "{}::float8",
    "money": "{}::numeric::float8",
    **dict.fromkeys(("uuid", "json", "jsonb", "xml", "macaddr", "macaddr8"), "{}::text"),
    **dict.fromkeys(("date", "timestamp", "timestamptz"), _FINITE),
    "timetz": "{}::time",
}
_CASTS_OF_CATEGORIES = dict.fromkeys("SEI", "{}::text")  # strings, enumerations, addresses
_UNUSABLE = {"A": "lists", "C": "records", "V": "bits"}


class PostgresFeeder(AdbcFeeder):
    """A table, view or query of PostgreSQL, which is asked for the type of each column."""

    def _find(self, cursor: Any, source: str, table: str | None) -> TableSql:
        known = [name for (name,) in _rows(cursor, _POSTGRES_TABLES)]

        def is_there(sql: str) -> bool:
            return _rows(cursor, f"SELECT to_regclass({literal(sql)})::text") != [(None,)]

        return find_table(source, table, known, is_there)

    def _plans(self, cursor: Any, names: Sequence[str]) -> list[tuple[str, str | None]]:
        plans = []
        for name, (kind, category) in zip(names, self._kinds(cursor, names), strict=True):
            sql = _CASTS.get(kind, _CASTS_OF_CATEGORIES.get(category))
            what = "bytes" if kind == "bytea" else f"values of type {kind}"
            reason = _UNUSABLE.get(category, what) if sql is None else None
            plans.append(((sql or "").replace("{}", f"t.{identifier(name)}"), reason))
        return plans

    def _kinds(self, cursor: Any, names: Sequence[str]) -> list[tuple[str, str]]:
        """Ask for the types of columns, without a row and without what is behind a domain."""
        if not names:
            return []
        asked = ", ".join(f"pg_typeof(t.{identifier(name)})::oid" for name in names)
        row = f"FROM (SELECT 1) AS one LEFT JOIN {self._relation.sql} AS t ON false"
        return _rows(
            cursor,
            "SELECT coalesce(b.typname, k.typname)::text, "  # noqa: S608 (quoted)
            "coalesce(b.typcategory, k.typcategory)::text "
            f"FROM unnest((SELECT ARRAY[{asked}] {row})) WITH ORDINALITY AS o(kind, place) "
            "JOIN pg_type k ON k.oid = o.kind "
            "LEFT JOIN pg_type b ON b.oid = k.typbasetype AND k.typtype = 'd' ORDER BY o.place",
        )


# --- SQLite --------------------------------------------------------------------------------------

_SQLITE_TABLES = (
    "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') "
    "AND name NOT LIKE 'sqlite~_%' ESCAPE '~' ORDER BY name"
)
_COLUMNS_AT_ONCE = 100  # of 2000 columns that a result may have
_DAY = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*"
_TESTS = (
    *(f"typeof({{}}) = '{kind}'" for kind in ("integer", "real", "text", "blob")),
    "typeof({}) = 'integer' AND {} IN (0, 1)",
    f"typeof({{}}) = 'text' AND {{}} GLOB '{_DAY}'",
)
_READING = (
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_RECURSIVE,
)


class _ValueCounts(NamedTuple):
    """How many values of a column pass each of the tests above."""

    integers: int
    reals: int
    texts: int
    blobs: int
    flags: int
    days: int


class SqliteFeeder(AdbcFeeder):
    """A table, view or query of SQLite, whose columns have no type that binds.

    The driver takes the type of a column from its first rows and fails where another comes later.
    So values are counted by type first, and a first row of our own shows which types will come.
    """

    def _find(self, cursor: Any, source: str, table: str | None) -> TableSql:
        known = [name for (name,) in _rows(cursor, _SQLITE_TABLES)]
        return find_table(source, table, known, set(map(identifier, known)).__contains__)

    def _inspect(self) -> SourceShape:
        with _cursor(self.source, self._connected) as cursor:
            names = unique_names(self.source, self._schema(cursor, "*").names)
            table = literal("" if self._relation.is_query else self._relation.name)
            declared = _rows(cursor, f"SELECT name, type FROM pragma_table_info({table})")  # noqa: S608
            flags = {name for name, kind in declared if "BOOL" in kind.upper()}
            tallies = dict(zip(names, self._tallies(cursor, names), strict=True))
        unused = tuple(skipped(name, "bytes") for name in names if tallies[name].blobs)
        fields = {
            name: _sqlite_field(name, tally, name in flags)
            for name, tally in tallies.items()
            if not tally.blobs
        }
        shape = SourceShape(tuple(fields.values()), unused)
        # texts that all begin with a date
        times = [f for f in shape.fields if 0 < tallies[f.name].texts == tallies[f.name].days]
        times = [f for f in times if not (tallies[f.name].integers or tallies[f.name].reals)]
        return self._typed(shape, times, ("date", "datetime", "instant")) if times else shape

    def _tallies(self, cursor: Any, names: Sequence[str]) -> Iterator[_ValueCounts]:
        for start in range(0, len(names), _COLUMNS_AT_ONCE):
            some = [f"t.{identifier(name)}" for name in names[start : start + _COLUMNS_AT_ONCE]]
            asked = [
                f"coalesce(sum({test.replace('{}', name)}), 0)" for name in some for test in _TESTS
            ]
            query = f"SELECT {select_list(asked)} FROM {self._relation.sql} AS t"  # noqa: S608
            row = iter(_rows(cursor, query)[0])
            yield from (_ValueCounts(*itertools.islice(row, len(_TESTS))) for _ in some)

    def _query(self, fields: Sequence[SourceField]) -> str:
        examples = {"int64": "0", "double": "0.5", "string": "''"}
        shown = select_list([examples[str(field.comes)] for field in fields])
        return f"SELECT {shown} UNION ALL {super()._query(fields)}"

    def _read(self, fields: Sequence[SourceField]) -> Generator[Batch, None, None]:
        with _cursor(self.source, self._connected) as cursor:
            cursor.adbc_statement.set_options(**{"adbc.sqlite.query.batch_rows": str(BATCH_ROWS)})
            cursor.execute(self._query(fields))
            with contextlib.closing(cursor.fetch_record_batch()) as reader:
                names, rows = [field.name for field in fields], -1  # the first one is our own
                for batch in reader:
                    check_batch(self.source, batch, names or batch.schema.names, rows)
                    yield batch.slice(1) if rows < 0 else batch
                    rows += batch.num_rows


def _sqlite_field(name: str, tally: _ValueCounts, is_flag: bool) -> SourceField:
    column = f"t.{identifier(name)}"
    if tally.texts or not (tally.integers or tally.reals):
        return SourceField(name, f"CAST({column} AS TEXT)", pa.string(), pa.string())
    if tally.reals:
        # no cast of what else may come later: that has to be an error, not 0.0
        sql = f"CASE typeof({column}) WHEN 'integer' THEN CAST({column} AS REAL) ELSE {column} END"
        return SourceField(name, sql, pa.float64(), pa.float64())
    are_flags = is_flag and tally.flags == tally.integers
    return SourceField(name, column, pa.int64(), pa.bool_() if are_flags else pa.int64())


def _check_select(path: Path, source: str, query: str) -> None:
    """Refuse what is not exactly one SELECT by the engine's own parser, or does more than read."""

    def permitted(action: int, *_: object) -> int:
        return sqlite3.SQLITE_OK if action in _READING else sqlite3.SQLITE_DENY

    with (
        translate_errors(source, "sqlite3"),
        contextlib.closing(sqlite3.connect(_uri(path), uri=True)) as connection,
    ):
        connection.execute("SELECT name FROM sqlite_master").close()  # read before it is restricted
        connection.set_authorizer(permitted)
        try:
            for text in (query, f"SELECT * FROM {relation_of(query).sql}"):  # noqa: S608
                connection.execute(f"EXPLAIN {text}").close()
        except sqlite3.DatabaseError as error:
            if "not authorized" not in str(error) and "one statement" not in str(error):
                raise
            raise SourceError(
                f"{source}: the query does more than read; allowed: exactly one SELECT"
            ) from None


def _uri(path: Path) -> str:
    return f"file:{quote(str(path))}?mode=ro"
