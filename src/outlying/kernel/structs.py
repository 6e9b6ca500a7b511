"""The structs that Python and compiled code share, as ctypes lays them out.

A new one is a class here and a line SHARED(its name) in C: with that, a build in which it has
another size is not loaded.
"""

from __future__ import annotations

import ctypes
from typing import ClassVar


class Shared(ctypes.Structure):
    """A struct that C knows, too."""

    c_name: ClassVar[str]


class TallyStruct(Shared):
    """`struct tally` of tally.c."""

    c_name = "tally"
    _fields_ = (
        *((name, ctypes.c_int64) for name in ("words", "bins", "windows", "known", "least")),
        ("with_empty", ctypes.c_int64),
        ("alike", ctypes.c_int64),
        ("rarity", ctypes.c_double),
        ("bar", ctypes.c_double),
        *((name, ctypes.c_void_p) for name in ("starts", "low", "high", "mass")),
        ("bases", ctypes.c_void_p),
        ("conditions", ctypes.c_void_p),
        ("room", ctypes.c_int64),
    )


class AroundStruct(Shared):
    """`struct around` of tally.c."""

    c_name = "around"
    arrays = (
        *("low", "high", "is_own", "skipped", "own", "codes"),
        *("offsets", "first", "listed", "from_", "to"),
    )
    _fields_ = (
        *((name, ctypes.c_int64) for name in ("rows", "size", "attributes", "least")),
        ("concentration", ctypes.c_double),
        *((name, ctypes.c_void_p) for name in arrays),
    )
