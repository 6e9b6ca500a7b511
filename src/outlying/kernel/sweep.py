"""Sweeps over sorted values, and over rows by value, by compiled code where that is faster."""

from __future__ import annotations

import ctypes
from typing import Literal

import numpy as np
import numpy.typing as npt

from outlying.kernel.library import Floats, Marks, Places, compiled

#: Fewer points are looked up one by one.
_FEW = 64


def places_of(values: Floats, points: Floats, side: Literal["left", "right"]) -> Places:
    """Return what np.searchsorted does, of points in ascending order."""
    kernel = compiled()
    if kernel is None or len(points) < _FEW:
        return values.searchsorted(points, side)
    places = np.empty(len(points), dtype=np.int64)
    given = values, len(values), points, len(points), int(side == "right")
    kernel("sweep_places", *given, places, result=None)
    return places


def located(edges: Floats, values: Floats) -> npt.NDArray[np.int32]:
    """Count the ascending edges up to each of some values; of NaN, one more than all of them."""
    kernel = compiled()
    if kernel is None:
        places = edges.searchsorted(values, "right").astype(np.int32)
        places[np.isnan(values)] = len(edges) + 1
        return places
    found = np.empty(len(values), dtype=np.int32)
    given = edges, len(edges), values.astype(np.float64, copy=False), len(values)
    kernel("sweep_locate", *given, found, result=None)
    return found


def total_after(values: Floats, reach: float) -> int:
    """Add up, for each value, how many of all are at most so much larger."""
    kernel = compiled()
    if kernel is None or len(values) < _FEW:
        return int(np.add.reduce(values.searchsorted(values + reach, "right")))
    return int(kernel("sweep_total", values, len(values), float(reach)))


def rows_around(values: Floats, before: Places, reach: float) -> Places:
    """Count the rows at most so far from each value, given the rows before each, and all of them.

    The relation is symmetric: a value is reached from the left by those whose window has not ended
    before it, which a count of ends tells without more look-ups.
    """
    kernel = compiled()
    if kernel is not None:
        ended, around = np.zeros(len(values) + 1, np.int64), np.empty(len(values), np.int64)
        given = values, len(values), before, float(reach)
        kernel("sweep_around", *given, ended, around, result=None)
        return around
    right = values.searchsorted(values + reach, "right")
    ended = np.bincount(right, weights=np.diff(before), minlength=len(values) + 1).cumsum()
    return np.asarray(before[right] - ended[:-1].astype(np.int64))


def variance(values: Floats) -> float:
    """Return the variance of ascending values, not all equal, in units of their spread."""
    kernel, count = compiled(), len(values)
    if kernel is not None:
        return float(kernel("sweep_variance", values, len(values), result=ctypes.c_double))
    offsets = (values - values[0]) / (values[-1] - values[0])
    deviations = offsets - np.add.reduce(offsets) / count
    return float(np.add.reduce(deviations * deviations) / count)


def taken(values: Floats, rows: Places, marks: Marks) -> Floats:
    """Return the values of marked rows, given values and their rows."""
    kernel = compiled()
    if kernel is None:
        return values[marks[rows]]
    found = np.empty(len(values) + 1)
    return found[: kernel("sweep_taken", values, rows, len(values), marks, found)].copy()


def distinct(values: Floats) -> tuple[Floats, Places, Places]:
    """Return which values there are, given all in order; their rows, and those before each."""
    kernel, count = compiled(), len(values)
    if kernel is None:
        starts = np.flatnonzero(np.diff(values, prepend=-np.inf))
        before = np.append(starts, count)
        return values[starts], np.diff(before), before
    found, rows, before = np.empty(count), np.empty(count, np.int64), np.empty(count + 1, np.int64)
    number = kernel("sweep_distinct", values, count, found, rows, before)
    return found[:number], rows[:number], before[: number + 1]


def weighted_variance(values: Floats, rows: Places) -> float:
    """Return the variance of ascending values, not all equal, in units of their spread."""
    kernel, number = compiled(), int(np.add.reduce(rows))
    if kernel is not None:
        given = values, rows, len(values), number
        return float(kernel("sweep_weighted_variance", *given, result=ctypes.c_double))
    offsets = (values - values[0]) / (values[-1] - values[0])
    deviations = offsets - np.add.reduce(offsets * rows) / number
    return float(np.add.reduce(deviations * deviations * rows) / number)


def means_around(values: Floats, rows: Places, point: float) -> tuple[float, float, float]:
    """Return the means over rows of values, of how far they are above a point, and below it."""
    kernel = compiled()
    if kernel is not None:
        means = np.empty(3)
        kernel("sweep_means", values, rows, len(values), float(point), means, result=None)
    else:
        above, below = (np.maximum(sign * (values - point), 0.0) for sign in (1.0, -1.0))
        number = float(np.add.reduce(rows))
        means = np.array([np.add.reduce(some * rows) / number for some in (values, above, below)])
    mean, above_it, below_it = means.tolist()
    return mean, above_it, below_it


def median_step(values: Floats) -> float:
    """Return the median of the steps between ascending values, two at least."""
    kernel = compiled()
    if kernel is None:
        return float(np.median(np.diff(values)))
    given = values, len(values), np.empty(len(values))
    return float(kernel("sweep_median_step", *given, result=ctypes.c_double))


def ranges(
    values: Floats, densities: Floats, least: float, widest: float, point: float
) -> tuple[Floats, Floats]:
    """Join ascending values that are dense enough to ranges: return where they begin and end.

    They end where the next value is too far off, and at a point between two values.
    """
    kernel = compiled()
    if kernel is None:
        kept = values[densities >= least]
        is_between = (kept[:-1] < point) & (point <= kept[1:])
        ends = np.flatnonzero((np.diff(kept) > widest) | is_between)
        return kept[np.append(0, ends + 1)], kept[np.append(ends, len(kept) - 1)]
    first, last = np.empty(len(values)), np.empty(len(values))
    limits = float(least), float(widest), float(point)
    number = kernel("sweep_ranges", values, densities, len(values), *limits, first, last)
    return first[:number], last[:number]
