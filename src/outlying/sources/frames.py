"""Dataframes of any library, through narwhals: no adapter of our own per library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from outlying.errors import SourceError
from outlying.sources.columns import table_of, unique_names
from outlying.sources.recognise import name_of
from outlying.sources.registry import SUFFIXES
from outlying.sources.types.narwhals import read_series
from outlying.sources.types.python import read_objects
from outlying.table.columns import Column
from outlying.table.table import FrameLibrary, SkippedColumn, Table

if TYPE_CHECKING:
    import narwhals as nw

_ACCEPTED = (
    f"a path to a file ({', '.join(SUFFIXES)}), a pandas or polars DataFrame, a pyarrow Table, a "
    "dict of columns, or a two-dimensional or structured NumPy array"
)


def read(data: object) -> Table:
    """Read an eager dataframe; anything else is refused with what would be accepted."""
    frame = _eager(data)
    source = name_of(frame.to_native())
    names = unique_names(source, frame.columns)
    columns = [read_series(name, s) for name, s in zip(names, frame.iter_columns(), strict=True)]
    library: FrameLibrary = "polars" if frame.implementation.is_polars() else "pandas"
    return table_of(source, columns, (), library, _index(frame.to_native(), set(names)))


def _eager(data: Any) -> nw.DataFrame[Any]:
    import narwhals as nw
    from narwhals.exceptions import DuplicateError

    try:
        frame = nw.from_native(data)
    except DuplicateError:
        names = data.column_names if hasattr(data, "column_names") else data.columns
        texts = unique_names(name_of(data), names)
        return _eager(data.set_axis(texts, axis=1))  # of pandas: 1 and True differ as texts only
    except TypeError:
        raise SourceError(f"cannot read {name_of(data)}; allowed: {_ACCEPTED}") from None
    if isinstance(frame, nw.DataFrame):
        return frame
    raise SourceError(
        f"{name_of(data)} holds no rows yet, only a query; collect it first, for example with "
        ".collect() in polars or .to_arrow_table() in DuckDB"
    )


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
        column = read_objects(name, levels(place).tolist()).column
        found += [] if isinstance(column, SkippedColumn) else [column]
    return found


def _counts_rows(index: Any) -> bool:
    is_plain = type(index).__name__ == "RangeIndex" and index.name is None
    return is_plain and (index.start, index.step) == (0, 1)
