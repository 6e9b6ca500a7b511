"""CSV and TSV files larger than memory, by the rules that hold for small ones.

Small files are loaded as text and then looked at; here they are scanned. A kind is taken for a
column only if it loses no value in any row; the rows of a first look only rule kinds out. Numbers
of which most are too long to be quantities are keys, and read as texts.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING

from outlying.errors import SourceError
from outlying.sources.columns import unique_names
from outlying.sources.csv import types
from outlying.sources.csv.layout import (
    NO_HEADER,
    Layout,
    first_record,
    layout_of,
    named,
    numbered,
    records,
    sniff,
    table_of_texts,
)
from outlying.sources.csv.types import Kind
from outlying.sources.duckdb import engine
from outlying.sources.duckdb.files import (
    FilesFeeder,
    check_spelling,
    foreign_keys,
    partition_columns,
    partition_settings,
    path_list,
)
from outlying.sources.encodings import check_text
from outlying.sources.files import InputFile, check_compression
from outlying.sources.local import Field, Shape
from outlying.sources.passes import Batch
from outlying.sources.paths import Files
from outlying.sources.sql import identifier, literal, selected

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_SNIFFED = 20_480
_LOOKED_AT = 2048


def stream(files: Files) -> CsvFeeder:
    """Feed from files of delimited text."""
    return CsvFeeder(files)


@dataclasses.dataclass(frozen=True, slots=True)
class Contents:
    """What the files hold: how lines are divided, what columns are called and hold."""

    layout: Layout
    header: bool
    names: tuple[str, ...]
    kinds: tuple[Kind, ...]


class CsvFeeder(FilesFeeder):
    """Files of delimited text that are one table."""

    def _inspect(self) -> Shape:
        with engine.plain_errors(self.source), self._relation() as relation:
            names = [*self._contents.names, *self.files.keys]
            shape = self._shape_of(relation, names)
        pairs = zip(self._contents.names, self._contents.kinds, strict=True)
        said = [f"column {name!r}: {kind.note}" for name, kind in pairs if kind.note]
        titles = self._contents.layout.notes
        notes = [*self.files.notes, *titles, *([] if self._contents.header else [NO_HEADER]), *said]
        return Shape(shape.fields, shape.skipped, tuple(notes))

    def _read(self, fields: Sequence[Field]) -> Generator[Batch, None, None]:
        try:
            yield from super()._read(fields)
        except SourceError:
            for text in self._texts:  # a byte that is no text may be in any row
                check_text(text)
            raise

    def _query(self, connected: DuckDBPyConnection) -> str:  # noqa: ARG002
        contents = self._contents
        columns = [_sql_of(kind, place) for place, kind in enumerate(contents.kinds)]
        keys = partition_columns(self.files).items()
        typed = [selected(columns), *(f"{sql} AS {identifier(key)}" for key, sql in keys)]
        rows = self._rows_of(contents.layout, header=contents.header)
        return f"SELECT {', '.join(typed)} FROM {rows}"  # noqa: S608 (quoted)

    def _rows_of(self, layout: Layout, *, header: bool) -> str:
        """Write the table of all fields as texts: c0, c1, ..."""
        paths, settings = path_list(self.files), partition_settings(self.files)
        return table_of_texts(paths, self._texts[0], layout, header=header, **settings)

    @functools.cached_property
    def _texts(self) -> list[InputFile]:
        suffix = self.files.suffix
        return [InputFile.of(file.name, file.path, suffix) for file in self.files.files]

    @functools.cached_property
    def _contents(self) -> Contents:
        """What the files hold, found in all their rows."""
        import duckdb

        for text in self._texts:
            check_compression(text)
        layout = self._layout()
        try:
            with engine.streaming_connection(self._memory) as connected:
                return self._found(connected, layout)
        except (duckdb.InvalidInputException, duckdb.NotImplementedException) as error:
            raise self._fault(layout, error) from None

    def _layout(self) -> Layout:
        """Find what divides the fields, which must be the same in all files."""
        layout = layout_of(self._texts[0])
        for text in self._texts[1:]:
            other = layout_of(text)
            if other != layout:
                raise SourceError(
                    f"{self.source}: {self._texts[0].source} begins with {layout}, "
                    f"{text.source} with {other}; write all files alike"
                )
        return layout

    def _found(self, connected: DuckDBPyConnection, layout: Layout) -> Contents:
        looked = str(_SNIFFED)
        header = sniff(connected, self._texts[0], layout, sample_size=looked).has_header
        first = first_record(self._texts[0], layout)
        found = self._kinds(connected, layout, header=header)
        if header and not _is_header(connected, first, found):
            header, found = False, self._kinds(connected, layout, header=False)
        names = named(self._header(layout, first)) if header else numbered(layout)
        if self.files.keys:
            check_spelling(self.files, [*names, *self.files.keys])
            foreign_keys(self.files, names)
        unique_names(self.source, [*names, *self.files.keys])
        return Contents(layout, header, tuple(names), tuple(found))

    def _header(self, layout: Layout, first: list[str]) -> list[str]:
        """Return the names in the first file, which all others must have too."""
        for text in self._texts[1:]:
            other = first_record(text, layout)
            if other != first:
                raise SourceError(
                    f"{self.source}: {text.source} has the columns {', '.join(other)}, but "
                    f"{self._texts[0].source} has {', '.join(first)}; write all files alike"
                )
        return first

    def _kinds(self, connected: DuckDBPyConnection, layout: Layout, *, header: bool) -> list[Kind]:
        """Find the first kind for each field that loses no value in any row."""
        rows = self._rows_of(layout, header=header)
        every = types.every_kind(commas=layout.delimiter == ";")
        pairs = [(place, kind) for place in range(layout.fields) for kind in every]
        connected.execute(f'CREATE OR REPLACE TEMP TABLE "some" AS FROM {rows} LIMIT {_LOOKED_AT}')
        left = [test.pair for test in _tested(connected, '"some"', pairs) if not test.loses]
        first = list({place: (place, kind) for place, kind in reversed(left)}.values())
        tests = _tested(connected, rows, first)
        lost = {test.place for test in tests if test.loses is not False}
        rest = [pair for pair in left if pair[0] in lost and pair not in first]
        tests += _tested(connected, rows, rest)
        taken = {test.place: test for test in reversed(tests) if test.loses is False}
        found = {place: test.kind for place, test in taken.items()}
        found = types.without_keys(connected, rows, found)
        doubts = [(place, types.THOUSANDS) for place in types.with_points(found)]
        for tried in ('"some"', rows):
            tests = _tested(connected, tried, doubts)
            doubts = [test.pair for test in tests if test.loses is False]
        found = types.settled(found, [place for place, _ in doubts])
        gaps = [place for place, test in taken.items() if test.has_words]
        for start in range(0, len(gaps), types.BLOCK):
            some = gaps[start : start + types.BLOCK]
            for place, note in types.missing_words(connected, rows, some).items():
                found[place] = found[place].with_note(note)
        return [found.get(place, types.TEXT) for place in range(layout.fields)]

    def _fault(self, layout: Layout, error: Exception) -> SourceError:
        """Say what is wrong with a line, in the words that hold for small files."""
        for text in self._texts:
            check_text(text)
            for _ in records(text, layout):
                pass
        return SourceError(
            f"{self.source}: cannot be read: {engine.reason(error)}; the lines may have different "
            "ends, or a delimiter too many at their end"
        )

    def _bytes(self, fields: Sequence[Field]) -> int:  # noqa: ARG002
        return sum(file.size for file in self.files.files)


@dataclasses.dataclass(frozen=True, slots=True)
class _Test:
    """What becomes of a field if it is taken for a kind."""

    place: int
    kind: Kind
    loses: bool | None
    """Whether a value is lost; None: there is no value at all."""
    has_words: bool
    """Whether words are read as missing values."""

    @property
    def pair(self) -> tuple[int, Kind]:
        return self.place, self.kind


def _tested(connected: DuckDBPyConnection, rows: str, pairs: list[tuple[int, Kind]]) -> list[_Test]:
    """Try fields as kinds, in all rows."""
    found = []
    for start in range(0, len(pairs), types.TESTS_AT_ONCE):
        batch = pairs[start : start + types.TESTS_AT_ONCE]
        losses = [types.loss(kind, f"c{place}") for place, kind in batch]
        texts = [f"c{place}" for place, _ in batch]
        tests = [
            f"bool_or({x}), count({y}) > count({x})" for x, y in zip(losses, texts, strict=True)
        ]
        row = connected.execute(f"SELECT {', '.join(tests)} FROM {rows}").fetchall()[0]  # noqa: S608
        results = zip(batch, row[::2], row[1::2], strict=True)
        found += [_Test(*pair, loses, has_words) for pair, loses, has_words in results]
    return found


def _sql_of(kind: Kind, place: int) -> str:
    return (kind.bare or kind.sql).replace("{}", f"c{place}")


def _is_header(connected: DuckDBPyConnection, first: list[str], found: list[Kind]) -> bool:
    for places in types.blocks(len(first)):
        fields = ", ".join(f"{literal(first[place])} AS c{place}" for place in places)
        table = types.table_at(places[0])
        connected.execute(f"CREATE OR REPLACE TEMP TABLE {table} AS SELECT {fields}")
    return types.is_header(connected, found)
