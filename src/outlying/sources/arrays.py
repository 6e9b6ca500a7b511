"""Dicts of columns, and NumPy arrays with and without named fields."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from outlying.errors import SourceError
from outlying.sources.columns import Reading, skip, table_of, unique_names
from outlying.sources.types.numpy import read_array
from outlying.sources.types.python import read_objects
from outlying.table.table import Table


def read(data: Mapping[Any, Any] | npt.NDArray[Any]) -> Table:
    """Read a dict of columns, a structured array or a two-dimensional array."""
    if isinstance(data, Mapping):
        return _read_mapping(data)
    if data.dtype.names is not None:
        return _read_fields(data, data.dtype.names)
    return _read_plain(data)


def _read_mapping(data: Mapping[Any, Any]) -> Table:
    source = "dict of arrays"
    names = unique_names(source, data)
    columns = [
        _one_dimensional(source, name, c) for name, c in zip(names, data.values(), strict=True)
    ]
    for name, column in zip(names[1:], columns[1:], strict=True):
        if len(column) != len(columns[0]):
            raise SourceError(
                f"{source}: column {names[0]!r} has {len(columns[0])} values but {name!r} has "
                f"{len(column)}; all columns need the same length"
            )
    return table_of(source, [_read_any(n, c) for n, c in zip(names, columns, strict=True)])


def _one_dimensional(source: str, name: str, column: Any) -> Any:
    """Take lists, arrays and series of any library; refuse single values and tables."""
    if isinstance(column, (list, tuple, range)):
        return column
    if not isinstance(column, np.ndarray):
        import narwhals as nw

        series = nw.from_native(column, series_only=True, pass_through=True)
        if isinstance(series, nw.Series):
            return series
        column = np.asanyarray(column) if hasattr(column, "__array__") else column
    if isinstance(column, np.ndarray) and column.ndim == 1:
        return column
    got = type(column).__name__
    if isinstance(column, np.ndarray):
        got = f"an array of {column.ndim} dimensions"
    raise SourceError(
        f"{source}: column {name!r} is {got}; allowed: a list, a one-dimensional array or a series"
    )


def _read_any(name: str, column: Any) -> Reading:
    if isinstance(column, np.ndarray):
        return _read_numpy(name, column)
    if isinstance(column, Sequence):
        return read_objects(name, column)
    from outlying.sources.types.narwhals import read_series

    return read_series(name, column)


def _read_numpy(name: str, column: npt.NDArray[Any]) -> Reading:
    if isinstance(column, np.ma.MaskedArray):
        missing = np.ma.getmaskarray(column)
        if column.dtype.kind == "O":
            return read_objects(name, column.filled(None).tolist())
        return read_array(name, column.data, missing)
    if column.dtype.kind == "O":
        return read_objects(name, column.tolist())
    return read_array(name, column)


def _read_fields(data: npt.NDArray[Any], fields: Iterable[str]) -> Table:
    source = "NumPy array"
    if data.ndim != 1:
        raise SourceError(
            f"{source}: a structured array of {data.ndim} dimensions; allowed: one dimension, "
            "one record per row"
        )
    return table_of(source, [_read_field(name, data[name]) for name in fields])


def _read_field(name: str, column: npt.NDArray[Any]) -> Reading:
    return _read_numpy(name, column) if column.ndim == 1 else skip(name, "lists")


def _read_plain(data: npt.NDArray[Any]) -> Table:
    source = "NumPy array"
    if data.ndim != 2:
        shape = "x".join(map(str, data.shape)) or "a single value"
        raise SourceError(
            f"{source}: {data.ndim} dimensions ({shape}); allowed: two, rows and columns; "
            "a single column is array.reshape(-1, 1)"
        )
    table = data if isinstance(data, np.ma.MaskedArray) else np.asarray(data)
    columns = (table[:, place] for place in range(table.shape[1]))
    return table_of(source, [_read_numpy(f"x{i}", column) for i, column in enumerate(columns)])
