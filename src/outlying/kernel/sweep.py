"""Sweeps over sorted values, and fits of mixtures to them: compiled code where that is faster."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from outlying.kernel.library import Floats, Kernel, Places, compiled

#: Fewer points are looked up one by one.
_FEW = 64
_FEW_AT_ONCE = 512
_LANES = 8  # values that a fit takes at once


def places_of(values: Floats, points: Floats, side: Literal["left", "right"]) -> Places:
    """Return what np.searchsorted does, of points in ascending order."""
    kernel = compiled() if len(points) >= _FEW else None
    if kernel is None:
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


def totals_after(values: Floats, reaches: Floats) -> Places:
    """Add up, for each value, how many of all are at most so much larger, for each reach."""
    kernel = compiled() if len(values) >= _FEW_AT_ONCE else None
    if kernel is None:
        return np.asarray(values.searchsorted(values + reaches[:, None], "right").sum(axis=1))
    totals = [kernel("sweep_total", values, len(values), reach) for reach in reaches.tolist()]
    return np.array(totals, dtype=np.int64)


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


def fit_mixture(
    kernel: Kernel,
    points: tuple[Floats, Floats],
    rows: float,
    floor: float,
    start: tuple[Floats, Floats, Floats],
) -> tuple[Floats, Floats, Floats]:
    """Fit a mixture to ascending values with the rows of each.

    It starts from weights, means and widths, and returns those of the components that are left, in
    no order. No component is narrower than `floor`.
    """
    values, counts = points
    more = -len(values) % _LANES
    values = np.append(values, np.full(more, values[-1]))
    counts = np.append(counts, np.zeros(more))
    found = tuple(np.array(numbers, dtype=np.float64) for numbers in start)
    points_given = values, counts, len(values), float(rows), float(floor)
    count = kernel("mixture_fit", *points_given, len(found[0]), *found)
    if not count:
        raise MemoryError
    weights, means, widths = (numbers[:count] for numbers in found)
    return weights, means, widths
