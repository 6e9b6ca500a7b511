"""DuckDB, held at arm's length: a private connection, typed results, errors in plain words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from outlying.errors import ColumnError, OutlyingError, Setting, SourceError, not_its_own
from outlying.sources.copies import PrivateFolder
from outlying.sources.sql import interrupts

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Config: TypeAlias = dict[str, str | bool | int | float | list[str]]

MEMORY = "500MB"
"""What the engine may use for itself; a scan needs less, however long the table is."""

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
    """Return settings for a process of limited address space: the engine's threads crash there.

    Where too little is left for the engine itself, it is not started.
    """
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
        # a query is bound several times before it runs
        connected.execute("SET parquet_metadata_cache = true")
        # or else a row group is read as a whole, which may be larger than memory
        connected.execute("SET disable_parquet_prefetching = true")
        # it makes an error of what TRY_CAST cannot read in a CSV file, where NULL is asked for
        known = connected.execute("FROM duckdb_optimizers() WHERE name = 'type_pushdown'")
        if known.fetchall():
            connected.execute("SET disabled_optimizers = 'type_pushdown'")
        yield connected


def is_version_1() -> bool:
    """Return whether this is DuckDB before version 2."""
    import duckdb

    return duckdb.__version__.startswith("1.")


@contextmanager
def plain_errors(source: str, long_integers: Sequence[str] = ()) -> Iterator[None]:
    """Turn the engine's errors into ours, also those that reach us through Arrow.

    `long_integers` are columns that may hold numbers beyond 64 bits, where those cannot be read.
    """
    import duckdb

    try:
        with interrupts():
            yield
    except (duckdb.Error, OSError) as error:
        raise _plain(source, error, long_integers) from None
    except UnicodeEncodeError:
        raise SourceError(f"{source!a}: the name is not valid text; rename it") from None


def _plain(
    source: str, error: Exception, long_integers: Sequence[str]
) -> OutlyingError | MemoryError:
    text = reason(error)
    if "bad allocation" in text or "bad_alloc" in text:  # of the system, not at a limit of ours
        return MemoryError(f"{source}: {text}")
    number = re.search(r"value (-?\d+) can't be cast because the value is out of range", str(error))
    if long_integers and _is_conversion(error) and (number or "INT64" in str(error)):
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


def _is_conversion(error: Exception) -> bool:
    import duckdb

    is_own = isinstance(error, duckdb.ConversionException)
    return is_own or str(error).startswith("Conversion Error")  # so it comes through Arrow


def is_fault_of_text(error: Exception) -> bool:
    """Return whether the strict parser refuses a line; errors also come through Arrow."""
    import duckdb

    kinds = (duckdb.InvalidInputException, duckdb.NotImplementedException)
    words = ("Invalid Input Error", "Not implemented Error")
    return isinstance(error, kinds) or (isinstance(error, OSError) and str(error).startswith(words))


def reason(error: Exception) -> str:
    """Return the useful lines of an engine error: the first, and what was wrong with a line."""
    text = str(error).strip()
    first = re.sub(r"^[A-Z][A-Za-z ]* Error: ", "", text.split("\n")[0])
    detail = re.search(r"^Maximum line size of .* exceeded", text, re.MULTILINE)
    return " - ".join(filter(None, (first, detail and detail[0]))) or type(error).__name__


def literal_path(path: Path) -> str:
    """Write a path so that the engine takes it as this file, not as a pattern of file names."""
    return re.sub(r"[*?\[]", r"[\g<0>]", str(path.absolute()))


def settings(given: dict[str, str]) -> str:
    """Write the settings of a table function as its arguments."""
    return ", ".join(f"{name} = {value}" for name, value in given.items())
