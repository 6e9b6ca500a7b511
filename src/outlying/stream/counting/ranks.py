"""Many intervals of one column at once: first where among all ends a number is, then each interval.

Where a number is among the ends is one small whole number, and to compare such numbers digit by
digit takes a fraction of the time that floating-point numbers take.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from outlying.search.screen.bitsets import Words
from outlying.stream.counting.bit_sliced import Thresholds
from outlying.stream.counting.ordinals import Scale
from outlying.stream.counting.scratch import Memory
from outlying.table.columns import Floats

#: Closed; None stands for missing values.
Interval: TypeAlias = tuple[float, float] | None
Ranked: TypeAlias = npt.NDArray[Any]  # unsigned

_CELLS = 4096
_BLOCK = 32_768  # rows ranked at a time, so that what is computed of them stays in cache


class Ranks:
    """Intervals, and where numbers are among all of their ends."""

    def __init__(self, intervals: Sequence[Interval]) -> None:
        self._ends = _ends(intervals)
        self._bounds = [self._bounds_of(interval) for interval in intervals]
        self._thresholds = Thresholds(bound for bounds in self._bounds for bound in bounds)
        self._scale = _scale(self._ends)
        cells = self._scale.places(self._ends).astype(np.int64)
        self._before = np.searchsorted(cells, np.arange(_CELLS + 2), side="left")
        self._inside = np.bincount(cells, minlength=_CELLS + 2)
        self._table = np.where(self._inside, self._unsure, self._before).astype(
            np.min_scalar_type(self._unsure)
        )

    @property
    def _missing(self) -> int:
        return len(self._ends) + 1

    @property
    def _unsure(self) -> int:
        return len(self._ends) + 2

    def run(self, numbers: Floats, words: Words, memory: Memory) -> None:
        """Test the intervals; a line of words takes the bits of each."""
        less = self._thresholds.run(self._ranked(numbers), words.shape[1], memory)
        for line, (first, end) in zip(words, self._bounds, strict=True):
            np.bitwise_xor(less[first], less[end], out=line)

    def _ranked(self, numbers: Floats) -> Ranked:
        """Count the ends at or before each number; NaN has more than all numbers."""
        ranked = np.empty(len(numbers), dtype=self._table.dtype)
        spare = np.empty(min(len(numbers), _BLOCK))
        for start in range(0, len(numbers), _BLOCK):
            self._rank(numbers[start : start + _BLOCK], ranked[start : start + _BLOCK], spare)
        return ranked

    def _rank(self, numbers: Floats, ranked: Ranked, spare: Floats) -> None:
        """Rank by cells; where there are ends in the cell of a number, it is compared with them."""
        cells = self._scale.places(numbers, out=spare[: len(numbers)]).astype(np.int32)
        self._table.take(cells, out=ranked, mode="clip")
        unsure = np.flatnonzero(ranked == self._unsure)
        if len(unsure):
            ranked[unsure] = self._compared(numbers[unsure], cells[unsure])
        ranked[np.isnan(numbers)] = self._missing

    def _compared(self, numbers: Floats, cells: npt.NDArray[np.int32]) -> Ranked:
        """Rank numbers with up to two ends in their cells at once, others by a search."""
        first, inside = self._before.take(cells), self._inside.take(cells)
        last = len(self._ends) - 1
        ranks = first + (numbers >= self._ends.take(first))
        ranks += (inside > 1) & (numbers >= self._ends.take(np.minimum(first + 1, last)))
        crowded = np.flatnonzero(inside > 2)
        ranks[crowded] = np.searchsorted(self._ends, numbers[crowded], side="right")
        return ranks

    def _bounds_of(self, interval: Interval) -> tuple[int, int]:
        """Return the least rank in an interval and the first one after it."""
        if interval is None:
            return self._missing, self._missing + 1
        low, end = interval[0], math.nextafter(interval[1], math.inf)
        first = 0 if low == -np.inf else int(np.searchsorted(self._ends, low)) + 1
        last = len(self._ends) if end == np.inf else int(np.searchsorted(self._ends, end))
        return (first, last + 1) if first <= last else (0, 0)  # nothing is inside


def _ends(intervals: Sequence[Interval]) -> Floats:
    """Return where intervals begin, and the first numbers after them."""
    known = [interval for interval in intervals if interval is not None]
    ends = [end for low, high in known for end in (low, math.nextafter(high, math.inf))]
    return np.unique([end for end in ends if np.isfinite(end)])


def _scale(ends: Floats) -> Scale:
    if len(ends) == 0:
        return Scale(0.0, 0.0, _CELLS, is_ranked=False)
    return Scale.over(float(ends[0]), float(ends[-1]), _CELLS, is_ranked=False)
