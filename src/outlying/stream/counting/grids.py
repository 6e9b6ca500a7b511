"""Numbers as codes: how the values of a column that no memory holds are counted.

Every coding turns numbers into whole numbers from 0 on, 0 for a missing value, so that one count of
codes tells the distribution. Whole numbers and dates of a narrow range and few distinct values are
coded exactly; of all others a grid of fine bins is laid over the column. A number has the same code
wherever and whenever it is met, so counts of parts of a table simply add up.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from outlying.stream.counting.layouts import Zone, atoms_of, outer_edges, parts_of, scale_of
from outlying.stream.counting.ordinals import Scale, around_first_reaching, floats
from outlying.table.columns import Floats

Codes: TypeAlias = npt.NDArray[np.int64]

#: The most bins, and the widest range of whole numbers; one row of counts takes a megabyte.
MOST_BINS = 131_072
LEAST_BINS = 4_096
#: The most distinct values of a column that are all kept.
MOST_VALUES = 100_000
#: Counts of all looks together should take no more memory than this.
BUDGET = 256 * 2**20

_ULPS = 64  # by so many numbers that floating point knows, an edge may be off, to the safe side
_BLOCK = 32_768  # rows at a time, so that what is computed of them stays in cache
_EXTRA = 1.5  # a grid has zones and outer bins besides those asked for


def affordable_bins(looks: int, budget: int = BUDGET) -> int:
    """Choose how many bins grids may have, so that the counts of all looks fit the memory."""
    each = int(budget / (8 * _EXTRA * max(1, looks)))
    return max(LEAST_BINS, min(MOST_BINS, each - each % LEAST_BINS))


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Edges:
    """What each code stands for: a representative value, the least and the greatest number."""

    values: Floats
    lows: Floats
    highs: Floats


@dataclasses.dataclass(frozen=True, slots=True)
class Range:
    """Numbers from `low` on, `span` of them, in equal steps; a column coded so has no others."""

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
        """Code numbers; NaN is 0."""
        return _fresh(self.code, numbers)

    def code(self, numbers: Floats, codes: Codes) -> None:
        """Code numbers into an array that is there already."""
        for rows in _blocks(len(numbers)):
            places = np.subtract(numbers[rows], self.low)
            np.divide(places, self.step, out=places)
            np.fmax(places, -1.0, out=places)  # NaN gives way
            np.fmin(places, self.span - 1, out=places)
            np.add(places, 1.0, out=places)
            np.copyto(codes[rows], places, casting="unsafe")

    def edges(self) -> Edges:
        """Return what the codes stand for; code 0 stands for no number."""
        values = self.low + self.step * np.arange(-1, self.span, dtype=np.float64)
        return Edges(values, values, values)


@dataclasses.dataclass(frozen=True, eq=False)
class Grid:
    """Fine bins where rows are dense, coarse ones elsewhere; `Grid.of` lays one over a column.

    The central part of the column is cut into cells of equal width and each cell into equal parts,
    which takes a few operations per number. The few numbers outside are looked up among edges.
    Codes ascend with the numbers, apart from those of `atoms`, frequent single values, at the end.
    """

    scale: Scale
    parts: npt.NDArray[np.int32]  # of each cell
    below: Floats  # edges before the first cell
    above: Floats  # edges after the last cell
    atoms: Floats

    @classmethod
    def of(
        cls,
        sample: Floats,
        low: float,
        high: float,
        bins: int = MOST_BINS,
        around: Iterable[Zone] = (),
    ) -> Grid:
        """Lay a grid over a column by a sorted sample of it and its least and greatest value.

        There are about as many bins as asked for, and a quarter more in the zones `around` some
        values, each given with a radius.
        """
        zones = tuple(around)
        atoms, smooth = atoms_of(sample)
        scale, central = scale_of(smooth, atoms, (low, high), bins)
        parts = parts_of(scale, smooth, bins, zones)
        below, above = outer_edges(sample, (low, high), central, bins, zones)
        return cls(scale, parts, below, above, atoms)

    def __reduce__(self) -> tuple[type[Grid], tuple[Any, ...]]:
        return Grid, (self.scale, self.parts, self.below, self.above, self.atoms)

    @property
    def size(self) -> int:
        """The number of codes, that of missing values included."""
        return self._first_atom + len(self.atoms)

    @property
    def most_codes(self) -> int:
        """How many codes there may be."""
        return self.size

    def codes(self, numbers: Floats) -> Codes:
        """Code numbers; NaN is 0."""
        return _fresh(self.code, numbers)

    def code(self, numbers: Floats, codes: Codes) -> None:
        """Code numbers into an array that is there already."""
        self._code_ascending(numbers, codes)
        shifts = np.arange(self._first_atom, self.size) - self._ascending(self.atoms)
        for rows in _blocks(len(numbers)):
            for atom, shift in zip(self.atoms, shifts, strict=True):
                is_atom = numbers[rows] == atom
                codes[rows] += np.multiply(is_atom, shift)  # sooner than to look where

    def edges(self) -> Edges:
        """Return what the codes stand for, to the last bits; code 0 stands for no number."""
        goals = np.arange(self._first_atom, dtype=np.int64)
        below, firsts = around_first_reaching(self._ascending, goals, self._guesses(), _ULPS)
        lows, highs = floats(below + 1), floats(np.append(firsts[1:], firsts[-1]) - 1)
        highs[-1] = np.finfo(np.float64).max
        values = np.clip(lows / 2 + highs / 2, lows, np.maximum(lows, highs))
        both = [np.concatenate((column, self.atoms)) for column in (values, lows, highs)]
        return Edges(*both)

    @property
    def _first_central(self) -> int:
        return len(self.below) + 2

    @functools.cached_property
    def _first_above(self) -> int:
        return self._first_central + int(np.add.reduce(self.parts, dtype=np.int64))

    @property
    def _first_atom(self) -> int:
        return self._first_above + len(self.above) + 1

    def _ascending(self, numbers: Floats) -> Codes:
        """Code numbers as if no value had a code of its own."""
        return _fresh(self._code_ascending, numbers)

    def _code_ascending(self, numbers: Floats, codes: Codes) -> None:
        lines, spare = self._lines, _Spare(min(len(numbers), _BLOCK))
        found = [np.zeros(0, dtype=np.int64)]
        for rows in _blocks(len(numbers)):
            outer = self._code_cells(numbers[rows], codes[rows], lines, spare)
            found.append(outer + rows.start)
        self._code_outer(numbers, codes, np.concatenate(found))

    def _code_cells(
        self, numbers: Floats, codes: Codes, lines: tuple[Floats, Floats], spare: _Spare
    ) -> Codes:
        """Code by cells; numbers in none get 0 or `size`, and their places are given."""
        places, factors, short, cells = spare.of(len(numbers))
        self.scale.places(numbers, out=places)
        np.copyto(short, places, casting="unsafe")
        np.copyto(cells, short)  # sooner in two steps, here and below
        for line, step in zip(lines, (np.multiply, np.add), strict=True):
            step(places, line.take(cells, out=factors, mode="clip"), out=places)
        is_outer = np.subtract(short, 1, out=short).view(np.uint32) >= self.scale.cells
        np.copyto(short, places, casting="unsafe")
        np.copyto(codes, short)
        return np.flatnonzero(is_outer)

    @functools.cached_property
    def _lines(self) -> tuple[Floats, Floats]:
        """Give for each cell the line from places to codes; outer cells have 0 and `size`.

        Codes ascend in spite of rounding: both ends of a cell's line are whole numbers.
        """
        slopes = np.concatenate(([0], self.parts, [0])).astype(np.float64)
        starts = self._first_central + np.cumsum(slopes) - slopes
        offsets = starts - np.arange(len(slopes)) * slopes
        offsets[0], offsets[-1] = 0, self.size
        return slopes, offsets

    def _code_outer(self, numbers: Floats, codes: Codes, rows: Codes) -> None:
        """Look up numbers that are in no cell among the edges; missing ones get 0."""
        is_missing = np.isnan(numbers[rows])
        codes[rows[is_missing]] = 0
        known = rows[~is_missing]
        is_below = codes[known] == 0
        below, above = known[is_below], known[~is_below]
        codes[below] = np.searchsorted(self.below, numbers[below], side="right") + 1
        places = np.searchsorted(self.above, numbers[above], side="right")
        codes[above] = places + self._first_above

    def _guesses(self) -> Floats:
        """Give about the least number of each code."""
        cells = np.arange(1, self.scale.cells + 1)
        first = np.cumsum(self.parts) - self.parts
        within = np.arange(int(np.add.reduce(self.parts))) - np.repeat(first, self.parts)
        places = np.repeat(cells, self.parts) + within / np.repeat(self.parts, self.parts)
        lowest, end = [-np.inf, -np.inf], self.scale.numbers(np.array([self.scale.cells + 1.0]))
        return np.concatenate((lowest, self.below, self.scale.numbers(places), end, self.above))


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Dictionary:
    """All distinct values, as they are met, and the grid to count by where they are too many."""

    grid: Grid
    limit: int = MOST_VALUES

    @property
    def most_codes(self) -> int:
        """How many codes there may be."""
        return max(self.limit + 1, self.grid.size)


Coding: TypeAlias = Range | Dictionary | Grid


class _Spare:
    """Memory for what is computed of a block of numbers."""

    def __init__(self, rows: int) -> None:
        self._floats = np.empty((2, rows))
        self._short, self._long = np.empty(rows, dtype=np.int32), np.empty(rows, dtype=np.int64)

    def of(self, rows: int) -> tuple[Floats, Floats, npt.NDArray[np.int32], Codes]:
        """Give arrays for so many numbers."""
        places, factors = self._floats[:, :rows]
        return places, factors, self._short[:rows], self._long[:rows]


def _fresh(code: Callable[[Floats, Codes], None], numbers: Floats) -> Codes:
    codes = np.empty(len(numbers), dtype=np.int64)
    code(numbers, codes)
    return codes


def _blocks(rows: int) -> list[slice]:
    return [slice(start, start + _BLOCK) for start in range(0, rows, _BLOCK)]
