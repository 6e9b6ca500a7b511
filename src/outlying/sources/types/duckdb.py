"""What DuckDB's types become, and the SQL that gets them out as Arrow batches.

Months of intervals have 30 days. Dates and timestamps that are infinite, which the engine knows,
are missing values.
"""

from __future__ import annotations

from outlying.sources.arrow_arrays import Streamed
from outlying.table.values import Form

_FINITE = "CASE WHEN isfinite({}) THEN {} END"
_AS_TIME = "CAST({} AS TIME)"
_AS_TEXT = "CAST({} AS VARCHAR)"
#: The form of a type, and the SQL that selects it; {} is the column.
_TYPES: dict[str, tuple[Form, str]] = {
    "boolean": ("boolean", "{}"),
    **dict.fromkeys(("tinyint", "smallint", "integer", "bigint"), ("integer", "{}")),
    **dict.fromkeys(("utinyint", "usmallint", "uinteger", "ubigint"), ("integer", "{}")),
    # too long for Arrow, which makes decimals of them
    **dict.fromkeys(("hugeint", "uhugeint", "bignum"), ("integer", "CAST({} AS BIGINT)")),
    **dict.fromkeys(("float", "double"), ("number", "{}")),
    # through text: a direct cast divides by a power of ten and may miss the nearest number
    "decimal": ("number", "CAST(CAST({} AS VARCHAR) AS DOUBLE)"),
    **dict.fromkeys(("varchar", "uuid", "enum", "json", "null"), ("text", _AS_TEXT)),
    "date": ("date", _FINITE),
    **dict.fromkeys(
        ("timestamp", "timestamp_s", "timestamp_ms", "timestamp_ns"), ("datetime", _FINITE)
    ),
    "timestamp with time zone": ("instant", _FINITE),
    "timestamptz_ns": ("instant", "CAST({} AS TIMESTAMPTZ)"),
    "time": ("time", "{}"),
    "time_ns": ("time", _AS_TIME),
    "time with time zone": ("time", _AS_TIME),
    "interval": ("duration", "epoch_us({})"),
}
_LONG = ("hugeint", "uhugeint", "bignum")
_UNUSABLE = {
    "list": "lists",
    "array": "lists",
    "struct": "records",
    "map": "records",
    "blob": "bytes",
    "bit": "bits",
}


def in_batches(sql: str, kind: str) -> Streamed | str:
    """Plan a column of Arrow batches, or say what it holds that cannot be used."""
    if kind not in _TYPES:
        return _UNUSABLE.get(kind, f"values of type {kind}")
    form, select = _TYPES[kind]
    return Streamed(select.replace("{}", sql), form, kind in _LONG)
