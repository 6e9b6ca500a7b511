"""Tables in memory: dataframes of any library, dicts of columns, NumPy arrays; all become Arrow.

They come column by column: of one that Arrow cannot hold, such as mixed values, Python's are read.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import decimal
import io
import math
import numbers
import uuid
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from outlying import sentences as say
from outlying.errors import SourceError, harmless
from outlying.parsing import pa
from outlying.sources.arrow_arrays import microseconds, of_mask, of_numbers, of_texts
from outlying.sources.columns import RawColumn, from_arrow, table_of, text_of_any, unique_names
from outlying.sources.recognise import is_a, name_of, package_of
from outlying.sources.registry import SUFFIXES
from outlying.table.columns import Column, Floats, Mask
from outlying.table.row_hash import are_long
from outlying.table.table import FrameLibrary, SkippedColumn, Table
from outlying.table.values import DAY, Form, are_keys, is_missing, number_of

_ACCEPTED = (
    f"a path to a file ({', '.join(SUFFIXES)}), a pandas or polars DataFrame, a pyarrow Table, a "
    "dict of columns, or a two-dimensional or structured NumPy array"
)
_UNUSABLE = {"S": "bytes", "c": "complex numbers", "V": "records"}
_STREAM = "__arrow_c_stream__"


def read(data: Any) -> Table:
    """Read what holds a table in memory; anything else is refused with what would be accepted."""
    if isinstance(data, (np.ndarray, Mapping)):
        source = "dict of arrays" if isinstance(data, Mapping) else "NumPy array"
        return table_of(source, dict(_in_memory(source, data)))
    data = data.to_native() if package_of(data) == "narwhals" else data
    source, frame = name_of(data), _frame(data)
    given = frame.column_names if hasattr(frame, "column_names") else frame.columns
    if is_pandas(frame):
        series = [frame.iloc[:, place] for place in range(frame.shape[1])]
    else:
        series = frame.columns if hasattr(frame, "column_names") else frame.get_columns()
    columns = dict(zip(unique_names(source, given), series, strict=True))
    made = {name: _of_series(series) for name, series in columns.items()}
    library: FrameLibrary = "polars" if package_of(data) == "polars" else "pandas"
    return table_of(source, made, (), library, index=_index(frame, set(columns)))


# --- dataframes ----------------------------------------------------------------------------------


def _frame(data: Any) -> Any:
    """Return a dataframe of pandas or polars as it is, of other libraries as a table of Arrow."""
    if is_pandas(data) or isinstance(data, pa.Table) or is_polars(data):
        return data
    if type(data).__name__ in ("LazyFrame", "DuckDBPyRelation"):
        raise SourceError(
            f"{name_of(data)} holds no rows yet, only a query; collect it first, for example with "
            ".collect() in polars or .to_arrow_table() in DuckDB"
        )
    try:
        if hasattr(data, _STREAM) and not hasattr(data, "name"):
            return pa.table(data)
        if hasattr(data, "__dataframe__"):
            from pyarrow.interchange import from_dataframe

            return from_dataframe(data)
    except (pa.ArrowException, TypeError, ValueError, NotImplementedError) as error:
        raise SourceError(f"cannot read {name_of(data)}: {error}") from None
    raise SourceError(f"cannot read {name_of(data)}; allowed: {_ACCEPTED}")


def is_pandas(data: object) -> bool:
    """Return whether it is a dataframe of pandas, or looks like one."""
    return hasattr(data, "iloc") and hasattr(data, "dtypes") and hasattr(data, "columns")


def is_polars(data: object) -> bool:
    """Return whether it is a dataframe of polars that holds its rows."""
    return is_a("polars", "DataFrame")(data)


def _of_series(series: Any) -> RawColumn | str:
    """Return a series of any library as an array; what Arrow refuses by its Python values."""
    dtype = getattr(series, "dtype", None)
    if isinstance(series, np.ndarray):
        return _of_numpy(series)
    if isinstance(dtype, np.dtype) and hasattr(series, "to_numpy"):
        values = series.to_numpy()
        # without any value: what pandas makes of texts
        if dtype.kind == "O" and all(map(is_missing, values.tolist())):
            values = np.full(len(values), None, dtype=object)
        return _of_numpy(values)
    if package_of(dtype) == "pandas" and type(dtype).__name__ in ("PeriodDtype", "IntervalDtype"):
        return array_of(series.tolist())
    try:
        if isinstance(series, (pa.Array, pa.ChunkedArray)):
            array = series
        elif package_of(series) == "polars":
            import polars

            array = series.alias("").to_arrow(compat_level=polars.CompatLevel.oldest())
        else:
            array = pa.chunked_array(series) if hasattr(series, _STREAM) else pa.array(series)
    except (pa.ArrowException, TypeError, ValueError, OverflowError, NotImplementedError):
        return _of_values(series)
    except Exception as error:  # a panic of polars is no Exception of Python's, but its errors are
        if package_of(error) != "polars":
            raise
        return _of_values(series)
    return RawColumn(array)


def _of_values(series: Any) -> RawColumn | str:
    try:
        values = series.to_list()
    except (OverflowError, ValueError):
        return f"values of type {series.dtype} that Python does not hold"
    return array_of(values)


def _index(native: Any, names: set[str]) -> list[Column]:
    """Read the index of a pandas frame, if it says more than where a row stands: it names rows."""
    index = getattr(native, "index", None)
    levels = getattr(index, "get_level_values", None)
    if index is None or levels is None:
        return []
    is_plain = type(index).__name__ == "RangeIndex" and index.name is None
    if is_plain and (index.start, index.step) == (0, 1):  # it counts rows
        return []
    found: list[Column] = []
    for place, given in enumerate(index.names):
        name = str(given) if given is not None else "index"
        name = f"{name} {place}" if given is None and len(index.names) > 1 else name
        while name in names:
            name += " (index)"
        names.add(name)
        made = array_of(levels(place).tolist())
        if isinstance(made, RawColumn):
            column, _ = from_arrow(name, made.array, are_keys=made.are_keys)
            found += [] if isinstance(column, SkippedColumn) else [column]
    return found


# --- frames that go back with more columns --------------------------------------------------------


def without_columns(data: Any, names: Sequence[str]) -> Any:
    """Return a frame without some columns, if it has them."""
    if is_pandas(data):
        return data.drop(columns=[name for name in names if name in data.columns])
    if is_polars(data):
        return data.drop([name for name in names if name in data.columns])
    if isinstance(data, pa.RecordBatch):
        data = pa.table(data)
    if isinstance(data, pa.Table):
        return data.drop_columns([name for name in names if name in data.column_names])
    raise SourceError(
        f"cannot add columns to {name_of(data)}; allowed: a pandas or polars DataFrame, or a "
        "pyarrow Table"
    )


def with_columns(data: Any, columns: Mapping[str, Sequence[Any]]) -> Any:
    """Return a frame of the same library with more columns; index and order are kept."""
    if is_pandas(data):
        import pandas as pd

        plain = ({bool}, {float})
        more = {
            name: np.array(cells, None if {type(cell) for cell in cells} in plain else object)
            for name, cells in columns.items()
        }
        return pd.concat([data, pd.DataFrame(more, index=data.index)], axis=1)
    if is_polars(data):
        import polars as pl

        return data.with_columns([pl.Series(n, _plain_array(c)) for n, c in columns.items()])
    for name, cells in columns.items():
        data = data.append_column(name, _plain_array(cells))
    return data


def parquet_of(columns: Mapping[str, Sequence[Any]]) -> bytes:
    """Return a Parquet file."""
    import pyarrow.parquet as pq

    out = io.BytesIO()
    pq.write_table(pa.table({name: _plain_array(cells) for name, cells in columns.items()}), out)
    return out.getvalue()


def _plain_array(cells: Sequence[Any]) -> pa.Array:
    """Return an Arrow array of a column; values of different kinds become texts."""
    made = array_of([harmless(cell) if isinstance(cell, str) else cell for cell in cells])
    assert isinstance(made, RawColumn)  # noqa: S101 - cells of ours can be used
    return made.array


# --- dicts of columns, and arrays of NumPy ------------------------------------------------------


def _in_memory(source: str, data: Any) -> list[tuple[str, RawColumn | str]]:
    if isinstance(data, Mapping):
        return _of_mapping(source, data)
    if data.dtype.names is not None:
        if data.ndim != 1:
            raise SourceError(
                f"{source}: a structured array of {data.ndim} dimensions; allowed: one dimension, "
                "one record per row"
            )
        fields = ((name, data[name]) for name in data.dtype.names)
        return [(n, _of_numpy(column) if column.ndim == 1 else "lists") for n, column in fields]
    if data.ndim != 2:
        shape = "x".join(map(str, data.shape)) or "a single value"
        raise SourceError(
            f"{source}: {data.ndim} dimensions ({shape}); allowed: two, rows and columns; "
            "a single column is array.reshape(-1, 1)"
        )
    table = data if isinstance(data, np.ma.MaskedArray) else np.asarray(data)
    return [(f"x{i}", _of_numpy(table[:, i])) for i in range(table.shape[1])]


def _of_mapping(source: str, data: Mapping[Any, Any]) -> list[tuple[str, RawColumn | str]]:
    names = unique_names(source, data)
    pairs = zip(names, data.values(), strict=True)
    columns = [_one_dimensional(source, name, column) for name, column in pairs]
    for name, column in zip(names[1:], columns[1:], strict=True):
        if len(column) != len(columns[0]):
            raise SourceError(
                f"{source}: column {names[0]!r} has {len(columns[0])} values but {name!r} has "
                f"{len(column)}; all columns need the same length"
            )
    return [
        (name, array_of(column) if isinstance(column, Sequence) else _of_series(column))
        for name, column in zip(names, columns, strict=True)
    ]


def _one_dimensional(source: str, name: str, column: Any) -> Any:
    """Take lists, arrays and series of any library; refuse single values and tables."""
    if isinstance(column, (list, tuple, range)) or _is_series(column):
        return column
    if not isinstance(column, np.ndarray) and hasattr(column, "__array__"):
        column = np.asanyarray(column)
    if isinstance(column, np.ndarray) and column.ndim == 1:
        return column
    got = type(column).__name__
    if isinstance(column, np.ndarray):
        got = f"an array of {column.ndim} dimensions"
    raise SourceError(
        f"{source}: column {name!r} is {got}; allowed: a list, a one-dimensional array or a series"
    )


def _is_series(column: Any) -> bool:
    speaks_arrow = hasattr(column, _STREAM) or hasattr(column, "__arrow_c_array__")
    is_table = hasattr(column, "columns") or hasattr(column, "column_names")
    return (speaks_arrow or hasattr(column, "iloc")) and not is_table


def _of_numpy(values: npt.NDArray[Any]) -> RawColumn | str:
    """Return a one-dimensional array of NumPy as one of Arrow, by its dtype."""
    missing: Mask | None = None
    if isinstance(values, np.ma.MaskedArray):
        missing = np.ma.getmaskarray(values)
        values = values.filled(None) if values.dtype.kind == "O" else values.data
    kind = values.dtype.kind
    if kind == "O":
        return array_of(values.tolist())
    if kind in _UNUSABLE:
        return _UNUSABLE[kind]
    if kind == "m" and np.datetime_data(values.dtype)[0] in ("Y", "M"):
        return "durations in months or years"
    if kind not in "biufUTMm":
        return f"values of type {values.dtype}"
    return RawColumn(_typed(values, missing))


def _typed(values: npt.NDArray[Any], missing: Mask | None) -> pa.Array:
    kind = values.dtype.kind
    if kind == "b":
        return of_mask(values, missing)
    if kind in "UT":
        gaps = np.zeros(len(values), bool) if missing is None else missing
        return of_texts([None if x else v for v, x in zip(values.tolist(), gaps, strict=True)])
    if kind in "Mm":
        gaps = np.isnat(values) if missing is None else np.isnat(values) | missing
        form: Form = "duration" if kind == "m" else _form_of_moments(values.dtype)
        return moments(form, np.where(gaps, 0, microseconds(values)), gaps)
    if values.dtype.itemsize > 8:
        with np.errstate(over="ignore"):  # a longer number may be beyond these: it is infinite
            values = values.astype(np.float64)
    return of_numbers(values.astype(values.dtype.newbyteorder("=")), missing)


Kind: TypeAlias = Form | Literal["unusable"]

_KINDS: tuple[tuple[Any, Kind], ...] = (
    ((bool, np.bool_), "boolean"),
    (np.timedelta64, "duration"),  # to NumPy it is an integer, so it comes before these
    (numbers.Integral, "integer"),
    ((numbers.Real, decimal.Decimal), "number"),
    ((str, uuid.UUID), "text"),
    ((dt.datetime, np.datetime64), "datetime"),
    (dt.date, "date"),
    (dt.time, "time"),
    (dt.timedelta, "duration"),
)
_FARTHEST = 2.0**63 - 1024  # the greatest count of 64 bits that floating point holds
_DAYS_ONLY = ("Y", "M", "W", "D")  # resolutions of NumPy that know no time of day


def array_of(values: Sequence[object]) -> RawColumn | str:
    """Return Python values, of one kind or mixed, as an array; or say why they cannot be used."""
    if set(map(type, values)) <= {str, type(None)}:
        return RawColumn(of_texts(values))  # type: ignore[arg-type]
    missing = np.fromiter((is_missing(value) for value in values), dtype=bool, count=len(values))
    known = [value for value, gap in zip(values, missing, strict=True) if not gap]
    kinds = _kinds_in(known)
    if "unusable" in kinds:
        # of several things the first by name, not the first in a row
        return min({_describe(value) for value in known if _kind_of(value) == "unusable"})
    if kinds == {"integer", "number"}:
        kinds = {"number"}
    if len(kinds) > 1:
        found = ", ".join(sorted({type(value).__name__ for value in known}))
        note = say.MIXED_VALUES.format(found=found)
        return RawColumn(_texts(values, missing), note)
    if not kinds:  # NaN is a missing number, None anything
        has_numbers = any(isinstance(value, (float, np.floating)) for value in values)
        kinds = {"number" if has_numbers else "text"}
    kind = kinds.pop()
    try:
        return _of_kind(kind, values, missing)
    except Exception:  # a class of the user's that is a number by its name only
        return f"values of a class that does not let itself be read as {kind}"


def _of_kind(kind: Kind, values: Sequence[Any], missing: Mask) -> RawColumn:
    if kind == "text":
        return RawColumn(_texts(values, missing))
    pairs = list(zip(values, missing.tolist(), strict=True))
    if kind == "integer":
        return _integers([0 if gap else int(value) for value, gap in pairs], missing)
    if kind == "boolean":
        bits = np.fromiter((not gap and bool(value) for value, gap in pairs), bool, len(values))
        return RawColumn(of_mask(bits, missing))
    if kind == "number":
        counts = np.fromiter((0.0 if gap else _number(v) for v, gap in pairs), float, len(values))
        return RawColumn(of_numbers(counts, missing))
    form: Form = kind  # type: ignore[assignment]
    counts = np.fromiter((0.0 if gap else _time(form, v) for v, gap in pairs), float, len(values))
    return RawColumn(moments(form, counts, missing))


def _texts(values: Sequence[object], missing: Mask) -> pa.Array:
    pairs = zip(values, missing.tolist(), strict=True)
    return of_texts([None if gap else v if type(v) is str else text_of_any(v) for v, gap in pairs])


def _integers(whole: list[int], missing: Mask) -> RawColumn:
    """Return whole numbers; those beyond 64 bits are keys, or rounded where they are few."""
    with contextlib.suppress(OverflowError):
        return RawColumn(of_numbers(np.array(whole, dtype=np.int64), missing))
    known = np.array(whole, dtype=object)[~missing]
    if are_keys(int(np.count_nonzero(are_long(known))), len(known)):
        return RawColumn(_texts(whole, missing), say.LONG_NUMBERS, are_keys=True)
    most = int(np.finfo(np.float64).max)
    rounded = np.array([min(max(value, -most), most) for value in whole], dtype=float)
    return RawColumn(of_numbers(rounded, missing))


def moments(form: Form, counts: Floats, missing: Mask) -> pa.Array:
    """Return dates, times or durations that are counted as microseconds; far ones by seconds."""
    days = np.rint(counts / DAY)
    if form == "date" and not (np.abs(days) >= 2**31 - 1).any():
        return of_numbers(days.astype(np.int32), missing).view(pa.date32())
    far = bool((np.abs(counts) >= 2.0**63).any())
    unit, step = ("s", 10**6) if far else ("us", 1)
    kinds = {
        "datetime": pa.timestamp(unit),
        "instant": pa.timestamp(unit, "UTC"),
        "duration": pa.duration(unit),
        "time": pa.time64("us"),
        "date": pa.timestamp(unit),
    }
    counts = np.clip(np.rint(counts / step), -_FARTHEST, _FARTHEST)
    return of_numbers(counts.astype(np.int64), missing).view(kinds[form])


def _number(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:  # a whole number that floating point cannot hold
        return math.inf if value > 0 else -math.inf


def _time(form: Form, value: object) -> float:
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return float(microseconds(np.array([value]))[0])
    return number_of(form, value)


def _kinds_in(known: Iterable[object]) -> set[Kind]:
    kinds: set[Kind] = set()
    of_type: dict[type, Kind] = {}
    for value in known:
        kind = of_type.get(type(value)) or of_type.setdefault(type(value), _kind_of(value))
        if kind == "datetime" and isinstance(value, np.datetime64):
            kind = _form_of_moments(value.dtype)
        elif kind == "datetime" and getattr(value, "tzinfo", None) is not None:
            kind = "instant"
        kinds.add(kind)
    return kinds


def _kind_of(value: object) -> Kind:
    for types, kind in _KINDS:
        if isinstance(value, types):
            return kind
    return "unusable"


def _form_of_moments(dtype: np.dtype[Any]) -> Form:
    return "date" if np.datetime_data(dtype)[0] in _DAYS_ONLY else "datetime"


def _describe(value: object) -> str:
    if isinstance(value, (bytes, bytearray, memoryview)):
        return "bytes"
    if isinstance(value, Mapping):
        return "records"
    if isinstance(value, (Sequence, Set, np.ndarray)):
        return "lists"
    return f"{type(value).__name__} objects"
