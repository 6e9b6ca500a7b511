"""Cells of equal width over the numbers of a column, by value or by rank.

The rank of a floating-point number is its bits read as a whole number: one more for the next larger
number, and nearly a logarithm.
"""

from __future__ import annotations

import dataclasses
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from outlying.table.columns import Floats

Ranks: TypeAlias = npt.NDArray[np.int64]

LARGEST = float(np.finfo(np.float64).max)

_SIGN = np.int64(63)
_POSITIVE = np.int64(2**63 - 1)
_INSIDE = 1 - 2.0**-40  # so that the greatest number is in the last cell, in spite of rounding
_ROUNDING = 2.0**-47  # relative; places and codes take a few operations, each off by 2**-53
_LARGEST_FACTOR = 1e300
_RANK_OF_INFINITY = 2.0**63 - 2.0**52


def ranks(numbers: Floats) -> Ranks:
    """Return the ranks of numbers: equal for equal ones, ascending; those of NaN are far off."""
    bits = (numbers + 0.0).view(np.int64)  # the two zeros are one
    sign = bits >> _SIGN  # -1 or 0
    return (bits ^ (sign & _POSITIVE)) - sign


def floats(of: Ranks) -> Floats:
    """Return the numbers of these ranks."""
    sign = of >> _SIGN
    bits: Ranks = (of + sign) ^ (sign & _POSITIVE)
    return bits.view(np.float64)


@dataclasses.dataclass(frozen=True, slots=True)
class Scale:
    """Cells over the numbers from a least to a greatest one, numbered from 2.

    Cell 0 is for NaN, cell 1 for all that is less, cell `cells` + 2 for all that is greater.
    """

    first: float
    last: float
    factor: float  # cells for one unit
    cells: int
    is_ranked: bool  # whether the unit is one of ranks, not of values

    @classmethod
    def over(cls, low: float, high: float, cells: int, *, is_ranked: bool) -> Scale:
        """Divide the numbers from `low` to `high`, by rank where their distance is no number."""
        is_ranked = is_ranked or high - low > LARGEST
        first, last = map(float, _coordinates(np.array([low, high]), is_ranked))
        factor = cells / (last - first) * _INSIDE if first < last else 1.0
        return cls(first, last, min(factor, _LARGEST_FACTOR), cells, is_ranked)

    def places(self, numbers: Floats) -> Floats:
        """Return the cells of numbers, and in the fraction the place inside."""
        with np.errstate(over="ignore", invalid="ignore"):
            places = np.subtract(_coordinates(numbers, self.is_ranked), self.first)
            np.multiply(places, self.factor, out=places)
            np.add(places, 2.0, out=places)
            np.clip(places, 1.0, self.cells + 2.0, out=places)
        return np.fmax(places, 0.0, out=places)  # NaN gives way

    def around(self, places: Floats) -> tuple[Floats, Floats]:
        """Return numbers surely at or before some places in cells, and such at or after them."""
        slack = _ROUNDING * max(abs(self.first), abs(self.last))
        slack += _ROUNDING * (self.cells + 2) / self.factor
        with np.errstate(over="ignore"):
            at = self.first + (places - 2.0) / self.factor
            return self._numbers(at - slack), self._numbers(at + slack)

    def _numbers(self, coordinates: Floats) -> Floats:
        if not self.is_ranked:
            if max(abs(self.first), abs(self.last)) < LARGEST / 2:  # none is beyond
                return coordinates
            return np.clip(coordinates, -LARGEST, LARGEST)
        whole = np.clip(coordinates, -_RANK_OF_INFINITY, _RANK_OF_INFINITY).astype(np.int64)
        return np.clip(floats(whole), -LARGEST, LARGEST)


def _coordinates(numbers: Floats, is_ranked: bool) -> Floats:
    if not is_ranked:
        return numbers
    coordinates = ranks(numbers).astype(np.float64)
    np.copyto(coordinates, np.nan, where=np.isnan(numbers))
    return coordinates
