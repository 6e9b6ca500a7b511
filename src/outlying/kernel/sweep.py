"""Places of sorted points among sorted values, by compiled code where that is faster."""

from __future__ import annotations

from typing import Literal

import numpy as np

from outlying.kernel.library import Floats, Places, compiled

#: Fewer points are looked up one by one.
_FEW, _SHARE = 64, 8


def places_of(values: Floats, points: Floats, side: Literal["left", "right"]) -> Places:
    """Return what np.searchsorted does, of points in ascending order."""
    kernel = compiled()
    if kernel is None or len(points) < _FEW or len(points) * _SHARE < len(values):
        return values.searchsorted(points, side)
    return kernel.places(values, points, is_right=side == "right")


def total_after(values: Floats, reach: float) -> int:
    """Add up, for each value, how many of all are at most so much larger."""
    kernel = compiled()
    if kernel is None or len(values) < _FEW:
        return int(np.add.reduce(values.searchsorted(values + reach, "right")))
    return kernel.total(values, reach)
