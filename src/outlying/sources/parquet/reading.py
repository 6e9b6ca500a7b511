"""One Parquet file in memory, through DuckDB.

Two limits come from the format. Arrow's durations are stored as plain whole numbers (only Arrow
itself finds its type again, in a private note), and so they are read. Categories of numbers are
stored as those numbers.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from outlying.errors import SourceError
from outlying.sources.columns import Reading, table_of, unique_names
from outlying.sources.duckdb import engine
from outlying.sources.files import InputFile
from outlying.sources.parquet.texts import coded
from outlying.sources.types.duckdb import Plan, in_memory
from outlying.table.table import Table

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

#: Rows times columns from which on it pays to load Arrow.
LEAST_CELLS = 4_000_000


@dataclasses.dataclass(frozen=True, slots=True)
class Node:
    """A node of the schema of a file: a column, or what is inside a list or a record."""

    file: str
    name: str
    children: int
    logical: str | None
    digits: int
    kind: str | None
    """The engine's type, of nodes without children."""


def is_null(node: Node) -> bool:
    """Return whether a column has no values by its type, for which DuckDB 1 has no name."""
    return node.logical == "NullType()"


def wrong_in_engine(node: Node) -> str | None:
    """Say what a column holds that DuckDB 1 reads as wrong numbers."""
    if node.digits > 38 and engine.is_version_1():
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


def columns_of(connected: DuckDBPyConnection, places: list[str]) -> list[list[Node]]:
    """List the columns of each file as they are called there.

    The engine renames those that differ only in case, and those without a name. A schema is a
    tree written depth first; the columns are the children of its root.
    """
    rows = connected.execute(
        "SELECT file_name, name, coalesce(num_children, 0), logical_type, coalesce(precision, 0), "
        "duckdb_type FROM parquet_schema(?)",
        [places],
    ).fetchall()
    nodes = [Node(*row) for row in rows]
    columns: list[list[Node]] = []
    index = 0
    while index < len(nodes):
        end = _after(nodes, index)
        columns.append(_children(nodes, index + 1, end))
        index = end
    return columns


def _children(nodes: list[Node], start: int, end: int) -> list[Node]:
    found = []
    while start < end:
        found.append(nodes[start])
        start = _after(nodes, start)
    return found


def _after(nodes: list[Node], index: int) -> int:
    """Step over a node and all below it."""
    following = index + 1
    for _ in range(nodes[index].children):
        following = _after(nodes, following)
    return following


def distrust(connected: DuckDBPyConnection) -> dict[str, str]:
    """Return the setting that keeps the engine from trusting statistics.

    Those of a column with NaN may be wrong, and newer versions of the engine use them unless told
    otherwise; older versions do not know the setting.
    """
    known = connected.execute(
        "SELECT list_contains(flatten(list(parameters)), 'can_have_nan') FROM duckdb_functions() "
        "WHERE function_name = 'read_parquet'"
    ).fetchall()
    return {"can_have_nan": "true"} if known and known[0][0] else {}


def read(file: InputFile) -> Table:
    """Read all columns of one Parquet file."""
    source = file.source
    check_magic(source, file.path)
    with engine.plain_errors(source), engine.connection() as connected:
        path = [engine.literal_path(file.path)]
        nodes = columns_of(connected, path)[0]
        names = unique_names(source, [node.name for node in nodes])
        aliases = ", ".join(f"p{i}" for i in range(len(names)))
        # the file and nothing else: no columns from folder names, no trust in statistics
        settings = engine.settings({"hive_partitioning": "false", **distrust(connected)})
        relation = f"read_parquet(?, {settings}) AS file({aliases})"
        found = connected.execute(f"FROM {relation} LIMIT 0", path).description or ()
        kinds = [kind.id for _, kind, *_ in found]
        plans = [
            _plan(n, f"p{i}", kind) for i, (n, kind) in enumerate(zip(nodes, kinds, strict=True))
        ]
        rows = connected.execute(f"SELECT count(*) FROM {relation}", path).fetchall()[0][0]  # noqa: S608
        by_arrow = _by_arrow(file.path, rows, names, kinds, plans)
        rest = [place for place in range(len(names)) if place not in by_arrow]
        planned = coded(connected, relation, path, rows, [plans[place] for place in rest])
        wanted = [(names[place], plan) for place, plan in zip(rest, planned, strict=True)]
        read = dict(zip(rest, engine.fetch(connected, relation, path, wanted), strict=True))
        columns = {**read, **by_arrow}
        return table_of(source, [columns[place] for place in range(len(names))])


def _by_arrow(
    path: Path, rows: int, names: Sequence[str], kinds: Sequence[str], plans: Sequence[Plan | str]
) -> Mapping[int, Reading]:
    """Read some columns of a large file, by their places; of others it does not pay."""
    if rows * len(names) < LEAST_CELLS:
        return {}
    from outlying.sources.parquet import large

    return large.read(path, rows, names, kinds, plans)


def _plan(node: Node, alias: str, kind: str) -> Plan | str:
    return wrong_in_engine(node) or in_memory(alias, "null" if is_null(node) else kind)
