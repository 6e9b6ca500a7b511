"""How the lines of a CSV file are divided: its delimiter, its fields, and lines that do not fit."""

from __future__ import annotations

import csv
import dataclasses
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from outlying.sources.input_file import InputFile

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
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, delimiter=layout.delimiter, lineterminator="\n")
        writer.writerows(record[: layout.fields] for record in records(file, layout))
    return dataclasses.replace(file, path=path, compressed=False)
