"""What is kept of very many things: those with the least marks, which any order leaves the same."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from outlying.marks import Marks, mixed
from outlying.streams.cells import arrow
from outlying.table import Rows

if TYPE_CHECKING:
    import pyarrow

_RANGE = 2.0**64


def estimate(least: Marks) -> int:
    """Estimate how many distinct things there are from so many of the least marks."""
    return round((len(least) - 1) * _RANGE / (float(least[-1]) + 1))


class Distinct:
    """How many distinct things there are: counted as long as they are few, then estimated."""

    def __init__(self, most: int) -> None:
        """Take up to how many are counted."""
        self.most = most
        self.marks: Marks = np.zeros(0, dtype=np.uint64)

    @property
    def is_exact(self) -> bool:
        """Whether they are counted, not estimated."""
        return len(self.marks) <= self.most

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.marks) if self.is_exact else estimate(self.marks)

    def add(self, numbers: Marks) -> None:
        """Take in the numbers of some things, be it several times."""
        self._take_in(mixed(numbers))

    def merge(self, other: Distinct) -> None:
        """Take in what others have seen."""
        self._take_in(other.marks)

    def _take_in(self, marks: Marks) -> None:
        if not self.is_exact:
            marks = marks[marks < self.marks[-1]]
        if len(marks):
            self.marks = np.union1d(self.marks, marks)[: self.most + 1]


@dataclasses.dataclass(slots=True, eq=False)
class Kinds:
    """Distinct rows with the least marks, how many rows are of each kind, and one of them.

    Of those that are kept in the end, none was ever left out: the counts are exact.
    """

    most: int
    marks: Marks = dataclasses.field(default_factory=lambda: np.zeros(0, dtype=np.uint64))
    counts: Rows = dataclasses.field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    _places: Rows = dataclasses.field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    _stored: list[Any] = dataclasses.field(default_factory=list)

    @property
    def are_all(self) -> bool:
        """Whether there may still be room for others."""
        return len(self.marks) < self.most

    def rows(self) -> pyarrow.Table:
        """Give a row of each kind, by ascending marks; there must be one."""
        return _joined(self._stored).take(self._places)

    def add(self, marks: Marks, rows: Callable[[Rows], pyarrow.Table]) -> None:
        """Take in rows by their marks; those at some places are asked for when they are new."""
        near = np.arange(len(marks)) if self.are_all else np.flatnonzero(marks <= self.marks[-1])
        close = marks[near]
        found, counts = np.unique(close, return_counts=True)

        def taken(new: Marks) -> pyarrow.Table:
            place = np.minimum(np.searchsorted(new, close), len(new) - 1)
            is_new = new[place] == close
            one = np.empty(len(new), dtype=np.int64)
            one[place[is_new]] = near[is_new]
            return rows(one)

        self._take_in(found, counts, taken)

    def merge(self, other: Kinds) -> None:
        """Take in the kinds of another part of the table."""

        def taken(new: Marks) -> pyarrow.Table:
            places = other._places[np.searchsorted(other.marks, new)]
            return _joined(other._stored).take(places)

        self._take_in(other.marks, other.counts, taken)

    def _take_in(self, marks: Marks, counts: Rows, taken: Callable[[Marks], pyarrow.Table]) -> None:
        union = np.union1d(self.marks, marks)[: self.most]
        own, others = (np.searchsorted(union, some) for some in (self.marks, marks))
        own, others = own[own < len(union)], others[others < len(union)]
        total, places = np.zeros(len(union), dtype=np.int64), np.full(len(union), -1)
        total[own] += self.counts[: len(own)]
        total[others] += counts[: len(others)]
        places[own] = self._places[: len(own)]
        new = np.flatnonzero(places < 0)
        if len(new):
            places[new] = np.arange(len(new)) + sum(map(len, self._stored))
            self._stored.append(taken(union[new]))
        self.marks, self.counts, self._places = union, total, places
        if sum(map(len, self._stored)) > 3 * self.most:
            self._tidy()

    def _tidy(self) -> None:
        """Let go of the rows of kinds that were left out."""
        if self._stored:
            self._stored, self._places = [self.rows()], np.arange(len(self.marks))

    def __getstate__(self) -> dict[str, Any]:
        """Send no more than what is kept."""
        self._tidy()
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)


def _joined(tables: Iterable[pyarrow.Table]) -> pyarrow.Table:
    return arrow().concat_tables(tables, promote_options="permissive").combine_chunks()
