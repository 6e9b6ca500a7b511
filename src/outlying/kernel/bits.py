"""Conditions as bits in the order of a property, by compiled code."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from outlying.kernel.library import Kernel, Marks, Places, Words, address_of

_NUMBER, _POINTER = ctypes.c_int64, ctypes.c_void_p


@functools.cache
def _lay_out(kernel: Kernel) -> Any:
    given = (_POINTER, _NUMBER, _NUMBER, _POINTER, _NUMBER, _POINTER)
    return kernel.function("bits_lay_out", _NUMBER, *given)


def laid_out(kernel: Kernel, marks: Sequence[Marks], rows: int, sources: Places) -> list[Words]:
    """Return the marks of conditions as bits, a row for each; the number of rows stands for none.

    Of each condition only the first rows are asked.
    """
    marks = [np.ascontiguousarray(item) for item in marks]
    found = [np.empty(len(sources) // 64, dtype=np.uint64) for _ in marks]
    given, taken = _addresses(marks), _addresses(found)
    done = _lay_out(kernel)(
        *(address_of(given), len(marks), rows),
        *(address_of(sources), len(found[0]), address_of(taken)),
    )
    if not done:
        raise MemoryError
    return found


def _addresses(arrays: Sequence[Marks] | Sequence[Words]) -> Words:
    return np.array([address_of(array) for array in arrays], dtype=np.uint64)
