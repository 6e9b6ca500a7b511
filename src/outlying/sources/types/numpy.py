"""What NumPy's types become: numbers, categories, moments, or nothing that can be compared."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from outlying.sources.columns import (
    Reading,
    read_form,
    read_integers,
    read_labels,
    read_reals,
    skip,
)
from outlying.table.columns import Floats, Mask
from outlying.table.values import Form

_UNUSABLE = {"S": "bytes", "c": "complex numbers", "V": "records"}
_MICROSECONDS = {
    "W": 604_800_000_000,
    "D": 86_400_000_000,
    "h": 3_600_000_000,
    "m": 60_000_000,
    "s": 1_000_000,
    "ms": 1_000,
    "us": 1,
}
_PARTS_OF_A_MICROSECOND = {"ns": 10**3, "ps": 10**6, "fs": 10**9, "as": 10**12}


def read_array(name: str, values: npt.NDArray[Any], missing: Mask | None = None) -> Reading:
    """Read a one-dimensional array by its dtype; object arrays are for `read_objects`."""
    kind = values.dtype.kind
    if kind == "b":
        return read_labels(name, values.tolist(), missing, "boolean")
    if kind in "iu":
        return read_integers(name, values, missing)
    if kind == "f":
        return read_reals(name, values, missing)
    if kind in "UT":
        return read_labels(name, values.tolist(), missing)
    if kind in "Mm":
        return _read_times(name, values, missing)
    return skip(name, _UNUSABLE.get(kind, f"values of type {values.dtype}"))


def read_moments(
    name: str, form: Form, values: npt.NDArray[Any], missing: Mask | None = None
) -> Reading:
    """Read NumPy times or durations of any resolution."""
    return read_form(name, form, microseconds(values), missing)


def microseconds(values: npt.NDArray[Any]) -> Floats:
    """Count microseconds in NumPy times or durations, the started one left out; NaT is NaN."""
    unit, step = np.datetime_data(values.dtype)
    if unit in ("Y", "M"):
        values, unit, step = values.astype("datetime64[D]"), "D", 1
    counts = values.view(np.int64)
    if unit in _PARTS_OF_A_MICROSECOND:
        numbers = (counts * step // _PARTS_OF_A_MICROSECOND[unit]).astype(np.float64)
    else:  # as floating point: seconds of far years do not fit as whole microseconds
        numbers = counts.astype(np.float64)
        numbers *= step * _MICROSECONDS.get(unit, 1)
    numbers[np.isnat(values)] = np.nan
    return numbers


def form_of_moments(dtype: np.dtype[Any]) -> Form:
    """Return the form of NumPy's datetime64 in this resolution."""
    return "date" if np.datetime_data(dtype)[0] in ("Y", "M", "W", "D") else "datetime"


def _read_times(name: str, values: npt.NDArray[Any], missing: Mask | None) -> Reading:
    if values.dtype.kind == "M":
        return read_moments(name, form_of_moments(values.dtype), values, missing)
    if np.datetime_data(values.dtype)[0] in ("Y", "M"):
        return skip(name, "durations in months or years")
    return read_moments(name, "duration", values, missing)
