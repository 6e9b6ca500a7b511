"""How the lines of a CSV file are divided: its delimiter, its fields, and lines that do not fit."""

from __future__ import annotations

import csv
import dataclasses
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from outlying.errors import SourceError
from outlying.sources.csv.types import UNTYPED_WORDS, Sniffed
from outlying.sources.duckdb import engine
from outlying.sources.files import InputFile
from outlying.sources.sql import literal

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

NO_HEADER = "no header line found: columns are named column0, column1, ..."


def numbered(layout: Layout) -> list[str]:
    """Return the names of columns in a file without a header."""
    return [f"column{place}" for place in range(layout.fields)]


def table_of_texts(
    paths: str, file: InputFile, layout: Layout, *, header: bool, **more: str
) -> str:
    """Write the table of all fields of some files as texts: c0, c1, ..."""
    columns = ", ".join(f"c{place}: 'VARCHAR'" for place in range(layout.fields))
    given = {"auto_detect": "false", "header": str(header).lower(), **more}
    settings = _settings(file, layout, columns="{" + columns + "}", **given)
    return f"read_csv({paths}, {settings})"


def sniff(connected: DuckDBPyConnection, file: InputFile, layout: Layout, **more: str) -> Sniffed:
    """Return the header and types that the engine finds, in all rows unless told otherwise."""
    words = ", ".join(map(literal, UNTYPED_WORDS))
    settings = _settings(file, layout, **{"sample_size": "-1", "nullstr": f"[{words}]", **more})
    found = connected.execute(
        f"SELECT HasHeader, Columns FROM sniff_csv(?, {settings})",  # noqa: S608
        [engine.literal_path(file.path)],
    ).fetchall()
    header, columns = found[0]
    return Sniffed(header, [column["type"] for column in columns])


def _settings(file: InputFile, layout: Layout, **more: str) -> str:
    """Write settings that leave the engine no guesses but those asked for."""
    return engine.settings(
        {
            "delim": literal(layout.delimiter),
            "quote": literal('"'),
            "escape": literal('"'),
            "comment": literal(""),
            "skip": str(layout.blank_lines),
            "compression": literal("gzip" if file.compressed else "none"),
            "hive_partitioning": "false",
            "null_padding": "false",
            "strict_mode": "true",
            **({"new_line": literal(layout.line_end)} if layout.line_end else {}),
            **more,
        }
    )


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

    def __str__(self) -> str:
        return f"{self.fields} fields divided by {self.delimiter!r}"


def layout_of(file: InputFile) -> Layout:
    """Find what divides the fields of a file, and how many there are."""
    lines = file.first_lines(_LINES_LOOKED_AT)
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


def records(file: InputFile, layout: Layout) -> Iterator[list[str]]:
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


def first_record(file: InputFile, layout: Layout) -> list[str]:
    """Return the fields of the first line that has any."""
    with file.open_text() as stream:
        found = csv.reader(stream, delimiter=layout.delimiter)
        return next(record for record in found if record)[: layout.fields]


def rewritten(file: InputFile, layout: Layout, folder: Path) -> InputFile:
    """Copy a file with one kind of line end and no delimiter too many."""
    path = folder / "copy.csv"
    try:
        with path.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream, delimiter=layout.delimiter, lineterminator="\n")
            writer.writerows(record[: layout.fields] for record in records(file, layout))
    except OSError as error:
        raise SourceError(
            f"{file.source}: some lines end in other ways than the rest, and a copy without these "
            f"cannot be written to {folder.parent}: {error.strerror}; repair the lines, or set "
            "TMPDIR to a folder with more room"
        ) from None
    return dataclasses.replace(file, path=path, compressed=False)
