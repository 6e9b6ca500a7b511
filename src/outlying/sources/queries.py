"""Queries that have not run yet: lazy frames of polars, and tables of Ibis.

Ibis is one way to BigQuery, Snowflake, Trino, MySQL, SQL Server and many more. A query runs once
for every scan, and only the columns that are asked for are computed.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from outlying.errors import ColumnError, SourceError
from outlying.sources.arrow_types import standard_type, unusable
from outlying.sources.columns import skipped
from outlying.sources.databases import explained
from outlying.sources.duckdb import DuckFeeder
from outlying.sources.faults import first_line, translate_errors, unreadable
from outlying.sources.local import BATCH_ROWS, BatchFeeder, Field, LocalFeeder, Shape, collected
from outlying.sources.passes import Batch
from outlying.table.table import Table

if TYPE_CHECKING:
    import polars
    import pyarrow
    from ibis.expr.types import Table as IbisTable

_OLDEST = (1, 38)


def read(query: Any) -> Table:
    """Read all rows into memory, in no particular order."""
    return collected(stream(query))


def stream(query: Any) -> LocalFeeder:
    """Feed from a query of polars or Ibis."""
    return LazyFeeder(query) if hasattr(query, "collect_schema") else _of_ibis(query)


class LazyFeeder(LocalFeeder):
    """A query of polars, by its streaming engine; it is never collected."""

    frame_library = "polars"

    def __init__(self, frame: polars.LazyFrame) -> None:
        super().__init__("polars LazyFrame")
        _check_version()
        self._frame = frame

    def _inspect(self) -> Shape:
        import polars

        with translate_errors(self.source, "polars"):
            schema = self._frame.collect_schema()
        reasons = {}
        types = {}
        for name, kind in schema.items():
            if "\0" in name:
                raise ColumnError(
                    f"{self.source}: column {name!r} has a NUL in its name; rename it"
                )
            if kind == polars.Object:
                reasons[name] = "Python objects"
                continue
            empty = polars.DataFrame(schema={name: kind}).lazy()
            types[name] = _to_arrow(empty.select(_selected(name, kind)).collect()).schema.types[0]
            what = unusable(types[name])
            if what is not None:
                reasons[name] = what
        usable = {name: kind for name, kind in types.items() if name not in reasons}
        fields = [Field(name, name, kind, standard_type(kind)) for name, kind in usable.items()]
        return Shape(tuple(fields), tuple(skipped(name, what) for name, what in reasons.items()))

    def _read(self, fields: Sequence[Field]) -> Generator[Batch, None, None]:
        names = [field.name for field in fields or self.raw_shape.fields[:1]]

        def explain(source: str, error: Exception) -> BaseException:
            if "conversion from" not in str(error):
                return unreadable(source, error)
            return ColumnError(
                f"{source}: {first_line(error)}, in one of the columns "
                f"{', '.join(map(repr, names))}; cast it to text or a float, or leave it out"
            )

        with translate_errors(self.source, "polars", explain=explain):
            now = self._frame.collect_schema()
            frame = self._frame.select(_selected(name, now.get(name)) for name in names)
            batches = frame.collect_batches(
                chunk_size=BATCH_ROWS, maintain_order=False, engine="streaming"
            )
            try:
                for batch in batches:
                    yield from _to_arrow(batch).to_batches()
            finally:
                del batches  # what ends the query when not all was read


def _selected(name: str, kind: Any) -> polars.Expr:
    """Select a column; whole numbers that Arrow has no type for are cast."""
    import polars
    from polars import selectors

    column = selectors.by_name(name).as_expr()  # unlike col, it takes no name for a pattern
    long = (getattr(polars, name, None) for name in ("Int128", "UInt128"))
    return column.cast(polars.Int64) if kind in [it for it in long if it is not None] else column


def _to_arrow(frame: polars.DataFrame) -> pyarrow.Table:
    """Turn a frame into Arrow with types that all versions of Arrow know."""
    import polars

    return frame.to_arrow(compat_level=polars.CompatLevel.oldest())


def _check_version() -> None:
    """Refuse older versions, whose batches just end where the query fails."""
    import polars

    version = tuple(int(part) for part in polars.__version__.split(".")[:2])
    if version < _OLDEST:
        raise SourceError(
            f"polars {polars.__version__} cannot read a LazyFrame in batches; install polars "
            f"{_OLDEST[0]}.{_OLDEST[1]} or later, or collect the frame first"
        )


def _of_ibis(table: IbisTable) -> LocalFeeder:
    import pyarrow as pa

    source = _source_of(table)
    with translate_errors(source, explain=explained):
        backend = table.get_backend()
        if backend.name == "duckdb":  # whose newer versions lack the method that Ibis calls
            query, connection = table.compile(), backend.con
            return DuckFeeder(
                lambda: contextlib.nullcontext(connection.sql(query)), source, list(table.columns)
            )
        schema = table.schema().to_pyarrow()

    def batches(names: Sequence[str]) -> Iterator[Batch]:
        promised = pa.schema([schema.field(name) for name in names])
        found = table.select(*names).to_pyarrow_batches(chunk_size=BATCH_ROWS)
        with contextlib.closing(found) as reader:
            for batch in reader:
                yield batch.cast(promised)

    return BatchFeeder(source, lambda: schema, batches, explained)


def _source_of(table: IbisTable) -> str:
    """Name a table as its database does; a query has no name."""
    with contextlib.suppress(Exception):  # whatever a backend makes of it
        return f"{table.get_backend().name} {table.get_name()}"
    return "Ibis query"
