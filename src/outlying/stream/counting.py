"""Numbers as codes: how the values of a column that no memory holds are counted.

Every encoding turns numbers into whole numbers from 0 on, 0 for a missing value, so that one count
of codes tells the distribution. Whole numbers and dates of a narrow range, and few distinct values,
are encoded exactly; all others by a grid of fine bins. A number has the same code wherever and
whenever it is met, so counts of parts of a table simply add up.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from outlying.kernel.sweep import located
from outlying.table.columns import Floats

Codes: TypeAlias = npt.NDArray[np.int64]
#: A value, and how far around it bins should be fine.
Zone: TypeAlias = tuple[float, float]

LARGEST = float(np.finfo(np.float64).max)
#: The most distinct values of a column that are all kept.
MOST_VALUES = 100_000
#: The widest range of whole numbers, or days, that are all counted.
MOST_STEPS = 131_072
#: The least and the most bins that are asked of a grid.
LEAST_BINS, MOST_BINS = 4_096, 131_072

_COUNT_BYTES = 8
_STATE_BYTES = 128 * 2**20  # of the counts of one thread or task, as far as the least bins allow
_TOTAL_BYTES = 256 * 2**20  # of the counts of all threads
_EXTRA = 4 / 3  # a grid has bins in zones besides those asked for

_KNOTS = 512  # of the distribution that the sample tells of
_END_STEP = 1.2  # towards both ends, a knot is so much further from the end, in ranks
_BY_KNOTS = 0.25  # the share of bins that all parts between knots have alike
_LEAST_COPIES, _LEAST_SHARE = 3, 0.005  # of a value that has a bin of its own


def affordable_bins(histograms: int) -> int:
    """Return how many bins a grid may have, so that the counts of all histograms fit the memory."""
    most = int(_STATE_BYTES / (_COUNT_BYTES * _EXTRA * max(1, histograms)))
    return max(LEAST_BINS, min(MOST_BINS, most))


def affordable_states(counts: int) -> int:
    """Return how many states of so many counts may exist at once; one always may."""
    return max(1, _TOTAL_BYTES // max(1, counts * _COUNT_BYTES))


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Edges:
    """What each code stands for: a representative value, the least and the greatest number."""

    values: Floats
    lows: Floats
    highs: Floats


@dataclasses.dataclass(frozen=True, slots=True)
class Range:
    """Numbers from `low` on, `span` of them, in equal steps; a column encoded so has no others."""

    low: float
    span: int
    step: float = 1.0

    @property
    def size(self) -> int:
        """The number of codes, that of missing values included."""
        return self.span + 1

    @property
    def most_codes(self) -> int:
        """How many codes there may be."""
        return self.size

    def codes(self, numbers: Floats) -> Codes:
        """Return the codes of numbers; NaN is 0."""
        places = (numbers - self.low) / self.step + 1.0
        return np.fmin(np.fmax(places, 0.0), self.span).astype(np.int64)  # NaN gives way

    def edges(self) -> Edges:
        """Return what the codes stand for; code 0 stands for no number."""
        values = self.low + self.step * np.arange(-1, self.span, dtype=np.float64)
        return Edges(values, values, values)


@dataclasses.dataclass(frozen=True, eq=False)
class Grid:
    """Bins, fine where rows are dense or where it matters; codes ascend with the numbers.

    It travels as what its borders are made of.
    """

    knots: Floats
    ends: Floats  # of the bins before each knot, as shares of all
    bins: int
    frequent: Floats  # values that have bins of their own
    zones: tuple[tuple[float, float], ...]  # in which a quarter more bins are, from and to

    @classmethod
    def of(
        cls, sample: Floats, low: float, high: float, bins: int, zones: Sequence[Zone] = ()
    ) -> Grid:
        """Lay a grid over a column by a sorted sample of it and its least and greatest value.

        There are about as many bins as asked for. Frequent values have bins of their own: many rows
        at 0 would hide how the others are spread.
        """
        values, counts = np.unique(sample, return_counts=True)
        own = values[counts >= max(_LEAST_COPIES, _LEAST_SHARE * len(sample))]
        inside = tuple(_inside(zone, low, high) for zone in zones)
        return cls(*_knots(sample[~np.isin(sample, own)], low, high), bins, own, inside)

    def __reduce__(self) -> tuple[type[Grid], tuple[Any, ...]]:
        return Grid, (self.knots, self.ends, self.bins, self.frequent, self.zones)

    @functools.cached_property
    def borders(self) -> Floats:
        """Where bins but the first begin."""
        spread = np.interp(np.linspace(0, self.ends[-1], max(2, self.bins)), self.ends, self.knots)
        each = max(2, self.bins // (4 * max(1, len(self.zones))))
        zones = [np.linspace(low / 4, high / 4, each) for low, high in self.zones]
        made = 4 * np.concatenate([spread, *zones])  # of quarters, whose differences are finite
        alone = np.append(self.frequent, 4 * self.knots[-1])  # nothing lies beyond the last
        parts = np.concatenate([made, alone, np.nextafter(alone, LARGEST)])
        parts = parts[parts > -LARGEST]
        return np.unique(parts + 0.0)  # the two zeros are one

    @property
    def size(self) -> int:
        """The number of codes, that of missing values included."""
        return len(self.borders) + 2

    @property
    def most_codes(self) -> int:
        """How many codes there may be."""
        return self.size

    def codes(self, numbers: Floats) -> Codes:
        """Return the codes of numbers; NaN is 0."""
        codes = located(self.borders, numbers).astype(np.int64) + 1
        codes[codes == self.size] = 0
        return codes

    def edges(self) -> Edges:
        """Return what the codes stand for; code 0 stands for no number."""
        lows = np.concatenate(([-LARGEST, -LARGEST], self.borders))
        highs = np.concatenate(([-LARGEST], np.nextafter(self.borders, -LARGEST), [LARGEST]))
        return Edges(np.clip(lows / 2 + highs / 2, lows, highs), lows, highs)


def _inside(zone: Zone, low: float, high: float) -> tuple[float, float]:
    """Return where a zone begins and ends, inside of a column."""
    value, radius = zone
    return min(max(value - radius, low), high), max(min(value + radius, high), low)


def _knots(sample: Floats, low: float, high: float) -> tuple[Floats, Floats]:
    """Return the quarters of some values, and the share of bins up to each.

    Between them bins are even. There are more of them where more rows are, and some everywhere: a
    few rows far off decide on the spread.
    """
    known = len(sample)
    steps = np.arange(1 + int(np.log(max(known, 1)) / np.log(_END_STEP)))
    ranks = np.floor(_END_STEP**steps)
    places = np.concatenate([np.linspace(0, known, _KNOTS), ranks, known - ranks])
    places = np.unique(np.append(np.clip(places, 0, known), [0, known]).astype(np.int64))
    knots = np.concatenate([[low], sample[places[1:-1]], [high]]) / 4
    shares = np.diff(places) / known if known else np.ones(1)
    shares = (1 - _BY_KNOTS) * shares + _BY_KNOTS / len(shares)
    return knots, np.concatenate([[0.0], np.cumsum(shares)])


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Dictionary:
    """All distinct values, as they are met, and the grid to count by where they are too many."""

    grid: Grid
    limit: int = MOST_VALUES

    @property
    def most_codes(self) -> int:
        """How many codes there may be."""
        return max(self.limit + 1, self.grid.size)


Encoding: TypeAlias = Range | Dictionary | Grid
