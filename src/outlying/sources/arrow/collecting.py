"""A stream collected into memory: for tables that turn out to be small enough."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from outlying.errors import SourceError
from outlying.sources.arrow.reading import read_batches
from outlying.sources.passes import Batch, Feeder, Progress
from outlying.table.table import Table

if TYPE_CHECKING:
    import pyarrow


class TooManyRowsError(SourceError):
    """A stream has more rows than were wanted."""


@dataclasses.dataclass(frozen=True, slots=True)
class _Collect:
    """A pass that keeps all batches, up to a number of rows."""

    schema: pyarrow.Schema
    most_rows: int
    source: str

    def start(self) -> list[Batch]:
        return []

    def add(self, state: list[Batch], batch: Batch) -> list[Batch]:
        state.append(batch.cast(self.schema))
        if sum(item.num_rows for item in state) > self.most_rows:
            raise TooManyRowsError(f"{self.source} has more than {self.most_rows:,} rows")
        return state

    def merge(self, state: list[Batch], other: list[Batch]) -> list[Batch]:
        return [*state, *other]


def collected(feeder: Feeder, most_rows: int, progress: Progress | None = None) -> Table:
    """Read all rows of a stream into memory, in the order they come."""
    schema = feeder.schema()
    work = _Collect(schema, most_rows, feeder.source)
    batches = feeder.fold(work, schema.names, progress, 1)
    table = read_batches(feeder.source, schema, schema.names, feeder.skipped, batches)
    return dataclasses.replace(table, notes=(*feeder.notes, *table.notes))
