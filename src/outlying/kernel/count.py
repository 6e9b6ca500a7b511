"""What passes over large tables count, by compiled code or by NumPy: the same whole numbers."""

from __future__ import annotations

import ctypes
import functools

import numpy as np

from outlying.kernel.library import Kernel, Places, address_of, compiled

#: A count of all places pays for at least a share of 1/2 as many codes.
_FEW = 2
_NUMBER, _POINTER = ctypes.c_int64, ctypes.c_void_p


class _Functions:
    """The functions of count.c."""

    def __init__(self, kernel: Kernel) -> None:
        self.codes = kernel.function("count_codes", _NUMBER, _POINTER, _NUMBER, _POINTER, _NUMBER)
        self.codes_of = kernel.function(
            "count_codes_of", _NUMBER, _POINTER, _POINTER, _NUMBER, _POINTER, _NUMBER
        )


_functions = functools.cache(_Functions)


def count_codes(codes: Places, counts: Places, rows: Places | None = None) -> None:
    """Count whole numbers, all or those of some rows, each in its place of a contiguous array."""
    kernel = compiled()
    if rows is not None and (kernel is None or codes.dtype != np.int64):
        codes, rows = codes.take(rows), None
    if kernel is None:
        if len(codes) * _FEW < len(counts):
            np.add.at(counts, codes, 1)
        else:
            counts += np.bincount(codes, minlength=len(counts))
        return
    own = np.ascontiguousarray(codes, dtype=np.int64)
    to = address_of(counts), len(counts)
    if rows is None:
        beyond = _functions(kernel).codes(address_of(own), len(own), *to)
    else:
        some = np.ascontiguousarray(rows, dtype=np.int64)
        beyond = _functions(kernel).codes_of(address_of(own), address_of(some), len(some), *to)
    if beyond:
        raise IndexError("a code has no place")
