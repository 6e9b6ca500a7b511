"""DuckDB, held at arm's length: a private engine, its files, relations and open connections.

`to_arrow_reader` streams, `execute` collects first. Columns are asked for by position, as names
that differ only in case are one name to the engine. Extensions for other databases are left out:
they are fetched from the network (`databases` has packages).
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
import os
import re
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from outlying.checks import check_flag
from outlying.errors import (
    ColumnError,
    OptionError,
    Setting,
    SourceError,
    not_its_own,
    shown,
    unknown_name,
)
from outlying.parsing import pa
from outlying.sources.columns import unique_names
from outlying.sources.copies import PrivateFolder
from outlying.sources.passes import (
    BATCH_ROWS,
    Batch,
    Feeder,
    SourceField,
    SourceShape,
    changed,
    shape_of,
)
from outlying.sources.recognise import interrupts, path_of, translate_errors, unreadable

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

Config: TypeAlias = dict[str, str | bool | int | float | list[str]]
OpenRelation: TypeAlias = "Callable[[], AbstractContextManager[DuckDBPyRelation]]"
OpenConnection: TypeAlias = "Callable[[], AbstractContextManager[DuckDBPyConnection]]"

#: What the engine says when the system has no memory left; at a limit of ours it says otherwise.
_SYSTEM_OUT_OF_MEMORY = (
    "bad allocation",
    "bad_alloc",
    "Allocation failure",
    "ArrowBuffer: failed to allocate",
)

MEMORY = "500MB"  # what the engine may use for itself; a scan needs less
_LEAST_SPACE = 256 << 20  # bytes of address space without which the engine may crash

_CONFIG: Config = {
    "autoinstall_known_extensions": False,  # nothing is fetched from the network
    "autoload_known_extensions": False,
    "allow_persistent_secrets": False,
    "python_enable_replacements": False,  # a name is a table, not a variable of Python
    "preserve_insertion_order": True,  # rows are known by their number
}
_STREAMING: Config = {
    "preserve_insertion_order": False,
    "arrow_large_buffer_size": True,  # texts of one batch may be longer than 2 GiB
}


@contextmanager
def connection(config: Config | None = None) -> Iterator[DuckDBPyConnection]:
    """Open a database of our own in memory, with the clock of the machine kept out."""
    import duckdb

    connected = duckdb.connect(":memory:", config=_CONFIG | _within_limits() | (config or {}))
    try:
        with interrupts():
            connected.execute("SET TimeZone = 'UTC'; SET enable_progress_bar = false")
            yield connected
    finally:
        connected.close()


def _within_limits() -> Config:
    """Return settings for a process of limited address space, where the engine's threads crash."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except (ImportError, OSError):  # not a system that tells
        return {}
    if limit == resource.RLIM_INFINITY:
        return {}
    if limit - used < _LEAST_SPACE:
        raise MemoryError(f"{used >> 20:,} of {limit >> 20:,} MiB are used before data are read")
    return {"threads": 1}


@contextmanager
def streaming_connection(memory: str = MEMORY) -> Iterator[DuckDBPyConnection]:
    """Open a database of our own in memory that streams, in no particular order."""
    with (
        PrivateFolder("engine") as folder,  # for queries that sort or join
        connection(
            {**_STREAMING, "memory_limit": memory, "temp_directory": str(folder)}
        ) as connected,
    ):
        yield connected


# --- errors --------------------------------------------------------------------------------------


def plain_errors(source: str, long_integers: Sequence[str] = ()) -> AbstractContextManager[None]:
    """Turn the engine's errors into ours; `long_integers` are columns that may exceed 64 bits."""
    explain = functools.partial(_describe_error, long_integers=long_integers)
    return translate_errors(source, "duckdb", explain=explain)


def _describe_error(source: str, error: Exception, long_integers: Sequence[str]) -> BaseException:
    if isinstance(error, UnicodeError):
        return unreadable(source, error)
    text = reason(error)
    if any(words in text for words in _SYSTEM_OUT_OF_MEMORY):
        return MemoryError(f"{source}: {text}")
    number = re.search(r"value (-?\d+) can't be cast because the value is out of range", str(error))
    # a conversion error, which may come through Arrow
    if long_integers and str(error).startswith("Conversion") and (number or "INT64" in str(error)):
        names = " or ".join(map(repr, long_integers))
        what = f"the number {number[1]}" if number else "a number"
        return ColumnError(
            f"{source}: column {names} holds {what}, which is beyond 64 bits; turn it into text or "
            "DOUBLE in a query, or leave the column out with ",
            Setting("exclude"),
        )
    if "open result" in text or "unfinished result" in text:
        return SourceError(
            f"{source}: the connection is still busy with another result; fetch that to its end "
            "first, or give another connection (connection.cursor() makes one)"
        )
    if "disabled by configuration" in text or "configuration has been locked" in text:
        return not_its_own(source, "a database")
    return SourceError(f"{source}: cannot be read: {text}")


def is_fault_of_text(error: Exception) -> bool:
    """Return whether the strict parser refuses a line; errors also come through Arrow."""
    return str(error).startswith(("Invalid Input Error", "Not implemented Error"))


def reason(error: Exception) -> str:
    """Return the useful lines of an engine error: the first, and what was wrong with a line."""
    text = str(error).strip()
    first = re.sub(r"^[A-Z][A-Za-z ]* Error: ", "", text.split("\n")[0])
    detail = re.search(r"^Maximum line size of .* exceeded", text, re.MULTILINE)
    return " - ".join(filter(None, (first, detail and detail[0]))) or type(error).__name__


# --- SQL -----------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class TableSql:
    """What to read of a database: SQL that stands where a table can, and what it is called."""

    sql: str
    name: str = "(query)"  # of a table, as it was given
    is_query: bool = True


def relation_of(query: str) -> TableSql:
    """Write a query so that it can stand where a table can; a comment at its end stays one."""
    return TableSql(f"(\n{query.strip().removesuffix(';')}\n)")


def identifier(name: str) -> str:
    """Write a name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Write a text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def select_list(columns: Sequence[str]) -> str:
    """Write what to select: these expressions as c0, c1, ...; something where there is none."""
    return ", ".join(f"{sql} AS c{place}" for place, sql in enumerate(columns)) or "1 AS c0"


def readings_of(table: str) -> list[str]:
    """Write the ways to understand the name of a table: as it is, or divided at its dots."""
    return list(dict.fromkeys([identifier(table), ".".join(map(identifier, table.split(".")))]))


def literal_path(path: Path) -> str:
    """Write a path so that the engine takes it as this file, not as a pattern of file names."""
    return re.sub(r"[*?\[]", r"[\g<0>]", str(path.absolute()))


def find_table(
    source: str, table: str | None, known: Sequence[str], is_there: Callable[[str], bool]
) -> TableSql:
    """Find a table by its name, read in any way, or the only one there is."""
    if table is None and not known:
        raise SourceError(f"{source}: holds no table")
    if table is None and len(known) > 1:
        shown = ", ".join(known[:20]) + (", ..." if len(known) > 20 else "")
        raise SourceError(f"{source}: holds {len(known)} tables; name one with table=: {shown}")
    name = known[0] if table is None else table
    for sql in filter(is_there, readings_of(name)):
        return TableSql(sql, name, is_query=False)
    raise SourceError(f"{source}: {unknown_name('table', name, known)}")


# --- feeders -------------------------------------------------------------------------------------

_FINITE = "CASE WHEN isfinite({}) THEN {} END"  # infinite dates are missing values
_AS_TIME = "CAST({} AS TIME)"
_AS_TEXT = "CAST({} AS VARCHAR)"
_LONG = ("hugeint", "uhugeint", "bignum")
#: The types that can be used, and the SQL that selects each; {} is the column.
_TYPES: dict[str, str] = {
    **dict.fromkeys(("boolean", "varchar", "json", "time", "interval", "float", "double"), "{}"),
    **dict.fromkeys(("tinyint", "smallint", "integer", "bigint"), "{}"),
    **dict.fromkeys(("utinyint", "usmallint", "uinteger", "ubigint"), "{}"),
    **dict.fromkeys(_LONG, "CAST({} AS BIGINT)"),  # Arrow has no whole numbers of this length
    # through text: a direct cast divides by a power of ten and may miss the nearest number
    "decimal": "CAST(CAST({} AS VARCHAR) AS DOUBLE)",
    **dict.fromkeys(("uuid", "enum", "null"), _AS_TEXT),
    **dict.fromkeys(("date", "timestamp", "timestamp_s", "timestamp_ms", "timestamp_ns"), _FINITE),
    "timestamp with time zone": _FINITE,
    "timestamptz_ns": "CAST({} AS TIMESTAMPTZ)",
    **dict.fromkeys(("time_ns", "time with time zone"), _AS_TIME),
}
_UNUSABLE = {
    **dict.fromkeys(("list", "array"), "lists"),
    **dict.fromkeys(("struct", "map"), "records"),
    "blob": "bytes",
    "bit": "bits",
}


class DuckFeeder(Feeder):
    """A relation of DuckDB, opened anew for every scan."""

    def __init__(
        self, opened: OpenRelation, source: str, names: Sequence[str] | None = None
    ) -> None:
        """Feed from what `opened` opens; `names`: of its columns, where the engine renames some."""
        super().__init__(source)
        self._opened, self._names = opened, names

    def _inspect(self) -> SourceShape:
        with plain_errors(self.source), self._opened() as relation:
            names = unique_names(self.source, self._names or relation.columns)
            self._seen = _types_of(relation)
            kinds = dict(zip(names, self._seen.values(), strict=True))
            sql = {
                name: _TYPES[kind].replace("{}", f"#{place}")
                for place, (name, kind) in enumerate(kinds.items(), start=1)
                if kind in _TYPES
            }
            with reader_of(relation.limit(0).project(select_list(list(sql.values())))) as reader:
                types = reader.schema.types
        self._long_integers = [name for name in sql if kinds[name] in _LONG]
        reasons = {n: _UNUSABLE.get(k, f"values of type {k}") for n, k in kinds.items()}
        comes = dict(zip(sql, types, strict=False))  # without columns, one of nothing
        return shape_of(self.source, {name: comes.get(name, reasons[name]) for name in kinds}, sql)

    def _read(self, fields: Sequence[SourceField]) -> Generator[Batch, None, None]:
        long = [field.name for field in fields if field.name in self._long_integers]
        with plain_errors(self.source, long), self._opened() as relation:
            self._check_same(_types_of(relation))
            with reader_of(
                relation.project(select_list([field.sql for field in fields]))
            ) as reader:
                yield from reader

    def _check_same(self, now: dict[str, str]) -> None:
        for name, kind in self._seen.items():
            if now.get(name, kind) != kind:
                raise changed(self.source, f"column {name!r} was {kind}, now it is {now[name]}")
            if name not in now:
                raise changed(self.source, f"column {name!r} is gone")
        if list(now) != list(self._seen):
            raise changed(self.source, "there are other columns now")


def _types_of(relation: DuckDBPyRelation) -> dict[str, str]:
    kinds = (kind.id for kind in relation.types)
    return dict(zip(relation.columns, kinds, strict=True))


def reader_of(relation: DuckDBPyRelation) -> AbstractContextManager[pa.RecordBatchReader]:
    """Read a relation as batches of Arrow; closed whatever happens."""
    return contextlib.closing(relation.to_arrow_reader(BATCH_ROWS))


# --- files and open connections ------------------------------------------------------------------

_TABLES = (
    "SELECT CASE WHEN schema_name IN ('main', 'temp') THEN '' ELSE schema_name || '.' END || name "
    "FROM (SELECT database_name, schema_name, table_name AS name FROM duckdb_tables() "
    "WHERE NOT internal UNION ALL SELECT database_name, schema_name, view_name FROM duckdb_views() "
    "WHERE NOT internal) WHERE database_name IN (current_database(), 'temp') ORDER BY 1"
)
_ALIAS = "outlying_source"


def stream(
    data: str | os.PathLike[str] | DuckDBPyConnection | DuckDBPyRelation,
    table: str | None = None,
    query: str | None = None,
    allow_external: object = False,
    memory: str = MEMORY,
) -> DuckFeeder:
    """Feed from a relation, or from a table or a query of a file or of an open connection.

    A file may hold views of other files, which are refused unless `allow_external`. A connection
    itself is used: a cursor of it sees no temporary tables, and forgets which schema is in use.
    """
    given: Any = data
    if isinstance(data, (str, os.PathLike)):
        source = os.fsdecode(data)
        path, is_sealed = path_of(source), not check_flag("allow_external", allow_external)
        return _of_database(lambda: _attach(path, is_sealed, memory), source, table, query)
    if hasattr(data, "project"):  # a relation, which may remember columns that are gone
        return DuckFeeder(
            lambda: contextlib.nullcontext(given.project("*")), "DuckDB relation", given.columns
        )
    return _of_database(lambda: contextlib.nullcontext(given), "DuckDB", table, query)


def _of_database(
    connected: OpenConnection, source: str, table: str | None, query: str | None
) -> DuckFeeder:
    with plain_errors(source), connected() as connection:
        if query is not None:
            _check_select(connection, source, query)
        relation = (
            relation_of(query) if query is not None else _find_table(connection, source, table)
        )

    @contextmanager
    def opened() -> Iterator[DuckDBPyRelation]:
        with connected() as connection:
            yield connection.sql(f"SELECT * FROM {relation.sql}")  # noqa: S608 (quoted)

    return DuckFeeder(opened, f"{source} {relation.name}")


def _check_select(connection: DuckDBPyConnection, source: str, query: str) -> None:
    """Refuse what is not one SELECT: it could close the parentheses in which it stands later."""
    import duckdb

    kinds = [statement.type for statement in connection.extract_statements(query)]
    if kinds != [duckdb.StatementType.SELECT]:
        named = ", ".join(kind.name for kind in kinds) or "nothing"
        raise SourceError(f"{source}: the query holds {named}; allowed: exactly one SELECT")


def _find_table(connection: DuckDBPyConnection, source: str, table: str | None) -> TableSql:
    import duckdb

    def is_there(sql: str) -> bool:
        with contextlib.suppress(duckdb.CatalogException, duckdb.BinderException):
            connection.sql(f"SELECT * FROM {sql}")  # noqa: S608 (quoted)
            return True
        return False

    known = [row[0] for row in connection.sql(_TABLES).fetchall()]
    return find_table(source, table, known, is_there)


@contextmanager
def _attach(path: Path, is_sealed: bool, memory: str) -> Iterator[DuckDBPyConnection]:
    """Attach a database to be read; sealed, neither views, queries nor names reach elsewhere."""
    with streaming_connection(memory) as connected:
        place = literal(str(path.absolute()))
        connected.execute(f"ATTACH {place} AS {_ALIAS} (READ_ONLY); USE {_ALIAS}")
        if is_sealed:
            connected.execute("SET enable_external_access = false; SET lock_configuration = true")
        yield connected


# --- queries over files: FROM 'orders.csv' JOIN 'customers.csv' USING (customer) ------------------

_EXAMPLE = "FROM 'orders.csv' JOIN 'customers.csv' USING (customer)"
_SHOWN = 60  # characters of a query by which it is called


def files_of(query: str) -> list[str]:
    """Return the files that a query names as tables; an error says what is wrong with it."""
    with connection() as connected:
        parsed = connected.execute("SELECT json_serialize_sql(?)", [query]).fetchone()
    tree = json.loads(parsed[0]) if parsed else {}
    if tree.get("error", True):
        fault = tree.get("error_message", "it cannot be read")
        raise OptionError(f"--query is {shown(query)}: {fault}; allowed: a SELECT, or {_EXAMPLE}")
    if len(tree["statements"]) != 1:
        raise OptionError(f"--query is {shown(query)}: several statements; allowed: one SELECT")
    named = dict.fromkeys(name for name in _tables(tree) if not set("./\\").isdisjoint(name))
    if not named:
        raise OptionError(
            f"--query is {shown(query)}, which names no file; name one in quotes, as in "
            f"{_EXAMPLE}, or give the database as SOURCE"
        )
    for name in named:
        if not Path(name).is_file():
            raise SourceError(f"the query names {name!r}, and there is no such file")
    return list(named)


def _tables(node: Any) -> Iterator[str]:
    """Return the names that stand for tables anywhere in a parsed query."""
    if isinstance(node, list):
        for item in node:
            yield from _tables(item)
    elif isinstance(node, dict):
        if node.get("type") == "BASE_TABLE":
            yield str(node["table_name"])
        for item in node.values():
            yield from _tables(item)


def result_of(query: str) -> tuple[str, pa.Table]:
    """Run a query over the files that it names, and no others; return its name, and its rows."""
    files = files_of(query)
    name = query if len(query) <= _SHOWN else f"{query[: _SHOWN - 1]}…"
    with connection() as connected, plain_errors(name):
        allowed = ", ".join(literal(file) for file in files)
        connected.execute(f"SET allowed_paths = [{allowed}]")
        connected.execute("SET enable_external_access = false; SET lock_configuration = true")
        return " and ".join(files), connected.sql(query).to_arrow_table()
