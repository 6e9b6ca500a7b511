"""Gaussian mixtures by compiled code: the fit of method/mixture.py, some ten times as fast."""

from __future__ import annotations

import numpy as np

from outlying.kernel.library import Floats, Kernel

_LANES = 8


def fitted(
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
