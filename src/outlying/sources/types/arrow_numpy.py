"""Arrow arrays of NumPy's and the other way round, as they lie in memory.

The library's own ways do the same, but import pandas first, which takes longer than many a scan.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from outlying.table.columns import Mask
from outlying.table.values import Form

if TYPE_CHECKING:
    import pyarrow


def of_numbers(values: npt.NDArray[Any], missing: Mask | None = None) -> pyarrow.Array:
    """Return numbers as an Arrow array, those that are missing as nulls."""
    import pyarrow as pa

    known = None if missing is None else pa.py_buffer(np.packbits(~missing, bitorder="little"))
    data = pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [known, data])


def of_mask(mask: Mask) -> pyarrow.Array:
    """Return a mask as an Arrow array of booleans."""
    import pyarrow as pa

    bits = pa.py_buffer(np.packbits(mask, bitorder="little"))
    return pa.Array.from_buffers(pa.bool_(), len(mask), [None, bits])


def of_texts(texts: Sequence[str]) -> pyarrow.Array:
    """Return texts as an Arrow array."""
    import pyarrow as pa

    encoded = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(pa.large_string(), len(texts), buffers)


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


@dataclasses.dataclass(frozen=True, slots=True)
class Streamed:
    """The SQL that selects a column, and the form of its values."""

    sql: str
    form: Form
    may_overflow: bool = False
    """Whether whole numbers may be beyond the 64 bits that they are cast to."""

    def type(self, comes: pyarrow.DataType) -> pyarrow.DataType:
        """Return the Arrow type to make of the one that the engine sends."""
        import pyarrow

        if self.form == "duration":
            return pyarrow.duration("us")
        if self.form == "instant":
            return pyarrow.timestamp(comes.unit, "UTC")
        return comes
