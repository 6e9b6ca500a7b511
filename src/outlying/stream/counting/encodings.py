"""Numbers as codes: how the values of a column that no memory holds are counted.

Every encoding turns numbers into whole numbers from 0 on, 0 for a missing value, so that one count
of codes tells the distribution. Whole numbers and dates of a narrow range, and few distinct values,
are encoded exactly; all others by a grid of fine bins. A number has the same code wherever and
whenever it is met, so counts of parts of a table simply add up.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from outlying.kernel.count import bins_of
from outlying.stream.counting.layout import Parts, Zone, atoms_of, parts_of, scale_of
from outlying.stream.counting.limits import MOST_VALUES
from outlying.stream.counting.scale import LARGEST, Scale
from outlying.table.columns import Floats

Codes: TypeAlias = npt.NDArray[np.int64]

_BLOCK = 32_768  # rows at a time, so that what is computed of them stays in cache


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
        codes = np.empty(len(numbers), dtype=np.int64)
        for start in range(0, len(numbers), _BLOCK):
            places = np.subtract(numbers[start : start + _BLOCK], self.low)
            np.divide(places, self.step, out=places)
            np.fmax(places, -1.0, out=places)  # NaN gives way
            np.fmin(places, self.span - 1, out=places)
            np.add(places, 1.0, out=places)
            codes[start : start + _BLOCK] = places
        return codes

    def edges(self) -> Edges:
        """Return what the codes stand for; code 0 stands for no number."""
        values = self.low + self.step * np.arange(-1, self.span, dtype=np.float64)
        return Edges(values, values, values)


@dataclasses.dataclass(frozen=True, eq=False)
class Grid:
    """Fine bins where rows are dense, coarse ones elsewhere; `Grid.of` lays one over a column.

    The range of the column is cut into cells of equal width, and each cell into equal parts, so
    that the bin of a number takes a few operations (7 ns; a search among a million edges 150 ns).
    Codes ascend with the numbers, apart from those of `atoms`, frequent single values, at the end.
    """

    scale: Scale
    parts: Parts  # of each cell
    atoms: Floats

    @classmethod
    def of(
        cls, sample: Floats, low: float, high: float, bins: int, zones: Iterable[Zone] = ()
    ) -> Grid:
        """Lay a grid over a column by a sorted sample of it and its least and greatest value.

        There are about as many bins as asked for, and a quarter more in the zones.
        """
        atoms, smooth = atoms_of(sample)
        scale = scale_of(smooth, low, high, bins)
        return cls(scale, parts_of(scale, smooth, bins, tuple(zones)), atoms)

    def __reduce__(self) -> tuple[type[Grid], tuple[Any, ...]]:
        return Grid, (self.scale, self.parts, self.atoms)

    @property
    def size(self) -> int:
        """The number of codes, that of missing values included."""
        return self._first_atom + len(self.atoms)

    @property
    def most_codes(self) -> int:
        """How many codes there may be."""
        return self.size

    def codes(self, numbers: Floats) -> Codes:
        """Return the codes of numbers; NaN is 0."""
        shifts = np.arange(self._first_atom, self.size) - self._ascending(self.atoms)
        if not self.scale.is_ranked:
            scale = self.scale.first, self.scale.factor, self.scale.cells
            found = bins_of(numbers, scale, self._lines, self.atoms, shifts)
            if found is not None:
                return found
        codes = np.empty(len(numbers), dtype=np.int64)
        for start in range(0, len(numbers), _BLOCK):
            block, own = numbers[start : start + _BLOCK], codes[start : start + _BLOCK]
            own[:] = self._ascending(block)
            for atom, shift in zip(self.atoms, shifts, strict=True):
                own += np.multiply(block == atom, shift)  # sooner than to look where
        return codes

    def _ascending(self, numbers: Floats) -> npt.NDArray[np.int32]:
        """Return the codes as if no value had one of its own."""
        slopes, offsets = self._lines
        places = self.scale.places(numbers)
        cells = places.astype(np.int32).astype(np.int64)  # sooner in two steps
        places *= slopes.take(cells)
        places += offsets.take(cells)
        return places.astype(np.int32)

    def edges(self) -> Edges:
        """Return what the codes stand for; code 0 stands for no number.

        Neighbours overlap by as much as rounding may have put a number into the wrong one.
        """
        cells = np.arange(2, self.scale.cells + 2)
        first = np.cumsum(self.parts) - self.parts
        within = np.arange(int(np.add.reduce(self.parts))) - np.repeat(first, self.parts)
        places = np.repeat(cells, self.parts) + within / np.repeat(self.parts, self.parts)
        before, after = self.scale.around(np.append(places, self.scale.cells + 2.0))
        lows = np.concatenate(([-LARGEST, -LARGEST], before, self.atoms))
        highs = np.concatenate(([-LARGEST], after, [LARGEST], self.atoms))
        return Edges(np.clip(lows / 2 + highs / 2, lows, highs), lows, highs)

    @functools.cached_property
    def _first_atom(self) -> int:
        return 3 + int(np.add.reduce(self.parts, dtype=np.int64))

    @functools.cached_property
    def _lines(self) -> tuple[Floats, Floats]:
        """The line from places to codes of each cell, by slope and offset.

        Codes ascend in spite of rounding: both ends of a cell's line are whole numbers.
        """
        slopes = np.concatenate(([0, 0], self.parts, [0])).astype(np.float64)
        starts = 2 + np.cumsum(slopes) - slopes
        offsets = starts - np.arange(len(slopes)) * slopes
        offsets[:2] = 0, 1  # NaN, and what is less than all
        return slopes, offsets


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
