"""Spark Connect: a server on this machine, and a client that knows only its address."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.spark_cluster import ROOT, SOON_READY, require_java

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("spark")]

CONNECT = """
import sys, warnings
warnings.simplefilter("ignore")
from collections import Counter
from pyspark.sql import SparkSession
from outlying.errors import InfiniteValueError, SourceError
from outlying.sources.spark import SparkFeeder, connected
from tests.toy_pass import Broken, Everything, Finite

session = SparkSession.builder.remote("local[2]").getOrCreate()
frame = session.range(0, 100, 1, 5).selectExpr("id", "id % 2 AS `a.b`", "double('inf') AS x")
table = SparkFeeder(frame)
assert type(frame).__module__.startswith("pyspark.sql.connect")
heard = []
seen = table.fold(Everything(), ["id", "a.b"], lambda done, known: heard.append((done, known)))
assert seen.values == {"id": Counter(range(100)), "a.b": Counter({0: 50, 1: 50})}, seen
assert table.scans == 1
assert all(0 <= done <= known for done, known in heard)
try:
    table.fold(Finite("x"), ["x"], None)
    raise AssertionError("infinite values are let through")
except InfiniteValueError as error:
    assert error.column == "x"
for source, words in (("nowhere", "catalog has no such table"), ("/nowhere", "nothing at")):
    try:
        connected("sc://localhost:15002", source).schema()
        raise AssertionError(f"{source} is found")
    except SourceError as error:
        assert words in str(error), error
try:
    table.fold(Broken(), ["x"], None)
    raise AssertionError("a slip is let through")
except SourceError as error:
    assert str(error).endswith("cannot read it: KeyError: 'a slip of ours'"), error
print("all is well")
"""


def test_spark_connect() -> None:
    require_java()
    import pyspark

    pytest.importorskip("grpc", reason="Spark Connect needs pyspark[connect]")
    if not list((Path(pyspark.__file__).parent / "jars").rglob("spark-connect_*.jar")):
        pytest.skip("this PySpark comes without a Connect server, as all before 4.0")
    paths = os.pathsep.join([str(ROOT), str(ROOT / "src")])
    settings = {"PYTHONPATH": paths, "PYSPARK_PYTHON": sys.executable}
    settings["JDK_JAVA_OPTIONS"] = SOON_READY
    done = subprocess.run(
        [sys.executable, "-c", CONNECT],
        env=os.environ | settings,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.stdout.endswith("all is well\n"), done.stderr[-3000:]
