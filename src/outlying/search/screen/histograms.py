"""Binned kernel density estimates in many contexts at once (method 5, "Screen").

A property is cut into groups of neighbouring values, the bins of a histogram. The rows of every
context are counted by group, as bits; the mean density follows from the counts and from the share
of pairs of rows of two groups that lie within a window. All that is the same for all objects. The
density at the object comes from the rows near it. Where a property has few distinct values, each is
a group of its own and nothing is estimated.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Protocol

import numpy as np

from outlying.kernel.library import Property, compiled
from outlying.method.density import Floats, bandwidth
from outlying.method.measure import SCALES, lift
from outlying.search.screen.bitsets import (
    BITS,
    Bits,
    Contexts,
    Layout,
    Places,
    Words,
    Workspace,
    rows_in,
)
from outlying.search.screen.neighbours import Neighbours, Sample, by_value
from outlying.search.screen.pairs import (
    MOST_ROWS,
    PARTS,
    RUNGS,
    SAME,
    in_lanes,
    parts_within,
    radius_of,
    rungs_of,
)
from outlying.search.threads import one_blas_thread

FIGURES = 6  # of Summaries
GROUPS = 64
_OUTERMOST = 8  # at each end
_MOST_SHARES = 256  # windows for which pairs are kept
_LEAST_VARIANCE = 1e-10
_WORDS_AT_ONCE = 1 << 17


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Summaries:
    """What is typical of a property in contexts; NaN where the screened rows are all equal."""

    rows: Floats  # of the screened ones
    known: Floats  # those of them that have a value
    inside: Floats  # rows of the context near a typical member, itself included
    width: Floats  # of the window
    centre: Floats  # the mean value; of categories the only one, or -1
    lift: Floats  # how much tighter the property is than around the same values in all rows

    @classmethod
    def of(cls, figures: Floats) -> Summaries:
        """Take the figures, one row for each kind."""
        return cls(*figures)


@dataclasses.dataclass(frozen=True, slots=True)
class Estimate:
    """What is typical of a property in one context; NaN where there is nothing to compare."""

    inside: float  # the share of the context's rows near a typical member
    width: float  # of the window
    unit: float  # what turns densities on this scale into densities per unit of the column
    reach: float  # half of the window, on the scale of the attribute
    lift: float
    scale: int


class Histogram(Protocol):
    """A property in groups, the same for all objects."""

    @property
    def layout(self) -> Layout:
        """Where its screened rows are in words of bits."""

    @property
    def unit(self) -> float:
        """What turns its densities into densities per unit of the column."""

    @property
    def is_exact(self) -> bool:
        """Whether nothing is estimated, but for the choice of rows."""

    @property
    def scales(self) -> int:
        """How many scales there are to look at."""

    def figures(self, bits: Bits) -> Floats:
        """Return the figures of Summaries for contexts, from the rows in each word."""

    def inside(self, bits: Bits, widths: Floats) -> Floats:
        """Return the rows of contexts near a typical member, within windows of these widths."""

    def near(self, value: float, reach: float) -> Neighbours:
        """Return the rows near an object."""

    def radii(self, widths: Floats) -> Floats:
        """Return how far a window reaches to each side."""

    def reach(self, width: float) -> float:
        """Return half of a window on the scale of the attribute."""

    def joined(self, found: Summaries, value: float) -> Summaries:
        """Take in an object of this value; NaN where all are equal."""

    @property
    def near_layout(self) -> Layout:
        """Where the rows by which objects are counted are in words of bits, by value."""

    @property
    def compiled(self) -> Property | None:
        """The same as compiled code reads it; None for more rows than it can take."""

    def placed(self, value: float) -> float:
        """Return the value of an object as it is compared with those of rows."""


class Grouped:
    """The screened rows of a property by group; rows without a value come last."""

    def __init__(self, order: Places, starts: Places, rows: int) -> None:
        """Take the rows that have a value, by group, and where the groups begin."""
        others = np.setdiff1d(np.arange(rows), order, assume_unique=True)
        begins = np.append(starts, len(order)) if len(others) else starts
        self.layout = Layout(np.concatenate([order, others]), begins, rows)
        of_word, groups = self.layout.group_of_word, len(starts)
        self.membership = (of_word[:, np.newaxis] == np.arange(groups)).astype(np.float64)
        self.is_plain = np.array_equal(of_word, np.arange(groups))

    def counts(self, bits: Bits) -> Floats:
        """Count the rows of each context that have a value by group: whole numbers, as floats."""
        by_word = bits.astype(np.float64)
        return by_word if self.is_plain else by_word @ self.membership


class NumericHistogram:
    """A numeric property in groups."""

    scales = len(SCALES)

    def __init__(self, values: Floats, unit: float, sample: Sample) -> None:
        """Take the values of the rows nearby, NaN where missing."""
        nearby, near_values = _sorted(values)
        order = nearby[nearby < len(sample.screened)]
        ordered = values[order]
        starts = _group_starts(ordered)
        ends = np.append(starts, len(order))[1:]
        self.grouped = Grouped(order, starts, len(sample.screened))
        self.layout = self.grouped.layout
        self.is_exact = bool(np.all(ordered[starts] == ordered[ends - 1]))
        self.deviation = (float(np.std(ordered)) if len(ordered) else 0.0) or 1.0
        self.middle = 0.0 if self.is_exact else float(np.mean(ordered))
        self.unit = unit / self.deviation
        self.sample = sample
        self.share = sample.rows / len(sample.screened)
        ordered = self.standardised(ordered)
        self.nearby = nearby, self.standardised(near_values)
        self.lows, self.highs = ordered[starts], ordered[ends - 1]
        rows = ends - starts
        self.sizes, self.total = rows.astype(np.float64), float(len(order))
        self.means = np.add.reduceat(ordered, starts) / rows if len(rows) else np.empty(0)
        squares = np.add.reduceat(ordered * ordered, starts) / rows if len(rows) else np.empty(0)
        self.squares = np.asarray(squares)
        #: Of a context with so many known rows, by its standard deviation.
        self.widths = self._widths()
        self.distances = _distances(self.lows) if self.is_exact else np.empty(0)
        self._kept_within = functools.lru_cache(_MOST_SHARES)(self._within)

    @functools.cached_property
    def compiled(self) -> Property | None:
        """The same as compiled code reads it; None for more rows than it can take."""
        if len(self.sample.screened) > MOST_ROWS:
            return None
        return Property(
            "distinct" if self.is_exact else "ladder",
            self.layout.group_of_word,
            len(self.sizes),
            is_whole=self.sample.is_whole,
            share=self.share,
            total=self.total,
            rungs=0 if self.is_exact else RUNGS,
            means=self.means,
            squares=self.squares,
            sizes=self.sizes,
            lows=self.lows,
            highs=self.highs,
            distances=self.distances,
            widths=self.widths,
            near_values=self.nearby[1],
            near_words=self.near_layout.words,
            slots=self.layout.slots[: len(self.nearby[1])] if self.sample.is_whole else None,
        )

    @functools.cached_property
    def near_layout(self) -> Layout:
        """Where the rows by which objects are counted are in words of bits, by value."""
        return self.layout if self.sample.is_whole else by_value(self.nearby[0], self.sample)

    def placed(self, value: float) -> float:
        """Return the value of an object as it is compared with those of rows."""
        return (value - self.middle) / self.deviation

    def standardised(self, values: Floats) -> Floats:
        """Bring values to the scale of this property."""
        return np.asarray((values - self.middle) / self.deviation)

    def near(self, value: float, reach: float) -> Neighbours:
        """Return the rows near an object."""
        order, ordered = self.nearby
        return Neighbours(ordered, order, self.placed(value), reach)

    def _widths(self) -> Floats:
        rows = np.arange(len(self.nearby[0]) + 1.0) * self.share
        with np.errstate(divide="ignore"):
            return bandwidth(np.ones(len(rows)), rows)

    def figures(self, bits: Bits) -> Floats:
        """Return the figures of Summaries for contexts (method 5, "Screen")."""
        counts = self.grouped.counts(bits)
        known = np.add.reduce(counts, axis=1)
        centre = in_lanes(counts * self.means) / known
        variance = self._variance(counts, known, centre)
        widths = np.sqrt(variance) * self.widths[known.astype(np.int64)]
        widths[~(widths > 0)] = np.nan  # all are equal, or there are none
        pairs, others = self._close_pairs(counts, widths, with_others=True)
        inside = np.where(np.isnan(widths), np.nan, self._corrected(pairs, known, known) / known)
        around = self._corrected(others, known, self.total) / known
        lifts = lift(inside / known, around / self.total)
        return np.array([rows_in(bits), known, inside, widths, centre, lifts])

    def inside(self, bits: Bits, widths: Floats) -> Floats:
        """Return the rows of contexts near a typical member, within windows of these widths."""
        counts = self.grouped.counts(bits)
        known = np.add.reduce(counts, axis=1)
        pairs, _ = self._close_pairs(counts, widths, with_others=False)
        return np.asarray(self._corrected(pairs, known, known) / known)

    def _corrected(self, pairs: Floats, known: Floats, others: Floats | float) -> Floats:
        """In a sample, count a row as its own neighbour as often as in all rows: once."""
        if self.sample.is_whole:
            return pairs
        return np.asarray(
            (pairs - known) * others / np.maximum(others - 1.0, 1.0) + known / self.share
        )

    def _variance(self, counts: Floats, known: Floats, means: Floats) -> Floats:
        """Return the variance in each context."""
        if not self.is_exact:
            squares = in_lanes(counts * self.squares) / known
            return np.maximum(squares - means * means, _LEAST_VARIANCE)
        deviations = self.means - means[:, np.newaxis]  # no rounding where nothing is estimated
        variance = in_lanes(counts * deviations * deviations) / known
        return np.where(np.count_nonzero(counts, axis=1) > 1, variance, 0.0)

    def radii(self, widths: Floats) -> Floats:
        """Return how far a window reaches to each side."""
        return np.asarray(widths / 2 * SAME)

    def reach(self, width: float) -> float:
        """Return half of a window on the scale of the attribute."""
        return width / 2 * self.deviation

    def joined(self, found: Summaries, value: float) -> Summaries:
        """Take in an object of this value; NaN where all are equal.

        An object that was not drawn counts as one row of the whole population.
        """
        alike = np.isnan(found.width) & (found.known > 0)
        if self.sample.is_whole or not alike.any():
            return found
        apart = np.abs(self.placed(value) - found.centre)
        apart = np.where(apart > 0, apart, np.nan)
        spread = apart / np.sqrt(found.known * self.share)  # all rows are equal but for the object
        widths = spread * self.widths[found.known.astype(np.int64)]
        values = self.nearby[1]
        ends = np.searchsorted(values, found.centre + widths / 2, side="right")
        around = (ends - np.searchsorted(values, found.centre - widths / 2)) / len(values)
        return dataclasses.replace(
            found,
            inside=np.where(alike & (widths > 0), found.known, found.inside),
            width=np.where(alike, widths, found.width),
            lift=np.where(
                alike & (widths > 0), 1 / np.maximum(around, 1 / len(values)), found.lift
            ),
        )

    def _close_pairs(
        self, counts: Floats, widths: Floats, *, with_others: bool
    ) -> tuple[Floats, Floats]:
        """Count ordered pairs of neighbours in each context, each row with itself included.

        And, where wanted, pairs of a row of the context and any row. Between two windows on a
        ladder, the number grows in proportion to the width.
        """
        widths = np.where(np.isnan(widths), 1.0, widths)
        if self.is_exact:
            levels = np.searchsorted(self.distances, widths / 2 * SAME, side="right") - 1
            found = self._on_ladder(counts, levels, 1, with_others=with_others)
            return found[0, 0], found[1, 0]
        rungs, way = rungs_of(widths)
        ladder = self._on_ladder(counts, rungs, 2, with_others=with_others) / PARTS
        pairs, others = ladder[:, 0] + (ladder[:, 1] - ladder[:, 0]) * way
        return pairs, others

    def _on_ladder(
        self, counts: Floats, steps: Places, number: int, *, with_others: bool
    ) -> Floats:
        """Count the pairs for a window on the ladder, and for those that follow."""
        order = np.argsort(steps, kind="stable")
        ordered, counts = steps[order], counts[order]
        ends = np.append(np.flatnonzero(np.diff(ordered)) + 1, len(order))
        found, start = np.ones((2, number, len(order))), 0
        for end in ends[ends > 0]:
            here, places = counts[start:end], order[start:end]
            for more in range(number):
                shares, rest, around = self._kept_within(int(ordered[start]) + more)
                found[0, more, places] = np.einsum("ij,ij->i", here, here @ shares + rest)
                if with_others:
                    found[1, more, places] = here @ around
            start = end
        return found

    def _within(self, level: int) -> tuple[Floats, Floats, Floats]:
        """Return, for each two groups, the share of pairs of their rows within half a window.

        In parts, unless nothing is estimated. And what is missing for a row to be its own
        neighbour, and how many of all rows are near a row of each group.
        """
        if self.is_exact:
            apart = np.abs(self.lows[:, np.newaxis] - self.lows)
            near = (apart <= float(self.distances[level]) * SAME).astype(np.float64)
            return near, np.zeros(len(near)), near @ self.sizes
        parts = parts_within(self.lows, self.highs, radius_of(level))
        rest = PARTS - np.diagonal(parts)
        return parts, rest, parts @ self.sizes + rest


def figures(found: Histogram, words: Words, contexts: Contexts, work: Workspace) -> Floats:
    """Return the figures of a property in contexts, in blocks of bounded size."""
    if len(contexts) == 0:
        return np.empty((FIGURES, 0))
    kernel = compiled()
    if kernel is not None and found.compiled is not None:
        return kernel.figures(found.compiled, words, contexts)
    blocks = _blocks(words, contexts)
    with one_blas_thread, np.errstate(divide="ignore", invalid="ignore"):
        parts = [found.figures(_bits(words, contexts[block], work)) for block in blocks]
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)


def rows_inside(
    found: Histogram, words: Words, contexts: Contexts, widths: Floats, work: Workspace
) -> Floats:
    """Return the rows of contexts near a typical member, within windows of these widths."""
    if len(contexts) == 0:
        return np.empty(0)
    kernel = compiled()
    if kernel is not None and found.compiled is not None:
        return kernel.inside(found.compiled, words, contexts, widths)
    blocks = _blocks(words, contexts)
    with one_blas_thread, np.errstate(divide="ignore", invalid="ignore"):
        return np.concatenate(
            [found.inside(_bits(words, contexts[b], work), widths[b]) for b in blocks]
        )


def _blocks(words: Words, contexts: Contexts) -> list[slice]:
    step = max(16, _WORDS_AT_ONCE // max(1, words.shape[1]))
    return [slice(start, start + step) for start in range(0, len(contexts), step)]


def _bits(words: Words, contexts: Contexts, work: Workspace) -> Bits:
    return work.counted(work.intersected(words, contexts))


def _sorted(values: Floats) -> tuple[Places, Floats]:
    """Return the rows that have a value, by value, and these values."""
    order = np.argsort(values)  # what is missing comes last; no matter how equals are ordered
    order = order[: len(order) - np.count_nonzero(np.isnan(values))]
    return order, values[order]


def _group_starts(values: Floats) -> Places:
    """Begin a group at each distinct value, or at about equal numbers of rows.

    The outermost values stay groups of their own: a few of them can make most of the variance. Up
    to some thousand rows a group fits into one word.
    """
    starts = np.flatnonzero(np.diff(values, prepend=-np.inf))
    if len(starts) <= GROUPS:
        return starts
    groups = GROUPS - 2 * _OUTERMOST
    if len(values) <= GROUPS * BITS:
        groups = max(groups, -(-len(values) // BITS))
    wanted = np.arange(groups) * len(values) // groups
    inner = starts[np.searchsorted(starts, wanted, side="right") - 1]
    return np.unique(np.concatenate([inner, starts[: _OUTERMOST + 1], starts[-_OUTERMOST:]]))


def _distances(points: Floats) -> Floats:
    return np.unique(np.append(0.0, np.abs(points[:, np.newaxis] - points)))
