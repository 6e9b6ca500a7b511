"""Batches of Arrow as a stream, whoever brings them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from outlying.errors import SourceError
from outlying.sources.arrow.reading import (
    ArrowFile,
    arrow_errors,
    check_batch,
    read_batches,
    usable,
)
from outlying.sources.local import BATCH_ROWS, Field, LocalFeeder, Shape
from outlying.sources.passes import Batch
from outlying.sources.paths import Files
from outlying.table.table import Table

if TYPE_CHECKING:
    import pyarrow


Batches: TypeAlias = Callable[[Sequence[str]], Iterable[Batch]]
Told: TypeAlias = Callable[[], AbstractContextManager[None]]


class Opener(Protocol):
    """Opens a file by the name that messages call it, and its place."""

    def __call__(self, source: str, path: Path, /) -> ArrowFile:
        """Open the file."""


class ArrowFeeder(LocalFeeder):
    """Files that are one table, all of the same columns."""

    def __init__(self, files: Files, opened: Opener) -> None:
        super().__init__(files.source)
        if files.keys:
            raise SourceError(
                f"{files.source}: folders give keys to its files (key=value), which is known of "
                "Parquet and CSV files only; name the files of one folder"
            )
        self._files = files
        self._opened = opened

    def _inspect(self) -> Shape:
        with arrow_errors(self.source):
            schemas = [self._opened(file.name, file.path).schema for file in self._files.files]
            names, unused = usable(self.source, schemas[0])
        for file, schema in zip(self._files.files, schemas, strict=True):
            if not schema.equals(schemas[0]):
                raise SourceError(
                    f"{self.source}: {file.name} has other columns than "
                    f"{self._files.files[0].name}; write all files alike"
                )
        return Shape(fields_of(schemas[0], names), tuple(unused), self._files.notes)

    def _read(self, fields: Sequence[Field]) -> Generator[Batch, None, None]:
        self._files.check_unchanged()
        names = [field.name for field in fields or self.shape.fields[:1]]
        with arrow_errors(self.source):
            for file in self._files.files:
                rows = 0
                for batch in self._opened(file.name, file.path).batches(names):
                    yield from pieces(file.name, batch, rows)
                    rows += batch.num_rows
        self._files.check_unchanged()

    def _bytes(self, fields: Sequence[Field]) -> int:  # noqa: ARG002
        return sum(file.size for file in self._files.files)


class BatchFeeder(LocalFeeder):
    """A table that some library brings as batches of Arrow, as often as it is asked to."""

    def __init__(
        self, source: str, schema: Callable[[], pyarrow.Schema], batches: Batches, told: Told
    ) -> None:
        """Feed what `batches` brings of some columns; `told` turns the library's errors to ours."""
        super().__init__(source)
        self._schema, self._batches, self._told = schema, batches, told

    def _inspect(self) -> Shape:
        with self._told(), arrow_errors(self.source):
            schema = self._schema()
            names, unused = usable(self.source, schema)
        return Shape(fields_of(schema, names), tuple(unused))

    def _read(self, fields: Sequence[Field]) -> Generator[Batch, None, None]:
        names = [field.name for field in fields or self.shape.fields[:1]]
        with self._told(), arrow_errors(self.source):
            rows = 0
            for batch in self._batches(names):
                yield from pieces(self.source, batch.select(names), rows)
                rows += batch.num_rows


def collected(feeder: LocalFeeder) -> Table:
    """Read all rows of a stream into memory."""
    schema = feeder.schema()
    batches = feeder.fold(_Rows(), schema.names, workers=1)
    return read_batches(feeder.source, schema, schema.names, feeder.skipped, batches)


class _Rows:
    """A pass that keeps what comes."""

    def start(self) -> list[Batch]:
        return []

    def add(self, state: list[Batch], batch: Batch) -> list[Batch]:
        state.append(batch)
        return state

    def merge(self, state: list[Batch], other: list[Batch]) -> list[Batch]:
        return state + other


def fields_of(schema: Any, names: Sequence[str]) -> tuple[Field, ...]:
    """Describe columns that come as they are."""
    return tuple(
        Field(name, name, schema.field(name).type, schema.field(name).type) for name in names
    )


def pieces(source: str, batch: Batch, first_row: int) -> Generator[Batch, None, None]:
    """Check a batch, whose bytes are taken as they are, and cut it into some not too large."""
    check_batch(source, batch, batch.schema.names, first_row)
    for start in range(0, batch.num_rows, BATCH_ROWS):
        yield batch.slice(start, BATCH_ROWS)
