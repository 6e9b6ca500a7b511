"""What a column of text holds: the types DuckDB finds in a CSV file, held to lose nothing.

A type is taken only if every known value of the column survives it; known is what is neither
empty nor one of the usual words for a missing value. Those words stay categories in a column of
text, where NA may be Namibia and - a blood group.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Literal

from outlying.sources import engine
from outlying.sources.text import ISO_PATTERNS

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

TABLE = "fields"
"""The table of all fields as text, c0, c1, ...; its row 0 may be the header."""

MISSING_WORDS = ("NA", "N/A", "NaN", "nan", "null", "NULL", "None", "#N/A", "?", "-")

# a pattern, not a list: the engine turns long lists into joins, one per column
_WORDS = engine.quoted("|".join(map(re.escape, ("", *MISSING_WORDS))))
_SPACES = ("", " ")
_INFINITIES = ("inf", "Inf", "INF", "infinity", "Infinity", "INFINITY")
UNTYPED_WORDS = (
    *(
        f"{left}{word}{right}"
        for word in ("", *MISSING_WORDS)
        for left in _SPACES
        for right in _SPACES
    ),
    *(f"{sign}{word}" for word in _INFINITIES for sign in ("", "-", "+")),
)
"""What must not decide on a type: missing values, and infinities, which DuckDB takes for text."""

_FIELDS_AT_ONCE = 200
_ISO_DAY = "%Y-%m-%d"


@dataclasses.dataclass(frozen=True, slots=True)
class Sniffed:
    """What DuckDB finds in a file."""

    has_header: bool
    types: list[str]
    formats: dict[str, str | None]
    """The notation of the types DATE and TIMESTAMP, one for all columns, if it is known."""


@dataclasses.dataclass(frozen=True, slots=True)
class Kind:
    """One way to read text: SQL that gives NULL for all it cannot read; {} stands for the text."""

    sql: str
    make: Callable[[str], engine.Plan]
    note: str | None = None

    def plan(self, field: str) -> engine.Plan:
        """Plan a field of this kind."""
        return self.make(self.sql.replace("{}", field))

    def loses(self, field: str) -> str:
        """Write the test whether a known value of a field cannot be read."""
        read = self.sql.replace("{}", field)
        known = f"{field} IS NOT NULL AND NOT {_is_word(field)}"
        return f"bool_or(CASE WHEN {read} IS NULL THEN {known} END)"


def _is_word(field: str) -> str:
    return f"regexp_full_match(trim({field}), {_WORDS})"


def _only(pattern: str, kind: str) -> str:
    """Cast what looks as it should: the casts also drop zones, round, and know words (epoch)."""
    matches = f"regexp_full_match(trim({{}}), {engine.quoted(pattern)})"
    return f"CASE WHEN {matches} THEN TRY_CAST(trim({{}}) AS {kind}) END"


def _iso(form: Literal["datetime", "instant"], kind: str) -> Kind:
    return Kind(_only(ISO_PATTERNS[form], kind), partial(engine.as_moment, form=form))


def _written(notation: str, form: Literal["date", "datetime"]) -> Kind:
    sql = f"try_strptime(trim({{}}), {engine.quoted(notation)})"
    note = None if notation == _ISO_DAY else f"dates read as {notation}"
    return Kind(sql, partial(engine.as_moment, form=form), note)


TEXT = Kind("{}", engine.as_text)
_WHOLE = "-?[0-9]+"
_REAL = Kind("nullif(TRY_CAST(trim({}) AS DOUBLE), 'NaN'::DOUBLE)", engine.as_real)
_LONG = (Kind(_only(_WHOLE, "VARCHAR"), engine.as_long_integer), _REAL)
_DAY = _written(_ISO_DAY, "date")
_KINDS = {
    # yes and no, T and F stay what they are: texts
    "BOOLEAN": (Kind(_only("(?i)true|false", "BOOLEAN"), engine.as_array),),
    "BIGINT": (Kind(_only(_WHOLE, "BIGINT"), engine.as_array), _REAL),
    **dict.fromkeys(("HUGEINT", "BIGNUM", "DOUBLE"), _LONG),
    "DOUBLE WITH COMMA": (
        Kind(
            "TRY_CAST(translate(trim({}), ',.', '.,') AS DOUBLE)",
            engine.as_real,
            "decimal commas read as decimal points",
        ),
    ),
    "DATE": (_DAY,),
    "TIMESTAMP": (_DAY, _iso("datetime", "TIMESTAMP")),
    "TIMESTAMP WITH TIME ZONE": (_iso("instant", "TIMESTAMPTZ"),),
    "TIME": (Kind(_only("[0-9:.]+", "TIME"), partial(engine.as_microseconds, form="time")),),
}
_FORMS: dict[str, Literal["date", "datetime"]] = {"DATE": "date", "TIMESTAMP": "datetime"}


def found_in(connected: DuckDBPyConnection, sniffed: Sniffed) -> list[Kind]:
    """Find the kind of every field: the first one for its type that loses no value."""
    choices = [
        (f"c{place}", kind)
        for place, name in enumerate(sniffed.types)
        for kind in _kinds_of(name, sniffed.formats.get(name))
    ]
    found: dict[str, Kind] = {}
    for start in range(0, len(choices), _FIELDS_AT_ONCE):
        batch = choices[start : start + _FIELDS_AT_ONCE]
        tests = ", ".join(kind.loses(field) for field, kind in batch)
        query = f"SELECT {tests} FROM {TABLE} WHERE rowid >= {int(sniffed.has_header)}"  # noqa: S608
        losses = connected.execute(query).fetchone() or ()
        for (field, kind), loss in zip(batch, losses, strict=True):
            if not loss:
                found.setdefault(field, kind)
    return [found.get(f"c{place}", TEXT) for place in range(len(sniffed.types))]


def _kinds_of(name: str, notation: str | None) -> tuple[Kind, ...]:
    known = _KINDS.get(name, ())
    return (*known, _written(notation, _FORMS[name])) if notation not in (None, _ISO_DAY) else known


def _long(names: list[str], rows: str) -> str:
    """Write a table of all values of some fields below each other: tables may be wide."""
    return (
        f"(UNPIVOT (SELECT {', '.join(names)} FROM {TABLE} WHERE {rows}) "  # noqa: S608
        "ON COLUMNS(*) INTO NAME field VALUE value)"
    )


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
