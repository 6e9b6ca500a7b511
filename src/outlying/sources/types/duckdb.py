"""What DuckDB's types become, and the SQL that gets them out: into memory or as Arrow batches.

Months of intervals have 30 days. In batches, dates and timestamps that are infinite, which the
engine knows, are missing values.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from outlying.sources.columns import Reading, read_form, read_integers, read_labels, read_reals
from outlying.sources.types.arrow_numpy import Streamed
from outlying.sources.types.numpy import read_array, read_moments
from outlying.table.columns import Mask
from outlying.table.values import Form

Finish: TypeAlias = Callable[[str, Any, Mask | None], Reading]


@dataclasses.dataclass(frozen=True, slots=True)
class Plan:
    """How a column is read into memory: the SQL that selects it, what makes it a column."""

    sql: str
    finish: Finish


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
    """Plan a time of day or a duration, which the engine counts."""
    counted = f"epoch_us({sql})"
    return Plan(counted, lambda name, array, gaps: read_form(name, form, array, gaps))


@dataclasses.dataclass(frozen=True, slots=True)
class _Type:
    """A usable type: its form, the plan for SQL in memory, SQL for either; {} is the column."""

    form: Form
    plan: Callable[[str], Plan]
    sql: str = "{}"
    streamed: str | None = None
    """Where batches need other SQL."""
    may_overflow: bool = False


_FINITE = "CASE WHEN isfinite({}) THEN {} END"
_AS_TIME = "CAST({} AS TIME)"


def _moment(form: Form, streamed: str = _FINITE) -> _Type:
    return _Type(form, partial(as_moment, form=form), streamed=streamed)


def _counted(form: Form, sql: str = "{}", streamed: str | None = None) -> _Type:
    return _Type(form, partial(as_microseconds, form=form), sql, streamed)


_TYPES: dict[str, _Type] = {
    "boolean": _Type("boolean", as_array),
    **dict.fromkeys(("tinyint", "smallint", "integer", "bigint"), _Type("integer", as_array)),
    **dict.fromkeys(("utinyint", "usmallint", "uinteger", "ubigint"), _Type("integer", as_array)),
    # too long for NumPy, and for Arrow
    **dict.fromkeys(
        ("hugeint", "uhugeint", "bignum"),
        _Type(
            "integer",
            as_long_integer,
            "CAST({} AS VARCHAR)",
            "CAST({} AS BIGINT)",
            may_overflow=True,
        ),
    ),
    **dict.fromkeys(("float", "double"), _Type("number", as_array)),
    # through text: a direct cast divides by a power of ten and may miss the nearest number
    "decimal": _Type("number", as_real, "CAST(CAST({} AS VARCHAR) AS DOUBLE)"),
    **dict.fromkeys(
        ("varchar", "uuid", "enum", "json", "null"), _Type("text", as_text, "CAST({} AS VARCHAR)")
    ),
    "date": _moment("date"),
    **dict.fromkeys(
        ("timestamp", "timestamp_s", "timestamp_ms", "timestamp_ns"), _moment("datetime")
    ),
    "timestamp with time zone": _moment("instant"),
    "timestamptz_ns": _moment("instant", "CAST({} AS TIMESTAMPTZ)"),
    "time": _counted("time"),
    "time_ns": _counted("time", streamed=_AS_TIME),
    # older Arrow marks every time of day in a Parquet file as UTC
    "time with time zone": _counted("time", _AS_TIME),
    "interval": _counted("duration", streamed="epoch_us({})"),
}
_UNUSABLE = {
    "list": "lists",
    "array": "lists",
    "struct": "records",
    "map": "records",
    "blob": "bytes",
    "bit": "bits",
}
_VALUES: dict[Form, str] = {
    "boolean": "booleans",
    "integer": "numbers",
    "number": "numbers",
    "text": "texts",
    "date": "dates",
    "datetime": "timestamps",
    "instant": "timestamps with a zone",
    "time": "times of day",
    "duration": "durations",
}


def in_memory(sql: str, kind: str) -> Plan | str:
    """Plan a column by the engine's name of its type, or say what it holds that cannot be used."""
    if kind not in _TYPES:
        return _unusable(kind)
    known = _TYPES[kind]
    return known.plan(known.sql.replace("{}", sql))


def in_batches(sql: str, kind: str) -> Streamed | str:
    """Plan a column of Arrow batches, or say what it holds that cannot be used."""
    if kind not in _TYPES:
        return _unusable(kind)
    known = _TYPES[kind]
    written = (known.streamed or known.sql).replace("{}", sql)
    return Streamed(written, known.form, known.may_overflow)


def values_of(kind: str) -> str:
    """Say what a column of this type holds: columns that are put together must hold the same."""
    return _VALUES[_TYPES[kind].form] if kind in _TYPES else _unusable(kind)


def _unusable(kind: str) -> str:
    return _UNUSABLE.get(kind, f"values of type {kind}")
