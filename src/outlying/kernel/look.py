"""Exact looks at all rows by compiled code: rows of a context by value, and those near an object."""

from __future__ import annotations

import ctypes
import functools
import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from outlying.kernel.library import Floats, Kernel, Marks, Places, Words, address_of

Codes: TypeAlias = npt.NDArray[np.int32]

_WORD = 64
_CELLS = 2  # for each value, to find values in
_MOST_CELLS = 1 << 18
_NUMBER, _REAL, _POINTER = ctypes.c_int64, ctypes.c_double, ctypes.c_void_p
_CONDITIONS = (_POINTER, _NUMBER, _NUMBER)


class _Column(ctypes.Structure):
    """`struct column` of look.c."""

    _fields_ = (
        ("known", _NUMBER),
        ("values", _POINTER),
        ("places", _POINTER),
        ("cells", _NUMBER),
        ("cells_from", _REAL),
        ("cells_each", _REAL),
        ("cell_starts", _POINTER),
    )


class _Functions:
    """The functions of look.c."""

    def __init__(self, kernel: Kernel) -> None:
        get = kernel.function
        self.cells = get("look_cells", None, _POINTER, _POINTER)
        self.rows = get("look_rows", _NUMBER, *_CONDITIONS)
        self.values = get("look_values", _NUMBER, _POINTER, *_CONDITIONS, _POINTER, _POINTER)
        self.around = get("look_around", _NUMBER, _POINTER, _POINTER, _NUMBER, _REAL)
        self.near = get(
            "look_near",
            _NUMBER,
            *(_POINTER, _POINTER, _NUMBER, _REAL),
            *(_POINTER, _NUMBER, _REAL, _POINTER),
        )
        self.near_rows = get("look_near_rows", _NUMBER, _POINTER, *_CONDITIONS, _REAL, _REAL)
        self.categories = get("look_categories", _NUMBER, _POINTER, *_CONDITIONS, _POINTER)


_functions = functools.cache(_Functions)


def as_words(marks: Marks) -> Words:
    """Return rows as bits, in their order."""
    packed = np.zeros(-(-len(marks) // _WORD) * 8, dtype=np.uint8)
    bits = np.packbits(marks, bitorder="little")
    packed[: len(bits)] = bits
    return packed.view("<u8").astype(np.uint64, copy=False)


class Conditions:
    """The conditions of a context, one at least, as exact looks read them."""

    def __init__(self, kernel: Kernel, words: Sequence[Words]) -> None:
        self._kept = words
        self._addresses = np.array([address_of(some) for some in words], dtype=np.uint64)
        #: As arguments of functions.
        self.given = address_of(self._addresses), len(words), len(words[0])
        self.rows = int(_functions(kernel).rows(*self.given))


class Members:
    """The rows of a context that have a value: their values, ascending, and their bits."""

    __slots__ = ("bits", "values")

    def __init__(self, values: Floats, bits: Words | None) -> None:
        """Take no bits where the rows are all that there are."""
        self.values, self.bits = values, bits


class WholeColumn:
    """A numeric column with all its rows."""

    def __init__(self, kernel: Kernel, values: Floats, order: Places, rows: int) -> None:
        """Take the known values, ascending, and which rows have them."""
        self._call, self.values = _functions(kernel), np.ascontiguousarray(values)
        known = len(values)
        self._places = np.full(-(-rows // _WORD) * _WORD, known, dtype=np.int32)
        self._places[order] = np.arange(known, dtype=np.int32)
        cells = min(max(1, _CELLS * known), _MOST_CELLS)
        spread = float(values[-1] - values[0]) if known else 0.0
        each = cells / spread if spread > 0 else 0.0
        self._starts = np.empty(cells + 1, dtype=np.int32)
        self._struct = _Column(
            known=known,
            values=address_of(self.values),
            places=address_of(self._places),
            cells=cells,
            cells_from=float(values[0]) if known else 0.0,
            cells_each=each if math.isfinite(each) else 0.0,
            cell_starts=address_of(self._starts),
        )
        self._address = ctypes.addressof(self._struct)
        self._call.cells(self._address, address_of(self._starts))

    def members(self, context: Conditions | None) -> Members:
        """Return the rows of a context, or all."""
        if context is None:
            return Members(self.values, None)
        values = np.empty(context.rows)
        bits = np.empty(len(self.values) // _WORD + 1, dtype=np.uint64)
        known = self._call.values(
            self._address, *context.given, address_of(bits), address_of(values)
        )
        return Members(values[:known], bits)

    def around(self, values: Floats, reach: float) -> int:
        """Add up how many of all values lie within a distance of each of some ascending ones."""
        return int(self._call.around(self._address, address_of(values), len(values), reach))

    def near(
        self, members: Members, point: float, reaches: Sequence[float], needed: float
    ) -> list[int]:
        """Count the members within distances of a point, as long as they may show a rarity.

        Beyond the first only while `needed` times as many are no more than all.
        """
        distances, near = np.array(reaches), np.empty(len(reaches), dtype=np.int64)
        counted = self._call.near(
            *(self._address, None if members.bits is None else address_of(members.bits)),
            *(len(members.values), point, address_of(distances), len(distances), needed),
            address_of(near),
        )
        return [int(rows) for rows in near[:counted]]

    def rows_near(self, context: Conditions | None, point: float, reach: float) -> int:
        """Count the rows of a context, or all, within a distance of a point."""
        if context is None:
            return self.near(self.members(None), point, [reach], 0.0)[0]
        return int(self._call.near_rows(self._address, *context.given, point, reach))


def counted_codes(
    kernel: Kernel, codes: Codes, categories: int, context: Conditions
) -> npt.NDArray[np.int64]:
    """Count the rows of a context by category."""
    counts = np.zeros(categories, dtype=np.int64)
    _functions(kernel).categories(address_of(codes), *context.given, address_of(counts))
    return counts
