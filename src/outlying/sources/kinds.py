"""What a column of text holds: the types of CSV, decided on all values.

Every kind is a test in SQL. A column is of the first kind that all its known values pass; known
is what is neither empty nor one of the usual words for a missing value. Those words stay
categories in a column of text, where NA may be Namibia and - a blood group.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING

from outlying.sources import engine
from outlying.sources.text import ISO_PATTERNS

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

TABLE = "fields"
"""The table of all fields as text, c0, c1, ...; its row 0 may be the header."""

MISSING_WORDS = ("NA", "N/A", "NaN", "nan", "null", "NULL", "None", "#N/A", "?", "-")

_WORDS = ", ".join(engine.quoted(word) for word in ("", *MISSING_WORDS))
_ROWS_OF_FIRST_LOOK = 1000


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
    return f"({field} IS NOT NULL AND trim({field}) NOT IN ({_WORDS}))"


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
    considered = [kind for kind in KINDS if kind.delimiter in (None, delimiter)]
    left = [_first_look(connected, f"c{place}", considered) for place in range(fields)]
    unsure = list(range(fields))
    while unsure := [place for place in unsure if left[place][0] is not TEXT]:
        tests = {place: left[place][0].passes(f"c{place}") for place in unsure}
        passed = _passed(connected, tests)
        unsure = [place for place in unsure if not passed[place]]
        for place in unsure:
            left[place].pop(0)
    return [kinds[0] for kinds in left]


def _first_look(connected: DuckDBPyConnection, field: str, kinds: list[Kind]) -> list[Kind]:
    """Leave out what the upper rows exclude already: to test all kinds on all rows is slow."""
    tests = ", ".join(
        f"coalesce(bool_and({kind.passes(field)}) FILTER (WHERE {_known(field)}), true)"
        for kind in kinds
    )
    rows = f"(FROM {TABLE} WHERE rowid BETWEEN 1 AND {_ROWS_OF_FIRST_LOOK})"
    outcome = connected.execute(f"SELECT {tests} FROM {rows}").fetchone() or ()  # noqa: S608
    return [*(kind for kind, passed in zip(kinds, outcome, strict=True) if passed), TEXT]


def _passed(connected: DuckDBPyConnection, tests: dict[int, str]) -> dict[int, bool]:
    """Test fields on all rows; a field without any known value passes none."""
    outcomes = ", ".join(
        f"coalesce(bool_and({test}) FILTER (WHERE {_known(f'c{place}')}), false)"
        for place, test in tests.items()
    )
    query = f"SELECT {outcomes} FROM {TABLE} WHERE rowid > 0"  # noqa: S608
    return dict(zip(tests, connected.execute(query).fetchone() or (), strict=True))


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


def missing_words_in(connected: DuckDBPyConnection, field: str, *, first_row: int) -> str | None:
    """Say which words were taken for missing values, and how often."""
    words = connected.execute(
        f"SELECT trim({field}), count(*) FROM {TABLE} "  # noqa: S608
        f"WHERE rowid >= {first_row} AND trim({field}) IN ({_WORDS}) GROUP BY ALL ORDER BY ALL"
    ).fetchall()
    counts = ", ".join(
        f"{repr(word) if word else 'blank'} ({rows} row{'s' if rows > 1 else ''})"
        for word, rows in words
    )
    return f"{counts} read as missing" if counts else None
