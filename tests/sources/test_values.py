"""Arrays and Python values: what they are read as, what is skipped and what is said."""

from __future__ import annotations

import datetime as dt
import decimal
import uuid
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from outlying.sources import read
from outlying.table.columns import CategoricalColumn, NumericColumn
from outlying.table.table import SkippedColumn
from tests.carriers import Values, arrow, polars, same, write_lines, write_parquet

D = decimal.Decimal


def test_a_two_dimensional_array_has_numbered_columns() -> None:
    table = read(np.array([[1.5, 2.0], [np.nan, 4.0]]))
    assert table.names == ["x0", "x1"]
    assert [table.values(row) for row in (0, 1)] == [
        {"x0": 1.5, "x1": 2.0},
        {"x0": None, "x1": 4.0},
    ]
    mixed = read(np.array([[1, "a"], [None, "b"]], dtype=object))
    assert [column.form for column in mixed.columns] == ["integer", "text"]
    masked = read(np.ma.MaskedArray([[1, 2], [3, 4]], mask=[[False, True], [False, False]]))
    assert masked.values(0) == {"x0": 1, "x1": None}


def test_a_structured_array_has_its_fields_as_columns() -> None:
    fields = [
        ("n", "f4"),
        ("s", "U3"),
        ("d", "M8[D]"),
        ("l", "i4", 2),
        ("b", "S2"),
        ("t", "m8[ms]"),
    ]
    data = np.array([(0.5, "x", "2024-01-01", [1, 2], b"y", 5)], dtype=fields)
    table = read(data)
    assert table.values(0) == {
        "n": 0.5, "s": "x", "d": dt.date(2024, 1, 1), "t": dt.timedelta(milliseconds=5),
    }  # fmt: skip
    assert [column.name for column in table.skipped] == ["l", "b"]


def test_nanoseconds_are_floored_in_every_source(tmp_path: Path) -> None:
    times = np.array([-1, 1_999, "NaT"], dtype="M8[ns]")
    table = pa.table({"t": times, "z": pa.array(times, pa.timestamp("ns", "UTC"))})
    clock = pa.table({"c": pa.array([1_999, None], pa.time64("ns"))})
    for data in (
        table,
        table.to_pandas(),
        polars(table),
        write_parquet(tmp_path / "t.parquet", table),
    ):
        got = read(data)
        is_cut = isinstance(data, Path) and duckdb.__version__.startswith("1.")  # towards 1970
        for column in got.columns:
            assert isinstance(column, NumericColumn)
            first = 0.0 if is_cut and column.name == "z" else -1.0
            assert column.values.tolist()[:2] == [first, 1.0]
            assert column.missing().tolist() == [False, False, True]
        assert [column.form for column in got.columns] == ["datetime", "instant"]
    for data in (clock, polars(clock), write_parquet(tmp_path / "c.parquet", clock)):
        assert read(data).column("c").value(0) == dt.time(0, 0, 0, 1)
    spans = read({"d": np.array([-1, 1_999], dtype="m8[ns]")}).column("d")
    assert [spans.value(row) for row in (0, 1)] == [
        dt.timedelta(microseconds=-1),
        dt.timedelta(microseconds=1),
    ]


@pytest.mark.parametrize(
    ("unit", "value"),
    [
        ("Y", "2024"),
        ("M", "2024-01"),
        ("W", "2024-01-04"),
        ("h", "2024-01-01T05"),
        ("s", "2024-01-01T00:00:07"),
    ],
)
def test_every_resolution_of_numpy(unit: str, value: str) -> None:
    column = read({"t": np.array([value], dtype=f"M8[{unit}]")}).column("t")
    moment = np.array(value, dtype=f"M8[{unit}]").astype("M8[us]").item()
    assert column.value(0) == (moment.date() if unit in "YMW" else moment)


@pytest.mark.parametrize(
    ("values", "form", "first"),
    [
        ([np.int64(1), 2], "integer", 1),
        ([1, 2.5, D("1.5")], "number", 1.0),
        ([10**400, 1], "text", "1" + "0" * 400),
        ([1.5, 10**400], "number", 1.5),
        ([D("NaN"), D("sNaN"), D(1)], "integer", None),
        ([np.float32(0.5), pd.NA], "number", 0.5),
        ([np.bool_(True), None], "boolean", True),
        ([np.str_("x"), pd.NaT], "text", "x"),
        ([uuid.UUID(int=5)], "text", str(uuid.UUID(int=5))),
        ([np.datetime64("2024-01-01"), None], "date", dt.date(2024, 1, 1)),
        ([pd.Timestamp(0, tz="UTC"), pd.NaT], "instant", dt.datetime(1970, 1, 1, tzinfo=dt.UTC)),
        ([np.timedelta64(5, "s"), dt.timedelta(1)], "duration", dt.timedelta(seconds=5)),
    ],
)  # fmt: skip
def test_python_values_tell_their_form(values: list[Any], form: str, first: object) -> None:
    objects = np.empty(len(values), dtype=object)
    objects[:] = values
    for data in (
        {"a": values},
        {"a": objects},
        pd.DataFrame({"a": pd.Series(values, dtype=object)}),
    ):
        column = read(data).column("a")
        assert (column.form, column.value(0)) == (form, first)


@pytest.mark.parametrize(
    ("values", "labels", "types"),
    [
        ([1, "a", None], ("1", "a"), "int, str"),
        ([True, 2], ("2", "True"), "bool, int"),
        ([dt.date(2024, 1, 1), dt.datetime(2024, 1, 1)],
         ("2024-01-01", "2024-01-01 00:00:00"), "date, datetime"),
        ([dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 1, tzinfo=dt.UTC)],
         ("2024-01-01 00:00:00", "2024-01-01 00:00:00+00:00"), "datetime"),
    ],
)  # fmt: skip
def test_mixed_values_are_categories_and_it_is_said(
    values: list[Any], labels: tuple[str, ...], types: str
) -> None:
    for data in ({"a": values}, pd.DataFrame({"a": pd.Series(values, dtype=object)})):
        table = read(data)
        column = table.column("a")
        assert isinstance(column, CategoricalColumn)
        assert column.labels == labels
        assert table.notes == (f"Column 'a': mixed values ({types}) were taken as texts.",)


def test_a_column_without_values_is_what_its_gaps_are() -> None:
    assert read({"a": [None, np.nan]}).column("a").form == "number"
    assert read({"a": [None, None]}).column("a").form == "text"
    texts = pd.DataFrame({"a": pd.Series([np.nan, np.nan], dtype=object)})  # pandas' empty texts
    assert read(texts).column("a").form == "text"


def test_mixed_json_is_like_mixed_values(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "t.jsonl", {"a": [1, "x", True, None]})
    assert same(read(path).column("a"), read({"a": [1, "x", True, None]}).column("a"))


def test_categories_that_are_numbers() -> None:
    column = read(pd.DataFrame({"a": pd.Categorical([3, None, 1])})).column("a")
    assert [column.value(row) for row in range(3)] == ["3", None, "1"]


def test_what_cannot_be_compared_is_skipped_with_a_reason(tmp_path: Path) -> None:
    values: Values = {"k": [1], "l": [[1]], "r": [{"x": 1}], "b": [b"x"]}
    table = arrow(values, {})
    frames = (
        table,
        polars(table),
        table.to_pandas(),
        table.to_pandas(types_mapper=pd.ArrowDtype),
    )
    for data in (values, *frames, write_parquet(tmp_path / "t.parquet", table)):
        got = read(data)
        assert got.names == ["k"]
        assert got.skipped == tuple(
            SkippedColumn(name, f"holds {what}, which cannot be compared")
            for name, what in (("l", "lists"), ("r", "records"), ("b", "bytes"))
        )
    line = tmp_path / "t.jsonl"
    line.write_text('{"k": 1, "l": [1], "r": {"x": 1}}')
    assert [column.name for column in read(line).skipped] == ["l", "r"]
    assert "complex" in read({"k": [1], "c": np.array([1j])}).skipped[0].reason
    assert (
        "Period objects"
        in read(pd.DataFrame({"k": [1], "p": pd.period_range("2024", periods=1)})).skipped[0].reason
    )


def test_a_pandas_index_names_rows() -> None:
    frame = pd.DataFrame({"id": [7, 8], "a": [1, 2]})
    assert read(frame).index == ()
    named = read(frame.set_index("id"))
    assert (named.index, named.names) == (("id",), ["id", "a"])


def test_why_a_column_is_skipped_does_not_depend_on_the_order_of_rows() -> None:
    values: list[Any] = [{1: 2}, [1], b"x", object(), None]
    orders = (values, values[::-1], values[2:] + values[:2])
    skipped = [read({"a": order, "b": [1, 2, 3, 4, 5]}).skipped for order in orders]
    assert len(set(skipped)) == 1
    assert skipped[0][0].reason == "holds bytes, which cannot be compared"
