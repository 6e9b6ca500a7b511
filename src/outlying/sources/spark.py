"""Tables of Apache Spark: folded on the executors, merged in a tree; one state comes back."""

from __future__ import annotations

import dataclasses
import itertools
import math
import pickle
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import PurePosixPath
from typing import Any, TypeAlias

import outlying
from outlying.errors import OutlyingError, SourceError
from outlying.parsing import pa
from outlying.sources.columns import unique_names
from outlying.sources.passes import (
    Batch,
    Feeder,
    Pass,
    Progress,
    SourceField,
    SourceShape,
    State,
    shape_of,
)
from outlying.sources.registry import SUFFIXES, format_of, suffix_of
from outlying.sources.spark_session import (
    is_remote,
    plain_errors,
    run,
    session_of,
    without_warnings,
)

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
    """Read a table on a cluster: spark://HOST:PORT/TABLE-OR-PATH, or a master and a source."""
    name, master, what = source, url, source
    if what is None:
        found = re.fullmatch(r"(spark://[^/]+)/(.+)", url)
        if found is None:
            raise SourceError(f"{url!r} is not the address of a table on Spark; {_ADDRESSES}")
        name, (master, what) = url, found.groups()
    with plain_errors(name or url):
        session = session_of(master)
        reader, again = _reader(session.read, what)
        frame = run(reader, session)
    return SparkFeeder(frame, name or url, reader if again else None)


def _reader(read: Any, what: str) -> tuple[Callable[[], Any], bool]:
    """Return what reads a DataFrame, and whether it tells the types each time, without a scan."""
    path = PurePosixPath(what)
    bare = path.with_suffix("") if path.suffix in _PACKED else path
    known = suffix_of(bare.name, SUFFIXES)
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


def _plan_of(kind: Any) -> tuple[str, pa.DataType | str]:
    """Return the SQL that selects a Spark type, and what comes, or what cannot be used."""
    name = kind.typeName()
    if name not in _TYPES:
        return "", _UNUSABLE.get(name, f"values of type {kind.simpleString()}")
    sql, arrow = _TYPES[name]
    is_instant = arrow == "instant"
    return sql, pa.timestamp("us", "UTC") if is_instant else pa.type_for_alias(arrow)


class SparkFeeder(Feeder):
    """A DataFrame of PySpark, classic or Spark Connect.

    Who knows how to read the table `again` says so: columns that have vanished would come out of
    Parquet files as missing values.
    """

    knows_types = True

    def __init__(
        self,
        frame: Any,
        source: str = "Spark DataFrame",
        again: Callable[[], Any] | None = None,
        least_tasks: int = LEAST_TASKS,
    ) -> None:
        super().__init__(source)
        self._frame, self._again, self._least_tasks = frame, again, least_tasks

    def _inspect(self) -> SourceShape:
        """Plan the columns, by place: names may hold dots or backticks, or differ only in case."""
        with plain_errors(self.source):
            fields = self._frame.schema.fields
        plans = [_plan_of(field.dataType) for field in fields]
        names = unique_names(self.source, [field.name for field in fields])
        asks = {
            name: f"{sql.format(c=f'c{place}')} AS c{place}"
            for place, (name, (sql, _)) in enumerate(zip(names, plans, strict=True))
        }
        kinds = {name: kind for name, (_, kind) in zip(names, plans, strict=True)}
        return shape_of(self.source, kinds, asks)

    def _scan(
        self,
        work: Pass[State],
        fields: Sequence[SourceField],
        progress: Progress | None = None,
        workers: int | None = None,  # noqa: ARG002 - the cluster has its own number of them
    ) -> State:
        """Run a pass on the executors; the driver receives a single state."""
        with plain_errors(self.source):
            self._look_again([field.name for field in fields])
            states = self._states(work, fields)
            rows = run(states.collect, self._frame.sparkSession, progress)
        found = merge_pieces(((*row[:3], bytes(row[3])) for row in rows), work)
        if found and isinstance(found[0], Failure):
            raise found[0].error
        state: State = found[0] if found else work.start()
        return state

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

    def _states(self, work: Pass[State], fields: Sequence[SourceField]) -> Any:
        """Plan the pass: a state of each part, then ever fewer."""
        named = self._frame.toDF(*(f"c{place}" for place in range(len(self._frame.columns))))
        selected = named.selectExpr(*[field.sql for field in fields] or ["true AS nothing"])
        schema = pa.schema([(field.name, field.type) for field in fields])
        session = self._frame.sparkSession
        rows = session.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch")
        size = max(_SMALLEST, _BATCH // max(1, int(rows)))  # keeps a batch of pieces small
        # a Connect server does not say how many tasks run at once
        cores = FAN_IN // 2 if is_remote(session) else session.sparkContext.defaultParallelism
        fold, merge = (
            partial(run_step, step, outlying.__version__, given)
            for step, given in ((fold_part, (work, schema, size)), (merge_parts, (work, size)))
        )
        parts = selected.coalesce(max(self._least_tasks, cores * _TASKS_PER_CORE))
        with without_warnings():
            states = parts.mapInArrow(fold, PIECES)
            for width in widths(max(1, cores)):
                states = states.repartition(width, "part").mapInArrow(merge, PIECES)
        return states


def widths(cores: int) -> list[int]:
    """Return how many tasks each level of merging has: all cores first, one task last."""
    found = [cores]
    while found[-1] > 1:
        found.append(math.ceil(found[-1] / FAN_IN))
    return found


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


def run_step(
    step: Callable[..., Iterator[Batch]], version: str, given: tuple[Any, ...], batches: Any
) -> Iterator[Batch]:
    """Run step(*given, batches) on an executor, whose package has to be of the driver's version."""
    if version != outlying.__version__:
        words = f"executors have outlying {outlying.__version__}, not {version}"
        raise RuntimeError(words)  # the traceback, which is searched for the words, has this line
    return step(*given, batches)


def fold_part(
    work: Pass[State], schema: pa.Schema, size: int, batches: Iterator[Batch]
) -> Iterator[Batch]:
    """Fold one part of the table; one without rows gives nothing."""
    part = _own_part()
    found: list[Any] = []
    try:
        for batch in _gather(batches):
            state = found[0] if found else work.start()
            found = [work.add(state, _typed(batch, schema))]
    except OutlyingError as error:
        found = [Failure(part, error)]
    return _packed(found, part, size)


def merge_parts(work: Pass[State], size: int, batches: Iterator[Batch]) -> Iterator[Batch]:
    """Put the states of several parts together, one after the other."""
    rows = (zip(*(c.to_pylist() for c in batch.columns), strict=True) for batch in batches)
    part = _own_part()
    return _packed(merge_pieces(itertools.chain.from_iterable(rows), work, part), part, size)


def merge_pieces(pieces: Iterable[Piece], work: Pass[State], part: int = -1) -> list[Any]:
    """Return the one state of all pieces, or the failure of the first part; nothing of none."""
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


def _gather(batches: Iterator[Batch]) -> Iterator[Batch]:
    """Join small batches: Spark's have 10,000 rows, and each costs a pass some time."""
    waiting: list[Batch] = []
    rows = size = 0
    for batch in batches:
        if waiting and (rows + batch.num_rows > _ROWS or size + batch.nbytes > _BYTES):
            yield pa.concat_batches(waiting)
            waiting, rows, size = [], 0, 0
        if batch.num_rows:
            waiting.append(batch)
            rows, size = rows + batch.num_rows, size + batch.nbytes
    if waiting:
        yield pa.concat_batches(waiting)


def _typed(batch: Batch, schema: pa.Schema) -> Batch:
    """Return a batch with the names and types that were promised; it may have no columns."""
    if not schema.names:
        return batch.select([])
    cast = [column.cast(kind) for column, kind in zip(batch.columns, schema.types, strict=True)]
    return pa.RecordBatch.from_arrays(cast, schema=schema)


def _packed(found: Iterable[Any], part: int, size: int) -> Iterator[Batch]:
    types = [*[pa.int32()] * 3, pa.binary()]
    pieces = itertools.chain.from_iterable(pieces_of(one, part, size) for one in found)
    while some := list(itertools.islice(pieces, max(1, _BYTES // size))):
        columns = map(pa.array, zip(*some, strict=True), types)
        yield pa.RecordBatch.from_arrays(list(columns), list(_COLUMNS))
