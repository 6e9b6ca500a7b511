"""A job of Spark under watch: its progress, its end when the user wants it, what it moved."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import AbstractContextManager, contextmanager
from threading import Thread
from typing import Any, Protocol, TypeVar

from outlying.errors import SourceError
from outlying.sources.passes import Progress, Traffic

Result = TypeVar("Result")

PATIENCE = 60.0  # seconds without any executor
VECTORED = "parquet.hadoop.vectored.io.enabled"
_LOOK = 0.1  # seconds between looks at a job
_FAREWELL = 10.0  # seconds for a cancelled job to end


class Watch(Protocol):
    """What can be asked about a job while it runs."""

    def marked(self) -> AbstractContextManager[None]:
        """Mark the calling thread for a while: its jobs are the ones to watch."""

    def look(self) -> tuple[int, int]:
        """Return the tasks done, and all that are known; refuses a cluster without executors."""

    def cancel(self) -> None:
        """End the job."""

    def add_to(self, traffic: Traffic) -> None:
        """Count what the finished job moved."""


def is_remote(session: Any) -> bool:
    """Return whether a session is on a Spark Connect server."""
    return type(session).__module__.startswith("pyspark.sql.connect")


def watch_of(session: Any) -> Watch:
    """Return what can watch jobs of a session."""
    if is_remote(session):
        return ConnectWatch(session)
    if session.sparkContext._jsc is None:
        raise SourceError("the Spark session was stopped; read the table in a new one")
    return ClassicWatch(session)


def run(action: Callable[[], Result], watch: Watch, progress: Progress | None) -> Result:
    """Run an action that waits for a job; whatever ends the waiting ends the job."""
    outcome: Future[Result] = Future()
    thread = Thread(target=_settle, args=(outcome, action, watch), daemon=True)
    thread.start()
    try:
        while not wait([outcome], timeout=_LOOK).done:
            done, known = watch.look()
            if progress is not None and known:
                progress(done, known)
        return outcome.result()
    finally:
        _end(thread, outcome, watch)


def _end(thread: Thread, outcome: Future[Any], watch: Watch) -> None:
    """Cancel until it is heard: what was submitted a moment ago may not have begun."""
    until = time.monotonic() + _FAREWELL
    while thread.is_alive() and time.monotonic() < until:
        if not outcome.done():
            watch.cancel()
        thread.join(_LOOK)


def _settle(outcome: Future[Result], action: Callable[[], Result], watch: Watch) -> None:
    try:
        with watch.marked():
            outcome.set_result(action())
    except BaseException as error:  # handed to the thread that waits
        outcome.set_exception(error)


def _sum(before: int | None, more: int | None, first: bool) -> int | None:
    """Add up; what was unknown once stays so."""
    if more is None or (before is None and not first):
        return None
    return (before or 0) + more


class ClassicWatch:
    """A job of a session that has its Spark in this process's Java machine."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self._context = context = session.sparkContext
        self._group = f"outlying-{uuid.uuid4()}"
        self._tracker = context.statusTracker()
        self._pool = context.getLocalProperty("spark.scheduler.pool")
        self._seen = time.monotonic()

    @contextmanager
    def marked(self) -> Iterator[None]:
        """Set the group of jobs, and the pool that the caller is in."""
        self._context.setJobGroup(self._group, "outlying: a pass over the table")
        if self._pool is not None:
            self._context.setLocalProperty("spark.scheduler.pool", self._pool)
        yield

    def look(self) -> tuple[int, int]:
        """Count tasks of stages that have begun; those of merging become known late."""
        self._expect_executors()
        stages = [self._tracker.getStageInfo(stage) for stage in self._stages()]
        known = [s for s in stages if s is not None and s.numActiveTasks + s.numCompletedTasks]
        done = sum(stage.numCompletedTasks for stage in known)
        return done, sum(stage.numTasks for stage in known)

    def cancel(self) -> None:
        """End all jobs of the group."""
        self._context.cancelJobGroup(self._group)

    def add_to(self, traffic: Traffic) -> None:
        """Add the metrics of the last attempt of each stage, as far as they are right."""
        read, shuffled = self._moved()
        first = traffic.scans == 1
        traffic.bytes_read = _sum(traffic.bytes_read, read, first)
        traffic.bytes_shuffled = _sum(traffic.bytes_shuffled, shuffled, first)

    def _moved(self) -> tuple[int | None, int | None]:
        """Return the bytes read and shuffled; the pass is over, so no fault may end it here."""
        from py4j.protocol import Py4JError

        spark = self._context._jsc.sc()
        try:
            spark.listenerBus().waitUntilEmpty()
            stages = [spark.statusStore().lastStageAttempt(stage) for stage in self._stages()]
        except Py4JError:  # the bus is far behind, or stages are forgotten
            return None, None
        read = sum(stage.inputBytes() for stage in stages)
        shuffled = sum(stage.shuffleWriteBytes() for stage in stages)
        return (read if self._counts_reads() else None), shuffled

    def _counts_reads(self) -> bool:
        """Return whether Spark counts what it reads; of Parquet's vectored reads it does not."""
        hadoop = self._context._jsc.hadoopConfiguration()
        setting = self._session.conf.get(VECTORED, None) or hadoop.get(VECTORED)
        return setting == "false" or int(self._session.version.split(".")[0]) < 4

    def _stages(self) -> list[int]:
        jobs = map(self._tracker.getJobInfo, self._tracker.getJobIdsForGroup(self._group))
        return sorted({stage for job in jobs if job is not None for stage in job.stageIds})

    def _expect_executors(self) -> None:
        """Refuse to wait for ever, as the job would on a cluster that has no workers."""
        now = time.monotonic()
        cluster = self._context.master.startswith("spark://")
        if not cluster or len(self._context._jsc.sc().statusTracker().getExecutorInfos()) > 1:
            self._seen = now
        elif now - self._seen > PATIENCE:
            raise SourceError(
                f"{self._context.master}: no worker has taken the work for {PATIENCE:.0f} seconds; "
                "check on the page of the master that workers are there, with cores and memory "
                "that no other application holds"
            )


class ConnectWatch:
    """A job of a session on a Spark Connect server, which tells less."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self._tag = f"outlying-{uuid.uuid4()}"
        self._tasks = (0, 0)

    @contextmanager
    def marked(self) -> Iterator[None]:
        """Tag what this thread starts, and listen."""
        self._session.addTag(self._tag)
        heard = hasattr(self._session, "registerProgressHandler")  # since Spark 4.0
        if heard:
            self._session.registerProgressHandler(self._hear)
        try:
            yield
        finally:
            if heard:
                self._session.removeProgressHandler(self._hear)

    def look(self) -> tuple[int, int]:
        """Return what the server said last."""
        return self._tasks

    def cancel(self) -> None:
        """End what has the tag."""
        self._session.interruptTag(self._tag)

    def add_to(self, traffic: Traffic) -> None:
        """Add nothing: the server does not say what it moved."""

    def _hear(self, stages: Any, **_: Any) -> None:
        known = stages or ()
        done = sum(stage.num_completed_tasks for stage in known)
        self._tasks = (done, sum(stage.num_tasks for stage in known))
