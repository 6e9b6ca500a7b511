"""CSV and TSV files: read by DuckDB, its guessing kept within bounds.

The engine finds the header and the types, but not how the lines are divided: left to itself it may
lose rows without a word. It takes a file with one overlong line for a file of a single column,
data rows that begin with # for comments, and the lines before the longest one for a preamble. So
the delimiter is chosen here, every line must have the fields of the first one, all fields are
loaded as text, and a type is accepted only if no value is lost (`kinds`).
"""

from __future__ import annotations

import csv
import dataclasses
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from outlying.sources import csv_types as kinds
from outlying.sources import duckdb as engine
from outlying.sources.columns import Reading, table_of, unique_names
from outlying.sources.text import TextFile, check_text
from outlying.table.table import Table

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
    line_end: str | None = None
    """Known of our own copies only; elsewhere the engine finds it."""


def read(file: TextFile) -> Table:
    """Read a file of delimited text, with or without a header line.

    What the strict parser refuses is looked at more closely. Past that look the faults are
    harmless (mixed line ends, a delimiter at the end of a line), and a copy without them is read:
    the engine's lenient parser drops surplus fields, and characters after mixed line ends.
    """
    import duckdb

    layout = layout_of(file)
    with engine.plain_errors(file.source), engine.connection() as connected:
        try:
            return _read(connected, file, layout)
        except duckdb.InvalidInputException:
            check_text(file)
            with tempfile.TemporaryDirectory() as folder:
                copy = _rewritten(file, layout, Path(folder))
                return _read(connected, copy, dataclasses.replace(layout, line_end=r"\n"))


def _read(connected: DuckDBPyConnection, file: TextFile, layout: Layout) -> Table:
    _load(connected, file, layout)
    sniffed = _sniffed(connected, file, layout)
    found = kinds.found_in(connected, sniffed)
    header = sniffed.has_header and kinds.is_header(connected, found)
    names = _names(connected, file, header, layout.fields)
    columns = _columns(connected, names, found, header)
    notes = [] if header else ["no header line found: columns are named column0, column1, ..."]
    return table_of(file.source, columns, notes)


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


def _load(connected: DuckDBPyConnection, file: TextFile, layout: Layout) -> None:
    columns = ", ".join(f"c{place}: 'VARCHAR'" for place in range(layout.fields))
    settings = {"auto_detect": "false", "header": "false", "columns": "{" + columns + "}"}
    connected.execute(
        f"CREATE OR REPLACE TEMP TABLE {kinds.TABLE} AS FROM read_csv(?, "
        f"{settings_of(file, layout, **settings)})",
        [engine.literal_path(file.path)],
    )


def settings_of(file: TextFile, layout: Layout, **more: str) -> str:
    """Write the settings of the engine's reader that leave it no guesses but those asked for."""
    settings = {
        "delim": engine.quoted(layout.delimiter),
        "quote": engine.quoted('"'),
        "escape": engine.quoted('"'),
        "comment": engine.quoted(""),
        "skip": str(layout.blank_lines),
        "compression": engine.quoted("gzip" if file.compressed else "none"),
        "hive_partitioning": "false",
        "null_padding": "false",
        "strict_mode": "true",
        **({"new_line": engine.quoted(layout.line_end)} if layout.line_end else {}),
        **more,
    }
    return ", ".join(f"{name} = {value}" for name, value in settings.items())


def _sniffed(connected: DuckDBPyConnection, file: TextFile, layout: Layout) -> kinds.Sniffed:
    """Let the engine find header and types in all rows, also with decimal commas between ;."""
    sniffed = sniff(connected, file, layout)
    if layout.delimiter != ";" or "VARCHAR" not in sniffed.types:
        return sniffed
    commas = sniff(connected, file, layout, decimal_separator=engine.quoted(",")).types
    both = zip(sniffed.types, commas, strict=True)
    types = [kinds.COMMAS if pair == ("VARCHAR", "DOUBLE") else pair[0] for pair in both]
    return dataclasses.replace(sniffed, types=types)


def sniff(
    connected: DuckDBPyConnection, file: TextFile, layout: Layout, **more: str
) -> kinds.Sniffed:
    """Let the engine find header and types, in all rows unless told otherwise."""
    words = ", ".join(map(engine.quoted, kinds.UNTYPED_WORDS))
    given = {"sample_size": "-1", "nullstr": f"[{words}]", **more}
    settings = settings_of(file, layout, **given)
    found = connected.execute(
        f"SELECT HasHeader, Columns, DateFormat, TimestampFormat FROM sniff_csv(?, {settings})",  # noqa: S608
        [engine.literal_path(file.path)],
    ).fetchall()
    header, columns, dates, moments = found[0]
    types = [column["type"] for column in columns]
    return kinds.Sniffed(header, types, {"DATE": dates, "TIMESTAMP": moments})


def layout_of(file: TextFile) -> Layout:
    """Find what divides the fields of a file, and how many there are."""
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


def _rewritten(file: TextFile, layout: Layout, folder: Path) -> TextFile:
    """Copy a file with one kind of line end and no delimiter too many."""
    path = folder / "copy.csv"
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, delimiter=layout.delimiter, lineterminator="\n")
        writer.writerows(record[: layout.fields] for record in records(file, layout))
    return dataclasses.replace(file, path=path, compressed=False)


def records(file: TextFile, layout: Layout) -> Iterator[list[str]]:
    """Return all records, up to the first line that does not have the fields of the first one."""
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
                yield record
                line = reader.line_num + 1
        except csv.Error as error:
            raise file.error(f"line {line} has a fault in its quotes: {error}") from None


def _fits(record: list[str], fields: int) -> bool:
    """Return whether a line has the right fields; one delimiter too many at its end is no field."""
    return len(record) == fields or (len(record) == fields + 1 and record[-1] == "")
