"""Spark on a cluster of its own, whose workers come and go."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from outlying.errors import SourceError
from outlying.sources import spark_session
from outlying.sources.spark import SparkFeeder, connected
from tests.spark_cluster import Cluster, bare_python, running_cluster, stop_spark
from tests.toy_pass import Everything, Rows, Slow

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("spark")]

PARTS = 6
ROWS = 60


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a folder of several files."""
    folder = tmp_path_factory.mktemp("tables") / "table"
    folder.mkdir()
    for part in range(PARTS):
        numbers = range(part, ROWS, PARTS)
        some = pyarrow.table({"a": numbers, "b": [str(number % 4) for number in numbers]})
        pyarrow.parquet.write_table(some, folder / f"{part}.parquet")
    return folder


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Run executors in a Python that lacks this package, as those of a cluster will."""
    with pytest.MonkeyPatch.context() as patch:
        path = tmp_path_factory.mktemp("python") / "bare"
        patch.setenv("PYSPARK_PYTHON", bare_python(path))
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        yield
        stop_spark()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, python: None) -> Iterator[Cluster]:
    stop_spark()
    with running_cluster(tmp_path_factory.mktemp("cluster"), workers=2) as running:
        yield running
        stop_spark()


def parted(cluster: Cluster, table: Path) -> SparkFeeder:
    """Read the table with every file as a part of its own."""
    feeder = connected(f"{cluster.url}/{table}")
    feeder._frame.sparkSession.conf.set("spark.sql.files.maxPartitionBytes", "4k")
    return feeder


def test_a_table_on_the_cluster(cluster: Cluster, table: Path) -> None:
    feeder = parted(cluster, table)
    seen = feeder.fold(Everything(), ["a", "b"], None)
    assert seen.values["a"] == Counter(range(ROWS))
    assert seen.values["b"] == Counter(str(number % 4) for number in range(ROWS))


def test_a_worker_that_dies_in_the_middle(cluster: Cluster, table: Path, tmp_path: Path) -> None:
    feeder = parted(cluster, table)
    before = feeder.fold(Everything(), ["a", "b"], None)

    def begun() -> int:
        return len(list(tmp_path.glob("begun-*")))

    def kill() -> None:
        while begun() < 4:  # two parts are done, two under way
            time.sleep(0.05)
        cluster.kill_worker(0)
        (tmp_path / "go").touch()

    killer = threading.Thread(target=kill)
    killer.start()
    seen = feeder.fold(Slow(tmp_path, free=2), ["a", "b"], None)
    killer.join()
    assert begun() > PARTS  # what was lost was done again
    assert (seen.rows, seen.known, seen.values, seen.types) == (
        ROWS,
        before.known,
        before.values,
        before.types,
    )
    assert cluster.workers[0].poll() is not None


def test_a_stopped_session(cluster: Cluster, table: Path) -> None:
    feeder = connected(f"{cluster.url}/{table}")
    stop_spark()
    with pytest.raises(SourceError, match="the Spark session was stopped"):
        feeder.fold(Rows(), ["a"], None)


def test_a_cluster_without_workers(
    python: None, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_spark()
    monkeypatch.setattr(spark_session, "PATIENCE", 2.0)
    with running_cluster(tmp_path, workers=0) as lonely:
        with pytest.raises(SourceError, match="no worker has taken the work for 2 seconds"):
            connected(f"{lonely.url}/{table}")
        stop_spark()
