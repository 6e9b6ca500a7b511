"""What Arrow's types become, and their arrays read as cells: numbers or categories.

The rules are those of tables in memory, so that a stream leads to the same values.
"""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from outlying.errors import ColumnError
from outlying.options import ColumnType
from outlying.parsing.reading import Reading
from outlying.sources import arrow_arrays as arrays
from outlying.table.columns import (
    CategoricalColumn,
    Codes,
    Column,
    Floats,
    Mask,
    NumericColumn,
    Rows,
    WrittenTexts,
    frozen,
)
from outlying.table.row_hash import Hashes, text_hashes
from outlying.table.values import (
    EXPECTS,
    LARGEST_EXACT_INTEGER,
    TIMES,
    Form,
    day_of,
    is_missing,
    label_text,
    number_of,
    text_of,
    value_of,
)

if TYPE_CHECKING:
    import pyarrow

Array: TypeAlias = "pyarrow.Array | pyarrow.ChunkedArray"

_NOT_A_TIME = np.iinfo(np.int64).min
_MOST_BYTES = 1 << 31  # that texts of Arrow's shorter type may have
_DAY = 86_400_000_000  # microseconds
_FEW = 64  # texts that are soon compared
_FIRST = 4096  # rows that tell whether nearly all texts differ, or whether all are used


def arrow() -> Any:
    """Return the Arrow library, which is imported when the first table is read."""
    import pyarrow
    import pyarrow.compute

    return pyarrow


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """Numbers of some rows, NaN where one is missing, and what they are like."""

    values: Floats
    missing: int
    infinite: int  # left out, where such values count as missing
    low: float  # NaN where no number is known
    high: float

    @classmethod
    @np.errstate(invalid="ignore")  # NaN may come in a form that signals
    def of(cls, values: Floats, *, is_finite: bool = True) -> Numbers:
        """Look at numbers once; infinite ones become missing, unless they may stay."""
        low, high = (float(f(values)) if len(values) else math.nan for f in (np.min, np.max))
        if math.isfinite(low) and math.isfinite(high):
            return cls(values, 0, 0, low + 0.0, high + 0.0)
        missing, infinite = int(np.count_nonzero(np.isnan(values))), 0
        if is_finite:
            infinite = int(np.count_nonzero(np.isinf(values)))
            values = np.where(np.isinf(values), np.nan, values) if infinite else values
        low, high = (float(f.reduce(values, initial=np.nan)) for f in (np.fmin, np.fmax))
        return cls(values, missing, infinite, low + 0.0, high + 0.0)

    @property
    def has_gaps(self) -> bool:
        """Whether any of the values is NaN."""
        return self.missing + self.infinite > 0


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """Categories of some rows as codes into texts; -1 is missing. No text is without a row."""

    codes: Codes
    texts: Any  # an Arrow array of texts
    form: Form = "text"

    @property
    def labels(self) -> list[str] | list[bool]:
        """The labels that the texts stand for."""
        texts: list[Any] = arrays.labels(self.texts)
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
        pa = arrow()
        texts = self.texts.cast(pa.large_string())
        _, offsets, data = texts.buffers()
        if not len(texts):
            return np.zeros(0, dtype=np.uint64)
        places = np.frombuffer(offsets, dtype=np.int64)[texts.offset :][: len(texts) + 1]
        return text_hashes(b"" if data is None else data, places)


@dataclasses.dataclass(frozen=True, slots=True)
class Field:
    """How a column is read: what the source holds, and what the user declared it to be.

    A form that only all rows together show may take the place of the source's.
    """

    name: str
    form: Form
    wanted: ColumnType | None = None
    is_compared: bool = True  # infinite values of others stay what they are
    written: Reading | None = None  # how texts are read, which only all rows together show

    @property
    def may_be_written(self) -> bool:
        """Whether these are texts that may turn out to be numbers or dates, or were declared to."""
        is_used = self.is_compared or self.wanted is not None
        return self.form == "text" and self.wanted != "categorical" and is_used

    @property
    def read_as(self) -> Form:
        """The form of the column that is made of it."""
        if self.form == "text":
            return "text" if self.written is None else self.written.form
        is_category = self.form in ("text", "boolean")
        if self.wanted == "categorical":
            return self.form if is_category else "text"
        if self.wanted == "numeric":
            return "number" if is_category else self.form
        if self.wanted == "datetime":
            return self.form if self.form in TIMES else "datetime"
        return self.form

    @property
    def is_numeric(self) -> bool:
        """Whether the cells are numbers, not categories."""
        return self.read_as not in ("text", "boolean")

    @property
    def may_be_keys(self) -> bool:
        """Whether these are whole numbers that become texts, should most be beyond 2**53."""
        return self.form == "integer" and self.wanted is None

    @property
    def are_labels_of_numbers(self) -> bool:
        """Whether it holds numbers that were declared to be categories."""
        return self.wanted == "categorical" and self.form in ("number", "integer")

    def empty(self) -> Column:
        """Return the column without rows."""
        none = CategoricalColumn(self.name, self.form, np.zeros(0, dtype=np.int32), ())
        if self.is_numeric:
            return NumericColumn(self.name, self.read_as, np.zeros(0), written=self._written(none))
        return dataclasses.replace(none, form=self.read_as)

    def _written(self, texts: CategoricalColumn) -> WrittenTexts | None:
        return None if self.written is None else WrittenTexts(texts, self.written)

    def read(self, array: Array, *, are_distinct: bool = True) -> Numbers | Coded:
        """Read cells; labels may come several times where that is quicker and no matter."""
        return self.numbers(array) if self.is_numeric else self.coded(array, are_distinct)

    def numbers(self, array: Array) -> Numbers:
        """Read the cells of a column that holds numbers."""
        if self.read_as == self.form:
            values = numbers(array, self.form)
        else:
            values = self._parsed(self._categories(array, are_distinct=True))
        return Numbers.of(values, is_finite=self.is_compared)

    def coded(self, array: Array, are_distinct: bool = True) -> Coded:
        """Read the cells of a column that holds categories."""
        if self.read_as != self.form and self.written is None:
            return _of_numbers(array, self.form)
        return self._categories(array, are_distinct)

    def column(self, array: Array) -> Column:
        """Make a column of a table in memory."""
        if self.is_numeric:
            values = self.numbers(array).values + 0.0
            texts = None if self.written is None else self._written(self._categorical(array))
            exact = whole(array)[0] if self.may_be_keys and _has_long(values) else None
            return NumericColumn(
                self.name, self.read_as, frozen(values), written=texts, exact=exact
            )
        return self._categorical(array)

    def _categorical(self, array: Array) -> CategoricalColumn:
        """Make a column of categories, be they texts that are read as numbers."""
        form = self.read_as if self.written is None else self.form
        return dataclasses.replace(self.coded(array).column(self.name), form=form)

    def _categories(self, array: Array, are_distinct: bool) -> Coded:
        if self.form in ("text", "boolean"):
            return categories(array, self.form, are_distinct)
        return _of_numbers(array, self.form)

    def _parsed(self, coded: Coded) -> Floats:
        """Read categories as numbers or moments, each once."""
        if self.written is not None:
            return np.append(self.written.numbers(coded.texts.to_pylist()), math.nan)[coded.codes]
        parsed = [self._number_in(label) for label in coded.labels]
        return np.array([*parsed, math.nan])[coded.codes]

    def _number_in(self, label: str | bool) -> float:
        try:
            if self.read_as == "number":
                return float(label)
            if self.form in ("number", "integer"):
                return day_of(float(label))
            return number_of(self.read_as, label)
        except ValueError:
            raise ColumnError(
                f"column {self.name!r} was to be read as {self.read_as}, but some row holds "
                f"{text_of(label)!r}; allowed there: {EXPECTS[self.read_as]}"
            ) from None


def _has_long(values: Floats) -> bool:
    """Return whether floating point may not hold all of these whole numbers."""
    return bool((np.abs(values) >= LARGEST_EXACT_INTEGER).any())


def form_of(kind: pyarrow.DataType) -> Form | str:
    """Return the form of an Arrow type, or what it holds that cannot be compared."""
    types: Any = arrow().types
    if isinstance(kind, arrow().BaseExtensionType):
        is_known = is_text(kind.storage_type) or kind.extension_name == "arrow.uuid"
        return "text" if is_known else f"values of type {kind}"
    if types.is_dictionary(kind):
        inner = form_of(kind.value_type)
        return "text" if inner in EXPECTS else inner
    if types.is_timestamp(kind):
        return "datetime" if kind.tz is None else "instant"
    if is_text(kind) or types.is_null(kind):
        return "text"
    for form, tests in _FORMS.items():
        if any(getattr(types, f"is_{test}")(kind) for test in tests):
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


def unusable(kind: pyarrow.DataType) -> str | None:
    """Say what a type holds that cannot be compared; None: it can."""
    form = form_of(kind)
    return None if form in EXPECTS else form


def standard_type(kind: pyarrow.DataType) -> pyarrow.DataType:
    """Return the type that values of a type are given where they arrive.

    Intervals become durations, of 30 days for each month, and decimals the nearest numbers;
    instants are in UTC, whatever zone they are shown in.
    """
    pa = arrow()
    if pa.types.is_decimal(kind):
        return pa.float64()
    if pa.types.is_interval(kind):
        return pa.duration("us")
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        return pa.timestamp(kind.unit, "UTC")
    return kind


def as_type(array: Any, wanted: pyarrow.DataType) -> Any:
    """Return an array as one of another type; texts may stay dictionaries of them."""
    pa = arrow()
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
    pa = arrow()
    is_arrows = pa.types.is_interval(array.type)
    third = ("nanoseconds", "<i8") if is_arrows else ("milliseconds", "<u4")
    whole = "<i4" if is_arrows else "<u4"
    parts = np.frombuffer(array.buffers()[1], [("months", whole), ("days", whole), third])
    parts = parts[array.offset : array.offset + len(array)]
    days = parts["months"].astype(np.int64) * 30 + parts["days"]
    rest = parts[third[0]].astype(np.int64)
    rest = rest // 1000 if is_arrows else rest * 1000
    return arrays.of_numbers(days * _DAY + rest, arrays.gaps(array)).view(pa.duration("us"))


def numbers(array: Array, form: Form) -> Floats:
    """Read what is a number inside as the core computes with it; NaN is missing."""
    pa = arrow()
    if isinstance(array, pa.ChunkedArray):
        return np.concatenate([np.zeros(0), *(numbers(chunk, form) for chunk in array.chunks)])
    array = joined(array)
    if form in TIMES:
        return arrays.microseconds(_moments(as_type(array, standard_type(array.type))))
    if pa.types.is_integer(array.type):
        values, missing = whole(array)
        return _with_gaps(values.astype(np.float64), missing)
    return arrays.filled(as_type(array, pa.float64()), math.nan)


def whole(array: Array) -> tuple[Any, Mask | None]:
    """Read whole numbers as they are, and mark those that are missing, if there are any."""
    array = joined(array)
    return arrays.filled(array, 0), arrays.gaps(array)


def _encoded(array: Any) -> Any:
    """Return texts as codes and a dictionary, in one piece."""
    pa = arrow()
    if isinstance(array, pa.ChunkedArray):
        if is_text(array.type) and array.nbytes >= _MOST_BYTES:
            array = array.cast(pa.large_string())
        array = joined(array.dictionary_encode()) if is_text(array.type) else joined(array)
    return array if pa.types.is_dictionary(array.type) else array.dictionary_encode()


def categories(array: Array, form: Form = "text", are_distinct: bool = True) -> Coded:
    """Read texts or booleans; texts may come several times where nearly all differ anyway."""
    pa = arrow()
    kind = array.type
    if getattr(kind, "extension_name", "") == "arrow.uuid":
        array = arrays.of_texts([x and str(x) for x in array.to_pylist()])
        kind = array.type
    if isinstance(kind, pa.BaseExtensionType) or form == "boolean" or not is_text(kind):
        array = joined(array)
        kind = array.type
    if form == "boolean":
        encoded = arrays.filled(array.cast(pa.int8()), -1).astype(np.int32)
        texts = arrays.of_texts(["False", "True"])
        are_both = array.true_count and array.false_count
        return Coded(encoded, texts, form) if are_both else _used(encoded, texts, form)
    if not are_distinct and is_text(kind) and _mostly_differ(array):
        return _as_they_are(joined(array))
    encoded = _encoded(array)
    codes = arrays.filled(encoded.indices.cast(pa.int32()), -1)
    texts = _texts(encoded.dictionary)
    return Coded(codes, texts) if is_text(kind) else _used(codes, texts)


def plain_texts(array: Array) -> pyarrow.Array:
    """Return texts of any type as plain ones."""
    found = categories(array)
    return found.texts.take(arrays.of_numbers(found.codes, found.codes < 0))


def joined(array: Any) -> Any:
    """Return an array in one piece, without what a user's type adds to it."""
    pa = arrow()
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    return array.storage if isinstance(array, pa.ExtensionArray) else array


def is_text(kind: Any) -> bool:
    """Return whether an Arrow type holds texts."""
    types = arrow().types
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def is_plain_text(kind: Any) -> bool:
    """Return whether a type says nothing: texts that are not declared to be categories, or gaps."""
    return is_text(kind) or bool(arrow().types.is_null(kind))


def _mostly_differ(array: Any) -> bool:
    first = array.slice(0, _FIRST)
    return len(first) == _FIRST and len(first.unique()) > _FIRST // 2


def _as_they_are(array: Any) -> Coded:
    pa = arrow()
    codes = np.arange(len(array), dtype=np.int32)
    if not array.null_count:
        return Coded(codes, array)
    known = array.cast(pa.large_string()).drop_null()
    missing = np.asarray(arrays.gaps(array))
    return Coded(np.where(missing, -1, np.cumsum(~missing) - 1).astype(np.int32), known)


def _texts(values: Any) -> Any:
    """Write the distinct values of a dictionary as texts, as tables in memory do."""
    pa = arrow()
    if is_text(values.type):
        return values.cast(pa.large_string())
    return arrays.of_texts([None if is_missing(v) else str(v) for v in values.to_pylist()])


def _used(codes: Codes, texts: Any, form: Form = "text") -> Coded:
    """Leave out texts that no row has, and give equal ones one code."""
    is_used = _are_used(codes, len(texts))
    if is_used.all() and len(texts) <= _FEW and len(texts.unique()) == len(texts):
        return Coded(codes, texts, form)
    distinct = texts.filter(arrays.of_mask(is_used)).dictionary_encode()
    ranks = np.full(len(texts) + 1, -1, dtype=np.int32)
    ranks[np.flatnonzero(is_used)] = arrays.filled(distinct.indices, -1)
    return Coded(ranks[codes], distinct.dictionary, form)


def _are_used(codes: Codes, count: int) -> Mask:
    """Return which of so many codes there are; a look at the first rows is often enough."""
    are_used = np.bincount(codes[:_FIRST] + 1, minlength=count + 1)[1:] > 0
    if len(codes) <= _FIRST or are_used.all():
        return are_used
    return np.bincount(codes + 1, minlength=count + 1)[1:] > 0


def _of_numbers(array: Array, form: Form) -> Coded:
    """Read what is a number inside as categories: the texts of the values."""
    pa, array = arrow(), joined(array)
    if pa.types.is_integer(array.type):
        encoded = array.dictionary_encode()
        texts = encoded.dictionary.cast(pa.large_string())
    else:
        known = numbers(array, form)
        encoded = arrays.of_numbers(known, np.isnan(known)).dictionary_encode()
        values = [value_of(form, number) for number in encoded.dictionary.to_pylist()]
        texts = arrays.of_texts([label_text(value) for value in values])
    return _used(arrays.filled(encoded.indices, -1), texts)


def _moments(array: Any) -> Any:
    """Return dates, times and durations as NumPy's."""
    pa = arrow()
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


def _with_gaps(values: Floats, missing: Mask | None) -> Floats:
    if missing is not None:
        values[missing] = np.nan
    return values
