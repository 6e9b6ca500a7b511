"""The rows near one object, counted in many contexts."""

from __future__ import annotations

import dataclasses
from typing import Protocol

import numpy as np

from outlying.method.density import Floats
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

MOST_NEIGHBOURS = 512  # an object with more rows near it is not rare: a smaller sample will do
_SLIP = 1e-9  # more than rounding can add

_work = Workspace()


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


class Window:
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


class Surroundings(Protocol):
    """What is asked of a property: the rows around a value."""

    def near(self, value: float, reach: float, limit: int) -> Window:
        """Find the rows near an object, among the first so many where neighbours are looked for."""


class Vicinity:
    """The rows near one object, counted in many contexts."""

    def __init__(self, found: Surroundings, value: float, marks: Mask, sample: Sample) -> None:
        """Take the marks of the object's conditions."""
        self.found, self.value, self.marks, self.sample = found, value, marks, sample
        self.limit = len(sample.nearby)
        self.window: Window | None = None

    def counted(self, contexts: Contexts, radii: Floats) -> Floats:
        """Count them within a distance in each context, as of the screened rows; at least one."""
        radii = np.where(np.isnan(radii), 0.0, radii)
        window = self._reaching(radii)
        ends = window.within(radii)
        words = _work.intersected(self.words, contexts)
        near = rows_below(words, _work.counted(words), ends)
        return np.maximum(near, 1) * (len(self.sample.screened) / self.limit)

    def _reaching(self, radii: Floats) -> Window:
        """Have the rows within the widest radius as bits.

        Where very many rows are near, the object is not rare: then fewer of them will do.
        """
        reach = float(radii.max(initial=0.0))
        window = self.window
        if window is not None and reach <= window.reach:
            return window
        window = self.found.near(self.value, reach, self.limit)
        most = MOST_NEIGHBOURS if self.window is None else 4 * MOST_NEIGHBOURS
        if len(window.rows) > most and not self.sample.is_whole:
            limit = self.limit * MOST_NEIGHBOURS // len(window.rows)
            self.limit = max(min(self.limit, len(self.sample.screened)), limit)
            window = self.found.near(self.value, reach, self.limit)
        marks = np.take(self.marks, window.rows, axis=1)
        padding = np.zeros((len(marks), BITS - len(window.rows) % BITS), dtype=bool)
        self.words: Words = packed(np.concatenate([marks, padding], axis=1))
        self.window = window
        return window
