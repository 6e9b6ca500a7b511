"""Small passes for the tests of feeders: importable, so that other processes can run them."""

from __future__ import annotations

import dataclasses
import math
import os
import time
from collections import Counter
from pathlib import Path
from typing import Any

from outlying.errors import InfiniteValueError
from outlying.sources.passes import Batch


@dataclasses.dataclass
class Seen:
    """What a pass has seen."""

    rows: int = 0
    batches: int = 0
    known: Counter[str] = dataclasses.field(default_factory=Counter)
    values: dict[str, Counter[Any]] = dataclasses.field(default_factory=dict)
    types: dict[str, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Everything:
    """Count rows, and every value of every column."""

    def start(self) -> Seen:
        return Seen()

    def add(self, state: Seen, batch: Batch) -> Seen:
        state.rows += batch.num_rows
        state.batches += 1
        for field, column in zip(batch.schema, batch.columns, strict=True):
            state.types[field.name] = str(field.type)
            state.known[field.name] += len(column) - column.null_count
            values = state.values.setdefault(field.name, Counter())
            values.update("nan" if value != value else value for value in column.to_pylist())
        return state

    def merge(self, state: Seen, other: Seen) -> Seen:
        state.rows += other.rows
        state.batches += other.batches
        state.types |= other.types
        state.known.update(other.known)
        for name, values in other.values.items():
            state.values.setdefault(name, Counter()).update(values)
        return state


@dataclasses.dataclass(frozen=True)
class Rows:
    """Count rows and nothing else."""

    def start(self) -> int:
        return 0

    def add(self, state: int, batch: Batch) -> int:
        return state + int(batch.num_rows)

    def merge(self, state: int, other: int) -> int:
        return state + other


@dataclasses.dataclass(frozen=True)
class Slow(Everything):
    """Say in a folder that a part has begun; after the first few, wait there for a file."""

    folder: Path
    free: int = 0

    def add(self, state: Seen, batch: Batch) -> Seen:
        (self.folder / f"begun-{os.getpid()}-{time.monotonic_ns()}").touch()
        if len(list(self.folder.glob("begun-*"))) > self.free:
            while not (self.folder / "go").exists():
                time.sleep(0.05)
        return super().add(state, batch)


@dataclasses.dataclass(frozen=True)
class Finite(Rows):
    """Refuse infinite values."""

    column: str

    def add(self, state: int, batch: Batch) -> int:
        if any(value is not None and math.isinf(value) for value in batch[self.column].to_pylist()):
            raise InfiniteValueError(self.column, None)
        return super().add(state, batch)


@dataclasses.dataclass(frozen=True)
class Bulky(Rows):
    """Have a state of many bytes that do not compress."""

    bytes: int

    def start(self) -> Any:
        return (0, os.urandom(self.bytes))

    def add(self, state: Any, batch: Batch) -> Any:
        return (state[0] + batch.num_rows, state[1])

    def merge(self, state: Any, other: Any) -> Any:
        assert len(state[1]) == len(other[1]) == self.bytes
        return (state[0] + other[0], other[1])


@dataclasses.dataclass(frozen=True)
class Broken(Rows):
    """Fail as no pass should."""

    def add(self, state: int, batch: Batch) -> int:
        raise KeyError("a slip of ours")
