"""What Spark's types become: an expression that selects each, and the Arrow type it arrives as."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow


@dataclasses.dataclass(frozen=True, slots=True)
class Plan:
    """A column that can be used: SQL with {c} for its name, and the Arrow type it gets."""

    sql: str
    type: pyarrow.DataType


# counted by the engine: the Arrow writer of Spark 3.5 fails on intervals
_MICROSECONDS = " + ".join(
    f"CAST(extract({part} FROM CAST({{c}} AS INTERVAL DAY TO SECOND)) * {unit}L AS BIGINT)"
    for part, unit in (
        ("DAY", 86_400_000_000),
        ("HOUR", 3_600_000_000),
        ("MINUTE", 60_000_000),
        ("SECOND", 1_000_000),
    )
)
#: Spark's name of a type, the expression that selects it, and Arrow's name of what arrives.
_PLANS = {
    "byte": ("{c}", "int8"),
    "short": ("{c}", "int16"),
    "integer": ("{c}", "int32"),
    "long": ("{c}", "int64"),
    "float": ("{c}", "float32"),
    "double": ("{c}", "float64"),
    # through text, which gives the nearest number
    "decimal": ("CAST(CAST({c} AS STRING) AS DOUBLE)", "float64"),
    "boolean": ("{c}", "bool_"),
    "string": ("{c}", "string"),
    "char": ("CAST({c} AS STRING)", "string"),
    "varchar": ("CAST({c} AS STRING)", "string"),
    "void": ("CAST({c} AS STRING)", "string"),
    "date": ("{c}", "date32"),
    "daytimeinterval": (_MICROSECONDS, "duration"),
    "time": ("{c}", "time64"),
    "timestamp": ("{c}", "timestamp"),
    "timestamp_ntz": ("{c}", "timestamp"),
}
_UNUSABLE = {
    "binary": "bytes",
    "array": "lists",
    "struct": "records",
    "map": "records",
    "variant": "records",
    "yearmonthinterval": "durations in months or years",
    "interval": "durations in months or years",
}


def plan_of(kind: Any) -> Plan | str:
    """Plan a column by its Spark type, or say what it holds that cannot be used."""
    name = kind.typeName()
    if name not in _PLANS:
        return _UNUSABLE.get(name, f"values of type {kind.simpleString()}")
    sql, arrow = _PLANS[name]
    return Plan(sql, _arrow_type(arrow, name))


def _arrow_type(arrow: str, name: str) -> pyarrow.DataType:
    """Make an Arrow type; instants are in UTC, whatever zone the session shows them in."""
    import pyarrow

    make = getattr(pyarrow, arrow)
    if name == "timestamp":
        return make("us", tz="UTC")
    return make("us") if arrow in ("duration", "time64", "timestamp") else make()
