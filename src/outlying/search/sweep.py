"""The sweep of one property over the contexts of a table: what is rare in rank space (method 5c).

All contexts of one and two conditions are counted, and of three where these are few; from there on
a beam of contexts in which the property is tighter than in any of their parts is extended by every
condition. What is left are
cells: bins of the property that hold few rows of a context. A row gets the strongest of those that
it lies in; one with more conditions only where that is much stronger.
"""

from __future__ import annotations

import collections
import dataclasses
import itertools
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from outlying.kernel import tally
from outlying.kernel.tally import Layout, Small, Tallied, Words
from outlying.method.measure import CONDITION_PENALTY, MUCH_STRONGER
from outlying.search.cells import Cells, Codes
from outlying.table.columns import Floats, Mask

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


#: A cell of a context counts from this rarity on: outlierness 0.9.
LEAST_RARITY = 10.0
#: The least strength of a finding.
LEAST_STRENGTH = 2.0
#: All contexts of three conditions are counted where these are no more: a parity of three columns
#: leaves no trace in any two of them.
ALL_TRIPLES = 20_000
#: Else, so many contexts of a property are extended by one more condition.
BEAM = 100
#: So many of them share the same columns.
BEAM_EACH = 8
#: So many times as many are looked at, as some share their columns.
_SPARE = 50
#: Strengths count in an order up to so many decimals.
DECIMALS = 9


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class RareCells:
    """Rare cells of contexts: of equally many conditions, the strongest first, or of all."""

    bins: Small
    members: Small  # cells x 4: the conditions of the context; -1 stands for none
    strengths: Floats


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Swept:
    """What a sweep found on a property."""

    cells: RareCells  # of all levels, and a last one, of no strength, for rows that are in none
    ends: tuple[int, ...]  # of the cells of each number of conditions
    lifts: Floats  # of each single condition; 0 where it does not take part

    @classmethod
    def of(cls, levels: Sequence[RareCells], lifts: Floats) -> Swept:
        """Join the cells of contexts of one condition, of two, and so on."""
        none = np.full((1, tally.MOST_CONDITIONS), -1, dtype=np.int32)
        parts = [(item.bins, item.members, item.strengths) for item in levels]
        parts.append((none[0, :1], none, np.zeros(1)))
        ends = itertools.accumulate(len(item.bins) for item in levels)
        return cls(RareCells(*map(np.concatenate, zip(*parts, strict=True))), tuple(ends), lifts)

    @property
    def levels(self) -> list[RareCells]:
        """The cells by number of conditions."""
        parts = [slice(*pair) for pair in itertools.pairwise((0, *self.ends))]
        own = self.cells
        return [RareCells(own.bins[k], own.members[k], own.strengths[k]) for k in parts]

    def assigned(self, layout: Layout, words: Words, rows: int) -> Small:
        """Return the strongest cell that holds each row, as a place in `cells`; -1 for none.

        The rows are laid out in the bins of the sweep, which need not have known them.
        """
        found, before = np.full(rows, -1, dtype=np.int32), 0
        for level in self.levels:
            own = tally.assign(layout, words, level.bins, level.members, rows)
            held = np.flatnonzero(own >= 0)
            new, old = level.strengths[own[held]], self.cells.strengths[found[held]]
            held = held[new > np.where(old > 0, old + MUCH_STRONGER, 0.0)]
            found[held] = own[held] + before
            before += len(level.bins)
        return found


def lay_out(layout: Layout, cells: Cells, codes: tuple[Codes, ...]) -> Words:
    """Return which rows satisfy each condition, as bits in the order of a property."""
    bits = np.zeros((len(cells.spans), layout.words), dtype=np.uint64)
    slots = np.flatnonzero(layout.rows >= 0).astype(np.int32)
    order = layout.rows[slots]
    for attribute, own in enumerate(codes):
        first, listed = cells.listed[attribute]
        if len(listed):
            tally.lay_out(slots, order, own, first, listed, bits)
    return bits


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class _Level:
    """Contexts of equally many conditions, counted: those of a base, and one more."""

    bases: Small  # bases x conditions but one
    base_of: Small
    extra: Small
    sizes: Small
    lifts: Floats

    def members(self, places: npt.NDArray[np.int64]) -> Small:
        """Return the conditions of some contexts, in order."""
        given = self.bases[self.base_of[places]]
        return np.sort(np.concatenate([given, self.extra[places, None]], axis=1), axis=1)


class Sweep:
    """Sweeps a property over contexts."""

    def __init__(
        self,
        layout: Layout,
        cells: Cells,
        words: Words,
        free: Mask,
        *,
        least: Callable[[int], int],
        with_empty: bool = False,
        all_triples: int = ALL_TRIPLES,
    ) -> None:
        """Take rows as bits, and the conditions that are free to be contexts of the property.

        `least` tells how many rows a context must keep.
        """
        self.all_triples = all_triples
        self.layout, self.cells, self.words, self.least = layout, cells, words, least
        self.with_empty, self.owners, self.is_free = with_empty, cells.owners, free
        self.free = np.flatnonzero(free).astype(np.int32)
        self.lifts = np.zeros(len(cells.spans))
        self.found: list[RareCells] = []

    def run(self, depth: int) -> Swept:
        """Sweep over contexts of up to so many conditions."""
        if len(self.free) and depth > 0 and self.layout.known:
            level = self._singles()
            self.lifts[self.free] = level.lifts
            if depth > 1:
                level = self._pairs()
            if depth > 2:
                level = self._extended(self._all(level))
            if depth > 3:
                level = self._extended(self._beam(level))
        return Swept.of(self.found, self.lifts)

    def _singles(self) -> _Level:
        everything = np.full((1, self.layout.words), ~np.uint64(0))
        nothing = np.zeros((1, 0), dtype=np.int32)
        return self._counted(nothing, everything, np.zeros(len(self.free), np.int32), self.free)

    def _pairs(self) -> _Level:
        useful = self.is_free & (self.cells.sizes >= self.least(2))
        fit = self.cells.is_pair & useful & useful[:, None]
        each = np.arange(len(self.owners), dtype=np.int32)
        first, second = np.repeat(each, fit.sum(axis=1)), np.broadcast_to(each, fit.shape)[fit]
        level = self._counted(each[:, None], self.words, first, second)
        joint = np.zeros(fit.shape, dtype=np.int32)
        joint[fit] = level.sizes
        self.joint = joint + joint.T
        return level

    def _extended(self, beam: Small) -> _Level:
        """Extend contexts by every condition on another column, where enough rows may be left."""
        shared = self.joint[beam].min(axis=1)  # with each condition; none on the same column
        base, extra = np.nonzero(shared >= self.least(beam.shape[1] + 1))
        key, largest = 0, extra
        for column in beam[base].T:  # the key of a set of conditions: its numbers, ascending
            key = key * len(self.owners) + np.minimum(column, largest)
            largest = np.maximum(column, largest)
        once = _first_of_each(key * len(self.owners) + largest)
        words = tally.join(self.words, _padded(beam))
        return self._counted(beam, words, *(item[once].astype(np.int32) for item in (base, extra)))

    def _counted(self, bases: Small, words: Words, base_of: Small, extra: Small) -> _Level:
        """Count contexts, and keep their rare cells."""
        conditions = bases.shape[1] + 1
        penalty = CONDITION_PENALTY * conditions
        found = tally.count(
            *(self.layout, words, self.words, base_of, extra),
            least=self.least(conditions),
            rarity=LEAST_RARITY,
            bar=float(np.exp(LEAST_STRENGTH + penalty)) * (1 - 1e-9),
            with_empty=self.with_empty,
        )
        level = _Level(bases, base_of, extra, found.sizes, found.lifts)
        self.found.append(_rare(found, level, penalty))
        return level

    def _all(self, pairs: _Level) -> Small:
        """Choose all pairs that may be extended, or a beam of them where that is too many."""
        usable = np.flatnonzero(pairs.sizes >= self.least(3))
        is_affordable = len(usable) * len(self.free) <= 3 * self.all_triples
        return pairs.members(usable) if is_affordable else self._beam(pairs)

    def _beam(self, level: _Level) -> Small:
        """Choose the contexts with the most pairs of rows beyond what their parts explain."""
        conditions = level.bases.shape[1] + 2
        given = self.lifts[level.bases].max(axis=1, initial=0.0)
        parts = np.maximum(given[level.base_of], self.lifts[level.extra])
        excess = level.sizes * (level.lifts - parts)
        usable = np.flatnonzero((level.sizes >= self.least(conditions)) & (excess > 0))
        order = usable[_largest(excess[usable].round(DECIMALS), BEAM * _SPARE)]
        members, seen = level.members(order), collections.Counter[bytes]()
        chosen: list[int] = []
        for place, owners in enumerate(np.sort(self.owners[members], axis=1)):
            key = owners.tobytes()
            seen[key] += 1
            if seen[key] <= BEAM_EACH:
                chosen.append(place)
                if len(chosen) == BEAM:
                    break
        return members[chosen]


def _rare(found: Tallied, level: _Level, penalty: float) -> RareCells:
    """Return the rare cells of contexts, the strongest first."""
    lifts = np.maximum(found.lifts, 1e-3)[found.context]
    strengths = (np.log(found.rarity) + np.log(lifts) - penalty).round(DECIMALS)
    order = np.lexsort((found.context, -strengths))
    order = order[strengths[order] >= LEAST_STRENGTH]
    return RareCells(
        np.ascontiguousarray(found.bin[order]),
        _padded(level.members(found.context[order].astype(np.int64))),
        strengths[order],
    )


def _largest(numbers: Floats, count: int) -> npt.NDArray[np.int64]:
    """Return the places of the largest numbers, in order; ties by place."""
    if len(numbers) > count:
        least = np.partition(numbers, len(numbers) - count)[len(numbers) - count]
        some = np.flatnonzero(numbers >= least)
    else:
        some = np.arange(len(numbers))
    return some[np.argsort(-numbers[some], kind="stable")]


def _first_of_each(keys: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return where each key occurs, in the order of keys; of several places, any of them."""
    order = np.argsort(keys)
    return np.asarray(order[np.diff(keys[order], prepend=-1) != 0])


def _padded(members: Small) -> Small:
    """Return contexts in four places, -1 where they have fewer conditions."""
    padded = np.full((len(members), tally.MOST_CONDITIONS), -1, dtype=np.int32)
    padded[:, : members.shape[1]] = members
    return padded
