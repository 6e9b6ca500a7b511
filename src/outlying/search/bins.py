"""Bins of equal mass: a property in rank space, where its unit, skew and outliers do not count.

Rows in the order of a property are cut into bins of equally many rows, with ever smaller ones at
both ends down to a single row; a category is a bin (method 5c). Around each bin lie windows of
several shares of all rows: the dilations of method 3, in ranks.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt

from outlying.kernel.tally import Layout
from outlying.table.columns import Floats

Places = npt.NDArray[np.int64]

#: Tables of fewer rows have so many bins; larger ones the most.
_BINS = ((2048, 16), (8192, 32))
MOST_BINS = 64
#: Towards both ends, a bin holds so many times fewer rows than the next.
TAIL_STEP = 4
#: The widest window, as a share of the rows.
WIDEST = 1 / 4
#: So many categories have a bin of their own, the others one together.
MOST_CATEGORIES = 127


@dataclasses.dataclass(frozen=True, eq=False)
class NumericBins:
    """Bins by value: each begins with the value at its edge."""

    edges: Floats  # of all but the first

    @classmethod
    def cut(cls, ordered: Floats) -> NumericBins:
        """Cut ascending values into bins; equal values are never parted."""
        known = len(ordered)
        bins = _bins(known)
        ends = [1]
        while ends[-1] * TAIL_STEP < known / bins:
            ends.append(ends[-1] * TAIL_STEP)
        tail = np.array(ends)
        cuts = np.concatenate([tail, np.arange(1, bins) * known // bins, known - tail])
        edges = np.unique(ordered[cuts[(cuts > 0) & (cuts < known)]])
        return cls(edges[edges > ordered[0]])

    @property
    def count(self) -> int:
        """How many bins there are."""
        return len(self.edges) + 1

    @property
    def alike(self) -> int:
        """All: neighbours in rank are alike."""
        return self.count

    def of(self, values: npt.NDArray[np.float64] | npt.NDArray[np.int32]) -> Places:
        """Return the bin of each of some numbers; -1 where they are missing."""
        found = np.searchsorted(self.edges, values, "right")
        return np.where(np.isnan(values), -1, found)

    def windows(self, counts: Places) -> tuple[Places, Places]:
        """Return the windows around each bin, from and up to which bin, given the rows of each."""
        known = int(counts.sum())
        middles = counts.cumsum() - counts / 2
        shares = [WIDEST]
        while shares[-1] > 1 / _bins(known):
            shares.append(shares[-1] / 2)
        reaches = [share * known / 2 for share in shares]  # the widest first
        low = [np.searchsorted(middles, middles - reach, "left") for reach in reaches]
        high = [np.searchsorted(middles, middles + reach, "right") for reach in reaches]
        return np.array(low), np.array(high)


@dataclasses.dataclass(frozen=True, eq=False)
class CategoryBins:
    """A bin for each frequent category, one for all others, perhaps an empty one for new ones."""

    places: Places  # the bin of each code, and behind them that of a new and of a missing one

    @classmethod
    def cut(
        cls, codes: npt.NDArray[np.int32], categories: int, *, with_new: bool = False
    ) -> CategoryBins:
        """Give the most frequent categories bins of their own, in this order."""
        totals = np.bincount(codes[codes >= 0], minlength=categories)
        places = np.full(categories + 2, -1, dtype=np.int64)
        order = np.argsort(-totals, kind="stable")
        places[order] = np.minimum(np.arange(categories), MOST_CATEGORIES)
        if with_new:
            places[-2] = places.max() + 1
        return cls(places)

    @property
    def count(self) -> int:
        """How many bins there are."""
        return int(self.places.max(initial=-1)) + 1

    @property
    def alike(self) -> int:
        """All but the one of many labels: two of them have nothing in common."""
        others = np.count_nonzero(self.places[:-2] == MOST_CATEGORIES)
        return MOST_CATEGORIES if others > 1 else self.count

    def of(self, values: npt.NDArray[np.float64] | npt.NDArray[np.int32]) -> Places:
        """Return the bin of each of some codes; -1 where there is none."""
        return self.places[np.minimum(values.astype(np.int64), len(self.places) - 2)]

    def windows(self, counts: Places) -> tuple[Places, Places]:
        """Return the windows around each bin: only itself, as categories have no order."""
        each = np.arange(len(counts))[None]
        return each, each + 1


def layout_of(bins: NumericBins | CategoryBins, own: Places) -> Layout:
    """Lay out rows by their bins, each beginning with a new word; -1 is of no bin."""
    order = np.argsort(own.astype(np.int16), kind="stable")  # few bins: a radix sort
    order = order[np.searchsorted(own[order], 0) :]
    counts = np.bincount(own[order], minlength=bins.count)
    low, high = bins.windows(counts)
    before = np.concatenate([[0], counts.cumsum()])
    first = np.concatenate([[0], (-(-counts // 64)).cumsum()])
    bin_of = own[order]
    slots = first[bin_of] * 64 + np.arange(len(order)) - before[bin_of]
    rows = np.full(int(first[-1]) * 64, -1, dtype=np.int32)
    rows[slots] = order
    return Layout(
        known=len(order),
        words=int(first[-1]),
        alike=bins.alike,
        starts=first.astype(np.int32),
        low=np.ascontiguousarray(low, dtype=np.int32),
        high=np.ascontiguousarray(high, dtype=np.int32),
        mass=np.ascontiguousarray(before[high] - before[low], dtype=np.int32),
        rows=rows,
    )


def _bins(known: int) -> int:
    return next((count for rows, count in _BINS if known < rows), MOST_BINS)
