"""Histograms of one column in several contexts at once: the state of a verify pass.

Cells are encoded, 0 for a missing value, and codes counted; there is a row of counts for each query
about the column. Only whole numbers are kept, so that neither the order of rows nor where a table
was cut can make a difference.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from outlying.kernel.count import count_codes
from outlying.method.density import Counts
from outlying.sources import arrow_arrays as arrays
from outlying.stream.contexts import CodedLabels, Label, codes_of
from outlying.stream.counting import Codes, Dictionary, Edges, Encoding, Grid, Range
from outlying.table.columns import Floats

_FIRST_SIZE = 64  # codes for which there is room at first


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


@dataclasses.dataclass(frozen=True, slots=True)
class MissingCount:
    """How many rows of a context have a value in a column, and how many have none."""

    known: int
    missing: int


Answer: TypeAlias = NumberHistogram | LabelHistogram | MissingCount


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

    def count(self, query: int, codes: Codes, rows: npt.NDArray[np.int64] | None = None) -> None:
        """Count codes, all or those of some rows, in the row of a query."""
        count_codes(codes, self._counts[query, : self.size], rows)

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


Histograms: TypeAlias = BinHistograms | ValueHistograms | LabelHistograms


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
