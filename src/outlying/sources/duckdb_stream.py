"""Whatever DuckDB can read, batch by batch.

Batches come from a relation by `to_arrow_reader` (`fetch_record_batch` before version 2): unlike
the results of `execute`, they are not collected first. Columns are asked for by their position, as
names that differ only in case are one name to the engine.

Dates and timestamps that are infinite, which the engine knows, are read as missing.
"""

from __future__ import annotations

import contextlib
import dataclasses
import re
import tempfile
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from outlying.errors import ColumnError, SourceError
from outlying.sources import duckdb as engine
from outlying.sources.columns import skip_reason, unique_names
from outlying.sources.local import BATCH_ROWS, Field, LocalFeeder, Shape, changed
from outlying.sources.parquet_labels import Asked
from outlying.sources.passes import Batch
from outlying.table.table import SkippedColumn

if TYPE_CHECKING:
    import pyarrow
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

Opened: TypeAlias = "Callable[[], AbstractContextManager[DuckDBPyRelation]]"

MEMORY = "500MB"
"""What the engine may use for itself; a scan needs less, however long the table is."""

_SETTINGS: engine.Config = {
    "preserve_insertion_order": False,
    "arrow_large_buffer_size": True,  # texts of one batch may be longer than 2 GiB
}

_FINITE = "CASE WHEN isfinite({}) THEN {} END"
_SQL = {
    **dict.fromkeys(("hugeint", "uhugeint", "bignum"), "CAST({} AS BIGINT)"),
    # through text: a direct cast divides by a power of ten and may miss the nearest number
    "decimal": "CAST(CAST({} AS VARCHAR) AS DOUBLE)",
    **dict.fromkeys(("varchar", "uuid", "enum", "null"), "CAST({} AS VARCHAR)"),
    **dict.fromkeys(("date", "timestamp", "timestamp_s", "timestamp_ms", "timestamp_ns"), _FINITE),
    "timestamp with time zone": _FINITE,
    "timestamptz_ns": "CAST({} AS TIMESTAMPTZ)",
    **dict.fromkeys(("time_ns", "time with time zone"), "CAST({} AS TIME)"),
    "interval": "epoch_us({})",
}


@dataclasses.dataclass(frozen=True, slots=True)
class Typed:
    """The SQL of a column with a type that Arrow has, or what it holds that cannot be used."""

    sql: str
    reason: str | None = None


@contextlib.contextmanager
def private_connection(memory: str = MEMORY) -> Iterator[DuckDBPyConnection]:
    """Open a database of our own in memory that streams, in no particular order."""
    with (
        tempfile.TemporaryDirectory(prefix="outlying-") as folder,  # for queries that sort or join
        engine.connection(
            {**_SETTINGS, "memory_limit": memory, "temp_directory": folder}
        ) as connected,
    ):
        # a query is bound several times before it runs
        connected.execute("SET parquet_metadata_cache = true")
        # or else a row group is read as a whole, which may be larger than memory
        connected.execute("SET disable_parquet_prefetching = true")
        # it makes an error of what TRY_CAST cannot read in a CSV file, where NULL is asked for
        known = connected.execute("FROM duckdb_optimizers() WHERE name = 'type_pushdown'")
        if known.fetchall():
            connected.execute("SET disabled_optimizers = 'type_pushdown'")
        yield connected


class DuckFeeder(LocalFeeder):
    """A relation of DuckDB, opened anew for every scan."""

    def __init__(
        self,
        opened: Opened,
        source: str,
        workers: int | None = None,
        *,
        shared: bool = False,
        names: Sequence[str] | None = None,
    ) -> None:
        """Feed from what `opened` gives.

        `shared` tells that its connection has other users, `names` what its columns are called
        where the engine has renamed some.
        """
        super().__init__(source, workers)
        self._opened = opened
        self._shared = shared
        self._names = names

    def _inspect(self) -> Shape:
        with plain_errors(self.source), self._opened() as relation:
            return self._shape_of(relation, self._names or relation.columns)

    def _shape_of(
        self,
        relation: DuckDBPyRelation,
        names: Sequence[str],
        kinds: Mapping[str, str] = MappingProxyType({}),
        unusable: Mapping[str, str] = MappingProxyType({}),
    ) -> Shape:
        """Plan the columns of a relation, with their names as people know them.

        Some may have another type than the engine says, or a reason to be left out.
        """
        unique_names(self.source, names)
        self._seen = list(zip(relation.columns, kinds_of(relation), strict=True))
        usable, skipped = [], []
        for place, (name, (_, kind)) in enumerate(zip(names, self._seen, strict=True), start=1):
            sql = _typed(f"#{place}", kinds.get(name, kind))
            reason = unusable.get(name, sql.reason)
            if reason is None:
                usable.append((name, sql.sql))
            else:
                skipped.append(SkippedColumn(name, skip_reason(reason)))
        return Shape(_fields(relation, usable), tuple(skipped))

    def _read(self, fields: Sequence[Field]) -> Generator[Batch, None, None]:
        with plain_errors(self.source, fields), self._opened() as relation:
            self._check_same(relation)
            expected = self._expected(relation)
            rows = 0
            asked = self._asked(relation, fields)
            with reader_of(relation, [sql for item in asked for sql in item.sql]) as reader:
                for batch in reader:
                    rows += batch.num_rows
                    yield _joined(batch, asked)
            if rows < expected:
                raise SourceError(
                    f"{self.source}: reading ended after {rows} of {expected} rows, as the "
                    "connection was used for something else meanwhile; use another connection "
                    "for that (connection.cursor() makes one)"
                )

    def _asked(self, relation: DuckDBPyRelation, fields: Sequence[Field]) -> list[Asked]:  # noqa: ARG002
        """Say how to ask for each column."""
        return [Asked(field) for field in fields]

    def _check_same(self, relation: DuckDBPyRelation) -> None:
        now = dict(zip(relation.columns, kinds_of(relation), strict=True))
        for name, kind in self._seen:
            if name not in now:
                raise changed(self.source, f"column {name!r} is gone")
            if now[name] != kind:
                raise changed(self.source, f"column {name!r} was {kind}, now it is {now[name]}")
        if list(now) != [name for name, _ in self._seen]:
            raise changed(self.source, "there are other columns now")

    def _expected(self, relation: DuckDBPyRelation) -> int:
        """Count the rows where a scan could end early without a word.

        Before version 2, a result ends when its connection is used again.
        """
        import duckdb

        if not self._shared or not duckdb.__version__.startswith("1."):
            return 0
        return int(relation.aggregate("count(*)").fetchall()[0][0])


def _joined(batch: Batch, asked: Sequence[Asked]) -> Batch:
    """Return one array for each column."""
    import pyarrow

    if not any(item.labels for item in asked):
        return batch
    arrays = iter(batch.columns)
    columns = [item.joined([next(arrays) for _ in item.sql]) for item in asked]
    return pyarrow.RecordBatch.from_arrays(columns, [f"c{n}" for n in range(len(columns))])


def kinds_of(relation: DuckDBPyRelation) -> list[str]:
    """Return the engine's names of the types of all columns."""
    return [kind.id for kind in relation.types]


@contextlib.contextmanager
def reader_of(
    relation: DuckDBPyRelation, columns: Sequence[str]
) -> Iterator[pyarrow.RecordBatchReader]:
    """Read some columns of a relation as batches of Arrow; closed whatever happens."""
    aliased = [f"{sql} AS c{place}" for place, sql in enumerate(columns)]
    projected = relation.project(", ".join(aliased) or "1 AS c0")
    modern = hasattr(projected, "to_arrow_reader")
    read = projected.to_arrow_reader if modern else projected.fetch_record_batch
    with contextlib.closing(read(BATCH_ROWS)) as reader:
        yield reader


def _fields(relation: DuckDBPyRelation, usable: list[tuple[str, str]]) -> tuple[Field, ...]:
    with reader_of(relation.limit(0), [sql for _, sql in usable]) as reader:
        types = reader.schema.types
    planned = zip(usable, types, strict=False)  # without columns, there is one that means nothing
    return tuple(Field(name, sql, comes, _final(sql, comes)) for (name, sql), comes in planned)


def _typed(column: str, kind: str) -> Typed:
    if kind in _SQL:
        return Typed(_SQL[kind].replace("{}", column))
    plan = engine.plan_of(column, kind)
    return Typed(column, plan if isinstance(plan, str) else None)


def _final(sql: str, comes: pyarrow.DataType) -> pyarrow.DataType:
    """Say which type is made of the one that comes."""
    import pyarrow

    if sql.startswith("epoch_us("):
        return pyarrow.duration("us")
    if pyarrow.types.is_timestamp(comes) and comes.tz is not None:
        return pyarrow.timestamp(comes.unit, "UTC")
    return comes


@contextlib.contextmanager
def plain_errors(source: str, fields: Sequence[Field] = ()) -> Iterator[None]:
    """Turn the engine's errors into ours, also those that reach us through Arrow."""
    import duckdb

    try:
        yield
    except duckdb.ConversionException as error:
        raise _conversion(source, str(error), fields) from None
    except duckdb.Error as error:
        raise _plain(source, error) from None
    except UnicodeEncodeError:
        raise SourceError(f"{source!a}: the name is not valid text; rename it") from None
    except OSError as error:
        if str(error).startswith("Conversion Error"):
            raise _conversion(source, str(error), fields) from None
        raise _plain(source, error) from None


def _plain(source: str, error: Exception) -> SourceError:
    text = engine.reason(error)
    if "open result" in text or "unfinished result" in text:
        return SourceError(
            f"{source}: the connection is still busy with another result; fetch that to its end "
            "first, or give another connection (connection.cursor() makes one)"
        )
    return SourceError(f"{source}: cannot be read: {text}")


def _conversion(source: str, text: str, fields: Sequence[Field]) -> Exception:
    """Name the columns of long whole numbers, one of which holds a number that is too long."""
    import pyarrow

    found = re.search(r"value (-?\d+) can't be cast because the value is out of range", text)
    long = [field.name for field in fields if field.sql.endswith("AS BIGINT)")]
    if not (long and (found or "INT64" in text)):
        return _plain(source, pyarrow.ArrowInvalid(text))
    names = " or ".join(map(repr, long))
    number = f"the number {found[1]}" if found else "a number"
    return ColumnError(
        f"{source}: column {names} holds {number}, which is beyond 64 bits; turn it into text or "
        "DOUBLE in a query, or leave the column out with exclude="
    )
