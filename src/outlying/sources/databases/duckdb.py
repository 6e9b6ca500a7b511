"""DuckDB as a database: its files, and open connections.

It could read other databases through its extensions, but those are fetched from the network, for
one version of the engine each. The drivers of ADBC are packages like any other.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from outlying.checks import check_flag
from outlying.errors import SourceError
from outlying.sources.databases.adbc import chosen_table, no_such_table
from outlying.sources.duckdb import engine
from outlying.sources.duckdb.feeder import DuckFeeder
from outlying.sources.recognise import path_of
from outlying.sources.sql import Relation, literal, readings_of, relation_of

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

_TABLES = (
    "SELECT CASE WHEN schema_name IN ('main', 'temp') THEN '' ELSE schema_name || '.' END || name "
    "FROM (SELECT database_name, schema_name, table_name AS name FROM duckdb_tables() "
    "WHERE NOT internal UNION ALL SELECT database_name, schema_name, view_name FROM duckdb_views() "
    "WHERE NOT internal) WHERE database_name IN (current_database(), 'temp') ORDER BY 1"
)
_ALIAS = "outlying_source"


def stream(
    data: str | os.PathLike[str] | DuckDBPyConnection,
    table: str | None,
    query: str | None,
    allow_external: object = False,
) -> DuckFeeder:
    """Feed from a table or a query of a file or of an open connection.

    A file may hold views of other files, which are refused unless `allow_external`: it may come
    from somebody else, who would so read what its reader may read.

    The connection itself is used: a cursor of it would not see temporary tables, and might take
    another table of the same name, as it forgets which schema is in use.
    """
    if isinstance(data, (str, os.PathLike)):
        source = os.fsdecode(data)
        path, is_sealed = path_of(source), not check_flag("allow_external", allow_external)
        return _feeder(lambda: _attached(path, is_sealed), source, table, query, shared=False)
    return _feeder(lambda: contextlib.nullcontext(data), "DuckDB", table, query, shared=True)


def _feeder(
    connected: Callable[[], contextlib.AbstractContextManager[DuckDBPyConnection]],
    source: str,
    table: str | None,
    query: str | None,
    *,
    shared: bool,
) -> DuckFeeder:
    with engine.plain_errors(source), connected() as connection:
        if query is not None:
            _check_select(connection, source, query)
        relation = relation_of(query) if query is not None else _found(connection, source, table)

    @contextlib.contextmanager
    def opened() -> Iterator[DuckDBPyRelation]:
        with connected() as connection:
            yield connection.sql(f"SELECT * FROM {relation.sql}")  # noqa: S608 (quoted)

    return DuckFeeder(opened, f"{source} {relation.name}", shared=shared)


def _check_select(connection: DuckDBPyConnection, source: str, query: str) -> None:
    """Refuse what is not exactly one SELECT by the engine's own parser.

    Or its text could close the parentheses in which it stands later.
    """
    import duckdb

    kinds = [statement.type for statement in connection.extract_statements(query)]
    if kinds != [duckdb.StatementType.SELECT]:
        named = ", ".join(kind.name for kind in kinds) or "nothing"
        raise SourceError(f"{source}: the query holds {named}; allowed: exactly one SELECT")


def _found(connection: DuckDBPyConnection, source: str, table: str | None) -> Relation:
    """Find a table by its name, or the only one there is."""
    import duckdb

    known = [row[0] for row in connection.sql(_TABLES).fetchall()]
    name = chosen_table(source, table, known)
    for sql in readings_of(name):
        with contextlib.suppress(duckdb.CatalogException, duckdb.BinderException):
            connection.sql(f"SELECT * FROM {sql}")  # noqa: S608 (quoted)
            return Relation(sql, name, is_query=False)
    raise no_such_table(source, name, known)


@contextlib.contextmanager
def _attached(path: Path, is_sealed: bool) -> Iterator[DuckDBPyConnection]:
    """Attach a database that cannot be written; sealed, nothing else can be read either.

    That holds for views, for queries, and for names of tables, which the engine takes for files
    where there is no such table.
    """
    with engine.streaming_connection() as connected:
        place = literal(str(path.absolute()))
        connected.execute(f"ATTACH {place} AS {_ALIAS} (READ_ONLY); USE {_ALIAS}")
        if is_sealed:
            connected.execute("SET enable_external_access = false; SET lock_configuration = true")
        yield connected
