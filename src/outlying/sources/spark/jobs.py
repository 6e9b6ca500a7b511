"""A job of Spark: what executors run, its progress, and its end when the user wants it."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from threading import Thread
from typing import Any, TypeVar

from outlying.errors import SourceError
from outlying.sources.passes import Progress

Result = TypeVar("Result")

PATIENCE = 60.0  # seconds in which no task runs
_LOOK = 0.1  # seconds between looks at a job
_FAREWELL = 10.0  # seconds for a cancelled job to end


def is_remote(session: Any) -> bool:
    """Return whether a session is on a Spark Connect server."""
    return type(session).__module__.startswith("pyspark.sql.connect")


def run(action: Callable[[], Result], session: Any, progress: Progress | None = None) -> Result:
    """Run an action that waits for a job; whatever ends the waiting ends the job."""
    job = _ConnectJob(session) if is_remote(session) else _ClassicJob(session)
    outcome: Future[Result] = Future()
    thread = Thread(target=_settle, args=(outcome, action, job), daemon=True)
    thread.start()
    try:
        while not wait([outcome], timeout=_LOOK).done:
            done, known = job.look()
            if progress is not None and known:
                progress(done, known)
        return outcome.result()
    finally:
        _end(thread, outcome, job)


def _end(thread: Thread, outcome: Future[Any], job: _ClassicJob | _ConnectJob) -> None:
    """Cancel until it is heard: what was submitted a moment ago may not have begun."""
    until = time.monotonic() + _FAREWELL
    while thread.is_alive() and time.monotonic() < until:
        if not outcome.done():
            job.cancel()
        thread.join(_LOOK)


def _settle(
    outcome: Future[Result], action: Callable[[], Result], job: _ClassicJob | _ConnectJob
) -> None:
    try:
        with job.marked():
            outcome.set_result(action())
    except BaseException as error:  # handed to the thread that waits
        outcome.set_exception(error)


class _ClassicJob:
    """A job of a session that has its Spark in this process's Java machine."""

    def __init__(self, session: Any) -> None:
        self._context = context = session.sparkContext
        if context._jsc is None:
            raise SourceError("the Spark session was stopped; read the table in a new one")
        self._group = f"outlying-{uuid.uuid4()}"
        self._tracker = context.statusTracker()
        self._pool = context.getLocalProperty("spark.scheduler.pool")
        self._seen = time.monotonic()

    @contextmanager
    def marked(self) -> Iterator[None]:
        """Set the group of jobs of this thread, and the pool that the caller is in."""
        self._context.setJobGroup(self._group, "outlying: a pass over the table")
        if self._pool is not None:
            self._context.setLocalProperty("spark.scheduler.pool", self._pool)
        yield

    def look(self) -> tuple[int, int]:
        """Count tasks of stages that have begun; those of merging become known late.

        A cluster that has no workers is refused: its job would wait for ever.
        """
        jobs = map(self._tracker.getJobInfo, self._tracker.getJobIdsForGroup(self._group))
        places = sorted({stage for job in jobs if job is not None for stage in job.stageIds})
        stages = [s for s in map(self._tracker.getStageInfo, places) if s is not None]
        begun = [stage for stage in stages if stage.numActiveTasks + stage.numCompletedTasks]
        if begun or not stages:
            self._seen = time.monotonic()
        elif time.monotonic() - self._seen > PATIENCE:
            raise SourceError(
                f"{self._context.master}: no worker has taken the work for {PATIENCE:.0f} seconds; "
                "check on the page of the master that workers are there, with cores and memory "
                "that no other application holds"
            )
        return sum(s.numCompletedTasks for s in begun), sum(s.numTasks for s in begun)

    def cancel(self) -> None:
        """End all jobs of the group."""
        self._context.cancelJobGroup(self._group)


class _ConnectJob:
    """A job of a session on a Spark Connect server."""

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

    def _hear(self, stages: Any, **_: Any) -> None:
        known = stages or ()
        done = sum(stage.num_completed_tasks for stage in known)
        self._tasks = (done, sum(stage.num_tasks for stage in known))
