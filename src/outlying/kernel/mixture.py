"""Gaussian mixtures by compiled code: the fit of method/mixture.py, some ten times as fast."""

from __future__ import annotations

import ctypes
import functools
from typing import Any

import numpy as np

from outlying.kernel.library import Floats, Kernel, address_of

_LANES = 8
_NUMBER, _REAL, _POINTER = ctypes.c_int64, ctypes.c_double, ctypes.c_void_p


@functools.cache
def _fit(kernel: Kernel) -> Any:
    given = (_POINTER, _POINTER, _NUMBER, _REAL, _REAL, _NUMBER, _POINTER, _POINTER, _POINTER)
    return kernel.function("mixture_fit", _NUMBER, *given)


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
    count = _fit(kernel)(
        *(address_of(values), address_of(counts), len(values), rows, floor),
        *(len(found[0]), *map(address_of, found)),
    )
    if not count:
        raise MemoryError
    weights, means, widths = (numbers[:count] for numbers in found)
    return weights, means, widths
