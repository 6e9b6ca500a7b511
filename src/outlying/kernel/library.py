"""The compiled screen as Python sees it: a shared library, chosen for this processor, by ctypes.

While it computes, other threads run. Arrays are passed as they lie in memory; who calls sees to
their types.
"""

from __future__ import annotations

import ctypes
import functools
import math
import os
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from outlying.errors import OptionError
from outlying.kernel.build import GENERIC, LEVELS, path_of

Floats: TypeAlias = npt.NDArray[np.float64]
Words: TypeAlias = npt.NDArray[np.uint64]
Places: TypeAlias = npt.NDArray[np.int64]
Contexts: TypeAlias = npt.NDArray[np.int32]
Marks: TypeAlias = npt.NDArray[np.bool_]

VARIABLE = "OUTLYING_SCREEN"

_FIGURES, _FOUND = 6, 8
_LISTED = 3  # places for the conditions of a listed context
_LANES = 8
_CELLS = 4  # for each row nearby, to find values in
#: So many conditions, and scales, fit into what is found in a context.
MOST_CONDITIONS = 16
_FLAGS = ("kind", "words", "groups", "padded", "is_plain", "is_whole", "distances_count")
_ARRAYS = ("means", "squares", "sizes", "lows", "highs", "distances", "widths", "codes")
_BY_GROUP = ("means", "squares", "sizes", "lows", "highs")
_KINDS = ("ladder", "distinct", "categories")
_BATCH_ARRAYS = (
    *(
        "words",
        "near_words",
        "row_words",
        "attribute_of",
        "least_rows",
        "discounts",
        "context",
        "has",
        "first",
    ),
    *("object_of", "values", "bars", "levels", "own", "own_conditions", "own_places", "screened"),
)
_POOL_ARRAYS = ("row_words", "attribute_of", "least_rows", "has", "own", "own_conditions", "levels")


class _Property(ctypes.Structure):
    """`struct property` of screen.c."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in _FLAGS),
        ("share", ctypes.c_double),
        ("total", ctypes.c_double),
        ("group_of_word", ctypes.c_void_p),
        *((name, ctypes.c_void_p) for name in _ARRAYS),
        ("made", ctypes.c_void_p),
        ("ladder", ctypes.c_void_p),
        ("rung_bytes", ctypes.c_int64),
        ("near_count", ctypes.c_int64),
        ("near_words", ctypes.c_int64),
        ("near_values", ctypes.c_void_p),
        ("slots", ctypes.c_void_p),
        ("cells", ctypes.c_int64),
        ("cells_from", ctypes.c_double),
        ("cells_each", ctypes.c_double),
        ("cell_starts", ctypes.c_void_p),
    )


class _Batch(ctypes.Structure):
    """`struct batch` of search.c."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in ("objects", "conditions", "contexts", "length")),
        *((name, ctypes.c_int64) for name in ("most", "beam", "strongest", "scales", "attribute")),
        ("row_stride", ctypes.c_int64),
        ("object_words", ctypes.c_int64),
        ("is_quick", ctypes.c_int64),
        *((name, ctypes.c_double) for name in ("close", "needed", "share_near")),
        *((name, ctypes.c_void_p) for name in _BATCH_ARRAYS),
    )


class _Results(ctypes.Structure):
    """`struct results` of search.c."""

    _fields_ = (
        ("count", ctypes.c_int64),
        ("room", ctypes.c_int64),
        ("figures", ctypes.POINTER(ctypes.c_double)),
        ("contexts", ctypes.POINTER(ctypes.c_int32)),
    )


class _Pool(ctypes.Structure):
    """`struct pool` of contexts.c."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in ("conditions", "objects", "most", "most_triples")),
        ("row_stride", ctypes.c_int64),
        ("object_words", ctypes.c_int64),
        *((name, ctypes.c_void_p) for name in _POOL_ARRAYS),
    )


class _Listed(ctypes.Structure):
    """`struct listed` of contexts.c."""

    _fields_ = (
        ("count", ctypes.c_int64),
        ("room", ctypes.c_int64),
        ("contexts", ctypes.POINTER(ctypes.c_int32)),
    )


class Property:
    """A property in groups as the kernel reads it; it fills the rungs of the ladder itself."""

    def __init__(
        self,
        kind: str,
        group_of_word: Places,
        groups: int,
        *,
        is_whole: bool,
        share: float,
        total: float,
        near_values: Floats,
        near_words: int,
        slots: Places | None = None,
        rungs: int = 0,
        **arrays: Floats,
    ) -> None:
        """Take arrays by their names in screen.h; rows without a value are of no group."""
        padded = -(-groups // _LANES) * _LANES
        is_plain = np.array_equal(group_of_word, np.arange(groups))
        rung_bytes = padded * (2 * (padded + 2) + 2 * 8) + padded  # see `struct rung`
        self._kept: dict[str, npt.NDArray[Any]] = {
            "group_of_word": group_of_word.astype(np.int32),
            "made": np.zeros(rungs, dtype=np.uint8),
            "ladder": np.zeros(rungs * rung_bytes, dtype=np.uint8),  # what is not used takes none
            "near_values": np.ascontiguousarray(near_values),
        }
        cells_from, cells_each, self._kept["cell_starts"] = _cells(near_values)
        if slots is not None:
            self._kept["slots"] = np.ascontiguousarray(slots)
        for name in _ARRAYS:
            numbers = arrays.get(name, np.zeros(0))
            more = max(0, padded - len(numbers)) if name in _BY_GROUP else 0
            self._kept[name] = np.append(numbers, np.zeros(more)).astype(np.float64)
        flags = dict.fromkeys(_FLAGS, 0) | {
            "kind": _KINDS.index(kind),
            "words": len(group_of_word),
            "groups": groups,
            "padded": padded,
            "is_plain": int(is_plain),
            "is_whole": int(is_whole),
            "distances_count": len(self._kept["distances"]),
            "near_count": len(near_values),
            "near_words": near_words,
            "cells": len(self._kept["cell_starts"]) - 1,
        }
        self.words = len(group_of_word)
        self._struct = _Property(
            **flags,
            share=share,
            total=total,
            cells_from=cells_from,
            cells_each=cells_each,
            rung_bytes=rung_bytes,
            **{name: address_of(array) for name, array in self._kept.items()},
        )
        self.address = ctypes.addressof(self._struct)


class Kernel:
    """The functions of a build."""

    def __init__(self, name: str, path: Path) -> None:
        self.name, self._library = name, ctypes.CDLL(str(path))
        number, pointer = ctypes.c_int64, ctypes.c_void_p
        contexts = (pointer, number, number)
        self._figures = self._library.screen_figures
        self._figures.argtypes = (pointer, pointer, number, *contexts, pointer)
        self._inside = self._library.screen_inside
        self._inside.argtypes = (pointer, pointer, number, *contexts, pointer, pointer)
        self._rows = self._library.screen_rows
        self._rows.argtypes = (pointer, number, number, *contexts, pointer)
        self._places = self._library.sweep_places
        self._places.argtypes = (pointer, number, pointer, number, number, pointer)
        self._places.restype = None
        self._total = self._library.sweep_total
        self._total.argtypes = (pointer, number, ctypes.c_double)
        self._total.restype = number
        self._around = self._library.sweep_around
        self._around.argtypes = (pointer, number, pointer, ctypes.c_double, pointer, pointer)
        self._around.restype = None
        self._variance = self._library.sweep_variance
        self._variance.argtypes = (pointer, number)
        self._variance.restype = ctypes.c_double
        self._cells = self._library.sweep_cells
        self._cells.argtypes = (pointer, number, number, pointer)
        self._cells.restype = None
        self._taken = self._library.sweep_taken
        self._taken.argtypes = (pointer, pointer, number, pointer, pointer)
        self._taken.restype = number
        self._list = self._library.contexts_list
        self._list.argtypes = (pointer, pointer)
        self._free_list = self._library.contexts_free
        self._free_list.argtypes = (pointer,)
        self._free_list.restype = None
        self._search = self._library.search_property
        self._search.argtypes = (pointer, pointer, pointer)
        self._free = self._library.search_free
        self._free.argtypes = (pointer,)

    def function(self, name: str, result: Any, *arguments: Any) -> Any:
        """Return a function of the library, given its types."""
        found = self._library[name]
        found.restype, found.argtypes = result, arguments
        return found

    def level(self) -> int:
        """Return the level of x86-64 of this processor; 0 for others."""
        return int(self._library.screen_level())

    def figures(self, found: Property, words: Words, contexts: Places) -> Floats:
        """Return what is typical in contexts, one row for each kind of figure."""
        contexts = np.ascontiguousarray(contexts)
        figures = np.empty((_FIGURES, len(contexts)))
        _check(
            self._figures(
                found.address,
                *(address_of(words), len(words)),
                *(address_of(contexts), *contexts.shape),
                address_of(figures),
            )
        )
        return figures

    def inside(self, found: Property, words: Words, contexts: Places, widths: Floats) -> Floats:
        """Return the rows of contexts near a typical member, within windows of these widths."""
        contexts, widths = np.ascontiguousarray(contexts), np.ascontiguousarray(widths)
        inside = np.empty(len(contexts))
        _check(
            self._inside(
                found.address,
                *(address_of(words), len(words)),
                *(address_of(contexts), *contexts.shape),
                *(address_of(widths), address_of(inside)),
            )
        )
        return inside

    def rows(self, words: Words, contexts: Places) -> Places:
        """Count the rows of contexts."""
        contexts = np.ascontiguousarray(contexts)
        rows = np.empty(len(contexts), dtype=np.int64)
        _check(
            self._rows(
                *(address_of(words), words.shape[1], len(words)),
                *(address_of(contexts), *contexts.shape),
                address_of(rows),
            )
        )
        return rows

    def places(self, values: Floats, points: Floats, *, is_right: bool) -> Places:
        """Count the values below each of ascending points, or up to it."""
        values, points = np.ascontiguousarray(values), np.ascontiguousarray(points)
        places = np.empty(len(points), dtype=np.int64)
        self._places(
            *(address_of(values), len(values), address_of(points), len(points)),
            *(int(is_right), address_of(places)),
        )
        return places

    def total(self, values: Floats, reach: float) -> int:
        """Add up, for each of ascending values, how many are at most so much larger."""
        values = np.ascontiguousarray(values)
        return int(self._total(address_of(values), len(values), reach))

    def around(self, values: Floats, before: Places, reach: float) -> Places:
        """Count the rows around each of ascending values, given those before each, and all."""
        values, before = np.ascontiguousarray(values), np.ascontiguousarray(before)
        ended, around = np.zeros(len(values) + 1, np.int64), np.empty(len(values), np.int64)
        own = address_of(values), len(values), address_of(before)
        self._around(*own, reach, address_of(ended), address_of(around))
        return around

    def variance(self, values: Floats) -> float:
        """Return the variance of ascending values, not all equal, in units of their spread."""
        values = np.ascontiguousarray(values)
        return float(self._variance(address_of(values), len(values)))

    def cells(self, values: Floats, number: int) -> Contexts:
        """Find where cells of equal width begin among ascending values, not all equal."""
        starts = np.empty(number + 1, dtype=np.int32)
        self._cells(address_of(values), len(values), number, address_of(starts))
        return starts

    def taken(self, values: Floats, rows: Places, marks: Marks) -> Floats:
        """Return the values of marked rows."""
        taken = np.empty(len(values) + 1)
        own = address_of(values), address_of(rows), len(values)
        return taken[: self._taken(*own, address_of(marks), address_of(taken))].copy()

    def contexts(self, arrays: dict[str, npt.NDArray[Any]], **numbers: int) -> Contexts:
        """List the short contexts of objects, by the names of `struct pool`; fill in the levels."""
        own = {name: address_of(arrays[name]) for name in _POOL_ARRAYS}
        pool, listed = _Pool(**numbers, **own), _Listed()
        done = self._list(ctypes.addressof(pool), ctypes.addressof(listed))
        try:
            _check(done)
            return np.ctypeslib.as_array(listed.contexts, (listed.count, _LISTED)).copy()
        finally:
            self._free_list(ctypes.addressof(listed))

    def search(
        self, found: Property, most: int, arrays: dict[str, npt.NDArray[Any]], **numbers: float
    ) -> tuple[Floats, Contexts]:
        """Search a property for the objects of a batch, by the names of `struct batch`.

        Returned are figures (object, rows, known, inside, near, width, lift, scale), contexts of up
        to `most` conditions.
        """
        batch = _Batch(most=most, **numbers, **{k: address_of(v) for k, v in arrays.items()})
        results = _Results()
        done = self._search(found.address, ctypes.addressof(batch), ctypes.addressof(results))
        try:
            _check(done)
            count, width = results.count, max(1, most)
            if not count:
                return np.empty((0, _FOUND)), np.empty((0, width), dtype=np.int32)
            figures = np.ctypeslib.as_array(results.figures, (count, _FOUND)).copy()
            contexts = np.ctypeslib.as_array(results.contexts, (count, width)).copy()
            return figures, contexts
        finally:
            self._free(ctypes.addressof(results))


def _cells(values: Floats) -> tuple[float, float, npt.NDArray[np.int32]]:
    """Cut the range of ascending values into cells: the least, cells by unit, where they begin."""
    number = max(1, _CELLS * len(values))
    spread = float(values[-1] - values[0]) if len(values) else 0.0
    if not (spread > 0 and math.isfinite(number / spread)):
        return 0.0, 0.0, np.array([0, len(values)], dtype=np.int32)
    kernel, first, each = compiled(), float(values[0]), number / spread
    if kernel is not None:
        return first, each, kernel.cells(np.ascontiguousarray(values), number)
    begins = first + np.arange(1, number) * (spread / number)
    starts = np.searchsorted(values, begins)
    return first, each, np.concatenate([[0], starts, [len(values)]]).astype(np.int32)


def address_of(array: npt.NDArray[Any]) -> int:
    """Return where an array lies in memory."""
    return int(array.__array_interface__["data"][0])


def _check(is_done: int) -> None:
    if not is_done:
        raise MemoryError


def compiled() -> Kernel | None:
    """Return the compiled screen; None where there is none, or it is not wanted."""
    wanted = os.environ.get(VARIABLE, "")
    return None if wanted == "numpy" else _loaded(wanted)


@functools.cache
def _loaded(wanted: str) -> Kernel | None:
    found = _best() if wanted in ("", "compiled") else _at(wanted)
    if found is None and wanted:
        raise OptionError(
            f"{VARIABLE} is {wanted!r}, and there is no such build of the screen; allowed: "
            "'numpy', or after `python -m outlying.kernel` with a C compiler 'compiled', "
            f"{', '.join(map(repr, LEVELS))} or {GENERIC!r}"
        )
    return found


def _best() -> Kernel | None:
    """Return the best build that this processor can run."""
    least = _at(next(iter(LEVELS)))
    if least is None:
        return _at(GENERIC)
    level = least.level()
    able = (name for name in reversed(LEVELS) if LEVELS[name] <= level)
    return next(filter(None, map(_at, able)), None)


def _at(name: str) -> Kernel | None:
    path = path_of(name)
    try:
        return Kernel(name, path) if path.exists() else None
    except OSError:  # made for another system
        return None


def said() -> str:
    """Say which screen is used."""
    found = compiled()
    if found is None:
        return "screen: NumPy; a C compiler at installation makes it several times faster"
    return f"screen: compiled ({found.name})"
