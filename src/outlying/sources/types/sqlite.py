"""What SQLite's values become: columns have no type that binds, so all values are counted.

As in CSV files, texts that are all dates or timestamps by ISO 8601 are read as such. Whole numbers
in a column that was declared as boolean are read as true and false.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from outlying.sources.local import Field
from outlying.sources.sql import identifier

if TYPE_CHECKING:
    import pyarrow

_DAY = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]"
_MINUTE = "[0-9][0-9]:[0-9][0-9]"
_IS_TEXT = "typeof({}) = 'text'"
_IS_DAY = f"{{}} GLOB '{_DAY}' AND date({{}}) = {{}}"
_WITHOUT_ZONE = (
    "CASE WHEN {} GLOB '*Z' THEN substr({}, 1, length({}) - 1) "
    f"WHEN {{}} GLOB '*[+-]{_MINUTE}' THEN substr({{}}, 1, length({{}}) - 6) ELSE {{}} END"
)
_IS_MOMENT = (
    f"({{}} GLOB '{_DAY}[ T]{_MINUTE}' OR {{}} GLOB '{_DAY}[ T]{_MINUTE}:[0-9][0-9]' "
    f"OR ({{}} GLOB '{_DAY}[ T]{_MINUTE}:[0-9][0-9].[0-9]*' AND length({{}}) <= 26 "
    "AND trim(substr({}, 21), '0123456789') = '')) "
    "AND strftime('%Y-%m-%d %H:%M', {}) = replace(substr({}, 1, 16), 'T', ' ')"
)
_HAS_ZONE = f"({{}} GLOB '*Z' OR {{}} GLOB '*:*[+-]{_MINUTE}')"


@dataclasses.dataclass(frozen=True, slots=True)
class Census:
    """How many values of a column are of which kind."""

    integers: int
    reals: int
    texts: int
    blobs: int
    days: int
    moments: int
    instants: int
    flags: int
    """Whole numbers that are 0 or 1."""


_TESTS = {
    "integers": "typeof({}) = 'integer'",
    "reals": "typeof({}) = 'real'",
    "texts": _IS_TEXT,
    "blobs": "typeof({}) = 'blob'",
    "days": f"{_IS_TEXT} AND {_IS_DAY}",
    "moments": f"{_IS_TEXT} AND {_IS_MOMENT}",
    "instants": f"{_IS_TEXT} AND {_HAS_ZONE} AND {_IS_MOMENT.replace('{}', f'({_WITHOUT_ZONE})')}",
    "flags": "typeof({}) = 'integer' AND {} IN (0, 1)",
}


def counts(column: str) -> list[str]:
    """Write the counts of a census in its order."""
    tests = [_TESTS[field.name].replace("{}", column) for field in dataclasses.fields(Census)]
    return [f"coalesce(sum({test}), 0)" for test in tests]


def in_batches(name: str, census: Census, *, is_flag: bool) -> Field | str:
    """Plan a column by what it holds, or say what that is if it cannot be used."""
    import pyarrow

    if census.blobs:
        return "bytes"
    column = f"t.{identifier(name)}"
    if census.texts or not (census.integers or census.reals):
        return Field(name, f"CAST({column} AS TEXT)", pyarrow.string(), _type_of_texts(census))
    if census.reals:
        # no cast of what else may come later: that has to be an error, not 0.0
        sql = f"CASE typeof({column}) WHEN 'integer' THEN CAST({column} AS REAL) ELSE {column} END"
        return Field(name, sql, pyarrow.float64(), pyarrow.float64())
    flags = is_flag and census.flags == census.integers
    return Field(name, column, pyarrow.int64(), pyarrow.bool_() if flags else pyarrow.int64())


def _type_of_texts(census: Census) -> pyarrow.DataType:
    import pyarrow

    kinds = (
        (census.days, pyarrow.date32()),
        (census.moments, pyarrow.timestamp("us")),
        (census.instants, pyarrow.timestamp("us", "UTC")),
    )
    if not census.texts or census.integers or census.reals:
        return pyarrow.string()
    return next((kind for count, kind in kinds if count == census.texts), pyarrow.string())


def example(kind: pyarrow.DataType) -> str:
    """Write a value that shows the driver which type will come."""
    import pyarrow

    return {pyarrow.int64(): "0", pyarrow.float64(): "0.5"}.get(kind, "''")
