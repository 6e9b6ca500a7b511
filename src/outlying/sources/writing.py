"""What goes back as it came: frames with more columns, Parquet files, shaded workbooks."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from outlying.errors import SourceError, harmless
from outlying.sources import excel
from outlying.sources.copies import InputFile
from outlying.sources.frames import is_pandas, is_polars
from outlying.sources.recognise import name_of

Columns = Mapping[str, Sequence[Any]]

_MARKED = "FFFFD7B5"  # the colour of an odd cell


def without(data: Any, names: Sequence[str]) -> Any:
    """Return a frame without some columns, if it has them."""
    import pyarrow as pa

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


def with_columns(data: Any, columns: Columns) -> Any:
    """Return a frame of the same library with more columns; index and order are kept."""
    if is_pandas(data):
        import pandas as pd

        more = {name: _of_pandas(cells) for name, cells in columns.items()}
        return pd.concat([data, pd.DataFrame(more, index=data.index)], axis=1)
    if is_polars(data):
        import polars as pl

        return data.with_columns([pl.Series(n, array_of(c)) for n, c in columns.items()])
    for name, cells in columns.items():
        data = data.append_column(name, array_of(cells))
    return data


def _of_pandas(cells: Sequence[Any]) -> Any:
    kinds = {type(cell) for cell in cells}
    return np.array(cells) if kinds <= {bool} or kinds <= {float} else np.array(cells, object)


def array_of(cells: Sequence[Any]) -> Any:
    """Return an Arrow array of a column; values of different kinds become texts."""
    import pyarrow as pa

    kinds = {type(cell) for cell in cells} - {type(None)}
    if kinds and (kinds <= {bool} or kinds <= {int} or kinds <= {int, float}):
        kind = {bool: pa.bool_(), int: pa.int64()}.get(*kinds) if len(kinds) == 1 else None
        return pa.array(cells, kind or pa.float64())
    return pa.array([None if cell is None else harmless(str(cell)) for cell in cells], pa.string())


def parquet(columns: Columns) -> bytes:
    """Return a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    out = io.BytesIO()
    pq.write_table(pa.table({name: array_of(cells) for name, cells in columns.items()}), out)
    return out.getvalue()


def marked_workbook(path: Path, sheet: str | None, cells: Columns) -> bytes | None:
    """Return a workbook with its odd cells shaded, a comment on each, and a sheet that lists them.

    `cells` is the list of odd cells, whose rows count from 1. Formulas and formats stay as they
    are; what openpyxl does not know, as shapes, is lost. None: it is of a kind that openpyxl does
    not write, or that is not installed.
    """
    if path.suffix.lower() not in (".xlsx", ".xlsm") or not path.is_file():
        return None
    try:
        import openpyxl
        from openpyxl.comments import Comment
        from openpyxl.styles import PatternFill
    except ImportError:
        return None
    name, lines, places = excel.places(InputFile(str(path), path, path.suffix), sheet)
    book = openpyxl.load_workbook(path, keep_vba=path.suffix.lower() == ".xlsm")
    for row, column, said in zip(cells["row"], cells["column"], cells["sentence"], strict=True):
        cell = book[name].cell(lines[row - 1], places[column])
        if isinstance(cell, openpyxl.cell.MergedCell):
            continue
        cell.fill = PatternFill("solid", fgColor=_MARKED)
        before = "" if cell.comment is None else f"{cell.comment.text}\n\n"
        cell.comment = Comment(f"{before}{harmless(said)}", "outlying")
    listed = book.create_sheet("odd cells")
    for line in (cells, *zip(*cells.values(), strict=True)):
        listed.append([harmless(cell) if isinstance(cell, str) else cell for cell in line])
        for cell in listed[listed.max_row]:
            cell.data_type = "s" if isinstance(cell.value, str) else cell.data_type  # no formula
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()
