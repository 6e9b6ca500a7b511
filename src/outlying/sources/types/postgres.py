"""What PostgreSQL's types become, and the SQL that lets them arrive unharmed.

The driver brings infinite dates as dates of some year, money as cents, and most types that are
none of Arrow's as bytes. So the database casts what is not plain: numeric to the nearest double,
enumerations and the like to text. Infinite dates are missing values. Months of intervals have 30
days, years 12 months.
"""

from __future__ import annotations

from outlying.sources.arrow_arrays import Streamed
from outlying.table.values import Form

_PLAIN, _AS_TEXT = "{}", "{}::text"
_FINITE = "CASE WHEN isfinite({}) THEN {} END"
_TYPES: dict[str, tuple[Form, str]] = {
    "bool": ("boolean", _PLAIN),
    **dict.fromkeys(("int2", "int4", "int8"), ("integer", _PLAIN)),
    "oid": ("integer", "{}::int8"),
    **dict.fromkeys(("float4", "float8"), ("number", _PLAIN)),
    "numeric": ("number", "{}::float8"),
    "money": ("number", "{}::numeric::float8"),
    **dict.fromkeys(("text", "varchar", "bpchar", "name", "char", "uuid"), ("text", _AS_TEXT)),
    **dict.fromkeys(("json", "jsonb", "xml", "citext", "macaddr", "macaddr8"), ("text", _AS_TEXT)),
    "date": ("date", _FINITE),
    "timestamp": ("datetime", _FINITE),
    "timestamptz": ("instant", _FINITE),
    "time": ("time", _PLAIN),
    "timetz": ("time", "{}::time"),
    # a year of 365.25 days by the database, of 360 by everybody else here
    "interval": (
        "duration",
        "round((extract(epoch FROM {}) - 453600 * extract(year FROM {})) * 1e6)::int8",
    ),
}
_TEXTS = ("S", "E", "I")  # categories of types: strings, enumerations, network addresses
_UNUSABLE = {"A": "lists", "C": "records", "V": "bits"}


def in_batches(column: str, kind: str, category: str) -> Streamed | str:
    """Plan a column by the name and the category of its type, or say what it holds."""
    if kind not in _TYPES and category not in _TEXTS:
        what = "bytes" if kind == "bytea" else f"values of type {kind}"
        return _UNUSABLE.get(category, what)
    form, sql = _TYPES.get(kind, ("text", _AS_TEXT))
    return Streamed(sql.replace("{}", column), form)
