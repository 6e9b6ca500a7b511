"""Files of any number and size, through DuckDB.

What is the same for all formats: a list of files that must not change between two scans, and
columns that their folders give them (key=value), whose types are found from all folders.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Generator, Iterator, Sequence
from typing import TYPE_CHECKING

from outlying.errors import ColumnError, SourceError
from outlying.sources import paths
from outlying.sources.duckdb import engine
from outlying.sources.duckdb.feeder import DuckFeeder
from outlying.sources.local import Field
from outlying.sources.passes import Batch
from outlying.sources.sql import identifier, literal
from outlying.sources.types.text import ISO_PATTERNS

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation


class FilesFeeder(DuckFeeder):
    """Files that are one table, in a database of our own."""

    def __init__(self, files: paths.Files, memory: str = engine.MEMORY):
        """Feed from files; `memory` is what the engine may use."""
        super().__init__(self._relation, files.source)
        self.files = files
        self._memory = memory

    @contextlib.contextmanager
    def _relation(self) -> Iterator[DuckDBPyRelation]:
        self.files.check_unchanged()
        with engine.streaming_connection(self._memory) as connected:
            yield connected.sql(self._query(connected))

    def _query(self, connected: DuckDBPyConnection) -> str:
        """Write the query that selects the columns with the types they have."""
        raise NotImplementedError

    def _read(self, fields: Sequence[Field]) -> Generator[Batch, None, None]:
        yield from super()._read(fields)
        self.files.check_unchanged()


def literal_paths(files: paths.Files) -> list[str]:
    """Return the paths as the engine takes them: as files, not as patterns."""
    return [engine.literal_path(file.path) for file in files.files]


def path_list(files: paths.Files) -> str:
    """Write the paths as an SQL list."""
    return f"[{', '.join(map(literal, literal_paths(files)))}]"


def partition_settings(files: paths.Files) -> dict[str, str]:
    """Return the engine's settings for columns that come from folders, as texts at first."""
    if not files.keys:
        return {"hive_partitioning": "false"}
    return {"hive_partitioning": "true", "hive_types_autocast": "false"}


def partition_columns(files: paths.Files) -> dict[str, str]:
    """Write the SQL of each column that comes from folders, typed by the values of all of them."""
    return {
        key: _typed_key(key, [dict(file.keys)[key] for file in files.files]) for key in files.keys
    }


def _typed_key(key: str, values: Sequence[str | None]) -> str:
    known = [value for value in values if value is not None]
    text = f"nullif({identifier(key)}, {literal(paths.HIVE_NULL)})"
    if known and all(re.fullmatch(r"-?\d{1,18}", value) for value in known):
        return f"CAST({text} AS BIGINT)"
    if known and all(re.fullmatch(ISO_PATTERNS["date"], value) for value in known):
        return f"CAST({text} AS DATE)"
    return text


def foreign_keys(files: paths.Files, columns: Sequence[str]) -> list[str]:
    """Return the keys of folders above the table, which the engine takes for columns of it too."""
    if not files.keys:
        return []
    depth = len(files.keys)
    folders = files.files[0].path.absolute().parts[:-1]
    keys = [key for key, _ in paths.keys_in(folders)]
    above = keys[: len(keys) - depth]
    for key in above:
        if key in columns or key in files.keys:
            raise SourceError(
                f"{files.source}: a folder above the table is called {key}=..., as is a column; "
                "move the table to a folder without it, or rename the folder"
            )
    return above


def check_spelling(files: paths.Files, names: Sequence[str]) -> None:
    """Refuse names that differ only in case: the engine cannot keep them apart in several files."""
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(name.casefold(), name)
        if other != name:
            raise ColumnError(
                f"{files.source}: columns {other!r} and {name!r} differ only in case, which cannot "
                "be told apart across several files; rename one of them"
            )
