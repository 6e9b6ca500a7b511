"""DuckDB, held at arm's length: a private connection, typed results, errors in plain words."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from outlying.errors import SourceError
from outlying.sources.columns import (
    Reading,
    read_array,
    read_form,
    read_integers,
    read_labels,
    read_moments,
    read_reals,
    skip,
)
from outlying.table.columns import Mask
from outlying.table.values import Form

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Finish: TypeAlias = Callable[[str, Any, Mask | None], Reading]

Config: TypeAlias = dict[str, str | bool | int | float | list[str]]

_CONFIG: Config = {
    "autoinstall_known_extensions": False,  # nothing is fetched from the network
    "autoload_known_extensions": False,
    "allow_persistent_secrets": False,
    "preserve_insertion_order": True,  # rows are known by their number
}


@dataclasses.dataclass(frozen=True, slots=True)
class Plan:
    """How a column gets out of the engine: the SQL that selects it, what makes it a column."""

    sql: str
    finish: Finish


@contextmanager
def connection(config: Config | None = None) -> Iterator[DuckDBPyConnection]:
    """Open a database of our own in memory, with the clock of the machine kept out."""
    import duckdb

    connected = duckdb.connect(":memory:", config=_CONFIG | (config or {}))
    try:
        connected.execute("SET TimeZone = 'UTC'; SET enable_progress_bar = false")
        yield connected
    finally:
        connected.close()


@contextmanager
def plain_errors(source: str) -> Iterator[None]:
    """Turn the engine's errors into ours: its first sentence, without hints about its own API."""
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        raise SourceError(f"{source}: cannot be read: {reason(error)}") from None
    except UnicodeEncodeError:
        raise SourceError(
            f"{source!a}: the name of the file is not valid text; rename it"
        ) from None


def reason(error: Exception) -> str:
    """Take the useful lines of an engine error: the first, and what was wrong with a line."""
    text = str(error).strip()
    first = re.sub(r"^[A-Z][A-Za-z ]* Error: ", "", text.split("\n")[0])
    detail = re.search(r"^Maximum line size of .* exceeded", text, re.MULTILINE)
    return " - ".join(filter(None, (first, detail and detail[0]))) or type(error).__name__


def literal_path(path: Path) -> str:
    """Write a path so that the engine takes it as this file, not as a pattern of file names."""
    return re.sub(r"[*?\[]", r"[\g<0>]", str(path.absolute()))


def quoted(text: str) -> str:
    """Write a text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def fetch(
    connected: DuckDBPyConnection,
    relation: str,
    parameters: Sequence[str],
    columns: Sequence[tuple[str, Plan | str]],
) -> list[Reading]:
    """Select the planned columns of a relation, in the order of its rows.

    Instead of a plan, a column may have the reason for leaving it out.
    """
    wanted = [
        f"{plan.sql} AS c{place}"
        for place, (_, plan) in enumerate(columns)
        if isinstance(plan, Plan)
    ]
    arrays: dict[str, Any] = {}
    if wanted:
        query = f"SELECT {', '.join(wanted)} FROM {relation}"  # noqa: S608 (names are our own)
        arrays = connected.execute(query, parameters).fetchnumpy()
    return [
        skip(name, plan) if isinstance(plan, str) else _finished(name, plan, arrays[f"c{place}"])
        for place, (name, plan) in enumerate(columns)
    ]


def _finished(name: str, plan: Plan, array: Any) -> Reading:
    if isinstance(array, np.ma.MaskedArray):
        return plan.finish(name, array.data, np.ma.getmaskarray(array))
    return plan.finish(name, array, None)


def _long_integers(name: str, texts: Any, missing: Mask | None) -> Reading:
    gaps = np.zeros(len(texts), dtype=bool) if missing is None else missing
    whole = [0 if gap else int(text) for text, gap in zip(texts, gaps, strict=True)]
    return read_integers(name, np.array(whole, dtype=object), gaps)


as_array = partial(Plan, finish=read_array)
as_text = partial(Plan, finish=read_labels)
as_real = partial(Plan, finish=read_reals)
as_long_integer = partial(Plan, finish=_long_integers)


def as_moment(sql: str, form: Form) -> Plan:
    """Plan a date or a timestamp, which NumPy knows."""
    return Plan(sql, lambda name, array, gaps: read_moments(name, form, array, gaps))


def as_microseconds(sql: str, form: Form) -> Plan:
    """Plan a time of day or a duration, which the engine counts; its months have 30 days."""
    counted = f"epoch_us({sql})"
    return Plan(counted, lambda name, array, gaps: read_form(name, form, array, gaps))


_PLANS: dict[str, Callable[[str], Plan]] = {
    **dict.fromkeys(("boolean", "float", "double"), as_array),
    **dict.fromkeys(("tinyint", "smallint", "integer", "bigint"), as_array),
    **dict.fromkeys(("utinyint", "usmallint", "uinteger", "ubigint"), as_array),
    # too long for NumPy
    **dict.fromkeys(
        ("hugeint", "uhugeint", "bignum"), lambda sql: as_long_integer(f"CAST({sql} AS VARCHAR)")
    ),
    # through text: a direct cast divides by a power of ten and may miss the nearest number
    "decimal": lambda sql: as_real(f"CAST(CAST({sql} AS VARCHAR) AS DOUBLE)"),
    **dict.fromkeys(
        ("varchar", "uuid", "enum", "null"), lambda sql: as_text(f"CAST({sql} AS VARCHAR)")
    ),
    "date": lambda sql: as_moment(sql, "date"),
    **dict.fromkeys(
        ("timestamp", "timestamp_s", "timestamp_ms", "timestamp_ns"),
        lambda sql: as_moment(sql, "datetime"),
    ),
    **dict.fromkeys(
        ("timestamp with time zone", "timestamptz_ns"), lambda sql: as_moment(sql, "instant")
    ),
    **dict.fromkeys(("time", "time_ns"), lambda sql: as_microseconds(sql, "time")),
    # older Arrow marks every time of day in a Parquet file as UTC
    "time with time zone": lambda sql: as_microseconds(f"CAST({sql} AS TIME)", "time"),
    "interval": lambda sql: as_microseconds(sql, "duration"),
}
_UNUSABLE = {
    "list": "lists",
    "array": "lists",
    "struct": "records",
    "map": "records",
    "blob": "bytes",
    "bit": "bits",
}


def plan_of(sql: str, kind: str) -> Plan | str:
    """Plan a column by the engine's name of its type, or say what it holds that cannot be used."""
    if kind in _PLANS:
        return _PLANS[kind](sql)
    return _UNUSABLE.get(kind, f"values of type {kind}")
