"""How the lines of a CSV file are divided: its delimiter, its fields, and lines that do not fit."""

from __future__ import annotations

import csv
import dataclasses
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice, takewhile
from pathlib import Path
from typing import IO

from outlying.errors import SourceError
from outlying.sources.duckdb import engine
from outlying.sources.files import LONGEST_LINE, InputFile
from outlying.sources.sql import literal
from outlying.table.selection import MOST_FIELDS
from outlying.table.values import printable

NO_HEADER = "no header line found: columns are named column0, column1, ..."


def numbered(layout: Layout) -> list[str]:
    """Return the names of columns in a file without a header."""
    return [f"column{place}" for place in range(layout.fields)]


def named(header: Iterable[str]) -> list[str]:
    """Return the names in a header; what has none is called by its place, but for the first.

    That one may be an index, which has no name when it is written to a file.
    """
    return [
        name if name.strip() or place == 1 else f"column {place}"
        for place, name in enumerate(header, start=1)
    ]


def table_of_texts(
    paths: str, file: InputFile, layout: Layout, *, header: bool, **more: str
) -> str:
    """Write the table of all fields of some files as texts: c0, c1, ..."""
    columns = ", ".join(f"c{place}: 'VARCHAR'" for place in range(layout.fields))
    given = {"auto_detect": "false", "header": str(header).lower(), **more}
    settings = _settings(file, layout, columns="{" + columns + "}", **given)
    return f"read_csv({paths}, {settings})"


def _settings(file: InputFile, layout: Layout, **more: str) -> str:
    """Write settings that leave the engine no guesses but those asked for."""
    return engine.settings(
        {
            "delim": literal(layout.delimiter),
            "quote": literal('"'),
            "escape": literal('"'),
            "comment": literal(""),
            "skip": str(layout.skipped_lines),
            "compression": literal("gzip" if file.compressed else "none"),
            "hive_partitioning": "false",
            "null_padding": "false",
            "strict_mode": "true",
            **({"new_line": literal(layout.line_end)} if layout.line_end else {}),
            **more,
        }
    )


_DELIMITERS = (",", ";", "\t", "|")
#: A first line for Excel, which says what divides the fields.
_SAID = re.compile(r'"?sep=([^\w"\r\n])"?', re.IGNORECASE)
_LINES_LOOKED_AT = 100
_RECORDS_LOOKED_AT = 10
_MOST_TITLES = 20
_MOST_FOOTERS = 20


@dataclasses.dataclass(frozen=True, slots=True)
class Layout:
    """What has to be known of a file before it can be parsed."""

    delimiter: str
    fields: int
    skipped_lines: int
    """Lines above the table: blank ones, titles, and what tells Excel the delimiter."""
    line_end: str | None = None
    """Known of our own copies only; elsewhere the engine finds it."""
    titles: tuple[str, ...] = dataclasses.field(default=(), compare=False)

    @property
    def notes(self) -> list[str]:
        """What a reader should know about lines that are no part of the table."""
        return [lines_note("above", self.titles)] if self.titles else []

    def __str__(self) -> str:
        lines = "1 other line" if self.skipped_lines == 1 else f"{self.skipped_lines} other lines"
        below = f" below {lines}" if self.skipped_lines else ""
        return f"{self.fields} fields divided by {self.delimiter!r}{below}"


def layout_of(file: InputFile) -> Layout:
    """Find what divides the fields of a file, and how many there are."""
    lines = file.first_lines(_LINES_LOOKED_AT)
    blank = _blank_lines(lines)
    candidates: Sequence[str] = ("\t",) if file.suffix == ".tsv" else _DELIMITERS
    said = _SAID.fullmatch(lines[blank].rstrip("\r\n")) if blank < len(lines) else None
    above = 0
    if said is not None:
        above, candidates = blank + 1, said.groups()
        lines = lines[above:]
        blank = _blank_lines(lines)
    if blank == len(lines):
        raise file.error("the file is empty (nothing but blank lines)")
    looked = {delimiter: _looked_at(lines, delimiter) for delimiter in candidates}
    best = max(candidates, key=lambda delimiter: _likelihood(looked[delimiter]))
    titles, first, counts = looked[best]
    if counts[0] > MOST_FIELDS:
        raise file.error(
            f"there are {counts[0]:,} columns (divided by {best!r}); at most {MOST_FIELDS:,} are "
            "read from a text file: write those of interest to a file of their own"
        )
    return Layout(best, counts[0], above + (first if titles else blank), titles=titles)


def _blank_lines(lines: Sequence[str]) -> int:
    """Count the blank lines above others."""
    return next((place for place, line in enumerate(lines) if line.strip()), len(lines))


def lines_note(where: str, lines: Sequence[str]) -> str:
    """Say which lines are no part of the table."""
    count = "a line" if len(lines) == 1 else f"{len(lines)} lines"
    return f"{count} {where} the table left out: {printable('; '.join(lines))!r}"


def _looked_at(lines: Sequence[str], delimiter: str) -> tuple[tuple[str, ...], int, list[int]]:
    """Return titles above the table, the line on which it begins, and its numbers of fields.

    A title is alone on its line, above lines that all have several fields, and the same number.
    """
    with _fields_of_any_length():
        reader = csv.reader(lines, delimiter=delimiter)
        starts, found = [], []
        start = 0
        for record in islice(reader, _LINES_LOOKED_AT):
            if record:
                starts.append(start)
                found.append(record)
            start = reader.line_num
    titles = list(takewhile(_is_title, found))
    body = [len(record) for record in found[len(titles) :]][:_RECORDS_LOOKED_AT]
    if titles and len(titles) <= _MOST_TITLES and len(body) > 1 and min(body) == max(body) > 1:
        words = tuple(next(filter(None, map(str.strip, r)), "") for r in titles)
        return tuple(filter(None, words)), starts[len(titles)], body
    return (), 0, [len(record) for record in found][:_RECORDS_LOOKED_AT]


@contextmanager
def _fields_of_any_length() -> Iterator[None]:
    """Lift the limit of the csv module, which is one for all its users, and put it back."""
    limit = csv.field_size_limit(2**31 - 1)
    try:
        yield
    finally:
        csv.field_size_limit(limit)


def _is_title(record: Sequence[str]) -> bool:
    """Return whether words are alone on their line; ",x" is the header of a column beside names."""
    is_alone = len(record) == 1 or (len(record) > 2 and not any(record[1:]))
    return is_alone and any(map(str.isalpha, record[0]))


def _likelihood(looked: tuple[tuple[str, ...], int, list[int]]) -> tuple[bool, bool, int]:
    """Prefer a delimiter that divides all lines alike, titles included, then one with more."""
    titles, _, counts = looked
    return min(counts) == max(counts) > 1, not titles, max(counts)


def records(
    file: InputFile, layout: Layout, footers: list[str] | None = None
) -> Iterator[list[str]]:
    """Return all records, up to the first line that does not have the fields of the first one.

    Lines of a single field at the end are put into `footers`, where these are wanted.
    """
    with file.open_text() as stream, _fields_of_any_length():
        _skip(stream, layout)
        reader = csv.reader(stream, delimiter=layout.delimiter, strict=True)
        line = 1 + layout.skipped_lines
        try:
            for record in reader:
                if record and not _fits(record, layout.fields):
                    if footers is not None and _is_end(record, reader, footers):
                        return
                    raise file.error(
                        f"line {line} has {len(record)} fields, the first line has "
                        f"{layout.fields} (divided by {layout.delimiter!r}); correct that line, or "
                        "remove lines that are not part of the table"
                    )
                _check_length(file, layout, record, line)
                yield record
                line = reader.line_num + 1 + layout.skipped_lines
        except csv.Error as error:
            raise file.error(f"line {line} has a fault in its quotes: {error}") from None


def _check_length(file: InputFile, layout: Layout, record: list[str], line: int) -> None:
    """Refuse a line that is too long for the engine, and name its longest field."""
    if sum(map(len, record)) <= LONGEST_LINE:
        return
    place = max(range(len(record)), key=lambda place: len(record[place]))
    name = [*named(first_record(file, layout)), ""][place]
    raise file.error(
        f"line {line} has {len(record[place]):,} characters in column {name!r}; a line may have "
        f"{LONGEST_LINE:,} bytes: shorten that text, or remove the column from the file"
    )


def _skip(stream: IO[str], layout: Layout) -> None:
    for _ in range(layout.skipped_lines):
        stream.readline()


def _is_end(record: list[str], rest: Iterable[list[str]], footers: list[str]) -> bool:
    """Return whether only words alone on their lines are left, which are no part of the table."""
    last = [record, *islice(filter(None, rest), _MOST_FOOTERS)]
    if len(last) > _MOST_FOOTERS or any(sum(map(bool, item)) > 1 for item in last):
        return False
    found = [next(filter(None, map(str.strip, item)), "") for item in last]
    if not all(any(map(str.isalpha, text)) for text in found):
        return False  # a row that lacks fields
    footers += found
    return True


def _fits(record: list[str], fields: int) -> bool:
    """Return whether a line has the right fields; one delimiter too many at its end is no field."""
    return len(record) == fields or (len(record) == fields + 1 and record[-1] == "")


def first_record(file: InputFile, layout: Layout) -> list[str]:
    """Return the fields of the first line that has any."""
    with file.open_text() as stream:
        _skip(stream, layout)
        found = csv.reader(stream, delimiter=layout.delimiter)
        return next(record for record in found if record)[: layout.fields]


def rewritten(
    file: InputFile, layout: Layout, folder: Path, footers: list[str]
) -> tuple[InputFile, Layout]:
    """Copy a file with one kind of line end, no delimiter too many, nothing above or below it."""
    path = folder / "copy.csv"
    try:
        with path.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream, delimiter=layout.delimiter, lineterminator="\n")
            found = records(file, layout, footers)
            writer.writerows(record[: layout.fields] for record in found)
    except OSError as error:
        raise SourceError(
            f"{file.source}: some lines end in other ways than the rest, and a copy without these "
            f"cannot be written to {folder.parent}: {error.strerror}; repair the lines, or set "
            "TMPDIR to a folder with more room"
        ) from None
    copy = dataclasses.replace(file, path=path, compressed=False)
    return copy, dataclasses.replace(layout, line_end=r"\n", skipped_lines=0)
