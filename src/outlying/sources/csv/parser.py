"""DuckDB's parser of CSV files, told how the lines are divided and what it may guess.

The engine finds the header and the types, but not how the lines are divided: left to itself it may
lose rows without a word. It takes a file with one overlong line for a file of a single column,
data rows that begin with # for comments, and the lines before the longest one for a preamble. So
the delimiter is chosen by us (`layout`), every line must have the fields of the first one, and all
fields come as text, whose types are another matter (`types`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from outlying.sources.csv.layout import Layout
from outlying.sources.csv.types import UNTYPED_WORDS, Sniffed
from outlying.sources.duckdb import engine
from outlying.sources.input_file import InputFile
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
        f"SELECT HasHeader, Columns, DateFormat, TimestampFormat FROM sniff_csv(?, {settings})",  # noqa: S608
        [engine.literal_path(file.path)],
    ).fetchall()
    header, columns, dates, moments = found[0]
    types = [column["type"] for column in columns]
    return Sniffed(header, types, {"DATE": dates, "TIMESTAMP": moments})


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
