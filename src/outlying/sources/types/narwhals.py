"""What the types of dataframes become, as narwhals calls them: one table for all libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from outlying.sources.columns import (
    Reading,
    read_coded,
    read_integers,
    read_labels,
    read_reals,
    skip,
)
from outlying.sources.types.numpy import read_moments
from outlying.sources.types.python import read_objects
from outlying.table.values import Form

if TYPE_CHECKING:
    import narwhals as nw


def read_series(name: str, series: nw.Series[Any]) -> Reading:
    """Read one series of any library as a column of a table."""
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
        return skip(name, _unusable(dtype))
    if dtype == nw.Date:
        return _read_dates(name, series)
    if isinstance(dtype, nw.Datetime):
        form: Form = "datetime" if dtype.time_zone is None else "instant"
        return read_moments(name, form, series.to_numpy())
    if dtype == nw.Duration:
        return read_moments(name, "duration", series.to_numpy())
    try:
        cells = series.to_list()
    except (OverflowError, ValueError):
        return skip(name, f"values of type {dtype} that Python does not hold")
    return read_objects(name, cells)


def _read_dates(name: str, series: nw.Series[Any]) -> Reading:
    """Read dates; those of far years do not become moments, in polars not even with an error."""
    import narwhals as nw

    try:
        is_plain = series.implementation.is_polars()
        days = (series if is_plain else series.cast(nw.Datetime("us"))).to_numpy()
    except (OverflowError, ValueError):  # of Arrow
        return skip(name, "dates that no moment holds")
    return read_moments(name, "date", days)


def _read_texts(name: str, series: nw.Series[Any]) -> Reading:
    """Read labels; pandas finds the distinct ones faster than a list of all."""
    native = series.to_native()
    if hasattr(native, "factorize"):
        codes, labels = native.factorize()
        return read_coded(name, codes, list(labels))
    return read_labels(name, series.to_list())


def _unusable(dtype: Any) -> str:
    import narwhals as nw

    if dtype == nw.Binary:
        return "bytes"
    return "records" if dtype == nw.Struct else "lists"
