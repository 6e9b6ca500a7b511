"""Sweeps over sorted values, and over rows by value, by compiled code where that is faster."""

from __future__ import annotations

import ctypes
import functools
from typing import Literal

import numpy as np
import numpy.typing as npt

from outlying.kernel.library import Floats, Kernel, Marks, Places, address_of, compiled

_NUMBER, _REAL, _POINTER = ctypes.c_int64, ctypes.c_double, ctypes.c_void_p

#: Fewer points are looked up one by one.
_FEW = 64


class _Functions:
    """The functions of sweep.c that describe values."""

    def __init__(self, kernel: Kernel) -> None:
        get, array = kernel.function, (_POINTER, _NUMBER)
        weighted = _POINTER, _POINTER, _NUMBER
        self.distinct = get("sweep_distinct", _NUMBER, *array, _POINTER, _POINTER, _POINTER)
        self.variance = get("sweep_weighted_variance", _REAL, *weighted, _NUMBER)
        self.means = get("sweep_means", None, *weighted, _REAL, _POINTER)
        self.locate = get("sweep_locate", None, *array, *array, _POINTER)
        self.step = get("sweep_median_step", _REAL, *array, _POINTER)
        self.ranges = get(
            "sweep_ranges", _NUMBER, *weighted, _REAL, _REAL, _REAL, _POINTER, _POINTER
        )


_functions = functools.cache(_Functions)


def places_of(values: Floats, points: Floats, side: Literal["left", "right"]) -> Places:
    """Return what np.searchsorted does, of points in ascending order."""
    kernel = compiled()
    if kernel is None or len(points) < _FEW:
        return values.searchsorted(points, side)
    return kernel.places(values, points, is_right=side == "right")


def located(edges: Floats, values: Floats) -> npt.NDArray[np.int32]:
    """Count the ascending edges up to each of some values; of NaN, one more than all of them."""
    kernel = compiled()
    if kernel is None:
        places = edges.searchsorted(values, "right").astype(np.int32)
        places[np.isnan(values)] = len(edges) + 1
        return places
    edges, values = np.ascontiguousarray(edges), np.ascontiguousarray(values, dtype=np.float64)
    found = np.empty(len(values), dtype=np.int32)
    given = address_of(edges), len(edges), address_of(values), len(values)
    _functions(kernel).locate(*given, address_of(found))
    return found


def total_after(values: Floats, reach: float) -> int:
    """Add up, for each value, how many of all are at most so much larger."""
    kernel = compiled()
    if kernel is None or len(values) < _FEW:
        return int(np.add.reduce(values.searchsorted(values + reach, "right")))
    return kernel.total(values, reach)


def rows_around(values: Floats, before: Places, reach: float) -> Places:
    """Count the rows at most so far from each value, given the rows before each, and all of them.

    The relation is symmetric: a value is reached from the left by those whose window has not ended
    before it, which a count of ends tells without more look-ups.
    """
    kernel = compiled()
    if kernel is not None:
        return kernel.around(values, before, reach)
    right = values.searchsorted(values + reach, "right")
    ended = np.bincount(right, weights=np.diff(before), minlength=len(values) + 1).cumsum()
    return np.asarray(before[right] - ended[:-1].astype(np.int64))


def variance(values: Floats) -> float:
    """Return the variance of ascending values, not all equal, in units of their spread."""
    kernel, count = compiled(), len(values)
    if kernel is not None:
        return kernel.variance(values)
    offsets = (values - values[0]) / (values[-1] - values[0])
    deviations = offsets - np.add.reduce(offsets) / count
    return float(np.add.reduce(deviations * deviations) / count)


def taken(values: Floats, rows: Places, marks: Marks) -> Floats:
    """Return the values of marked rows, given values and their rows."""
    kernel = compiled()
    return values[marks[rows]] if kernel is None else kernel.taken(values, rows, marks)


def distinct(values: Floats) -> tuple[Floats, Places, Places]:
    """Return which values there are, given all in order; their rows, and those before each."""
    kernel, count = compiled(), len(values)
    if kernel is None:
        starts = np.flatnonzero(np.diff(values, prepend=-np.inf))
        before = np.append(starts, count)
        return values[starts], np.diff(before), before
    values = np.ascontiguousarray(values)
    found, rows, before = np.empty(count), np.empty(count, np.int64), np.empty(count + 1, np.int64)
    number = _functions(kernel).distinct(
        *(address_of(values), count, address_of(found), address_of(rows), address_of(before))
    )
    return found[:number], rows[:number], before[: number + 1]


def weighted_variance(values: Floats, rows: Places) -> float:
    """Return the variance of ascending values, not all equal, in units of their spread."""
    kernel, number = compiled(), int(np.add.reduce(rows))
    if kernel is not None:
        values, rows = np.ascontiguousarray(values), np.ascontiguousarray(rows)
        own = address_of(values), address_of(rows), len(values)
        return float(_functions(kernel).variance(*own, number))
    offsets = (values - values[0]) / (values[-1] - values[0])
    deviations = offsets - np.add.reduce(offsets * rows) / number
    return float(np.add.reduce(deviations * deviations * rows) / number)


def means_around(values: Floats, rows: Places, point: float) -> tuple[float, float, float]:
    """Return the means over rows of values, of how far they are above a point, and below it."""
    kernel = compiled()
    if kernel is not None:
        values, rows, means = np.ascontiguousarray(values), np.ascontiguousarray(rows), np.empty(3)
        own = address_of(values), address_of(rows), len(values)
        _functions(kernel).means(*own, point, address_of(means))
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
    values, room = np.ascontiguousarray(values), np.empty(len(values))
    return float(_functions(kernel).step(address_of(values), len(values), address_of(room)))


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
    values, densities = np.ascontiguousarray(values), np.ascontiguousarray(densities)
    found: npt.NDArray[np.float64] = np.empty((2, len(values)))
    number = _functions(kernel).ranges(
        *(address_of(values), address_of(densities), len(values), least, widest, point),
        *(address_of(found[0]), address_of(found[1])),
    )
    return found[0, :number], found[1, :number]
