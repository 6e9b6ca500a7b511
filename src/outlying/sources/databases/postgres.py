"""PostgreSQL, through ADBC: the database is asked for the type of each column, and casts it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from outlying.errors import MissingExtraError
from outlying.sources.arrow_arrays import Streamed
from outlying.sources.columns import skipped
from outlying.sources.databases.adbc import AdbcFeeder, chosen_table, no_such_table
from outlying.sources.local import Field, Shape
from outlying.sources.sql import Relation, identifier, literal, readings_of
from outlying.sources.types.postgres import in_batches

_TABLES = (
    "SELECT CASE WHEN pg_table_is_visible(c.oid) THEN '' ELSE n.nspname || '.' END || c.relname "
    "FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
    "WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname !~ '^pg_' "
    "AND n.nspname <> 'information_schema' ORDER BY 1"
)


def stream(uri: str, table: str | None, query: str | None) -> PostgresFeeder:
    """Feed from a database by its address (postgresql://user@host:port/database)."""
    return PostgresFeeder.of(lambda: _connected(uri), without_password(uri), table, query)


class PostgresFeeder(AdbcFeeder):
    """A table, view or query of PostgreSQL."""

    @classmethod
    def _find(cls, cursor: Any, source: str, table: str | None) -> Relation:
        known = _rows(cursor, _TABLES)
        name = chosen_table(source, table, known)
        for sql in readings_of(name):
            if _rows(cursor, f"SELECT to_regclass({literal(sql)})::text") != [None]:
                return Relation(sql, name, is_query=False)
        raise no_such_table(source, name, known)

    def _shape_of(self, cursor: Any) -> Shape:
        names = self._columns(cursor).names
        usable: dict[str, Streamed] = {}
        unused = []
        for name, (kind, category) in zip(names, self._kinds(cursor, names), strict=True):
            plan = in_batches(f"t.{identifier(name)}", kind, category)
            if isinstance(plan, Streamed):
                usable[name] = plan
            else:
                unused.append(skipped(name, plan))
        types = self._types(cursor, [plan.sql for plan in usable.values()])
        fields = [
            Field(name, plan.sql, comes, plan.type(comes))
            for (name, plan), comes in zip(usable.items(), types, strict=False)
        ]
        return Shape(tuple(fields), tuple(unused))

    def _kinds(self, cursor: Any, names: Sequence[str]) -> list[tuple[str, str]]:
        """Ask for the types of columns, without a row and without what is behind a domain."""
        if not names:
            return []
        asked = ", ".join(f"pg_typeof(t.{identifier(name)})::oid" for name in names)
        row = f"FROM (SELECT 1) AS one LEFT JOIN {self._relation.sql} AS t ON false"
        cursor.execute(
            "SELECT coalesce(b.typname, k.typname)::text, "  # noqa: S608 (quoted)
            "coalesce(b.typcategory, k.typcategory)::text "
            f"FROM unnest((SELECT ARRAY[{asked}] {row})) WITH ORDINALITY AS o(kind, place) "
            "JOIN pg_type k ON k.oid = o.kind "
            "LEFT JOIN pg_type b ON b.oid = k.typbasetype AND k.typtype = 'd' ORDER BY o.place"
        )
        return list(cursor.fetchall())


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
