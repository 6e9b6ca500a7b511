"""The rows near one object, counted in many contexts."""

from __future__ import annotations

import dataclasses
import functools
from typing import Protocol

import numpy as np

from outlying.method.density import Floats
from outlying.options import MANY_CONDITIONS
from outlying.search import limits
from outlying.search.screen.bitsets import (
    BITS,
    Contexts,
    Layout,
    Places,
    Words,
    Workspace,
    packed,
    rows_below,
)
from outlying.table.columns import Mask

_SLIP = 1e-9  # more than rounding can add


@dataclasses.dataclass(frozen=True, eq=False)
class Sample:
    """The rows by which contexts are screened, in the order in which they were drawn."""

    rows: int  # of the whole population
    screened: Places  # what is typical in a context is estimated from these
    nearby: Places  # what is near the object, from these; they begin with the screened ones

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left out."""
        return len(self.screened) == self.rows

    @functools.cached_property
    def layout(self) -> Layout:
        """Places for the screened rows in words of bits, one after the other."""
        rows = len(self.screened)
        return Layout(np.arange(rows), np.zeros(1, dtype=np.int64), rows)

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

    def __init__(self, ordered: Floats, order: Places, value: float, reach: float) -> None:
        """Take rows by value, and how far to look."""
        wide = reach * (1 + _SLIP) + abs(value) * _SLIP
        start, end = (
            np.searchsorted(ordered, value - wide),
            np.searchsorted(ordered, value + wide, side="right"),
        )
        rows, distances = order[start:end], np.abs(ordered[start:end] - value)
        rows, distances = rows[distances <= reach], distances[distances <= reach]
        nearest = np.argsort(distances, kind="stable")
        self.reach, self.rows, self.distances = reach, rows[nearest], distances[nearest]

    def within(self, radii: Floats) -> Places:
        """Count the rows within each radius."""
        return np.searchsorted(self.distances, radii, side="right")


class HasNeighbours(Protocol):
    """What is asked of a property: the rows around a value."""

    def near(self, value: float, reach: float) -> Neighbours:
        """Return the rows near an object."""


def by_value(order: Places, sample: Sample) -> Layout:
    """Return places for the rows nearby that have a value, in an order by it."""
    return Layout(order, np.zeros(1, dtype=np.int64), len(sample.nearby))


class NeighbourCounter:
    """Counts the rows near one object in many contexts."""

    def __init__(
        self, found: HasNeighbours, value: float, marks: Mask, sample: Sample, work: Workspace
    ) -> None:
        """Take which of the rows nearby satisfy each condition of the object."""
        self.found, self.value, self.marks, self.work = found, value, marks, work
        self.share = len(sample.screened) / len(sample.nearby)
        self.near: Neighbours | None = None

    def counted(self, contexts: Contexts, radii: Floats) -> Floats:
        """Count them within a distance in each context, at least one.

        As if they had been counted among the screened rows.
        """
        radii = np.where(np.isnan(radii), 0.0, radii)
        near = self._reaching(radii)
        words = self.work.intersected(self.words, contexts)
        rows = rows_below(words, self.work.counted(words), near.within(radii))
        return np.maximum(rows, 1) * self.share

    def _reaching(self, radii: Floats) -> Neighbours:
        """Return the rows within the widest radius, having them as bits."""
        reach = float(radii.max(initial=0.0))
        if self.near is not None and reach <= self.near.reach:
            return self.near
        self.near = near = self.found.near(self.value, reach)
        marks = np.take(self.marks, near.rows, axis=1)
        padding = np.zeros((len(marks), BITS - len(near.rows) % BITS), dtype=bool)
        self.words: Words = packed(np.concatenate([marks, padding], axis=1))
        return near
