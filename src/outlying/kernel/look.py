"""Exact looks at all rows by compiled code: a context by value, and what is near an object."""

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
            *(_POINTER, _POINTER, _POINTER, _NUMBER, _REAL, _REAL),
            *(_POINTER, _NUMBER, _REAL, _NUMBER, _POINTER, _POINTER),
        )
        self.near_rows = get("look_near_rows", _NUMBER, _POINTER, *_CONDITIONS, _REAL, _REAL)
        self.categories = get("look_categories", _NUMBER, _POINTER, *_CONDITIONS, _POINTER)


_functions = functools.cache(_Functions)


class Bits:
    """Rows as bits, in their order."""

    __slots__ = ("address", "nbytes", "words")

    def __init__(self, marks: Marks) -> None:
        packed = np.zeros(-(-len(marks) // _WORD) * 8, dtype=np.uint8)
        bits = np.packbits(marks, bitorder="little")
        packed[: len(bits)] = bits
        self.words: Words = packed.view("<u8").astype(np.uint64, copy=False)
        self.address, self.nbytes = address_of(self.words), self.words.nbytes


class Conditions:
    """The conditions of a context, one at least, as exact looks read them."""

    __slots__ = ("_kept", "given", "rows")

    def __init__(self, kernel: Kernel, conditions: Sequence[Bits]) -> None:
        number = len(conditions)
        addresses = (_POINTER * number)(*[some.address for some in conditions])
        self._kept = conditions, addresses
        #: As arguments of functions.
        self.given = addresses, number, len(conditions[0].words)
        self.rows: int = _functions(kernel).rows(*self.given)


class Members:
    """The rows of a context that have a value: their values, ascending, and their bits."""

    __slots__ = ("_kept", "address", "bits", "values")

    def __init__(self, values: Floats, kept: Floats, bits: int | None) -> None:
        """Take where their bits are; None where the rows are all that there are."""
        self.values, self._kept, self.bits = values, kept, bits
        self.address = address_of(values)


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
        self._all = Members(self.values, self.values, None)

    def members(self, context: Conditions | None) -> Members:
        """Return the rows of a context, or all."""
        if context is None:
            return self._all
        begin = len(self.values) // _WORD + 1
        room = np.empty(begin + context.rows)  # first the bits
        address = address_of(room)
        known = self._call.values(
            self._address, *context.given, address, address + begin * room.itemsize
        )
        return Members(room[begin : begin + known], room, address)

    def around(self, members: Members, reach: float) -> int:
        """Add up how many of all values lie within a distance of each of some members."""
        found = self._call.around(self._address, members.address, len(members.values), reach)
        return int(found)

    def near(
        self,
        members: Members,
        point: float,
        width: float,
        scales: Sequence[float],
        needed: float,
        have: int,
    ) -> tuple[list[int], list[int]]:
        """Count the members within some half widths of a point, as long as they may show a rarity.

        Beyond the first only while `needed` times as many are no more than all. From the place
        `have` on, it is also added up how many members are at most so much larger than each.
        """
        count = len(scales)
        factors, near, totals = (_REAL * count)(*scales), (_NUMBER * count)(), (_NUMBER * count)()
        counted = self._call.near(
            *(self._address, members.bits, members.address, len(members.values), point, width),
            *(factors, count, needed, have, near, totals),
        )
        return near[:counted], totals[have:counted]

    def rows_near(self, context: Conditions | None, point: float, width: float) -> int:
        """Count the rows of a context, or all, within half a width of a point."""
        if context is None:
            return self.near(self._all, point, width, [1.0], 0.0, 1)[0][0]
        return int(self._call.near_rows(self._address, *context.given, point, width / 2))


def counted_codes(
    kernel: Kernel, codes: Codes, categories: int, context: Conditions
) -> npt.NDArray[np.int64]:
    """Count the rows of a context by category."""
    counts = np.zeros(categories, dtype=np.int64)
    _functions(kernel).categories(address_of(codes), *context.given, address_of(counts))
    return counts
