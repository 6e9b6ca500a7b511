"""A table of a Spark cluster by its address, Spark's errors in plain words, and jobs."""

from __future__ import annotations

import contextlib
import importlib
import os
import re
import shutil
import socket
import sys
import time
import uuid
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from threading import Thread
from typing import Any, TypeVar

from outlying.errors import MissingExtraError, SourceError
from outlying.sources.passes import Progress
from outlying.sources.recognise import translate_errors

Result = TypeVar("Result")

PATIENCE = 60.0  # seconds without a task before a cluster is taken for one without workers
_LOOK = 0.1  # seconds between looks at a job
_FAREWELL = 10.0  # seconds for a cancelled job to end
_REACH = 5.0  # seconds for a machine to answer
_PORTS = {"spark": 7077, "sc": 15002}
_SETTINGS = {
    "spark.log.level": "OFF",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
# --- errors --------------------------------------------------------------------------------------

_PYTHON = "install it there, or set PYSPARK_PYTHON to a Python that has outlying[spark]"
#: What Spark's text holds, and what is said instead; groups of the pattern fill the braces.
_WORDS = (
    (r"Permission denied: (user.+)", "permission denied ({0}); ask for the right to read it"),
    (r"(\S+?):? \(?Permission denied", "permission denied for {0}; ask for the right to read it"),
    (
        r"TABLE_OR_VIEW_NOT_FOUND",
        "Spark's catalog has no such table; check its name, which may need a schema in front "
        "(schema.table); a path needs a slash in it or an ending such as .parquet",
    ),
    (
        r"PATH_NOT_FOUND\] Path does not exist: (\S+?)\.?(?:\s|$)",
        "there is nothing at {0}; a cluster must find files under the same path on all machines",
    ),
    (
        r"UNABLE_TO_INFER_SCHEMA",
        "there is no file to read; give a folder that holds Parquet files, or one file",
    ),
    (
        r"PARSE_SYNTAX_ERROR",
        "this is no name of a table for Spark; put names with odd characters in backticks, "
        "as in schema.`my table`",
    ),
    (
        r"UNRESOLVED_COLUMN\S* .*?with name (.+?) cannot",
        "there is no column {0} any more; the table has changed, read it again",
    ),
    (
        r"while reading file (\S+?)\.? Could not read footer",
        "{0} is not a Parquet file, or it is damaged",
    ),
    (r"(\S+) is not a Parquet file", "{0} is not a Parquet file, or it is damaged"),
    (
        r"(?:FILE_NOT_EXIST\] \D*?reading file|SparkFileNotFoundException: File) (\S+?)\.?\s",
        "{0} is gone since the table was first looked at, or an executor cannot see it; "
        "read the table again, from a place that all machines share",
    ),
    (
        r"Python in worker has different version:? \(?([\d., ]+?)\)? than that in driver:? "
        r"([\d.]+)",
        "executors run Python {0}, but this is Python {1}; set PYSPARK_PYTHON to a Python of the "
        "same version on all machines",
    ),
    (
        r"No module named '(pyarrow|numpy|pandas|outlying)",
        "Python on the executors has no {0}; " + _PYTHON,
    ),
    (
        r"executors have outlying (\S+), not (\S+)",
        "executors have outlying {0}, but this is {1}; install the same version on all machines",
    ),
    (
        r"PACKAGE_NOT_INSTALLED\] (\w+)",
        "Python on the executors has no {0} that is new enough; " + _PYTHON,
    ),
    (r'Cannot run program "(.*?)"', "executors have no Python called {0}; " + _PYTHON),
    (
        r"spark\.driver\.maxResultSize",
        "the result is larger than the driver may receive; raise spark.driver.maxResultSize",
    ),
    (
        r"JAVA_GATEWAY_EXITED",
        "Java could not start Spark; Spark 4 needs Java 17 or later "
        "(on Debian: apt-get install openjdk-17-jre-headless)",
    ),
    (
        r"stopped SparkContext",
        "the session has ended; either it was stopped, or nothing at the address answers as a "
        "Spark master of the same version",
    ),
    (
        r"All masters are unresponsive|StatusCode\.UNAVAILABLE",
        "Spark does not answer; check the address, and that Spark has the same version there",
    ),
    (
        r"(?i)job group \S+ cancelled|\S* cancelled part of|OPERATION_CANCELED",
        "Spark's work was cancelled",
    ),
    (
        r"Answer from Java side is empty|Error while sending or receiving|Connection refused",
        "the connection to Spark is lost; start a new session",
    ),
)


def plain_errors(source: str) -> AbstractContextManager[None]:
    """Turn errors of Spark into ours, without the stack traces of Java in them."""
    return translate_errors(source, "pyspark", "py4j", "grpc", explain=_describe_error)


def _describe_error(source: str, error: Exception) -> BaseException:
    if isinstance(error, ImportError):
        return MissingExtraError("Spark", "spark")
    return SourceError(f"{source}: {words(str(error))}")


def words(text: str) -> str:
    """Say plainly what a text of Spark says; of what is unknown, the error or first cause in it."""
    for pattern, plain in _WORDS:
        found = re.search(pattern, text)
        if found is not None:
            return plain.format(*(re.sub(r"(\d), (\d)", r"\1.\2", it) for it in found.groups()))
    python = re.search(r"Traceback .*?^(\w[\w.]*: .*?)$", text, re.MULTILINE | re.DOTALL)
    if python is not None:
        return f"Spark cannot read it: {python[1]}"
    lines = [line.strip(": ") for line in text.splitlines() if line.strip()]
    causes = [line for line in lines if line.startswith("Caused by: ")]
    first = [line for line in lines if not line.startswith("An error occurred while calling")]
    line = (causes[-1:] or first or ["no reason is given"])[0]
    line = re.sub(r"^.*: Lost task .*?\(TID \d+\) \(.*?\): ", "", line)
    line = re.sub(r"^(?:Caused by: )?(?:[\w$]+\.)+[\w$]+: ", "", line)
    line = re.sub(r"^\[[\w.]+\] | ?SQLSTATE: \w+;?$", "", line)
    return f"Spark cannot read it: {line}"


# --- sessions ------------------------------------------------------------------------------------


def session_of(master: str) -> Any:
    """Return a session; one that is there already is used, if it is of the same master."""
    try:
        with without_warnings():
            for name in ("pyarrow", "pandas", "pyspark.sql"):  # what PySpark needs of others
                importlib.import_module(name)
    except ImportError:
        raise MissingExtraError("Spark", "spark") from None
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    scheme, _, rest = master.partition("://")
    if scheme in _PORTS:
        _reach(master, rest.split("/")[0], _PORTS[scheme])
    builder: Any = SparkSession.builder
    if scheme == "sc":
        return builder.remote(master).getOrCreate()
    active = SparkContext._active_spark_context
    if active is not None and active.master != master:
        raise SourceError(
            f"{master}: this process has a Spark session of {active.master} already; stop it "
            "first, or give a DataFrame of it"
        )
    home = os.environ.get("JAVA_HOME")
    if shutil.which("java", path=home and str(Path(home, "bin"))) is None:
        where = f"JAVA_HOME is {home}, without bin/java" if home else "there is no java on PATH"
        raise SourceError(
            f"Spark needs Java, and {where}; install it (on Debian: apt-get install "
            "openjdk-17-jre-headless) or set JAVA_HOME"
        )
    builder = builder.master(master).appName("outlying")
    for key, value in _SETTINGS.items():
        builder = builder.config(key, value)
    with without_warnings(), contextlib.ExitStack() as stack:
        if master.startswith("local") and "PYSPARK_PYTHON" not in os.environ:
            # run tasks in the Python that runs now, unless the user chose another
            os.environ["PYSPARK_PYTHON"] = sys.executable
            stack.callback(os.environ.pop, "PYSPARK_PYTHON")
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


@contextmanager
def without_warnings() -> Iterator[None]:
    """Keep what PySpark says of versions of pandas and distutils from the user: it is not used."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


# --- jobs ----------------------------------------------------------------------------------------


def is_remote(session: Any) -> bool:
    """Return whether a session is on a Spark Connect server."""
    return type(session).__module__.startswith("pyspark.sql.connect")


def run(action: Callable[[], Result], session: Any, progress: Progress | None = None) -> Result:
    """Run an action that waits for a job; whatever ends the waiting ends the job."""
    job = _ConnectJob(session) if is_remote(session) else _ClassicJob(session)
    outcome: Future[Result] = Future()

    def settle() -> None:
        try:
            job.mark()
            outcome.set_result(action())
        except BaseException as error:  # handed to the thread that waits
            outcome.set_exception(error)

    thread = Thread(target=settle, daemon=True)
    thread.start()
    try:
        while not wait([outcome], timeout=_LOOK).done:
            done, known = job.look()
            if progress is not None and known:
                progress(done, known)
        return outcome.result()
    finally:  # cancel until it is heard: what was submitted a moment ago may not have begun
        until = time.monotonic() + _FAREWELL
        while thread.is_alive() and time.monotonic() < until:
            if not outcome.done():
                job.cancel()
            thread.join(_LOOK)


class _ClassicJob:
    """A job of a session that has its Spark in this process's Java machine."""

    def __init__(self, session: Any) -> None:
        self._context = context = session.sparkContext
        if context._jsc is None:
            raise SourceError("the Spark session was stopped; read the table in a new one")
        self._group = f"outlying-{uuid.uuid4()}"
        self._pool = context.getLocalProperty("spark.scheduler.pool")
        self._begun = time.monotonic()

    def mark(self) -> None:
        self._context.setJobGroup(self._group, "outlying: a pass over the table")
        if self._pool is not None:
            self._context.setLocalProperty("spark.scheduler.pool", self._pool)

    def look(self) -> tuple[int, int]:
        """Count tasks of stages that have begun; without workers, a job would wait for ever."""
        tracker = self._context.statusTracker()
        jobs = map(tracker.getJobInfo, tracker.getJobIdsForGroup(self._group))
        places = sorted({stage for job in jobs if job is not None for stage in job.stageIds})
        stages = [s for s in map(tracker.getStageInfo, places) if s is not None]
        begun = [stage for stage in stages if stage.numActiveTasks + stage.numCompletedTasks]
        if begun or not stages:
            self._begun = time.monotonic()
        elif time.monotonic() - self._begun > PATIENCE:
            raise SourceError(
                f"{self._context.master}: no worker has taken the work for {PATIENCE:.0f} seconds; "
                "check on the page of the master that workers are there, with cores and memory "
                "that no other application holds"
            )
        return sum(s.numCompletedTasks for s in begun), sum(s.numTasks for s in begun)

    def cancel(self) -> None:
        self._context.cancelJobGroup(self._group)


class _ConnectJob:
    """A job of a session on a Spark Connect server, which does not say how far it is."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self._tag = f"outlying-{uuid.uuid4()}"

    def mark(self) -> None:
        self._session.addTag(self._tag)

    def look(self) -> tuple[int, int]:
        """Nothing is known."""
        return 0, 0

    def cancel(self) -> None:
        self._session.interruptTag(self._tag)
