"""Whatever DuckDB can read, batch by batch.

Batches come from a relation by `to_arrow_reader` (`fetch_record_batch` before version 2): unlike
the results of `execute`, they are not collected first. Columns are asked for by their position, as
names that differ only in case are one name to the engine.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from outlying.errors import SourceError
from outlying.sources.arrow_arrays import Streamed
from outlying.sources.columns import skipped, unique_names
from outlying.sources.duckdb import engine
from outlying.sources.local import BATCH_ROWS, Field, LocalFeeder, Shape, changed
from outlying.sources.passes import Batch
from outlying.sources.sql import selected
from outlying.sources.types.duckdb import in_batches

if TYPE_CHECKING:
    import pyarrow
    from duckdb import DuckDBPyRelation

Opened: TypeAlias = "Callable[[], AbstractContextManager[DuckDBPyRelation]]"


def stream(relation: DuckDBPyRelation) -> DuckFeeder:
    """Feed from a relation of DuckDB, on its own connection."""

    @contextlib.contextmanager
    def opened() -> Iterator[DuckDBPyRelation]:
        yield relation.project("*")  # bound anew: the relation may remember columns that are gone

    return DuckFeeder(opened, "DuckDB relation", shared=True, names=relation.columns)


class DuckFeeder(LocalFeeder):
    """A relation of DuckDB, opened anew for every scan."""

    def __init__(
        self,
        opened: Opened,
        source: str,
        *,
        shared: bool = False,
        names: Sequence[str] | None = None,
    ) -> None:
        """Feed from what `opened` opens.

        `shared` tells that its connection has other users, `names` what its columns are called
        where the engine has renamed some.
        """
        super().__init__(source)
        self._opened = opened
        self._shared = shared
        self._names = names

    def _inspect(self) -> Shape:
        with engine.plain_errors(self.source), self._opened() as relation:
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
        self._seen = list(zip(relation.columns, _types_of(relation), strict=True))
        usable: dict[str, Streamed] = {}
        unused = []
        for place, (name, (_, kind)) in enumerate(zip(names, self._seen, strict=True), start=1):
            plan = unusable.get(name, in_batches(f"#{place}", kinds.get(name, kind)))
            if isinstance(plan, Streamed):
                usable[name] = plan
            else:
                unused.append(skipped(name, plan))
        self._long_integers = [name for name, plan in usable.items() if plan.may_overflow]
        return Shape(_fields(relation, usable), tuple(unused))

    def _read(self, fields: Sequence[Field]) -> Generator[Batch, None, None]:
        long = [field.name for field in fields if field.name in self._long_integers]
        with engine.plain_errors(self.source, long), self._opened() as relation:
            self._check_same(relation)
            expected = self._expected(relation)
            rows = 0
            with _reader_of(relation, [field.sql for field in fields]) as reader:
                for batch in reader:
                    rows += batch.num_rows
                    yield batch
            if rows < expected:
                raise SourceError(
                    f"{self.source}: reading ended after {rows} of {expected} rows, as the "
                    "connection was used for something else meanwhile; use another connection "
                    "for that (connection.cursor() makes one)"
                )

    def _check_same(self, relation: DuckDBPyRelation) -> None:
        now = dict(zip(relation.columns, _types_of(relation), strict=True))
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
        if not self._shared or not engine.is_version_1():
            return 0
        return int(relation.aggregate("count(*)").fetchall()[0][0])


def _types_of(relation: DuckDBPyRelation) -> list[str]:
    """Return the engine's names of the types of all columns."""
    return [kind.id for kind in relation.types]


@contextlib.contextmanager
def _reader_of(
    relation: DuckDBPyRelation, columns: Sequence[str]
) -> Iterator[pyarrow.RecordBatchReader]:
    """Read some columns of a relation as batches of Arrow; closed whatever happens."""
    projected = relation.project(selected(columns))
    modern = hasattr(projected, "to_arrow_reader")
    read = projected.to_arrow_reader if modern else projected.fetch_record_batch
    with contextlib.closing(read(BATCH_ROWS)) as reader:
        yield reader


def _fields(relation: DuckDBPyRelation, usable: Mapping[str, Streamed]) -> tuple[Field, ...]:
    with _reader_of(relation.limit(0), [plan.sql for plan in usable.values()]) as reader:
        types = reader.schema.types
    planned = zip(usable.items(), types, strict=False)  # without columns, one that means nothing
    return tuple(Field(name, p.sql, comes, p.type(comes)) for (name, p), comes in planned)
