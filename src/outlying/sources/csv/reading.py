"""CSV and TSV files in memory: all fields are loaded as text, and then looked at."""

from __future__ import annotations

import dataclasses
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from outlying.sources.columns import Reading, table_of, unique_names
from outlying.sources.csv import types
from outlying.sources.csv.layout import (
    NO_HEADER,
    Layout,
    layout_of,
    numbered,
    rewritten,
    sniff,
    table_of_texts,
)
from outlying.sources.duckdb import engine
from outlying.sources.files import InputFile, check_text
from outlying.sources.sql import literal
from outlying.table.table import Table

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


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
        except duckdb.InvalidInputException:
            check_text(file)
            with tempfile.TemporaryDirectory() as folder:
                copy = rewritten(file, layout, Path(folder))
                return _read(connected, copy, dataclasses.replace(layout, line_end=r"\n"))


def _read(connected: DuckDBPyConnection, file: InputFile, layout: Layout) -> Table:
    _load(connected, file, layout)
    sniffed = _sniffed(connected, file, layout)
    kinds = types.kinds_of(connected, sniffed)
    header = sniffed.has_header and types.is_header(connected, kinds)
    names = _header(connected, file) if header else numbered(layout)
    columns = _columns(connected, names, kinds, header)
    return table_of(file.source, columns, [] if header else [NO_HEADER])


def _load(connected: DuckDBPyConnection, file: InputFile, layout: Layout) -> None:
    rows = table_of_texts("?", file, layout, header=False)
    connected.execute(
        f"CREATE OR REPLACE TEMP TABLE {types.TABLE} AS FROM {rows}",
        [engine.literal_path(file.path)],
    )


def _sniffed(connected: DuckDBPyConnection, file: InputFile, layout: Layout) -> types.Sniffed:
    """Return header and types as the engine finds them, also with decimal commas between ;."""
    sniffed = sniff(connected, file, layout)
    if layout.delimiter != ";" or "VARCHAR" not in sniffed.types:
        return sniffed
    commas = sniff(connected, file, layout, decimal_separator=literal(",")).types
    both = zip(sniffed.types, commas, strict=True)
    names = [types.COMMAS if pair == ("VARCHAR", "DOUBLE") else pair[0] for pair in both]
    return dataclasses.replace(sniffed, types=names)


def _header(connected: DuckDBPyConnection, file: InputFile) -> list[str]:
    first = connected.execute(f"FROM {types.TABLE} WHERE rowid = 0").fetchone() or ()
    return unique_names(file.source, ("" if name is None else name for name in first))


def _columns(
    connected: DuckDBPyConnection, names: list[str], kinds: list[types.Kind], header: bool
) -> list[Reading]:
    # ordered here as well: where the engine makes a join of an expression (it does so of a long
    # IN), preserve_insertion_order does not keep rows in their places
    rows = f"{types.TABLE} WHERE rowid >= {int(header)}"
    plans = [kind.plan(f"c{place}") for place, kind in enumerate(kinds)]
    wanted = list(zip(names, plans, strict=True))
    readings = engine.fetch(connected, f"{rows} ORDER BY rowid", [], wanted)
    gaps = [
        place
        for place, (kind, reading) in enumerate(zip(kinds, readings, strict=True))
        if kind is not types.TEXT and reading.has_gaps
    ]
    words = types.missing_words(connected, rows, gaps)
    return [
        reading.with_note(kind.note).with_note(words.get(place))
        for place, (kind, reading) in enumerate(zip(kinds, readings, strict=True))
    ]
