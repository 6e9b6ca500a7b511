"""Feeders: threads that take in batches, DuckDB behind them, and who feeds what."""

from __future__ import annotations

import datetime as dt
import os
import signal
import subprocess
import sys
import threading
import time
import types
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import outlying
from outlying import sources
from outlying.errors import ColumnError, OptionError, SourceError
from outlying.sources import passes
from outlying.sources import registry as feeders
from outlying.sources.columns import table_of as table_in_memory
from outlying.sources.copies import InputFile
from outlying.sources.duckdb import DuckFeeder
from outlying.sources.frames import array_of
from outlying.sources.passes import Batch, Feeder
from outlying.table.table import Table
from tests.feeding import Collect, Count, Fails, Total, rows_of, table_of, types_of

HOME = duckdb.connect()
OLD = duckdb.__version__.startswith("1.")


def batches(*sizes: int) -> Iterator[Batch]:
    start = 0
    for size in sizes:
        yield pa.record_batch({"x": np.arange(start, start + size)})
        start += size


def are_left() -> bool:
    """Return whether threads of a fold are still there; one that has said so needs time to end."""
    for _ in range(500):
        frames = list(sys._current_frames().values())
        if not any(frame.f_code.co_name == "take_in" for frame in map(_outermost, frames)):
            return False
        time.sleep(0.01)
    return True


def _outermost(frame: types.FrameType) -> types.FrameType:
    return frame if frame.f_back is None else _outermost(frame.f_back)


def interrupted_at(place: int) -> Callable[[types.FrameType, str, object], None]:
    """Raise an interrupt at one of the places where the interpreter looks for signals."""
    passed = 0

    def look(frame: types.FrameType, event: str, arg: object) -> None:
        nonlocal passed
        passed += event in ("call", "c_return")
        if passed == place:
            sys.setprofile(None)
            raise KeyboardInterrupt

    return look


class TestFold:
    @given(st.lists(st.integers(0, 50), max_size=12), st.integers(1, 4))
    def test_every_row_counts_once(self, sizes: list[int], workers: int) -> None:
        rows = sum(sizes)
        assert passes.fold(batches(*sizes), Total(), workers) == rows * (rows - 1) // 2
        assert not are_left()

    def test_progress_is_told_in_this_thread(self) -> None:
        told: list[tuple[int, int, threading.Thread]] = []

        def progress(done: int, total: int) -> None:
            told.append((done, total, threading.current_thread()))

        passes.fold(batches(3, 4), Count(), 2, progress, 7)
        assert told == [(3, 7, threading.main_thread()), (7, 7, threading.main_thread())]

    def test_errors_of_a_pass_surface_unchanged_and_stop_the_reader(self) -> None:
        read = []

        def endless() -> Iterator[Batch]:
            while True:
                read.append(1)
                yield from batches(1)

        with pytest.raises(ZeroDivisionError, match=r"^by a pass$"):
            passes.fold(endless(), Fails(), 2)
        assert len(read) < 10
        assert not are_left()

    def test_errors_of_the_reader_surface_unchanged(self) -> None:
        def broken() -> Iterator[Batch]:
            yield from batches(1, 1)
            raise KeyError("reader")

        with pytest.raises(KeyError, match="reader"):
            passes.fold(broken(), Count(), 2)
        assert not are_left()

    def test_no_more_batches_are_read_than_are_worked_on(self) -> None:
        go = threading.Event()
        read: list[int] = []

        class Waits(Count):
            def add(self, state: int, batch: Batch) -> int:
                assert go.wait(30)
                return super().add(state, batch)

        def look() -> None:
            ahead.append(len(read))
            go.set()

        def counted() -> Iterator[Batch]:
            for batch in batches(*[1] * 20):
                read.append(1)
                if len(read) == 3:  # two are worked on, and one is waiting to be
                    threading.Timer(0.2, look).start()
                yield batch

        ahead: list[int] = []
        assert passes.fold(counted(), Waits(), 2) == 20
        assert ahead == [3]

    def test_interruption_leaves_nothing_behind(self) -> None:
        connection = duckdb.connect()
        feeder = outlying.scan(connection.sql("SELECT i FROM range(50000000) t(i)"))
        timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        end = time.monotonic() + 60

        def again_and_again() -> None:
            while time.monotonic() < end:
                feeder.fold(Count(), ["i"], None)

        with pytest.raises(KeyboardInterrupt):
            again_and_again()
        timer.join()
        assert not are_left()
        assert connection.sql("SELECT 1").fetchall() == [(1,)]

    @pytest.mark.parametrize("is_streamed", [False, True])
    def test_no_interrupt_is_lost_wherever_it_comes(self, is_streamed: bool) -> None:
        """Also where a lock would stay closed, and a thread wait for it for ever."""
        feeder = outlying.scan(HOME.sql("SELECT i AS x FROM range(3) t(i)"))
        feeder.schema()
        place, is_through = 0, False
        while not is_through:
            place += 1
            try:
                sys.setprofile(interrupted_at(place))
                if is_streamed:
                    feeder.fold(Count(), ["x"], None, 2)
                else:
                    passes.fold(batches(1, 1, 1), Count(), 2)
                is_through = sys.getprofile() is not None  # there are not so many places
            except KeyboardInterrupt:
                pass
            finally:
                sys.setprofile(None)
            assert not are_left()
        assert place > 20


CASES: dict[str, tuple[str, str, Any]] = {
    "int": ("(-3)::TINYINT", "int8", -3),
    "ubigint": ("18446744073709551615::UBIGINT", "uint64", 2**64 - 1),
    "hugeint": ("(2::HUGEINT ** 40)::HUGEINT", "int64", 2**40),
    "uhugeint": ("7::UHUGEINT", "int64", 7),
    "bignum": ("7::BIGNUM", "int64", 7),
    "decimal": ("0.1::DECIMAL(4, 1)", "double", 0.1),
    "long": (
        "12345678901234567890123456789.012345678::DECIMAL(38, 9)",
        "double",
        12345678901234567890123456789.012345678,
    ),
    "float": ("0.5::FLOAT", "float", 0.5),
    "infinity": ("'-inf'::DOUBLE", "double", float("-inf")),
    "nan": ("'nan'::DOUBLE", "double", None),
    "null": ("NULL::DOUBLE", "double", None),
    "bool": ("true", "bool", True),
    "text": ("'ä ''\"'", "string", "ä '\""),
    "uuid": (
        "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::UUID",
        "string",
        "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
    ),
    "enum": ("'b'::ENUM('a', 'b')", "string", "b"),
    "json": ("'{\"a\": 1}'::JSON", "string", '{"a": 1}'),
    "date": ("DATE '1850-03-01'", "date32[day]", dt.date(1850, 3, 1)),
    "endless": ("'infinity'::DATE", "date32[day]", None),
    "ts_s": ("'1900-01-01 10:00'::TIMESTAMP_S", "timestamp[s]", dt.datetime(1900, 1, 1, 10)),
    "ts_ms": ("'2020-01-01'::TIMESTAMP_MS", "timestamp[ms]", dt.datetime(2020, 1, 1)),
    "ts": (
        "TIMESTAMP '9999-12-31 23:59:59.999999'",
        "timestamp[us]",
        dt.datetime(9999, 12, 31, 23, 59, 59, 999999),
    ),
    "ts_inf": ("'-infinity'::TIMESTAMP", "timestamp[us]", None),
    "tz": (
        "'2020-06-01 12:00:00+02'::TIMESTAMPTZ",
        "timestamp[us, tz=UTC]",
        dt.datetime(2020, 6, 1, 10, tzinfo=dt.UTC),
    ),
    "time": ("TIME '10:00:00.5'", "time64[us]", dt.time(10, 0, 0, 500000)),
    "timetz": ("'10:00:00+02'::TIMETZ", "time64[us]", dt.time(10)),
    "time_ns": ("'10:00:00'::TIME_NS", "time64[us]", dt.time(10)),
    "interval": ("INTERVAL '1 month 2 days'", "duration[us]", dt.timedelta(32)),
}


class TestDuckDB:
    def test_types(self) -> None:
        columns = ", ".join(f'{sql} AS "{name}"' for name, (sql, *_) in CASES.items())
        feeder = outlying.scan(HOME.sql(f"SELECT {columns}"))
        assert types_of(feeder) == {name: kind for name, (_, kind, _) in CASES.items()}
        assert rows_of(feeder) == [tuple(value for *_, value in CASES.values())]

    def test_nanoseconds(self) -> None:
        moment = "'2020-01-01 00:00:00.123456789'::TIMESTAMP_NS AS t"
        feeder = outlying.scan(HOME.sql(f"SELECT {moment}"))
        column = table_of(feeder).column("t")
        assert column.type == pa.timestamp("ns")
        assert column.cast(pa.int64()).to_pylist() == [1577836800123456789]

    def test_unusable_columns_are_named_with_the_reason(self) -> None:
        nested = "[1] AS l, {'x': 1} AS s, MAP {'x': 1} AS m, 'x'::BLOB AS b, '1'::BIT AS c"
        feeder = outlying.scan(HOME.sql(f"SELECT 1 AS a, {nested}"))
        assert isinstance(feeder, DuckFeeder)
        assert feeder.schema().names == ["a"]
        reasons = {column.name: column.reason.split(",")[0] for column in feeder.skipped}
        assert reasons == {
            "l": "holds lists",
            "s": "holds records",
            "m": "holds records",
            "b": "holds bytes",
            "c": "holds bits",
        }

    def test_nothing_usable(self) -> None:
        with pytest.raises(SourceError, match="no column can be used: 'l' holds lists"):
            outlying.scan(HOME.sql("SELECT [1] AS l")).schema()

    def test_too_long_integers_name_column_and_remedy(self) -> None:
        sql = "SELECT i AS a, i::HUGEINT * 10000000000000000 AS total FROM range(1000) t(i)"
        feeder = outlying.scan(HOME.sql(sql))
        assert feeder.fold(Total(), ["a"], None) == 499500
        with pytest.raises(ColumnError, match=r"'total'.*beyond 64 bits.*DOUBLE.*exclude="):
            feeder.fold(Count(), ["a", "total"], None)

    @pytest.mark.parametrize("name", ['a"b', "a'b", "sel ect", "%s", "ü", "`x`", "a.b", "#1", "*"])
    def test_odd_names(self, name: str) -> None:
        quoted = '"' + name.replace('"', '""') + '"'
        feeder = outlying.scan(HOME.sql(f"SELECT 1 AS x, 2 AS {quoted}"))
        assert feeder.schema().names == ["x", name]
        assert rows_of(feeder, [name]) == [(2,)]

    def test_names_that_differ_in_case_are_two_columns(self) -> None:
        feeder = outlying.scan(HOME.sql('SELECT 1 AS a, 2 AS "A"'))
        assert table_of(feeder, ["A", "a"]).to_pylist() == [{"A": 2, "a": 1}]

    def test_one_name_twice(self) -> None:
        with pytest.raises(ColumnError, match="columns 1 and 2 are both called 'a'"):
            outlying.scan(HOME.sql("SELECT 1 AS a, 2 AS a")).schema()

    def test_unknown_columns(self) -> None:
        feeder = outlying.scan(HOME.sql("SELECT 1 AS price"))
        with pytest.raises(ColumnError, match="unknown column 'prize'; did you mean 'price'"):
            feeder.fold(Count(), ["prize"], None)

    def test_no_columns_still_count(self) -> None:
        feeder = outlying.scan(HOME.sql("SELECT i FROM range(300000) t(i)"))
        assert feeder.fold(Count(), [], None) == 300000
        assert feeder.scans == 1

    def test_the_second_scan_knows_how_many_rows_there_are(self) -> None:
        feeder = outlying.scan(HOME.sql("SELECT i FROM range(300000) t(i)"))
        told: list[tuple[int, int]] = []
        for _ in range(2):
            feeder.fold(Count(), ["i"], lambda done, total: told.append((done, total)))
        assert {total for _, total in told} == {0, 300000}
        assert told[-1] == (300000, 300000)

    def test_temporary_tables_of_a_connection(self) -> None:
        connection = duckdb.connect()
        connection.execute("CREATE TABLE t AS SELECT 1 AS a; CREATE TEMP TABLE t AS SELECT 2 AS a")
        assert rows_of(outlying.scan(connection, table="t")) == [(2,)]

    def test_the_schema_in_use_is_respected(self) -> None:
        connection = duckdb.connect()
        connection.execute("CREATE TABLE t AS SELECT 1 AS a; CREATE SCHEMA s; USE s")
        connection.execute("CREATE TABLE t AS SELECT 2 AS a")
        assert rows_of(outlying.scan(connection, table="t")) == [(2,)]
        assert rows_of(outlying.scan(connection, table="main.t")) == [(1,)]

    def test_settings_of_a_connection_stay(self) -> None:
        connection = duckdb.connect()
        connection.execute("CREATE TABLE t AS SELECT i FROM range(10) t(i); SET threads = 1")
        names = "'threads', 'preserve_insertion_order', 'arrow_large_buffer_size', 'TimeZone'"
        asked = f"FROM duckdb_settings() SELECT name, value WHERE name IN ({names}) ORDER BY 1"
        before = connection.sql(asked).fetchall()
        assert outlying.scan(connection, table="t").fold(Total(), ["i"], None) == 45
        assert connection.sql(asked).fetchall() == before
        assert connection.sql("SHOW TABLES").fetchall() == [("t",)]

    def test_an_uncommitted_table_is_read_as_its_writer_sees_it(self) -> None:
        connection = duckdb.connect()
        connection.execute("CREATE TABLE t AS SELECT 1 AS a; BEGIN; INSERT INTO t VALUES (2)")
        assert rows_of(outlying.scan(connection, table="t")) == [(1,), (2,)]
        connection.execute("ROLLBACK")
        assert rows_of(outlying.scan(connection, table="t")) == [(1,)]

    @pytest.mark.skipif(OLD, reason="DuckDB 1 throws the result away, as for any other query")
    def test_unfinished_results_are_not_thrown_away(self) -> None:
        connection = duckdb.connect()
        connection.execute("CREATE TABLE t AS SELECT i FROM range(100000) t(i)").fetchall()
        feeder = outlying.scan(connection, table="t")
        assert connection.execute("FROM t").fetchone() == (0,)
        with pytest.raises(SourceError, match=r"busy with another result; .*cursor\(\)"):
            feeder.fold(Count(), ["i"], None)
        assert len(connection.fetchall()) == 99999
        assert feeder.fold(Count(), ["i"], None) == 100000

    def test_a_connection_used_meanwhile_loses_no_row_unsaid(self) -> None:
        connection = duckdb.connect()
        connection.execute("CREATE TABLE t AS SELECT i FROM range(2000000) t(i)").fetchall()
        feeder = outlying.scan(connection, table="t")

        def use(done: int, total: int) -> None:
            connection.sql("SELECT 1").fetchall()

        if OLD:
            with pytest.raises(SourceError, match=r"ended after \d+ of 2000000 rows"):
                feeder.fold(Count(), ["i"], use)
        else:
            with pytest.raises(duckdb.Error, match="open result"):
                feeder.fold(Count(), ["i"], use)
        assert feeder.fold(Count(), ["i"], None) == 2000000

    def test_queries(self) -> None:
        connection = duckdb.connect()
        query = "SELECT 1 AS a UNION ALL SELECT 2 ORDER BY a LIMIT 1; -- the first"
        with pytest.raises(SourceError, match="holds DROP; allowed: exactly one SELECT"):
            outlying.scan(connection, query="DROP TABLE t").schema()
        assert rows_of(outlying.scan(connection, query="SELECT 1 AS a -- no more")) == [(1,)]
        assert rows_of(outlying.scan(connection, query=query.split(";")[0] + ";\n")) == [(1,)]

    @pytest.mark.parametrize("change", ["DROP TABLE t", "ALTER TABLE t DROP COLUMN a"])
    @pytest.mark.parametrize("relation", [True, False])
    def test_what_vanishes_between_two_looks(self, change: str, relation: bool) -> None:
        connection = duckdb.connect()
        connection.execute("CREATE TABLE t AS SELECT 1 AS a, 2 AS b, 3 AS c")
        feeder = outlying.scan(connection.table("t")) if relation else outlying.scan(connection)
        assert feeder.schema().names == ["a", "b", "c"]
        connection.execute(change)
        with pytest.raises(SourceError, match=r"column 'a' is gone|does not exist"):
            feeder.fold(Count(), ["b"], None)

    def test_a_type_that_changes(self) -> None:
        connection = duckdb.connect()
        connection.execute("CREATE TABLE t AS SELECT 1 AS a")
        feeder = outlying.scan(connection)
        feeder.schema()
        connection.execute("ALTER TABLE t ALTER a TYPE VARCHAR")
        with pytest.raises(SourceError, match="column 'a' was integer, now it is varchar"):
            feeder.fold(Count(), ["a"], None)

    def test_a_table_has_to_be_named(self) -> None:
        connection = duckdb.connect()
        with pytest.raises(SourceError, match="holds no table"):
            outlying.scan(connection)
        connection.execute("CREATE TABLE orders (a INT); CREATE VIEW clients AS SELECT 1 AS a")
        with pytest.raises(SourceError, match="2 tables; name one with table=: clients, orders"):
            outlying.scan(connection)
        with pytest.raises(SourceError, match="unknown table 'order'; did you mean 'orders'"):
            outlying.scan(connection, table="order")

    @given(
        st.lists(st.tuples(st.integers(-(2**63), 2**63 - 1), st.none() | st.text()), max_size=20)
    )
    def test_rows_arrive_as_they_are(self, rows: list[tuple[int, str | None]]) -> None:
        connection = duckdb.connect()
        texts = [None if text is None else text.replace("\0", "") for _, text in rows]
        frame = pa.table(
            {"i": pa.array([i for i, _ in rows], pa.int64()), "t": pa.array(texts, pa.string())}
        )
        connection.register("frame", frame)
        found = rows_of(outlying.scan(connection, table="frame"))
        assert found == sorted(zip([i for i, _ in rows], texts, strict=True), key=repr)


class TestTables:
    def test_every_module_does_what_its_entry_says(self) -> None:
        entries: list[Any] = [*feeders.FORMATS, *feeders.SOURCES]
        for entry in entries:
            for way in ("read", "stream"):
                name = getattr(entry, way)
                assert name is None or callable(getattr(feeders.module(name), way))

    def test_a_suffix_belongs_to_one_format(self) -> None:
        assert len(set(feeders.SUFFIXES)) == len(feeders.SUFFIXES)
        assert set(feeders.STREAMED_SUFFIXES) < set(feeders.SUFFIXES)

    def test_a_new_format_is_a_module_and_a_line(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def read(file: InputFile) -> Table:
            words = file.path.read_text().split()
            return table_in_memory(file.source, {"word": array_of(words)})

        toy: Any = types.ModuleType("toy")
        toy.read = read
        monkeypatch.setitem(sys.modules, "outlying.sources.toy", toy)
        formats = (*feeders.FORMATS, feeders.Format("toy", (".toy",), "toy"))
        monkeypatch.setattr(feeders, "FORMATS", formats)
        monkeypatch.setattr(feeders, "SUFFIXES", (*feeders.SUFFIXES, ".toy"))
        path = tmp_path / "t.toy"
        path.write_text("one two")
        assert sources.read(path).values(1) == {"word": "two"}

    @pytest.mark.parametrize("name", ["t.csv", "t.json", "t.db", "t.duckdb"])
    def test_recognising_and_reading_files_imports_no_driver(
        self, tmp_path: Path, name: str
    ) -> None:
        path = tmp_path / name
        content = {
            "t.csv": b"a,b\n" + b"1,x\n2,y\n" * 9,
            "t.json": b'[{"a": 1}, {"a": 2}]',
            "t.db": b"SQLite format 3\0" + bytes(100),
            "t.duckdb": bytes(8) + b"DUCK" + bytes(100),
        }
        path.write_bytes(content[name])
        code = (
            "import sys, outlying\n"
            "from outlying.sources import registry, recognise\n"
            f"path = {str(path)!r}\n"
            "if registry._is_streamed(path): pass\n"
            "else: outlying.explain(path, row=1)\n"
            "heavy = ('adbc_driver_manager', 'adbc_driver_sqlite', 'adbc_driver_postgresql',\n"
            "         'pyspark', 'polars', 'pandas', 'narwhals')\n"
            "print([name for name in heavy if name in sys.modules])\n"
            "print([name for name in sys.modules if name.startswith('outlying.sources.databases')])"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        by_engine = "['pandas']" if OLD and name == "t.csv" else "[]"
        assert done.stdout == f"{by_engine}\n[]\n", done.stderr


class TestDispatch:
    def test_small_files_stay_in_memory(self, tmp_path: Path) -> None:
        path = tmp_path / "t.parquet"
        pq.write_table(pa.table({"a": [1, 2]}), path)
        assert feeders.feeder_of(path) is None
        assert feeders.feeder_of(str(path), "memory") is None
        forced = feeders.feeder_of(path, "duckdb")
        assert forced is not None
        assert rows_of(forced) == [(1,), (2,)]

    def test_large_files_are_streamed(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "t.csv"
        path.write_text("a\n1\n2\n")
        monkeypatch.setattr(feeders, "LARGE", 5)
        feeder = feeders.feeder_of(path)
        assert feeder is not None
        assert rows_of(feeder) == [(1,), (2,)]

    def test_what_is_no_single_file_is_streamed(self, tmp_path: Path) -> None:
        path = tmp_path / "t.parquet"
        pq.write_table(pa.table({"a": [1, 2]}), path)
        relation = HOME.sql("SELECT * FROM (VALUES (1), (2)) t(a)")
        several: list[Any] = [tmp_path, f"{tmp_path}/*.parquet", [path], (str(path),), relation]
        several += [pl.scan_parquet(path), outlying.scan(path)]
        for data in several:
            feeder = feeders.feeder_of(data)
            assert feeder is not None
            assert rows_of(feeder) == [(1,), (2,)]

    def test_what_is_in_memory_stays_there(self, tmp_path: Path) -> None:
        frame = pl.DataFrame({"a": [1]})
        for data in (frame, frame.to_arrow(), {"a": [1]}, np.zeros((2, 2)), [1, 2], [], "nope.csv"):
            assert feeders.feeder_of(data) is None

    def test_a_feeder_passes_through(self) -> None:
        feeder: Feeder = outlying.scan(HOME.sql("SELECT 1 AS a"))
        assert outlying.scan(feeder) is feeder
        assert feeders.feeder_of(feeder) is feeder
        with pytest.raises(OptionError, match="memory"):
            feeders.feeder_of(feeder, "memory")

    def test_refusals(self, tmp_path: Path) -> None:
        path = tmp_path / "t.csv"
        path.write_text("a\n1\n")
        with pytest.raises(OptionError, match="engine is 'dask'; allowed: 'auto'"):
            feeders.feeder_of(path, "dask")  # type: ignore[arg-type]
        with pytest.raises(OptionError, match="spark://host:port"):
            feeders.feeder_of(path, "spark")
        with pytest.raises(SourceError, match="not a database of DuckDB or SQLite"):
            outlying.scan(path, table="t")
        with pytest.raises(OptionError, match="both given"):
            outlying.scan(path, table="t", query="SELECT 1")
        with pytest.raises(OptionError, match="table= and query= are for databases"):
            outlying.scan([path], table="t")
        with pytest.raises(SourceError, match="cannot scan polars DataFrame"):
            outlying.scan(pl.DataFrame({"a": [1]}))
        with pytest.raises(SourceError, match="unknown kind of address; known: postgresql://"):
            outlying.scan("mysql://host/database")


class TestLazyFrames:
    def test_types(self) -> None:
        frame = pl.LazyFrame(
            {
                "int": [-(2**63), None],
                "wide": pl.Series([7, None], dtype=pl.Int128),
                "float": [float("nan"), float("inf")],
                "decimal": pl.Series([Decimal("0.1"), None], dtype=pl.Decimal(38, 10)),
                "bool": [True, None],
                "text": ["ä", None],
                "category": pl.Series(["x", None], dtype=pl.Categorical),
                "enum": pl.Series(["x", None], dtype=pl.Enum(["x", "y"])),
                "date": [dt.date(1850, 1, 1), None],
                "moment": [dt.datetime(1900, 1, 1, 10), None],
                "instant": pl.Series([dt.datetime(2020, 1, 1), None]).dt.replace_time_zone("UTC"),
                "time": [dt.time(10), None],
                "duration": [dt.timedelta(2), None],
                "nothing": [None, None],
            }
        )
        feeder = outlying.scan(frame)
        instant = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)
        known = (-(2**63), 7, None, 0.1, True, "ä", "x", "x", dt.date(1850, 1, 1))
        times = (dt.datetime(1900, 1, 1, 10), instant, dt.time(10), dt.timedelta(2), None)
        empty = (None, None, float("inf"), *[None] * 11)
        assert rows_of(feeder) == sorted([(*known, *times), empty], key=repr)
        assert types_of(feeder)["decimal"] == "double"
        assert pa.types.is_dictionary(feeder.schema().field("category").type)

    def test_nested_columns_are_left_out(self) -> None:
        data: dict[str, Any] = {"a": [1], "l": [[1]], "s": [{"x": 1}], "b": [b"x"]}
        feeder = outlying.scan(pl.LazyFrame(data).with_columns(r=pl.concat_arr("a")))
        assert isinstance(feeder, passes.Feeder)
        assert feeder.schema().names == ["a"]
        reasons = [column.reason.split(",")[0] for column in feeder.skipped]
        assert reasons == ["holds lists", "holds records", "holds bytes", "holds lists"]

    @pytest.mark.parametrize("name", ["*", "^.*$", "", 'a"b', "%s", "ü", "a b"])
    def test_odd_names(self, name: str) -> None:
        feeder = outlying.scan(pl.LazyFrame({"x": [1], "X": [3], name: [2]}))
        assert rows_of(feeder, [name, "X"]) == [(2, 3)]

    def test_only_the_asked_columns_are_computed(self) -> None:
        def refuse(values: pl.Series) -> pl.Series:
            raise AssertionError("computed")

        frame = pl.LazyFrame({"a": [1, 2]}).with_columns(
            b=pl.col("a").map_batches(refuse, return_dtype=pl.Int64)
        )
        feeder = outlying.scan(frame)
        assert feeder.schema().names == ["a", "b"]
        assert feeder.fold(Total(), ["a"], None) == 3

    def test_batches_are_bounded(self) -> None:
        feeder = outlying.scan(pl.LazyFrame({"a": range(500_000)}))
        sizes = [batch.num_rows for batch in feeder.fold(Collect(), ["a"], None)]
        assert sum(sizes) == 500_000
        assert max(sizes) <= passes.BATCH_ROWS
        assert feeder.fold(Count(), [], None) == 500_000

    def test_a_pass_that_fails_ends_the_query(self) -> None:
        feeder = outlying.scan(pl.LazyFrame({"a": range(2_000_000)}))
        with pytest.raises(ZeroDivisionError):
            feeder.fold(Fails(), ["a"], None)
        assert feeder.fold(Count(), ["a"], None) == 2_000_000

    def test_faults(self, tmp_path: Path) -> None:
        path = tmp_path / "t.parquet"
        pl.DataFrame({"a": [1], "b": [2]}).write_parquet(path)
        feeder = outlying.scan(pl.scan_parquet(path))
        assert feeder.schema().names == ["a", "b"]
        path.unlink()
        with pytest.raises(SourceError, match="polars LazyFrame: cannot be read"):
            feeder.fold(Count(), ["a"], None)
        with pytest.raises(SourceError, match="polars LazyFrame: cannot be read"):
            outlying.scan(pl.LazyFrame({"a": [1]}).select("nope")).schema()
        wide = pl.LazyFrame({"a": pl.Series([2**100], dtype=pl.Int128)})
        with pytest.raises(ColumnError, match="'a'"):
            outlying.scan(wide).fold(Count(), ["a"], None)
