"""How often each value occurs in a group: densities where equal or near values count together.

A group of millions of rows is known by its distinct values and their rows. Where these are too
many, a pass over a large table counts them in bins: each bin stands for all values between its
ends, and what follows from it is known between two bounds.
"""

from __future__ import annotations

import dataclasses
import functools
import math

import numpy as np

from outlying.method.density import (
    Counts,
    Floats,
    bandwidth,
    bandwidth_among,
    densities,
    density_at,
    parzen,
    parzen_at,
)
from outlying.method.measure import rarity
from outlying.options import Bandwidth


@dataclasses.dataclass(frozen=True, eq=False)
class Distribution:
    """Sorted values, not all equal, each with the number of its rows and where these may lie."""

    values: Floats
    rows: Counts
    lows: Floats
    highs: Floats

    @classmethod
    def of(cls, values: Floats, bandwidth: Bandwidth = "fixed") -> Distribution:
        """Count sorted values; for adaptive windows each row stays on its own."""
        starts = np.flatnonzero(np.diff(values, prepend=-np.inf))
        if bandwidth == "adaptive":
            starts = np.arange(len(values))
        distinct = values[starts]
        return cls(distinct, np.diff(np.append(starts, len(values))), distinct, distinct)

    def joined(self, value: float) -> Distribution:
        """Take in one more row."""
        own = np.flatnonzero((self.lows <= value) & (self.highs >= value))
        if len(own):
            rows = self.rows.copy()
            rows[own[0]] += 1
            return dataclasses.replace(self, rows=rows)
        place = int(np.searchsorted(self.values, value))
        values, lows, highs = (
            np.insert(ends, place, value) for ends in (self.values, self.lows, self.highs)
        )
        rows = np.insert(self.rows, place, 1)
        ends = (values, values) if self.is_exact else (lows, highs)
        return Distribution(values, rows, *ends)

    @property
    def is_exact(self) -> bool:
        """Whether the rows are where the values are."""
        return self.lows is self.highs

    @functools.cached_property
    def before(self) -> Counts:
        """The rows before each value, and all of them."""
        return np.concatenate(([0], np.cumsum(self.rows)))

    @property
    def known(self) -> int:
        """How many rows there are."""
        return int(self.before[-1])

    @functools.cached_property
    def width(self) -> float:
        """The Parzen bandwidth; see density.bandwidth_of."""
        spread = float(self.values[-1] - self.values[0])
        offsets = (self.values - self.values[0]) / spread
        deviations = offsets - float(np.average(offsets, weights=self.rows))
        variance = float(np.average(deviations * deviations, weights=self.rows))
        return bandwidth(math.sqrt(variance), self.known, spread)

    def width_among(self, rows: int) -> float:
        """Return the bandwidth among more rows, or fewer, that are spread like these."""
        return bandwidth_among(self.width, self.known, rows)

    def at_ranks(self, ranks: Floats | Counts) -> Floats:
        """Return the values of the rows at some places in their order."""
        return np.asarray(self.values[np.searchsorted(self.before[1:], ranks, side="right")])

    def near(self, value: float, reach: float) -> float:
        """Count the rows within a distance of a value; the rows of a bin lie evenly in it."""
        return float(self._between(np.array([value]), reach)[0])

    @functools.cached_property
    def neighbours(self) -> Counts | Floats:
        """The rows within half a window of each value; see density.window_counts."""
        if not self.is_exact:
            return self._between(self.values, self.width / 2)
        right = np.searchsorted(self.values, self.values + self.width / 2, side="right")
        return _reached(self.before, self.rows, right)

    def _between(self, points: Floats, reach: float) -> Counts | Floats:
        """Count the rows within a distance of each point."""
        if not self.is_exact:
            ends, rows = self._cumulated
            return np.interp(points + reach, ends, rows) - np.interp(points - reach, ends, rows)
        end = np.searchsorted(self.values, points + reach, side="right")
        return np.asarray(
            self.before[end] - self.before[np.searchsorted(self.values, points - reach)]
        )

    @functools.cached_property
    def _cumulated(self) -> tuple[Floats, Floats]:
        """The ends of all bins, and the rows up to each; a value inside a bin moves to its end."""
        ends = np.maximum.accumulate(np.stack([self.lows, self.highs], axis=1).ravel())
        rows = np.stack([self.before[:-1], self.before[1:]], axis=1).ravel()
        return ends, rows.astype(np.float64)

    @functools.cached_property
    def mean(self) -> float:
        """The mean density over the rows."""
        pairs = float(np.dot(self.rows.astype(np.float64), self.neighbours.astype(np.float64)))
        return density_at(pairs / self.known, self.known, self.width)

    def densities(self, bandwidth: Bandwidth = "fixed") -> Floats:
        """Return the density at each value."""
        if bandwidth == "adaptive":
            return parzen(self.values, bandwidth)
        return densities(self.neighbours, self.known, self.width)

    def densities_at(self, points: Floats, bandwidth: Bandwidth = "fixed") -> Floats:
        """Return the density at any points."""
        if bandwidth == "adaptive":
            return parzen_at(self.values, points, self.width, bandwidth)
        return densities(self._between(points, self.width / 2), self.known, self.width)


def _reached(before: Counts, rows: Counts, right: Counts) -> Counts:
    """Count the rows that each value reaches, where it reaches those up to `right` and back."""
    ended = np.bincount(right, weights=rows, minlength=len(rows) + 1).cumsum()
    return before[right] - ended[:-1].astype(np.int64)


@dataclasses.dataclass(frozen=True, slots=True)
class Between:
    """A number known between two bounds."""

    low: float
    high: float

    def off(self, number: float) -> float:
        """Return how far the true number may be from the given one, as a share of this."""
        return max(self.high - number, number - self.low, 0.0) / number


class Bounds:
    """What bins leave open of a distribution and of an object in it."""

    def __init__(self, found: Distribution, value: float) -> None:
        self.found, self.value = found, value
        # a single frequent value may lie inside of a bin: ends in order err on the safe side
        self.lows = np.minimum.accumulate(found.lows[::-1])[::-1]
        self.highs = np.maximum.accumulate(found.highs)
        half = (found.highs - found.lows) / 2
        doubt = math.sqrt(float(np.average(half * half, weights=found.rows)))
        spare = bandwidth(doubt, found.known)
        self.widths = max(found.width - spare, 0.0), found.width + spare
        self._reached = self._least_reached(), self._most_reached()

    def _least_reached(self) -> Counts:
        """Count the rows that are surely within half a window of any row of each bin."""
        found, reach = self.found, self.widths[0] / 2
        places = np.arange(len(found.rows))
        right = np.searchsorted(self.highs, found.lows + reach, side="right")
        alone = right <= places  # not even all rows of the bin itself
        counts = _reached(found.before, found.rows, np.maximum(right, places + 1))
        return np.where(alone, counts - found.rows + 1, counts)

    def _most_reached(self) -> Counts:
        """Count the rows that may be within half a window of a row of each bin."""
        found = self.found
        right = np.searchsorted(self.lows, found.highs + self.widths[1] / 2, side="right")
        return _reached(found.before, found.rows, right)

    @functools.cached_property
    def near(self) -> Between:
        """The rows near the object, which is one of them."""
        found, (least, most) = self.found, self.widths
        inside = (found.lows >= self.value - least / 2) & (found.highs <= self.value + least / 2)
        touched = (found.highs >= self.value - most / 2) & (found.lows <= self.value + most / 2)
        return Between(max(1, int(found.rows[inside].sum())), int(found.rows[touched].sum()))

    @functools.cached_property
    def pairs(self) -> Between:
        """The ordered pairs of neighbours, as a share of the rows."""
        rows = self.found.rows / self.found.known
        return Between(float(rows @ self._reached[0]), float(rows @ self._reached[1]))

    @property
    def rarity(self) -> Between:
        """How many times rarer the object is than a typical row: windows cancel."""
        return Between(
            rarity(self.pairs.low, self.near.high), rarity(self.pairs.high, self.near.low)
        )

    @property
    def mean(self) -> Between:
        """The mean density."""
        known, (least, most) = self.found.known, self.widths
        return Between(
            density_at(self.pairs.low, known, most),
            density_at(self.pairs.high, known, least) if least > 0 else math.inf,
        )

    @property
    def tail(self) -> Between:
        """The share of rows at least as rare as the object."""
        rows, known = self.found.rows, self.found.known
        surely = int(rows[self._reached[1] <= self.near.low].sum())
        perhaps = int(rows[self._reached[0] <= self.near.high].sum())
        return Between(surely / known, perhaps / known)
