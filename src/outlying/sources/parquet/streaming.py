"""Parquet files of any number, read column by column.

Files may lack columns that others have, which are missing values there. A column must hold the
same sort of values in all of them: numbers in one file and texts in the next are no column.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from outlying.errors import SourceError
from outlying.sources.duckdb import engine
from outlying.sources.duckdb.files import (
    FilesFeeder,
    check_spelling,
    foreign_keys,
    literal_paths,
    partition_columns,
    partition_settings,
    path_list,
)
from outlying.sources.local import Field, Shape
from outlying.sources.parquet import plain
from outlying.sources.parquet import reading as parquet
from outlying.sources.passes import Batch
from outlying.sources.paths import Files
from outlying.sources.sql import identifier
from outlying.sources.types.duckdb import values_of

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def stream(files: Files) -> ParquetFeeder:
    """Feed from Parquet files."""
    return ParquetFeeder(files)


class ParquetFeeder(FilesFeeder):
    """Parquet files that are one table."""

    def _inspect(self) -> Shape:
        for file in self.files.files:
            parquet.check_magic(file.name, file.path)
        with engine.plain_errors(self.source), self._relation() as relation:
            names = self._own_names(relation.columns)
            shape = self._shape_of(relation, names, *self._corrections(names))
        notes = (*self.files.notes, *self._notes())
        return Shape(shape.fields, shape.skipped, notes)

    def _read(self, fields: Sequence[Field]) -> Generator[Batch, None, None]:
        paths = [file.path for file in self.files.files]
        if self.files.keys or not plain.are_plain(paths, fields):
            yield from super()._read(fields)
        else:
            self.files.check_unchanged()
            yield from plain.batches(self.source, paths, fields)
            self.files.check_unchanged()

    @property
    def _is_joined(self) -> bool:
        """Whether the table is more than one file as it is."""
        return len(self.files.files) > 1 or bool(self.files.keys)

    @functools.cached_property
    def _columns(self) -> list[parquet.Node]:
        """The columns of all files, which must fit together."""
        with engine.connection() as connected:
            columns = parquet.columns_of(connected, literal_paths(self.files))
        nodes = [node for fields in columns for node in fields]
        if self._is_joined:
            check_spelling(self.files, [*(node.name for node in nodes), *self.files.keys])
            self._check_same_values(nodes)
        return nodes

    def _check_same_values(self, nodes: list[parquet.Node]) -> None:
        first: dict[str, tuple[str, str]] = {}
        for node in nodes:
            values = _values_of(node)
            if values is None or node.name in self.files.keys:
                continue
            other, file = first.setdefault(node.name, (values, node.file))
            if other != values:
                raise SourceError(
                    f"{self.source}: column {node.name!r} holds {other} in {file} and {values} in "
                    f"{node.file}; write both alike, or name only files that fit together"
                )

    def _own_names(self, engine_names: Sequence[str]) -> list[str]:
        """Return the names of columns as they are in the file; the engine renames some."""
        return list(engine_names) if self._is_joined else [node.name for node in self._columns]

    def _corrections(self, names: Sequence[str]) -> tuple[dict[str, str], dict[str, str]]:
        """Return types that DuckDB 1 has no name for, and why to leave out what it reads wrong."""
        nodes = self._columns
        wrong = {node.name: why for node in nodes if (why := parquet.wrong_in_engine(node))}
        known = {node.name for node in nodes if not parquet.is_null(node)}
        kinds = {name: "null" for name in names if name not in known | set(self.files.keys)}
        return kinds, wrong

    def _query(self, connected: DuckDBPyConnection) -> str:
        settings = partition_settings(self.files) | parquet.distrust(connected)
        if len(self.files.files) > 1:
            settings["union_by_name"] = "true"
        read = f"read_parquet({path_list(self.files)}, {engine.settings(settings)})"
        return f"SELECT {self._star()} FROM {read}"  # noqa: S608 (quoted)

    def _star(self) -> str:
        """Select all columns, those from folders with their types."""
        names = [node.name for node in self._columns]
        self._check_doubled()
        foreign = ", ".join(map(identifier, foreign_keys(self.files, names)))
        typed = partition_columns(self.files)
        keys = ", ".join(f"{sql} AS {identifier(key)}" for key, sql in typed.items())
        without = f" EXCLUDE ({foreign})" if foreign else ""
        return f"*{without} REPLACE ({keys})" if keys else f"*{without}"

    def _check_doubled(self) -> None:
        """Refuse what DuckDB 1 fails at."""
        for key in self._doubled():
            if engine.is_version_1():
                raise SourceError(
                    f"{self.source}: column {key!r} is in the files and in the names of their "
                    "folders; rename one of them, or install DuckDB 2 or later"
                )

    def _doubled(self) -> list[str]:
        names = {node.name for node in self._columns}
        return [key for key in self.files.keys if key in names]

    def _notes(self) -> list[str]:
        """Say which columns are not in all files, or in the names of their folders as well."""
        files = len(self.files.files)
        counts = Counter(node.name for node in self._columns if node.name not in self.files.keys)
        lacking = [
            f"column {name!r}: not in {files - count} of {files} files, read as missing there"
            for name, count in counts.items()
            if count < files
        ]
        return lacking + [
            f"column {key!r}: in the files and in the names of their folders, which are taken"
            for key in self._doubled()
        ]

    @functools.cached_property
    def _sizes(self) -> Mapping[str, int]:
        """The compressed bytes of every column."""
        return dict(
            self._asked(
                "SELECT path_in_schema, sum(total_compressed_size)::BIGINT "
                "FROM parquet_metadata(?) GROUP BY ALL"
            )
        )

    def _bytes(self, fields: Sequence[Field]) -> int:
        return sum(self._sizes.get(field.name, 0) for field in fields)

    @functools.cached_property
    def _counted_rows(self) -> int:
        found = self._asked("SELECT sum(num_rows)::BIGINT FROM parquet_file_metadata(?)")
        return int(found[0][0])

    def _total(self) -> int:
        return self._counted_rows

    def _asked(self, query: str) -> list[tuple[Any, ...]]:
        """Ask the engine for what is written in the files beside their rows."""
        with engine.plain_errors(self.source), engine.connection() as connected:
            return connected.execute(query, [literal_paths(self.files)]).fetchall()


def _values_of(node: parquet.Node) -> str | None:
    """Say what a column holds; None: nothing at all, which fits everywhere."""
    if parquet.is_null(node):
        return None
    if node.children or node.kind is None:
        return "lists or records"
    return values_of(node.kind.split("(")[0].lower())
