"""Rows of a copy by what is derived from its columns: the hour of a moment, the pattern of a code.

Derived columns are not in the copy. One that a filter asks for is computed from its parent by the
same code as for findings, so that a condition means the same rows in both.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from outlying.derived.calendar import DAY
from outlying.derived.choosing import derivations, facts_of
from outlying.errors import OptionError
from outlying.sources.cell_files import CellFiles
from outlying.sources.duckdb.facts import ColumnFacts
from outlying.sources.duckdb.filters import Filter
from outlying.table.arrays import Mask
from outlying.table.columns import CategoricalColumn, Column, NumericColumn
from outlying.table.parts import Part, part_of
from outlying.table.values import number_of, read_text

_KEPT = 2  # columns that were computed last
_MOST_TEXTS = 1_000_000  # distinct ones: to look at more would keep others waiting


class DerivedColumns:
    """What is derived from the columns of a copy, computed when it is first asked for."""

    def __init__(self, columns: Sequence[ColumnFacts], cells: CellFiles) -> None:
        self._places = {facts.name: place for place, facts in enumerate(columns)}
        self._columns, self._cells = columns, cells
        self._known: dict[str, Column] = {}
        self._lock = threading.Lock()

    def knows(self, name: str) -> bool:
        """Return whether this is the name of a part of a column."""
        return part_of(name, self._places) is not None

    def numbers(self, item: Filter) -> npt.NDArray[np.int32]:
        """Return the numbers, from 1, of the rows that meet a condition."""
        return np.flatnonzero(_met(self.column(item.attribute), item)).astype(np.int32) + 1

    def column(self, name: str) -> Column:
        """Return a derived column."""
        with self._lock:
            if name not in self._known:
                while len(self._known) >= _KEPT:
                    self._known.pop(next(iter(self._known)))
                self._known[name] = self._computed(name)
            return self._known[name]

    def _computed(self, name: str) -> Column:
        parent, part = part_of(name, self._places) or (name, None)
        place = self._places[parent]
        column = self._cells.column(place, parent)
        if part is Part.WRITTEN:
            raise OptionError(f"filter: rows cannot be found by {name!r}, only by {parent!r}")
        if not column.is_numeric and self._columns[place].distinct > _MOST_TEXTS:
            raise OptionError(f"filter: {parent!r} has too many texts to find rows by {name!r}")
        facts = facts_of(column)
        found = () if facts is None else derivations(parent, column.form, facts)
        derivation = next((item for item in found if item.name == name), None)
        if derivation is None:
            raise OptionError(f"filter: nothing is derived from {parent!r} as {name!r}")
        return derivation.column({parent: column})


def _met(column: Column, item: Filter) -> Mask:
    """Return which rows meet a condition."""
    if item.kind in ("missing", "present") or (item.kind == "equals" and item.value is None):
        return np.asarray(column.missing() == (item.kind != "present"))
    if not column.is_numeric:
        return _of_category(column, item)
    low, high = (item.value, item.value) if item.kind == "equals" else (item.low, item.high)
    if item.kind == "contains":
        raise OptionError(f"filter: {item.attribute!r} holds no texts; allowed: a range")
    return _between(column, low, high)


def _of_category(column: CategoricalColumn, item: Filter) -> Mask:
    wanted = str(item.value)
    if item.kind == "interval":
        raise OptionError(f"filter: {item.attribute!r} has no ranges; allowed: one of its values")
    if item.kind == "equals":
        met = [str(label) == wanted for label in column.labels]
    else:
        met = [wanted.lower() in str(label).lower() for label in column.labels]
    return np.array([*met, False])[column.codes]


def _between(column: NumericColumn, low: object, high: object) -> Mask:
    """Return which rows lie in a range; one of hours may go across midnight."""
    values = column.values % DAY if column.form == "time" else column.values
    first = -np.inf if low is None else _number(column, low)
    last = np.inf if high is None else _number(column, high)
    if column.form == "time" and last < first:
        return np.asarray((values >= first) | (values <= last))
    return np.asarray((values >= first) & (values <= last))


def _number(column: NumericColumn, end: object) -> float:
    try:
        return number_of(column.form, read_text(column.form, str(end)))
    except ValueError as error:
        raise OptionError(f"filter: {column.name!r} expects {error}") from None
