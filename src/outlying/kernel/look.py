"""Exact looks at all rows by compiled code: a context by value, and what is near an object."""

from __future__ import annotations

import ctypes
import dataclasses
import functools
import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from outlying.kernel.library import Floats, Kernel, Marks, Places, Words, address_of

Codes: TypeAlias = npt.NDArray[np.int32]

_WORD = 64
_CELLS = 2  # for each value, to find values in
_MOST_CELLS = 1 << 17
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


class _Found(ctypes.Structure):
    """`struct members` of look.c."""

    _fields_ = (("rows", _NUMBER), ("known", _NUMBER), ("variance", _REAL))


class _Functions:
    """The functions of look.c."""

    def __init__(self, kernel: Kernel) -> None:
        get = kernel.function
        self.cells = get("look_cells", None, _POINTER, _POINTER)
        self.rows = get("look_rows", _NUMBER, *_CONDITIONS)
        self.lay_out = get("look_lay_out", None, _POINTER, _POINTER, _NUMBER, _POINTER)
        self.members = get(
            "look_members", None, _POINTER, *_CONDITIONS, _REAL, _POINTER, _POINTER, _POINTER
        )
        self.values = get("look_values", _NUMBER, _POINTER, _POINTER, _POINTER)
        self.around = get("look_around", _NUMBER, _POINTER, _POINTER, _NUMBER, _REAL)
        self.near = get(
            "look_near",
            _NUMBER,
            *(_POINTER, _POINTER, _POINTER, _NUMBER, _REAL, _REAL),
            *(_POINTER, _NUMBER, _REAL, _POINTER),
        )
        self.within = get("look_within", _NUMBER, _POINTER, _POINTER, _NUMBER, _REAL, _REAL)
        self.totals = get(
            "look_totals", None, _POINTER, _NUMBER, _REAL, _POINTER, _NUMBER, _POINTER
        )
        self.gather = get("look_gather", _NUMBER, _POINTER, _REAL, *_CONDITIONS, _POINTER)
        self.between = get("look_between", _NUMBER, _POINTER, _REAL, *_CONDITIONS, _REAL, _REAL)
        self.categories = get("look_categories", _NUMBER, _POINTER, *_CONDITIONS, _POINTER)


_functions = functools.cache(_Functions)


class Bits:
    """Rows as bits, in their order or in that of a column."""

    __slots__ = ("address", "nbytes", "rows", "words")

    def __init__(self, words: Words, rows: int) -> None:
        """Take bits, and how many of them are set."""
        self.words, self.rows = words, rows
        self.address, self.nbytes = address_of(words), words.nbytes

    @classmethod
    def of(cls, marks: Marks) -> Bits:
        """Mark rows, in their order."""
        packed = np.zeros(-(-len(marks) // _WORD) * 8, dtype=np.uint8)
        bits = np.packbits(marks, bitorder="little")
        packed[: len(bits)] = bits
        words = packed.view("<u8").astype(np.uint64, copy=False)
        return cls(words, int(np.count_nonzero(marks)))


class Conditions:
    """The conditions of a context, one at least, as exact looks read them."""

    __slots__ = ("_kept", "_kernel", "column", "given", "most")

    def __init__(
        self, kernel: Kernel, conditions: Sequence[Bits], column: WholeColumn | None = None
    ) -> None:
        """Take rows as bits, laid out by a column or in their own order."""
        number = len(conditions)
        addresses = (_POINTER * number)(*[some.address for some in conditions])
        self._kernel, self._kept, self.column = kernel, (conditions, addresses), column
        #: As arguments of functions.
        self.given = addresses, number, len(conditions[0].words)
        #: No more rows than these satisfy all.
        self.most = min([some.rows for some in conditions])

    def rows(self) -> int:
        """Count the rows that satisfy all."""
        return int(_functions(self._kernel).rows(*self.given))


@functools.cache
def _reals(numbers: tuple[float, ...]) -> Any:
    return (_REAL * len(numbers))(*numbers)


class Members:
    """The rows of a context that have a value: how many, their values, perhaps where they lie."""

    __slots__ = ("_bits", "_call", "_column", "_values", "known", "rows", "variance")

    def __init__(
        self,
        call: _Functions,
        found: tuple[int, int, float],
        values: Floats | None,
        column: WholeColumn | None = None,
        bits: Words | None = None,
    ) -> None:
        """Take all rows, the known ones and the variance; ascending values, or bits of a column."""
        self.rows, self.known, self.variance = found
        self._call, self._values, self._column, self._bits = call, values, column, bits

    @property
    def values(self) -> Floats:
        """Their values, ascending."""
        if self._values is None:
            assert self._column is not None  # noqa: S101 - there are values, or bits
            assert self._bits is not None  # noqa: S101
            self._values = np.empty(self.known)
            bits, values = address_of(self._bits), address_of(self._values)
            self._call.values(self._column.address, bits, values)
        return self._values

    def kept(self) -> Members:
        """Return what is worth keeping: values can be read again where there are bits."""
        if self._bits is None:
            return self
        found = self.rows, self.known, self.variance
        return Members(self._call, found, None, self._column, self._bits)

    @property
    def nbytes(self) -> int:
        """How much memory it takes."""
        return (self.values if self._bits is None else self._bits).nbytes

    def near(
        self, point: float, width: float, scales: tuple[float, ...], needed: float
    ) -> list[int]:
        """Count the members within some half widths of a point, as long as they may show a rarity.

        Beyond the first only while `needed` times as many are no more than all.
        """
        near = (_NUMBER * len(scales))()
        given = self.known, point, width, _reals(scales), len(scales), needed, near
        if self._column is None or self._bits is None:
            counted = self._call.near(None, None, address_of(self.values), *given)
        else:
            counted = self._call.near(self._column.address, address_of(self._bits), None, *given)
        return near[:counted]

    def totals(self, width: float, scales: tuple[float, ...]) -> list[int]:
        """Add up how many members are at most some half widths larger than each."""
        count, values = len(scales), address_of(self.values)
        totals = (_NUMBER * count)()
        self._call.totals(values, self.known, width, _reals(scales), count, totals)
        return totals[:]


def all_members(kernel: Kernel, values: Floats, rows: int | None = None) -> Members:
    """Return rows by their values, ascending: all that have one, of so many."""
    known = len(values)
    variance = kernel.variance(values) if known and values[0] != values[-1] else 0.0
    found = known if rows is None else rows, known, variance
    return Members(_functions(kernel), found, np.ascontiguousarray(values))


class WholeColumn:
    """A numeric column with all its rows."""

    def __init__(self, kernel: Kernel, values: Floats, order: Places, rows: int) -> None:
        """Take the known values, ascending, and which rows have them."""
        self._call, self.values = _functions(kernel), np.ascontiguousarray(values)
        known = len(values)
        self._places = np.full(rows, -1, dtype=np.int32)
        self._places[order] = np.arange(known, dtype=np.int32)
        self._places[self._places < 0] = np.arange(known, rows, dtype=np.int32)
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
        self.address = ctypes.addressof(self._struct)
        self._call.cells(self.address, address_of(self._starts))

    def laid_out(self, rows: Bits) -> Bits:
        """Lay rows out by value."""
        words = np.zeros(len(rows.words), dtype=np.uint64)
        self._call.lay_out(self.address, rows.address, len(words), address_of(words))
        return Bits(words, rows.rows)

    def members(self, context: Conditions, least: float = 0.0) -> Members:
        """Return the rows of a context whose conditions are laid out by value.

        Only their number is known where they are too few.
        """
        bits, values = np.empty(context.given[-1], dtype=np.uint64), np.empty(context.most)
        found = _Found()
        self._call.members(
            *(self.address, *context.given, least, address_of(bits), address_of(values)),
            ctypes.addressof(found),
        )
        figures = found.rows, found.known, found.variance
        return Members(self._call, figures, values[: found.known], self, bits)

    def between(self, context: Conditions, low: float, high: float) -> int:
        """Count the rows of a context, laid out by value, whose values lie between two others."""
        conditions, number, _ = context.given
        return int(self._call.within(self.address, conditions, number, low, high))

    def around(self, members: Members, reach: float) -> int:
        """Add up how many of all values lie within a distance of each of some members."""
        values = address_of(members.values)
        return int(self._call.around(self.address, values, members.known, reach))


class RawColumn:
    """A numeric column as it is, each value times a factor: for a few looks nothing is sorted."""

    def __init__(self, kernel: Kernel, values: Floats, factor: float) -> None:
        self._kernel, self._call = kernel, _functions(kernel)
        self._values = np.ascontiguousarray(values)
        self._given = address_of(self._values), factor

    def members(self, context: Conditions, least: float = 0.0) -> Members:
        """Return the rows of a context; but for their number nothing where they are too few."""
        rows = context.rows()
        if rows < least:
            return Members(self._call, (rows, 0, 0.0), np.empty(0))
        room = np.empty(rows + 1)
        values = room[: self._call.gather(*self._given, *context.given, address_of(room))]
        values.sort()
        return all_members(self._kernel, values, rows)

    def between(self, context: Conditions, low: float, high: float) -> int:
        """Count the rows of a context whose values lie between two others."""
        return int(self._call.between(*self._given, *context.given, low, high))


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class CountedMembers:
    """The rows of a context, and how many of them each category has."""

    rows: int
    counts: npt.NDArray[np.int64]

    def kept(self) -> CountedMembers:
        """Return what is worth keeping: all of it."""
        return self

    @property
    def nbytes(self) -> int:
        """How much memory it takes."""
        return self.counts.nbytes


def counted_codes(
    kernel: Kernel, codes: Codes, categories: int, context: Conditions
) -> CountedMembers:
    """Count the rows of a context by category."""
    counts = np.zeros(categories, dtype=np.int64)
    given = address_of(codes), *context.given, address_of(counts)
    return CountedMembers(_functions(kernel).categories(*given), counts)
