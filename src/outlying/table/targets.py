"""Which rows or objects to explain: all are checked before the first is explained."""

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
from outlying.table.table import Table, where_text

Where: TypeAlias = Mapping[str, Any] | Iterable[Mapping[str, Any]]
Label: TypeAlias = Callable[[int], str]


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
        """Find and check what was asked for; an error names the position of the wrong item."""
        if sum(given is not None for given in (rows, where, objects)) != 1:
            raise OptionError("name exactly one of rows=, where= and objects=")
        if rows is not None:
            return cls(rows=tuple(_positions(table, as_list("rows", rows))))
        if isinstance(where, Mapping):
            return cls(rows=tuple(_matching(table, where)))
        if where is not None:
            return cls(rows=tuple(_rows_named(table, as_list("where", where))))
        return cls.of_objects(table, options, as_list("objects", objects))

    @classmethod
    def of_objects(
        cls,
        table: Table,
        options: Options,
        objects: Sequence[Mapping[str, Any]],
        label: Label = "objects[{}]".format,
    ) -> Targets:
        """Check new objects against the columns of the table; `label` says in errors which one."""
        check = ObjectCheck(table, options, optional_columns(table, options))
        for place, item in enumerate(objects):
            with errors_about(label(place)):
                check(item)
        return cls(objects=tuple(objects))

    def __len__(self) -> int:
        return len(self.rows or self.objects or self.keys or ())

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield each as keywords of Explainer.explain."""
        if self.rows is not None:
            yield from ({"row": row} for row in self.rows)
        elif self.keys is not None:
            yield from ({"where": key} for key in self.keys)
        else:
            yield from ({"object": item} for item in self.objects or ())

    def number(self, place: int) -> int | None:
        """Return the row number at a place as in JSON, counted from 1; None for a new object."""
        return None if self.rows is None else self.rows[place] + 1

    def after(self, done: int) -> Targets:
        """Return the targets without the first ones, which are done."""
        return Targets(
            rows=None if self.rows is None else self.rows[done:],
            objects=None if self.objects is None else self.objects[done:],
            keys=None if self.keys is None else self.keys[done:],
        )


def checked_position(table: Table, row: object) -> int:
    """Return the position of a row, a whole number from 0, if the table has it."""
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


def as_list(name: str, given: object) -> list[Any]:
    """Return what was given for an option that takes several, as a list."""
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
        with errors_about(f"rows[{place}]"):
            yield checked_position(table, row)


def _matching(table: Table, where: Mapping[str, Any]) -> list[int]:
    rows = table.matching(where)
    if not rows:
        raise RowError(f"no row has {where_text(where)}; at least one is needed")
    return rows


def _rows_named(table: Table, keys: Sequence[object]) -> Iterator[int]:
    for place, where in enumerate(keys):
        if not isinstance(where, Mapping):
            raise OptionError(
                f"where[{place}] is {where!r}; allowed: a mapping of column to value, "
                "such as {'id': 'A17'}"
            )
        with errors_about(f"where[{place}]"):
            yield table.find(where)


@contextlib.contextmanager
def errors_about(item: str) -> Iterator[None]:
    """Put the name of an item in front of errors about it; their type stays."""
    try:
        yield
    except OutlyingError as error:
        error.args = (f"{item}: {error}",)
        raise


class ObjectCheck:
    """Checks whether objects fit a table, by its columns alone: no row is copied."""

    def __init__(self, table: Table, options: Options, optional: set[str]) -> None:
        """Prepare the check; `optional` names the columns that an object need not have."""
        self.options, self.optional = options, optional
        columns = tuple(column.first(0) for column in table.columns)
        self.empty = dataclasses.replace(table, columns=columns, rows=0)

    def __call__(self, values: object) -> None:
        """Raise an error if this is no object of the table."""
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
