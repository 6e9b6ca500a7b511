"""Spark in one process of Java: types, names, parts, errors, scans."""

from __future__ import annotations

import datetime as dt
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from outlying import scan
from outlying.errors import ColumnError, InfiniteValueError, OutlyingError
from outlying.options import Options
from outlying.sources.spark import SparkFeeder, connected
from outlying.stream.population import StreamedPopulation
from tests.spark_cluster import ROOT, SOON_READY, bare_python, executable, require_java, stop_spark
from tests.stream.test_score_pass import payments, plain
from tests.toy_pass import Broken, Bulky, Everything, Finite, Rows, Slow

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("spark")]

UTC = dt.UTC
Write = Callable[..., str]


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """One session for all tests, made as the command line makes it."""
    require_java()
    path = tmp_path_factory.mktemp("first") / "first.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"a": [1]}), path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT), prepend=os.pathsep)
        patch.setenv("JDK_JAVA_OPTIONS", SOON_READY)
        stop_spark()
        yield connected("local[2]", str(path))._frame.sparkSession
        stop_spark()


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(name: str = "t.parquet", **columns: Any) -> str:
        pyarrow.parquet.write_table(pyarrow.table(columns), tmp_path / name)
        return str(tmp_path / name)

    return written


def folded(frame: Any) -> Any:
    table = SparkFeeder(frame)
    return table.fold(Everything(), table.schema().names, None)


TYPES = """
    SELECT * FROM VALUES
    (1L, 2.5D, 0.1BD, 'a', true, DATE'1582-10-04', TIMESTAMP_NTZ'1969-12-31 23:59:59.999999',
     TIMESTAMP'2024-07-01 12:00:00+02:00', INTERVAL '-1 02:03:04.000005' DAY TO SECOND,
     INTERVAL '3' HOUR, 1Y, 1S, 1, 1.5F, null),
    (null, double('nan'), 12345678901234567890123456789012345.678BD, '', false, DATE'9999-12-31',
     null, TIMESTAMP'0001-01-01 00:00:00Z', INTERVAL '0' SECOND, null, null, -1S, null, null, null),
    (3L, double('-inf'), null, null, null, null, TIMESTAMP_NTZ'2024-03-31 02:30:00', null, null,
     null, null, null, null, float('inf'), null)
    AS t(whole, real, exact, text, yes, day, local, instant, lasting, hours, i8, i16, i32, f32, no)
"""


@pytest.mark.parametrize("zone", ["UTC", "America/New_York"])
def test_types_and_missing_values(spark: Any, zone: str) -> None:
    spark.conf.set("spark.sql.session.timeZone", zone)
    seen = folded(spark.sql(TYPES))
    spark.conf.unset("spark.sql.session.timeZone")
    long = float(Decimal("12345678901234567890123456789012345.678"))
    lasting = -dt.timedelta(days=1, hours=2, minutes=3, seconds=4, microseconds=5)
    assert seen.values == {
        "whole": Counter([1, None, 3]),
        "real": Counter([2.5, "nan", float("-inf")]),
        "exact": Counter([0.1, long, None]),
        "text": Counter(["a", "", None]),
        "yes": Counter([True, False, None]),
        "day": Counter([dt.date(1582, 10, 4), dt.date(9999, 12, 31), None]),
        "local": Counter(
            [dt.datetime(1969, 12, 31, 23, 59, 59, 999999), dt.datetime(2024, 3, 31, 2, 30), None]
        ),
        "instant": Counter(
            [dt.datetime(2024, 7, 1, 10, tzinfo=UTC), dt.datetime(1, 1, 1, tzinfo=UTC), None]
        ),
        "lasting": Counter([lasting, dt.timedelta(0), None]),
        "hours": Counter({dt.timedelta(hours=3): 1, None: 2}),
        "i8": Counter({1: 1, None: 2}),
        "i16": Counter([1, -1, None]),
        "i32": Counter({1: 1, None: 2}),
        "f32": Counter([1.5, None, float("inf")]),
        "no": Counter({None: 3}),
    }
    schema = SparkFeeder(spark.sql(TYPES)).schema()
    assert seen.types == {field.name: str(field.type) for field in schema}
    assert schema.field("instant").type == pyarrow.timestamp("us", tz="UTC")
    assert schema.field("local").type == pyarrow.timestamp("us")


def test_unusable_columns_are_named(spark: Any) -> None:
    frame = spark.sql(
        "SELECT 1 AS a, binary('x') AS b, array(1) AS c, named_struct('x', 1) AS d, "
        "map('x', 1) AS e, INTERVAL '1' YEAR AS f"
    )
    table = SparkFeeder(frame)
    assert table.schema().names == ["a"]
    said = {column.name: column.reason.split(",")[0] for column in table.skipped}
    assert said == {
        "b": "holds bytes",
        "c": "holds lists",
        "d": "holds records",
        "e": "holds records",
        "f": "holds durations in months or years",
    }
    assert table.fold(Rows(), ["a"], None) == 1


def test_odd_names(spark: Any) -> None:
    names = ["a.b", "a`b", 'a"b', "a'b", "sel ect", "%s", "ü", "{c}", "x", "X", " ", "c0"]
    frame = spark.createDataFrame([tuple(range(len(names)))], schema=names)
    seen = folded(frame)
    assert {name: list(values) for name, values in seen.values.items()} == {
        name: [place] for place, name in enumerate(names)
    }
    table = SparkFeeder(frame)
    assert list(table.fold(Everything(), ["X", "a.b"], None).values) == ["X", "a.b"]


@pytest.mark.parametrize(("rows", "parts"), [(0, 5), (1, 1), (1, 7), (20, 20)])
def test_parts(spark: Any, rows: int, parts: int) -> None:
    seen = folded(spark.range(0, rows, 1, parts))
    assert seen.rows == rows
    assert seen.values.get("id", Counter()) == Counter(range(rows))
    assert seen.batches <= min(rows, parts)


def test_many_parts_are_folded_together(spark: Any) -> None:
    table = SparkFeeder(spark.range(0, 100, 1, 50), least_tasks=1)
    seen = table.fold(Everything(), ["id"], None)
    assert seen.values["id"] == Counter(range(100))
    assert seen.batches == 2 * 8  # tasks for each core


def test_rows_without_columns(spark: Any) -> None:
    assert SparkFeeder(spark.range(1000)).fold(Rows(), [], None) == 1000


def test_batches_are_joined(spark: Any) -> None:
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", 1000)
    seen = folded(spark.range(0, 100_000, 1, 1))
    spark.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")
    assert (seen.rows, seen.batches) == (100_000, 2)


def test_large_states(spark: Any) -> None:
    rows, rest = SparkFeeder(spark.range(0, 40, 1, 4)).fold(Bulky(5_000_000), ["id"], None)
    assert (rows, len(rest)) == (40, 5_000_000)


def test_a_plan_with_shuffles_and_its_own_partitions(spark: Any) -> None:
    frame = spark.range(1000).selectExpr("id % 7 AS k", "id").groupBy("k").count()
    assert folded(frame).values["k"] == Counter(range(7))


def test_scans_are_counted(spark: Any, write: Write) -> None:
    table = connected("local[2]", write(a=[1, 2, 3]))
    for scans in (1, 2):
        assert table.fold(Rows(), ["a"], None) == 3
        assert table.scans == scans


def test_progress_counts_tasks(spark: Any, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []

    def hear(done: int, known: int) -> None:
        seen.append((done, known))
        (tmp_path / "go").touch()

    assert SparkFeeder(spark.range(0, 10, 1, 2)).fold(Slow(tmp_path), ["id"], hear).rows == 10
    assert seen[0] == (0, 2)
    assert all(0 <= done <= known <= 2 + 2 + 1 for done, known in seen)


def test_an_interrupt_ends_the_job(spark: Any, tmp_path: Path) -> None:
    def interrupt(done: int, known: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        SparkFeeder(spark.range(0, 10, 1, 2)).fold(Slow(tmp_path), ["id"], interrupt)
    assert list(spark.sparkContext.statusTracker().getActiveJobsIds()) == []
    (tmp_path / "go").touch()


def test_our_errors_come_out_unchanged(spark: Any) -> None:
    frame = spark.sql("SELECT IF(id = 70000, double('inf'), id) AS x FROM range(0, 200000, 1, 2)")
    with pytest.raises(InfiniteValueError) as caught:
        SparkFeeder(frame).fold(Finite("x"), ["x"], None)
    assert str(caught.value) == str(InfiniteValueError("x", None))
    assert caught.value.column == "x"


def test_unknown_and_doubled_columns(spark: Any) -> None:
    with pytest.raises(ColumnError, match=r"unknown column 'ib'; did you mean 'id'\?"):
        SparkFeeder(spark.range(3)).fold(Rows(), ["ib"], None)
    with pytest.raises(ColumnError, match="columns 1 and 2 are both called 'a'"):
        SparkFeeder(spark.sql("SELECT 1 AS a, 2 AS a")).schema()


def said_by(action: Callable[[], object]) -> str:
    """Return the message of an error of ours, after checking that it is no trace of a stack."""
    with pytest.raises(OutlyingError) as caught:
        action()
    text = str(caught.value)
    assert "\n" not in text
    assert "\tat " not in text
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return text


def test_sources_that_cannot_be_read(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "bad.parquet").write_text("this is not a Parquet file", encoding="utf-8")
    (tmp_path / "empty").mkdir()
    cases = {
        "no_such_table": "Spark's catalog has no such table",
        "odd name": "put names with odd characters in backticks",
        f"{tmp_path}/none.parquet": f"there is nothing at file:{tmp_path}/none.parquet; a cluster",
        f"{tmp_path}/none.csv": "there is nothing at",
        f"{tmp_path}/bad.parquet": f"{tmp_path}/bad.parquet is not a Parquet file",
        f"{tmp_path}/empty": "there is no file to read",
    }
    for source, words in cases.items():
        said = said_by(partial(connected, "local[2]", source))
        assert said.startswith(f"{source}: ")
        assert words in said


def test_sources_by_name(spark: Any, write: Write, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y\n1,a\n,b\n", encoding="utf-8")
    (tmp_path / "a.tsv").write_text("x\ty\n1\ta\n\tb\n", encoding="utf-8")
    (tmp_path / "a.json").write_text('{"x": 1, "y": "a"}\n{"y": "b"}\n', encoding="utf-8")
    write(x=[1, None], y=["a", "b"])
    spark.read.parquet(str(tmp_path / "t.parquet")).createOrReplaceTempView("viewed")
    for source in [*(str(tmp_path / name) for name in ("a.csv", "a.tsv", "a.json")), "viewed"]:
        table = connected("local[2]", source)
        seen = table.fold(Everything(), ["x", "y"], None)
        assert table.source == source
        assert seen.values == {"x": Counter([1, None]), "y": Counter(["a", "b"])}


def test_tables_that_change(spark: Any, write: Write) -> None:
    path = write(a=[1, 2], b=[3, 4])
    table = connected("local[2]", path)
    write(a=[1, 2])
    assert table.fold(Rows(), ["a"], None) == 2
    assert "column 'b' is gone" in said_by(lambda: table.fold(Rows(), ["b"], None))
    write(a=["x"])
    assert "column 'a' has another type" in said_by(lambda: table.fold(Rows(), ["a"], None))
    frame = SparkFeeder(spark.read.parquet(path))
    Path(path).unlink()
    assert f"{path} is gone since" in said_by(lambda: frame.fold(Rows(), ["a"], None))


def test_slips_of_a_pass_keep_their_words(spark: Any) -> None:
    said = said_by(lambda: SparkFeeder(spark.range(3)).fold(Broken(), ["id"], None))
    assert said == "Spark DataFrame: Spark cannot read it: KeyError: 'a slip of ours'"


def test_executors_without_what_they_need(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context, table = spark.sparkContext, SparkFeeder(spark.range(3))
    poor = executable(tmp_path / "poor", f'exec "{sys.executable}" -S "$@"')
    monkeypatch.setattr(context, "pythonExec", poor)
    said = said_by(lambda: table.fold(Rows(), ["id"], None))
    # where the path of this process names the package, NumPy is missing first
    assert re.search(r"executors has no (outlying|numpy); install it there, or set PYSPARK", said)
    monkeypatch.setattr(context, "pythonExec", "/no/such/python")
    said = said_by(lambda: table.fold(Rows(), ["id"], None))
    assert "executors have no Python called /no/such/python" in said
    monkeypatch.setattr(context, "pythonExec", sys.executable)
    monkeypatch.setattr(context, "pythonVer", "3.9")
    said = said_by(lambda: table.fold(Rows(), ["id"], None))
    here = ".".join(map(str, sys.version_info[:2]))
    assert f"executors run Python {here}, but this is Python 3.9; set PYSPARK_PYTHON" in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("raise ModuleNotFoundError(\"No module named 'outlying'\")", "has no outlying"),
        ("__version__ = '0'\nfrom pkgutil import extend_path\n"
         "__path__ = extend_path(__path__, __name__)", "executors have outlying 0, but this is"),
    ],
)  # fmt: skip
def test_executors_without_this_package(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, said: str
) -> None:
    (tmp_path / "outlying").mkdir()
    (tmp_path / "outlying" / "__init__.py").write_text(text, encoding="utf-8")
    python = bare_python(tmp_path / "bare", tmp_path)
    monkeypatch.setattr(spark.sparkContext, "pythonExec", python)
    table = SparkFeeder(spark.range(0, 9, 1, 3))
    assert said in said_by(lambda: table.fold(Rows(), ["id"], None))


def test_sessions_that_cannot_be_had(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "Spark cannot be reached" in said_by(lambda: connected("spark://127.0.0.1:1/table"))
    assert "Spark cannot be reached" in said_by(lambda: connected("sc://127.0.0.1:1", "table"))
    for url in ("spark://127.0.0.1:7077", "local[2]", "spark:///x"):
        assert "allowed: spark://HOST:PORT/TABLE" in said_by(partial(connected, url))
    said = said_by(lambda: connected("local[1]", "table"))
    assert "this process has a Spark session of local[2] already" in said
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    assert "openjdk-17-jre-headless" in said_by(lambda: connected("local[2]", "table"))
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    said = said_by(lambda: connected("local[2]", "table"))
    assert "JAVA_HOME is /nowhere, without bin/java" in said


@pytest.mark.usefixtures("few_drawn")
def test_executors_judge_rows_as_this_process_does(spark: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "p.parquet")
    payments().to_parquet(path, index=False)
    parts = SparkFeeder(spark.read.parquet(path).repartition(3))
    found, expected = (
        StreamedPopulation(source, Options.of()).ranked(20) for source in (parts, scan(path))
    )
    assert plain(found) == plain(expected)
