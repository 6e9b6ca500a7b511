"""Arrow arrays of NumPy's and the other way round, as they lie in memory.

The library's own ways do the same, but import pandas first, which takes longer than many a scan.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from outlying.table.columns import Floats, Mask

if TYPE_CHECKING:
    import pyarrow

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


def of_numbers(values: npt.NDArray[Any], missing: Mask | None = None) -> pyarrow.Array:
    """Return numbers as an Arrow array, those that are missing as nulls."""
    import pyarrow as pa

    known = None if missing is None else _bits(~missing)
    data = pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [known, data])


def of_mask(mask: Mask, missing: Mask | None = None) -> pyarrow.Array:
    """Return a mask as an Arrow array of booleans, some of which may be missing."""
    import pyarrow as pa

    known = None if missing is None else _bits(~missing)
    return pa.Array.from_buffers(pa.bool_(), len(mask), [known, _bits(mask)])


def of_texts(texts: Sequence[str | None]) -> pyarrow.Array:
    """Return texts as an Arrow array; None is missing.

    Halves of characters, which Python's texts may hold and UTF-8 may not, are written all the
    same: `labels` reads them.
    """
    import pyarrow as pa

    pieces = [b"" if text is None else text.encode("utf-8", "surrogatepass") for text in texts]
    ends = np.cumsum([0, *map(len, pieces)], dtype=np.int64)
    known = _bits(np.fromiter((text is not None for text in texts), bool, len(texts)))
    buffers = [known, pa.py_buffer(ends), pa.py_buffer(b"".join(pieces))]
    return pa.Array.from_buffers(pa.large_string(), len(texts), buffers)


def _bits(mask: Mask) -> Any:
    import pyarrow as pa

    return pa.py_buffer(np.packbits(mask, bitorder="little"))


def labels(texts: Any) -> list[str | None]:
    """Return the texts of an Arrow array as Python's."""
    import pyarrow as pa

    try:
        found: list[str | None] = texts.to_pylist()
    except UnicodeDecodeError:
        pieces = texts.cast(pa.large_string()).view(pa.large_binary()).to_pylist()
        found = [None if x is None else x.decode("utf-8", "surrogatepass") for x in pieces]
    return found


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


def held(array: Any) -> npt.NDArray[Any]:
    """Return the numbers of an Arrow array, which are anything where one is missing."""
    if array.buffers()[1] is None:
        return np.zeros(len(array), dtype=array.type.to_pandas_dtype())
    values = np.frombuffer(array.buffers()[1], dtype=array.type.to_pandas_dtype())
    return values[array.offset : array.offset + len(array)]


def gaps(array: Any) -> Mask | None:
    """Mark what is missing in an Arrow array; None: nothing is."""
    if array.null_count == 0:
        return None
    bits = np.frombuffer(array.buffers()[0], dtype=np.uint8)
    known = np.unpackbits(bits, count=array.offset + len(array), bitorder="little")
    return np.asarray(known[array.offset :] == 0)


def filled(array: Any, value: float) -> npt.NDArray[Any]:
    """Return the numbers of an Arrow array, with this one in place of missing ones."""
    missing = gaps(array)
    return (
        held(array)
        if missing is None
        else np.where(missing, held(array).dtype.type(value), held(array))
    )
