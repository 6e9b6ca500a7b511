"""A categorical property in groups, one for each of the commonest categories."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
import numpy.typing as npt

from outlying.kernel.library import Property
from outlying.method.density import Floats
from outlying.method.measure import lift
from outlying.search.screen.bitsets import Bits, Layout, Places, rows_in
from outlying.search.screen.histograms import GROUPS, Grouped, Summaries
from outlying.search.screen.neighbours import Neighbours, Sample, by_value
from outlying.search.screen.pairs import MOST_ROWS


class CategoricalHistogram:
    """A categorical property in groups; very rare categories are left out of many."""

    unit = 1.0
    scales = 1

    def __init__(self, codes: npt.NDArray[np.int32], sample: Sample) -> None:
        """Take the codes of all rows, -1 where missing."""
        screened, self.nearby = codes[sample.screened], codes[sample.nearby]
        totals = np.bincount(screened[screened >= 0], minlength=1)
        chosen = np.argsort(-totals, kind="stable")[:GROUPS]
        chosen = chosen[totals[chosen] > 0]
        ranks = np.full(len(totals) + 1, len(chosen))
        ranks[chosen] = np.arange(len(chosen))
        ranks[-1] = len(chosen) + 1  # what is missing
        ranked = ranks[screened]
        order = np.argsort(ranked, kind="stable")[: np.count_nonzero(screened >= 0)]
        starts = np.searchsorted(ranked[order], np.arange(len(chosen) + 1))
        self.codes = np.append(chosen, -1)
        self.sizes = np.append(totals[chosen], 0).astype(np.float64)
        self.total = float(len(order))
        self.grouped = Grouped(order, starts, len(screened))
        self.layout = self.grouped.layout
        self.is_exact = int(np.count_nonzero(totals)) <= GROUPS
        self.sample = sample

    @functools.cached_property
    def compiled(self) -> Property | None:
        """The same as compiled code reads it; None for more rows than it can take."""
        if len(self.sample.screened) > MOST_ROWS:
            return None
        return Property(
            "categories",
            self.layout.group_of_word,
            len(self.sizes),
            is_whole=self.sample.is_whole,
            share=self.sample.rows / len(self.sample.screened),
            total=self.total,
            sizes=self.sizes,
            codes=self.codes.astype(np.float64),
            near_values=self.nearby[self._by_code].astype(np.float64),
            near_words=self.near_layout.words,
        )

    @functools.cached_property
    def near_layout(self) -> Layout:
        """Where the rows by which objects are counted are in words of bits, by category."""
        return by_value(self._by_code, self.sample)

    @functools.cached_property
    def _by_code(self) -> Places:
        known = np.flatnonzero(self.nearby >= 0)
        return known[np.argsort(self.nearby[known], kind="stable")]

    def placed(self, value: float) -> float:
        """Return the code of an object's category."""
        return value

    def figures(self, bits: Bits) -> Floats:
        """Return the figures of Summaries for contexts."""
        counts = self.grouped.counts(bits)
        known = np.add.reduce(counts, axis=1)
        counts[:, -1] = 0.0  # the categories left out
        inside = np.add.reduce(counts * counts, axis=1) / known
        inside[~(inside > 0)] = np.nan
        lifts = lift(inside / known, counts @ self.sizes / (known * self.total))
        only = np.where(counts.max(axis=1) == known, self.codes[counts.argmax(axis=1)], -1)
        return np.array([rows_in(bits), known, inside, np.ones(len(bits)), only, lifts])

    def inside(self, bits: Bits, widths: Floats) -> Floats:  # noqa: ARG002
        """Return the rows of contexts that share the category of a typical member."""
        return np.asarray(self.figures(bits)[2])

    def near(self, value: float, reach: float) -> Neighbours:
        """Return the rows of a category, given as its code."""
        order = np.flatnonzero(self.nearby == value)
        return Neighbours(np.zeros(len(order)), order, 0.0, reach)

    def radii(self, widths: Floats) -> Floats:
        """Return how far a window reaches to each side: nowhere."""
        return np.zeros(len(widths))

    def reach(self, width: float) -> float:  # noqa: ARG002
        """Return half of a window: nothing."""
        return 0.0

    def joined(self, found: Summaries, value: float) -> Summaries:
        """Take in an object of this category; NaN where there is no other one."""
        inside = np.where(found.centre == value, np.nan, found.inside)
        return dataclasses.replace(found, inside=inside)
