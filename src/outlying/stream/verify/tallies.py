"""Counts of the values of one column in several contexts at once: the state of a verify pass.

A tally gives cells codes, 0 for a missing value, and counts codes; there is a line of counts for
each look at the column. Only whole numbers are kept, so that neither the order of rows nor where a
table was cut can make a difference.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from outlying.method.density import Counts
from outlying.sources.types import arrow_numpy as arrays
from outlying.stream.counting.grids import Codes, Coding, Dictionary, Edges, Grid, Range
from outlying.stream.verify.rules import Labelled
from outlying.table.columns import Floats

_FIRST_SIZE = 64  # codes for which there is room at first
_FEW = 2  # a count of all codes pays for at least a share of 1/2 as many rows

Label: TypeAlias = str | bool


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """The numbers of a column in a context.

    `rows` are all rows of the context, those without a value included. Each of the sorted `values`
    stands for the numbers from its low to its high; where counts are exact the three are one.
    """

    rows: int
    values: Floats
    counts: Counts
    lows: Floats
    highs: Floats
    is_exact: bool


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class SeenLabels:
    """The categories of a column in a context, sorted, and how many of its rows have each."""

    rows: int
    labels: tuple[Label, ...]
    counts: Counts


class Lines:
    """Lines of counts, one for each look, with room for more codes; small when pickled."""

    def __init__(self, lines: int, size: int, room: int = 0) -> None:
        self.size = size
        self._counts = np.zeros((lines, max(size, room)), dtype=np.int64)

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """The counts of the codes that there are."""
        return self._counts[:, : self.size]

    def extend(self, size: int) -> None:
        """Make room for more codes."""
        lines, room = self._counts.shape
        if size > room:
            larger = np.zeros((lines, max(size, 2 * room)), dtype=np.int64)
            larger[:, :room] = self._counts
            self._counts = larger
        self.size = size

    def count(self, line: int, codes: Codes) -> None:
        """Count codes in a line."""
        counts = self._counts[line, : self.size]
        if len(codes) * _FEW < self.size:
            np.add.at(counts, codes, 1)
        else:
            counts += np.bincount(codes, minlength=self.size)

    def moved(self, places: Codes, size: int) -> Lines:
        """Give lines of another coding; each code's counts are added at its place."""
        moved = Lines(len(self._counts), size)
        for line, counts in enumerate(self.counts):
            np.add.at(moved._counts[line], places, counts)
        return moved

    def add(self, other: Lines, places: npt.NDArray[np.integer[Any]] | None = None) -> None:
        """Add the counts of others, code by code, or at distinct places of these lines."""
        if places is None:
            self._counts[:, : self.size] += other.counts
        else:
            self._counts[:, places] += other.counts

    def __reduce__(self) -> tuple[Callable[..., Lines], tuple[Any, ...]]:
        counts = self.counts.astype(np.min_scalar_type(int(self.counts.max(initial=0))))
        places = np.flatnonzero(counts).astype(np.min_scalar_type(counts.size))
        kept = counts.ravel()[places]
        if places.nbytes + kept.nbytes < counts.nbytes:
            return _lines, (counts.shape, places, kept)
        return _lines, (counts.shape, slice(None), counts.ravel())


def _lines(shape: tuple[int, int], places: Any, counts: npt.NDArray[Any]) -> Lines:
    lines = Lines(*shape)
    lines.counts.reshape(-1)[places] = counts
    return lines


class BinTally:
    """Counts by a coding that is known beforehand."""

    def __init__(self, coding: Range | Grid, lines: Lines) -> None:
        self.coding = coding
        self.lines = lines

    def code(self, numbers: Floats, codes: Codes) -> BinTally:
        """Code numbers; gives the tally to count them with."""
        self.coding.code(numbers, codes)
        return self

    def merged(self, other: NumericTally) -> BinTally:
        """Add the counts of another tally of the column."""
        self.lines.add(other.binned().lines)
        return self

    def binned(self) -> BinTally:
        """Return the counts by bins."""
        return self

    def seen(self, rows: Sequence[int]) -> list[Seen]:
        """Return what was counted, line by line, in contexts of so many rows."""
        return _seen(self.lines, self.coding.edges(), rows)


class ValueTally:
    """Counts of all distinct values, as long as these are not too many."""

    def __init__(self, coding: Dictionary, lines: Lines, values: Floats) -> None:
        self.coding = coding
        self.lines = lines
        self.values = values  # by code; NaN is the first

    @classmethod
    def empty(cls, coding: Dictionary, lines: int) -> ValueTally:
        """Return the tally of no rows."""
        return cls(coding, Lines(lines, 1, _FIRST_SIZE), np.array([np.nan]))

    def code(self, numbers: Floats, codes: Codes) -> NumericTally:
        """Code numbers; gives the tally to count them with, another one if values are too many."""
        numbers = numbers + 0.0  # the two zeros are one
        codes[:] = self._looked_up(numbers)
        unknown = np.flatnonzero(codes < 0)
        fresh = np.unique(numbers[unknown])
        fresh = fresh[~np.isnan(fresh)]
        if len(self.values) + len(fresh) - 1 > self.coding.limit:
            return self.binned().code(numbers, codes)
        self._learn(fresh)
        places = np.searchsorted(fresh, numbers[unknown]) + len(self.values) - len(fresh)
        codes[unknown] = np.where(np.isnan(numbers[unknown]), 0, places)
        return self

    def merged(self, other: NumericTally) -> NumericTally:
        """Add the counts of another tally of the column."""
        if isinstance(other, BinTally):
            return other.merged(self)
        fresh = other.values[self._looked_up(other.values) < 0]
        fresh = fresh[~np.isnan(fresh)]
        if len(self.values) + len(fresh) - 1 > self.coding.limit:
            return self.binned().merged(other)
        self._learn(fresh)
        self.lines.add(other.lines, self._looked_up(other.values))
        return self

    def binned(self) -> BinTally:
        """Return the counts by bins."""
        grid = self.coding.grid
        return BinTally(grid, self.lines.moved(grid.codes(self.values), grid.size))

    def seen(self, rows: Sequence[int]) -> list[Seen]:
        """Return what was counted, line by line, in contexts of so many rows."""
        return _seen(self.lines, Edges(self.values, self.values, self.values), rows)

    def _learn(self, fresh: Floats) -> None:
        self.values = np.concatenate((self.values, fresh))
        self.lines.extend(len(self.values))

    def _looked_up(self, numbers: Floats) -> npt.NDArray[np.int32]:
        """Find the codes of numbers, -1 where they have none; NaN has 0, or -1 with other bits."""
        import pyarrow.compute as pc

        known = arrays.of_numbers(self.values)
        return arrays.filled(pc.index_in(arrays.of_numbers(numbers), value_set=known), -1)


NumericTally: TypeAlias = BinTally | ValueTally


class LabelTally:
    """Counts of categories, as they are met."""

    def __init__(self, lines: Lines, codes: dict[Label, int]) -> None:
        self.lines = lines
        self.codes = codes  # from 1 on

    @classmethod
    def empty(cls, lines: int) -> LabelTally:
        """Return the tally of no rows."""
        return cls(Lines(lines, 1, _FIRST_SIZE), {})

    def code(self, cells: Labelled, codes: Codes) -> LabelTally:
        """Code cells; gives the tally to count them with."""
        places = np.append(self._places(cells.labels), 0)  # -1 is the last
        places.take(cells.codes, out=codes, mode="wrap")
        return self

    def merged(self, other: LabelTally) -> LabelTally:
        """Add the counts of another tally of the column."""
        self.lines.add(other.lines, np.append(0, self._places(list(other.codes))))
        return self

    def seen(self, rows: Sequence[int]) -> list[SeenLabels]:
        """Return what was counted, line by line, in contexts of so many rows."""
        ordered = sorted(self.codes)
        sorted_codes = [self.codes[label] for label in ordered]
        seen = []
        for counts, total in zip(self.lines.counts[:, sorted_codes], rows, strict=True):
            there = np.flatnonzero(counts)
            labels = tuple(ordered[place] for place in there)
            seen.append(SeenLabels(total, labels, counts[there]))
        return seen

    def _places(self, labels: Sequence[Label]) -> Codes:
        for label in labels:
            self.codes.setdefault(label, len(self.codes) + 1)
        self.lines.extend(len(self.codes) + 1)
        return np.array([self.codes[label] for label in labels], dtype=np.int64)


Tally: TypeAlias = BinTally | ValueTally | LabelTally


def numeric_tally(coding: Coding, lines: int) -> NumericTally:
    """Return the tally of no rows of a numeric column."""
    if isinstance(coding, Dictionary):
        return ValueTally.empty(coding, lines)
    return BinTally(coding, Lines(lines, coding.size))


def _seen(lines: Lines, edges: Edges, rows: Sequence[int]) -> list[Seen]:
    """Return the values that were counted, sorted."""
    order = np.argsort(edges.values[1:], kind="stable") + 1
    seen = []
    for counts, total in zip(lines.counts, rows, strict=True):
        places = order[counts[order] > 0]
        values, lows, highs = edges.values[places], edges.lows[places], edges.highs[places]
        is_exact = bool(np.array_equal(lows, highs))
        seen.append(Seen(total, values, counts[places], lows, highs, is_exact))
    return seen
