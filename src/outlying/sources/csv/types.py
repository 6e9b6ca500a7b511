"""What a column of text holds: the types DuckDB finds in a CSV file, held to lose nothing.

A type is taken only if every known value of the column survives it; known is what is neither
empty nor one of the usual words for a missing value. Those words stay categories in a column of
text, where NA may be Namibia and - a blood group. Numbers and dates that are written for people
are texts here: whatever source they come from, `table.written` reads them.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from outlying.sources.sql import literal
from outlying.sources.types import duckdb as plans
from outlying.sources.types.text import ISO_PATTERNS
from outlying.table.values import LARGEST_EXACT_INTEGER, MISSING_WORDS, Form, are_keys
from outlying.table.written.decision import POINTS_IN_DOUBT, gaps_note

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

BLOCK = 200
"""Fields in one table: the engine's time for a query grows faster than its columns."""
COMMAS = "DOUBLE WITH COMMAS"
WORDS = ("", *MISSING_WORDS)
UNTYPED_WORDS = (
    *(f"{a}{word}{z}" for word in WORDS for a in ("", " ") for z in ("", " ")),
    *("inf", "-inf", "Inf", "-Inf", "Infinity", "-Infinity"),
)
"""What must not decide on a type: missing values, and infinities, which DuckDB takes for text."""

TESTS_AT_ONCE = 200
_FIRST_ROWS = 1_000  # that tell most numbers from marks of thousands
_CODE = "^ *[+]|^ *0[0-9]|_"
"""What DuckDB's sniffer takes for text although a cast reads it: +5, 007, 1_000."""


@dataclasses.dataclass(frozen=True, slots=True)
class Sniffed:
    """What DuckDB finds in a file: header and types."""

    has_header: bool
    types: list[str]


@dataclasses.dataclass(frozen=True, slots=True)
class Kind:
    """One way to read text: SQL that is NULL for all it cannot read; {} stands for the text."""

    sql: str
    make: Callable[[str], plans.Plan]
    note: str | None = None
    bare: str | None = None
    """Faster SQL, for texts that are all known to be read by `sql` or missing."""
    point: str = ""
    """What divides off decimals."""

    def plan(self, field: str) -> plans.Plan:
        """Plan a field of this kind."""
        return self.make(self.sql.replace("{}", field))

    def with_note(self, note: str) -> Kind:
        """Add a note to the one there may be."""
        return dataclasses.replace(self, note="; ".join(filter(None, (self.note, note))))


def _matches(pattern: str) -> str:
    return f"regexp_full_match({{}}, {literal(f' *(?:{pattern}) *')})"


def _cast(pattern: str, kind: str, make: Callable[[str], plans.Plan]) -> Kind:
    """Cast only what looks as it should: casts also round, drop zones, and know words (epoch)."""
    bare = f"TRY_CAST({{}} AS {kind})"
    return Kind(f"CASE WHEN {_matches(pattern)} THEN {bare} END", make, bare=bare)


def _iso(form: Form, kind: str) -> Kind:
    return _cast(ISO_PATTERNS[form], kind, partial(plans.as_moment, form=form))


# a pattern, not a list: the engine turns long lists into joins
_IS_WORD = _matches("|".join(map(re.escape, WORDS)))
_WHOLE = "-?[0-9]+"
_UNCODED = "-?[1-9][0-9]*|0|-0[0-9]*"  # what is whole and no code
_CLOCK = "(?:[01]?[0-9]|2[0-3]):[0-9:.]+"  # without zones and 24:00
_REAL = Kind("nullif(TRY_CAST({} AS DOUBLE), 'NaN'::DOUBLE)", plans.as_real, point=".")
_LONG = dataclasses.replace(_cast(_WHOLE, "VARCHAR", plans.as_long_integer), bare=None)
_SWAPPED = "TRY_CAST(translate({}, ',.', '.,') AS DOUBLE)"
TEXT = Kind("{}", plans.as_text)
_UNDOTTED = "TRY_CAST(replace({}, '.', '') AS BIGINT)"
THOUSANDS = Kind(
    f"CASE WHEN {_matches('-?(?:0|[1-9][0-9]{0,2}(?:[.][0-9]{3})?)')} THEN {_UNDOTTED} END",
    plans.as_array,
    "points read as marks of thousands, as there are decimal commas in other columns",
    _UNDOTTED,
)
_KINDS = {
    # yes and no, T and F stay what they are: texts
    "BOOLEAN": (_cast("(?i)true|false", "BOOLEAN", plans.as_array),),
    "BIGINT": (_cast(_WHOLE, "BIGINT", plans.as_array), _REAL),
    # the older engine takes whole numbers beyond BIGINT for DOUBLE
    **dict.fromkeys(("HUGEINT", "BIGNUM", "DOUBLE"), (_LONG, _REAL)),
    COMMAS: (Kind(_SWAPPED, plans.as_real, "decimal commas read as decimal points", point=","),),
    **dict.fromkeys(("DATE", "TIMESTAMP"), (_iso("date", "DATE"), _iso("datetime", "TIMESTAMP"))),
    "TIMESTAMP WITH TIME ZONE": (_iso("instant", "TIMESTAMPTZ"),),
    "TIME": (_cast(_CLOCK, "TIME", partial(plans.as_microseconds, form="time")),),
}


def table_at(place: int) -> str:
    """Name the table of a field as text, c0, c1, ...; its row 0 may be the header."""
    return f"fields_{place // BLOCK}"


def blocks(fields: int) -> list[range]:
    """Divide the places of fields by the table that they are in."""
    return [range(start, min(start + BLOCK, fields)) for start in range(0, fields, BLOCK)]


def cells(places: Sequence[int], rows: str) -> str:
    """Write fields of one table one below the other: `cell` and its `place`.

    Patterns are then compiled once, not once for each field.
    """
    fields, numbers = ", ".join(f"c{place}" for place in places), ", ".join(map(str, places))
    return f"(SELECT unnest([{fields}]) AS cell, unnest([{numbers}]) AS place FROM {rows})"  # noqa: S608


def kinds_of(connected: DuckDBPyConnection, sniffed: Sniffed) -> list[Kind]:
    """Find the kind of every field: the first one for its type that loses no value."""
    found = [TEXT] * len(sniffed.types)
    for block in blocks(len(found)):
        rows = f"{table_at(block[0])} WHERE rowid >= {int(sniffed.has_header)}"
        for name in dict.fromkeys(sniffed.types[place] for place in block):
            kinds = _KINDS.get(name, ())
            if not kinds:
                continue
            places = [place for place in block if sniffed.types[place] == name]
            tests = ", ".join(f"bool_or({loss(kind, 'cell')})" for kind in kinds)
            query = f"SELECT place, {tests} FROM {cells(places, rows)} GROUP BY place"  # noqa: S608
            for place, *losses in connected.execute(query).fetchall():
                fits = (kind for kind, loses in zip(kinds, losses, strict=True) if not loses)
                found[place] = next(fits, TEXT)
    in_doubt = []
    for block in blocks(len(found)):
        rows = f"{table_at(block[0])} WHERE rowid >= {int(sniffed.has_header)}"
        places = with_points({place: found[place] for place in block})
        for some in (f"(FROM {rows} LIMIT {_FIRST_ROWS})", rows):
            lost = _lost_as_thousands(connected, places, some)
            places = [place for place in places if not lost[place]]
        in_doubt += [place for place in places if lost[place] is False]
    return list(settled(dict(enumerate(found)), in_doubt).values())


def _lost_as_thousands(
    connected: DuckDBPyConnection, places: Sequence[int], rows: str
) -> dict[int, bool | None]:
    """Return of fields of one table whether some point marks no thousands; None: no value."""
    if not places:
        return {}
    test = f"bool_or({loss(THOUSANDS, 'cell')})"
    query = f"SELECT place, {test} FROM {cells(places, rows)} GROUP BY place"  # noqa: S608
    return dict(connected.execute(query).fetchall())


def with_points(found: Mapping[int, Kind]) -> list[int]:
    """Return the fields whose points divide off decimals, or thousands."""
    return [place for place, kind in found.items() if kind.point == "."]


def settled(found: Mapping[int, Kind], in_doubt: Collection[int]) -> dict[int, Kind]:
    """Decide on points that are followed by three digits each: decimals, or thousands.

    Nobody writes both points and commas for decimals: beside these, 3.335 is a large number.
    """
    has_commas = any(kind.point == "," for kind in found.values())
    decided = {
        place: THOUSANDS if has_commas else found[place].with_note(POINTS_IN_DOUBT)
        for place in in_doubt
    }
    return {**found, **decided}


def every_kind(*, commas: bool) -> list[Kind]:
    """Return all kinds but text, those first that are to be taken where several lose no value.

    Numbers are only what it takes for numbers: codes such as 007 stay text.
    """
    long = _cast(_UNCODED, "VARCHAR", plans.as_long_integer)
    long = dataclasses.replace(long, bare=f"trim({long.sql})")
    reals = [_uncoded(kind) for kind in (_REAL, *(_KINDS[COMMAS] if commas else ()))]
    times = ("TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "TIME")
    known = [*_KINDS["BOOLEAN"], long, *reals, *(kind for name in times for kind in _KINDS[name])]
    return [_cast(_UNCODED, "BIGINT", plans.as_array), *known]


def _uncoded(kind: Kind) -> Kind:
    """Read numbers, but not where one is written as codes are."""
    sql = f"CASE WHEN NOT regexp_matches({{}}, {literal(_CODE)}) THEN {kind.sql} END"
    return dataclasses.replace(kind, sql=sql, bare=kind.bare or kind.sql)


def is_long(kind: Kind) -> bool:
    """Return whether a kind is that of whole numbers that may be beyond 64 bits."""
    return kind.make is plans.as_long_integer


def without_keys(
    connected: DuckDBPyConnection, rows: str, found: Mapping[int, Kind]
) -> dict[int, Kind]:
    """Read whole numbers as numbers unless most are so long that they are keys."""
    decided = dict(found)
    for place in [place for place, kind in found.items() if is_long(kind)]:
        size = f"abs(TRY_CAST(c{place} AS DOUBLE))"
        counts = f"count(*) FILTER ({size} > {LARGEST_EXACT_INTEGER}), count({size})"
        long, known = connected.execute(f"SELECT {counts} FROM {rows}").fetchall()[0]  # noqa: S608
        if not are_keys(long, known):
            decided[place] = _REAL
    return decided


def loss(kind: Kind, field: str) -> str:
    """Write the test of a value: true if it is lost, false if it is read, NULL if it is missing."""
    known = f"{{}} IS NOT NULL AND NOT {_IS_WORD}"
    test = f"CASE WHEN {kind.sql} IS NOT NULL THEN false WHEN {known} THEN true END"
    return test.replace("{}", field)


def is_header(connected: DuckDBPyConnection, found: list[Kind]) -> bool:
    """Return whether the line that DuckDB takes for a header is none that reads like the others."""
    losses: set[bool | None] = set()
    for block in blocks(len(found)):
        rows = f"{table_at(block[0])} WHERE rowid = 0"
        for kind in dict.fromkeys(found[place] for place in block):
            places = [place for place in block if found[place] == kind]
            if kind is not TEXT:
                query = f"SELECT {loss(kind, 'cell')} FROM {cells(places, rows)}"  # noqa: S608
                losses.update(row[0] for row in connected.execute(query).fetchall())
    return True in losses or False not in losses


def missing_words(
    connected: DuckDBPyConnection, rows: str, places: Sequence[int]
) -> dict[int, str]:
    """Say for each field which words are read as missing values, and how often; if any are.

    `rows` are those of one table.
    """
    if not places:
        return {}
    counted = "SELECT place, trim(cell), count(*) FROM"
    query = f"{counted} {cells(places, rows)} WHERE {_IS_WORD.replace('{}', 'cell')} GROUP BY ALL"
    words: dict[int, dict[str, int]] = {}
    for place, word, count in connected.execute(query).fetchall():
        words.setdefault(place, {})[word] = count
    return {place: gaps_note(counts) for place, counts in words.items()}
