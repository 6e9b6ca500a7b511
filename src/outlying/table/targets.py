"""Which rows or objects to explain: a request in the words of whoever asks, and what it means.

A request is checked against one table, and becomes targets: rows by position, by values that only
they have, or by a column that marks them; or new objects.
"""

from __future__ import annotations

import contextlib
import dataclasses
import operator
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
from outlying.table.evidence import is_unnamed, label_columns
from outlying.table.selection import is_asked_for, optional_columns
from outlying.table.table import Table, where_text
from outlying.table.values import Value, text_of

Where: TypeAlias = Mapping[str, Any]
Key: TypeAlias = tuple[tuple[str, Value], ...]

_YES = {"true", "t", "yes", "y", "1", "1.0", "on"}
_NO = {"", "false", "f", "no", "n", "0", "0.0", "off"}


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class RowRequest:
    """What is to be explained, in the words of whoever asks: by exactly one of these.

    `every` stands for all rows with its values, `marks` for all that a column marks; each of
    `wheres` names one row. `name` tells how errors name an item by its place; None where there is
    only one, which needs no name.
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

    `row` is its place in the table that the population holds in memory. A row of a stream has no
    position; `key` holds the values that name it. `values` are all that is known of it, where that
    is more than the compared columns hold.
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
    if asked.rows is not None:
        return Targets.of_rows(_positions(table, asked))
    if asked.every is not None:
        return Targets.of_rows(_matching(table, asked.every))
    if asked.index is not None:
        return Targets.of_rows([table.find(_in_index(table, asked.index))])
    if asked.wheres is not None:
        return Targets.of_rows(_found(table, asked))
    return new_objects(table, options, asked)


def _in_index(table: Table, values: tuple[Any, ...]) -> Where:
    """Return what a row holds that is named by its index."""
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


def new_objects(table: Table, options: Options, asked: RowRequest) -> Targets:
    """Check new objects against the columns of the table."""
    fits = ObjectCheck(table, options, optional_columns(table, options))
    for place, item in enumerate(asked.objects or ()):
        with asked.about(place):
            fits.check(item)
    return Targets(tuple(Target(new=item) for item in asked.objects or ()))


def checked_position(table: Table, row: object) -> int:
    """Check the position of a row, a whole number from 0."""
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


def check_where(where: object, name: str = "where") -> Where:
    """Refuse what is no mapping of column to value."""
    if not isinstance(where, Mapping):
        raise OptionError(
            f"{name} is {shown(where)}; allowed: a mapping of column to value, "
            "such as {'id': 'A17'}"
        )
    return where


def _positions(table: Table, asked: RowRequest) -> Iterator[int]:
    for place, row in enumerate(asked.rows or ()):
        if asked.name is not None and isinstance(row, (bool, np.bool_)):
            raise RowError(
                f"{asked.name(place)} is {bool(row)}; allowed: positions, whole numbers from 0 "
                "(numpy.flatnonzero gives those of a mask)"
            )
        with asked.about(place):
            yield checked_position(table, row)


def _matching(table: Table, where: Where) -> list[int]:
    rows = table.matching(where)
    if not rows:
        raise RowError(f"no row has {where_text(where)}; at least one is needed")
    return rows


def _found(table: Table, asked: RowRequest) -> Iterator[int]:
    for place, where in enumerate(asked.wheres or ()):
        known = check_where(where, "where" if asked.name is None else asked.name(place))
        with asked.about(place):
            yield table.find(known)


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
                _refuse_infinite(column, self.options)


def _refuse_infinite(column: Column, options: Options) -> None:
    """Refuse an object's infinite value, unless it is to count as missing."""
    try:
        column.without_infinities(as_missing=options.infinite == "missing")
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


def no_mark(name: str) -> str:
    """Say that a column marks no row."""
    return f"--where-true: column {name!r} marks no row; at least one is needed"
