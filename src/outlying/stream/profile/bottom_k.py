"""What is kept of very many things: those with the least marks, which any order leaves the same."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from outlying.sources.types import arrow_numpy as arrays
from outlying.sources.types.arrow import arrow
from outlying.table.columns import Rows
from outlying.table.row_hash import Hashes, splitmix64

if TYPE_CHECKING:
    import pyarrow

_RANGE = 2.0**64


def estimate(least: Hashes) -> int:
    """Estimate how many distinct things there are from so many of the least marks."""
    return round((len(least) - 1) * _RANGE / (float(least[-1]) + 1))


class Distinct:
    """How many distinct things there are: counted as long as they are few, then estimated."""

    def __init__(self, most: int) -> None:
        """Take up to how many are counted."""
        self.most = most
        self.marks: Hashes = np.zeros(0, dtype=np.uint64)

    @property
    def is_exact(self) -> bool:
        """Whether they are counted, not estimated."""
        return len(self.marks) <= self.most

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.marks) if self.is_exact else estimate(self.marks)

    def add(self, numbers: Hashes) -> None:
        """Take in the numbers of some things, be it several times."""
        self._take_in(splitmix64(numbers))

    def merge(self, other: Distinct) -> None:
        """Take in what others have seen."""
        self._take_in(other.marks)

    def _take_in(self, marks: Hashes) -> None:
        if not self.is_exact:
            marks = marks[marks < self.marks[-1]]
        ordered, _ = np.unique(marks, return_counts=True)
        places, is_new = _among(self.marks, ordered)
        self.marks = np.insert(self.marks, places[is_new], ordered[is_new])[: self.most + 1]


@dataclasses.dataclass(slots=True, eq=False)
class Kinds:
    """Distinct rows with the least marks, how many rows are of each kind, and one of them.

    Of those that are kept in the end, none was ever left out: the counts are exact.
    """

    most: int
    marks: Hashes = dataclasses.field(default_factory=lambda: np.zeros(0, dtype=np.uint64))
    counts: Rows = dataclasses.field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    _places: Rows = dataclasses.field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    _stored: list[Any] = dataclasses.field(default_factory=list)

    @property
    def has_room(self) -> bool:
        """Whether all kinds that were seen are kept, and another would be."""
        return len(self.marks) < self.most

    def rows(self) -> pyarrow.Table:
        """Return a row of each kind, by ascending marks; there must be one."""
        return _joined(self._stored).take(arrays.of_numbers(self._places))

    def add(self, marks: Hashes, rows: Callable[[Rows], pyarrow.Table]) -> None:
        """Take in rows by their marks; those at some places are asked for when they are new."""
        near = np.arange(len(marks)) if self.has_room else np.flatnonzero(marks <= self.marks[-1])
        close = marks[near]
        found, counts = np.unique(close, return_counts=True)

        def taken(new: Hashes) -> pyarrow.Table:
            place, is_other = _among(new, close)
            one = np.zeros(len(new), dtype=np.int64)
            one[place[~is_other]] = near[~is_other]
            return rows(one)

        self._take_in(found, counts, taken)

    def merge(self, other: Kinds) -> None:
        """Take in the kinds of another part of the table."""

        def taken(new: Hashes) -> pyarrow.Table:
            places = other._places[np.searchsorted(other.marks, new)]
            return _joined(other._stored).take(arrays.of_numbers(places))

        self._take_in(other.marks, other.counts, taken)

    def _take_in(
        self, marks: Hashes, counts: Rows, taken: Callable[[Hashes], pyarrow.Table]
    ) -> None:
        """Take in distinct marks in ascending order."""
        places, is_new = _among(self.marks, marks)
        self.counts[places[~is_new]] += counts[~is_new]
        if not is_new.any():
            return
        before, stored = places[is_new], sum(map(len, self._stored))
        self.counts = np.insert(self.counts, before, counts[is_new])[: self.most]
        self.marks = np.insert(self.marks, before, marks[is_new])[: self.most]
        self._places = np.insert(self._places, before, -1)[: self.most]
        new = np.flatnonzero(self._places < 0)
        self._places[new] = stored + np.arange(len(new))
        self._stored.append(taken(self.marks[new]))
        if stored + len(new) > 3 * self.most:
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


def _among(known: Hashes, marks: Hashes) -> tuple[Rows, npt.NDArray[np.bool_]]:
    """Find marks among ascending ones: where each is or would be, and which are new."""
    places = np.searchsorted(known, marks)
    is_new = np.ones(len(marks), dtype=bool)
    inside = places < len(known)
    is_new[inside] = known[places[inside]] != marks[inside]
    return places, is_new
