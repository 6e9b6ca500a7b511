"""Densities of one attribute inside a population (paper, section 3): arrays in, arrays out.

Every function takes the values of the population *sorted in ascending order* and holds no opinion
on where they come from. Sorted input makes the result independent of the order of the rows, to
the last bit.
"""

from __future__ import annotations

import math
from typing import TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from outlying.kernel.sweep import rows_around, totals_after

Floats: TypeAlias = npt.NDArray[np.float64]
Counts: TypeAlias = npt.NDArray[np.int64]
Number = TypeVar("Number", float, Floats)  # one number, or many at once

_FACTOR, _POWER = 1.06, 0.2


def bandwidth(std: Number, rows: Number, unit: float = 1.0) -> Number:
    """Return the Parzen bandwidth h = 1.06 * std * n**(-1/5) (paper, section 3).

    `unit` is the unit in which the standard deviation is given.
    """
    shrunk: Number = rows**-_POWER
    return _FACTOR * unit * std * shrunk


def bandwidth_among(width: float, rows: int, others: int) -> float:
    """Return the bandwidth among other rows of the same spread, given that among some rows."""
    return float(width * (rows / others) ** _POWER)


def density_at(near: Number, known: Number, width: Number) -> Number:
    """Return the Parzen density where `near` of the known rows lie within a window.

    It may differ by the last bit from what `densities` says; both are kept as they are, so that
    answers are, too.
    """
    return near * (1 / (known * width))


def densities(near: Counts | Floats, known: int, width: float) -> Floats:
    """Return the Parzen densities at several points, so many of the known rows near to each."""
    return np.asarray(near / (known * width))


def bandwidth_of(values: Floats) -> float:
    """Return the Parzen bandwidth of values; 0 where all of them are equal.

    Values are counted from the least one, in ranges, so that neither huge nor tiny units overflow
    or vanish, and values far from zero lose no digits to it.
    """
    spread = values[-1] - values[0]
    if spread == 0.0:
        return 0.0
    return bandwidth(math.sqrt(variance(values)), len(values), float(spread))


def window_counts(values: Floats, width: float) -> Counts:
    """Count, for each value, the values at most half a width away; a value counts itself."""
    return rows_around(values, np.arange(len(values) + 1), width / 2)


def close_pairs(after: Counts, count: int) -> Counts:
    """Count ordered pairs of values that are close, each value with itself included.

    Given is, added up over all values, how many are no further off on the way up, or lie before: as
    the relation is symmetric, half of the look-ups of `window_counts` suffice.
    """
    return 2 * (after - count * (count - 1) // 2) - count


def parzen(values: Floats) -> Floats:
    """Return the Parzen density at each of the values; they must not all be equal."""
    width = bandwidth_of(values)
    return densities(window_counts(values, width), len(values), width)


def parzen_at(values: Floats, points: Floats, width: float) -> Floats:
    """Return the Parzen density of the values, with the bandwidth they have, at any points."""
    last = np.searchsorted(values, points + width / 2, side="right")
    near = last - np.searchsorted(values, points - width / 2, side="left")
    return densities(near, len(values), width)


def mean_neighbours(values: Floats, widths: Floats) -> Floats:
    """Return how many values lie within windows of a value on average, itself included."""
    return close_pairs(totals_after(values, widths / 2), len(values)) / len(values)


def frequencies(counts: Counts) -> Floats:
    """Return the relative frequency of each category, which is its density, from its count."""
    return np.asarray(counts / np.add.reduce(counts))


def mean_matches(counts: Counts, everywhere: Counts) -> float:
    """Return how many of other rows share a row's category on average, by counts of both."""
    return int(np.dot(counts, everywhere)) / int(np.add.reduce(counts))


def variance(values: Floats) -> float:
    """Return the variance of ascending values, not all equal, in units of their spread."""
    offsets = (values - values[0]) / (values[-1] - values[0])
    deviations = offsets - np.add.reduce(offsets) / len(values)
    return float(np.add.reduce(deviations * deviations) / len(values))
