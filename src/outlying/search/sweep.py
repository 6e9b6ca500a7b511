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
        first, second = self.cells.pairs
        useful = self.is_free & (self.cells.sizes >= self.least(2))
        fit = useful[first] & useful[second]
        each = np.arange(len(self.owners), dtype=np.int32)[:, None]
        first, second = first[fit], second[fit]
        level = self._counted(each, self.words, first, second)
        self.joint = np.zeros((len(each), len(each)), dtype=np.int32)
        self.joint[first, second] = self.joint[second, first] = level.sizes
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
