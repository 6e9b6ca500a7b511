"""CSV and TSV files in memory: all fields are loaded as text, and then looked at."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING

from outlying.sources.columns import Reading, table_of, unique_names
from outlying.sources.csv import types
from outlying.sources.csv.layout import (
    NO_HEADER,
    Layout,
    layout_of,
    lines_note,
    named,
    numbered,
    rewritten,
    sniff,
    table_of_texts,
)
from outlying.sources.duckdb import engine
from outlying.sources.encodings import check_text
from outlying.sources.files import InputFile
from outlying.sources.private_folders import PrivateFolder
from outlying.sources.sql import literal
from outlying.table.table import Table

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_ALL = "fields"


def read(file: InputFile) -> Table:
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
        except (duckdb.InvalidInputException, duckdb.NotImplementedException):
            check_text(file)
            with PrivateFolder("copy") as folder:
                footers: list[str] = []
                table = _read(connected, *rewritten(file, layout, folder, footers))
                below = [lines_note("below", footers)] if footers else []
                return dataclasses.replace(table, notes=(*table.notes, *below))


def _read(connected: DuckDBPyConnection, file: InputFile, layout: Layout) -> Table:
    _load(connected, file, layout)
    sniffed = _sniffed(connected, file, layout)
    kinds = types.kinds_of(connected, sniffed)
    header = sniffed.has_header and types.is_header(connected, kinds)
    names = _header(connected, file, layout.fields) if header else numbered(layout)
    columns = list(_columns(connected, names, kinds, header))
    return table_of(file.source, columns, [*layout.notes, *([] if header else [NO_HEADER])])


def _load(connected: DuckDBPyConnection, file: InputFile, layout: Layout) -> None:
    """Load all fields as text, into one table or, where they are many, into several."""
    rows, path = table_of_texts("?", file, layout, header=False), engine.literal_path(file.path)
    parts = types.blocks(layout.fields)
    whole = types.table_at(0) if len(parts) == 1 else _ALL
    connected.execute(f"CREATE OR REPLACE TEMP TABLE {whole} AS FROM {rows}", [path])
    if len(parts) == 1:
        return
    for places in parts:
        fields = ", ".join(f"c{place}" for place in places)
        block = types.table_at(places[0])
        some = f"SELECT {fields} FROM {_ALL}"  # noqa: S608 (names are our own)
        connected.execute(f"CREATE OR REPLACE TEMP TABLE {block} AS {some}")
    connected.execute(f"DROP TABLE {_ALL}")


def _sniffed(connected: DuckDBPyConnection, file: InputFile, layout: Layout) -> types.Sniffed:
    """Return header and types as the engine finds them, also with decimal commas between ;."""
    sniffed = sniff(connected, file, layout)
    if layout.delimiter != ";" or "VARCHAR" not in sniffed.types:
        return sniffed
    commas = sniff(connected, file, layout, decimal_separator=literal(",")).types
    both = zip(sniffed.types, commas, strict=True)
    names = [types.COMMAS if pair == ("VARCHAR", "DOUBLE") else pair[0] for pair in both]
    return dataclasses.replace(sniffed, types=names)


def _header(connected: DuckDBPyConnection, file: InputFile, fields: int) -> list[str]:
    tables = (types.table_at(places[0]) for places in types.blocks(fields))
    firsts = (connected.execute(f"FROM {t} WHERE rowid = 0").fetchone() or () for t in tables)
    first = itertools.chain.from_iterable(firsts)
    return unique_names(file.source, named("" if name is None else name for name in first))


def _columns(
    connected: DuckDBPyConnection, names: list[str], kinds: list[types.Kind], header: bool
) -> Iterator[Reading]:
    # ordered here as well: where the engine makes a join of an expression (it does so of a long
    # IN), preserve_insertion_order does not keep rows in their places
    for places in types.blocks(len(kinds)):
        rows = f"{types.table_at(places[0])} WHERE rowid >= {int(header)}"
        wanted = [(names[place], kinds[place].plan(f"c{place}")) for place in places]
        readings = engine.fetch(connected, f"{rows} ORDER BY rowid", [], wanted)
        found = list(zip(places, readings, strict=True))
        gaps = [
            place for place, reading in found if kinds[place] is not types.TEXT and reading.has_gaps
        ]
        words = types.missing_words(connected, rows, gaps)
        for place, reading in found:
            yield reading.with_note(kinds[place].note).with_note(words.get(place))
