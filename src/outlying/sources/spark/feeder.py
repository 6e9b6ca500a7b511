"""A Spark DataFrame that feeds passes: folded where its parts are, merged in a tree."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

from outlying.errors import ColumnError, SourceError, unknown_name
from outlying.sources.columns import skipped, unique_names
from outlying.sources.passes import Pass, Progress, State, Traffic
from outlying.sources.spark.faults import plain_errors
from outlying.sources.spark.jobs import is_remote, run
from outlying.sources.spark.parts import PIECES, Failure, Task, fold_part, merge_parts, merged
from outlying.sources.spark.types import Plan, plan_of
from outlying.table.table import FrameLibrary, SkippedColumn

if TYPE_CHECKING:
    import pyarrow

FAN_IN = 16  # states that a task of the tree merges
_TASKS_PER_CORE = 8
LEAST_TASKS = 256  # parts are put together only beyond
_BATCH = 256 * 2**20  # bytes of states in one Arrow batch
_SMALLEST = 2**10


class SparkFeeder:
    """A DataFrame of PySpark, classic or Spark Connect.

    Each pass is one query: columns that are not asked for are not read, and nothing is cached.
    Who knows how to read the table again says so with `again`: columns that have vanished would
    come out of Parquet files as missing values.
    """

    frame_library: FrameLibrary = "pandas"

    def __init__(
        self,
        frame: Any,
        source: str = "Spark DataFrame",
        again: Callable[[], Any] | None = None,
    ) -> None:
        self._frame = frame
        self._source = source
        self._again = again
        self._traffic = Traffic()

    @property
    def source(self) -> str:
        """How results name the table."""
        return self._source

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of results should know about how the table was read: nothing."""
        return ()

    @property
    def traffic(self) -> Traffic:
        """How often the table was scanned; what that moved, Spark shows on its own page."""
        return self._traffic

    @property
    def skipped(self) -> tuple[SkippedColumn, ...]:
        """Columns that cannot be used, with the reason."""
        plans = self._plans.items()
        return tuple(skipped(name, what) for name, what in plans if isinstance(what, str))

    def schema(self) -> pyarrow.Schema:
        """Return the columns that can be used, and the Arrow types that batches will have."""
        import pyarrow

        plans = self._plans.items()
        return pyarrow.schema([(name, p.type) for name, p in plans if isinstance(p, Plan)])

    def fold(
        self,
        work: Pass[State],
        columns: Sequence[str],
        progress: Progress | None = None,
        workers: int | None = None,  # noqa: ARG002 - the cluster has its own number of them
    ) -> State:
        """Run a pass on the executors; the driver receives a single state."""
        with plain_errors(self._source):
            self._look_again(columns)
            states = self._states(work, columns)
            rows = run(states.collect, self._frame.sparkSession, progress)
            self._traffic.scans += 1
        return _received(rows, work)

    @cached_property
    def _plans(self) -> dict[str, Plan | str]:
        with plain_errors(self._source):
            fields = self._frame.schema.fields
        names = unique_names(self._source, [field.name for field in fields])
        return {name: plan_of(f.dataType) for name, f in zip(names, fields, strict=True)}

    def _look_again(self, columns: Sequence[str]) -> None:
        """Refuse a table that has lost columns, or has them with another type, since."""
        if self._again is None:
            return
        before, fresh = self._frame.schema, run(self._again, self._frame.sparkSession)
        now = {field.name: field.dataType for field in fresh.schema.fields}
        changed = [
            f.name for f in before.fields if f.name in columns and now.get(f.name) != f.dataType
        ]
        if changed:
            what = "has another type" if changed[0] in now else "is gone"
            raise SourceError(
                f"{self._source}: column {changed[0]!r} {what} since the table was first looked "
                "at; read it again"
            )

    def _states(self, work: Pass[State], columns: Sequence[str]) -> Any:
        """Plan the pass: a state of each part, then ever fewer."""
        import pyarrow

        fields = [(name, self._plan(name).type) for name in columns]
        size = self._size()
        fold = Task(fold_part, (work, pyarrow.schema(fields), size))
        merge = Task(merge_parts, (work, size))
        cores = self._cores()
        parts = self._selected(columns).coalesce(max(LEAST_TASKS, cores * _TASKS_PER_CORE))
        with without_warnings():
            states = parts.mapInArrow(fold, PIECES)
            for width in widths(cores):
                states = states.repartition(width, "part").mapInArrow(merge, PIECES)
        return states

    def _selected(self, columns: Sequence[str]) -> Any:
        """Select columns by place: names may hold dots or backticks, or differ only in case."""
        places = {name: f"c{place}" for place, name in enumerate(self._plans)}
        named = self._frame.toDF(*places.values())
        chosen = [f"{self._plan(x).sql.format(c=places[x])} AS {places[x]}" for x in columns]
        return named.selectExpr(*chosen or ["true AS nothing"])

    def _plan(self, name: str) -> Plan:
        plan = self._plans.get(name)
        if isinstance(plan, Plan):
            return plan
        known = [name for name, plan in self._plans.items() if isinstance(plan, Plan)]
        raise ColumnError(f"{self._source}: {unknown_name('column', name, known)}")

    def _cores(self) -> int:
        """Return how many tasks run at once; a Connect server does not say, so take a few."""
        if is_remote(self._frame.sparkSession):
            return FAN_IN // 2
        return max(1, int(self._frame.sparkSession.sparkContext.defaultParallelism))

    def _size(self) -> int:
        """Return the size of pieces that keeps a batch of them small."""
        rows = self._frame.sparkSession.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch")
        return max(_SMALLEST, _BATCH // max(1, int(rows)))


def widths(cores: int) -> list[int]:
    """Return how many tasks each level of merging has: all cores first, one task last."""
    found = [cores]
    while found[-1] > 1:
        found.append(math.ceil(found[-1] / FAN_IN))
    return found


def _received(rows: Sequence[Any], work: Pass[State]) -> State:
    state = merged(((part, piece, count, bytes(some)) for part, piece, count, some in rows), work)
    if not state:
        return work.start()
    if isinstance(state[0], Failure):
        raise state[0].error()
    result: State = state[0]
    return result


@contextmanager
def without_warnings() -> Iterator[None]:
    """Keep what PySpark says of versions of pandas and distutils from the user: it is not used."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
