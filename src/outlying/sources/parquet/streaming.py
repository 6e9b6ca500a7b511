"""Parquet files of any number, read column by column.

Files may lack columns that others have, which are missing values there. A column must hold the
same sort of values in all of them: numbers in one file and texts in the next are no column.
"""

from __future__ import annotations

import functools
from collections.abc import Generator, Mapping, Sequence
from typing import TYPE_CHECKING

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
from outlying.sources.parquet.schema import (
    Node,
    check_magic,
    columns_of,
    distrust,
    is_null,
    wrong_in_engine,
)
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
            check_magic(file.name, file.path)
        with engine.plain_errors(self.source):
            columns = self._columns
            with self._relation() as relation:
                names = self._own_names(relation.columns)
                shape = self._shape_of(relation, names, *self._corrections(names))
        notes = [*self.files.notes, *self._lacking(columns), *self._doubled(columns)]
        return Shape(shape.fields, shape.skipped, tuple(notes))

    def _read(self, fields: Sequence[Field]) -> Generator[Batch, None, None]:
        paths = [file.path for file in self.files.files]
        if self.files.keys or not plain.are_plain(paths, fields):
            yield from super()._read(fields)
        else:
            self.files.check_unchanged()
            yield from plain.batches(self.source, paths, fields)
            self.files.check_unchanged()

    @functools.cached_property
    def _columns(self) -> list[list[Node]]:
        """The columns of every file, which must fit together."""
        with engine.connection() as connected:
            columns = columns_of(connected, literal_paths(self.files))
        if len(columns) > 1 or self.files.keys:
            names = [field.name for fields in columns for field in fields]
            check_spelling(self.files, [*names, *self.files.keys])
            self._check_same_values(columns)
            self._check_doubled(columns)
        return columns

    def _own_names(self, engine_names: Sequence[str]) -> list[str]:
        """Return the names of columns as they are in the file; the engine renames some."""
        if len(self._columns) > 1 or self.files.keys:
            return list(engine_names)
        return [field.name for field in self._columns[0]]

    def _corrections(self, names: Sequence[str]) -> tuple[dict[str, str], dict[str, str]]:
        """Return types that DuckDB 1 has no name for, and why to leave out what it reads wrong."""
        every = [field for fields in self._columns for field in fields]
        wrong = {field.name: why for field in every if (why := wrong_in_engine(field))}
        known = {field.name for field in every if not is_null(field)}
        kinds = {name: "null" for name in names if name not in known | set(self.files.keys)}
        return kinds, wrong

    def _query(self, connected: DuckDBPyConnection) -> str:
        settings = partition_settings(self.files) | distrust(connected)
        if len(self.files.files) > 1:
            settings["union_by_name"] = "true"
        read = f"read_parquet({path_list(self.files)}, {engine.settings(settings)})"
        return f"SELECT {self._star()} FROM {read}"  # noqa: S608 (quoted)

    def _star(self) -> str:
        """Select all columns, those from folders with their types."""
        names = [field.name for fields in self._columns for field in fields]
        foreign = ", ".join(map(identifier, foreign_keys(self.files, names)))
        typed = partition_columns(self.files)
        keys = ", ".join(f"{sql} AS {identifier(key)}" for key, sql in typed.items())
        without = f" EXCLUDE ({foreign})" if foreign else ""
        return f"*{without} REPLACE ({keys})" if keys else f"*{without}"

    def _check_same_values(self, columns: list[list[Node]]) -> None:
        first: dict[str, tuple[str, str]] = {}
        for field in (field for fields in columns for field in fields):
            values = _values_of(field)
            if values is None or field.name in self.files.keys:
                continue
            other, file = first.setdefault(field.name, (values, field.file))
            if other != values:
                raise SourceError(
                    f"{self.source}: column {field.name!r} holds {other} in {file} and {values} in "
                    f"{field.file}; write both alike, or name only files that fit together"
                )

    def _check_doubled(self, columns: list[list[Node]]) -> None:
        """Refuse what DuckDB 1 fails at."""
        for key in self._doubled_keys(columns):
            if engine.is_version_1():
                raise SourceError(
                    f"{self.source}: column {key!r} is in the files and in the names of their "
                    "folders; rename one of them, or install DuckDB 2 or later"
                )

    def _lacking(self, columns: list[list[Node]]) -> list[str]:
        """Say which columns are not in all files."""
        counts: dict[str, int] = {}
        for fields in columns:
            for field in fields:
                counts[field.name] = counts.get(field.name, 0) + 1
        return [
            f"column {name!r}: not in {len(columns) - count} of {len(columns)} files, read as "
            "missing there"
            for name, count in counts.items()
            if count < len(columns) and name not in self.files.keys
        ]

    def _doubled(self, columns: list[list[Node]]) -> list[str]:
        """Say which columns are in the files as well as in the names of their folders."""
        return [
            f"column {key!r}: in the files and in the names of their folders, which are taken"
            for key in self._doubled_keys(columns)
        ]

    def _doubled_keys(self, columns: list[list[Node]]) -> list[str]:
        names = {field.name for fields in columns for field in fields}
        return [key for key in self.files.keys if key in names]

    @functools.cached_property
    def _sizes(self) -> Mapping[str, int]:
        """The compressed bytes of every column."""
        with engine.plain_errors(self.source), engine.connection() as connected:
            rows = connected.execute(
                "SELECT path_in_schema, sum(total_compressed_size)::BIGINT "
                "FROM parquet_metadata(?) GROUP BY ALL",
                [literal_paths(self.files)],
            ).fetchall()
        return dict(rows)

    def _bytes(self, fields: Sequence[Field]) -> int:
        return sum(self._sizes.get(field.name, 0) for field in fields)

    @functools.cached_property
    def _counted_rows(self) -> int:
        with engine.plain_errors(self.source), engine.connection() as connected:
            found = connected.execute(
                "SELECT sum(num_rows)::BIGINT FROM parquet_file_metadata(?)",
                [literal_paths(self.files)],
            ).fetchall()
        return int(found[0][0])

    def _total(self) -> int:
        return self._counted_rows


def _values_of(node: Node) -> str | None:
    """Say what a column holds; None: nothing at all, which fits everywhere."""
    if is_null(node):
        return None
    if node.children or node.kind is None:
        return "lists or records"
    return values_of(node.kind.split("(")[0].lower())
