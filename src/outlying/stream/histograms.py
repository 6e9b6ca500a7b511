"""Histograms of one column in several contexts at once: the state of a verify pass.

Every encoding turns cells into whole numbers from 0 on, 0 for a missing value, so that one count of
codes tells the distribution; there is a row of counts for each query about the column. Whole
numbers and dates of a narrow range, and few distinct values, are encoded exactly; all others by a
grid of fine bins. A number has the same code wherever and whenever it is met, and only whole
numbers are kept: neither the order of rows nor where a table was cut makes a difference.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from outlying.kernel.sweep import located
from outlying.method.density import Counts
from outlying.sources import arrow_arrays as arrays
from outlying.stream.cells import Cells, CodedLabels, Label, codes_of
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


# --- counts ---------------------------------------------------------------------------------------

_FIRST_SIZE = 64  # codes for which there is room at first
_FEW = 8  # codes for so many places are counted one by one


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class NumberHistogram:
    """The numbers of a column in a context.

    `rows` are all rows of the context, those without a value included. Each of the sorted `values`
    stands for the numbers from its low to its high; where counts are exact the three are one array.
    All numbers are divided by a power of two.
    """

    rows: int
    values: Floats
    counts: Counts
    lows: Floats
    highs: Floats


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class LabelHistogram:
    """The categories of a column in a context, sorted, and how many of its rows have each."""

    rows: int
    labels: tuple[Label, ...]
    counts: Counts


Answer: TypeAlias = NumberHistogram | LabelHistogram


class CountMatrix:
    """A row of counts for each query, with room for more codes; small when pickled."""

    def __init__(self, queries: int, size: int, room: int = 0) -> None:
        self.size = size
        self._counts = np.zeros((queries, max(size, room)), dtype=np.int64)

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """The counts of the codes that there are."""
        return self._counts[:, : self.size]

    def extend(self, size: int) -> None:
        """Make room for more codes."""
        queries, room = self._counts.shape
        if size > room:
            larger = np.zeros((queries, max(size, 2 * room)), dtype=np.int64)
            larger[:, :room] = self._counts
            self._counts = larger
        self.size = size

    def count(self, query: int, codes: Codes) -> None:
        """Count codes in the row of a query."""
        own = self._counts[query, : self.size]
        if len(codes) * _FEW < self.size:
            np.add.at(own, codes, 1)
        else:
            own += np.bincount(codes, minlength=self.size)

    def moved(self, places: Codes, size: int) -> CountMatrix:
        """Return the counts by another encoding; each code's are added at its place."""
        moved = CountMatrix(len(self._counts), size)
        for line, counts in enumerate(self.counts):
            np.add.at(moved._counts[line], places, counts)
        return moved

    def add(self, other: CountMatrix, places: npt.NDArray[np.integer[Any]] | None = None) -> None:
        """Add the counts of others, code by code, or at distinct places."""
        if places is None:
            self._counts[:, : self.size] += other.counts
        else:
            self._counts[:, places] += other.counts

    def __reduce__(self) -> tuple[Callable[..., CountMatrix], tuple[Any, ...]]:
        counts = self.counts.astype(np.min_scalar_type(int(self.counts.max(initial=0))))
        places = np.flatnonzero(counts).astype(np.min_scalar_type(counts.size))
        kept = counts.ravel()[places]
        if places.nbytes + kept.nbytes < counts.nbytes:
            return _unpickled, (counts.shape, places, kept)
        return _unpickled, (counts.shape, slice(None), counts.ravel())


def _unpickled(shape: tuple[int, int], places: Any, counts: npt.NDArray[Any]) -> CountMatrix:
    matrix = CountMatrix(*shape)
    matrix.counts.reshape(-1)[places] = counts
    return matrix


class BinHistograms:
    """Counts by an encoding that is known beforehand."""

    def __init__(self, encoding: Range | Grid, matrix: CountMatrix) -> None:
        self.encoding = encoding
        self.matrix = matrix

    def encode(self, numbers: Floats) -> tuple[BinHistograms, Codes]:
        """Return the codes of numbers, and the histograms to count them in."""
        return self, self.encoding.codes(numbers)

    def merged(self, other: NumericHistograms) -> BinHistograms:
        """Add the counts of other rows."""
        self.matrix.add(other.binned().matrix)
        return self

    def binned(self) -> BinHistograms:
        """Return the counts by bins."""
        return self

    def results(self, rows: Sequence[int], exponent: int) -> list[NumberHistogram]:
        """Return the histogram of each query, in contexts of so many rows."""
        return _results(self.matrix, self.encoding.edges(), rows, exponent)


class ValueHistograms:
    """Counts of all distinct values, as long as these are not too many."""

    def __init__(self, encoding: Dictionary, matrix: CountMatrix, values: Floats) -> None:
        self.encoding = encoding
        self.matrix = matrix
        self.values = values  # by code; NaN is the first

    @classmethod
    def empty(cls, encoding: Dictionary, queries: int) -> ValueHistograms:
        """Return the histograms of no rows."""
        return cls(encoding, CountMatrix(queries, 1, _FIRST_SIZE), np.array([np.nan]))

    def encode(self, numbers: Floats) -> tuple[NumericHistograms, Codes]:
        """Return the codes of numbers, and the histograms to count them in.

        These are other ones, of bins, as soon as values are too many.
        """
        numbers = numbers + 0.0  # the two zeros are one
        codes = self._known_codes(numbers).astype(np.int64)
        unknown = np.flatnonzero(codes < 0)
        fresh = np.unique(numbers[unknown])
        fresh = fresh[~np.isnan(fresh)]
        if len(self.values) + len(fresh) - 1 > self.encoding.limit:
            return self.binned().encode(numbers)
        self._learn(fresh)
        places = np.searchsorted(fresh, numbers[unknown]) + len(self.values) - len(fresh)
        codes[unknown] = np.where(np.isnan(numbers[unknown]), 0, places)
        return self, codes

    def merged(self, other: NumericHistograms) -> NumericHistograms:
        """Add the counts of other rows."""
        if isinstance(other, BinHistograms):
            return other.merged(self)
        fresh = other.values[self._known_codes(other.values) < 0]
        fresh = fresh[~np.isnan(fresh)]
        if len(self.values) + len(fresh) - 1 > self.encoding.limit:
            return self.binned().merged(other)
        self._learn(fresh)
        self.matrix.add(other.matrix, self._known_codes(other.values))
        return self

    def binned(self) -> BinHistograms:
        """Return the counts by bins."""
        grid = self.encoding.grid
        return BinHistograms(grid, self.matrix.moved(grid.codes(self.values), grid.size))

    def results(self, rows: Sequence[int], exponent: int) -> list[NumberHistogram]:
        """Return the histogram of each query, in contexts of so many rows."""
        return _results(self.matrix, Edges(self.values, self.values, self.values), rows, exponent)

    def _learn(self, fresh: Floats) -> None:
        self.values = np.concatenate((self.values, fresh))
        self.matrix.extend(len(self.values))

    def _known_codes(self, numbers: Floats) -> npt.NDArray[np.int32]:
        """Find the codes of numbers, -1 where they have none; NaN has 0, or -1 with other bits."""
        import pyarrow.compute as pc

        known = arrays.of_numbers(self.values)
        return arrays.filled(pc.index_in(arrays.of_numbers(numbers), value_set=known), -1)


NumericHistograms: TypeAlias = BinHistograms | ValueHistograms


class LabelHistograms:
    """Counts of categories, as they are met."""

    def __init__(self, matrix: CountMatrix, codes: dict[Label, int]) -> None:
        self.matrix = matrix
        self.codes = codes  # from 1 on

    @classmethod
    def empty(cls, queries: int) -> LabelHistograms:
        """Return the histograms of no rows."""
        return cls(CountMatrix(queries, 1, _FIRST_SIZE), {})

    def encode(self, cells: CodedLabels) -> tuple[LabelHistograms, Codes]:
        """Return the codes of cells, and the histograms to count them in."""
        places = np.append(self._places(cells.labels), 0)  # -1 is the last
        return self, places.take(cells.codes, mode="wrap")

    def merged(self, other: LabelHistograms) -> LabelHistograms:
        """Add the counts of other rows."""
        self.matrix.add(other.matrix, np.append(0, self._places(list(other.codes))))
        return self

    def results(self, rows: Sequence[int], exponent: int) -> list[LabelHistogram]:  # noqa: ARG002
        """Return the histogram of each query, in contexts of so many rows."""
        ordered = sorted(self.codes)
        sorted_codes = [self.codes[label] for label in ordered]
        found = []
        for counts, total in zip(self.matrix.counts[:, sorted_codes], rows, strict=True):
            there = np.flatnonzero(counts)
            labels = tuple(ordered[place] for place in there)
            found.append(LabelHistogram(total, labels, counts[there]))
        return found

    def _places(self, labels: Sequence[Label]) -> Codes:
        places = codes_of(labels, self.codes, 0)
        for place in np.flatnonzero(places == 0).tolist():
            places[place] = self.codes[labels[place]] = len(self.codes) + 1
        self.matrix.extend(len(self.codes) + 1)
        return places


class MissingHistograms:
    """Counts of rows that have a value, and of those that have none."""

    def __init__(self, queries: int) -> None:
        self.matrix = CountMatrix(queries, 2)

    def encode(self, cells: Cells) -> tuple[MissingHistograms, Codes]:
        """Return the codes of cells, and the histograms to count them in."""
        missing = cells.codes < 0 if isinstance(cells, CodedLabels) else np.isnan(cells)
        return self, missing.astype(np.int64)

    def merged(self, other: MissingHistograms) -> MissingHistograms:
        """Add the counts of other rows."""
        self.matrix.add(other.matrix)
        return self

    def results(self, rows: Sequence[int], exponent: int) -> list[LabelHistogram]:  # noqa: ARG002
        """Return the histogram of each query, in contexts of so many rows."""
        found = zip(rows, self.matrix.counts, strict=True)
        return [LabelHistogram(total, ("known", "missing"), counts) for total, counts in found]


Histograms: TypeAlias = BinHistograms | ValueHistograms | LabelHistograms | MissingHistograms


def numeric_histograms(encoding: Encoding, queries: int) -> NumericHistograms:
    """Return the histograms of no rows of a numeric column."""
    if isinstance(encoding, Dictionary):
        return ValueHistograms.empty(encoding, queries)
    return BinHistograms(encoding, CountMatrix(queries, encoding.size))


def _results(
    matrix: CountMatrix, edges: Edges, rows: Sequence[int], exponent: int
) -> list[NumberHistogram]:
    """Return the values that were counted, sorted and divided by 2**exponent."""
    found = []
    for counts, total in zip(matrix.counts, rows, strict=True):
        places = np.flatnonzero(counts[1:]) + 1
        places = places[np.argsort(edges.values[places], kind="stable")]
        values, lows, highs = edges.values[places], edges.lows[places], edges.highs[places]
        is_exact = np.array_equal(lows, highs)
        for each in (values,) if is_exact else (values, lows, highs):
            np.ldexp(each, -exponent, out=each)
        ends = (values, values) if is_exact else (lows, highs)
        found.append(NumberHistogram(total, values, counts[places], *ends))
    return found
