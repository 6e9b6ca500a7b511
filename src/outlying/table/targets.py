"""Which rows or objects to explain: a request in the words of whoever asks, and what it means."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, cast

import numpy as np

from outlying.errors import (
    InfiniteValueError,
    ObjectError,
    OptionError,
    OutlyingError,
    RowError,
    shown,
)
from outlying.options import Options
from outlying.table.columns import Column
from outlying.table.selection import LEAST_ROWS, is_asked_for, is_unnamed, optional_columns
from outlying.table.table import SkippedColumn, SkipReason, Table
from outlying.table.values import Rows, Value, text_of

Where: TypeAlias = Mapping[str, Any]
Key: TypeAlias = tuple[tuple[str, Value], ...]

#: A name that is shared by more than one row in ten is none.
LEAST_DISTINCT = 0.9

_FIRST_ROWS = 5_000  # rows that show most columns not to be keys
_KEY_DIGITS = 4
_MOST_PAIRED = 6  # columns of which two may name rows together
_KEY = re.compile(
    r"(^|[ _.-])(id|key|code|name|no|nr|num|number|uuid|ref)$|[a-z](Id|ID|No|Nr)$", re.A
)
_LOOKED_AT = 64  # rows that tell most columns apart
_LEAST_LABELLED = 2  # a single row may be the only one with a value: a finding, not a label
_YES = {"true", "t", "yes", "y", "1", "1.0", "on"}
_NO = {"", "false", "f", "no", "n", "0", "0.0", "off"}


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class RowRequest:
    """What is to be explained, in the words of whoever asks: by exactly one of these.

    `every` stands for all rows with its values, `marks` for all that a column marks; each of
    `wheres` names one row. `name` tells how errors name an item by its place, if there are several.
    """

    rows: Sequence[Any] | None = None
    wheres: Sequence[Any] | None = None
    every: Where | None = None
    marks: str | None = None
    index: tuple[Any, ...] | None = None  # the values of one row in the columns of the index
    objects: Sequence[Any] | None = None
    name: Callable[[int], str] | None = None

    @classmethod
    def one(
        cls,
        *,
        row: object,
        where: object,
        object: object,  # noqa: A002
        index: object = None,
    ) -> RowRequest:
        """Ask for one row or one new object."""
        if sum(given is not None for given in (row, object, where, index)) != 1:
            raise OptionError("name exactly one of row=, index=, object= and where=")
        if index is not None:
            return cls(index=index if isinstance(index, tuple) else (index,))
        if row is not None:
            return cls(rows=[row])
        return cls(wheres=[where]) if where is not None else cls(objects=[object])

    @classmethod
    def many(cls, *, rows: object, where: object, objects: object) -> RowRequest:
        """Ask for many; one mapping as `where` stands for every row with these values."""
        if sum(given is not None for given in (rows, where, objects)) != 1:
            raise OptionError("name exactly one of rows=, where= and objects=")
        if rows is not None:
            return cls(rows=as_list("rows", rows), name="rows[{}]".format)
        if isinstance(where, Mapping):
            return cls(every=where)
        if where is not None:
            return cls(wheres=as_list("where", where), name="where[{}]".format)
        return cls(objects=as_list("objects", objects), name="objects[{}]".format)

    @contextlib.contextmanager
    def about(self, place: int) -> Iterator[None]:
        """Say of an error which item it is about; its type stays."""
        try:
            yield
        except OutlyingError as error:
            if self.name is not None:
                error.args = (f"{self.name(place)}: ", *error.args)
            raise


def as_list(name: str, given: object) -> list[Any]:
    """Make a list of what was given for an option that takes several."""
    items = None
    with contextlib.suppress(Exception):  # what cannot be iterated, whatever it raises
        items = iter(cast(Any, given))
    if items is not None and not isinstance(given, (str, bytes, Mapping)):
        return list(items)
    kind = "positions" if name == "rows" else "mappings of column to value"
    raise OptionError(f"{name} is {shown(given)}; allowed: a list or other iterable of {kind}")


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Target:
    """One object to explain: a row of the population, or a new object.

    `row` is its place in the table in memory. A row of a stream has no position; `key` holds the
    values that name it. `values` are all that is known of it, beside the compared columns.
    """

    row: int | None = None
    new: Where | None = None
    key: Key = ()
    values: Mapping[str, Value] | None = None


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Targets:
    """Objects to explain, in the order asked for, all of them checked."""

    items: tuple[Target, ...]
    have_positions: bool = True  # whether rows are known by their position
    labels: tuple[str, ...] = ()  # columns that seem to say which rows are asked for

    @classmethod
    def of_rows(cls, rows: Iterable[int]) -> Targets:
        """Name rows by position."""
        return cls(tuple(Target(row=row) for row in rows))

    def with_labels(self, table: Table) -> Targets:
        """Note which columns of a table in memory seem to be labels of these rows."""
        return dataclasses.replace(self, labels=label_columns(table, self.rows))

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Target]:
        return iter(self.items)

    @property
    def rows(self) -> list[int] | None:
        """The positions of rows; None where they have none."""
        rows = [item.row for item in self.items if item.row is not None]
        return rows if self.have_positions and len(rows) == len(self.items) else None

    @property
    def objects(self) -> list[Where] | None:
        """The new objects; None where there are none."""
        return [item.new for item in self.items if item.new is not None] or None

    def number(self, place: int) -> int | None:
        """Return the row at a place as JSON counts it, from 1; None for a new object."""
        row = self.items[place].row
        return None if row is None or not self.have_positions else row + 1

    def after(self, done: int) -> Targets:
        """Return those that are left when the first ones are done."""
        return dataclasses.replace(self, items=self.items[done:])


def targets_in(table: Table, options: Options, asked: RowRequest) -> Targets:
    """Find what is asked for in a table in memory, and check it."""
    if asked.objects is not None:
        fits = ObjectCheck(table, options, optional_columns(table, options))
        for place, item in enumerate(asked.objects):
            with asked.about(place):
                fits.check(item)
        return Targets(tuple(Target(new=item) for item in asked.objects))
    if asked.every is not None:
        return Targets.of_rows(table.matching(asked.every, at_least_one=True))
    if asked.index is not None:
        return Targets.of_rows([table.find(_in_index(table, asked.index))])
    if asked.rows is not None:
        return Targets.of_rows(_positions(table, asked))
    return Targets.of_rows(_found(table, asked))


def _in_index(table: Table, values: tuple[Any, ...]) -> Where:
    index = table.index or [name for name in table.names if is_unnamed(name)][:1]
    if not index:
        raise RowError(
            f"{table.source} has no index that names its rows; name the row by its position (row=) "
            "or by values that only it has (where=)"
        )
    if len(values) != len(index):
        raise RowError(
            f"index= has {len(values)} values, the index of {table.source} has "
            f"{len(index)}: {', '.join(map(repr, index))}"
        )
    return dict(zip(index, values, strict=True))


def _positions(table: Table, asked: RowRequest) -> Iterator[int]:
    for place, row in enumerate(asked.rows or ()):
        if asked.name is not None and isinstance(row, (bool, np.bool_)):
            raise RowError(
                f"{asked.name(place)} is {bool(row)}; allowed: positions, whole numbers from 0 "
                "(numpy.flatnonzero gives those of a mask)"
            )
        with asked.about(place):
            yield _checked_position(table, row)


def _checked_position(table: Table, row: object) -> int:
    try:
        if isinstance(row, bool):
            raise TypeError  # true and false are no positions, though Python counts with them
        place = operator.index(row)  # type: ignore[arg-type]
    except Exception:  # whatever a class of the user's raises
        raise RowError(f"row is {shown(row)}; allowed: a position, a whole number from 0") from None
    if not 0 <= place < table.rows:
        raise RowError(
            f"row {shown(place)} does not exist: {table.source} has {table.rows:,} rows, "
            f"positions 0 to {table.rows - 1}"
        )
    return place


def _found(table: Table, asked: RowRequest) -> Iterator[int]:
    for place, where in enumerate(asked.wheres or ()):
        known = check_where(where, "where" if asked.name is None else asked.name(place))
        with asked.about(place):
            yield table.find(known)


def check_where(where: object, name: str = "where") -> Where:
    """Refuse what is no mapping of column to value."""
    if not isinstance(where, Mapping):
        raise OptionError(
            f"{name} is {shown(where)}; allowed: a mapping of column to value, "
            "such as {'id': 'A17'}"
        )
    return where


class ObjectCheck:
    """Whether objects fit a table, told from its columns alone: no row is copied."""

    def __init__(self, table: Table, options: Options, optional: set[str]) -> None:
        """Take the names of columns that an object need not have."""
        self.options, self.optional = options, optional
        columns = tuple(column.first(0) for column in table.columns)
        self.empty = dataclasses.replace(table, columns=columns, rows=0)

    def check(self, values: object) -> None:
        """Refuse what is no object of this table."""
        if not isinstance(values, Mapping):
            raise ObjectError(
                f"the object is {shown(values)}; allowed: a mapping of column to value, "
                "such as {'age': 40, 'sex': 'female'}"
            )
        for column in self.empty.with_object(values, self.optional).columns:
            if is_asked_for(column.name, self.options):
                try:
                    column.without_infinities(as_missing=self.options.infinite == "missing")
                except InfiniteValueError as error:
                    raise InfiniteValueError(error.column, None) from None


# --- columns that mark rows --------------------------------------------------------------------


def is_mark(value: Value) -> bool | None:
    """Return whether a value marks its row; None where it says neither yes nor no."""
    if value is None or isinstance(value, bool):
        return bool(value)
    if isinstance(value, (int, float)) and value >= 0 and value % 1 == 0:
        return value != 0
    word = value.strip().casefold() if isinstance(value, str) else None
    return word in _YES if word in _YES | _NO else None


def not_a_mark(name: str, value: Value, place: str) -> str:
    """Say what is no mark; many detectors write -1 for outliers, and 1 for all others."""
    is_negative = isinstance(value, (int, float)) and value < 0
    hint = "write a detector's -1 and 1 as 1 and 0" if is_negative else "make a column of these"
    return (
        f"--where-true: column {name!r} holds {text_of(value)!r} in {place}; allowed: true or "
        "false, yes or no, whole numbers from 0, where 0 is not marked, or nothing; "
        f"{hint}, or name the rows by --rows"
    )


def marked_rows(table: Table, name: str) -> list[int]:
    """Find the rows that a column marks; there may be none."""
    column = table.column(name)
    rows, wrong = marks_in(column)
    if wrong:
        place = f"data row {wrong[0] + 1} (counted from 1)"
        raise RowError(not_a_mark(name, column.value(wrong[0]), place))
    return list(map(int, rows))


def marks_in(column: Column) -> tuple[Rows, list[int]]:
    """Return the rows that a column marks, and the first row of each value that is no mark."""
    _, first, codes = np.unique(column.content()[1], return_index=True, return_inverse=True)
    marks = [(row, is_mark(column.value(row))) for row in first.tolist()]
    rows = np.flatnonzero(np.array([mark is True for _, mark in marks], dtype=bool)[codes])
    return rows, sorted(row for row, mark in marks if mark is None)


def no_mark(name: str) -> str:
    """Say that a column marks no row."""
    return f"--where-true: column {name!r} marks no row; it must mark at least one"


# --- names of rows -------------------------------------------------------------------------------


def naming_columns(table: Table, skipped: Sequence[SkippedColumn]) -> tuple[str, ...]:
    """Return the columns whose values name a row of a table in memory; none where nothing does.

    In this order: an index, a text of (nearly) every row, whole numbers called a key or first and
    equally long, numbers of the rows, a category and a moment that name rows together.
    """
    if table.index:
        return table.index
    names = set(table.names)
    why = {item.name: item.why for item in skipped if item.name in names}
    texts = [name for name in table.names if why.get(name) is SkipReason.IDENTIFIER]
    if texts:
        return (min(texts, key=lambda name: _KEY.search(name) is None),)
    counted = [name for name in table.names if why.get(name) is SkipReason.ROW_NUMBER]
    if table.rows < LEAST_ROWS:
        return tuple(counted[:1])
    for place, column in enumerate(table.columns):
        is_called_so = _KEY.search(column.name) is not None and not is_unnamed(column.name)
        if _is_key(column, is_likely=is_called_so, is_first=place == 0):
            return (column.name,)
    return tuple(counted[:1]) or _named_together(table)


def _is_key(column: Column, *, is_likely: bool, is_first: bool) -> bool:
    """Return whether hardly two rows hold the same number, of equal length if not called a key."""
    if not (column.is_numeric and column.form == "integer" and (is_likely or is_first)):
        return False
    if column.missing().any():
        return False
    low, high = float(column.values.min()), float(column.values.max())
    if not is_likely and not (low >= 1 and len(f"{low:.0f}") == len(f"{high:.0f}") >= _KEY_DIGITS):
        return False
    return len(np.unique(column.values)) >= LEAST_DISTINCT * len(column)


def _named_together(table: Table) -> tuple[str, ...]:
    first = [column for column in table.columns[:_MOST_PAIRED] if not column.missing().any()]
    texts = [
        column
        for column in first
        if not column.is_numeric and column.form == "text" and np.ptp(column.content()[1])
    ]
    moments = [c for c in first if c.is_numeric and c.form in ("integer", "date", "datetime")]
    for text, moment in itertools.product(texts, moments):
        cells = np.stack([text.content()[1].astype(float), moment.values])
        for some in (cells[:, :_FIRST_ROWS], cells):
            if len(np.unique(some, axis=1).T) < some.shape[1]:
                break
        else:
            return text.name, moment.name
    return ()


# --- columns that seem to say which rows are asked for -------------------------------------------


def label_columns(table: Table, rows: list[int] | None) -> tuple[str, ...]:
    """Return the columns of two values of which the rarer one is that of exactly these rows."""
    asked = np.unique(np.array(rows or (), dtype=np.int64))
    if not _LEAST_LABELLED <= len(asked) < table.rows / 2:
        return ()
    return tuple(column.name for column in table.columns if _tells_apart(column, asked))


def _tells_apart(column: Column, asked: Rows) -> bool:
    cells = column.content()[1]
    own = cells[asked]
    if not (own == own[0]).all():  # a missing number is not equal to itself
        return False
    others = np.delete(cells, asked)
    return bool((others == others[0]).all() and others[0] != own[0])


def lone_rows(table: Table) -> dict[str, int]:
    """Return the columns that are the same in all rows but one, and which row that is."""
    if table.rows < LEAST_ROWS:
        return {}
    found = ((column.name, _lone_row(column)) for column in table.columns)
    return {name: row for name, row in found if row is not None}


def lone_values(table: Table, lone: Iterable[str]) -> frozenset[str]:
    """Return those columns of lone rows in which all other rows have no value."""
    return frozenset(name for name in lone if table.column(name).missing().sum() > 1)


def _lone_row(column: Column) -> int | None:
    """Return the only row that differs; None where several do, or none."""
    few = column.first(_LOOKED_AT)
    usual = 1 if few.same(1).sum() > 1 else 0
    if np.count_nonzero(~few.same(usual)) > 1:
        return None
    others = np.flatnonzero(~column.same(usual))
    return int(others[0]) if len(others) == 1 else None
