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
        self.gather = get("look_gather", _NUMBER, _POINTER, _REAL, *_CONDITIONS, _POINTER)
        self.between = get("look_between", _NUMBER, _POINTER, _REAL, *_CONDITIONS, _REAL, _REAL)
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
    """The rows of a context that have a value: their values, ascending, and perhaps their bits."""

    __slots__ = ("_bits", "_call", "_column", "_kept", "address", "values")

    def __init__(
        self,
        call: _Functions,
        values: Floats,
        kept: object,
        column: int | None = None,
        bits: int | None = None,
    ) -> None:
        """Take what to keep, and where bits are, with the column that they are laid out for."""
        self._call, self.values, self._kept = call, values, kept
        self._column, self._bits, self.address = column, bits, address_of(values)

    def near(
        self, point: float, width: float, scales: Sequence[float], needed: float, have: int
    ) -> tuple[list[int], list[int]]:
        """Count the members within some half widths of a point, as long as they may show a rarity.

        Beyond the first only while `needed` times as many are no more than all. From the place
        `have` on, it is also added up how many members are at most so much larger than each.
        """
        count = len(scales)
        factors, near, totals = (_REAL * count)(*scales), (_NUMBER * count)(), (_NUMBER * count)()
        counted = self._call.near(
            *(self._column, self._bits, self.address, len(self.values), point, width),
            *(factors, count, needed, have, near, totals),
        )
        return near[:counted], totals[have:counted]


def all_members(kernel: Kernel, values: Floats) -> Members:
    """Return all rows of a column, by their values, ascending."""
    return Members(_functions(kernel), values, values)


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

    def members(self, context: Conditions) -> Members:
        """Return the rows of a context."""
        begin = len(self.values) // _WORD + 1
        room = np.empty(begin + context.rows)  # first the bits
        address = address_of(room)
        known = self._call.values(
            self._address, *context.given, address, address + begin * room.itemsize
        )
        values = room[begin : begin + known]
        return Members(self._call, values, (self, room), self._address, address)

    def around(self, members: Members, reach: float) -> int:
        """Add up how many of all values lie within a distance of each of some members."""
        found = self._call.around(self._address, members.address, len(members.values), reach)
        return int(found)


class RawColumn:
    """A numeric column as it is, each value times a factor: for a few looks nothing is sorted."""

    def __init__(self, kernel: Kernel, values: Floats, factor: float) -> None:
        self._call, self._values = _functions(kernel), np.ascontiguousarray(values)
        self._given = address_of(self._values), factor

    def members(self, context: Conditions) -> Members:
        """Return the rows of a context."""
        room = np.empty(context.rows + 1)
        values = room[: self._call.gather(*self._given, *context.given, address_of(room))]
        values.sort()
        return Members(self._call, values, room)

    def between(self, context: Conditions, low: float, high: float) -> int:
        """Count the rows of a context whose values lie between two others."""
        return int(self._call.between(*self._given, *context.given, low, high))


def counted_codes(
    kernel: Kernel, codes: Codes, categories: int, context: Conditions
) -> npt.NDArray[np.int64]:
    """Count the rows of a context by category."""
    counts = np.zeros(categories, dtype=np.int64)
    _functions(kernel).categories(address_of(codes), *context.given, address_of(counts))
    return counts
