"""What a column of text holds: the types of CSV, decided on all values.

Every kind is a test in SQL. A column is of the first kind that all its known values pass; known
is what is neither empty nor one of the usual words for a missing value. Those words stay
categories in a column of text, where NA may be Namibia and - a blood group.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from outlying.sources import engine
from outlying.sources.text import ISO_PATTERNS

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

TABLE = "fields"
"""The table of all fields as text, c0, c1, ...; its row 0 may be the header."""

MISSING_WORDS = ("NA", "N/A", "NaN", "nan", "null", "NULL", "None", "#N/A", "?", "-")

# a pattern, not a list: the engine turns long lists into joins, one per column
_WORDS = engine.quoted("|".join(map(re.escape, ("", *MISSING_WORDS))))
_ROWS_OF_FIRST_LOOK = 100
_FIELDS_AT_ONCE = 200


@dataclasses.dataclass(frozen=True, slots=True)
class Kind:
    """One way to read text: a test that every known value passes, and the plan of the column.

    In the test, {} stands for the text without spaces around it.
    """

    test: str
    convert: Callable[[str], engine.Plan]
    is_text: bool = False
    note: str | None = None
    delimiter: str | None = None
    """Consider this kind only in files with this delimiter."""

    def plan(self, field: str) -> engine.Plan:
        """Plan a field of this kind; only text keeps the words for missing values."""
        known = field if self.is_text else f"CASE WHEN {_known(field)} THEN trim({field}) END"
        return self.convert(known)

    def passes(self, field: str) -> str:
        """Write the test for one field."""
        return self.test.replace("{}", f"trim({field})")


def _known(field: str) -> str:
    return f"({field} IS NOT NULL AND NOT {_is_word(field)})"


def _is_word(field: str) -> str:
    return f"regexp_full_match(trim({field}), {_WORDS})"


def _matches(pattern: str) -> str:
    return f"regexp_full_match({{}}, {engine.quoted(pattern)})"


def _castable(pattern: str, kind: str) -> str:
    return f"{_matches(pattern)} AND TRY_CAST({{}} AS {kind}) IS NOT NULL"


def _parsable(pattern: str, date_format: str) -> str:
    return f"{_matches(pattern)} AND try_strptime({{}}, '{date_format}') IS NOT NULL"


def _date_by(date_format: str) -> Callable[[str], engine.Plan]:
    return lambda sql: engine.as_moment(f"strptime({sql}, '{date_format}')", "date")


# A number with a leading zero is a code (a postcode, say), which would lose it as a number.
_WHOLE = r"[+-]?(?:0|[1-9][0-9]*)"
_REAL = (
    r"[+-]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
    r"|[+-]?(?i:inf|infinity)"
)
_SLASHES = r"\d{1,2}/\d{1,2}/\d{4}"

TEXT = Kind("true", engine.as_text, is_text=True)
KINDS = (
    Kind("lower({}) IN ('true', 'false')", lambda sql: engine.as_array(f"lower({sql}) = 'true'")),
    Kind(_castable(_WHOLE, "BIGINT"), lambda sql: engine.as_array(f"CAST({sql} AS BIGINT)")),
    Kind(_matches(_WHOLE), engine.as_long_integer),
    Kind(_matches(_REAL), lambda sql: engine.as_real(f"CAST({sql} AS DOUBLE)")),
    Kind(
        _matches(rf"{_WHOLE}(?:,[0-9]+)?"),
        lambda sql: engine.as_real(f"CAST(replace({sql}, ',', '.') AS DOUBLE)"),
        note="decimal commas read as decimal points",
        delimiter=";",
    ),
    Kind(
        _castable(ISO_PATTERNS["date"], "DATE"),
        lambda sql: engine.as_moment(f"CAST({sql} AS DATE)", "date"),
    ),
    Kind(
        _castable(ISO_PATTERNS["datetime"], "TIMESTAMP"),
        lambda sql: engine.as_moment(f"CAST({sql} AS TIMESTAMP)", "datetime"),
    ),
    Kind(
        _castable(ISO_PATTERNS["instant"], "TIMESTAMPTZ"),
        lambda sql: engine.as_moment(f"CAST({sql} AS TIMESTAMPTZ)", "instant"),
    ),
    Kind(
        _castable(ISO_PATTERNS["time"], "TIME"),
        lambda sql: engine.as_microseconds(f"CAST({sql} AS TIME)", "time"),
    ),
    Kind(_parsable(r"\d{4}/\d{1,2}/\d{1,2}", "%Y/%m/%d"), _date_by("%Y/%m/%d")),
    Kind(_parsable(r"\d{1,2}\.\d{1,2}\.\d{4}", "%d.%m.%Y"), _date_by("%d.%m.%Y")),
    Kind(
        _parsable(_SLASHES, "%d/%m/%Y") + " AND " + _parsable(_SLASHES, "%m/%d/%Y"),
        engine.as_text,
        is_text=True,
        note="dates in which day and month cannot be told apart, read as categories; "
        "write them as 2024-05-17",
    ),
    Kind(_parsable(_SLASHES, "%d/%m/%Y"), _date_by("%d/%m/%Y")),
    Kind(_parsable(_SLASHES, "%m/%d/%Y"), _date_by("%m/%d/%Y")),
)


def found_in(connected: DuckDBPyConnection, fields: int, delimiter: str) -> list[Kind]:
    """Find the kind of every field: a first look at the upper rows, then a check on all rows."""
    names = [f"c{place}" for place in range(fields)]
    considered = [kind for kind in KINDS if kind.delimiter in (None, delimiter)]
    left = _after_first_look(connected, names, considered)
    unsure = [name for name in names if left[name][0] is not TEXT]
    while unsure:
        failed = _failed(connected, {name: left[name][0] for name in unsure})
        for name in failed:
            left[name].pop(0)
        unsure = [name for name in failed if left[name][0] is not TEXT]
    return [left[name][0] for name in names]


def _after_first_look(
    connected: DuckDBPyConnection, names: list[str], kinds: list[Kind]
) -> dict[str, list[Kind]]:
    """Leave out what the upper rows exclude already: to test all kinds on all rows is slow."""
    tests = ", ".join(f"bool_and({kind.passes('value')})" for kind in kinds)
    rows = _long(names, f"rowid BETWEEN 1 AND {_ROWS_OF_FIRST_LOOK}")
    outcome = connected.execute(
        f"SELECT field, {tests} FROM {rows} WHERE {_known('value')} GROUP BY field"  # noqa: S608
    ).fetchall()
    left = {name: [*kinds, TEXT] for name in names}
    for name, *passed in outcome:
        left[name] = [kind for kind, fits in zip(kinds, passed, strict=True) if fits] + [TEXT]
    return left


def _long(names: list[str], rows: str) -> str:
    """Write a table of all values of some fields below each other: tables may be wide."""
    return (
        f"(UNPIVOT (SELECT {', '.join(names)} FROM {TABLE} WHERE {rows}) "  # noqa: S608
        "ON COLUMNS(*) INTO NAME field VALUE value)"
    )


def _failed(connected: DuckDBPyConnection, tests: dict[str, Kind]) -> list[str]:
    """List the fields that have values of another kind, or no known value at all."""
    names = list(tests)
    failed = []
    for start in range(0, len(names), _FIELDS_AT_ONCE):
        batch = names[start : start + _FIELDS_AT_ONCE]
        outcomes = ", ".join(
            f"bool_and({tests[name].passes(name)}) FILTER (WHERE {_known(name)})" for name in batch
        )
        query = f"SELECT {outcomes} FROM {TABLE} WHERE rowid > 0"  # noqa: S608
        passed = connected.execute(query).fetchone() or ()
        failed += [name for name, fits in zip(batch, passed, strict=True) if not fits]
    return failed


def has_header(connected: DuckDBPyConnection, kinds: list[Kind]) -> bool:
    """Tell whether the first line names the columns.

    It does not if each of its fields could be a value of its column and some column is more than
    text. Where all columns are text nothing can tell; then it does, as in most files.
    """
    strange = [
        f"({_known(f'c{place}')} AND NOT ({kind.passes(f'c{place}')}))"
        for place, kind in enumerate(kinds)
        if not kind.is_text
    ]
    if not strange:
        return True
    query = f"SELECT {' OR '.join(strange)} FROM {TABLE} WHERE rowid = 0"  # noqa: S608
    return connected.execute(query).fetchone() == (True,)


def missing_words_in(
    connected: DuckDBPyConnection, names: list[str], *, first_row: int
) -> dict[str, str]:
    """Say for each field which words were taken for missing values, and how often."""
    if not names:
        return {}
    counts = connected.execute(
        f"SELECT field, trim(value) AS word, count(*) FROM {_long(names, f'rowid >= {first_row}')} "  # noqa: S608
        f"WHERE {_is_word('value')} GROUP BY field, word ORDER BY word"
    ).fetchall()
    said: dict[str, list[str]] = {}
    for name, word, rows in counts:
        times = f"({rows} row{'s' if rows > 1 else ''})"
        said.setdefault(name, []).append(f"{repr(word) if word else 'blank'} {times}")
    return {name: ", ".join(words) + " read as missing" for name, words in said.items()}
