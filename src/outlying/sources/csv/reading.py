"""CSV and TSV files, one or many: read as texts by DuckDB's strict parser, then typed.

In memory the texts are parsed once and then looked at; a stream is scanned once to find the types,
which are those that lose no value in any row (`parsing.plain`).
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from collections.abc import Generator, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from outlying.errors import SourceError
from outlying.parsing.plain import ALL, PlainTally, decide
from outlying.sources.arrow_arrays import of_texts
from outlying.sources.columns import unique_names
from outlying.sources.csv.layout import (
    NO_HEADER,
    Layout,
    first_record,
    layout_of,
    lines_note,
    named,
    numbered,
    records,
    rewritten,
    table_of_texts,
)
from outlying.sources.duckdb import engine
from outlying.sources.encodings import check_text
from outlying.sources.files import InputFile, check_compression
from outlying.sources.local import BATCH_ROWS, Field, LocalFeeder, Shape, collected
from outlying.sources.passes import Batch
from outlying.sources.paths import Files, check_spelling, of_file, type_keys
from outlying.sources.private_folders import PrivateFolder
from outlying.sources.sql import literal, selected
from outlying.table.table import Table
from outlying.table.values import is_gap

if TYPE_CHECKING:
    import pyarrow
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

_LOOKED_AT = 20_480  # rows that tell whether there is a header


def read(file: InputFile) -> Table:
    """Read a file of delimited text, with or without a header line.

    What the strict parser refuses is looked at more closely. Past that look the faults are
    harmless (mixed line ends, a delimiter at the end of a line), and a copy without them is read:
    the engine's lenient parser drops surplus fields, and characters after mixed line ends.
    """
    layout = layout_of(file)
    try:
        return collected(CsvFeeder(of_file(file, notes=()), layout, in_order=True))
    except LineFaultError:
        check_text(file)
        with PrivateFolder("copy") as folder:
            footers: list[str] = []
            copy, plain = rewritten(file, layout, folder, footers)
            table = collected(CsvFeeder(of_file(copy, notes=()), plain, in_order=True))
            below = [lines_note("below", footers)] if footers else []
            return dataclasses.replace(table, notes=(*table.notes, *below))


class LineFaultError(SourceError):
    """The strict parser refuses a line."""


@contextlib.contextmanager
def reader_of(relation: DuckDBPyRelation) -> Iterator[pyarrow.RecordBatchReader]:
    """Read a relation as batches of Arrow; closed whatever happens."""
    modern = hasattr(relation, "to_arrow_reader")
    read = relation.to_arrow_reader if modern else relation.fetch_record_batch
    with contextlib.closing(read(BATCH_ROWS)) as reader:
        yield reader


def _path_of(file: InputFile) -> str:
    return literal(engine.literal_path(file.path))


def is_header(first: Sequence[str], body: Sequence[Any]) -> bool:
    """Return whether a first line is a header: one that does not read like the lines below it.

    Where these hold nothing but texts it is one, too.
    """
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


def stream(files: Files) -> CsvFeeder:
    """Feed from files of delimited text."""
    return CsvFeeder(files)


@dataclasses.dataclass(frozen=True, slots=True)
class Contents:
    """What the files hold: how lines are divided, and what columns are called."""

    layout: Layout
    header: bool
    names: tuple[str, ...]


class CsvFeeder(LocalFeeder):
    """Files of delimited text that are one table."""

    knows_types = False

    def __init__(
        self, files: Files, layout: Layout | None = None, *, in_order: bool = False
    ) -> None:
        """Feed from files, whose layout may be known; in memory, rows keep their order."""
        super().__init__(files.source)
        self.files = files
        self._given, self._in_order = layout, in_order

    def _inspect(self) -> Shape:
        import pyarrow as pa

        contents, text = self._contents, pa.large_string()
        self.commas = contents.layout.delimiter == ";"
        fields = [Field(name, f"c{place}", text, text) for place, name in enumerate(contents.names)]
        fields += [Field(key, key, values.type, values.type) for key, values in self._keys.items()]
        header = [] if contents.header else [NO_HEADER]
        notes = (*self.files.notes, *contents.layout.notes, *header)
        return Shape(tuple(fields), (), notes)

    def _connected(self) -> AbstractContextManager[DuckDBPyConnection]:
        large: engine.Config = {"arrow_large_buffer_size": True}
        return engine.connection(large) if self._in_order else engine.streaming_connection()

    @functools.cached_property
    def _keys(self) -> dict[str, Any]:
        return type_keys([dict(file.keys) for file in self.files.files])

    @functools.cached_property
    def _texts(self) -> list[InputFile]:
        suffix = self.files.suffix
        return [InputFile.of(file.name, file.path, suffix) for file in self.files.files]

    @functools.cached_property
    def _contents(self) -> Contents:
        """What the files hold, as far as their first rows tell."""
        if not self._in_order:
            for text in self._texts:
                check_compression(text)
        layout = self._given or self._layout()
        first = first_record(self._texts[0], layout)
        with self._told(layout), self._connected() as connected:
            rows = table_of_texts(_path_of(self._texts[0]), self._texts[0], layout, header=False)
            with reader_of(connected.sql(f"FROM {rows} LIMIT {_LOOKED_AT}")) as reader:
                some = reader.read_all().columns
        header = is_header(first, [text.slice(1) for text in some])
        names = named(self._header(layout, first)) if header else numbered(layout)
        if self.files.keys:
            check_spelling(self.source, [*names, *self.files.keys])
        unique_names(self.source, [*names, *self.files.keys])
        return Contents(layout, header, tuple(names))

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

    def _batches(
        self, connected: DuckDBPyConnection, layout: Layout, header: bool, columns: Sequence[str]
    ) -> Generator[tuple[int, Batch], None, None]:
        """Read some fields as texts, with the number of the file where folders give keys."""
        paths = [_path_of(text) for text in self._texts]
        if not self.files.keys:
            paths = [f"[{', '.join(paths)}]"]
        for number, path in enumerate(paths):
            rows = table_of_texts(path, self._texts[0], layout, header=header)
            with reader_of(connected.sql(f"SELECT {selected(columns)} FROM {rows}")) as reader:  # noqa: S608
                for batch in reader:
                    yield number, batch

    def _read(self, fields: Sequence[Field]) -> Generator[Batch, None, None]:
        import pyarrow as pa

        contents = self._contents
        own = [field for field in fields if field.name not in self._keys]
        self.files.check_unchanged()
        with self._told(contents.layout), self._connected() as connected:
            wanted = [field.sql for field in own]
            for number, batch in self._batches(connected, contents.layout, contents.header, wanted):
                texts = dict(zip((field.name for field in own), batch.columns, strict=False))
                arrays = [
                    texts[f.name]
                    if f.name in texts
                    else pa.repeat(self._keys[f.name][number], batch.num_rows)
                    for f in fields
                ]
                names = [field.name for field in fields]
                yield pa.RecordBatch.from_arrays(arrays, names) if fields else batch
        self.files.check_unchanged()

    @contextlib.contextmanager
    def _told(self, layout: Layout) -> Iterator[None]:
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
        except LineFaultError:
            raise
        except SourceError:
            for text in self._texts:  # a byte that is no text may be in any row
                check_text(text)
            raise

    def _fault(self, layout: Layout, error: Exception) -> SourceError:
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
