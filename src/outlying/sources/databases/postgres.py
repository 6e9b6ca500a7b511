"""PostgreSQL, through ADBC: every type in a form that arrives unharmed.

The driver brings infinite dates as dates of some year, money as cents, and most types that are
none of Arrow's as bytes. So the database is asked for the type of each column and casts what is
not plain: numeric to the nearest double, enumerations and the like to text. Infinite dates are
read as missing. Months of intervals have 30 days, years 12 months.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from outlying.errors import MissingExtraError, SourceError, unknown_name
from outlying.sources.columns import skip_reason
from outlying.sources.databases.adbc import (
    AdbcFeeder,
    Connected,
    columns_of,
    identifier,
    named,
    no_table,
    plain_errors,
    subquery,
)
from outlying.sources.local import Field, Shape
from outlying.table.table import SkippedColumn

_FINITE = "CASE WHEN isfinite({}) THEN {} END"
_SQL = {
    **dict.fromkeys(("bool", "int2", "int4", "int8", "float4", "float8", "time"), "{}"),
    "oid": "{}::int8",
    "numeric": "{}::float8",
    "money": "{}::numeric::float8",
    **dict.fromkeys(("text", "varchar", "bpchar", "name", "char", "uuid", "json"), "{}::text"),
    **dict.fromkeys(("jsonb", "xml", "citext", "macaddr", "macaddr8"), "{}::text"),
    **dict.fromkeys(("date", "timestamp", "timestamptz"), _FINITE),
    "timetz": "{}::time",
    # a year of 365.25 days by the database, of 360 by everybody else here
    "interval": "round((extract(epoch FROM {}) - 453600 * extract(year FROM {})) * 1e6)::int8",
}
_BY_CATEGORY = {"S": "{}::text", "E": "{}::text", "I": "{}::text"}
_UNUSABLE = {"A": "lists", "C": "records", "V": "bits"}
_TABLES = (
    "SELECT CASE WHEN pg_table_is_visible(c.oid) THEN '' ELSE n.nspname || '.' END || c.relname "
    "FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
    "WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname !~ '^pg_' "
    "AND n.nspname <> 'information_schema' ORDER BY 1"
)


class PostgresFeeder(AdbcFeeder):
    """A table, view or query of PostgreSQL."""

    def _shape_of(self, cursor: Any) -> Shape:
        names = columns_of(cursor, self.source, self._relation).names
        fields, skipped = [], []
        for name, (kind, category) in zip(names, self._types(cursor, names), strict=True):
            sql = _SQL.get(kind, _BY_CATEGORY.get(category))
            if sql is None:
                what = "bytes" if kind == "bytea" else f"values of type {kind}"
                reason = skip_reason(_UNUSABLE.get(category, what))
                skipped.append(SkippedColumn(name, reason))
            else:
                fields.append((name, kind, sql.replace("{}", f"t.{identifier(name)}")))
        return Shape(self._planned(cursor, fields), tuple(skipped))

    def _types(self, cursor: Any, names: Sequence[str]) -> list[tuple[str, str]]:
        """Ask for the types of columns, without a row and without what is behind a domain."""
        if not names:
            return []
        asked = ", ".join(f"pg_typeof(t.{identifier(name)})::oid" for name in names)
        row = f"FROM (SELECT 1) AS one LEFT JOIN {self._relation} AS t ON false"
        cursor.execute(
            "SELECT coalesce(b.typname, k.typname)::text, "  # noqa: S608 (quoted)
            "coalesce(b.typcategory, k.typcategory)::text "
            f"FROM unnest((SELECT ARRAY[{asked}] {row})) WITH ORDINALITY AS o(kind, place) "
            "JOIN pg_type k ON k.oid = o.kind "
            "LEFT JOIN pg_type b ON b.oid = k.typbasetype AND k.typtype = 'd' ORDER BY o.place"
        )
        return list(cursor.fetchall())

    def _planned(self, cursor: Any, fields: list[tuple[str, str, str]]) -> tuple[Field, ...]:
        import pyarrow

        if not fields:
            return ()
        sql = ", ".join(f"{sql} AS c{place}" for place, (_, _, sql) in enumerate(fields))
        cursor.execute(f"SELECT {sql} FROM {self._relation} AS t LIMIT 0")  # noqa: S608
        with contextlib.closing(cursor.fetch_record_batch()) as reader:
            types = reader.schema.types
        return tuple(
            Field(name, sql, comes, pyarrow.duration("us") if kind == "interval" else comes)
            for (name, kind, sql), comes in zip(fields, types, strict=True)
        )


def feeder(
    uri: str, table: str | None, query: str | None, workers: int | None = None
) -> PostgresFeeder:
    """Feed from a database by its address (postgresql://user@host:port/database)."""
    return of_connection(lambda: _connected(uri), without_password(uri), table, query, workers)


def of_connection(
    connected: Connected,
    source: str,
    table: str | None,
    query: str | None,
    workers: int | None = None,
) -> PostgresFeeder:
    """Feed from a table or query of a database that can be connected to."""
    if query is not None:
        return PostgresFeeder(connected, subquery(query), f"{source} (query)", workers)
    with (
        plain_errors(source),
        connected() as connection,
        contextlib.closing(connection.cursor()) as cursor,
    ):
        name, relation = _found(cursor, source, table)
    return PostgresFeeder(connected, relation, f"{source} {name}", workers)


def _found(cursor: Any, source: str, table: str | None) -> tuple[str, str]:
    """Find a table by its name, or the only one there is."""
    known = _rows(cursor, _TABLES)
    if table is None:
        if len(known) == 1:
            return known[0], named_as(cursor, known[0]) or identifier(known[0])
        raise SourceError(no_table(source, known))
    relation = named_as(cursor, table)
    if relation is None:
        raise SourceError(f"{source}: {unknown_name('table', table, known)}")
    return table, relation


def named_as(cursor: Any, table: str) -> str | None:
    """Write the name of a table so that the database finds it."""
    for relation in named(table):
        literal = "'" + relation.replace("'", "''") + "'"
        if _rows(cursor, f"SELECT to_regclass({literal})::text") != [None]:
            return relation
    return None


def _rows(cursor: Any, query: str) -> list[Any]:
    cursor.execute(query)
    return [row[0] for row in cursor.fetchall()]


@contextlib.contextmanager
def _connected(uri: str) -> Iterator[Any]:
    try:
        from adbc_driver_postgresql import dbapi
    except ImportError:
        raise MissingExtraError("PostgreSQL", "databases") from None
    with contextlib.closing(dbapi.connect(uri)) as connection:
        with contextlib.closing(connection.cursor()) as cursor:
            cursor.execute("SET TRANSACTION READ ONLY")
        yield connection


def without_password(uri: str) -> str:
    """Write an address as results may show it: without password and settings."""
    parts = urlsplit(uri)
    place = parts.netloc.rpartition("@")
    user = place[0].split(":")[0]
    return urlunsplit(
        (parts.scheme, f"{user}@{place[2]}" if user else place[2], parts.path, "", "")
    )
