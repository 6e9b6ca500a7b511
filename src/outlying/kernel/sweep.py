"""Sweeps over sorted values, and over rows by value, by compiled code where that is faster."""

from __future__ import annotations

from typing import Literal

import numpy as np

from outlying.kernel.library import Floats, Marks, Places, compiled

#: Fewer points are looked up one by one.
_FEW = 64


def places_of(values: Floats, points: Floats, side: Literal["left", "right"]) -> Places:
    """Return what np.searchsorted does, of points in ascending order."""
    kernel = compiled()
    if kernel is None or len(points) < _FEW:
        return values.searchsorted(points, side)
    return kernel.places(values, points, is_right=side == "right")


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
