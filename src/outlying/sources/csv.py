"""CSV and TSV files, one or many: read as texts by DuckDB's strict parser, then typed.

The engine is left no guesses: what divides fields and what is no part of the table is found here.
"""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import re
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import islice, takewhile
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from outlying import sentences as say
from outlying.errors import SourceError
from outlying.parsing import pa
from outlying.parsing.plain import ALL, PlainTally, decide
from outlying.sources import duckdb as engine
from outlying.sources.arrow_arrays import of_texts
from outlying.sources.columns import unique_names, without_totals
from outlying.sources.copies import LONGEST_LINE, InputFile, PrivateFolder
from outlying.sources.duckdb import literal, select_list
from outlying.sources.files import Files, check_spelling, type_keys
from outlying.sources.passes import Batch, Feeder, SourceField, SourceShape, collected, completed
from outlying.table.selection import MOST_FIELDS
from outlying.table.table import Table
from outlying.table.values import is_gap, printable

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_DELIMITERS = (",", ";", "\t", "|")
#: A first line for Excel, which says what divides the fields.
_SEPARATOR_LINE = re.compile(r'"?sep=([^\w"\r\n])"?', re.IGNORECASE)
_LINES_LOOKED_AT = 100
_RECORDS_LOOKED_AT = 10
_MOST_TITLES = 20
_MOST_FOOTERS = 20
_ROWS_LOOKED_AT = 20_480  # that tell whether there is a header


def read(file: InputFile) -> Table:
    """Read a file of delimited text, with or without a header line.

    What the strict parser refuses is looked at more closely; of harmless faults (mixed line ends,
    a delimiter at the end of a line) a copy is read. The lenient parser would drop fields.
    """
    layout = _layout_of(file)
    try:
        table = collected(CsvFeeder(Files(file.source, (file,)), layout, in_order=True))
        return without_totals(table)
    except LineFaultError:
        file.check_text()
        with PrivateFolder("copy") as folder:
            footers: list[str] = []
            copy, plain = _rewrite(file, layout, folder, footers)
            table = collected(CsvFeeder(Files(copy.source, (copy,)), plain, in_order=True))
            notes = (*table.notes, *_lines_note("below", footers))
            return without_totals(dataclasses.replace(table, notes=notes))


def stream(files: Files) -> CsvFeeder:
    """Feed from files of delimited text."""
    return CsvFeeder(files)


class LineFaultError(SourceError):
    """The strict parser refuses a line."""


class CsvFeeder(Feeder):
    """Files of delimited text that are one table."""

    knows_types = False

    def __init__(
        self, files: Files, layout: TextLayout | None = None, *, in_order: bool = False
    ) -> None:
        """Feed from files, whose layout may be known; in memory, rows keep their order."""
        super().__init__(files.source)
        self.files = files
        self._layout, self._in_order = layout, in_order
        self._has_header = False
        self._keys = type_keys([file.keys for file in files.files])

    def _inspect(self) -> SourceShape:
        """Find how lines are divided, what columns are called, and whether lines say so."""
        first_file, others = self.files.files[0], self.files.files[1:]
        layout = self._layout = self._layout or _layout_of(first_file)
        for file in others:
            if (other := _layout_of(file)) != layout:
                raise SourceError(
                    f"{self.source}: {first_file.source} begins with {layout}, {file.source} with "
                    f"{other}; write all files alike"
                )
        first = _first_record(first_file, layout)
        with self._plain_errors(layout), self._connection() as connection:
            rows = _table_of_texts([first_file], layout, header=False)
            some = connection.sql(f"FROM {rows} LIMIT {_ROWS_LOOKED_AT}").to_arrow_table().columns
        self._has_header = _is_header(first, [texts.slice(1) for texts in some])
        names = [f"column{place}" for place in range(layout.fields)]
        if self._has_header:
            names = _column_names(first)
            for file in others:
                if (found := _first_record(file, layout)) != first:
                    raise SourceError(
                        f"{self.source}: {file.source} has the columns {', '.join(found)}, but "
                        f"{first_file.source} has {', '.join(first)}; write all files alike"
                    )
        if self._keys:
            check_spelling(self.source, [*names, *self._keys])
        unique_names(self.source, [*names, *self._keys])
        self.commas = layout.delimiter == ";"
        text = pa.large_string()
        fields = [SourceField(name, f"c{place}", text, text) for place, name in enumerate(names)]
        fields += [SourceField(key, "", v.type, v.type) for key, v in self._keys.items()]
        notes = [*self.files.notes, *_lines_note("above", layout.titles)]
        notes += [] if self._has_header else [say.NO_HEADER]
        return SourceShape(tuple(fields), notes=tuple(notes))

    def _connection(self) -> AbstractContextManager[DuckDBPyConnection]:
        large: engine.Config = {"arrow_large_buffer_size": True}
        return engine.connection(large) if self._in_order else engine.streaming_connection()

    def _read(self, fields: Sequence[SourceField]) -> Generator[Batch, None, None]:
        """Read texts; where folders give keys, file by file."""
        layout = self._layout
        assert layout is not None  # noqa: S101 - found by `_inspect`
        own = [field for field in fields if field.name not in self._keys]
        columns = select_list([field.sql for field in own])
        files = self.files.unchanged_files()
        with self._plain_errors(layout), self._connection() as connection:
            for number, some in enumerate([[file] for file in files] if self._keys else [files]):
                rows = _table_of_texts(some, layout, header=self._has_header)
                relation = connection.sql(f"SELECT {columns} FROM {rows}")  # noqa: S608 (ours)
                with engine.reader_of(relation) as reader:
                    values = {key: of_files[number] for key, of_files in self._keys.items()}
                    for batch in reader:
                        named = batch.rename_columns([field.name for field in own] or ["c0"])
                        yield completed(named, fields, values)
        self.files.unchanged_files()

    @contextlib.contextmanager
    def _plain_errors(self, layout: TextLayout) -> Iterator[None]:
        """Say what is wrong with a line, in the words that hold for small files."""
        import duckdb

        try:
            with engine.plain_errors(self.source):
                try:
                    yield
                except (duckdb.Error, OSError) as error:
                    if not engine.is_fault_of_text(error):
                        raise
                    if self._in_order:
                        raise LineFaultError(f"{self.source}: {error}") from None
                    raise self._fault(layout, error) from None
        except SourceError as error:
            if not isinstance(error, LineFaultError):
                for file in self.files.files:  # a byte that is no text may be in any row
                    file.check_text()
            raise

    def _fault(self, layout: TextLayout, error: Exception) -> SourceError:
        for file in self.files.files:
            file.check_text()
            for _ in _records(file, layout):
                pass
        return SourceError(
            f"{self.source}: cannot be read: {engine.reason(error)}; the lines may have different "
            "ends, or a delimiter too many at their end"
        )


def _is_header(first: Sequence[str], body: Sequence[Any]) -> bool:
    """Return whether a first line is a header: unlike those below, or above texts alone."""
    fits: set[bool] = set()
    for cell, texts in zip(first, body, strict=True):
        tally = PlainTally.of(texts)
        kind = decide([tally], commas=True)[0].kind
        if is_gap(cell) or (kind == "text" and tally.known):
            continue
        alone = PlainTally(tally.kinds if tally.known else ALL)
        alone.add(of_texts([cell]))
        if tally.known or alone.kinds:
            fits.add(bool(alone.kinds))
    return False in fits or True not in fits


# --- how lines are divided ----------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class TextLayout:
    """What has to be known of a file before it can be parsed."""

    delimiter: str
    fields: int
    skipped_lines: int  # above the table: blank ones, titles, and what tells Excel the delimiter
    line_end: str | None = None  # known of our own copies only; elsewhere the engine finds it
    titles: tuple[str, ...] = dataclasses.field(default=(), compare=False)

    def __str__(self) -> str:
        lines = "1 other line" if self.skipped_lines == 1 else f"{self.skipped_lines} other lines"
        below = f" below {lines}" if self.skipped_lines else ""
        return f"{self.fields} fields divided by {self.delimiter!r}{below}"


def _layout_of(file: InputFile) -> TextLayout:
    lines = file.first_lines(_LINES_LOOKED_AT)
    blank = _blank_lines(lines)
    candidates: Sequence[str] = ("\t",) if file.suffix == ".tsv" else _DELIMITERS
    said = _SEPARATOR_LINE.fullmatch(lines[blank].rstrip("\r\n")) if blank < len(lines) else None
    above = 0
    if said is not None:
        above, candidates = blank + 1, said.groups()
        lines = lines[above:]
        blank = _blank_lines(lines)
    if blank == len(lines):
        raise file.error("the file is empty (nothing but blank lines)")
    looked = {delimiter: _look_at(lines, delimiter) for delimiter in candidates}

    def likelihood(delimiter: str) -> tuple[bool, bool, int]:
        """Prefer one that divides all lines alike, titles included, then one with more fields."""
        titles, _, counts = looked[delimiter]
        return min(counts) == max(counts) > 1, not titles, max(counts)

    best = max(candidates, key=likelihood)
    titles, first, counts = looked[best]
    if counts[0] > MOST_FIELDS:
        raise file.error(
            f"there are {counts[0]:,} columns (divided by {best!r}); at most {MOST_FIELDS:,} are "
            "read from a text file: write those of interest to a file of their own"
        )
    return TextLayout(best, counts[0], above + (first if titles else blank), titles=titles)


def _blank_lines(lines: Sequence[str]) -> int:
    return next((place for place, line in enumerate(lines) if line.strip()), len(lines))


def _lines_note(where: str, lines: Sequence[str]) -> list[str]:
    shown = repr(printable("; ".join(lines)))
    text = say.LINES_LEFT_OUT[len(lines) > 1]
    return [text.format(count=len(lines), where=where, lines=shown)] if lines else []


def _look_at(lines: Sequence[str], delimiter: str) -> tuple[tuple[str, ...], int, list[int]]:
    """Return titles above the table, the line on which it begins, and its numbers of fields."""
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


@contextlib.contextmanager
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


def _records(
    file: InputFile, layout: TextLayout, footers: list[str] | None = None
) -> Iterator[list[str]]:
    """Return records up to one with other fields; lines of one at the end are `footers`."""
    with file.open_text() as stream, _fields_of_any_length():
        _skip(stream, layout)
        reader = csv.reader(stream, delimiter=layout.delimiter, strict=True)
        line = 1 + layout.skipped_lines
        try:
            for record in reader:
                has_end = len(record) == layout.fields + 1 and record[-1] == ""  # one mark too many
                if record and len(record) != layout.fields and not has_end:
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


def _check_length(file: InputFile, layout: TextLayout, record: list[str], line: int) -> None:
    if sum(map(len, record)) <= LONGEST_LINE:
        return
    place = max(range(len(record)), key=lambda place: len(record[place]))
    name = [*_column_names(_first_record(file, layout)), ""][place]
    raise file.error(
        f"line {line} has {len(record[place]):,} characters in column {name!r}; a line may have "
        f"{LONGEST_LINE:,} bytes: shorten that text, or remove the column from the file"
    )


def _skip(stream: IO[str], layout: TextLayout) -> None:
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


def _first_record(file: InputFile, layout: TextLayout) -> list[str]:
    with file.open_text() as stream:
        _skip(stream, layout)
        found = csv.reader(stream, delimiter=layout.delimiter)
        return next(record for record in found if record)[: layout.fields]


def _rewrite(
    file: InputFile, layout: TextLayout, folder: Path, footers: list[str]
) -> tuple[InputFile, TextLayout]:
    """Copy a file with one kind of line end, no delimiter too many, nothing above or below it."""
    path = folder / "copy.csv"
    try:
        with path.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream, delimiter=layout.delimiter, lineterminator="\n")
            found = _records(file, layout, footers)
            writer.writerows(record[: layout.fields] for record in found)
    except OSError as error:
        raise SourceError(
            f"{file.source}: some lines end in other ways than the rest, and a copy without these "
            f"cannot be written to {folder.parent}: {error.strerror}; repair the lines, or set "
            "TMPDIR to a folder with more room"
        ) from None
    copy = dataclasses.replace(file, path=path)
    return copy, dataclasses.replace(layout, line_end=r"\n", skipped_lines=0)


def _column_names(header: Iterable[str]) -> list[str]:
    """Return the names in a header; one without is called by its place, unless it is first."""
    return [
        name if name.strip() or place == 1 else f"column {place}"
        for place, name in enumerate(header, start=1)
    ]


def _table_of_texts(files: Sequence[InputFile], layout: TextLayout, *, header: bool) -> str:
    """Write the table of all fields of some files as texts: c0, c1, ..."""
    paths = ", ".join(literal(engine.literal_path(file.path)) for file in files)
    columns = ", ".join(f"c{place}: 'VARCHAR'" for place in range(layout.fields))
    settings = {
        "delim": literal(layout.delimiter),
        "quote": literal('"'),
        "escape": literal('"'),
        "comment": literal(""),
        "skip": str(layout.skipped_lines),
        "compression": literal("none"),
        "hive_partitioning": "false",
        "null_padding": "false",
        "strict_mode": "true",
        **({"new_line": literal(layout.line_end)} if layout.line_end else {}),
        "columns": "{" + columns + "}",
        "auto_detect": "false",
        "header": str(header).lower(),
    }
    said = ", ".join(f"{name} = {value}" for name, value in settings.items())
    return f"read_csv([{paths}], {said})"
