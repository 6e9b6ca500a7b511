"""Bottom-k sketches (k minimum values): of very many things, those with the least hashes.

They are a uniform sample of the distinct things, and the same in whatever order these come; from
the greatest hash that is kept follows how many distinct ones there are (Bar-Yossef et al. 2002).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from outlying.sources.types import arrow_numpy as arrays
from outlying.sources.types.arrow import arrow
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
class RowSketch:
    """The distinct rows with the least hashes: how many copies of each there are, and one of them.

    Of those that are kept in the end, none was ever left out: the numbers of copies are exact.
    """

    most: int
    hashes: Hashes = dataclasses.field(default_factory=lambda: np.zeros(0, dtype=np.uint64))
    copies: Rows = dataclasses.field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    _places: Rows = dataclasses.field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    _stored: list[Any] = dataclasses.field(default_factory=list)

    @property
    def has_room(self) -> bool:
        """Whether all distinct rows that were seen are kept, and another would be."""
        return len(self.hashes) < self.most

    def rows(self) -> pyarrow.Table:
        """Return the distinct rows by ascending hashes; there must be one."""
        return _joined(self._stored).take(arrays.of_numbers(self._places))

    def add(self, hashes: Hashes, rows: Callable[[Rows], pyarrow.Table]) -> None:
        """Take in rows by their hashes; `rows` returns those at some places, where they are new."""
        near = np.arange(len(hashes))
        if not self.has_room:
            near = np.flatnonzero(hashes <= self.hashes[-1])
        close = hashes[near]
        distinct, copies = np.unique(close, return_counts=True)

        def taken(new: Hashes) -> pyarrow.Table:
            place, is_other = _among(new, close)
            one = np.zeros(len(new), dtype=np.int64)
            one[place[~is_other]] = near[~is_other]
            return rows(one)

        self._take_in(distinct, copies, taken)

    def add_counted(
        self, hashes: Hashes, copies: Rows, rows: Callable[[Rows], pyarrow.Table]
    ) -> None:
        """Take in things of which so many copies were seen, in any order, be it several times."""
        distinct, first, places = np.unique(hashes, return_index=True, return_inverse=True)
        totals = np.zeros(len(distinct), dtype=np.int64)
        np.add.at(totals, places, copies)
        if not self.has_room:
            kept = distinct <= self.hashes[-1]
            distinct, first, totals = distinct[kept], first[kept], totals[kept]
        self._take_in(distinct, totals, lambda new: rows(first[np.searchsorted(distinct, new)]))

    def merge(self, other: RowSketch) -> None:
        """Take in the sketch of another part of the table."""

        def taken(new: Hashes) -> pyarrow.Table:
            places = other._places[np.searchsorted(other.hashes, new)]
            return _joined(other._stored).take(arrays.of_numbers(places))

        self._take_in(other.hashes, other.copies, taken)

    def _take_in(
        self, hashes: Hashes, copies: Rows, taken: Callable[[Hashes], pyarrow.Table]
    ) -> None:
        """Take in distinct hashes in ascending order."""
        places, is_new = _among(self.hashes, hashes)
        self.copies[places[~is_new]] += copies[~is_new]
        if not is_new.any():
            return
        before, stored = places[is_new], sum(map(len, self._stored))
        self.copies = np.insert(self.copies, before, copies[is_new])[: self.most]
        self.hashes = np.insert(self.hashes, before, hashes[is_new])[: self.most]
        self._places = np.insert(self._places, before, -1)[: self.most]
        new = np.flatnonzero(self._places < 0)
        self._places[new] = stored + np.arange(len(new))
        self._stored.append(taken(self.hashes[new]))
        if stored + len(new) > 3 * self.most:
            self._tidy()

    def _tidy(self) -> None:
        """Let go of rows that are no longer in the sketch."""
        if self._stored:
            self._stored, self._places = [self.rows()], np.arange(len(self.hashes))

    def __getstate__(self) -> dict[str, Any]:
        """Send no more than what is kept."""
        self._tidy()
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)


def _joined(tables: Iterable[pyarrow.Table]) -> pyarrow.Table:
    return arrow().concat_tables(tables, promote_options="permissive").combine_chunks()


def _among(known: Hashes, hashes: Hashes) -> tuple[Rows, Mask]:
    """Find hashes among ascending ones: where each is or would be, and which are new."""
    places = np.searchsorted(known, hashes)
    is_new = np.ones(len(hashes), dtype=bool)
    inside = places < len(known)
    is_new[inside] = known[places[inside]] != hashes[inside]
    return places, is_new
