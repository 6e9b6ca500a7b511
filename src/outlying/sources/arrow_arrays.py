"""Arrow arrays: made of NumPy's, what their types mean, and their cells: numbers or categories.

Arrays are taken as they lie in memory: the library's own ways import pandas first, which takes
longer than many a scan.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from outlying.parsing import pa
from outlying.table.columns import CategoricalColumn, Codes, Floats, Mask, Rows, frozen
from outlying.table.row_hash import Hashes, text_hashes
from outlying.table.values import DAY, EXPECTS, TIMES, Form, is_missing, label_text, value_of

_MICROSECONDS = {
    "W": 7 * DAY,
    "D": DAY,
    "h": 3_600_000_000,
    "m": 60_000_000,
    "s": 1_000_000,
    "ms": 1_000,
    "us": 1,
}
_PARTS_OF_A_MICROSECOND = {"ns": 10**3, "ps": 10**6, "fs": 10**9, "as": 10**12}


def of_numbers(values: npt.NDArray[Any], missing: Mask | None = None) -> pa.Array:
    """Return numbers as an Arrow array, those that are missing as nulls."""
    known = None if missing is None else _bits(~missing)
    data = pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [known, data])


def of_mask(mask: Mask, missing: Mask | None = None) -> pa.Array:
    """Return a mask as an Arrow array of booleans, some of which may be missing."""
    known = None if missing is None else _bits(~missing)
    return pa.Array.from_buffers(pa.bool_(), len(mask), [known, _bits(mask)])


def of_texts(texts: Sequence[str | None]) -> pa.Array:
    """Return texts as an Arrow array; None is missing. Halves of characters stay, for `labels`."""
    pieces = [b"" if text is None else text.encode("utf-8", "surrogatepass") for text in texts]
    ends = np.cumsum([0, *map(len, pieces)], dtype=np.int64)
    known = _bits(np.fromiter((text is not None for text in texts), bool, len(texts)))
    buffers = [known, pa.py_buffer(ends), pa.py_buffer(b"".join(pieces))]
    return pa.Array.from_buffers(pa.large_string(), len(texts), buffers)


def _bits(mask: Mask) -> Any:
    return pa.py_buffer(np.packbits(mask, bitorder="little"))


def labels(texts: Any) -> list[str | None]:
    """Return the texts of an Arrow array as Python's."""
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
    values, missing = held(array), gaps(array)
    return values if missing is None else np.where(missing, values.dtype.type(value), values)


Array: TypeAlias = "pa.Array | pa.ChunkedArray"

_NOT_A_TIME = np.iinfo(np.int64).min
_MOST_BYTES = 1 << 31  # that texts of Arrow's shorter type may have
_FEW = 64  # texts that are soon compared
_FIRST = 4096  # rows that tell whether nearly all texts differ, or whether all are used


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """Categories of some rows as codes into texts; -1 is missing. No text is without a row."""

    codes: Codes
    texts: Any  # an Arrow array of texts
    form: Form = "text"

    @property
    def labels(self) -> list[str] | list[bool]:
        """The labels that the texts stand for."""
        texts: list[Any] = labels(self.texts)
        return [text == "True" for text in texts] if self.form == "boolean" else texts

    @property
    def missing(self) -> int:
        """How many rows have no value."""
        return int(np.count_nonzero(self.codes < 0))

    def column(self, name: str) -> CategoricalColumn:
        """Make a column of a table in memory, whose labels are sorted."""
        labels: Any = self.labels
        order = sorted(range(len(labels)), key=labels.__getitem__)
        ranks = np.full(len(labels) + 1, -1, dtype=np.int32)
        ranks[order] = np.arange(len(order))
        ordered = tuple(labels[place] for place in order)
        return CategoricalColumn(name, self.form, frozen(ranks[self.codes]), ordered)

    def counts(self) -> Rows:
        """Count the rows of each text."""
        return np.bincount(self.codes + 1, minlength=len(self.texts) + 1)[1:]

    def numbers(self) -> Hashes:
        """Return the hash of each text."""
        texts = self.texts.cast(pa.large_string())
        _, offsets, data = texts.buffers()
        if not len(texts):
            return np.zeros(0, dtype=np.uint64)
        places = np.frombuffer(offsets, dtype=np.int64)[texts.offset :][: len(texts) + 1]
        return text_hashes(b"" if data is None else data, places)


def form_of(kind: pa.DataType) -> Form | str:
    """Return the form of an Arrow type, or what it holds that cannot be compared."""
    if isinstance(kind, pa.BaseExtensionType):
        is_known = is_text(kind.storage_type) or kind.extension_name == "arrow.uuid"
        return "text" if is_known else f"values of type {kind}"
    if pa.types.is_dictionary(kind):
        inner = form_of(kind.value_type)
        return "text" if inner in EXPECTS else inner
    if pa.types.is_timestamp(kind):
        return "datetime" if kind.tz is None else "instant"
    if is_text(kind) or pa.types.is_null(kind):
        return "text"
    for form, tests in _FORMS.items():
        if any(getattr(pa.types, f"is_{test}")(kind) for test in tests):
            return form
    return f"values of type {kind}"


_FORMS: dict[str, tuple[str, ...]] = {
    "integer": ("integer",),
    "number": ("floating", "decimal"),
    "boolean": ("boolean",),
    "date": ("date",),
    "time": ("time",),
    "duration": ("duration", "interval"),
    "lists": ("list", "large_list", "fixed_size_list", "list_view", "large_list_view"),
    "records": ("struct", "map"),
    "bytes": ("binary", "large_binary", "fixed_size_binary", "binary_view"),
}


def unusable(kind: pa.DataType) -> str | None:
    """Say what a type holds that cannot be compared; None: it can."""
    form = form_of(kind)
    return None if form in EXPECTS else form


def standard_type(kind: pa.DataType) -> pa.DataType:
    """Return the type that values have where they arrive; a month of an interval has 30 days."""
    if pa.types.is_decimal(kind):
        return pa.float64()
    if pa.types.is_interval(kind):
        return pa.duration("us")
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        return pa.timestamp(kind.unit, "UTC")
    return kind


def as_type(array: Any, wanted: pa.DataType) -> Any:
    """Return an array as one of another type; texts may stay dictionaries of them."""
    kind = array.type
    if kind == wanted or (pa.types.is_dictionary(kind) and is_text(wanted)):
        return array
    if pa.types.is_duration(wanted) and not pa.types.is_duration(kind):
        return _durations(array).cast(wanted)
    if pa.types.is_decimal(kind):  # through text, which gives the nearest number
        array = array.cast(pa.string())
    return array.cast(wanted)


def _durations(array: Any) -> Any:
    """Return intervals as durations: those of Arrow, or of Parquet, bytes to Arrow."""
    is_arrows = pa.types.is_interval(array.type)
    third = ("nanoseconds", "<i8") if is_arrows else ("milliseconds", "<u4")
    whole = "<i4" if is_arrows else "<u4"
    parts = np.frombuffer(array.buffers()[1], [("months", whole), ("days", whole), third])
    parts = parts[array.offset : array.offset + len(array)]
    days = parts["months"].astype(np.int64) * 30 + parts["days"]
    rest = parts[third[0]].astype(np.int64)
    rest = rest // 1000 if is_arrows else rest * 1000
    return of_numbers(days * DAY + rest, gaps(array)).view(pa.duration("us"))


def numbers(array: Array, form: Form) -> Floats:
    """Read what is a number inside as the core computes with it; NaN is missing."""
    if isinstance(array, pa.ChunkedArray):
        return np.concatenate([np.zeros(0), *(numbers(chunk, form) for chunk in array.chunks)])
    array = joined(array)
    if form in TIMES:
        return microseconds(_moments(as_type(array, standard_type(array.type))))
    if pa.types.is_integer(array.type):
        held_as, missing = whole(array)
        values: Floats = held_as.astype(np.float64)
        if missing is not None:
            values[missing] = np.nan
        return values
    return filled(as_type(array, pa.float64()), math.nan)


def whole(array: Array) -> tuple[Any, Mask | None]:
    """Read whole numbers as they are, and mark those that are missing, if there are any."""
    array = joined(array)
    return filled(array, 0), gaps(array)


def _encoded(array: Any) -> Any:
    """Return texts as codes and a dictionary, in one piece."""
    if isinstance(array, pa.ChunkedArray):
        if is_text(array.type) and array.nbytes >= _MOST_BYTES:
            array = array.cast(pa.large_string())
        array = joined(array.dictionary_encode()) if is_text(array.type) else joined(array)
    return array if pa.types.is_dictionary(array.type) else array.dictionary_encode()


def categories(array: Array, form: Form = "text", are_distinct: bool = True) -> Coded:
    """Read texts or booleans; texts may come several times where nearly all differ anyway."""
    kind = array.type
    if getattr(kind, "extension_name", "") == "arrow.uuid":
        array = of_texts([x and str(x) for x in array.to_pylist()])
        kind = array.type
    if isinstance(kind, pa.BaseExtensionType) or form == "boolean" or not is_text(kind):
        array = joined(array)
        kind = array.type
    if form == "boolean":
        encoded = filled(array.cast(pa.int8()), -1).astype(np.int32)
        texts = of_texts(["False", "True"])
        are_both = array.true_count and array.false_count
        return Coded(encoded, texts, form) if are_both else _used(encoded, texts, form)
    first = array.slice(0, _FIRST)
    if not are_distinct and is_text(kind) and len(first) == _FIRST < 2 * len(first.unique()):
        return _as_they_are(joined(array))
    encoded = _encoded(array)
    codes = filled(encoded.indices.cast(pa.int32()), -1)
    texts = _texts(encoded.dictionary)
    return Coded(codes, texts) if is_text(kind) else _used(codes, texts)


def plain_texts(array: Array) -> pa.Array:
    """Return texts of any type as plain ones."""
    found = categories(array)
    return found.texts.take(of_numbers(found.codes, found.codes < 0))


def joined(array: Any) -> Any:
    """Return an array in one piece, without what a user's type adds to it."""
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    return array.storage if isinstance(array, pa.ExtensionArray) else array


def is_text(kind: Any) -> bool:
    """Return whether an Arrow type holds texts."""
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def is_plain_text(kind: Any) -> bool:
    """Return whether a type says nothing: texts that are not declared to be categories, or gaps."""
    return is_text(kind) or bool(pa.types.is_null(kind))


def _as_they_are(array: Any) -> Coded:
    codes = np.arange(len(array), dtype=np.int32)
    if not array.null_count:
        return Coded(codes, array)
    known = array.cast(pa.large_string()).drop_null()
    missing = np.asarray(gaps(array))
    return Coded(np.where(missing, -1, np.cumsum(~missing) - 1).astype(np.int32), known)


def _texts(values: Any) -> Any:
    """Write the distinct values of a dictionary as texts, as tables in memory do."""
    if is_text(values.type):
        return values.cast(pa.large_string())
    return of_texts([None if is_missing(v) else str(v) for v in values.to_pylist()])


def _used(codes: Codes, texts: Any, form: Form = "text") -> Coded:
    """Leave out texts that no row has, and give equal ones one code."""
    is_used = _are_used(codes, len(texts))
    if is_used.all() and len(texts) <= _FEW and len(texts.unique()) == len(texts):
        return Coded(codes, texts, form)
    distinct = texts.filter(of_mask(is_used)).dictionary_encode()
    ranks = np.full(len(texts) + 1, -1, dtype=np.int32)
    ranks[np.flatnonzero(is_used)] = filled(distinct.indices, -1)
    return Coded(ranks[codes], distinct.dictionary, form)


def _are_used(codes: Codes, count: int) -> Mask:
    """Return which of so many codes there are; a look at the first rows is often enough."""
    are_used = np.bincount(codes[:_FIRST] + 1, minlength=count + 1)[1:] > 0
    if len(codes) <= _FIRST or are_used.all():
        return are_used
    return np.bincount(codes + 1, minlength=count + 1)[1:] > 0


def categories_of_numbers(array: Array, form: Form) -> Coded:
    """Read what is a number inside as categories: the texts of the values."""
    array = joined(array)
    if pa.types.is_integer(array.type):
        encoded = array.dictionary_encode()
        texts = encoded.dictionary.cast(pa.large_string())
    else:
        known = numbers(array, form)
        encoded = of_numbers(known, np.isnan(known)).dictionary_encode()
        values = [value_of(form, number) for number in encoded.dictionary.to_pylist()]
        texts = of_texts([label_text(value) for value in values])
    return _used(filled(encoded.indices, -1), texts)


def _moments(array: Any) -> Any:
    kind = array.type
    unit = "D" if pa.types.is_date32(kind) else "ms" if pa.types.is_date64(kind) else kind.unit
    counts, missing = whole(array.view(pa.int32() if kind.bit_width == 32 else pa.int64()))
    sort = "m8" if pa.types.is_duration(kind) or pa.types.is_time(kind) else "M8"
    most = 2 ** (kind.bit_width - 1) - 1  # with either sign an infinite moment, as DuckDB has it
    moments = counts.astype(np.int64)
    moments[np.abs(moments) == most] = _NOT_A_TIME
    if missing is not None:
        moments[missing] = _NOT_A_TIME
    return moments.view(f"{sort}[{unit}]")
