"""CSV and TSV files larger than memory, by the rules that hold for small ones.

Small files are loaded as text and then looked at; here they are scanned. A kind is taken for a
column only if it loses no value in any row; the rows of a first look only rule kinds out. Numbers
that are too long for 64 bits are read as texts, as they are keys and no quantities.
"""

from __future__ import annotations

import csv
import dataclasses
import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING

from outlying.errors import SourceError
from outlying.feeders.duck import plain_errors, private_connection
from outlying.feeders.files import (
    FilesFeeder,
    check_spelling,
    foreign_keys,
    identifier,
    partition_columns,
    partition_settings,
    place_list,
)
from outlying.feeders.local import Field, Shape
from outlying.sources import delimited, engine, kinds
from outlying.sources.columns import unique_names
from outlying.sources.text import TextFile, check_compression, check_text

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_SNIFFED = 20_480
_LOOKED_AT = 2048
_TESTS_AT_ONCE = 200
NO_HEADER = "no header line found: columns are named column0, column1, ..."


@dataclasses.dataclass(frozen=True, slots=True)
class Reading:
    """How the files are read: what divides them, what they are called, what they hold."""

    layout: delimited.Layout
    header: bool
    names: tuple[str, ...]
    kinds: tuple[kinds.Kind, ...]


class DelimitedFeeder(FilesFeeder):
    """Files of delimited text that are one table."""

    def _inspect(self) -> Shape:
        with plain_errors(self.source), self._relation() as relation:
            names = [*self._reading.names, *self.files.keys]
            shape = self._shape_of(relation, names)
        pairs = zip(self._reading.names, self._reading.kinds, strict=True)
        said = [f"column {name!r}: {kind.note}" for name, kind in pairs if kind.note]
        notes = [*self.files.notes, *([] if self._reading.header else [NO_HEADER]), *said]
        return Shape(shape.fields, shape.skipped, tuple(notes))

    def _query(self, connected: DuckDBPyConnection) -> str:  # noqa: ARG002
        reading = self._reading
        columns = [_sql_of(kind, place) for place, kind in enumerate(reading.kinds)]
        typed = [f"{sql} AS c{place}" for place, sql in enumerate(columns)]
        keys = partition_columns(self.files).items()
        typed += [f"{sql} AS {identifier(key)}" for key, sql in keys]
        rows = self._rows_of(reading.layout, header=reading.header)
        return f"SELECT {', '.join(typed)} FROM {rows}"  # noqa: S608 (quoted)

    def _rows_of(self, layout: delimited.Layout, *, header: bool) -> str:
        """Write the table of all fields as texts: c0, c1, ..."""
        columns = ", ".join(f"c{place}: 'VARCHAR'" for place in range(layout.fields))
        partition = dict(part.split(" = ") for part in partition_settings(self.files))
        settings = {"auto_detect": "false", "header": str(header).lower(), **partition}
        written = delimited.settings_of(
            self._texts[0], layout, columns="{" + columns + "}", **settings
        )
        return f"read_csv({place_list(self.files)}, {written})"

    @functools.cached_property
    def _texts(self) -> list[TextFile]:
        suffix = self.files.suffix
        return [
            TextFile(file.name, file.path, suffix.removesuffix(".gz"), suffix.endswith(".gz"))
            for file in self.files.files
        ]

    @functools.cached_property
    def _reading(self) -> Reading:
        """What the files hold, found in all their rows."""
        import duckdb

        for text in self._texts:
            check_compression(text)
        layout = self._layout()
        try:
            with private_connection(self._memory) as connected:
                return self._found(connected, layout)
        except duckdb.InvalidInputException as error:
            raise self._fault(layout, error) from None

    def _layout(self) -> delimited.Layout:
        """Find what divides the fields, which must be the same in all files."""
        layout = delimited.layout_of(self._texts[0])
        for text in self._texts[1:]:
            other = delimited.layout_of(text)
            if other != layout:
                raise SourceError(
                    f"{self.source}: {self._texts[0].source} begins with {_said(layout)}, "
                    f"{text.source} with {_said(other)}; write all files alike"
                )
        return layout

    def _found(self, connected: DuckDBPyConnection, layout: delimited.Layout) -> Reading:
        looked = str(_SNIFFED)
        header = delimited.sniff(connected, self._texts[0], layout, sample_size=looked).has_header
        first = _first_record(self._texts[0], layout)
        found = self._kinds(connected, layout, header=header)
        if header and not _is_header(connected, first, found):
            header, found = False, self._kinds(connected, layout, header=False)
        names = self._header(layout, first) if header else _numbered(layout)
        if self.files.keys:
            check_spelling(self.files, [*names, *self.files.keys])
            foreign_keys(self.files, names)
        unique_names(self.source, [*names, *self.files.keys])
        return Reading(layout, header, tuple(names), tuple(found))

    def _header(self, layout: delimited.Layout, first: list[str]) -> list[str]:
        """Take the names of the first file, which all others must have too."""
        for text in self._texts[1:]:
            other = _first_record(text, layout)
            if other != first:
                raise SourceError(
                    f"{self.source}: {text.source} has the columns {', '.join(other)}, but "
                    f"{self._texts[0].source} has {', '.join(first)}; write all files alike"
                )
        return first

    def _kinds(
        self, connected: DuckDBPyConnection, layout: delimited.Layout, *, header: bool
    ) -> list[kinds.Kind]:
        """Find the first kind for each field that loses no value in any row."""
        rows = self._rows_of(layout, header=header)
        every = kinds.every_kind(commas=layout.delimiter == ";")
        pairs = [(place, kind) for place in range(layout.fields) for kind in every]
        connected.execute(f'CREATE OR REPLACE TEMP TABLE "some" AS FROM {rows} LIMIT {_LOOKED_AT}')
        left = [pair for pair, loses in _losses(connected, '"some"', pairs) if not loses]
        first = list({place: (place, kind) for place, kind in reversed(left)}.values())
        tested = _losses(connected, rows, first)
        lost = {place for (place, _), loses in tested if loses is not False}
        rest = [pair for pair in left if pair[0] in lost and pair not in first]
        tested += _losses(connected, rows, rest)
        found = {place: kind for (place, kind), loses in reversed(tested) if loses is False}
        return [found.get(place, kinds.TEXT) for place in range(layout.fields)]

    def _fault(self, layout: delimited.Layout, error: Exception) -> SourceError:
        """Say what is wrong with a line, in the words that hold for small files."""
        for text in self._texts:
            check_text(text)
            for _ in delimited.records(text, layout):
                pass
        return SourceError(
            f"{self.source}: cannot be read: {engine.reason(error)}; the lines may have different "
            "ends, or a delimiter too many at their end"
        )

    def _bytes(self, fields: Sequence[Field]) -> int:  # noqa: ARG002
        return sum(file.size for file in self.files.files)


def _losses(
    connected: DuckDBPyConnection, rows: str, pairs: list[tuple[int, kinds.Kind]]
) -> list[tuple[tuple[int, kinds.Kind], bool | None]]:
    """Say of each field and kind whether a value is lost; None: there is no value at all."""
    found: list[bool | None] = []
    for start in range(0, len(pairs), _TESTS_AT_ONCE):
        batch = pairs[start : start + _TESTS_AT_ONCE]
        tests = ", ".join(f"bool_or({kinds.loss(kind, place)})" for place, kind in batch)
        found += connected.execute(f"SELECT {tests} FROM {rows}").fetchall()[0]  # noqa: S608
    return list(zip(pairs, found, strict=True))


def _sql_of(kind: kinds.Kind, place: int) -> str:
    sql = (kind.bare or kind.sql).replace("{}", f"c{place}")
    return f"trim({sql})" if kind is kinds.LONG else sql


def _is_header(connected: DuckDBPyConnection, first: list[str], found: list[kinds.Kind]) -> bool:
    fields = ", ".join(f"{engine.quoted(text)} AS c{place}" for place, text in enumerate(first))
    connected.execute(f"CREATE OR REPLACE TEMP TABLE {kinds.TABLE} AS SELECT {fields}")
    return kinds.is_header(connected, found)


def _first_record(text: TextFile, layout: delimited.Layout) -> list[str]:
    with text.open_text() as stream:
        records = csv.reader(stream, delimiter=layout.delimiter)
        return next(record for record in records if record)[: layout.fields]


def _numbered(layout: delimited.Layout) -> list[str]:
    return [f"column{place}" for place in range(layout.fields)]


def _said(layout: delimited.Layout) -> str:
    return f"{layout.fields} fields divided by {layout.delimiter!r}"
