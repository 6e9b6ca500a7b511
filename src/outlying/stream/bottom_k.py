"""Bottom-k sketches (k minimum values): of very many things, those with the least hashes.

They are a uniform sample of the distinct things, and the same in whatever order these come; from
the greatest hash that is kept follows how many distinct ones there are (Bar-Yossef et al. 2002).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from outlying.sources import arrow_arrays as arrays
from outlying.sources.arrow_arrays import arrow
from outlying.table.columns import Mask, Rows
from outlying.table.row_hash import Hashes, splitmix64

if TYPE_CHECKING:
    import pyarrow

_RANGE = 2.0**64


def estimated_count(least: Hashes) -> int:
    """Estimate how many distinct things there are from the least of their hashes, ascending."""
    return round((len(least) - 1) * _RANGE / (float(least[-1]) + 1))


class DistinctCounter:
    """How many distinct things there are: counted as long as they are few, then estimated."""

    def __init__(self, most: int) -> None:
        """Take up to how many are counted."""
        self.most = most
        self.hashes: Hashes = np.zeros(0, dtype=np.uint64)

    @property
    def is_exact(self) -> bool:
        """Whether they are counted, not estimated."""
        return len(self.hashes) <= self.most

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.hashes) if self.is_exact else estimated_count(self.hashes)

    def add(self, cell_hashes: Hashes) -> None:
        """Take in things by the hashes of cells, be it several times."""
        self._take_in(splitmix64(cell_hashes))

    def merge(self, other: DistinctCounter) -> None:
        """Take in what another counter has seen."""
        self._take_in(other.hashes)

    def _take_in(self, hashes: Hashes) -> None:
        if not self.is_exact:
            hashes = hashes[hashes < self.hashes[-1]]
        ordered, _ = np.unique(hashes, return_counts=True)  # without counts, NumPy is slower
        places, is_new = _among(self.hashes, ordered)
        self.hashes = np.insert(self.hashes, places[is_new], ordered[is_new])[: self.most + 1]


@dataclasses.dataclass(slots=True, eq=False)
class _Waiting:
    """Distinct rows that are yet to be put in order: hashes, copies, and where they are stored."""

    hashes: Hashes
    copies: Rows
    start: int


class RowSketch:
    """The distinct rows with the least hashes: how many copies of each there are, and one of them.

    Of those that are kept in the end, none was ever left out: the numbers of copies are exact.
    Rows that come are put in order many at a time, which a large sketch would spend its time on.
    """

    def __init__(self, most: int) -> None:
        """Take how many distinct rows are kept."""
        self.most = most
        self._hashes: Hashes = np.zeros(0, dtype=np.uint64)
        self._copies: Rows = np.zeros(0, dtype=np.int64)
        self._places: Rows = np.zeros(0, dtype=np.int64)
        self._waiting: list[_Waiting] = []
        self._stored: list[Any] = []

    @property
    def hashes(self) -> Hashes:
        """The least hashes, ascending."""
        self._settle()
        return self._hashes

    @property
    def copies(self) -> Rows:
        """How many rows have each of them."""
        self._settle()
        return self._copies

    @property
    def has_room(self) -> bool:
        """Whether all distinct rows that were seen are kept, and another would be."""
        return len(self.hashes) < self.most

    def rows(self) -> pyarrow.Table:
        """Return the distinct rows by ascending hashes; there must be one."""
        self._settle()
        return joined_rows(self._stored).take(arrays.of_numbers(self._places))

    def add(self, hashes: Hashes, rows: Callable[[Rows], pyarrow.Table]) -> None:
        """Take in rows by their hashes; `rows` returns those at some places, where they are new."""
        near = self._near(hashes)
        distinct, first, copies = np.unique(hashes[near], return_index=True, return_counts=True)
        self._take_in(distinct, copies, lambda new: rows(near[first[new]]))

    def add_counted(
        self, hashes: Hashes, copies: Rows, rows: Callable[[Rows], pyarrow.Table]
    ) -> None:
        """Take in things of which so many copies were seen, in any order, be it several times."""
        near = self._near(hashes)
        distinct, first, places = np.unique(hashes[near], return_index=True, return_inverse=True)
        totals = np.zeros(len(distinct), dtype=np.int64)
        np.add.at(totals, places, copies[near])
        self._take_in(distinct, totals, lambda new: rows(near[first[new]]))

    def merge(self, other: RowSketch) -> None:
        """Take in the sketch of another part of the table."""
        other._settle()
        stored = other._places
        self._take_in(
            other._hashes,
            other._copies,
            lambda new: joined_rows(other._stored).take(arrays.of_numbers(stored[new])),
        )

    def _near(self, hashes: Hashes) -> Rows:
        """Return the places of hashes that may be among the least."""
        if len(self._hashes) < self.most:
            return np.arange(len(hashes))
        return np.flatnonzero(hashes <= self._hashes[-1])

    def _take_in(
        self, hashes: Hashes, copies: Rows, taken: Callable[[Rows], pyarrow.Table]
    ) -> None:
        """Take in distinct hashes in ascending order; `taken` returns rows by their places here."""
        places, is_new = _among(self._hashes, hashes)
        self._copies[places[~is_new]] += copies[~is_new]
        new = np.flatnonzero(is_new)
        if len(new):
            stored = sum(map(len, self._stored))
            self._waiting.append(_Waiting(hashes[new], copies[new], stored))
            self._stored.append(taken(new))
            if sum(len(each.hashes) for each in self._waiting) > self.most // 4:
                self._settle()

    def _settle(self) -> None:
        """Put the rows that wait in order, and let go of those that are not among the least."""
        if not self._waiting:
            return
        hashes = np.concatenate([self._hashes, *(each.hashes for each in self._waiting)])
        copies = np.concatenate([self._copies, *(each.copies for each in self._waiting)])
        places = [each.start + np.arange(len(each.hashes)) for each in self._waiting]
        stored = np.concatenate([self._places, *places])
        order = np.argsort(hashes, kind="stable")
        ordered = hashes[order]
        begins = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
        kept = begins[: self.most]
        self._hashes, self._places = ordered[kept], stored[order[kept]]
        self._copies = np.add.reduceat(copies[order], begins)[: self.most]
        self._waiting = []
        if sum(map(len, self._stored)) > 2 * self.most:
            self._tidy()

    def _tidy(self) -> None:
        """Let go of rows that are no longer in the sketch."""
        if self._stored:
            self._stored, self._places = [self.rows()], np.arange(len(self._hashes))

    def __getstate__(self) -> dict[str, Any]:
        """Send no more than what is kept."""
        self._settle()
        self._tidy()
        return self.__dict__


def joined_rows(tables: Iterable[pyarrow.Table]) -> pyarrow.Table:
    """Put rows together, in one piece."""
    return arrow().concat_tables(tables, promote_options="permissive").combine_chunks()


def _among(known: Hashes, hashes: Hashes) -> tuple[Rows, Mask]:
    """Find hashes among ascending ones: where each is or would be, and which are new."""
    places = np.searchsorted(known, hashes)
    is_new = np.ones(len(hashes), dtype=bool)
    inside = places < len(known)
    is_new[inside] = known[places[inside]] != hashes[inside]
    return places, is_new
