"""Which rows or objects to explain, when there are many: all are checked before the first."""

from __future__ import annotations

import contextlib
import dataclasses
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from outlying.errors import InfiniteValueError, ObjectError, OptionError, OutlyingError, RowError
from outlying.options import Options
from outlying.table.columns import Column
from outlying.table.selection import is_asked_for, optional_columns
from outlying.table.table import Table

Where: TypeAlias = Mapping[str, Any] | Iterable[Mapping[str, Any]]
Name: TypeAlias = Callable[[int], str]


@dataclasses.dataclass(frozen=True, slots=True)
class Targets:
    """Rows of a table by position or by values, or new objects; in the order asked for."""

    rows: tuple[int, ...] | None = None
    objects: tuple[Mapping[str, Any], ...] | None = None
    keys: tuple[Mapping[str, Any], ...] | None = None

    @classmethod
    def of(
        cls,
        table: Table,
        options: Options,
        *,
        rows: Iterable[int] | None = None,
        where: Where | None = None,
        objects: Iterable[Mapping[str, Any]] | None = None,
    ) -> Targets:
        """Resolve and check what was asked for; an error names the position of the wrong item."""
        if sum(given is not None for given in (rows, where, objects)) != 1:
            raise OptionError("name exactly one of rows=, where= and objects=")
        if rows is not None:
            return cls(rows=tuple(_positions(table, items("rows", rows))))
        if isinstance(where, Mapping):
            return cls(rows=tuple(_matching(table, where)))
        if where is not None:
            return cls(rows=tuple(_found(table, items("where", where))))
        return cls.new(table, options, items("objects", objects))

    @classmethod
    def new(
        cls,
        table: Table,
        options: Options,
        objects: Sequence[Mapping[str, Any]],
        name: Name = "objects[{}]".format,
    ) -> Targets:
        """Check new objects against the columns of the table; `name` tells where one stands."""
        fits = Fit(table, options, optional_columns(table, options))
        for place, item in enumerate(objects):
            with named(name(place)):
                fits.check(item)
        return cls(objects=tuple(objects))

    def __len__(self) -> int:
        return len(self.rows or self.objects or self.keys or ())

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Give each as keywords of Explainer.explain."""
        if self.rows is not None:
            yield from ({"row": row} for row in self.rows)
        elif self.keys is not None:
            yield from ({"where": key} for key in self.keys)
        else:
            yield from ({"object": item} for item in self.objects or ())

    def number(self, place: int) -> int | None:
        """Return the row at a place as JSON counts it, from 1; None for a new object."""
        return None if self.rows is None else self.rows[place] + 1

    def after(self, done: int) -> Targets:
        """Return those that are left when the first ones are done."""
        return Targets(
            rows=None if self.rows is None else self.rows[done:],
            objects=None if self.objects is None else self.objects[done:],
            keys=None if self.keys is None else self.keys[done:],
        )


def position(table: Table, row: object) -> int:
    """Check the position of a row, a whole number from 0."""
    try:
        place = operator.index(row)  # type: ignore[arg-type]
    except TypeError:
        raise RowError(f"row is {row!r}; allowed: a position, a whole number from 0") from None
    if not 0 <= place < table.rows:
        raise RowError(
            f"row {place} does not exist: {table.source} has {table.rows:,} rows, "
            f"positions 0 to {table.rows - 1}"
        )
    return place


def items(name: str, given: object) -> list[Any]:
    """Make a list of what was given for an option that takes several."""
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable):
        kind = "positions" if name == "rows" else "mappings of column to value"
        raise OptionError(f"{name} is {given!r}; allowed: a list or other iterable of {kind}")
    return list(given)


def _positions(table: Table, rows: Sequence[object]) -> Iterator[int]:
    for place, row in enumerate(rows):
        if isinstance(row, (bool, np.bool_)):
            raise RowError(
                f"rows[{place}] is {bool(row)}; allowed: positions, whole numbers from 0 "
                "(numpy.flatnonzero gives those of a mask)"
            )
        with named(f"rows[{place}]"):
            yield position(table, row)


def _matching(table: Table, where: Mapping[str, Any]) -> list[int]:
    rows = table.matching(where)
    if not rows:
        raise RowError(f"no row has {table.wanted(where)}; at least one is needed")
    return rows


def _found(table: Table, wheres: Sequence[object]) -> Iterator[int]:
    for place, where in enumerate(wheres):
        if not isinstance(where, Mapping):
            raise OptionError(
                f"where[{place}] is {where!r}; allowed: a mapping of column to value, "
                "such as {'id': 'A17'}"
            )
        with named(f"where[{place}]"):
            yield table.find(where)


@contextlib.contextmanager
def named(item: str) -> Iterator[None]:
    """Say of an error which item it is about; its type stays."""
    try:
        yield
    except OutlyingError as error:
        error.args = (f"{item}: {error}",)
        raise


class Fit:
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
                f"the object is {values!r}; allowed: a mapping of column to value, "
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
