"""CSV and TSV files: parsed by DuckDB, judged here.

The engine's own guessing is left out, for it may lose rows without a word: it takes a file with
one overlong line for a file of a single column, data rows that begin with # for comments, and the
lines before the longest one for a preamble. So the delimiter is chosen here, every line must have
the fields of the first one, all fields are loaded as text, and the type of a column is decided on
all of its values.
"""

from __future__ import annotations

import csv
import dataclasses
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING

from outlying.sources import engine, kinds
from outlying.sources.columns import Reading, table_of, unique_names
from outlying.sources.text import TextFile, check_text
from outlying.table import Table

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_DELIMITERS = (",", ";", "\t", "|")
_LINES_LOOKED_AT = 100
_RECORDS_LOOKED_AT = 10


@dataclasses.dataclass(frozen=True, slots=True)
class Layout:
    """What has to be known of a file before it can be parsed."""

    delimiter: str
    fields: int
    blank_lines: int
    """Lines without any text above the first record."""


def read(file: TextFile) -> Table:
    """Read a file of delimited text, with or without a header line."""
    layout = _layout_of(file)
    with engine.plain_errors(file.source), engine.connection() as connected:
        dialect = _load(connected, file, layout)
        sniffed = _sniffed(connected, file, layout, dialect)
        found = kinds.found_in(connected, sniffed)
        header = sniffed.has_header
        names = _names(connected, file, header, layout.fields)
        notes = [] if header else ["no header line found: columns are named column0, column1, ..."]
        return table_of(file.source, _columns(connected, names, found, header), notes)


def _columns(
    connected: DuckDBPyConnection, names: list[str], found: list[kinds.Kind], header: bool
) -> list[Reading]:
    # ordered here as well: where the engine makes a join of an expression (it does so of a long
    # IN), preserve_insertion_order does not keep rows in their places
    rows = f"{kinds.TABLE} WHERE rowid >= {int(header)} ORDER BY rowid"
    plans = [kind.plan(f"c{place}") for place, kind in enumerate(found)]
    readings = engine.fetch(connected, rows, [], list(zip(names, plans, strict=True)))
    gaps = [
        f"c{place}"
        for place, (kind, reading) in enumerate(zip(found, readings, strict=True))
        if kind is not kinds.TEXT and reading.has_gaps
    ]
    words = kinds.missing_words_in(connected, gaps, first_row=int(header))
    return [
        reading.with_note(kind.note).with_note(words.get(f"c{place}"))
        for place, (kind, reading) in enumerate(zip(found, readings, strict=True))
    ]


def _names(connected: DuckDBPyConnection, file: TextFile, header: bool, fields: int) -> list[str]:
    if not header:
        return [f"column{place}" for place in range(fields)]
    first = connected.execute(f"FROM {kinds.TABLE} WHERE rowid = 0").fetchone() or ()
    return unique_names(file.source, ("" if name is None else name for name in first))


def _load(connected: DuckDBPyConnection, file: TextFile, layout: Layout) -> dict[str, str]:
    """Load all fields as text; what the strict parser refuses is looked at more closely.

    Past that closer look, the only harmless fault is a mixture of line ends, which the lenient
    parser takes. It would also drop surplus fields: therefore the look comes first. Gives the
    dialect that worked.
    """
    import duckdb

    dialect = _dialect(file, layout)
    try:
        _parse(connected, file, layout, dialect)
    except duckdb.InvalidInputException:
        check_text(file)
        _check_records(file, layout)
        dialect |= {"strict_mode": "false", "new_line": engine.quoted(r"\n")}
        _parse(connected, file, layout, dialect)
    return dialect


def _dialect(file: TextFile, layout: Layout) -> dict[str, str]:
    return {
        "delim": engine.quoted(layout.delimiter),
        "quote": engine.quoted('"'),
        "escape": engine.quoted('"'),
        "comment": "''",
        "skip": str(layout.blank_lines),
        "compression": engine.quoted("gzip" if file.compressed else "none"),
        "hive_partitioning": "false",
        "null_padding": "false",
        "strict_mode": "true",
    }


def _reader(function: str, settings: dict[str, str]) -> str:
    given = ", ".join(f"{name} = {value}" for name, value in settings.items())
    return f"{function}(?, {given})"


def _parse(
    connected: DuckDBPyConnection, file: TextFile, layout: Layout, dialect: dict[str, str]
) -> None:
    columns = ", ".join(f"c{place}: 'VARCHAR'" for place in range(layout.fields))
    settings = {"auto_detect": "false", "header": "false", "columns": "{" + columns + "}"}
    connected.execute(
        f"CREATE OR REPLACE TEMP TABLE {kinds.TABLE} AS FROM "
        + _reader("read_csv", dialect | settings),
        [engine.literal_path(file.path)],
    )


def _sniffed(
    connected: DuckDBPyConnection, file: TextFile, layout: Layout, dialect: dict[str, str]
) -> kinds.Sniffed:
    """Let the engine find header and types in all rows, and again with decimal commas."""
    words = ", ".join(map(engine.quoted, kinds.UNTYPED_WORDS))
    # a line that the lenient parser took may be beyond the sniffer; it is then left out here only
    settings = {"sample_size": "-1", "nullstr": f"[{words}]", "ignore_errors": "true"}
    path = [engine.literal_path(file.path)]

    def sniff(**more: str) -> kinds.Sniffed:
        query = "SELECT HasHeader, Columns, DateFormat, TimestampFormat FROM "
        call = _reader("sniff_csv", dialect | settings | more)
        header, columns, date, moment = connected.execute(query + call, path).fetchone() or ()
        types = [column["type"] for column in columns]
        return kinds.Sniffed(header, types, {"DATE": date, "TIMESTAMP": moment})

    sniffed = sniff()
    if layout.delimiter != ";" or "VARCHAR" not in sniffed.types:
        return sniffed
    commas = sniff(decimal_separator="','").types
    both = zip(sniffed.types, commas, strict=True)
    types = ["DOUBLE WITH COMMA" if pair == ("VARCHAR", "DOUBLE") else pair[0] for pair in both]
    return dataclasses.replace(sniffed, types=types)


def _layout_of(file: TextFile) -> Layout:
    with file.open_text() as stream:
        lines = list(islice(stream, _LINES_LOOKED_AT))
    blank = next((place for place, line in enumerate(lines) if line.strip()), len(lines))
    if blank == len(lines):
        raise file.error("the file is empty (nothing but blank lines)")
    candidates = ("\t",) if file.suffix == ".tsv" else _DELIMITERS
    counted = {delimiter: _field_counts(lines, delimiter) for delimiter in candidates}
    best = max(candidates, key=lambda delimiter: _likelihood(counted[delimiter]))
    return Layout(best, counted[best][0], blank)


def _field_counts(lines: Iterable[str], delimiter: str) -> list[int]:
    with _fields_of_any_length():
        records = filter(None, csv.reader(lines, delimiter=delimiter))
        return [len(record) for record in islice(records, _RECORDS_LOOKED_AT)]


@contextmanager
def _fields_of_any_length() -> Iterator[None]:
    """Lift the limit of the csv module, which is one for all its users, and put it back."""
    limit = csv.field_size_limit(2**31 - 1)
    try:
        yield
    finally:
        csv.field_size_limit(limit)


def _likelihood(counts: list[int]) -> tuple[bool, int]:
    """Prefer a delimiter that divides all lines alike, then one that divides more."""
    return min(counts) == max(counts) > 1, max(counts)


def _check_records(file: TextFile, layout: Layout) -> None:
    """Find the first line that does not have the fields of the first one."""
    with file.open_text() as stream, _fields_of_any_length():
        reader = csv.reader(stream, delimiter=layout.delimiter, strict=True)
        line = 1
        try:
            for record in reader:
                if record and not _fits(record, layout.fields):
                    raise file.error(
                        f"line {line} has {len(record)} fields, the first line has "
                        f"{layout.fields} (divided by {layout.delimiter!r}); correct that line, or "
                        "remove lines that are not part of the table"
                    )
                line = reader.line_num + 1
        except csv.Error as error:
            raise file.error(f"line {line} has a fault in its quotes: {error}") from None


def _fits(record: list[str], fields: int) -> bool:
    """Tell whether a line has the right fields; one delimiter too many at its end is no field."""
    return len(record) == fields or (len(record) == fields + 1 and record[-1] == "")
