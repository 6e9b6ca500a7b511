"""Parquet files, through DuckDB.

Two limits come from the format. Arrow's durations are stored as plain whole numbers (only Arrow
itself finds its type again, in a private note), and so they are read. Categories of numbers are
stored as those numbers.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

from outlying.errors import SourceError
from outlying.sources import duckdb as engine
from outlying.sources.columns import table_of, unique_names
from outlying.table.table import Table

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


@dataclasses.dataclass(frozen=True, slots=True)
class Field:
    """A node of the file's schema, as far as the engine's own description is not enough."""

    file: str
    name: str
    children: int
    logical: str | None
    digits: int
    kind: str | None
    """The engine's type, of nodes without children."""


def read(source: str, path: Path) -> Table:
    """Read all columns of one Parquet file."""
    check_magic(source, path)
    with engine.plain_errors(source), engine.connection() as connected:
        place = [engine.literal_path(path)]
        fields = columns_of(connected, place)[0]
        names = unique_names(source, [field.name for field in fields])
        aliases = ", ".join(f"p{i}" for i in range(len(names)))
        relation = f"read_parquet(?, {_settings(connected)}) AS file({aliases})"
        found = connected.execute(f"FROM {relation} LIMIT 0", place).description or ()
        plans = [
            _plan(f, alias, kind.id) for f, (alias, kind, *_) in zip(fields, found, strict=True)
        ]
        return table_of(
            source, engine.fetch(connected, relation, place, list(zip(names, plans, strict=True)))
        )


def _plan(field: Field, alias: str, kind: str) -> engine.Plan | str:
    return wrong_in_engine(field) or engine.plan_of(alias, "null" if is_null(field) else kind)


def is_null(field: Field) -> bool:
    """Return whether a column has no values by its type, for which DuckDB 1 has no name."""
    return field.logical == "NullType()"


def wrong_in_engine(field: Field) -> str | None:
    """Say what a column holds that DuckDB 1 reads as wrong numbers."""
    import duckdb

    if field.digits > 38 and duckdb.__version__.startswith("1."):
        return "decimals of more than 38 digits"
    return None


def check_magic(source: str, path: Path) -> None:
    """Refuse what is cut off or no Parquet file at all, in clearer words than the engine's."""
    with path.open("rb") as stream:
        start = stream.read(4)
        stream.seek(max(0, path.stat().st_size - 4))
        end = stream.read(4)
    if start != b"PAR1":
        raise SourceError(f"{source}: is not a Parquet file (it does not start with PAR1)")
    if end != b"PAR1":
        raise SourceError(
            f"{source}: the Parquet file is cut off (its end is missing); copy it again"
        )


def columns_of(connected: DuckDBPyConnection, places: list[str]) -> list[list[Field]]:
    """List the columns of each file as they are called there.

    The engine renames those that differ only in case, and those without a name. A schema is a
    tree written depth first; the columns are the children of its root.
    """
    nodes = connected.execute(
        "SELECT file_name, name, coalesce(num_children, 0), logical_type, coalesce(precision, 0), "
        "duckdb_type FROM parquet_schema(?)",
        [places],
    ).fetchall()
    fields = [Field(*node) for node in nodes]
    columns: list[list[Field]] = []
    index = 0
    while index < len(fields):
        end = _after(fields, index)
        columns.append(_children(fields, index + 1, end))
        index = end
    return columns


def _children(fields: list[Field], start: int, end: int) -> list[Field]:
    found = []
    while start < end:
        found.append(fields[start])
        start = _after(fields, start)
    return found


def _after(fields: list[Field], index: int) -> int:
    """Step over a node and all below it."""
    following = index + 1
    for _ in range(fields[index].children):
        following = _after(fields, following)
    return following


def _settings(connected: DuckDBPyConnection) -> str:
    """Read the file and nothing else: no columns from folder names, no trust in statistics."""
    return ", ".join(("hive_partitioning = false", *distrust(connected)))


def distrust(connected: DuckDBPyConnection) -> tuple[str, ...]:
    """Return the setting that keeps the engine from trusting statistics.

    Those of a column with NaN may be wrong, and newer versions of the engine use them unless told
    otherwise; older versions do not know the setting.
    """
    known = connected.execute(
        "SELECT list_contains(flatten(list(parameters)), 'can_have_nan') FROM duckdb_functions() "
        "WHERE function_name = 'read_parquet'"
    ).fetchall()
    return ("can_have_nan = true",) if known and known[0][0] else ()
