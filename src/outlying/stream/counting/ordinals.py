"""Numbers in a row: floating-point numbers by their rank, and cells of equal width over them.

The rank of a number, its ordinal, is a whole number that is one more for the next larger number.
Ranks make it possible to find by halving, to the last bit, where a rule that ascends with the
numbers reaches a value.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from outlying.table.columns import Floats

Ordinals: TypeAlias = npt.NDArray[np.int64]

LARGEST = float(np.finfo(np.float64).max)

_SIGN = np.int64(63)
_POSITIVE = np.int64(2**63 - 1)
_DISTANCES = 16, 2**14, 2**28  # how far off guesses are at most, mostly
_ONE = np.int64(1)
_BLOCK = 16_384  # goals at a time, so that what is computed of them stays in cache


def ordinals(numbers: Floats) -> Ordinals:
    """Return the ranks of numbers: equal for equal ones, ascending; those of NaN are far off."""
    bits = (numbers + 0.0).view(np.int64)  # the two zeros are one
    sign = bits >> _SIGN  # -1 or 0
    return (bits ^ (sign & _POSITIVE)) - sign


def floats(ranks: Ordinals) -> Floats:
    """Return the numbers of these ranks."""
    sign = ranks >> _SIGN
    bits: Ordinals = (ranks + sign) ^ (sign & _POSITIVE)
    return bits.view(np.float64)


_GREATEST = int(ordinals(np.array([LARGEST]))[0])
_LEAST = int(ordinals(np.array([-LARGEST]))[0])


def first_reaching(
    function: Callable[[Floats], Ordinals], goals: Ordinals, guesses: Floats
) -> Ordinals:
    """Find the rank of the least number for which an ascending function is at least a goal.

    Where no number is, the rank is one more than that of the greatest. Good guesses save time.
    """
    return around_first_reaching(function, goals, guesses, within=1)[1]


def around_first_reaching(
    function: Callable[[Floats], Ordinals], goals: Ordinals, guesses: Floats, within: int
) -> tuple[Ordinals, Ordinals]:
    """Return ranks below and at or above those, not farther apart than some."""
    near = ordinals(np.clip(guesses, -LARGEST, LARGEST))
    blocks = [slice(start, start + _BLOCK) for start in range(0, len(near), _BLOCK)]
    found = [_around(function, goals[block], near[block], within) for block in blocks]
    below, reached = (np.concatenate((near[:0], *some)) for some in zip(*found, strict=True))
    return below, reached


def _around(
    function: Callable[[Floats], Ordinals], goals: Ordinals, near: Ordinals, within: int
) -> tuple[Ordinals, Ordinals]:
    below, reached = _brackets(function, goals, near)
    while len(open_ := np.flatnonzero(below + within < reached)):
        left, right = below[open_], reached[open_]
        middle = (left >> _ONE) + (right >> _ONE) + (left & right & _ONE)
        is_reached = function(floats(middle)) >= goals[open_]
        reached[open_] = np.where(is_reached, middle, right)
        below[open_] = np.where(is_reached, left, middle)
    return below, reached


def _brackets(
    function: Callable[[Floats], Ordinals], goals: Ordinals, near: Ordinals
) -> tuple[Ordinals, Ordinals]:
    """Return ranks at which the goals are not reached yet, and such at which they are.

    They are near guesses if these are good, and else further and further off.
    """
    below, reached = np.full(len(near), _LEAST - 1), np.full(len(near), _GREATEST + 1)
    open_ = np.arange(len(near))
    for distance in _DISTANCES:
        left = np.maximum(near[open_], _LEAST + distance) - distance
        right = np.minimum(near[open_], _GREATEST - distance) + distance
        is_below = function(floats(left)) < goals[open_]
        is_reached = function(floats(right)) >= goals[open_]
        below[open_[is_below]] = left[is_below]
        reached[open_[is_reached]] = right[is_reached]
        open_ = open_[~(is_below & is_reached)]
    return below, reached


@dataclasses.dataclass(frozen=True, slots=True)
class Scale:
    """Cells of equal width, numbered from 1, over some numbers; 0 and `cells` + 1 are outer.

    The width is one of values, or one of ranks, which is nearly one of logarithms.
    """

    start: float
    factor: float  # cells for one unit; 0: there are none
    cells: int
    is_ranked: bool

    @classmethod
    def over(cls, low: float, high: float, cells: int, *, is_ranked: bool) -> Scale:
        """Divide the numbers from `low` to `high`; where this is not possible, all are outer."""
        first, last = _coordinates(np.array([low, high]), is_ranked)
        with np.errstate(over="ignore", divide="ignore"):
            factor = cells / (last - first)
            start = first - 1.0 / factor
        if not (0.0 < factor < np.inf and abs(start) < np.inf):
            return cls(0.0, 0.0, cells, is_ranked)
        return cls(float(start), float(factor), cells, is_ranked)

    def places(self, numbers: Floats, out: Floats | None = None) -> Floats:
        """Return the cells of numbers, and in the fraction the place inside; NaN is outer."""
        with np.errstate(over="ignore", invalid="ignore"):
            places = np.subtract(_coordinates(numbers, self.is_ranked), self.start, out=out)
            np.multiply(places, self.factor, out=places)
        np.fmax(places, 0.0, out=places)
        return np.fmin(places, self.cells + 1, out=places)

    def numbers(self, places: Floats) -> Floats:
        """Give about the numbers that are at these places."""
        if self.factor == 0.0:
            return np.zeros(len(places))
        with np.errstate(over="ignore"):
            coordinates = self.start + places / self.factor
        if self.is_ranked:
            return floats(np.clip(coordinates, _LEAST, _GREATEST).astype(np.int64))
        return np.clip(coordinates, -LARGEST, LARGEST)


def _coordinates(numbers: Floats, is_ranked: bool) -> Floats:
    return ordinals(numbers).astype(np.float64) if is_ranked else numbers
