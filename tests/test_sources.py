"""Every source gives the same columns, from one table of cases; every fault has its own message."""

from __future__ import annotations

import csv
import dataclasses
import datetime as dt
import decimal
import gzip
import io
import json
import math
import os
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from outlying.errors import ColumnError, SourceError
from outlying.sources import read
from outlying.table import CategoricalColumn, Column, NumericColumn, SkippedColumn, Table

Values = dict[str, list[Any]]
D = decimal.Decimal
PARIS = dt.timezone(dt.timedelta(hours=2))


# Ways to carry a table ---------------------------------------------------------------------------


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
            n: float(v) if isinstance(v, D) else plain_text(v)
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
CARRIERS: dict[str, Callable[[Path, Values, pa.Table], Any]] = {
    "csv": lambda folder, values, _: write_delimited(folder / "t.csv", values),
    "tsv": lambda folder, values, _: str(write_delimited(folder / "t.tsv", values, "\t")),
    "jsonl": lambda folder, values, _: write_lines(folder / "t.jsonl", values),
    "json": lambda folder, values, _: write_lines(folder / "t.json", values),
    "parquet": lambda folder, _, table: write_parquet(folder / "t.parquet", table),
    "pandas": lambda _f, _, table: table.to_pandas(),
    "pandas nullable": lambda _f, _, table: table.to_pandas(types_mapper=NULLABLE.get),
    "pandas arrow": lambda _f, _, table: table.to_pandas(types_mapper=pd.ArrowDtype),
    "polars": lambda _f, _, table: polars(table),
    "pyarrow": lambda _f, _, table: table,
    "dict of lists": lambda _f, values, _: values,
    "dict of series": lambda _f, _, table: {n: table[n] for n in table.column_names},
}
UNTYPED = {"csv", "tsv", "jsonl", "json"}


@dataclasses.dataclass(frozen=True)
class Case:
    """A column as Python values, its form, and the formats that cannot carry it (and why)."""

    form: str
    values: list[Any]
    type: pa.DataType | None = None
    expected: list[Any] | None = None
    without: frozenset[str] = frozenset()


CASES = {
    "integers": Case("integer", [3, -1, 0]),
    "integers with gaps": Case("integer", [3, None, -(2**53)]),
    "numbers": Case("number", [0.1, -2.5e-300, 1e22]),
    "numbers with gaps": Case("number", [0.1, None, math.nan], expected=[0.1, None, None]),
    "whole numbers of a real type": Case("number", [1.0, 2.0, -3.0]),
    # classic pandas holds integers with gaps like this, so gaps decide, in every source
    "whole numbers of a real type with gaps": Case("integer", [1.0, None, -3.0]),
    "large whole numbers of a real type": Case("number", [1e300, None, 2.0]),
    "infinite numbers": Case("number", [math.inf, -math.inf, 1.5]),
    "no values": Case("text", [None, None, None], pa.null()),
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
    "categories": Case("text", ["b", None, "a"], pa.dictionary(pa.int32(), pa.string())),
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
    "times": Case("time", [dt.time(8, 30), None, dt.time(23, 59, 59, 999999)]),
    # text formats have no notation for durations, and Parquet stores Arrow's as plain integers
    "durations": Case(
        "duration",
        [dt.timedelta(days=-1, microseconds=1), None, dt.timedelta(hours=36)],
        without=frozenset(UNTYPED | {"parquet"}),
    ),
}


def same(one: Column, other: Column) -> bool:
    if isinstance(one, CategoricalColumn) and isinstance(other, CategoricalColumn):
        values = np.array_equal(one.codes, other.codes) and one.labels == other.labels
    elif isinstance(one, NumericColumn) and isinstance(other, NumericColumn):
        values = np.array_equal(one.values, other.values, equal_nan=True)
    else:
        return False
    return (one.name, one.form) == (other.name, other.form) and values


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
    codes = (f"column {name!r}: whole numbers beyond 2**53 read as categories",)
    assert table.notes == (codes if name == "codes" else ())


NAMES = [
    "A",
    "a",
    'x"y',
    "x'y",
    "two\nlines",
    "select",
    "a b",
    " b",
    "",
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


# Sources and what they are called ----------------------------------------------------------------


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
        "import sys, outlying.sources; outlying.sources.read({'a': [1, 2]}); "
        "print(sorted({'duckdb', 'narwhals', 'pandas', 'polars', 'pyarrow'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


# NumPy, dicts, Python values ---------------------------------------------------------------------


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
        for column in got.columns:
            assert isinstance(column, NumericColumn)
            assert column.values.tolist()[:2] == [-1.0, 1.0]
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
    moment = np.datetime64(value, unit).astype("M8[us]").item()
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
        ([pd.Timestamp("2024-01-01", tz="UTC"), pd.NaT], "instant", dt.datetime(2024, 1, 1, tzinfo=dt.UTC)),
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
        ([dt.date(2024, 1, 1), dt.datetime(2024, 1, 1)], ("2024-01-01", "2024-01-01 00:00:00"), "date, datetime"),
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
        assert table.notes == (f"column 'a': mixed values ({types}) read as categories",)


def test_mixed_json_is_like_mixed_values(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "t.jsonl", {"a": [1, "x", True, None]})
    assert same(read(path).column("a"), read({"a": [1, "x", True, None]}).column("a"))


def test_categories_that_are_numbers() -> None:
    column = read(pd.DataFrame({"a": pd.Categorical([3, None, 1])})).column("a")
    assert [column.value(row) for row in range(3)] == ["3", None, "1"]


def test_what_cannot_be_compared_is_skipped_with_a_reason(tmp_path: Path) -> None:
    values = {"k": [1], "l": [[1]], "r": [{"x": 1}], "b": [b"x"]}
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


def test_a_named_pandas_index_is_mentioned() -> None:
    frame = pd.DataFrame({"id": [7, 8], "a": [1, 2]})
    assert read(frame).notes == ()
    assert read(frame.set_index("id")).notes == (
        "index 'id' is not a column; reset_index() makes it one",
    )


# CSV ---------------------------------------------------------------------------------------------


@pytest.fixture
def csv_of(tmp_path: Path) -> Callable[[str | bytes], Table]:
    def read_content(content: str | bytes, name: str = "t.csv") -> Table:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return read(path)

    return read_content


Content = Callable[[str | bytes], Table]


def column_values(table: Table, name: str) -> list[Any]:
    column = table.column(name)
    return [column.value(row) for row in range(table.rows)]


@pytest.mark.parametrize(
    "word", ["NA", "N/A", "NaN", "nan", "null", "NULL", "None", "#N/A", "?", "-"]
)
def test_words_for_missing_values(csv_of: Content, word: str) -> None:
    rows = f"1,x,2024-01-01,true\n{word},{word},{word},{word}\n {word} ,y,2024-01-02,false\n"
    table = csv_of("number,text,date,flag\n" + rows)
    assert column_values(table, "number") == [1, None, None]
    assert column_values(table, "text") == ["x", word, "y"]
    assert column_values(table, "date") == [dt.date(2024, 1, 1), None, dt.date(2024, 1, 2)]
    assert column_values(table, "flag") == [True, None, False]
    assert table.notes == (
        f"column 'number': {word!r} (2 rows) read as missing",
        f"column 'date': {word!r} (1 row) read as missing",
        f"column 'flag': {word!r} (1 row) read as missing",
    )


def test_a_word_that_is_no_word_for_missing_keeps_a_column_text(csv_of: Content) -> None:
    table = csv_of("a,b\n1,1\nNA,NA\nunknown,3\n")
    assert column_values(table, "a") == ["1", "NA", "unknown"]
    assert table.notes == ("column 'b': 'NA' (1 row) read as missing",)


def test_types_are_decided_on_all_rows(csv_of: Content) -> None:
    lines = ["1,0,,1"] * 5_000 + ["2.5,x,2024-01-01,99999999999999999999"]
    table = csv_of("a,b,c,d\n" + "\n".join(lines))
    assert [column.form for column in table.columns] == ["number", "text", "date", "text"]
    assert column_values(table, "d")[-1] == "99999999999999999999"


def test_words_of_other_languages_stay_texts(csv_of: Content) -> None:
    table = csv_of("a,b,c,d\nyes,T,007,1_000\nno,F,1,0x1F\n")
    assert [column.form for column in table.columns] == ["text"] * 4


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["31.12.2023", "1.2.2024"], [dt.date(2023, 12, 31), dt.date(2024, 2, 1)]),
        (["31/12/2023", "01/02/2024"], [dt.date(2023, 12, 31), dt.date(2024, 2, 1)]),
        (["12/31/2023", "01/02/2024"], [dt.date(2023, 12, 31), dt.date(2024, 1, 2)]),
        (["2023/12/31", "2024/01/02"], [dt.date(2023, 12, 31), dt.date(2024, 1, 2)]),
        (["2024-02-30", "2024-01-01"], ["2024-02-30", "2024-01-01"]),
        (["2024-01-01", "2024-01-01 05:00"], [dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 1, 5)]),
        (["2024-01-01T05:00:00Z", "2024-01-01 05:00:00+0200"],
         [dt.datetime(2024, 1, 1, 5, tzinfo=dt.UTC), dt.datetime(2024, 1, 1, 3, tzinfo=dt.UTC)]),
        (["25:00", "08:30"], ["25:00", "08:30"]),
    ],
)  # fmt: skip
def test_notations_of_dates(csv_of: Content, texts: list[str], expected: list[Any]) -> None:
    table = csv_of("a,b\n" + "".join(f"{text},x\n" for text in texts))
    assert (column_values(table, "a"), table.notes) == (expected, ())


def test_dates_that_could_be_either_stay_texts_and_it_is_said(csv_of: Content) -> None:
    table = csv_of("a,b\n01/02/2024,1\n03/04/2024,2\n")
    assert column_values(table, "a") == ["01/02/2024", "03/04/2024"]
    assert "day and month cannot be told apart" in table.notes[0]


def test_decimal_commas_between_semicolons(csv_of: Content) -> None:
    table = csv_of("a;b\n1,5;x\n2;y\n")
    assert column_values(table, "a") == [1.5, 2.0]
    assert table.notes == ("column 'a': decimal commas read as decimal points",)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiters_are_found(csv_of: Content, delimiter: str) -> None:
    table = csv_of(f'a{delimiter}b\n1{delimiter}"x, y; z|\t"\n')
    assert table.values(0) == {"a": 1, "b": "x, y; z|\t"}


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_and_byte_order_mark(csv_of: Content, end: str) -> None:
    table = csv_of(f"\ufeffa,b{end}1,2{end}{end}3,4{end}")
    assert [table.values(row) for row in range(table.rows)] == [{"a": 1, "b": 2}, {"a": 3, "b": 4}]


def test_mixed_line_ends_and_leading_blank_lines(csv_of: Content) -> None:
    table = csv_of("\n\na,b\n1,2\r\n3,4\n")
    assert [table.values(row) for row in range(table.rows)] == [{"a": 1, "b": 2}, {"a": 3, "b": 4}]


def test_a_file_without_header_gets_numbered_columns(csv_of: Content) -> None:
    table = csv_of("1,x\n2,y\n")
    assert (table.names, table.rows) == (["column0", "column1"], 2)
    assert table.notes == ("no header line found: columns are named column0, column1, ...",)
    assert csv_of("name,city\nann,rome\n").names == ["name", "city"]


def test_rows_that_look_like_comments_are_rows(csv_of: Content) -> None:
    assert column_values(csv_of("a,b\n#1,x\n#2,y\n3,z\n"), "a") == ["#1", "#2", "3"]


def test_a_single_column(csv_of: Content) -> None:
    assert column_values(csv_of("a\n1\n\n3\n"), "a") == [1, None, 3]


def test_rows_keep_their_order(tmp_path: Path) -> None:
    rows = 300_000
    numbers = np.arange(rows)
    frame = pl.DataFrame({"n": numbers, "s": numbers.astype(str), "x": numbers / 3})
    frame.write_csv(tmp_path / "t.csv")
    frame.write_parquet(tmp_path / "t.parquet", row_group_size=10_000)
    for name in ("t.csv", "t.parquet"):
        table = read(tmp_path / name)
        for column in (table.column("n"), table.column("x")):
            assert isinstance(column, NumericColumn)
            assert np.all(np.diff(column.values) > 0)
        assert table.rows == rows


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".json", ".jsonl", ".ndjson"])
def test_compressed_files(tmp_path: Path, suffix: str) -> None:
    plain = tmp_path / f"t{suffix}"
    values: Values = {"a": [1, 2], "b": ["x", "y"]}
    if suffix in (".csv", ".tsv"):
        write_delimited(plain, values, "," if suffix == ".csv" else "\t")
    else:
        write_lines(plain, values)
    packed = tmp_path / f"T{suffix}.GZ"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    for one, other in zip(read(packed).columns, read(plain).columns, strict=True):
        assert same(one, other)


@pytest.mark.parametrize(
    "name", ["a*.csv", "[1].csv", "q?.csv", "it's.csv", "~x.csv", "{a,b}.csv", "p=1.csv", "é.csv"]
)
def test_odd_file_names_are_no_patterns(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for other in ("ab.csv", "1.csv", "q1.csv", "a.csv", "b.csv"):
        Path(other).write_text("other\n1\n")
    Path(name).write_text("a,b\n1,2\n")
    assert read(name).values(0) == {"a": 1, "b": 2}


def test_folder_names_add_no_columns(tmp_path: Path) -> None:
    folder = tmp_path / "year=2024"
    folder.mkdir()
    assert read(write_parquet(folder / "t.parquet", pa.table({"a": [1]}))).names == ["a"]


def test_the_zone_of_the_machine_does_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n2024-01-01T00:00:00+01:00,1\n")
    code = (
        f"from outlying.sources import read; print(read({str(path)!r}).values(0)['a'].isoformat())"
    )
    for zone in ("America/New_York", "Asia/Tokyo"):
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "TZ": zone},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout == "2023-12-31T23:00:00+00:00\n"


def test_absent_keys_of_json_are_missing(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text('\n{"a": 1}\n{\n "b": "x"}\n {"a": NaN, "b": null}')
    table = read(path)
    assert [table.values(row) for row in range(3)] == [
        {"a": 1, "b": None}, {"a": None, "b": "x"}, {"a": None, "b": None},
    ]  # fmt: skip


# Faults ------------------------------------------------------------------------------------------


def parquet_bytes(**columns: list[Any]) -> bytes:
    stream = io.BytesIO()
    pq.write_table(pa.table(columns), stream)
    return stream.getvalue()


GOOD = parquet_bytes(a=list(range(1000)))
BROKEN = GOOD[:4] + b"\xff" * 200 + GOOD[204:]

FAULTS: list[tuple[str, bytes, str]] = [
    ("t.csv", b"", "t.csv: the file is empty"),
    ("t.csv", b" \n\n", "nothing but blank lines"),
    ("t.csv.gz", gzip.compress(b""), "nothing but blank lines"),
    ("t.csv", b"a,b\n", "there are no rows"),
    (
        "t.csv",
        b"a,b\nx,1\n\xe9t\xe9,2\n",
        r"line 3 is not UTF-8 text \(byte 0xe9\).*iconv -f latin1 -t utf8 t.csv",
    ),
    ("t.csv", "a,b\n1,2\n".encode("utf-16"), "line 1 is not UTF-8 .*iconv -f utf16"),
    ("t.csv", b"a,b\n1,2\n3,4,5\n", "line 3 has 3 fields, the first line has 2"),
    ("t.csv", b"a,b\n1,2\n3\n", "line 3 has 1 fields, the first line has 2"),
    ("t.csv", b"a,b\n" + b"1,2\n" * 50 + b"1,2,3\n", "line 52 has 3 fields"),
    ("t.csv", b'a,b\n1,"x\n\ny"\n1,2,3\n', "line 5 has 3 fields"),
    ("t.csv", b"A report\na,b\n1,2\n", "line 2 has 2 fields, the first line has 1"),
    ("t.tsv", b"a\tb\n1\t2\t3\n", "line 2 has 3 fields"),
    ("t.csv", b'a,b\n1,"x\n2,y\n', "line 2 has a fault in its quotes"),
    ("t.csv", b'a,b\n1,"x" y\n2,y\n', "line 2 has a fault in its quotes"),
    ("t.csv.gz", b"a,b\n1,2\n", "not a complete gzip file"),
    ("t.csv.gz", gzip.compress(os.urandom(500).hex().encode())[:-20], "not a complete gzip file"),
    ("t.jsonl", b'{"a": 1}\n{"a": 2\n{"a": 3}\n', "is not valid JSON: line 3, column 1"),
    ("t.json", b'[{"a": 1}, {"a": 2]', "is not valid JSON: line 1"),
    ("t.json", b"[1, 2]", "value 1 is of type int; allowed: an array of objects"),
    ("t.json", b"[]", "there are no rows"),
    ("t.json", b"[{}]", "there are no columns"),
    (
        "t.json",
        b'{"a": [1, 2], "b": {"x": 1}}',
        "no column can be used: 'a' holds lists.*'b' holds records",
    ),
    ("t.json", b"[" * 100_000, "cannot be read"),
    ("t.jsonl", b'{"a": "\xe9"}', "line 1 is not UTF-8 text"),
    ("t.parquet", b"hello, world", "is not a Parquet file"),
    ("t.parquet", GOOD[:-100], "the Parquet file is cut off"),
    ("t.parquet", BROKEN, "t.parquet: cannot be read: "),
    ("t.parquet", b"PAR1" + b"x" * 100 + b"PAR1", "t.parquet: cannot be read: "),
    ("t.parquet", parquet_bytes(a=[]), "there are no rows"),
    ("t.xlsx", b"x", r"unknown kind of file; known suffixes: \.csv, \.tsv"),
    ("t", b"x", "unknown kind of file"),
]


@pytest.mark.parametrize(("name", "content", "message"), FAULTS)
def test_faults_of_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: bytes, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_bytes(content)
    with pytest.raises(SourceError, match=f"^t[^ ]*: .*{message}|^{message}") as caught:
        read(name)
    for engine_talk in ("duckdb", "Possible", "ignore_errors", "LINE 1", "\n"):
        assert engine_talk not in str(caught.value)


def test_a_missing_file_names_its_neighbours(tmp_path: Path) -> None:
    (tmp_path / "patients.csv").write_text("a\n1\n")
    with pytest.raises(SourceError, match=r"no such file; did you mean 'patients\.csv'\?"):
        read(tmp_path / "patient.csv")
    with pytest.raises(SourceError, match="no such file; check the path"):
        read(tmp_path / "zzz")
    with pytest.raises(SourceError, match=r"the folder .* does not exist"):
        read(tmp_path / "nowhere" / "a.csv")
    with pytest.raises(SourceError, match="cannot be opened"):
        read("a\0b.csv")


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="is a folder; give the path of one file"):
        read(tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="rights work otherwise there")
def test_a_file_without_rights(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a\n1\n")
    path.chmod(0)
    root = os.geteuid() == 0
    if root:  # root may read everything
        os.seteuid(65534)
    try:
        with pytest.raises(SourceError, match="no permission to read it"):
            read(path)
    finally:
        if root:
            os.seteuid(0)


@pytest.mark.parametrize(
    "address", ["https://example.org/a.csv", "s3://bucket/a.parquet", "file:///a.csv"]
)
def test_addresses_are_refused(address: str) -> None:
    with pytest.raises(SourceError, match="is an address, not a file; download it"):
        read(address)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (None, "cannot read NoneType; allowed: a path to a CSV"),
        ([{"a": 1}], "cannot read list; allowed: a path to a CSV"),
        (pd.Series([1]), "cannot read pandas Series; allowed"),
        (
            pl.LazyFrame({"a": [1]}),
            "polars LazyFrame holds no rows yet, only a query; collect it first",
        ),
        (np.array([1.0]), r"NumPy array: 1 dimensions \(1\); allowed: two.*reshape"),
        (np.zeros((1, 2, 3)), r"NumPy array: 3 dimensions \(1x2x3\)"),
        (np.array(5), r"0 dimensions \(a single value\)"),
        (np.zeros((2, 2), dtype=[("a", "i4")]), "structured array of 2 dimensions"),
        ({"a": [1, 2], "b": [1]}, "column 'a' has 2 values but 'b' has 1"),
        ({"a": "text"}, "column 'a' is str; allowed: a list"),
        ({"a": 5}, "column 'a' is int; allowed: a list"),
        ({"a": np.zeros((2, 2))}, "column 'a' is an array of 2 dimensions"),
        ({}, "there are no columns"),
        (pd.DataFrame(), "there are no columns"),
        (np.zeros((3, 0)), "there are no columns"),
        ({"a": []}, "there are no rows"),
        (pd.DataFrame({"a": []}), "there are no rows"),
        (np.zeros((0, 3)), "there are no rows"),
        (pa.table({"a": pa.array([[1]])}), "no column can be used: 'a' holds lists"),
    ],
)
def test_faults_of_data_in_memory(data: object, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        read(data)


def doubled(name: str, folder: Path) -> object:
    table = pa.table([pa.array([1]), pa.array([2]), pa.array([3])], names=["a", "b", "a"])
    path = folder / name
    if name == "t.parquet":
        return write_parquet(path, table)
    path.write_text("a,b,a\n1,2,3\n" if name == "t.csv" else '{"a": 1, "b": 2, "a": 3}')
    return path


def test_doubled_names_are_refused(tmp_path: Path) -> None:
    frame = pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"])
    table = pa.table([pa.array([1]), pa.array([2]), pa.array([3])], names=["a", "b", "a"])
    for data in (frame, table, doubled("t.csv", tmp_path), doubled("t.parquet", tmp_path)):
        with pytest.raises(ColumnError, match="columns 1 and 3 are both called 'a'; rename one"):
            read(data)
    with pytest.raises(ColumnError, match="the key 'a' twice"):
        read(doubled("t.json", tmp_path))


def test_names_are_doubled_also_after_becoming_texts() -> None:
    datas: Iterable[object] = ({1: [1], "1": [2]}, pd.DataFrame([[1, 2]], columns=[1, "1"]))
    for data in datas:
        with pytest.raises(ColumnError, match="columns 1 and 2 are both called '1'"):
            read(data)
    assert read(pd.DataFrame([[1, 2]])).names == ["0", "1"]
