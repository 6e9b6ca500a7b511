"""Which of many small whole numbers are less than a bound, for many bounds at once, as bits.

The numbers are taken apart into lines of bits, one for each binary digit, 64 rows to a word. Bounds
are then reached digit by digit; those that begin alike share the way.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from outlying.search.screen.bitsets import Words
from outlying.stream.counting.scratch import Memory

_Step: TypeAlias = tuple[Any, int, int, int]  # what to do with two lines, and where it goes


class Thresholds:
    """Bounds, and the steps that lead to them; a line of bits is known by its number."""

    def __init__(self, bounds: Iterable[int]) -> None:
        self._bounds = sorted({0, *bounds})
        self._digits = self._bounds[-1].bit_length()
        starts = sorted(_starts(self._bounds, self._digits))
        self._line = {start: place for place, start in enumerate(starts)}
        self._all = len(starts)
        self._steps = tuple(self._walk(self._digits - 1, 0, self._all))

    def run(self, numbers: npt.NDArray[Any], words: int, memory: Memory) -> dict[int, Words]:
        """Give for each bound the numbers less than it, as so many words of bits."""
        lines = memory.array("thresholds", (self._all + 1 + 3 * self._digits, words), np.uint64)
        lines[0] = 0
        _pack(np.ones(len(numbers), dtype=np.bool_), lines[self._all])
        for digit in range(self._digits):
            _pack((numbers & (1 << digit)) == 0, lines[self._zeros(digit)])
        every = list(lines)
        for combine, one, other, place in self._steps:
            combine(every[one], every[other], out=every[place])
        return {bound: every[self._line[bound]] for bound in self._bounds}

    def _zeros(self, digit: int) -> int:
        """Say which line has the numbers with a digit 0."""
        return self._all + 1 + 3 * digit

    def _walk(self, digit: int, start: int, same: int) -> Iterator[_Step]:
        """Go from numbers less than a start to those less than bounds soon after it.

        Line `same` has the numbers that agree with the start in all digits before this one.
        """
        if digit < 0 or not self._is_any(start + 1, start + (2 << digit)):
            return
        middle = start + (1 << digit)
        low, high = self._zeros(digit) + 1, self._zeros(digit) + 2
        yield np.bitwise_and, same, self._zeros(digit), low
        yield from self._walk(digit - 1, start, low)
        if middle in self._line:
            yield np.bitwise_or, self._line[start], low, self._line[middle]
        if self._is_any(middle + 1, start + (2 << digit)):
            yield np.bitwise_xor, same, low, high
            yield from self._walk(digit - 1, middle, high)

    def _is_any(self, first: int, end: int) -> bool:
        """Return whether there are bounds in a range."""
        return bisect_left(self._bounds, first) < bisect_left(self._bounds, end)


def _starts(bounds: Sequence[int], digits: int) -> set[int]:
    """Return all numbers at which the way to a bound turns, the bounds themselves included."""
    return {bound >> digit << digit for bound in bounds for digit in range(digits + 1)}


def _pack(marks: npt.NDArray[np.bool_], line: Words) -> None:
    bits = np.packbits(marks, bitorder="little")
    whole = line.view(np.uint8)
    whole[: len(bits)] = bits
    whole[len(bits) :] = 0
