"""The same table in memory and on every engine: the same pairs, the same numbers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import outlying
from outlying import Findings
from tests.engine_tables import OPTIONS, ROWS, check_same, frame, parquet, table, wheres
from tests.spark_cluster import (
    ROOT,
    SOON_READY,
    bare_python,
    require_java,
    running_cluster,
    stop_spark,
)

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("spark")]

SIZES = (400, ROWS)


@pytest.fixture(scope="module")
def tables() -> dict[int, pa.Table]:
    return {rows: table(ROWS).slice(0, rows) for rows in SIZES}


@pytest.fixture(scope="module")
def in_memory(tables: dict[int, pa.Table]) -> dict[int, list[Findings]]:
    """What memory says."""
    found = {}
    for rows, whole in tables.items():
        asked = [where for where in wheres() if next(iter(where.values())) < rows]
        explainer = outlying.Explainer(frame(whole), **OPTIONS)
        found[rows] = [explainer.explain(where=where) for where in asked]
    return found


@pytest.fixture(scope="module")
def folders(tables: dict[int, pa.Table], tmp_path_factory: Any) -> dict[int, Path]:
    made = {rows: tmp_path_factory.mktemp(f"rows-{rows}") for rows in SIZES}
    return {rows: parquet(tables[rows], folder) for rows, folder in made.items()}


def check(source: Any, rows: int, in_memory: dict[int, list[Findings]]) -> None:
    expected = in_memory[rows]
    found = outlying.explain_many(source, where=wheres()[: len(expected)], **OPTIONS)
    for one, other in zip(found, expected, strict=True):
        check_same(one, other)


def test_the_table_says_something(in_memory: dict[int, list[Findings]]) -> None:
    """Else equal answers would mean little."""
    large = in_memory[ROWS]
    assert [findings.exceptional for findings in large[:3]] == [True, False, False]
    assert (large[2].pairs[0].unusual, large[2].pairs[0].as_strong) == (True, 1)
    assert {pair.property for findings in large for pair in findings.pairs} >= {"temp °C", "mo'ney"}


@pytest.mark.parametrize("rows", SIZES)
def test_parquet_by_duckdb(
    rows: int, folders: dict[int, Path], in_memory: dict[int, list[Findings]]
) -> None:
    check(folders[rows], rows, in_memory)
    check(str(folders[rows] / "*.parquet"), rows, in_memory)


@pytest.mark.parametrize("rows", SIZES)
def test_a_relation_of_duckdb(
    rows: int, tables: dict[int, pa.Table], in_memory: dict[int, list[Findings]]
) -> None:
    import duckdb

    with duckdb.connect() as connected:
        connected.register("given", tables[rows])
        connected.execute("CREATE TEMP TABLE kept AS FROM given")
        check(connected.sql("FROM kept WHERE true"), rows, in_memory)
        check(outlying.scan(connected, table="kept"), rows, in_memory)


@pytest.mark.parametrize("rows", SIZES)
def test_a_lazy_frame(
    rows: int, folders: dict[int, Path], in_memory: dict[int, list[Findings]]
) -> None:
    import polars as pl

    check(pl.scan_parquet(folders[rows] / "*.parquet"), rows, in_memory)


@pytest.mark.parametrize("rows", SIZES)
def test_postgres(
    rows: int, tables: dict[int, pa.Table], in_memory: dict[int, list[Findings]], postgres: str
) -> None:
    import adbc_driver_postgresql.dbapi as adbc

    with adbc.connect(postgres) as connected, connected.cursor() as cursor:
        cursor.adbc_ingest(f"orders {rows}", tables[rows], mode="create")
        connected.commit()
    check(outlying.scan(postgres, table=f"orders {rows}"), rows, in_memory)


@pytest.fixture(scope="module")
def postgres() -> Iterator[str]:
    from tests import postgres as server

    yield from server.started()


@pytest.fixture(scope="module")
def java() -> Iterator[None]:
    require_java()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT), prepend=os.pathsep)
        patch.setenv("JDK_JAVA_OPTIONS", SOON_READY)
        stop_spark()
        yield
        stop_spark()


@pytest.mark.parametrize("rows", SIZES)
def test_spark_in_one_process(
    java: None, rows: int, folders: dict[int, Path], in_memory: dict[int, list[Findings]]
) -> None:
    from outlying.sources.spark import connected

    check(connected("local[2]", str(folders[rows])), rows, in_memory)


def test_a_spark_cluster_loses_a_worker(
    java: None,
    folders: dict[int, Path],
    in_memory: dict[int, list[Findings]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One of two workers is killed while the pass goes on; the rows are then held in memory."""
    from outlying.sources.spark import SparkFeeder, connected

    stop_spark()
    monkeypatch.setenv("PYSPARK_PYTHON", bare_python(tmp_path / "bare"))
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    with running_cluster(tmp_path, workers=2) as cluster:
        feeder = connected(cluster.url, str(folders[ROWS]))
        feeder._frame.sparkSession.conf.set("spark.sql.files.maxPartitionBytes", "300k")
        check(feeder, ROWS, in_memory)
        assert feeder.scans == 1
        killed: list[bool] = []
        fold = SparkFeeder.fold

        def deadly(
            self: SparkFeeder,
            work: Any,
            columns: Any,
            progress: Callable[[int, int], None] | None = None,
            workers: int | None = None,
        ) -> Any:
            def kill(done: int, total: int) -> None:
                if not killed:
                    killed.append(True)
                    cluster.kill_worker(0)

            return fold(self, work, columns, kill)

        monkeypatch.setattr(SparkFeeder, "fold", deadly)
        check(connected(cluster.url, str(folders[ROWS])), ROWS, in_memory)
        assert killed
        stop_spark()
