"""Databases: files of DuckDB and SQLite, addresses of PostgreSQL, and open connections.

DuckDB could read the others through its extensions, but those are fetched from the network, for
one version of the engine each. The drivers of ADBC are packages like any other.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from outlying.errors import SourceError, unknown_name
from outlying.sources import duckdb as engine
from outlying.sources.databases import adbc, postgres, sqlite
from outlying.sources.duckdb_stream import MEMORY, DuckFeeder, plain_errors, private_connection
from outlying.sources.files import check_readable
from outlying.sources.local import LocalFeeder

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

_TABLES = (
    "SELECT CASE WHEN schema_name IN ('main', 'temp') THEN '' ELSE schema_name || '.' END || name "
    "FROM (SELECT database_name, schema_name, table_name AS name FROM duckdb_tables() "
    "WHERE NOT internal UNION ALL SELECT database_name, schema_name, view_name FROM duckdb_views() "
    "WHERE NOT internal) WHERE database_name IN (current_database(), 'temp') ORDER BY 1"
)
_PLACE = "outlying_source"


def is_database(path: Path) -> bool:
    """Tell a database of DuckDB or SQLite from other files by its first bytes."""
    try:
        return _is_duckdb(path) or sqlite.is_sqlite(path)
    except OSError:
        return False


def _is_duckdb(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.read(12)[8:] == b"DUCK"


def of_file(
    source: str, table: str | None, query: str | None, workers: int | None = None
) -> LocalFeeder:
    """Feed from a table or a query of a database file."""
    path = Path(source).expanduser() if source.startswith("~/") else Path(source)
    check_readable(source, path)
    if sqlite.is_sqlite(path):
        return sqlite.feeder(path, source, table, query, workers)
    if _is_duckdb(path):
        return _of_duckdb(lambda: _attached(path), source, table, query, workers, shared=False)
    raise SourceError(
        f"{source}: is no database of DuckDB or SQLite; table= and query= are for databases"
    )


def of_duckdb(
    connection: DuckDBPyConnection,
    table: str | None,
    query: str | None,
    workers: int | None = None,
) -> LocalFeeder:
    """Feed from a table or a query of an open connection of DuckDB.

    The connection itself is used: a cursor of it would not see temporary tables, and might take
    another table of the same name, as it forgets which schema is in use.
    """
    return _of_duckdb(
        lambda: contextlib.nullcontext(connection), "DuckDB", table, query, workers, shared=True
    )


def of_relation(relation: DuckDBPyRelation, workers: int | None = None) -> LocalFeeder:
    """Feed from a relation of DuckDB, on its own connection."""

    @contextlib.contextmanager
    def opened() -> Iterator[DuckDBPyRelation]:
        yield relation.project("*")  # bound anew: the relation may remember columns that are gone

    names = relation.columns
    return DuckFeeder(opened, "DuckDB relation", workers, shared=True, names=names)


def of_adbc(
    connection: Any, table: str | None, query: str | None, workers: int | None = None
) -> LocalFeeder:
    """Feed from a table or a query of an open connection of ADBC."""
    vendor = str(connection.adbc_get_info().get("vendor_name", "database"))
    known = {"PostgreSQL": postgres.of_connection, "SQLite": sqlite.of_connection}

    def connected() -> contextlib.AbstractContextManager[Any]:
        return contextlib.nullcontext(connection)

    if vendor in known:
        return known[vendor](connected, vendor, table, query, workers)
    if query is None and table is None:
        raise SourceError(f"{vendor}: name what to read with table= or query=")
    relation = adbc.subquery(query) if query is not None else adbc.named(str(table))[-1]
    return adbc.AdbcFeeder(connected, relation, f"{vendor} {table or '(query)'}", workers)


def _of_duckdb(
    connected: Callable[[], contextlib.AbstractContextManager[DuckDBPyConnection]],
    source: str,
    table: str | None,
    query: str | None,
    workers: int | None,
    *,
    shared: bool,
) -> DuckFeeder:
    if query is not None:
        name, relation = "(query)", adbc.subquery(query)
    else:
        with plain_errors(source), connected() as connection:
            name, relation = _found(connection, source, table)

    @contextlib.contextmanager
    def opened() -> Iterator[DuckDBPyRelation]:
        with connected() as connection:
            yield connection.sql(f"SELECT * FROM {relation}")  # noqa: S608 (quoted)

    return DuckFeeder(opened, f"{source} {name}", workers, shared=shared)


def _found(connection: DuckDBPyConnection, source: str, table: str | None) -> tuple[str, str]:
    """Find a table by its name, or the only one there is."""
    import duckdb

    known = [row[0] for row in connection.sql(_TABLES).fetchall()]
    if table is None and len(known) != 1:
        raise SourceError(adbc.no_table(source, known))
    name = known[0] if table is None else table
    for relation in adbc.named(name):
        with contextlib.suppress(duckdb.CatalogException, duckdb.BinderException):
            connection.sql(f"SELECT * FROM {relation}")  # noqa: S608 (quoted)
            return name, relation
    raise SourceError(f"{source}: {unknown_name('table', name, known)}")


@contextlib.contextmanager
def _attached(path: Path) -> Iterator[DuckDBPyConnection]:
    with private_connection(MEMORY) as connected:
        place = engine.quoted(str(path.absolute()))
        connected.execute(f"ATTACH {place} AS {_PLACE} (READ_ONLY); USE {_PLACE}")
        yield connected
