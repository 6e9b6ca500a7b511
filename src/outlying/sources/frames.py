"""Tables in memory: dataframes of any library, dicts of columns, NumPy arrays; all become Arrow.

Dataframes come by the Arrow PyCapsule interface, column by column, so that a column that Arrow
cannot hold, such as mixed values, does not stop the others: its Python values are looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from outlying.errors import SourceError
from outlying.sources.arrow_arrays import microseconds, of_mask, of_numbers, of_texts
from outlying.sources.columns import Made, read_all, table_of, unique_names
from outlying.sources.python_values import array_of
from outlying.sources.recognise import is_array_or_mapping, name_of
from outlying.sources.registry import SUFFIXES
from outlying.table.columns import Column, Mask
from outlying.table.table import FrameLibrary, SkippedColumn, Table
from outlying.table.values import is_missing

if TYPE_CHECKING:
    import pyarrow

_ACCEPTED = (
    f"a path to a file ({', '.join(SUFFIXES)}), a pandas or polars DataFrame, a pyarrow Table, a "
    "dict of columns, or a two-dimensional or structured NumPy array"
)
_UNUSABLE = {"S": "bytes", "c": "complex numbers", "V": "records"}
_STREAM = "__arrow_c_stream__"
_UNITS = {"Y": "D", "M": "D", "W": "D", "h": "s", "m": "s"}  # those that Arrow has not


def read(data: Any) -> Table:
    """Read what holds a table in memory; anything else is refused with what would be accepted."""
    if is_array_or_mapping(data):
        source = "dict of arrays" if isinstance(data, Mapping) else "NumPy array"
        return table_of(source, read_all(dict(_in_memory(source, data))))
    data = data.to_native() if _is_of(data, "narwhals") else data
    source, frame = name_of(data), _frame(data)
    columns = dict(zip(unique_names(source, _names(frame)), _series(frame), strict=True))
    readings = read_all({name: _of_series(series) for name, series in columns.items()})
    library: FrameLibrary = "polars" if _is_of(data, "polars") else "pandas"
    return table_of(source, readings, (), library, _index(frame, set(columns)))


def _is_of(data: object, package: str) -> bool:
    return type(data).__module__.split(".")[0] == package


# --- dataframes ----------------------------------------------------------------------------------


def _frame(data: Any) -> Any:
    """Return a dataframe of pandas or polars as it is, of other libraries as a table of Arrow."""
    import pyarrow as pa

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
    return _is_of(data, "polars") and type(data).__name__ == "DataFrame"


def _names(frame: Any) -> Iterable[object]:
    names: Iterable[object] = (
        frame.column_names if hasattr(frame, "column_names") else frame.columns
    )
    return names


def _series(frame: Any) -> Iterator[Any]:
    if is_pandas(frame):
        return (frame.iloc[:, place] for place in range(frame.shape[1]))
    return iter(frame.columns if hasattr(frame, "column_names") else frame.get_columns())


def _of_series(series: Any) -> Made | str:
    """Return a series of any library as an array; what Arrow refuses by its Python values."""
    import pyarrow as pa

    dtype = getattr(series, "dtype", None)
    if isinstance(dtype, np.dtype) and hasattr(series, "to_numpy"):
        values = series.to_numpy()
        # without any value: what pandas makes of texts
        if dtype.kind == "O" and all(map(is_missing, values.tolist())):
            values = np.full(len(values), None, dtype=object)
        return _of_numpy(values)
    if _is_of(dtype, "pandas") and type(dtype).__name__ in ("PeriodDtype", "IntervalDtype"):
        return array_of(series.tolist())
    try:
        if isinstance(series, (pa.Array, pa.ChunkedArray)):
            array = series
        elif _is_of(series, "polars"):
            import polars

            array = series.alias("").to_arrow(compat_level=polars.CompatLevel.oldest())
        else:
            array = pa.chunked_array(series) if hasattr(series, _STREAM) else pa.array(series)
    except (pa.ArrowException, TypeError, ValueError, OverflowError, NotImplementedError):
        return _of_values(series)
    except Exception as error:  # a panic of polars is no Exception of Python's, but its errors are
        if not _is_of(error, "polars"):
            raise
        return _of_values(series)
    return Made(array)


def _of_values(series: Any) -> Made | str:
    try:
        values = series.to_list()
    except (OverflowError, ValueError):
        return f"values of type {series.dtype} that Python does not hold"
    return array_of(values)


def _index(native: Any, names: set[str]) -> list[Column]:
    """Read the index of a pandas frame, if it says more than where a row stands: it names rows."""
    index = getattr(native, "index", None)
    levels = getattr(index, "get_level_values", None)
    if index is None or levels is None or _counts_rows(index):
        return []
    found: list[Column] = []
    for place, given in enumerate(index.names):
        name = str(given) if given is not None else "index"
        name = f"{name} {place}" if given is None and len(index.names) > 1 else name
        while name in names:
            name += " (index)"
        names.add(name)
        made = {name: array_of(levels(place).tolist())}
        column = read_all(made, knows_types=True)[0].column
        found += [] if isinstance(column, SkippedColumn) else [column]
    return found


def _counts_rows(index: Any) -> bool:
    is_plain = type(index).__name__ == "RangeIndex" and index.name is None
    return is_plain and (index.start, index.step) == (0, 1)


# --- dicts of columns, and arrays of NumPy ------------------------------------------------------


def _in_memory(source: str, data: Any) -> list[tuple[str, Made | str]]:
    """Return the columns of a dict, a structured array or a two-dimensional array."""
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


def _of_mapping(source: str, data: Mapping[Any, Any]) -> list[tuple[str, Made | str]]:
    names = unique_names(source, data)
    pairs = zip(names, data.values(), strict=True)
    columns = [_one_dimensional(source, name, column) for name, column in pairs]
    for name, column in zip(names[1:], columns[1:], strict=True):
        if len(column) != len(columns[0]):
            raise SourceError(
                f"{source}: column {names[0]!r} has {len(columns[0])} values but {name!r} has "
                f"{len(column)}; all columns need the same length"
            )
    return [(name, _of_any(column)) for name, column in zip(names, columns, strict=True)]


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


def _of_any(column: Any) -> Made | str:
    if isinstance(column, np.ndarray):
        return _of_numpy(column)
    return array_of(column) if isinstance(column, Sequence) else _of_series(column)


def _of_numpy(values: npt.NDArray[Any]) -> Made | str:
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
    return Made(_typed(values, missing))


def _typed(values: npt.NDArray[Any], missing: Mask | None) -> pyarrow.Array:
    kind = values.dtype.kind
    if kind == "b":
        return of_mask(values, missing)
    if kind in "UT":
        gaps = np.zeros(len(values), bool) if missing is None else missing
        return of_texts([None if x else v for v, x in zip(values.tolist(), gaps, strict=True)])
    if kind in "Mm":
        return _moments(values, missing)
    if values.dtype.itemsize > 8:
        with np.errstate(over="ignore"):  # a longer number may be beyond these: it is infinite
            values = values.astype(np.float64)
    return of_numbers(values.astype(values.dtype.newbyteorder("=")), missing)


def _moments(values: npt.NDArray[Any], missing: Mask | None) -> pyarrow.Array:
    import pyarrow as pa

    unit, step = np.datetime_data(values.dtype)
    gaps = np.isnat(values) if missing is None else np.isnat(values) | missing
    sort = values.dtype.kind
    if unit in ("ps", "fs", "as"):
        counted = microseconds(values)
        values = np.where(gaps, 0, counted).astype(np.int64).view(f"{sort}8[us]")
        unit = "us"
    elif unit in _UNITS or step != 1:
        unit = _UNITS.get(unit, unit)
        values = values.astype(f"{sort}8[{unit}]")
    counts = np.where(gaps, 0, values.view(np.int64))
    if sort == "M" and unit == "D" and not (np.abs(counts) >= 2**31 - 1).any():
        return of_numbers(counts.astype(np.int32), gaps).view(pa.date32())
    if unit == "D":
        counts, unit = counts * 86_400, "s"
    return of_numbers(counts, gaps).view(pa.timestamp(unit) if sort == "M" else pa.duration(unit))
