"""Tables of Apache Spark: folded on the executors, merged in a tree; one state comes back.

Each pass is one query: columns that are not asked for are not read, and nothing is cached.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

from outlying.errors import ColumnError, SourceError, unknown_name
from outlying.sources.columns import skipped, unique_names
from outlying.sources.passes import Pass, Progress, State, Traffic
from outlying.sources.registry import SUFFIXES, format_of, suffix_of
from outlying.sources.spark_session import (
    is_remote,
    plain_errors,
    run,
    session_of,
    without_warnings,
)
from outlying.sources.spark_tasks import PIECES, Failure, Task, fold_part, merge_parts, merged
from outlying.table.table import FrameLibrary, SkippedColumn

if TYPE_CHECKING:
    import pyarrow

FAN_IN = 16  # states that a task of the tree merges
LEAST_TASKS = 256  # parts are put together only beyond
_TASKS_PER_CORE = 8
_BATCH = 256 * 2**20  # bytes of states in one Arrow batch
_SMALLEST = 2**10
_ADDRESSES = (
    "allowed: spark://HOST:PORT/TABLE, spark://HOST:PORT//folder/of.parquet, or a master "
    "(local[2], spark://HOST:PORT, sc://HOST:PORT) with a table or path of its own"
)
_OWN = {".orc": "orc", ".pq": "parquet"}  # formats that only Spark knows by their suffix
_PACKED = {".gz", ".bz2", ".zst", ".lz4", ".deflate"}


def stream(data: Any) -> SparkFeeder:
    """Feed from a Spark DataFrame, or from the address of a table on a cluster."""
    return connected(data) if isinstance(data, str) else SparkFeeder(data)


def connected(url: str, source: str | None = None) -> SparkFeeder:
    """Read a table on a cluster: spark://HOST:PORT/TABLE-OR-PATH, or a master and a source.

    A path has a slash in it or a known ending; anything else is a table of the catalog. Raises
    MissingExtraError without PySpark, SourceError for what cannot be reached or read.
    """
    name, master, what = source, url, source
    if what is None:
        found = re.fullmatch(r"(spark://[^/]+)/(.+)", url)
        if found is None:
            raise SourceError(f"{url!r} is no address of a table on Spark; {_ADDRESSES}")
        name, (master, what) = url, found.groups()
    with plain_errors(name or url):
        session = session_of(master)
        reader, again = _reader(session.read, what)
        frame = run(reader, session)
    return SparkFeeder(frame, name or url, reader if again else None)


def _reader(read: Any, what: str) -> tuple[Callable[[], Any], bool]:
    """Return what reads a DataFrame, and whether it tells the types each time.

    Those of text files are found only once, as that takes a scan.
    """
    path = PurePosixPath(what)
    bare = path.with_suffix("") if path.suffix in _PACKED else path
    known = suffix_of(bare, SUFFIXES)
    form = _OWN.get(bare.suffix.lower()) if known is None else format_of(known).name.lower()
    if form == "csv":
        separator = "\t" if known == ".tsv" else ","
        return partial(read.csv, what, sep=separator, header=True, inferSchema=True), False
    if form == "json":
        return partial(read.json, what), False
    if form == "orc":
        return partial(read.orc, what), True
    return partial(read.parquet if form == "parquet" or "/" in what else read.table, what), True


# --- types ---------------------------------------------------------------------------------------

# counted by the engine: the Arrow writer of Spark 3.5 fails on intervals
_MICROSECONDS = " + ".join(
    f"CAST(extract({part} FROM CAST({{c}} AS INTERVAL DAY TO SECOND)) * {unit}L AS BIGINT)"
    for part, unit in (
        ("DAY", 86_400_000_000),
        ("HOUR", 3_600_000_000),
        ("MINUTE", 60_000_000),
        ("SECOND", 1_000_000),
    )
)
#: The SQL that selects a type, and what it becomes in Arrow.
_TYPES = {
    **{
        name: ("{c}", arrow)
        for name, arrow in (
            *(("byte", "int8"), ("short", "int16"), ("integer", "int32"), ("long", "int64")),
            *(("float", "float32"), ("double", "float64"), ("boolean", "bool"), ("date", "date32")),
            *(("string", "string"), ("time", "time64[us]"), ("timestamp_ntz", "timestamp[us]")),
        )
    },
    "timestamp": ("{c}", "instant"),  # in UTC, whatever zone the session shows it in
    "decimal": ("CAST(CAST({c} AS STRING) AS DOUBLE)", "float64"),  # the nearest number
    **dict.fromkeys(("char", "varchar", "void"), ("CAST({c} AS STRING)", "string")),
    "daytimeinterval": (_MICROSECONDS, "duration[us]"),
}
_UNUSABLE = {
    "binary": "bytes",
    "array": "lists",
    **dict.fromkeys(("struct", "map", "variant"), "records"),
    **dict.fromkeys(("yearmonthinterval", "interval"), "durations in months or years"),
}


class _Plan(NamedTuple):
    """A column that can be used: SQL with {c} for its name, and the Arrow type it gets."""

    sql: str
    type: pyarrow.DataType


def _plan_of(kind: Any) -> _Plan | str:
    """Plan a column by its Spark type, or say what it holds that cannot be used."""
    import pyarrow

    name = kind.typeName()
    if name not in _TYPES:
        return _UNUSABLE.get(name, f"values of type {kind.simpleString()}")
    sql, arrow = _TYPES[name]
    is_instant = arrow == "instant"
    return _Plan(
        sql, pyarrow.timestamp("us", "UTC") if is_instant else pyarrow.type_for_alias(arrow)
    )


# --- the feeder ----------------------------------------------------------------------------------


class SparkFeeder:
    """A DataFrame of PySpark, classic or Spark Connect.

    Who knows how to read the table again says so with `again`: columns that have vanished would
    come out of Parquet files as missing values.
    """

    frame_library: FrameLibrary = "pandas"
    notes: tuple[str, ...] = ()

    def __init__(
        self,
        frame: Any,
        source: str = "Spark DataFrame",
        again: Callable[[], Any] | None = None,
        least_tasks: int = LEAST_TASKS,
    ) -> None:
        self.source = source
        self.traffic = Traffic()  # scans only; what they move, Spark shows on its own page
        self._frame, self._again, self._least_tasks = frame, again, least_tasks

    @property
    def skipped(self) -> tuple[SkippedColumn, ...]:
        """Columns that cannot be used, with the reason."""
        plans = self._plans.items()
        return tuple(skipped(name, what) for name, what in plans if isinstance(what, str))

    def schema(self) -> pyarrow.Schema:
        """Return the columns that can be used, and the Arrow types that batches will have."""
        import pyarrow

        return pyarrow.schema([(name, plan.type) for name, plan in self._usable.items()])

    def fold(
        self,
        work: Pass[State],
        columns: Sequence[str],
        progress: Progress | None = None,
        workers: int | None = None,  # noqa: ARG002 - the cluster has its own number of them
    ) -> State:
        """Run a pass on the executors; the driver receives a single state."""
        with plain_errors(self.source):
            self._look_again(columns)
            states = self._states(work, columns)
            rows = run(states.collect, self._frame.sparkSession, progress)
            self.traffic.scans += 1
        found = merged(
            ((part, piece, count, bytes(some)) for part, piece, count, some in rows), work
        )
        if not found:
            return work.start()
        if isinstance(found[0], Failure):
            raise found[0].error
        state: State = found[0]
        return state

    @cached_property
    def _plans(self) -> dict[str, _Plan | str]:
        with plain_errors(self.source):
            fields = self._frame.schema.fields
        names = unique_names(self.source, [field.name for field in fields])
        return {name: _plan_of(f.dataType) for name, f in zip(names, fields, strict=True)}

    @property
    def _usable(self) -> dict[str, _Plan]:
        return {name: plan for name, plan in self._plans.items() if isinstance(plan, _Plan)}

    def _look_again(self, columns: Sequence[str]) -> None:
        """Refuse a table that has lost columns, or has them with another type, since."""
        if self._again is None:
            return
        before, fresh = self._frame.schema, run(self._again, self._frame.sparkSession)
        now = {field.name: field.dataType for field in fresh.schema.fields}
        for field in before.fields:
            if field.name in columns and now.get(field.name) != field.dataType:
                what = "has another type" if field.name in now else "is gone"
                raise SourceError(
                    f"{self.source}: column {field.name!r} {what} since the table was first "
                    "looked at; read it again"
                )

    def _states(self, work: Pass[State], columns: Sequence[str]) -> Any:
        """Plan the pass: a state of each part, then ever fewer."""
        import pyarrow

        selected = self._selected(columns)  # which refuses unknown columns
        schema = pyarrow.schema([(name, self._usable[name].type) for name in columns])
        session = self._frame.sparkSession
        rows = session.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch")
        size = max(_SMALLEST, _BATCH // max(1, int(rows)))  # keeps a batch of pieces small
        # a Connect server does not say how many tasks run at once
        cores = FAN_IN // 2 if is_remote(session) else session.sparkContext.defaultParallelism
        fold, merge = Task(fold_part, (work, schema, size)), Task(merge_parts, (work, size))
        parts = selected.coalesce(max(self._least_tasks, cores * _TASKS_PER_CORE))
        with without_warnings():
            states = parts.mapInArrow(fold, PIECES)
            for width in widths(max(1, cores)):
                states = states.repartition(width, "part").mapInArrow(merge, PIECES)
        return states

    def _selected(self, columns: Sequence[str]) -> Any:
        """Select columns by place: names may hold dots or backticks, or differ only in case."""
        places = {name: f"c{place}" for place, name in enumerate(self._plans)}
        usable = self._usable
        for name in columns:
            if name not in usable:
                raise ColumnError(f"{self.source}: {unknown_name('column', name, usable)}")
        chosen = [f"{usable[x].sql.format(c=places[x])} AS {places[x]}" for x in columns]
        return self._frame.toDF(*places.values()).selectExpr(*chosen or ["true AS nothing"])


def widths(cores: int) -> list[int]:
    """Return how many tasks each level of merging has: all cores first, one task last."""
    found = [cores]
    while found[-1] > 1:
        found.append(math.ceil(found[-1] / FAN_IN))
    return found
