"""Histograms of one column in several contexts at once: the state of a verify pass.

Cells become whole numbers from 0 on, 0 for a missing value; there is a row of counts for each query
about the column. Values are counted one by one as long as few are distinct; then numbers by a grid
of fine bins, the same for all rows: neither their order nor how a table was cut matters.
"""

from __future__ import annotations

import dataclasses
import functools
import zlib
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from outlying.kernel.sweep import located
from outlying.method.density import Counts
from outlying.method.distribution import Bounds, Distribution
from outlying.method.profiles import CategoricalProfile, NumericProfile
from outlying.parsing import pa, pc
from outlying.search.evaluation import ContextView
from outlying.sources import arrow_arrays as arrays
from outlying.table.columns import Column, Floats
from outlying.table.values import Form, Value

Codes: TypeAlias = npt.NDArray[np.int64]
#: A value, and how far around it bins should be fine.
Zone: TypeAlias = tuple[float, float]

LARGEST = float(np.finfo(np.float64).max)
#: The most distinct values of a column that are all counted.
MOST_VALUES = 131_072
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

_FIRST_SIZE = 64  # codes for which there is room at first
_FEW = 8  # codes for so many places are counted one by one


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


@dataclasses.dataclass(frozen=True, eq=False)
class Grid:
    """Bins, fine where rows are dense or where it matters; codes ascend with the numbers."""

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

        Frequent values have bins of their own: many rows at 0 would hide how the others are spread.
        """
        values, counts = np.unique(sample, return_counts=True)
        own = values[counts >= max(_LEAST_COPIES, _LEAST_SHARE * len(sample))]
        inside = tuple(
            (min(max(value - radius, low), high), max(min(value + radius, high), low))
            for value, radius in zones
        )
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


def _knots(sample: Floats, low: float, high: float) -> tuple[Floats, Floats]:
    """Return knots, in quarters, and the share of bins up to each: more where rows are dense."""
    known = len(sample)
    steps = np.arange(1 + int(np.log(max(known, 1)) / np.log(_END_STEP)))
    ranks = np.floor(_END_STEP**steps)
    places = np.concatenate([np.linspace(0, known, _KNOTS), ranks, known - ranks])
    places = np.unique(np.append(np.clip(places, 0, known), [0, known]).astype(np.int64))
    knots = np.concatenate([[low], sample[places[1:-1]], [high]]) / 4
    shares = np.diff(places) / known if known else np.ones(1)
    shares = (1 - _BY_KNOTS) * shares + _BY_KNOTS / len(shares)
    return knots, np.concatenate([[0.0], np.cumsum(shares)])


@dataclasses.dataclass(frozen=True, eq=False)
class CategoricalGroup:
    """A column in a context of `rows` by its sorted categories, or by whether it is missing."""

    rows: int
    labels: Sequence[Value]
    counts: Counts

    @functools.cached_property
    def profile(self) -> CategoricalProfile:
        """What a description needs."""
        return CategoricalProfile(self.counts, self.labels)

    @functools.cached_property
    def rows_of(self) -> dict[Value, int]:
        """The rows of each category."""
        return dict(zip(self.labels, self.counts.tolist(), strict=True))

    def holds(self, place: Value) -> bool:
        """Return whether a row is like the object, as the object itself is."""
        return self.rows_of.get(place, 0) > 0

    def joined(self, place: Value) -> CategoricalGroup:
        """Take in one more row, a new object."""
        rows = self.rows_of | {place: self.rows_of.get(place, 0) + 1}
        labels = tuple(sorted(rows, key=str))
        return CategoricalGroup(self.rows + 1, labels, np.array([rows[label] for label in labels]))

    def view(self, overall: Group) -> ContextView:
        """Compare with all rows, whose categories are counted here as well."""
        assert isinstance(overall, CategoricalGroup)  # noqa: S101 - of the same column
        counts = np.array([self.rows_of.get(label, 0) for label in overall.labels], dtype=np.int64)
        profile = CategoricalProfile(counts, overall.labels)
        return ContextView.of(self.rows, profile, overall.profile)


@dataclasses.dataclass(frozen=True, eq=False)
class NumericGroup:
    """A column of numbers in a context; values are divided by 2**exponent."""

    rows: int
    form: Form
    exponent: int
    found: Distribution

    @functools.cached_property
    def profile(self) -> NumericProfile | None:
        """What a description needs; None where all values are equal."""
        if len(self.found.values) < 2:
            return None
        return NumericProfile(self.found, self.form, self.exponent)

    def bounds(self, place: Value) -> Bounds:
        """Return what bins leave open."""
        return Bounds(self.found, self._scaled(place))

    def holds(self, place: Value) -> bool:
        """Return whether a row may be where the object is, as the object itself is."""
        value, found = self._scaled(place), self.found
        return bool(np.any((found.lows <= value) & (found.highs >= value)))

    def joined(self, place: Value) -> NumericGroup:
        """Take in one more row, a new object."""
        more = self.found.joined(self._scaled(place))
        return dataclasses.replace(self, rows=self.rows + 1, found=more)

    def view(self, overall: Group) -> ContextView:
        """Compare with all rows."""
        return ContextView.of(self.rows, self.profile, overall.profile)

    def _scaled(self, place: Value) -> float:
        return float(np.ldexp(float(place), -self.exponent))  # type: ignore[arg-type]


Group: TypeAlias = CategoricalGroup | NumericGroup


class Histograms:
    """A row of counts for each query about a column: of its values, as they are met, or of bins."""

    def __init__(self, queries: int, grid: Grid | None = None, limit: int = MOST_VALUES) -> None:
        """Take how many queries there are; a limit of 0 says that bins are needed at once."""
        self.grid, self.limit, self.is_binned = grid, limit, False
        self.values: Any = None  # an Arrow array, by codes from 1 on; a missing one has 0
        self._size, self._counts = 1, np.zeros((queries, _FIRST_SIZE), dtype=np.int64)
        if grid is not None and not limit:
            self._count_by_bins(grid)

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """The counts of the codes that there are, for each query."""
        return self._counts[:, : self._size]

    def encode(self, cells: Column) -> Codes:
        """Return the codes of cells, from now on by bins if values are too many."""
        if self.is_binned and self.grid is not None:
            return self.grid.codes(cells.values)  # type: ignore[union-attr]
        if cells.is_numeric:
            values = cells.values + 0.0  # the two zeros are one
            encoded = arrays.of_numbers(values, np.isnan(values)).dictionary_encode()
            codes, own = arrays.filled(encoded.indices, -1), encoded.dictionary
        elif not cells.labels:  # which tell no type
            return np.zeros(len(cells), dtype=np.int64)
        else:
            codes, own = cells.codes, _labels(cells.labels)
        places = self._learned(own)
        return self.encode(cells) if places is None else places.take(codes, mode="wrap")

    def count(self, query: int, codes: Codes) -> None:
        """Count codes for a query."""
        own = self._counts[query, : self._size]
        if len(codes) * _FEW < self._size:
            np.add.at(own, codes, 1)
        else:
            own += np.bincount(codes, minlength=self._size)

    def merge(self, other: Histograms) -> None:
        """Add the counts of other rows, which may be changed."""
        places = None
        if not (self.is_binned or other.is_binned):
            if other.values is None:
                return  # all are missing, which nobody asks for
            places = self._learned(other.values)
        if places is None:
            for each in (self, other):
                if not each.is_binned and each.grid is not None:
                    each._count_by_bins(each.grid)
            self._counts += other._counts
        else:
            self._add(other.counts, np.append(0, places[:-1]))

    def _add(self, counts: npt.NDArray[np.int64], places: Codes) -> None:
        for own, more in zip(self._counts, counts, strict=True):
            np.add.at(own, places, more)

    def _learned(self, values: Any) -> Codes | None:
        """Return the codes of distinct values, then that of none; None: they are too many."""
        known = values.slice(0, 0) if self.values is None else self.values
        codes = arrays.filled(pc.index_in(values, value_set=known), -1) + np.int64(1)
        fresh = np.flatnonzero(codes == 0)
        if self.grid is not None and len(known) + len(fresh) > self.limit:
            self._count_by_bins(self.grid)
            return None
        self.values = pa.concat_arrays([known, values.take(arrays.of_numbers(fresh))])
        codes[fresh] = len(known) + 1 + np.arange(len(fresh))
        self._size = len(self.values) + 1
        queries, room = self._counts.shape
        if self._size > room:
            larger = np.zeros((queries, max(self._size, 2 * room)), dtype=np.int64)
            larger[:, :room] = self._counts
            self._counts = larger
        return np.append(codes, 0)

    def _count_by_bins(self, grid: Grid) -> None:
        counts, numbers = self.counts, self._numbers()
        self._size, self.values, self.is_binned = grid.size, None, True
        self._counts = np.zeros((len(counts), grid.size), dtype=np.int64)
        self._add(counts, grid.codes(numbers))

    def _numbers(self) -> Floats:
        """Return the numbers by code; NaN is the first."""
        known = np.zeros(0) if self.values is None else arrays.held(self.values)
        return np.append(np.nan, known)

    def groups(self, rows: Sequence[int], form: Form, exponent: int) -> list[Group]:
        """Return what each query asks for, in contexts of so many rows."""
        if self.grid is None:
            return list(self._categorical_groups(rows))
        numbers = self._numbers()
        edges = self.grid.edges() if self.is_binned else Edges(numbers, numbers, numbers)
        found: list[Group] = []
        for counts, total in zip(self.counts, rows, strict=True):
            places = np.flatnonzero(counts[1:]) + 1
            places = places[np.argsort(edges.values[places], kind="stable")]
            values, lows, highs = (
                np.ldexp(each[places], -exponent)
                for each in (edges.values, edges.lows, edges.highs)
            )
            if np.array_equal(edges.lows[places], edges.highs[places]):
                lows = highs = values
            counted = Distribution(values, counts[places], lows, highs)
            found.append(NumericGroup(total, form, exponent, counted))
        return found

    def _categorical_groups(self, rows: Sequence[int]) -> list[Group]:
        labels: list[Any] = [] if self.values is None else arrays.labels(self.values)
        order = sorted(range(len(labels)), key=labels.__getitem__)
        found: list[Group] = []
        for counts, total in zip(self.counts[:, 1:][:, order], rows, strict=True):
            there = np.flatnonzero(counts)
            own = tuple(labels[order[place]] for place in there.tolist())
            found.append(CategoricalGroup(total, own, counts[there]))
        return found

    def __getstate__(self) -> dict[str, Any]:
        """Send no more than what was counted, packed."""
        packed = zlib.compress(self.counts.tobytes(), level=1)
        return self.__dict__ | {"_counts": (self.counts.shape, packed)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        shape, packed = state.pop("_counts")
        counts = np.frombuffer(zlib.decompress(packed), dtype=np.int64).reshape(shape)
        self.__dict__.update(state, _counts=counts.copy())


def _labels(labels: Sequence[Any]) -> Any:
    are_flags = isinstance(labels[0], bool)
    return arrays.of_mask(np.array(labels)) if are_flags else arrays.of_texts(labels)
