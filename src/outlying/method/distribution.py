"""How often each value occurs in a group: densities where equal or near values count together.

A group of millions of rows is known by its distinct values and their rows. Where these are too
many, a pass over a large table counts them in bins: each bin stands for all values between its
ends, and what follows from it is known between two bounds.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import cast

import numpy as np

from outlying.kernel.sweep import rows_around
from outlying.method.density import (
    Counts,
    Floats,
    bandwidth,
    bandwidth_among,
    densities,
)
from outlying.method.measure import SCALES, lift, rarity
from outlying.method.surprise import CLIPPED, OUTER_TWENTIETHS, SPIKE_REACH, distance_off

#: Numbers up to so many, and so many for each of them, are counted one by one.
_FEW, _FEW_FOR_EACH = 1 << 16, 4


@dataclasses.dataclass(frozen=True, eq=False)
class Distribution:
    """Sorted values, not all equal, each with the number of its rows and where these may lie."""

    values: Floats
    rows: Counts
    lows: Floats
    highs: Floats

    @classmethod
    def of(cls, values: Floats) -> Distribution:
        """Count sorted values."""
        found, rows, before = distinct(values)
        made = cls(found, rows, found, found)
        made.__dict__["before"] = before  # it is known already
        return made

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
        """The Parzen bandwidth, which outliers do not widen; see surprise.robust_width."""
        places = np.multiply(OUTER_TWENTIETHS, self.known - 1)
        least, next_one = self.at_ranks(np.floor(places)), self.at_ranks(np.ceil(places))
        low, high = least + (places - np.floor(places)) * (next_one - least)
        if low < high:
            return CLIPPED * self._width_of(np.clip(self.values, low, high))
        reach = SPIKE_REACH * distance_off(self.values, float(low))
        return self._width_of(np.clip(self.values, low - reach, low + reach))

    def _width_of(self, values: Floats) -> float:
        """Return the bandwidth of other values of the same rows; 0 where all are equal."""
        spread = float(values[-1] - values[0])
        if spread <= 0:
            return 0.0
        return bandwidth(math.sqrt(weighted_variance(values, self.rows)), self.known, spread)

    def width_among(self, rows: int) -> float:
        """Return the bandwidth among more rows, or fewer, that are spread like these."""
        return bandwidth_among(self.width, self.known, rows)

    def at_ranks(self, ranks: Floats | Counts) -> Floats:
        """Return the values of the rows at some places in their order."""
        return np.asarray(self.values[np.searchsorted(self.before[1:], ranks, side="right")])

    def near(self, value: float, reach: float) -> float:
        """Count the rows within a distance of a value; the rows of a bin lie evenly in it."""
        return float(self._between(np.array([value]), reach)[0])

    def neighbours(self, scale: int = SCALES[0]) -> Counts | Floats:
        """Count the rows that each value has around it, within a window or several of them."""
        if scale not in self._neighbours:
            reach = scale * self.width / 2
            self._neighbours[scale] = (
                rows_around(self.values, self.before, reach)
                if self.is_exact
                else self._between(self.values, reach)
            )
        return self._neighbours[scale]

    @functools.cached_property
    def _neighbours(self) -> dict[int, Counts | Floats]:
        return {}

    def mean_neighbours(self, scale: int = SCALES[0]) -> float:
        """Return how many rows a row has around it on average, itself included."""
        if scale not in self._means:
            self._means[scale] = self.mean(self.neighbours(scale))
        return self._means[scale]

    @functools.cached_property
    def _means(self) -> dict[int, float]:
        return {}

    def mean(self, counts: Counts | Floats) -> float:
        """Return the mean over the rows of what is known by value."""
        return float(np.add.reduce(self.rows * counts)) / self.known

    def lift(self, overall: Distribution) -> float:
        """Return how much tighter values are here than all rows are around them (method 5).

        NaN where all values are equal. No group is tighter than all rows by more than its rows are
        fewer, in bins as in truth.
        """
        if len(self.values) < 2:
            return math.nan
        inside = around = self.mean_neighbours()
        if self.known < overall.known:
            around = max(inside, self.mean(overall._between(self.values, self.width / 2)))
        return lift(inside / self.known, around / overall.known)

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

    def densities(self, scale: int = SCALES[0]) -> Floats:
        """Return the density at each value, by windows of the usual width or wider ones."""
        return densities(self.neighbours(scale), self.known, scale * self.width)

    def ranked(self, scale: int = SCALES[0]) -> tuple[Floats, Counts]:
        """Return the densities that values have, from the rarest on, and the rows of each.

        Counts of rows have the order of densities, and there are far fewer of them than values.
        """
        if self.is_exact:
            counts, rows = rows_by_number(cast(Counts, self.neighbours(scale)), self.rows)
            return densities(counts, self.known, scale * self.width), rows
        found = self.densities(scale)
        order = np.argsort(found, kind="stable")
        return found[order], self.rows[order]

    def densities_at(self, points: Floats) -> Floats:
        """Return the density at any points."""
        return densities(self._between(points, self.width / 2), self.known, self.width)


def rows_by_number(numbers: Counts, rows: Counts) -> tuple[Counts, Counts]:
    """Return which numbers, 0 or larger, there are, ascending, and how many rows have each."""
    if int(numbers.max()) <= _FEW_FOR_EACH * len(numbers) + _FEW:
        all_rows = np.bincount(numbers, weights=rows)
        found = np.flatnonzero(all_rows)
        return found, all_rows[found].astype(np.int64)
    order = np.argsort(numbers, kind="stable")
    ordered = numbers[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    return ordered[starts], np.add.reduceat(rows[order], starts)


@dataclasses.dataclass(frozen=True, slots=True)
class Between:
    """A number known between two bounds."""

    low: float
    high: float

    def off(self, number: float) -> float:
        """Return how far the true number may be from the given one, as a share of this."""
        return max(self.high - number, number - self.low, 0.0) / number


class Bounds:
    """What bins leave open of a distribution and of an object in it, scale by scale."""

    def __init__(self, found: Distribution, value: float) -> None:
        self.found, self.value = found, value
        # a single frequent value may lie inside of a bin: ends in order err on the safe side
        self.lows = np.minimum.accumulate(found.lows[::-1])[::-1]
        self.highs = np.maximum.accumulate(found.highs)
        half = (found.highs - found.lows) / 2
        doubt = math.sqrt(float(np.average(half * half, weights=found.rows)))
        spare = bandwidth(doubt, found.known)
        self.widths = max(found.width - spare, 0.0), found.width + spare
        self._around: dict[int, tuple[Counts, Counts]] = {}

    def _reached(self, scale: int) -> tuple[Counts, Counts]:
        """Return the least and the most rows that a row of each bin may have around it."""
        if scale not in self._around:
            self._around[scale] = self._reached_in(self, scale)
        return self._around[scale]

    def _reached_in(self, other: Bounds, scale: int) -> tuple[Counts, Counts]:
        """Return the least and the most rows of others that a row of each bin may reach.

        A row that is among the others reaches itself.
        """
        found, before = self.found, other.found.before
        least, most = (scale * width / 2 for width in self.widths)
        last = np.searchsorted(other.highs, found.lows + least, side="right")
        first = np.searchsorted(other.lows, found.highs - least, side="left")
        surely = np.maximum(before[last] - before[first], 1)
        last = np.searchsorted(other.lows, found.highs + most, side="right")
        first = np.searchsorted(other.highs, found.lows - most, side="left")
        return surely, before[last] - before[first]

    def near(self, scale: int = SCALES[0]) -> Between:
        """Return how many rows are near the object, which is one of them."""
        found, (least, most) = self.found, (scale * width / 2 for width in self.widths)
        inside = (found.lows >= self.value - least) & (found.highs <= self.value + least)
        touched = (found.highs >= self.value - most) & (found.lows <= self.value + most)
        return Between(max(1, int(found.rows[inside].sum())), int(found.rows[touched].sum()))

    def neighbours(self, scale: int = SCALES[0]) -> Between:
        """Return how many rows a row has around it on average."""
        return self._mean(self._reached(scale))

    def _mean(self, reached: tuple[Counts, Counts]) -> Between:
        least, most = (self.found.mean(counts) for counts in reached)
        return Between(least, most)

    def rarity(self, scale: int = SCALES[0]) -> Between:
        """Return how many times rarer the object is than a typical row: windows cancel."""
        typical, near = self.neighbours(scale), self.near(scale)
        return Between(rarity(typical.low, near.high), rarity(typical.high, near.low))

    def lift(self, overall: Bounds) -> Between:
        """Return how much tighter the rows are than all rows around them; see method 5."""
        inside, most = self.neighbours(), overall.found.known / self.found.known
        if most == 1:
            return Between(1.0, 1.0)
        around = self._mean(self._reached_in(overall, SCALES[0]))
        low, high = lift(most * inside.low, around.high), lift(most * inside.high, around.low)
        return Between(low, min(high, most))

    def tail(self, scale: int = SCALES[0]) -> Between:
        """Return the share of rows at least as rare as the object."""
        rows, known = self.found.rows, self.found.known
        (least, most), near = self._reached(scale), self.near(scale)
        surely, perhaps = rows[most <= near.low].sum(), rows[least <= near.high].sum()
        return Between(int(surely) / known, int(perhaps) / known)


def distinct(values: Floats) -> tuple[Floats, Counts, Counts]:
    """Return which values there are, given all in order; their rows, and those before each."""
    starts = np.flatnonzero(np.diff(values, prepend=-np.inf))
    before = np.append(starts, len(values))
    return values[starts], np.diff(before), before


def weighted_variance(values: Floats, rows: Counts) -> float:
    """Return the variance of ascending values, not all equal, in units of their spread."""
    number = int(np.add.reduce(rows))
    offsets = (values - values[0]) / (values[-1] - values[0])
    deviations = offsets - np.add.reduce(offsets * rows) / number
    return float(np.add.reduce(deviations * deviations * rows) / number)
