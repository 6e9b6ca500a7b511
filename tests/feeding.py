"""Tiny passes for the tests of feeders: they collect rows, count them, or fail."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from outlying.sources.passes import Batch, Feeder


class Collect:
    """Keep all batches."""

    def start(self) -> list[Batch]:
        return []

    def add(self, state: list[Batch], batch: Batch) -> list[Batch]:
        return [*state, batch]

    def merge(self, state: list[Batch], other: list[Batch]) -> list[Batch]:
        return state + other


class Count:
    """Count rows."""

    def start(self) -> int:
        return 0

    def add(self, state: int, batch: Batch) -> int:
        return state + int(batch.num_rows)

    def merge(self, state: int, other: int) -> int:
        return state + other


class Total(Count):
    """Add up the first column."""

    def add(self, state: int, batch: Batch) -> int:
        return state + int(sum(batch.column(0).to_pylist()))


class Fails(Count):
    """Fail at the first batch."""

    def add(self, state: int, batch: Batch) -> int:
        raise ZeroDivisionError("by a pass")


def table_of(feeder: Feeder, columns: Sequence[str] | None = None) -> pa.Table:
    """Return all rows of a feeder; what comes must be what its schema says."""
    schema = feeder.schema()
    names = list(schema.names) if columns is None else list(columns)
    wanted = pa.schema([schema.field(name) for name in names])
    batches = feeder.fold(Collect(), names, None)
    return pa.Table.from_batches([_promised(batch, wanted) for batch in batches], wanted)


def _promised(batch: Batch, schema: pa.Schema) -> Batch:
    """Write texts out that come as dictionaries; all else must be as promised."""
    given = zip(batch.schema.types, schema.types, strict=True)
    types = [own if pa.types.is_dictionary(has) and own != has else has for has, own in given]
    return batch.cast(pa.schema(list(zip(batch.schema.names, types, strict=True))))


def rows_of(feeder: Feeder, columns: Sequence[str] | None = None) -> list[tuple[Any, ...]]:
    """Return all rows of a feeder, sorted by how they are written; NaN is missing."""
    table = table_of(feeder, columns)
    cells = [[None if cell != cell else cell for cell in c.to_pylist()] for c in table.columns]
    return sorted(zip(*cells, strict=True), key=repr)


def types_of(feeder: Feeder) -> dict[str, str]:
    """Return the types of all columns by name."""
    return {field.name: str(field.type) for field in feeder.schema()}
