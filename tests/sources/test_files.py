"""What is particular to files: the types of CSV, header lines, order, names, compression."""

from __future__ import annotations

import datetime as dt
import decimal
import gzip
import itertools
import math
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import outlying
from outlying.errors import SourceError
from outlying.options import Options
from outlying.parsing.columns import as_declared
from outlying.sources import read
from outlying.table import selection
from outlying.table.columns import NumericColumn
from outlying.table.table import SkippedColumn, Table
from tests.carriers import (
    Values,
    column_values,
    same,
    write_delimited,
    write_lines,
    write_parquet,
)
from tests.conftest import Run


@pytest.fixture
def csv_of(tmp_path: Path) -> Callable[[str | bytes], Table]:
    def read_content(content: str | bytes, name: str = "t.csv") -> Table:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return read(path)

    return read_content


Content = Callable[[str | bytes], Table]


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
        f"Column 'number': {word!r} (2 rows) counts as missing.",
        f"Column 'date': {word!r} (1 row) counts as missing.",
        f"Column 'flag': {word!r} (1 row) counts as missing.",
    )


def test_a_word_that_is_no_word_for_missing_keeps_a_column_text(csv_of: Content) -> None:
    table = csv_of("a,b\n1,1\nNA,NA\nunknown,3\n")
    assert column_values(table, "a") == ["1", "NA", "unknown"]
    assert table.notes == ("Column 'b': 'NA' (1 row) counts as missing.",)


def test_types_are_decided_on_all_rows(csv_of: Content) -> None:
    lines = ["1,0,,1"] * 5_000 + ["2.5,x,2024-01-01,99999999999999999999"]
    table = csv_of("a,b,c,d\n" + "\n".join(lines))
    assert [column.form for column in table.columns] == ["number", "text", "date", "number"]
    assert column_values(table, "d")[-1] == 1e20


def test_words_of_other_languages_stay_texts(csv_of: Content) -> None:
    table = csv_of("a,b,c,d\nyes,T,007,1_000\nno,F,1,0x1F\n")
    assert [column.form for column in table.columns] == ["text"] * 4


@pytest.mark.parametrize(
    ("texts", "expected", "note"),
    [
        (["31.12.2023", "1.2.2024"], [dt.date(2023, 12, 31), dt.date(2024, 2, 1)],
         "read as day.month.year; 31.12.2023 fits no other order"),
        (["31/12/2023", "01/02/2024"], [dt.date(2023, 12, 31), dt.date(2024, 2, 1)],
         "read as day/month/year; 31/12/2023 fits no other order"),
        (["12/31/2023", "01/02/2024"], [dt.date(2023, 12, 31), dt.date(2024, 1, 2)],
         "read as month/day/year; 12/31/2023 fits no other order"),
        (["2023/12/31", "2024/01/02"], [dt.date(2023, 12, 31), dt.date(2024, 1, 2)],
         "read as dates, '2023/12/31' as 2023-12-31"),
        # day and month cannot be told apart, so it has to be said
        (["01/02/2024", "03/04/2024"], [dt.date(2024, 2, 1), dt.date(2024, 4, 3)],
         "read as day/month/year, '01/02/2024' as 2024-02-01; nothing rules out month/day/year"),
        (["31.12.2023 10:00:00", "01.02.2024 08:30:00"],
         [dt.datetime(2023, 12, 31, 10), dt.datetime(2024, 2, 1, 8, 30)],
         "read as day.month.year; 31.12.2023 fits no other order"),
        (["2024-1-5", "2024-12-31"], [dt.date(2024, 1, 5), dt.date(2024, 12, 31)],
         "read as dates, '2024-1-5' as 2024-01-05"),
        (["2024-02-30", "2024-01-01"], ["2024-02-30", "2024-01-01"], None),
        (["2024-01-01", "2024-01-01 05:00"],
         [dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 1, 5)], None),
        (["2024-01-01T05:00:00Z", "2024-01-01 05:00:00+0200"],
         [dt.datetime(2024, 1, 1, 5, tzinfo=dt.UTC), dt.datetime(2024, 1, 1, 3, tzinfo=dt.UTC)],
         None),
        (["9:05", "23:59:59.5"], [dt.time(9, 5), dt.time(23, 59, 59, 500_000)], None),
        (["25:00", "08:30"], ["25:00", "08:30"], None),
    ],
)  # fmt: skip
def test_notations_of_dates(
    csv_of: Content, texts: list[str], expected: list[Any], note: str | None
) -> None:
    content = "a,b\n" + "".join(f"{text},x\n" for text in texts)
    table = as_declared(csv_of(content), Options())
    notes = () if note is None else (f"Column 'a' was {note}.",)
    assert (column_values(table, "a"), table.notes) == (expected, notes)


def test_dates_of_two_notations_in_one_file(csv_of: Content) -> None:
    found = csv_of("a,b\n2024-01-01,31/12/2023\n2024-01-02,01/02/2024\n")
    table = as_declared(found, Options())
    assert table.values(0) == {"a": dt.date(2024, 1, 1), "b": dt.date(2023, 12, 31)}


@pytest.mark.parametrize(
    ("usual", "last"),
    [
        ("2024-01-01 05:00:00", "2024-01-01 05:00:00+02"),
        ("2024-01-01 05:00:00", "epoch"),
        ("2024-01-01 05:00:00+02", "2024-01-01 05:00:00"),
        ("2024-01-01", "epoch"),
        ("2024-01-01", "infinity"),
        ("31/12/2023", "-infinity"),
        ("05:00:00", "05:00:00+02"),
        ("05:00:00", "24:00:00"),
        ("true", "yes"),
        ("1", "0x1F"),
        ("1", "1_000"),
        ("1.5", "NAN"),
        ("1.5", "-nan"),
        ("1.5", "007"),
    ],
)
@pytest.mark.parametrize("rows", [1, 5_000])
def test_what_a_type_would_lose_or_change_keeps_a_column_text(
    csv_of: Content, usual: str, last: str, rows: int
) -> None:
    table = csv_of("a,b\n" + f"{usual},x\n" * rows + f"{last},x\n")
    assert column_values(table, "a") == [usual] * rows + [last]


@pytest.mark.parametrize("digits", [16, 18, 19, 20, 30, 38, 39, 40, 60])
def test_long_whole_numbers_are_exact(csv_of: Content, digits: int) -> None:
    longest = "-" + "9" * digits
    table = csv_of(f"a,b\n{longest},x\n1,y\nNA,z\n")
    assert column_values(table, "a") == [longest, "1", None]
    assert table.notes == (
        "Column 'a': whole numbers beyond 2**53 were read as categories; "
        "'NA' (1 row) counts as missing.",
    )


def test_spaces_around_values(csv_of: Content) -> None:
    table = csv_of("a,b,c\n1, 1.5, NA\n 2 , ,x \n3,inf,y\n")
    assert [column.form for column in table.columns] == ["integer", "number", "text"]
    assert column_values(table, "b") == [1.5, None, math.inf]
    assert column_values(table, "c") == [" NA", "x ", "y"]
    assert table.notes == ("Column 'b': blank (1 row) counts as missing.",)


def test_decimal_commas_between_semicolons(csv_of: Content) -> None:
    table = csv_of("a;b\n1,5;x\n2;y\n")
    assert column_values(table, "a") == [1.5, 2.0]
    assert table.notes == ("Column 'a': decimal commas were read as decimal points.",)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiters_are_found(csv_of: Content, delimiter: str) -> None:
    table = csv_of(f'a{delimiter}b\n1{delimiter}"x, y; z|\t"\n')
    assert table.values(0) == {"a": 1, "b": "x, y; z|\t"}


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_and_byte_order_mark(csv_of: Content, end: str) -> None:
    table = csv_of(f"\ufeffa,b{end}1,2{end}{end}3,4{end}")
    assert [table.values(row) for row in range(table.rows)] == [{"a": 1, "b": 2}, {"a": 3, "b": 4}]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("header", ["a,b", '"a","b"'])
def test_several_byte_order_marks(tmp_path: Path, encoding: str, header: str) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(f"\ufeff\ufeff{header}\n1,2\n3,4\n".encode(encoding))
    for given in ({}, {"encoding": encoding}):
        assert read(path, **given).values(1) == {"a": 3, "b": 4}
    assert outlying.scan(path).schema().names == ["a", "b"]
    path = tmp_path / "t.jsonl"
    path.write_bytes('\ufeff\ufeff{"a": 1}\n{"a": 2}\n'.encode(encoding))
    assert read(path).values(1) == {"a": 2}


def test_mixed_line_ends_and_leading_blank_lines(csv_of: Content) -> None:
    table = csv_of("\n\na,b\n1,2\r\n3,4\n")
    assert [table.values(row) for row in range(table.rows)] == [{"a": 1, "b": 2}, {"a": 3, "b": 4}]


@pytest.mark.parametrize("ends", [*itertools.permutations(["\n", "\r\n", "\r"])])
def test_mixed_line_ends_change_no_value(csv_of: Content, ends: tuple[str, ...]) -> None:
    one, two, three = ends
    table = csv_of(f'a,b{one}10,"x\r\ny"{two}20,y{three}30,z{one}')
    assert column_values(table, "a") == [10, 20, 30]
    assert column_values(table, "b") == ["x\r\ny", "y", "z"]
    assert column_values(csv_of(f"a{one}10{two}20{three}30{one}"), "a") == [10, 20, 30]


def test_line_ends_within_quotes_are_part_of_the_value(csv_of: Content) -> None:
    table = csv_of('"a\r\nb",c\n"x\r\ny",1\n"two\nlines",2\n')
    assert column_values(table, "a\r\nb") == ["x\r\ny", "two\nlines"]


def test_a_delimiter_too_many_at_the_end_of_some_lines(csv_of: Content) -> None:
    table = csv_of("a,b\n1,2,\n3,4\n5,6,\n")
    assert column_values(table, "b") == [2, 4, 6]


def test_a_file_without_header_gets_numbered_columns(csv_of: Content) -> None:
    table = csv_of("1,x\n2,y\n")
    assert (table.names, table.rows) == (["column0", "column1"], 2)
    assert table.notes == ("No header line was found: columns are named column0, column1, ...",)
    assert csv_of("name,city\nann,rome\n").names == ["name", "city"]


@pytest.mark.parametrize(
    "content",
    ["z,2024-01-01\nNaN,2024-01-02\n", "\n2023-12-31\n2024-01-01\n", "5,x\n2,NA\n3,\n", "1,2\n"],
)
def test_no_row_is_taken_for_a_header_that_reads_like_the_others(
    csv_of: Content, content: str
) -> None:
    table = csv_of(content)
    assert table.rows == len(content.split())
    assert table.notes[0].startswith("No header line was found")


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


def test_types_that_only_engines_write(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    duckdb.execute(
        f"""COPY (SELECT UUID 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11' AS id,
        INTERVAL '36 hours' AS i, 'x'::ENUM('x', 'y') AS e, TIMETZ '08:00:00+00' AS t,
        MAP {{'k': 1}} AS m) TO '{path}'"""
    )
    table = read(path)
    assert table.values(0) == {
        "id": "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
        "i": dt.timedelta(hours=36),
        "e": "x",
        "t": dt.time(8),
    }
    assert table.skipped == (SkippedColumn("m", "holds records, which cannot be compared"),)


def test_decimals_of_any_length(tmp_path: Path) -> None:
    values = [decimal.Decimal("1.500"), None, decimal.Decimal("1e40")]
    path = write_parquet(
        tmp_path / "t.parquet", pa.table({"a": pa.array(values, pa.decimal256(50, 3))})
    )
    if duckdb.__version__.startswith("1."):
        with pytest.raises(SourceError, match="decimals of more than 38 digits"):
            read(path)
    else:
        assert column_values(read(path), "a") == [1.5, None, 1e40]


def test_wide_files_and_long_fields(csv_of: Content) -> None:
    names = [f"c{place}" for place in range(2000)]
    lines = [",".join(names), ",".join(["1.5"] * 2000), ",".join(["NA"] * 2000)]
    table = csv_of("\n".join(lines))
    assert (table.names, len(table.notes)) == (names, 2000)
    assert column_values(csv_of(f'a,b\n1,{"x" * 200_000}\n2,"y"\n'), "b") == ["x" * 200_000, "y"]


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


def test_many_columns_are_read_as_few_are(tmp_path: Path) -> None:
    """Each field holds what it would hold alone."""
    path, fields = tmp_path / "wide.csv", 607
    makers: list[Callable[[int], object]] = [
        lambda row: row,
        lambda row: row / 4,
        lambda row: f"t{row % 3}",
        lambda row: "NA" if row == 2 else row,
        lambda row: f"2024-01-{row + 1:02d}",
        lambda row: str(row % 2 == 0).lower(),
        lambda row: "",
    ]
    columns = [makers[place % len(makers)] for place in range(fields)]
    lines = [",".join(f"x{place}" for place in range(fields))]
    lines += [",".join(str(make(row)) for make in columns) for row in range(9)]
    path.write_text("\n".join(lines) + "\n")
    whole = read(path)
    assert [c.name for c in whole.columns] == [f"x{place}" for place in range(fields)]
    for place in (0, 1, 2, 3, 4, 5, 6, fields - 1, 199, 200):
        alone = tmp_path / "alone.csv"
        make = columns[place]
        alone.write_text("\n".join([f"x{place},z", *(f"{make(row)},1" for row in range(9))]) + "\n")
        column, expected = whole.columns[place], read(alone).columns[0]
        assert column.form == expected.form
        assert [column.value(row) for row in range(9)] == [expected.value(row) for row in range(9)]
    assert "Column 'x3': 'NA' (1 row) counts as missing." in whole.notes


def wide(path: Path, fields: int) -> Path:
    lines = [",".join(f"x{place}" for place in range(fields))]
    lines += [",".join(str((row + place) % 7) for place in range(fields)) for row in range(4)]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize(
    "most", [selection.MOST_COLUMNS, pytest.param(selection.MOST_ASKED, marks=pytest.mark.slow)]
)
def test_far_too_many_columns_are_refused(run: Run, tmp_path: Path, most: int) -> None:
    path = wide(tmp_path / "wide.csv", most + 1)
    code, out, err = run("explain", path, "--row", 1)
    assert (code, out) == (2, "")
    assert f"{most + 1:,} columns would be compared; at most {most:,} can be" in err
    assert "--columns" in err
    assert run("explain", path, "--row", 1, "--columns", "x1,x2")[0] == 0


def test_files_of_far_too_many_columns_are_not_read(run: Run, tmp_path: Path) -> None:
    path = wide(tmp_path / "wide.csv", selection.MOST_FIELDS + 1)
    for engine in ("memory", "duckdb"):
        code, out, err = run("explain", path, "--where", "x1=1", "--engine", engine)
        assert (code, out) == (2, "")
        assert "there are 10,001 columns (divided by ','); at most 10,000 are read" in err


def test_streams_of_too_many_columns_are_refused(run: Run, tmp_path: Path) -> None:
    path, fields = tmp_path / "wide.parquet", selection.MOST_ASKED + 1
    pq.write_table(pa.table({f"x{place}": [1, 2, 3] for place in range(fields)}), path)
    code, out, err = run("explain", path, "--where", "x1=1", "--engine", "duckdb")
    assert (code, out) == (2, "")
    assert "5,001 columns would be compared; at most 5,000 can be" in err
