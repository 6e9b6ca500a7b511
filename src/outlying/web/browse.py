"""A copy of a table to look around in: pages of rows, sorted, filtered and searched by DuckDB.

The copy is a database that one process writes and another opens. Columns are called c0, c1, ...:
names of tables never become SQL. u3 holds the texts of c3 that are no numbers, w3 all texts that
its numbers were read from, where they are to be read again.
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

from outlying.derived.calendar import DAY
from outlying.derived.choosing import derivations, facts_of
from outlying.errors import ColumnError, OptionError, RowError, SourceError, unknown_name
from outlying.options import ColumnType
from outlying.sources import duckdb as engine
from outlying.sources.arrow_arrays import filled, of_numbers, of_texts
from outlying.sources.passes import Progress
from outlying.table.columns import CategoricalColumn, Column, NumericColumn, categorical_column
from outlying.table.table import Part, Table, part_of
from outlying.table.values import TIMES, Form, Mask, Value, number_of, plain, read_text, value_of
from outlying.web.queries import Filter, TableQuery

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MOST_CATEGORIES = 30
"""So many of the commonest categories are named."""
#: SQL, and the values of its question marks.
Sql: TypeAlias = tuple[str, list[Any]]
_BARS = 24  # of the small picture of a column
_MEMORY = "512MB"
_COUNTS = 240  # numbers of rows that are kept
_DERIVED = 2  # derived columns that were computed last
_MOST_TEXTS = 1_000_000  # distinct ones: to look at more would keep others waiting
_DATABASE = "rows.duckdb"


# --- the copy --------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class ColumnOverview:
    """What a column holds; `low` and `high` are those of numbers.

    `bars` counts rows in equal parts from the 1st to the 99th percentile, or of categories.
    """

    name: str
    form: Form
    type: ColumnType
    missing: int
    distinct: int
    low: Value = None
    high: Value = None
    categories: tuple[str, ...] = ()
    unread: int = 0  # rows with a text that is no number; they count as missing, too
    spread: float = 1.0  # from the 1st to the 99th percentile, by which differences are measured
    bars: tuple[int, ...] = ()
    #: Texts that UTF-8 cannot write, by the way the database has them.
    halves: tuple[tuple[str, str], ...] = ()

    @property
    def is_numeric(self) -> bool:
        """Whether cells are numbers inside."""
        return self.type != "categorical"


def overview(column: Column) -> ColumnOverview:
    """Look at a column once."""
    kind: ColumnType = "datetime" if column.form in TIMES else "numeric"
    kind = kind if column.is_numeric else "categorical"
    missing = int(np.count_nonzero(column.missing()))
    found = ColumnOverview(column.name, column.form, kind, missing, 0, halves=_halves_of(column))
    if not column.is_numeric:
        counts = np.bincount(column.codes[column.codes >= 0], minlength=len(column.labels))
        common = np.argsort(-counts, kind="stable")[:MOST_CATEGORIES]
        return dataclasses.replace(
            found,
            distinct=len(column.labels),
            categories=tuple(str(plain(column.labels[place])) for place in common),
            bars=tuple(counts[common].tolist()),
        )
    known = column.values[np.isfinite(column.values)]
    if not len(known):
        return found
    low, near, far, high = (float(x) for x in np.quantile(known, (0, 0.01, 0.99, 1)))
    near, far = (near, far) if near < far else (low, high)
    return dataclasses.replace(
        found,
        distinct=len(np.unique(known)),
        low=value_of(column.form, low),
        high=value_of(column.form, high),
        unread=len(column.unread_rows()),
        spread=(far - near) or 1.0,
        bars=tuple(np.histogram(known, _BARS, (near, far))[0].tolist()) if near < far else (),
    )


def _halves_of(column: Column) -> tuple[tuple[str, str], ...]:
    """Return the texts that UTF-8 cannot write, be they those that numbers were read from."""
    if column.is_numeric:
        labels = () if column.written is None else column.written.texts.labels
    else:
        labels = column.labels
    texts = ((label_in_copy(label), label) for label in labels if isinstance(label, str))
    return tuple((known, str(text)) for known, text in texts if known != text)


def write_copy(
    table: Table, folder: Path, progress: Progress | None = None, *, with_texts: bool = False
) -> tuple[ColumnOverview, ...]:
    """Write the copy of a table; `progress` counts columns. `with_texts`: it is to be read back."""
    import duckdb
    import pyarrow

    folder.mkdir(mode=0o700)
    arrays = {"n": of_numbers(np.arange(1, table.rows + 1, dtype=np.int32))}
    for place, column in enumerate(table.columns):
        if not column.is_numeric:
            arrays[f"c{place}"] = _array(column)
            continue
        arrays[f"c{place}"] = of_numbers(column.values, column.missing())
        rows = column.unread_rows()
        if column.written is not None and len(rows):
            is_unread = np.isin(np.arange(table.rows), rows)
            arrays[f"u{place}"] = _array(column.written.texts, is_unread)
        if column.written is not None and with_texts:
            arrays[f"w{place}"] = _array(column.written.texts)
    with engine.plain_errors(table.source), duckdb.connect(str(folder / _DATABASE)) as connected:
        connected.execute("SET enable_progress_bar = false")
        connected.register("given", pyarrow.table(arrays))
        connected.execute("CREATE TABLE t AS SELECT * FROM given")
    found = []
    for column in table.columns:
        found.append(overview(column))
        if progress is not None:
            progress(len(found), len(table.columns))
    return tuple(found)


def _array(column: CategoricalColumn, chosen: Mask | None = None) -> Any:
    """Return the texts of a column, or of some rows of it, as Arrow has them."""
    import pyarrow

    missing = column.missing() if chosen is None else column.missing() | ~chosen
    labels = of_texts([label_in_copy(label) for label in column.labels])
    return pyarrow.DictionaryArray.from_arrays(of_numbers(column.codes, missing), labels)


class Browser:
    """The copy of a table, opened to be read by any number of threads."""

    def __init__(
        self, folder: Path, source: str, rows: int, columns: Sequence[ColumnOverview]
    ) -> None:
        import duckdb

        self.source, self.rows, self.columns = source, rows, tuple(columns)
        self._places = {facts.name: place for place, facts in enumerate(columns)}
        self._halves = [dict(facts.halves) for facts in columns]
        self._connected = duckdb.connect(
            str(folder / _DATABASE), read_only=True, config={"memory_limit": _MEMORY}
        )
        self._count_rows = functools.lru_cache(_COUNTS)(self._find_count)
        self._derived = functools.lru_cache(_DERIVED)(self._derive)
        self._lock, self._deriving = threading.Lock(), threading.Lock()
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

    # --- rows -----------------------------------------------------------------------------------

    def page(self, query: TableQuery) -> FoundRows:
        """Return a page of rows."""
        numbers = self._numbers(query)
        return FoundRows(self.count(query), numbers, self._rows(numbers))

    def some(self, numbers: Sequence[int]) -> FoundRows:
        """Return rows by their numbers."""
        for number in numbers:
            if not 1 <= number <= self.rows:
                raise OptionError(f"row {number} does not exist: there are {self.rows:,} rows")
        return FoundRows(self.rows, list(numbers), self._rows(numbers))

    def first_by(
        self, filters: Sequence[Filter], distance: dict[str, Value], without: int, limit: int
    ) -> FoundRows:
        """Return the rows that meet all filters and are nearest, without a row itself."""
        sql, more = self._distance(distance)
        with self._cursor() as cursor:
            where, parameters = self._where(cursor, TableQuery(filters=tuple(filters)))
            query = f"SELECT n FROM t WHERE {where} AND n <> ? ORDER BY {sql}, n LIMIT ?"  # noqa: S608
            found = cursor.execute(query, [*parameters, without, *more, limit]).fetchall()
        numbers = [int(number) for (number,) in found]
        return FoundRows(len(numbers), numbers, self._rows(numbers))

    def key(self, number: int) -> dict[str, Value]:
        """Return values that only this row has: of a stream, rows have no other name."""
        cells = self.some([number]).cells[0]
        values = {
            facts.name: cell
            for facts, cell in zip(self.columns, cells, strict=True)
            if not (facts.unread and isinstance(cell, str))
        }
        known = {
            name: Filter(name, "missing" if value is None else "equals", value=value)
            for name, value in values.items()
        }
        counts = {name: self.count(TableQuery(filters=(item,))) for name, item in known.items()}
        chosen: list[str] = []
        for name in sorted(counts, key=counts.__getitem__):
            chosen.append(name)
            if self.count(TableQuery(filters=tuple(known[each] for each in chosen))) == 1:
                return {each: values[each] for each in chosen}
        raise RowError(f"row {number} cannot be named: another row of this stream holds the same")

    def count(self, query: TableQuery) -> int:
        """Return how many rows are meant, whatever the page."""
        if query.is_whole:
            return self.rows
        return self._count_rows(query.rows_alone)

    def numbers(self, query: TableQuery) -> list[int]:
        """Return the numbers of all rows that are meant."""
        return self._numbers(dataclasses.replace(query.rows_alone, limit=self.rows))

    def _find_count(self, query: TableQuery) -> int:
        with self._cursor() as cursor:
            where, parameters = self._where(cursor, query)
            sql = f"SELECT count(*) FROM t WHERE {where}"  # noqa: S608 (names are our own)
            return int(cursor.execute(sql, parameters).fetchall()[0][0])

    def _numbers(self, query: TableQuery) -> list[int]:
        if query.is_whole and query.sort is None:
            end = min(self.rows, query.offset + query.limit)
            return list(range(query.offset + 1, end + 1))
        first = ""
        if query.sort is not None:
            way = "DESC" if query.descending else "ASC"
            first = f"c{self.place(query.sort)} {way} NULLS LAST, "
        with self._cursor() as cursor:
            where, parameters = self._where(cursor, query)
            sql = f"SELECT n FROM t WHERE {where} ORDER BY {first}n LIMIT ? OFFSET ?"  # noqa: S608
            found = cursor.execute(sql, [*parameters, query.limit, query.offset]).fetchall()
        return [int(number) for (number,) in found]

    def _rows(self, numbers: Sequence[int]) -> list[list[Value]]:
        """Return the cells of rows in their order; rows are found by their place in the file."""
        if not numbers:
            return []
        unread, count = (
            [n for n, facts in enumerate(self.columns) if facts.unread],
            len(self.columns),
        )
        names = ["n", *(f"c{place}" for place in range(count)), *(f"u{place}" for place in unread)]
        listed = ", ".join(str(int(number) - 1) for number in numbers)
        query = f"SELECT {', '.join(names)} FROM t WHERE rowid IN ({listed})"  # noqa: S608
        with self._cursor() as cursor:
            found = {line[0]: line[1:] for line in cursor.execute(query).fetchall()}
        rows = []
        for number in numbers:
            line = found[number]
            cells = [self._value(place, cell) for place, cell in enumerate(line[:count])]
            for place, text in zip(unread, line[count:], strict=True):
                if text is not None:
                    cells[place] = self._halves[place].get(text, text)
            rows.append(cells)
        return rows

    def _value(self, place: int, cell: Any) -> Value:
        facts = self.columns[place]
        if cell is None:
            return None
        if facts.is_numeric:
            return value_of(facts.form, cell)
        if facts.form == "boolean":
            return bool(cell == "true")
        return self._halves[place].get(str(cell), str(cell))

    def _distance(self, distance: dict[str, Value]) -> Sql:
        """Write Gower's distance to an object; a gap differs from values, not from a gap."""
        parts: list[str] = []
        parameters: list[Any] = []
        for name, value in distance.items():
            place = self.place(name)
            column, facts = f"c{place}", self.columns[place]
            if value is None or (facts.unread and isinstance(value, str)):
                parts.append(f"CASE WHEN {column} IS NULL THEN 0.0 ELSE 1.0 END")
            elif facts.is_numeric:
                parts.append(f"coalesce(least(1.0, abs({column} - ?) / ?), 1.0)")
                parameters += [number_in_copy(facts, value), facts.spread]
            else:
                parts.append(f"CASE WHEN {column} = ? THEN 0.0 ELSE 1.0 END")
                parameters.append(label_in_copy(value))
        return " + ".join(parts) or "n", parameters

    # --- conditions -----------------------------------------------------------------------------

    def _where(self, cursor: DuckDBPyConnection, query: TableQuery) -> Sql:
        parts, parameters = ["true"], []
        if query.rows is not None:
            parts.append("n = ANY(?)")
            parameters.append([number for number in query.rows if 0 < number <= self.rows])
        found = [self._condition(cursor, n, item) for n, item in enumerate(query.filters)]
        if query.search:
            found.append(self._search(query.search))
        parts += [sql for sql, _ in found]
        parameters += [value for _, more in found for value in more]
        return " AND ".join(parts), parameters

    def _condition(self, cursor: DuckDBPyConnection, number: int, item: Filter) -> Sql:
        """Write a condition; a derived column is a table of its own beside the copy."""
        if part_of(item.attribute, self._places) is None:
            place = self.place(item.attribute)
            return condition_sql(f"c{place}", self.columns[place], item)
        import pyarrow

        with self._deriving:
            column = self._derived(item.attribute)
        if column.is_numeric:
            if item.kind == "contains":
                raise OptionError(f"filter: {item.attribute!r} holds no texts; allowed: a range")
            values = column.values % DAY if column.form == "time" else column.values
            cells = of_numbers(values, column.missing())
        else:
            if item.kind == "interval":
                said = "has no ranges; allowed: one of its values"
                raise OptionError(f"filter: {item.attribute!r} {said}")
            cells = _array(column)
        name, numbers = f"derived_{number}", of_numbers(np.arange(1, self.rows + 1, dtype=np.int32))
        cursor.register(name, pyarrow.table({"n": numbers, "v": cells}))
        sql, parameters = condition_sql("v", column, item)
        return f"n IN (SELECT n FROM {name} WHERE {sql})", parameters  # noqa: S608 (our own names)

    def _search(self, text: str) -> Sql:
        """Look for a text in all columns; numbers hold none but those that look like numbers."""
        is_numeric = all(char in "0123456789.-+:T e" for char in text)
        parts: list[str] = []
        for place, facts in enumerate(self.columns):
            if is_numeric or not facts.is_numeric:
                parts.append(containing(f"c{place}", facts))
            if facts.unread:
                parts.append(f"contains(lower(u{place}), lower(?))")
        return f"({' OR '.join(parts) or 'false'})", [label_in_copy(text)] * len(parts)

    # --- whole columns --------------------------------------------------------------------------

    def source_column(self, place: int) -> Column:
        """Return all cells of a column as its source has them, before texts were read."""
        with self._cursor() as cursor:
            names = {line[0] for line in cursor.execute("DESCRIBE t").fetchall()}
        return self._texts(place, f"w{place}") if f"w{place}" in names else self._column(place)

    def _column(self, place: int) -> Column:
        facts = self.columns[place]
        if not facts.is_numeric:
            return self._texts(place, f"c{place}")
        return NumericColumn(facts.name, facts.form, filled(self._cells(f"c{place}"), np.nan))

    def _texts(self, place: int, name: str) -> CategoricalColumn:
        facts, halves = self.columns[place], self._halves[place]
        texts = [halves.get(text, text) for text in self._cells(name).to_pylist()]
        is_boolean = facts.form == "boolean" and name.startswith("c")
        values = [text and text == "true" for text in texts] if is_boolean else texts
        return categorical_column(facts.name, values, "boolean" if is_boolean else "text")

    def _cells(self, name: str) -> Any:
        with self._cursor() as cursor:
            found: Any = cursor.sql(f"SELECT {name} FROM t ORDER BY n")  # noqa: S608
            return found.to_arrow_table().column(0).combine_chunks()

    def _derive(self, name: str) -> Column:
        """Compute a derived column by the same code as for findings: a condition means the same."""
        parent, part = part_of(name, self._places) or (name, None)
        place = self._places[parent]
        facts = self.columns[place]
        if part is Part.WRITTEN:
            raise OptionError(f"filter: rows cannot be found by {name!r}, only by {parent!r}")
        if not facts.is_numeric and facts.distinct > _MOST_TEXTS:
            raise OptionError(f"filter: {parent!r} has too many texts to find rows by {name!r}")
        column = self._column(place)
        known = facts_of(column)
        found = () if known is None else derivations(parent, column.form, known)
        derivation = next((item for item in found if item.name == name), None)
        if derivation is None:
            raise OptionError(f"filter: nothing is derived from {parent!r} as {name!r}")
        return derivation.column({parent: column})


@dataclasses.dataclass(frozen=True, slots=True)
class FoundRows:
    """Some rows by their numbers from 1, and how many there are in all."""

    total: int
    numbers: list[int]
    cells: list[list[Value]]


# --- which rows a filter means ---------------------------------------------------------------


def condition_sql(column: str, facts: ColumnOverview | Column, item: Filter) -> Sql:
    """Write a condition on a column; hours may go across midnight."""
    if item.kind == "missing" or (item.kind == "equals" and item.value is None):
        return f"{column} IS NULL", []
    if item.kind == "present":
        return f"{column} IS NOT NULL", []
    if item.kind == "contains":
        return containing(column, facts), [label_in_copy(item.value)]
    if item.kind == "equals":
        is_number, value = facts.is_numeric, item.value
        return f"{column} = ?", [
            number_in_copy(facts, value) if is_number else label_in_copy(value)
        ]
    number = column if facts.is_numeric else f"TRY_CAST({column} AS DOUBLE)"
    ends = [(sign, end) for sign, end in ((">=", item.low), ("<=", item.high)) if end is not None]
    parameters = [number_in_copy(facts, end) for _, end in ends]
    is_split = facts.form == "time" and len(ends) == 2 and parameters[0] > parameters[1]
    parts = (" OR " if is_split else " AND ").join(f"{number} {sign} ?" for sign, _ in ends)
    return f"{column} IS NOT NULL AND ({parts or 'true'})", parameters


def containing(column: str, facts: ColumnOverview | Column) -> str:
    """Look for a text in a cell, as pages show it, in any case; the database lowers both."""
    text, form = column, facts.form
    if form == "duration":
        text = f"CAST({column} / 1000000 AS VARCHAR)"
    elif form in TIMES:
        style = {"date": "%Y-%m-%d", "time": "%H:%M:%S"}.get(form, "%Y-%m-%d %H:%M:%S")
        text = f"strftime(make_timestamp(CAST({column} AS BIGINT)), '{style}')"
    elif facts.is_numeric:
        text = f"CAST({column} AS {'BIGINT' if form == 'integer' else 'DOUBLE'})::VARCHAR"
    return f"contains(lower({text}), lower(?))"


def label_in_copy(value: Any) -> str:
    """Write a category as the database holds it: halves of characters are escaped."""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return text.encode("utf-8", "backslashreplace").decode()


def number_in_copy(facts: ColumnOverview | Column, value: Any) -> float:
    """Return a value as the number that the database holds; an error says what is expected."""
    form: Form = facts.form if facts.is_numeric else "number"
    try:
        return number_of(form, read_text(form, value) if isinstance(value, str) else value)
    except ValueError as error:
        raise OptionError(f"filter: column {facts.name!r} expects {error}") from None
