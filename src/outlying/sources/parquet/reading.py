"""One Parquet file in memory, through DuckDB.

Two limits come from the format. Arrow's durations are stored as plain whole numbers (only Arrow
itself finds its type again, in a private note), and so they are read. Categories of numbers are
stored as those numbers.
"""

from __future__ import annotations

from outlying.sources.columns import table_of, unique_names
from outlying.sources.duckdb import engine
from outlying.sources.input_file import InputFile
from outlying.sources.parquet import schema as parquet
from outlying.sources.types.duckdb import Plan, in_memory
from outlying.table.table import Table


def read(file: InputFile) -> Table:
    """Read all columns of one Parquet file."""
    source = file.source
    parquet.check_magic(source, file.path)
    with engine.plain_errors(source), engine.connection() as connected:
        path = [engine.literal_path(file.path)]
        nodes = parquet.columns_of(connected, path)[0]
        names = unique_names(source, [node.name for node in nodes])
        aliases = ", ".join(f"p{i}" for i in range(len(names)))
        # the file and nothing else: no columns from folder names, no trust in statistics
        settings = engine.settings({"hive_partitioning": "false", **parquet.distrust(connected)})
        relation = f"read_parquet(?, {settings}) AS file({aliases})"
        found = connected.execute(f"FROM {relation} LIMIT 0", path).description or ()
        plans = [
            _plan(n, alias, kind.id) for n, (alias, kind, *_) in zip(nodes, found, strict=True)
        ]
        columns = engine.fetch(connected, relation, path, list(zip(names, plans, strict=True)))
        return table_of(source, columns)


def _plan(node: parquet.Node, alias: str, kind: str) -> Plan | str:
    return parquet.wrong_in_engine(node) or in_memory(
        alias, "null" if parquet.is_null(node) else kind
    )
