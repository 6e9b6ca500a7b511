"""A table of a Spark cluster by its address: the session, and what is read in it."""

from __future__ import annotations

import importlib
import os
import re
import shutil
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from outlying.errors import MissingExtraError, SourceError
from outlying.sources.registry import SUFFIXES, format_of, suffix_of
from outlying.sources.spark.faults import plain_errors
from outlying.sources.spark.feeder import SparkFeeder, without_warnings
from outlying.sources.spark.jobs import run

_ADDRESSES = (
    "allowed: spark://HOST:PORT/TABLE, spark://HOST:PORT//folder/of.parquet, or a master "
    "(local[2], spark://HOST:PORT, sc://HOST:PORT) with a table or path of its own"
)
_REACH = 5.0  # seconds for a machine to answer
_PORTS = {"spark": 7077, "sc": 15002}
_SETTINGS = {
    "spark.log.level": "OFF",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
_OWN = {".orc": "orc", ".pq": "parquet"}  # formats that only Spark knows by their suffix
_PACKED = {".gz", ".bz2", ".zst", ".lz4", ".deflate"}


def connected(url: str, source: str | None = None) -> SparkFeeder:
    """Read a table on a cluster: spark://HOST:PORT/TABLE-OR-PATH, or a master and a source.

    A path has a slash in it or a known ending; anything else is a table of the catalog. Raises
    MissingExtraError without PySpark, SourceError for what cannot be reached or read.
    """
    name = url if source is None else source
    master, what = _parts(url) if source is None else (url, source)
    _require_packages()
    with plain_errors(name):
        session = _session(master)
        frame, again = run(partial(_read, session, what), session)
    return SparkFeeder(frame, name, again)


def _parts(url: str) -> tuple[str, str]:
    found = re.fullmatch(r"(spark://[^/]+)/(.+)", url)
    if found is None:
        raise SourceError(f"{url!r} is no address of a table on Spark; {_ADDRESSES}")
    return found[1], found[2]


def _require_packages() -> None:
    """Ask for what PySpark needs: pyarrow for batches; pandas, though unused."""
    try:
        with without_warnings():
            for name in ("pyarrow", "pandas", "pyspark.sql"):
                importlib.import_module(name)
    except ImportError:
        raise MissingExtraError("Spark", "spark") from None


def _session(master: str) -> Any:
    """Return a session; one that is there already is used, if it is of the same master."""
    from pyspark.sql import SparkSession

    scheme, _, rest = master.partition("://")
    if scheme in _PORTS:
        _reach(master, rest.split("/")[0], _PORTS[scheme])
    builder: Any = SparkSession.builder
    if scheme == "sc":
        return builder.remote(master).getOrCreate()
    _refuse_another(master)
    _require_java()
    builder = builder.master(master).appName("outlying")
    for key, value in _SETTINGS.items():
        builder = builder.config(key, value)
    with _same_python(master), without_warnings():
        return builder.getOrCreate()


def _reach(master: str, hosts: str, port: int) -> None:
    """Ask any host of the address whether it is there: Spark itself would wait for a minute."""
    faults = []
    for host in hosts.split(","):
        found = re.fullmatch(r"\[?(.+?)\]?(?::(\d+))?", host)
        try:
            place = (found[1], int(found[2] or port)) if found else (host, port)
            socket.create_connection(place, timeout=_REACH).close()
            return
        except (OSError, OverflowError) as error:
            faults.append(str(error))
    raise SourceError(
        f"{master}: Spark cannot be reached ({faults[0]}); check host and port, and that it runs"
    )


def _refuse_another(master: str) -> None:
    from pyspark import SparkContext

    active = SparkContext._active_spark_context
    if active is not None and active.master != master:
        raise SourceError(
            f"{master}: this process has a Spark session of {active.master} already; stop it "
            "first, or give a DataFrame of it"
        )


def _require_java() -> None:
    home = os.environ.get("JAVA_HOME")
    place = Path(home, "bin") if home else None
    if shutil.which("java", path=place and str(place)) is None:
        looked = f"JAVA_HOME is {home}, without bin/java" if home else "there is no java on PATH"
        raise SourceError(
            f"Spark needs Java, and {looked}; install it (on Debian: apt-get install "
            "openjdk-17-jre-headless) or set JAVA_HOME"
        )


@contextmanager
def _same_python(master: str) -> Iterator[None]:
    """On this machine, run tasks in the Python that runs now, unless the user chose another."""
    if not master.startswith("local") or "PYSPARK_PYTHON" in os.environ:
        yield
        return
    os.environ["PYSPARK_PYTHON"] = sys.executable
    try:
        yield
    finally:
        del os.environ["PYSPARK_PYTHON"]


def _read(session: Any, what: str) -> tuple[Any, Callable[[], Any] | None]:
    """Return the DataFrame, and how to look again; types of text files are found only once."""
    path = PurePosixPath(what)
    bare = path.with_suffix("") if path.suffix in _PACKED else path
    known = suffix_of(bare, SUFFIXES)
    form = _OWN.get(bare.suffix.lower()) if known is None else format_of(known).name.lower()
    if form == "csv":
        separator = "\t" if known == ".tsv" else ","
        return session.read.csv(what, sep=separator, header=True, inferSchema=True), None
    if form == "json":
        return session.read.json(what), None
    if form == "orc":
        return _twice(session.read.orc, what)
    if form == "parquet" or "/" in what:
        return _twice(session.read.parquet, what)
    return _twice(session.read.table, what)


def _twice(reader: Callable[[str], Any], what: str) -> tuple[Any, Callable[[], Any]]:
    return reader(what), lambda: reader(what)
