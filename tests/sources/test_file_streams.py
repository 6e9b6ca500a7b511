"""Files of any number and size: what is found, what is read, what is refused."""

from __future__ import annotations

import datetime as dt
import gzip
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import outlying
from outlying.errors import ColumnError, SourceError
from outlying.sentences import NO_HEADER
from outlying.sources import csv, passes, read
from outlying.sources.passes import Feeder
from tests.feeding import Collect, Count, rows_of, table_of, types_of


def write(path: Path, **columns: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path)
    return path


def notes_of(feeder: Feeder) -> tuple[str, ...]:
    assert isinstance(feeder, passes.Feeder)
    return feeder.notes


class TestParquet:
    def test_nan_and_null_are_missing_whatever_the_statistics_say(self, tmp_path: Path) -> None:
        path = tmp_path / "t.parquet"
        values = [float("nan"), 5.0, None, float("inf"), -1.0]
        pq.write_table(pa.table({"x": values, "i": range(5)}), path, row_group_size=2)
        feeder = outlying.scan(path)
        found = [(None, 0), (None, 2), (-1.0, 4), (5.0, 1), (float("inf"), 3)]
        assert rows_of(feeder) == sorted(found, key=repr)

    def test_odd_names(self, tmp_path: Path) -> None:
        names = ['a"b', "a'b", "sel ect", "%s", "ü", "a.b", "", "x", "X", "`", "a, b"]
        columns = [pa.array([place]) for place, _ in enumerate(names)]
        path = tmp_path / "o'dd [1] *.parquet"
        pq.write_table(pa.Table.from_arrays(columns, names=names), path)
        feeder = outlying.scan(path)
        assert feeder.schema().names == names
        for place, name in enumerate(names):
            assert rows_of(feeder, [name]) == [(place,)]

    def test_types(self, tmp_path: Path) -> None:
        table = pa.table(
            {
                "decimal": pa.array([None, 1], pa.int64()).cast(pa.decimal128(38, 10)),
                "time": pa.array([dt.time(1), None]),
                "instant": pa.array(
                    [dt.datetime(1900, 1, 1), None], pa.timestamp("ms", "Asia/Tokyo")
                ),
                "category": pa.array(["x", None]).dictionary_encode(),
                "nothing": pa.nulls(2),
                "bytes": pa.array([b"x", None]),
                "half": pa.array([np.float16(0.5), None], pa.float16()),
                "far": pa.array([dt.date(9999, 12, 31), dt.date(1, 1, 1)]),
            }
        )
        pq.write_table(table, tmp_path / "t.parquet")
        feeder = outlying.scan(tmp_path / "t.parquet")
        assert types_of(feeder) == {
            "decimal": "decimal128(38, 10)",
            "time": "time64[us]",
            "instant": "timestamp[ms, tz=Asia/Tokyo]",
            "category": "dictionary<values=string, indices=int32, ordered=0>",
            "nothing": "null",
            "half": "halffloat",
            "far": "date32[day]",
        }
        assert rows_of(feeder, ["far"]) == [(dt.date(1, 1, 1),), (dt.date(9999, 12, 31),)]
        assert rows_of(feeder, ["nothing"]) == [(None,), (None,)]

    def test_folders_are_searched_for_files_and_partitions(self, tmp_path: Path) -> None:
        write(tmp_path / "year=2024" / "day=2024-02-01" / "1.parquet", x=[1])
        write(tmp_path / "year=2024" / "day=2024-03-01" / "1.parquet", x=[2])
        write(tmp_path / "year=__HIVE_DEFAULT_PARTITION__" / "day=2025-01-01" / "1.parquet", x=[3])
        (tmp_path / "_SUCCESS").touch()
        write(tmp_path / "_temporary" / "0.parquet", x=["wrong"])
        write(tmp_path / ".hidden" / "0.parquet", x=["wrong"])
        feeder = outlying.scan(tmp_path)
        assert types_of(feeder) == {"x": "int64", "day": "date32[day]", "year": "int64"}
        assert rows_of(feeder, ["x", "year", "day"]) == [
            (1, 2024, dt.date(2024, 2, 1)),
            (2, 2024, dt.date(2024, 3, 1)),
            (3, None, dt.date(2025, 1, 1)),
        ]

    def test_types_of_keys_are_those_of_all_folders(self, tmp_path: Path) -> None:
        for place, key in enumerate(["1", "2", "a%20b"]):
            write(tmp_path / f"k={key}" / "1.parquet", x=[place])
        assert rows_of(outlying.scan(tmp_path)) == [(0, "1"), (1, "2"), (2, "a b")]

    def test_keys_above_the_table_are_no_columns(self, tmp_path: Path) -> None:
        root = tmp_path / "version=7" / "table"
        write(root / "k=1" / "1.parquet", x=[1])
        assert outlying.scan(root).schema().names == ["x", "k"]
        write(tmp_path / "x=7" / "table" / "k=1" / "1.parquet", x=[1])
        assert rows_of(outlying.scan(tmp_path / "x=7" / "table")) == [(1, 1)]

    def test_a_key_that_is_also_in_the_files(self, tmp_path: Path) -> None:
        write(tmp_path / "k=1" / "1.parquet", x=[1], k=[5])
        write(tmp_path / "k=2" / "1.parquet", x=[1], k=[5])
        feeder = outlying.scan(tmp_path)
        assert rows_of(feeder, ["k"]) == [(1,), (2,)]
        assert any("'k': it is in the files and in the names" in note for note in notes_of(feeder))

    def test_patterns_and_lists(self, tmp_path: Path) -> None:
        first = write(tmp_path / "a1.parquet", x=[1])
        second = write(tmp_path / "a2.parquet", x=[2])
        write(tmp_path / "b" / "k=7" / "b.parquet", x=[3])
        assert rows_of(outlying.scan(f"{tmp_path}/a*.parquet")) == [(1,), (2,)]
        assert rows_of(outlying.scan([first, str(second), first])) == [(1,), (2,)]
        assert rows_of(outlying.scan(f"{tmp_path}/b/**/*.parquet")) == [(3, 7)]
        assert rows_of(outlying.scan(f"{tmp_path}/b/k=*")) == [(3, 7)]
        assert outlying.scan([first, second]).source == f"{first} and 1 more"

    def test_columns_that_some_files_lack(self, tmp_path: Path) -> None:
        write(tmp_path / "1.parquet", a=[1], b=["x"])
        write(tmp_path / "2.parquet", b=["y"], a=[2.5], c=[True])
        write(tmp_path / "3.parquet", b=pa.nulls(1), a=pa.array([3], pa.int16()))
        feeder = outlying.scan(tmp_path)
        found = [(1.0, "x", None), (2.5, "y", True), (3.0, None, None)]
        assert rows_of(feeder, ["a", "b", "c"]) == found
        assert notes_of(feeder) == (
            "Column 'c': it is in 1 of 3 files, and counts as missing in the others.",
        )

    def test_mixed_schemas_are_refused(self, tmp_path: Path) -> None:
        write(tmp_path / "a" / "1.parquet", x=[1])
        write(tmp_path / "a" / "2.parquet", x=["one"])
        with pytest.raises(
            SourceError, match=r"'x' holds numbers in .*1\.parquet and texts in .*2\."
        ):
            outlying.scan(tmp_path / "a").schema()
        write(tmp_path / "b" / "1.parquet", x=[1])
        write(tmp_path / "b" / "2.parquet", X=[2])
        with pytest.raises(ColumnError, match="'x' and 'X' differ only in case"):
            outlying.scan(tmp_path / "b").schema()
        write(tmp_path / "c" / "k=1" / "1.parquet", x=[1])
        write(tmp_path / "c" / "2.parquet", x=[2])
        with pytest.raises(SourceError, match="do not give the same keys"):
            outlying.scan(tmp_path / "c")
        write(tmp_path / "d" / "1.parquet", x=[1])
        (tmp_path / "d" / "1.csv").write_text("x\n1\n")
        with pytest.raises(SourceError, match="files of several kinds"):
            outlying.scan(tmp_path / "d")

    def test_empty_files_and_partitions(self, tmp_path: Path) -> None:
        write(tmp_path / "k=1" / "1.parquet", x=pa.array([], pa.int64()))
        write(tmp_path / "k=2" / "1.parquet", x=[5])
        (tmp_path / "k=3").mkdir()
        assert rows_of(outlying.scan(tmp_path)) == [(5, 2)]
        only = outlying.scan(tmp_path / "k=1")
        assert table_of(only).num_rows == 0
        assert only.schema().names == ["x"]

    def test_scans_are_counted_and_rows_known(self, tmp_path: Path) -> None:
        path = write(tmp_path / "t.parquet", a=list(range(9999)), b=[f"{i}" for i in range(9999)])
        feeder = outlying.scan(path)
        assert feeder.scans == 0
        feeder.fold(Count(), ["a"], None)
        assert feeder.scans == 1
        told: list[tuple[int, int]] = []
        feeder.fold(Count(), ["a", "b"], lambda done, total: told.append((done, total)))
        assert feeder.scans == 2
        assert told[-1] == (9999, 9999)

    def test_batches_are_bounded(self, tmp_path: Path) -> None:
        path = write(tmp_path / "t.parquet", a=range(400_000))
        sizes = [batch.num_rows for batch in outlying.scan(path).fold(Collect(), ["a"], None)]
        assert sum(sizes) == 400_000
        assert max(sizes) <= passes.BATCH_ROWS

    def test_one_row_group_larger_than_memory(self, tmp_path: Path) -> None:
        numbers = np.random.default_rng(0).random((4, 3_000_000))
        table = pa.table({f"x{place}": column for place, column in enumerate(numbers)})
        path = tmp_path / "t.parquet"
        pq.write_table(table, path, row_group_size=len(table), use_dictionary=False)
        assert path.stat().st_size > 90_000_000
        feeder = outlying.scan(path)
        assert feeder.fold(Count(), table.column_names, None) == 3_000_000

    def test_files_that_change_between_two_scans(self, tmp_path: Path) -> None:
        first = write(tmp_path / "1.parquet", x=[1])
        second = write(tmp_path / "2.parquet", x=[2])
        feeder = outlying.scan(tmp_path)
        assert feeder.fold(Count(), ["x"], None) == 2
        write(tmp_path / "3.parquet", x=[3])
        assert feeder.fold(Count(), ["x"], None) == 2
        write(second, x=[2, 3], y=[1, 1])
        with pytest.raises(SourceError, match=r"2\.parquet has changed since"):
            feeder.fold(Count(), ["x"], None)
        first.unlink()
        with pytest.raises(SourceError, match=r"1\.parquet was there a moment ago and is now gone"):
            feeder.fold(Count(), ["x"], None)

    def test_a_file_that_changes_while_it_is_read(self, tmp_path: Path) -> None:
        path = write(tmp_path / "1.parquet", x=range(300_000))
        feeder = outlying.scan(path)
        feeder.schema()
        with pytest.raises(SourceError, match=r"changed since|cannot be read"):
            feeder.fold(Count(), ["x"], lambda done, total: os.utime(path, ns=(1, done)))

    def test_what_is_no_parquet(self, tmp_path: Path) -> None:
        path = tmp_path / "t.parquet"
        path.write_text("a,b\n1,2\n")
        with pytest.raises(SourceError, match="is not a Parquet file"):
            outlying.scan(path).schema()
        whole = write(tmp_path / "ok.parquet", x=[1]).read_bytes()
        path.write_bytes(whole[:-10])
        with pytest.raises(SourceError, match="is cut off"):
            outlying.scan(path).schema()
        path.write_bytes(whole[:4] + bytes(20) + whole[-4:])
        with pytest.raises(SourceError, match="cannot be read"):
            outlying.scan(path).schema()


class TestFinding:
    def test_what_is_not_there(self, tmp_path: Path) -> None:
        write(tmp_path / "orders.parquet", x=[1])
        with pytest.raises(SourceError, match=r"did you mean 'orders\.parquet'"):
            outlying.scan(tmp_path / "order.parquet")
        with pytest.raises(SourceError, match=r"\*\.csv: no file matches; a pattern is like"):
            outlying.scan(f"{tmp_path}/*.csv")
        (tmp_path / "empty").mkdir()
        with pytest.raises(SourceError, match="holds no table; looked for files that end in"):
            outlying.scan(tmp_path / "empty")
        with pytest.raises(SourceError, match="the file is empty"):
            outlying.scan(empty_file(tmp_path / "none.csv"))
        with pytest.raises(
            SourceError, match=r"unknown kind of file; known suffixes: \.csv, \.tsv, \.csv\.gz"
        ):
            outlying.scan([empty_file(tmp_path / "a.txt", "x")])

    def test_tables_of_a_lake_are_refused(self, tmp_path: Path) -> None:
        write(tmp_path / "1.parquet", x=[1])
        (tmp_path / "_delta_log").mkdir()
        with pytest.raises(SourceError, match="Delta Lake table; name its own folder"):
            outlying.scan([tmp_path])

    def test_files_and_folders_that_may_not_be_read(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            path = write(folder / "in" / "t.parquet", x=[1])
            folder.chmod(0o755)
            path.chmod(0)
            with not_root(), pytest.raises(SourceError, match="no permission to read it"):
                outlying.scan(path)
            path.parent.chmod(0)
            for given in (path, folder, [path]):
                with not_root(), pytest.raises(SourceError, match=r"no permission to read .*in"):
                    outlying.scan(given)
            path.parent.chmod(0o755)


def empty_file(path: Path, text: str = "") -> Path:
    path.write_text(text)
    return path


@contextmanager
def not_root() -> Iterator[None]:
    """Give up the rights of root for a while, which may read everything."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


class TestDelimited:
    def test_types_do_not_depend_on_the_first_rows(self, tmp_path: Path) -> None:
        rows = [f"{i},{i},,2024-01-01,NA,{i},{2**62 + i}" for i in range(30_000)]
        long = "12345678901234567890"
        rows.append(f"30000,0.5,x,2024-01-01 10:00:00,7,{long},{long}")
        path = tmp_path / "t.csv"
        path.write_text("\n".join(["int,real,text,moment,late,amount,key", *rows]))
        feeder = outlying.scan(path)
        assert types_of(feeder) == {
            "int": "int64",
            "real": "double",
            "text": "large_string",
            "moment": "timestamp[us]",
            "late": "int64",
            "amount": "double",
            "key": "large_string",
        }
        assert feeder.fold(Count(), ["int"], None) == 30_001
        last = (30000, 0.5, "x", dt.datetime(2024, 1, 1, 10), 7, 1.2345678901234567e19, long)
        assert last in rows_of(feeder)
        assert feeder.scans == 2

    @pytest.mark.parametrize(
        "text",
        [
            "a,b\n1,x\n2,y\n",
            "a;b\n1,5;x\n2,25;NA\n",
            "a\tb\n1\t10:00\n\t11:30\n",
            "d,e\n13/02/2024,1\n01/03/2024,2\n",
            "d,e\n02/13/2024,1\n01/03/2024,2\n",
            "d,e\n01.02.2024,1\n01.03.2024,2\n",
            "d,e\n01/02/2024 10:00:00,1\n13/02/2024 10:00:00,2\n",
            "t,u\n2024-01-01T10:00:00Z,1\n2024-01-01 10:00:00+02:00,2\n",
            "a,b\ntrue,T\nFALSE,F\n",
            "a,b\n NA , x\n7,NA\n",
            "1,2\n3,4\n5,6\n",
            'a,b\n"x\ny",1\n"q""",2\n',
            "a,b\n-,A\n-,B\n",
            "a,b\n00123456789012345678901,1\n5,2\n",
            "a,b\n00156,1\n12345,2\n",
            "a,b\n007,+5\n1.5,6\n",
            "a,b\n1_000,-01\n2,-5\n",
            "a,b\n007,12345678901234567890\n?,?\n",
            "a;b\n00,5;+1,5\n1,5;2,5\n",
            "a,b\n1e5,nan\n-inf,2\n",
            "\n\na,b\n1,2\n3,4\n",
            "a,A\n1,2\n3,4\n",
        ],
    )
    def test_a_stream_holds_what_a_small_file_holds(self, tmp_path: Path, text: str) -> None:
        path = tmp_path / "t.csv"
        path.write_text(text)
        small, feeder = read(path), outlying.scan(path)
        assert [column.name for column in small.columns] == feeder.schema().names
        forms = [str(column.form) for column in small.columns]
        assert forms == [
            form_of(field.type, c) for field, c in zip(feeder.schema(), small.columns, strict=True)
        ]
        told = [column.missing().tolist().count(True) for column in small.columns]
        streamed = table_of(feeder)
        assert told == [sum(x is None for x in c.to_pylist()) for c in streamed.columns]
        labels = [getattr(column, "labels", None) for column in small.columns]
        for known, column in zip(labels, streamed.columns, strict=True):
            if known is not None:
                assert set(known) == set(column.to_pylist()) - {None}

    @settings(max_examples=15)
    @given(
        st.lists(
            st.tuples(st.text("a1.,; -'\"\n", max_size=4), st.text("0129.-", max_size=3)),
            min_size=1,
            max_size=6,
        )
    )
    def test_no_row_is_lost(self, tmp_path_factory: Any, rows: list[tuple[str, str]]) -> None:
        path = tmp_path_factory.mktemp("csv") / "t.csv"
        lines = [
            ",".join(f'"{cell.replace(chr(34), chr(34) * 2)}"' for cell in row) for row in rows
        ]
        path.write_text("\n".join(["first,second", *lines, ""]), newline="")
        feeder = outlying.scan(path)
        assert feeder.fold(Count(), ["first"], None) == len(rows)

    def test_folders_patterns_and_compression(self, tmp_path: Path) -> None:
        for place in range(3):
            folder = tmp_path / f"k={place}"
            folder.mkdir()
            with gzip.open(folder / "t.csv.gz", "wt") as stream:
                stream.write(f"x,y\n{place},a\n")
        (tmp_path / "k=2" / "empty.csv.gz").touch()
        feeder = outlying.scan(tmp_path)
        assert rows_of(feeder) == [(0, "a", 0), (1, "a", 1), (2, "a", 2)]
        assert notes_of(feeder) == ("1 empty file was left out.",)
        assert rows_of(outlying.scan(f"{tmp_path}/k=[12]/*.gz"), ["x"]) == [(1,), (2,)]

    def test_header_only(self, tmp_path: Path) -> None:
        path = empty_file(tmp_path / "t.csv", "a,b\n")
        feeder = outlying.scan(path)
        assert feeder.schema().names == ["a", "b"]
        assert feeder.fold(Count(), ["a"], None) == 0

    def test_files_that_differ(self, tmp_path: Path) -> None:
        first = empty_file(tmp_path / "1.csv", "a,b\n1,2\n")
        with pytest.raises(SourceError, match=r"2 fields divided by ',', .*3 fields"):
            outlying.scan([first, empty_file(tmp_path / "2.csv", "a,b,c\n1,2,3\n")]).schema()
        with pytest.raises(SourceError, match=r"has the columns b, a, but .* has a, b"):
            outlying.scan([first, empty_file(tmp_path / "3.csv", "b,a\n1,2\n")]).schema()

    @pytest.mark.parametrize(
        ("content", "words"),
        [
            (b"a,b\n1,2\n3\n", "line 3 has 1 fields, the first line has 2"),
            (b"a,b\n1,2\n3,4,5\n", "line 3 has 3 fields"),
            (b"a,b\n1,\x81\n", "line 2 is not UTF-8 text"),
            (b'a,b\n1,"x\n', "quotes"),
            (b"a,a\n1,2\n", "both called 'a'"),
        ],
    )
    def test_faults_are_named_and_no_row_is_skipped(
        self, tmp_path: Path, content: bytes, words: str
    ) -> None:
        path = tmp_path / "t.csv"
        path.write_bytes(content)
        with pytest.raises((SourceError, ColumnError), match=words):
            outlying.scan(path).schema()

    def test_a_cut_off_gzip_file(self, tmp_path: Path) -> None:
        path = tmp_path / "t.csv.gz"
        path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 9999)[:-20])
        with pytest.raises(SourceError, match="not a complete gzip file"):
            outlying.scan(path).schema()

    def test_a_fault_far_down(self, tmp_path: Path) -> None:
        path = tmp_path / "t.csv"
        path.write_text("a,b\n" + "1,2\n" * 50_000 + "1\n" + "1,2\n" * 10)
        with pytest.raises(SourceError, match="line 50002 has 1 fields"):
            outlying.scan(path).schema()

    def test_notes(self, tmp_path: Path) -> None:
        path = empty_file(tmp_path / "t.csv", "13.02.2024;1,5;x\n14.02.2024;2,5;y\n")
        assert notes_of(outlying.scan(path)) == (
            NO_HEADER,
            "Column 'column1': decimal commas were read as decimal points.",
        )

    def test_words_that_are_read_as_missing(self, tmp_path: Path) -> None:
        text = "a;b;c;d\n1,5;NA;NA;1\n ?;2;x;\n-;NA;y;3\n ;4;z;4\n"
        path = empty_file(tmp_path / "t.csv", text)
        told = (
            "Column 'a': decimal commas were read as decimal points; blank (1 row), '-' (1 row), "
            "'?' (1 row) count as missing.",
            "Column 'b': 'NA' (2 rows) counts as missing.",
        )
        assert read(path).notes == told
        assert notes_of(outlying.scan(path)) == told


def test_scans_of_a_csv_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In memory its rows are parsed once, as a stream they are scanned three times at most."""
    rng, scans = np.random.default_rng(1), 0
    path, rows = tmp_path / "t.csv", 30_000  # more than the header is told by
    cities, sizes = rng.choice(["Ulm", "Bonn", "Kiel"], rows), rng.normal(50, 9, rows).round(2)
    lines = [f"{i},{city},{x}" for i, city, x in zip(range(rows), cities, sizes, strict=True)]
    path.write_text("\n".join(["id,city,size", *lines]))
    read_rows = csv.CsvFeeder._read

    def counted(*given: Any) -> Any:
        nonlocal scans
        scans += 1
        return read_rows(*given)

    monkeypatch.setattr(csv.CsvFeeder, "_read", counted)
    outlying.explain(path, where={"id": 17})
    assert scans == 1
    outlying.explain(outlying.scan(path), where={"id": 17})
    assert scans <= 1 + 3


def form_of(kind: pa.DataType, column: Any) -> str:
    """Return the form of a type, as the core knows it; whole reals with gaps are whole numbers."""
    tests = {
        "integer": pa.types.is_integer,
        "number": pa.types.is_floating,
        "boolean": pa.types.is_boolean,
        "text": pa.types.is_large_string,
        "date": pa.types.is_date,
        "time": pa.types.is_time,
    }
    if pa.types.is_timestamp(kind):
        return "instant" if kind.tz else "datetime"
    found = next(form for form, test in tests.items() if test(kind))
    return str(column.form) if found == "number" and column.form == "integer" else found
