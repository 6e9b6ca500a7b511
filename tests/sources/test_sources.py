"""Every source gives the same columns, from one table of cases."""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from outlying.sources import read
from tests.carriers import CARRIERS, UNTYPED, arrow, polars, same, write_parquet

D = decimal.Decimal
PARIS = dt.timezone(dt.timedelta(hours=2))


@dataclasses.dataclass(frozen=True)
class Case:
    """A column as Python values, its form, and the formats that cannot carry it (and why)."""

    form: str
    values: list[Any]
    type: pa.DataType | None = None
    expected: list[Any] | None = None
    without: frozenset[str] = frozenset()


NOT_IN_ORC = frozenset({"orc"})  # which has no such type
CASES = {
    "integers": Case("integer", [3, -1, 0]),
    "integers with gaps": Case("integer", [3, None, -(2**53)]),
    "integers, one of them long": Case("integer", [2**53 + 1, 7, 5]),
    "numbers": Case("number", [0.1, -2.5e-300, 1e22]),
    "numbers with gaps": Case("number", [0.1, None, math.nan], expected=[0.1, None, None]),
    "whole numbers of a real type": Case("number", [1.0, 2.0, -3.0]),
    # classic pandas holds integers with gaps like this, so gaps decide, in every source
    "whole numbers of a real type with gaps": Case("integer", [1.0, None, -3.0]),
    "large whole numbers of a real type": Case("number", [1e300, None, 2.0]),
    "infinite numbers": Case("number", [math.inf, -math.inf, 1.5]),
    "no values": Case("text", [None, None, None], pa.null(), without=NOT_IN_ORC),
    "codes": Case(
        "text", [2**53 + 1, 5, -(2**63)], expected=["9007199254740993", "5", str(-(2**63))]
    ),
    # Arrow's JSON, like most, has no type for decimals: they go as numbers
    "decimals": Case(
        "number",
        [D("0.1"), None, D("-12345678901234567.89")],
        pa.decimal128(20, 2),
        expected=[0.1, None, -12345678901234567.89],
    ),
    "booleans": Case("boolean", [True, False, True]),
    "booleans with gaps": Case("boolean", [True, None, False]),
    "texts": Case("text", ["b", "a", "b"]),
    "texts with gaps": Case("text", ["NA", None, "-"]),
    "odd texts": Case("text", ['say "hi", you', "two\nlines; é 😀", " x "]),
    # CSV cannot tell an empty text from a missing one
    "empty texts": Case("text", ["", "a", "b"], without=frozenset({"csv", "tsv"})),
    "texts of digits": Case("text", ["02134", "10001", "00501"]),
    "categories": Case(
        "text", ["b", None, "a"], pa.dictionary(pa.int32(), pa.string()), without=NOT_IN_ORC
    ),
    "dates": Case("date", [dt.date(2024, 2, 29), None, dt.date(1900, 1, 1)]),
    "datetimes": Case(
        "datetime", [dt.datetime(2024, 2, 29, 8, 30, 0, 1), None, dt.datetime(1900, 1, 1)]
    ),
    "instants": Case(
        "instant",
        [
            dt.datetime(2024, 7, 1, 1, tzinfo=PARIS),
            None,
            dt.datetime(1969, 12, 31, 23, 59, 59, 999999, dt.UTC),
        ],
        pa.timestamp("us", "Europe/Paris"),
    ),
    "times": Case("time", [dt.time(8, 30), None, dt.time(23, 59, 59, 999999)], without=NOT_IN_ORC),
    # text formats have no notation for durations, and Parquet stores Arrow's as plain integers
    "durations": Case(
        "duration",
        [dt.timedelta(days=-1, microseconds=1), None, dt.timedelta(hours=36)],
        without=frozenset(UNTYPED | {"parquet", "orc"}),
    ),
}


@pytest.mark.parametrize(
    ("name", "carrier"),
    [(name, way) for name, case in CASES.items() for way in CARRIERS if way not in case.without],
)
def test_the_same_column_from_every_source(name: str, carrier: str, tmp_path: Path) -> None:
    case = CASES[name]
    values = {"row": [0, 1, 2], name: case.values}
    table = read(CARRIERS[carrier](tmp_path, values, arrow(values, {name: case.type})))
    column = table.column(name)
    assert column.form == case.form
    assert [column.value(row) for row in range(3)] == (case.expected or case.values)
    assert same(column, read(values).column(name))
    assert (table.names, table.rows, table.skipped) == (["row", name], 3, ())
    codes = (f"Column {name!r}: whole numbers beyond 2**53 were read as categories.",)
    assert table.notes == (codes if name == "codes" else ())


NAMES = [
    "",  # further on, a header of a CSV file without a name is called by its place
    "A",
    "a",
    'x"y',
    "x'y",
    "two\nlines",
    "select",
    "a b",
    " b",
    "a,b;c\td",
    "é😀",
    "rowid",
    "c0",
]


@pytest.mark.parametrize("carrier", CARRIERS)
def test_hostile_names_are_kept(carrier: str, tmp_path: Path) -> None:
    values = {name: [place, place + 1] for place, name in enumerate(NAMES)}
    table = read(CARRIERS[carrier](tmp_path, values, arrow(values, {})))
    assert table.names == NAMES
    assert [table.column(name).value(1) for name in NAMES] == list(range(1, len(NAMES) + 1))


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
COLUMN = st.sampled_from(
    [
        st.integers(-(2**63), 2**63 - 1),
        st.integers(-100, 100),
        st.floats(),
        TEXTS,
        st.booleans(),
        st.dates(),
        st.datetimes(),
    ]
)


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    rows = draw(st.integers(1, 5))
    names = draw(st.lists(TEXTS, min_size=1, max_size=4, unique=True))
    kinds = [draw(COLUMN) for _ in names]
    cells = [draw(st.lists(st.none() | kind, min_size=rows, max_size=rows)) for kind in kinds]
    return pa.table([pa.array(column) for column in cells], names=names)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(tables())
def test_random_tables_are_the_same_through_files_and_frames(
    tmp_path: Path, table: pa.Table
) -> None:
    expected = read(table)
    path = write_parquet(tmp_path / "t.parquet", table)
    arrow_frame = table.to_pandas(types_mapper=pd.ArrowDtype)
    for data in (path, polars(table), arrow_frame, table.to_pydict()):
        got = read(data)
        assert got.names == expected.names
        for one, other in zip(got.columns, expected.columns, strict=True):
            assert same(one, other)


@pytest.mark.parametrize(
    ("data", "source"),
    [
        (pd.DataFrame({"a": [1]}), "pandas DataFrame"),
        (pl.DataFrame({"a": [1]}), "polars DataFrame"),
        (pa.table({"a": [1]}), "pyarrow Table"),
        (nw.from_native(pl.DataFrame({"a": [1]})), "polars DataFrame"),
        ({"a": [1]}, "dict of arrays"),
        (np.array([[1]]), "NumPy array"),
        (np.array([(1,)], dtype=[("a", "i4")]), "NumPy array"),
    ],
)
def test_source_of_data_in_memory(data: object, source: str) -> None:
    assert read(data).source == source


def test_source_of_a_file_is_the_path_as_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    Path("t.csv").write_text("a\n1\n")
    assert read("t.csv").source == "t.csv"
    assert read(Path("t.csv")).source == "t.csv"
    assert read("~/t.csv").source == "~/t.csv"


def test_a_table_passes_through() -> None:
    table = read({"a": [1, 2]})
    assert read(table) is table


def test_importing_the_package_loads_no_library() -> None:
    code = (
        "import sys, outlying.sources; "
        "print(sorted({'duckdb', 'narwhals', 'pandas', 'polars', 'pyarrow'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
