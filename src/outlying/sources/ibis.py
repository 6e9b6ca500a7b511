"""Tables of Ibis: one way to BigQuery, Snowflake, Trino, MySQL, SQL Server and many more."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from outlying.errors import OutlyingError, SourceError
from outlying.sources.batches import BatchFeeder
from outlying.sources.databases.adbc import reason
from outlying.sources.duckdb.feeder import DuckFeeder
from outlying.sources.local import BATCH_ROWS, LocalFeeder, collected
from outlying.sources.passes import Batch
from outlying.sources.sql import interrupts
from outlying.table.table import Table

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation
    from ibis.expr.types import Table as IbisTable


def read(table: IbisTable) -> Table:
    """Read all rows into memory, in no particular order."""
    return collected(stream(table))


def stream(table: IbisTable) -> LocalFeeder:
    """Feed from a table or a query, which runs once for every scan; only asked columns are read."""
    source = _source_of(table)
    with _told(source):
        backend = table.get_backend()
        if backend.name == "duckdb":
            return _of_duckdb(source, table, backend.con)
        schema = table.schema().to_pyarrow()

    def batches(names: Sequence[str]) -> Iterator[Batch]:
        found = table.select(*names).to_pyarrow_batches(chunk_size=BATCH_ROWS)
        with contextlib.closing(found) as reader:
            for batch in reader:
                yield batch.cast(_part_of(schema, names))

    return BatchFeeder(source, lambda: schema, batches, lambda: _told(source))


def _of_duckdb(source: str, table: IbisTable, connection: DuckDBPyConnection) -> LocalFeeder:
    """Ask DuckDB itself, whose newer versions lack the method that Ibis calls for batches."""
    query = table.compile()

    @contextlib.contextmanager
    def opened() -> Iterator[DuckDBPyRelation]:
        yield connection.sql(query)

    return DuckFeeder(opened, source, shared=True, names=list(table.columns))


def _part_of(schema: Any, names: Sequence[str]) -> Any:
    import pyarrow

    return pyarrow.schema([schema.field(name) for name in names])


def _source_of(table: IbisTable) -> str:
    """Name a table as its database does; a query has no name."""
    with contextlib.suppress(Exception):  # whatever a backend makes of it
        return f"{table.get_backend().name} {table.get_name()}"
    return "Ibis query"


@contextlib.contextmanager
def _told(source: str) -> Iterator[None]:
    """Turn the errors of any backend into ours."""
    try:
        with interrupts():
            yield
    except (OutlyingError, MemoryError):
        raise
    except Exception as error:
        raise SourceError(f"{source}: cannot be read: {reason(error)}") from None
