"""The compiled kernel as Python sees it: a shared library, chosen for this processor, by ctypes.

While it computes, other threads run. Arrays are passed as they lie in memory; who calls sees to
their types.
"""

from __future__ import annotations

import ctypes
import functools
import os
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from outlying.errors import OptionError
from outlying.kernel.build import GENERIC, LEVELS, fault_of, identity, path_of

Floats: TypeAlias = npt.NDArray[np.float64]
Places: TypeAlias = npt.NDArray[np.int64]

VARIABLE = "OUTLYING_KERNEL"


class Shared(ctypes.Structure):
    """A struct that C knows, too, as ctypes lays it out.

    A new one is a subclass and a line SHARED(its name) in C: with that, a build in which it has
    another size is not loaded.
    """

    c_name: ClassVar[str]


class UnfitBuildError(Exception):
    """A build that must not be called: another version, damaged, or for another system."""


def _open(path: Path) -> ctypes.CDLL:
    """Load a build if its bytes, its version and the sizes of its structs are the right ones."""
    fault = fault_of(path)  # to load half a file may end the process
    if fault is not None:
        raise UnfitBuildError(fault)
    try:
        found = ctypes.CDLL(str(path))
        own = identity().encode()
        if ctypes.string_at(ctypes.addressof(ctypes.c_char.in_dll(found, "identity"))) != own:
            raise UnfitBuildError("it was made of other code than this")
        for struct in Shared.__subclasses__():
            size = ctypes.c_int64.in_dll(found, f"size_of_{struct.c_name}").value
            if size != ctypes.sizeof(struct):
                raise UnfitBuildError(f"its struct {struct.c_name} has another size")
    except OSError:
        raise UnfitBuildError("it was made for another system") from None
    except ValueError as error:  # a symbol that is not there
        raise UnfitBuildError(f"it lacks a symbol: {error}") from None
    return found


class Kernel:
    """The functions of a build."""

    def __init__(self, name: str, path: Path) -> None:
        self.name, self._library = name, _open(path)

    def __call__(self, name: str, *given: Any, result: Any = ctypes.c_int64) -> Any:
        """Call a function with what it takes: arrays, whole numbers, reals, structs.

        An array that it writes to must be contiguous; others are made so.
        """
        held: list[npt.NDArray[Any]] = []
        arguments: list[Any] = []
        for value in given:
            if isinstance(value, np.ndarray):
                held.append(np.ascontiguousarray(value))  # until the call has ended
                arguments.append(ctypes.c_void_p(address_of(held[-1])))
            elif isinstance(value, Shared):
                arguments.append(ctypes.byref(value))
            else:
                kind = ctypes.c_double if isinstance(value, float) else ctypes.c_int64
                arguments.append(kind(value))
        function = getattr(self._library, name)
        function.restype = result
        return function(*arguments)

    def level(self) -> int:
        """Return the level of x86-64 of this processor; 0 for others."""
        return int(self._library.kernel_level())


def address_of(array: npt.NDArray[Any]) -> int:
    """Return where an array lies in memory."""
    return int(array.__array_interface__["data"][0])


def compiled() -> Kernel | None:
    """Return the compiled kernel; None where there is none that fits, or it is not wanted."""
    wanted = os.environ.get(VARIABLE, "")
    return None if wanted == "numpy" else _loaded(wanted)


def _loaded(wanted: str) -> Kernel | None:
    return _choice(wanted)[0]


@functools.cache
def _choice(wanted: str) -> tuple[Kernel | None, str]:
    """Return the build that is wanted, if there is one that fits; or why not."""
    try:
        found = _best() if wanted in ("", "compiled") else _at(wanted)
        fault = ""
    except UnfitBuildError as error:
        found, fault = None, str(error)
    if found is None and wanted:
        reason = f"that build is not used: {fault}" if fault else "there is no such build"
        raise OptionError(
            f"{VARIABLE} is {wanted!r}, and {reason}; allowed: "
            "'numpy', or after `python -m outlying.kernel` with a C compiler 'compiled', "
            f"{', '.join(map(repr, LEVELS))} or {GENERIC!r}"
        )
    return found, fault


def _best() -> Kernel | None:
    """Return the best build that this processor can run."""
    least = _at(min(LEVELS))
    if least is None:
        return _at(GENERIC)
    able = (name for name in reversed(LEVELS) if LEVELS[name] <= least.level())
    return next(filter(None, map(_at, able)), None)


def _at(name: str) -> Kernel | None:
    path = path_of(name)
    return Kernel(name, path) if path.exists() else None


def describe_kernel() -> str:
    """Say which kernel is used, and why it is not a compiled one that is there."""
    found = compiled()
    if found is not None:
        return f"kernel: compiled ({found.name})"
    fault = "" if os.environ.get(VARIABLE) else _choice("")[1]
    if fault:
        return (
            f"kernel: NumPy; the compiled one is not used: {fault}; "
            "`python -m outlying.kernel` makes it anew"
        )
    return "kernel: NumPy; a C compiler at installation makes it several times faster"
