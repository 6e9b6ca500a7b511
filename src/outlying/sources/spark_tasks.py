"""What executors of Spark do: fold a part of the table, and put states of parts together.

States travel as rows of bytes. A state is cut into small pieces, because Spark gathers thousands
of rows into one Arrow batch: with whole states in them, batches would outgrow their limit of 2 GB.
"""

from __future__ import annotations

import dataclasses
import itertools
import pickle
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

import outlying
from outlying.errors import OutlyingError
from outlying.sources.passes import Batch, Pass, State

if TYPE_CHECKING:
    import pyarrow

#: Part of the table, number of the piece, of how many, the bytes.
Piece: TypeAlias = tuple[int, int, int, bytes]

_COLUMNS = {"part": "int", "piece": "int", "pieces": "int", "bytes": "binary"}
PIECES = ", ".join(f"{name} {kind}" for name, kind in _COLUMNS.items())
_ROWS = 65_536  # to add at once
_BYTES = 64 * 2**20  # in one batch, either way


@dataclasses.dataclass(frozen=True, slots=True)
class Failure:
    """An error of ours in a part: it travels like a state, which Spark would not let it."""

    part: int
    error: OutlyingError


@dataclasses.dataclass(frozen=True)
class Task:
    """What an executor runs: step(batches, *given), by the version that the driver has.

    Executors need this package: states are values of its classes.
    """

    step: Callable[..., Iterator[Batch]]
    given: tuple[Any, ...]
    version: str = outlying.__version__

    def __call__(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        """Run the step."""
        if self.version != outlying.__version__:
            raise RuntimeError(
                f"executors have outlying {outlying.__version__}, not {self.version}"
            )
        return self.step(batches, *self.given)


def fold_part(
    batches: Iterator[Batch], work: Pass[State], schema: pyarrow.Schema, size: int
) -> Iterator[Batch]:
    """Fold one part of the table; one without rows gives nothing."""
    part = _own_part()
    folded: list[Any] = []
    try:
        for batch in _gathered(batches):
            state = folded[0] if folded else work.start()
            folded = [work.add(state, _typed(batch, schema))]
    except OutlyingError as error:
        folded = [Failure(part, error)]
    for one in folded:
        yield from _as_batches(pieces_of(one, part, size), size)


def merge_parts(batches: Iterator[Batch], work: Pass[State], size: int) -> Iterator[Batch]:
    """Put the states of several parts together, one after the other."""
    part = _own_part()
    for one in merged(_rows(batches), work, part):
        yield from _as_batches(pieces_of(one, part, size), size)


def merged(pieces: Iterable[Piece], work: Pass[State], part: int = -1) -> list[Any]:
    """Return the one state, or failure, of all pieces; nothing without pieces.

    Of several failures that of the first part is kept, whichever came first.
    """
    state: list[Any] = []
    failures: list[Failure] = []
    for other in _whole(pieces):
        if isinstance(other, Failure):
            failures.append(other)
        elif not failures:
            try:
                state = [work.merge(state[0], other) if state else other]
            except OutlyingError as error:
                failures.append(Failure(part, error))
    return [min(failures, key=lambda failure: failure.part)] if failures else state


def pieces_of(state: object, part: int, size: int) -> Iterator[Piece]:
    """Cut a state into pieces of so many bytes."""
    packed = zlib.compress(pickle.dumps(state, protocol=5), level=1)
    starts = range(0, len(packed), size)
    for number, start in enumerate(starts):
        yield part, number, len(starts), packed[start : start + size]


def _whole(pieces: Iterable[Piece]) -> Iterator[Any]:
    """Put pieces together, in whatever order they come."""
    waiting: dict[int, dict[int, bytes]] = {}
    for part, number, count, some in pieces:
        found = waiting.setdefault(part, {})
        found[number] = some
        if len(found) == count:
            packed = b"".join(found[place] for place in range(count))
            del waiting[part], found
            yield pickle.loads(zlib.decompress(packed))  # noqa: S301 (pickled by ourselves)


def _own_part() -> int:
    from pyspark import TaskContext

    context = TaskContext.get()
    return 0 if context is None else context.partitionId()


def _gathered(batches: Iterator[Batch]) -> Iterator[Batch]:
    """Join small batches: Spark's have 10,000 rows, and each costs a pass some time."""
    waiting: list[Batch] = []
    rows = size = 0
    for batch in batches:
        if waiting and (rows + batch.num_rows > _ROWS or size + batch.nbytes > _BYTES):
            yield _joined(waiting)
            waiting, rows, size = [], 0, 0
        if batch.num_rows:
            waiting.append(batch)
            rows, size = rows + batch.num_rows, size + batch.nbytes
    if waiting:
        yield _joined(waiting)


def _joined(batches: list[Batch]) -> Batch:
    import pyarrow

    return pyarrow.Table.from_batches(batches).combine_chunks().to_batches()[0]


def _typed(batch: Batch, schema: pyarrow.Schema) -> Batch:
    """Return a batch with the names and types that were promised; it may have no columns."""
    import pyarrow

    if not schema.names:
        return batch.select([])
    cast = [column.cast(kind) for column, kind in zip(batch.columns, schema.types, strict=True)]
    return pyarrow.RecordBatch.from_arrays(cast, schema=schema)


def _rows(batches: Iterator[Batch]) -> Iterator[Piece]:
    for batch in batches:
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def _as_batches(pieces: Iterator[Piece], size: int) -> Iterator[Batch]:
    import pyarrow

    types = [*[pyarrow.int32()] * 3, pyarrow.binary()]
    while some := list(itertools.islice(pieces, max(1, _BYTES // size))):
        columns = map(pyarrow.array, zip(*some, strict=True), types)
        yield pyarrow.RecordBatch.from_arrays(list(columns), list(_COLUMNS))
