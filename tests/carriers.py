"""Ways to carry the same table: files, dataframes, dicts."""

from __future__ import annotations

import csv
import datetime as dt
import decimal
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import orc

from outlying.table.columns import CategoricalColumn, Column, NumericColumn
from outlying.table.table import Table

Values = dict[str, list[Any]]


def arrow(values: Values, types: dict[str, pa.DataType]) -> pa.Table:
    return pa.table({name: pa.array(v, types.get(name)) for name, v in values.items()})


def plain_text(value: object) -> object:
    """Write a value as a format without types does."""
    if isinstance(value, (dt.date, dt.time)):
        return value.isoformat()
    return value


def write_delimited(path: Path, values: Values, delimiter: str = ",") -> Path:
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, delimiter=delimiter)
        writer.writerow(values)
        for row in zip(*values.values(), strict=True):
            writer.writerow("" if v is None or v != v else plain_text(v) for v in row)
    return path


def write_lines(path: Path, values: Values) -> Path:
    rows = [
        {
            n: float(v) if isinstance(v, decimal.Decimal) else plain_text(v)
            for n, v in zip(values, row, strict=True)
        }
        for row in zip(*values.values(), strict=True)
    ]
    text = json.dumps(rows) if path.suffix == ".json" else "\n".join(map(json.dumps, rows))
    path.write_text(text, encoding="utf-8")
    return path


def write_parquet(path: Path, table: pa.Table) -> Path:
    pq.write_table(table, path)
    return path


def polars(table: pa.Table) -> pl.DataFrame:
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    frame.columns = table.column_names  # polars gives a name to those without one
    return frame


NULLABLE = {
    pa.int64(): pd.Int64Dtype(),
    pa.float64(): pd.Float64Dtype(),
    pa.bool_(): pd.BooleanDtype(),
    pa.string(): pd.StringDtype(),
}


def write_ipc(path: Path, table: pa.Table, compression: str | None = None) -> Path:
    options = pa.ipc.IpcWriteOptions(compression=compression)
    write = pa.ipc.new_stream if path.suffix == ".arrows" else pa.ipc.new_file
    with write(path, table.schema, options=options) as writer:
        writer.write_table(table)
    return path


def write_orc(path: Path, table: pa.Table) -> Path:
    orc.write_table(table, path)
    return path


CARRIERS: dict[str, Callable[[Path, Values, pa.Table], Any]] = {
    "csv": lambda folder, values, _: write_delimited(folder / "t.csv", values),
    "tsv": lambda folder, values, _: str(write_delimited(folder / "t.tsv", values, "\t")),
    "jsonl": lambda folder, values, _: write_lines(folder / "t.jsonl", values),
    "json": lambda folder, values, _: write_lines(folder / "t.json", values),
    "parquet": lambda folder, _, table: write_parquet(folder / "t.parquet", table),
    "feather": lambda folder, _, table: write_ipc(folder / "t.feather", table, "zstd"),
    "ipc stream": lambda folder, _, table: write_ipc(folder / "t.arrows", table),
    "orc": lambda folder, _, table: write_orc(folder / "t.orc", table),
    "pandas": lambda _f, _, table: table.to_pandas(),
    "pandas nullable": lambda _f, _, table: table.to_pandas(types_mapper=NULLABLE.get),
    "pandas arrow": lambda _f, _, table: table.to_pandas(types_mapper=pd.ArrowDtype),
    "polars": lambda _f, _, table: polars(table),
    "pyarrow": lambda _f, _, table: table,
    "dict of lists": lambda _f, values, _: values,
    "dict of series": lambda _f, _, table: {n: table[n] for n in table.column_names},
}
UNTYPED = {"csv", "tsv", "jsonl", "json"}


def same(one: Column, other: Column) -> bool:
    if isinstance(one, CategoricalColumn) and isinstance(other, CategoricalColumn):
        values = np.array_equal(one.codes, other.codes) and one.labels == other.labels
    elif isinstance(one, NumericColumn) and isinstance(other, NumericColumn):
        values = np.array_equal(one.values, other.values, equal_nan=True)
    else:
        return False
    return (one.name, one.form) == (other.name, other.form) and values


def column_values(table: Table, name: str) -> list[Any]:
    column = table.column(name)
    return [column.value(row) for row in range(table.rows)]
