"""Dataframes of any library, through narwhals: no adapter of our own per library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from outlying.errors import SourceError
from outlying.sources.columns import (
    Reading,
    read_coded,
    read_integers,
    read_labels,
    read_moments,
    read_reals,
    skip,
    table_of,
    unique_names,
)
from outlying.sources.types.python import read_objects
from outlying.table.table import Table
from outlying.table.values import Form

if TYPE_CHECKING:
    import narwhals as nw

_ACCEPTED = (
    "a path to a CSV, TSV, Parquet or JSON file, a pandas or polars DataFrame, a pyarrow Table, a "
    "dict of columns, or a two-dimensional or structured NumPy array"
)


def read(data: object) -> Table:
    """Read an eager dataframe; anything else is refused with what would be accepted."""
    frame = _eager(data)
    source = _kind_of(frame.to_native())
    names = unique_names(source, frame.columns)
    columns = [_read(name, s) for name, s in zip(names, frame.iter_columns(), strict=True)]
    return table_of(source, columns, _about_index(frame.to_native()))


def read_series(name: str, series: nw.Series[Any]) -> Reading:
    """Read one series of any library as a column of a table."""
    return _read(name, series)


def _eager(data: Any) -> nw.DataFrame[Any]:
    import narwhals as nw
    from narwhals.exceptions import DuplicateError

    try:
        frame = nw.from_native(data)
    except DuplicateError:
        names = data.column_names if hasattr(data, "column_names") else data.columns
        unique_names(_kind_of(data), names)
        raise
    except TypeError:
        raise SourceError(f"cannot read {_kind_of(data)}; allowed: {_ACCEPTED}") from None
    if isinstance(frame, nw.DataFrame):
        return frame
    raise SourceError(
        f"{_kind_of(data)} holds no rows yet, only a query; collect it first, for example with "
        ".collect() in polars or .to_arrow_table() in DuckDB"
    )


def _kind_of(native: object) -> str:
    """Name a thing as its users do: "pandas DataFrame", "pyarrow Table"."""
    kind = type(native)
    package = kind.__module__.split(".")[0].lstrip("_")
    return kind.__name__ if package == "builtins" else f"{package} {kind.__name__}"


def _about_index(native: Any) -> list[str]:
    """Say that a named pandas index is no column: it might hold what the user looks for."""
    names = getattr(getattr(native, "index", None), "names", None) or ()
    return [
        f"index {str(name)!r} is not a column; reset_index() makes it one"
        for name in names
        if name is not None
    ]


def _read(name: str, series: nw.Series[Any]) -> Reading:
    import narwhals as nw

    dtype = series.dtype
    if dtype.is_integer() and dtype not in (nw.Int128, nw.UInt128):
        # filled first: on their way to NumPy, gaps would turn whole numbers into floating point
        return read_integers(name, series.fill_null(0).to_numpy(), series.is_null().to_numpy())
    if dtype.is_float():
        return read_reals(name, series.to_numpy())
    if dtype == nw.Boolean:
        return read_labels(name, series.to_list(), form="boolean")
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        return _read_texts(name, series)
    if dtype.is_nested() or dtype == nw.Binary:
        return skip(name, _nested(dtype))
    if dtype == nw.Date:
        return read_moments(name, "date", series.cast(nw.Datetime("us")).to_numpy())
    if isinstance(dtype, nw.Datetime):
        form: Form = "datetime" if dtype.time_zone is None else "instant"
        return read_moments(name, form, series.to_numpy())
    if dtype == nw.Duration:
        return read_moments(name, "duration", series.to_numpy())
    return read_objects(name, series.to_list())


def _read_texts(name: str, series: nw.Series[Any]) -> Reading:
    """Read labels; pandas finds the distinct ones faster than a list of all."""
    native = series.to_native()
    if hasattr(native, "factorize"):
        codes, labels = native.factorize()
        return read_coded(name, codes, list(labels))
    return read_labels(name, series.to_list())


def _nested(dtype: Any) -> str:
    import narwhals as nw

    if dtype == nw.Binary:
        return "bytes"
    return "records" if dtype == nw.Struct else "lists"
