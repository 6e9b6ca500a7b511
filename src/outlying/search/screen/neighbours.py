"""The rows near one object, counted in many contexts."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Protocol

import numpy as np

from outlying.method.density import Floats
from outlying.options import MANY_CONDITIONS
from outlying.search import limits
from outlying.search.kernel.library import compiled
from outlying.search.screen.bitsets import (
    BITS,
    Contexts,
    Places,
    Words,
    Workspace,
    packed,
    rows_below,
)
from outlying.table.columns import Mask

_SLIP = 1e-9  # more than rounding can add


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """The rows by which contexts are screened, in the order in which they were drawn."""

    rows: int  # of the whole population
    screened: Places  # what is typical in a context is estimated from these
    nearby: Places  # what is near the object, from these; they begin with the screened ones

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left out."""
        return len(self.screened) == self.rows

    def least_screened(self, rows: float, conditions: int) -> float:
        """Return how many screened rows stand for so many of all rows, at least enough to tell.

        Of the rows that a context must keep, a sample may miss a few.
        """
        if self.is_whole:
            return rows
        enough = limits.LEAST_SCREENED * (conditions if conditions >= MANY_CONDITIONS else 1)
        return max(rows * len(self.screened) / self.rows * limits.SPARE, float(enough))


class Neighbours:
    """The rows around an object, the nearest first."""

    def __init__(
        self, ordered: Floats, order: Places, value: float, reach: float, limit: int
    ) -> None:
        """Take rows by value, how far to look, and how many of the rows count."""
        wide = reach * (1 + _SLIP) + abs(value) * _SLIP
        start, end = (
            np.searchsorted(ordered, value - wide),
            np.searchsorted(ordered, value + wide, side="right"),
        )
        rows, distances = order[start:end], np.abs(ordered[start:end] - value)
        kept = (distances <= reach) & (rows < limit)
        rows, distances = rows[kept], distances[kept]
        nearest = np.argsort(distances, kind="stable")
        self.reach, self.rows, self.distances = reach, rows[nearest], distances[nearest]

    def within(self, radii: Floats) -> Places:
        """Count the rows within each radius."""
        return np.searchsorted(self.distances, radii, side="right")


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class LaidOut:
    """Rows in a layout by a value of theirs, and the value of an object among these."""

    values: Floats  # ascending
    slots: Places
    value: float


class HasNeighbours(Protocol):
    """What is asked of a property: the rows around a value."""

    def near(self, value: float, reach: float, limit: int) -> Neighbours:
        """Return the rows near an object, of the first so many among which they are sought."""

    def laid_out(self, value: float) -> LaidOut | None:
        """Return where the rows near an object are in the layout; None if they are not apart."""


class NeighbourCounter:
    """Counts the rows near one object in many contexts."""

    def __init__(
        self,
        found: HasNeighbours,
        value: float,
        marks: Mask,
        sample: Sample,
        work: Workspace,
        laid_out: Callable[[], Words] | None = None,
    ) -> None:
        """Take which of the rows nearby satisfy each condition of the object.

        `laid_out` tells the same of the screened rows, as bits in the layout of the property.
        """
        self.found, self.value, self.marks, self.sample = found, value, marks, sample
        self.work, self.laid_out = work, laid_out
        self.limit = len(sample.nearby)
        self.near: Neighbours | None = None

    def counted(self, contexts: Contexts, radii: Floats) -> Floats:
        """Count them within a distance in each context, at least one.

        As if they had been counted among the screened rows.
        """
        radii = np.where(np.isnan(radii), 0.0, radii)
        near: Floats | Places | None = None
        if self.sample.is_whole:
            near = self._by_layout(contexts, radii)
        if near is None:
            near = self._by_distance(contexts, radii)
        return np.maximum(near, 1) * (len(self.sample.screened) / self.limit)

    def _by_layout(self, contexts: Contexts, radii: Floats) -> Floats | None:
        """Count them in the layout of the property, where all rows are in it."""
        kernel, found = compiled(), self.found.laid_out(self.value)
        if kernel is None or found is None or self.laid_out is None:
            return None
        return kernel.near(self.laid_out(), contexts, found.values, found.slots, found.value, radii)

    def _by_distance(self, contexts: Contexts, radii: Floats) -> Floats | Places:
        kernel, near = compiled(), self._reaching(radii)
        if kernel is not None:
            return kernel.near(self.words, contexts, near.distances, None, 0.0, radii)
        words = self.work.intersected(self.words, contexts)
        return rows_below(words, self.work.counted(words), near.within(radii))

    def _reaching(self, radii: Floats) -> Neighbours:
        """Return the rows within the widest radius, having them as bits.

        Where very many rows are near, the object is not rare: then fewer of them will do.
        """
        reach = float(radii.max(initial=0.0))
        if self.near is not None and reach <= self.near.reach:
            return self.near
        most = limits.MOST_NEIGHBOURS
        near = self.found.near(self.value, reach, self.limit)
        is_many = len(near.rows) > (most if self.near is None else 4 * most)
        if is_many and not self.sample.is_whole:
            limit = self.limit * most // len(near.rows)
            self.limit = max(min(self.limit, len(self.sample.screened)), limit)
            near = self.found.near(self.value, reach, self.limit)
        marks = np.take(self.marks, near.rows, axis=1)
        padding = np.zeros((len(marks), BITS - len(near.rows) % BITS), dtype=bool)
        self.words: Words = packed(np.concatenate([marks, padding], axis=1))
        self.near = near
        return near
