"""A copy of a table to look around in: pages of rows, sorted, filtered and searched by DuckDB.

The copy is a folder that one process writes and another opens: a database that finds rows, and
files from which the cells of a page are taken. Numbers are as the core holds them, so that a value
reads the same in a page of rows and in a finding. Columns are called c0, c1, ...: names of tables
never become SQL.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from outlying.errors import ColumnError, OptionError, RowError, SourceError, unknown_name
from outlying.sources.arrow_arrays import of_texts
from outlying.sources.duckdb import engine
from outlying.sources.passes import Progress
from outlying.table.columns import Column
from outlying.table.table import Table
from outlying.table.values import Value
from outlying.web.cells import CellFiles, ColumnOverview, facts_of, write_cells
from outlying.web.filters import (
    DerivedColumns,
    Filter,
    condition_sql,
    containing,
    label_in_copy,
    number_in_copy,
)

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Number: TypeAlias = int

_MEMORY = "512MB"
_SHALLOW = 2_000  # rows from the top that are found without an order of all
_ORDERS = 24  # orders of all rows that are kept
_HEADS = 500  # beginnings of orders that are kept
_COUNTS = 240  # numbers of rows that are kept
_DATABASE = "rows.duckdb"
_CELLS = "cells"


@dataclasses.dataclass(frozen=True, slots=True)
class RowView:
    """Which rows, in which order: those that hold the search text, meet all filters, are named."""

    sort: str | None = None
    descending: bool = False
    search: str = ""
    filters: tuple[Filter, ...] = ()
    rows: tuple[int, ...] | None = None

    @property
    def is_whole(self) -> bool:
        """Whether all rows are meant."""
        return not self.search and not self.filters and self.rows is None


@dataclasses.dataclass(frozen=True, slots=True)
class Rows:
    """Some rows by their numbers from 1, and how many there are in all."""

    total: int
    numbers: list[Number]
    cells: list[list[Value]]


def write_copy(
    table: Table, folder: Path, progress: Progress | None = None, *, with_texts: bool = False
) -> tuple[ColumnOverview, ...]:
    """Write the copy of a table to a new folder, and return the facts of its columns.

    `progress` is told how many columns are done, of how many. `with_texts`: it is to be read back.
    """
    import duckdb
    import pyarrow

    folder.mkdir(mode=0o700)
    write_cells(table.columns, folder / _CELLS, with_texts=with_texts)

    arrays = {"n": pyarrow.array(np.arange(1, table.rows + 1, dtype=np.int32))}
    arrays |= {f"c{place}": _array(column) for place, column in enumerate(table.columns)}
    given = pyarrow.table(arrays)
    with engine.plain_errors(table.source), duckdb.connect(str(folder / _DATABASE)) as connected:
        connected.execute("SET enable_progress_bar = false")
        connected.register("given", given)
        connected.execute("CREATE TABLE t AS SELECT * FROM given")
    return tuple(_each_with_facts(table.columns, progress))


def _each_with_facts(
    columns: Sequence[Column], progress: Progress | None
) -> Iterator[ColumnOverview]:
    for done, column in enumerate(columns, start=1):
        yield facts_of(column)
        if progress is not None:
            progress(done, len(columns))


def read_copy(folder: Path, columns: Sequence[ColumnOverview]) -> tuple[Column, ...]:
    """Read the columns of a copy back, as their source has them."""
    cells = _cells(folder, columns)
    return tuple(cells.source_column(place, facts.name) for place, facts in enumerate(columns))


def _cells(folder: Path, columns: Sequence[ColumnOverview]) -> CellFiles:
    forms = [(facts.form, facts.type != "categorical") for facts in columns]
    return CellFiles(folder / _CELLS, forms)


def _array(column: Column) -> Any:
    import pyarrow

    if column.is_numeric:
        return pyarrow.array(column.values, mask=column.missing())
    codes = pyarrow.array(column.codes, mask=column.missing())
    labels = [label_in_copy(label) for label in column.labels]
    return pyarrow.DictionaryArray.from_arrays(codes, of_texts(labels))


class Browser:
    """The copy of a table, opened to be read by any number of threads."""

    def __init__(
        self, folder: Path, source: str, rows: int, columns: Sequence[ColumnOverview]
    ) -> None:
        import duckdb

        self._cells = _cells(folder, columns)
        self.source, self.rows, self.columns = source, rows, tuple(columns)
        self._places = {facts.name: place for place, facts in enumerate(columns)}
        self._derived = DerivedColumns(self.columns, self._cells)
        self._connected = duckdb.connect(
            str(folder / _DATABASE), read_only=True, config={"memory_limit": _MEMORY}
        )
        self._order = functools.lru_cache(_ORDERS)(self._find_order)
        self._head = functools.lru_cache(_HEADS)(functools.partial(self._find_order, _SHALLOW))
        self._count_rows = functools.lru_cache(_COUNTS)(self._find_count)
        self._lock = threading.Lock()
        self._cursors: list[DuckDBPyConnection] = []
        self._is_closed = False

    def close(self) -> None:
        """Let go of the file; a query that runs is interrupted, and the last one does so."""
        with self._lock:
            self._is_closed = True
            for cursor in self._cursors:
                cursor.interrupt()
            if not self._cursors:
                self._connected.close()

    @contextlib.contextmanager
    def _cursor(self) -> Iterator[DuckDBPyConnection]:
        """Make a connection of a thread's own."""
        with engine.plain_errors(self.source):
            with self._lock:
                cursor = self._connected.cursor()
                self._cursors.append(cursor)
            try:
                yield cursor
            except Exception:
                if self._is_closed:  # which interrupts, and that is no signal
                    raise SourceError(f"{self.source}: closed while it was read") from None
                raise
            finally:
                with self._lock:
                    self._cursors.remove(cursor)
                    cursor.close()
                    if self._is_closed and not self._cursors:
                        self._connected.close()

    def place(self, name: str) -> int:
        """Return the place of a column; an error says which names are near."""
        if name not in self._places:
            raise ColumnError(unknown_name("column", name, self._places))
        return self._places[name]

    def page(self, view: RowView, offset: int, limit: int) -> Rows:
        """Return some rows of a view."""
        numbers = self._numbers(view, offset, limit)
        return Rows(self.count(view), numbers, self._rows(numbers))

    def some(self, numbers: Sequence[Number]) -> Rows:
        """Return rows by their numbers."""
        for number in numbers:
            if not 1 <= number <= self.rows:
                raise OptionError(f"row {number} does not exist: there are {self.rows:,} rows")
        return Rows(self.rows, list(numbers), self._rows(numbers))

    def first_by(
        self, filters: Sequence[Filter], distance: Distance, without: int, limit: int
    ) -> Rows:
        """Return the rows that meet all filters and are nearest, without a row itself."""
        sql, more = self._distance(distance)
        with self._cursor() as cursor:
            where, parameters = self._where(cursor, RowView(filters=tuple(filters)))
            query = f"SELECT n FROM t WHERE {where} AND n <> ? ORDER BY {sql}, n LIMIT ?"  # noqa: S608
            found = cursor.execute(query, [*parameters, without, *more, limit]).fetchall()
            numbers = [int(number) for (number,) in found]
            return Rows(len(numbers), numbers, self._rows(numbers))

    def key(self, number: Number) -> dict[str, Value]:
        """Return values that only this row has: of a stream, rows have no other name."""
        cells = self.some([number]).cells[0]
        values = {
            facts.name: cell
            for facts, cell in zip(self.columns, cells, strict=True)
            if not (facts.unread and isinstance(cell, str))
        }
        known = {name: _holding(name, value) for name, value in values.items()}
        counts = {name: self.count(RowView(filters=(item,))) for name, item in known.items()}
        chosen: list[str] = []
        for name in sorted(counts, key=counts.__getitem__):
            chosen.append(name)
            if self.count(RowView(filters=tuple(known[each] for each in chosen))) == 1:
                return {each: values[each] for each in chosen}
        raise RowError(f"row {number} cannot be named: another row of this stream holds the same")

    def count(self, view: RowView) -> int:
        """Return how many rows a view has."""
        if view.is_whole:
            return self.rows
        return self._count_rows(dataclasses.replace(view, sort=None, descending=False))

    def _distance(self, distance: Distance) -> tuple[str, list[Any]]:
        """Write Gower's distance to an object: the mean difference of its columns, each at most 1.

        Numbers differ by their distance as a share of the column's spread, categories by 0 or 1; a
        gap differs from every value, and not from a gap.
        """
        parts: list[str] = []
        parameters: list[Any] = []
        for name, value in distance.items():
            place = self.place(name)
            column, facts = f"c{place}", self.columns[place]
            if value is None or (facts.unread and isinstance(value, str)):
                parts.append(f"CASE WHEN {column} IS NULL THEN 0.0 ELSE 1.0 END")
                continue
            if facts.type == "categorical":
                parts.append(f"CASE WHEN {column} = ? THEN 0.0 ELSE 1.0 END")
                parameters.append(label_in_copy(value))
                continue
            parts.append(f"coalesce(least(1.0, abs({column} - ?) / ?), 1.0)")
            parameters += [number_in_copy(facts, value), facts.spread]
        return " + ".join(parts) or "n", parameters

    def _find_count(self, view: RowView) -> int:
        with self._cursor() as cursor:
            where, parameters = self._where(cursor, view)
            query = f"SELECT count(*) FROM t WHERE {where}"  # noqa: S608 (names are our own)
            return int(cursor.execute(query, parameters).fetchall()[0][0])

    def _numbers(self, view: RowView, offset: int, limit: int) -> list[Number]:
        if view.is_whole and view.sort is None:
            return list(range(offset + 1, min(self.rows, offset + limit) + 1))
        is_shallow = offset + limit <= _SHALLOW
        order = self._head(view) if is_shallow else self._order(self.rows, view)
        return [int(number) for number in order[offset : offset + limit]]

    def _find_order(self, most: int, view: RowView) -> npt.NDArray[np.int32]:
        with self._cursor() as cursor:
            query, parameters = self._ordered(cursor, view)
            if most < self.rows:
                query, parameters = f"{query} LIMIT ?", [*parameters, most]
            found = cursor.execute(query, parameters).fetchnumpy()["n"]
            return np.asarray(found, dtype=np.int32)

    def _ordered(self, cursor: DuckDBPyConnection, view: RowView) -> tuple[str, list[Any]]:
        where, parameters = self._where(cursor, view)
        first = ""
        if view.sort is not None:
            way = "DESC" if view.descending else "ASC"
            first = f"c{self.place(view.sort)} {way} NULLS LAST, "
        return f"SELECT n FROM t WHERE {where} ORDER BY {first}n", parameters  # noqa: S608

    def _rows(self, numbers: Sequence[Number]) -> list[list[Value]]:
        return self._cells.rows([number - 1 for number in numbers])

    # --- conditions -----------------------------------------------------------------------------

    def _where(self, cursor: DuckDBPyConnection, view: RowView) -> tuple[str, list[Any]]:
        parts, parameters = ["true"], []
        if view.rows is not None:
            parts.append("n = ANY(?)")
            parameters.append([number for number in view.rows if 0 < number <= self.rows])
        for number, item in enumerate(view.filters):
            sql, more = self._condition(cursor, number, item)
            parts.append(sql)
            parameters += more
        if view.search:
            sql, more = self._search(view.search)
            parts.append(sql)
            parameters += more
        return " AND ".join(parts), parameters

    def _condition(
        self, cursor: DuckDBPyConnection, number: int, item: Filter
    ) -> tuple[str, list[Any]]:
        """Write a condition; the rows of one on a derived column are joined as a list of ours."""
        if not self._derived.knows(item.attribute):
            place = self.place(item.attribute)
            return condition_sql(f"c{place}", self.columns[place], item)
        import pyarrow

        name = f"met_{number}"
        cursor.register(name, pyarrow.table({"n": self._derived.numbers(item)}))
        return f"n IN (SELECT n FROM {name})", []  # noqa: S608 (the name is our own)

    def _search(self, text: str) -> tuple[str, list[Any]]:
        """Look for a text in all columns; numbers hold none but those that look like numbers."""
        is_numeric = all(char in "0123456789.-+:T e" for char in text)
        parts = [
            containing(f"c{place}", facts)
            for place, facts in enumerate(self.columns)
            if is_numeric or facts.type == "categorical"
        ]
        parameters: list[Any] = [label_in_copy(text)] * len(parts)
        unread = self._unread_with(text)
        if unread:
            parts.append("n = ANY(?)")
            parameters.append(unread)
        return f"({' OR '.join(parts) or 'false'})", parameters

    def _unread_with(self, text: str) -> list[Number]:
        """Return the rows whose text, in a column of numbers, holds this one in any case."""
        return [
            row + 1
            for place, facts in enumerate(self.columns)
            if facts.unread
            for row, cell in self._cells.unread(place).items()
            if text.lower() in str(cell).lower()
        ]


Distance: TypeAlias = "dict[str, Value]"


def _holding(name: str, value: Value) -> Filter:
    return Filter(name, "missing") if value is None else Filter(name, "equals", value=value)
