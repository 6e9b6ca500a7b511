"""Jobs: what runs in worker processes, bounded in number and time, on the event loop."""

from __future__ import annotations

import asyncio
import collections
import contextlib
import dataclasses
import functools
import multiprocessing
import os
import secrets
import sys
import threading
import time
from collections.abc import Callable
from multiprocessing.context import ForkServerContext, SpawnContext
from pathlib import Path
from typing import Any, Literal

from outlying.errors import Setting
from outlying.results.detections import Counts, Detection, Flagged
from outlying.results.findings import Findings
from outlying.results.sets import SetExplanation
from outlying.web import BusyError, NotFoundError, NotReadyError, ServerLimits, worker
from outlying.web.queries import Addresses
from outlying.web.worker import (
    CompareTask,
    DetectTask,
    ExplainTask,
    News,
    TableFacts,
    Task,
    WorkerSpec,
)

# --- processes -------------------------------------------------------------------------------

_LONGEST_FOLDER = 75  # of the 107 bytes that the path of a socket may have
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


@functools.cache
def _context() -> ForkServerContext | SpawnContext:
    """Return how processes start: on Linux by a helper with all modules and no threads."""
    if sys.platform != "linux":
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([worker.__name__, "duckdb", "pyarrow.parquet"])
    return context


def warm_up(folder: Path) -> None:
    """Let the helper load all modules before the first process is needed.

    Its socket is in the private folder, which is removed even where the server is killed.
    """
    if sys.platform == "linux":
        from multiprocessing import forkserver

        _context()
        if len(os.fsencode(folder)) <= _LONGEST_FOLDER:
            config: dict[str, Any] = vars(multiprocessing.current_process())["_config"]
            config["tempdir"] = str(folder)
        forkserver.ensure_running()


class Process:
    """One worker process; what it says arrives on the event loop that it was started from."""

    def __init__(
        self,
        spec: WorkerSpec,
        heard: Callable[[Process, News], None],
        died: Callable[[Process, str], None],
    ) -> None:
        context = _context()
        self._connection, self._theirs = context.Pipe()
        self._process = context.Process(target=worker.main, args=(self._theirs, spec), daemon=True)
        self._heard, self._died, self._loop = heard, died, asyncio.get_running_loop()
        self._why = ""
        self._listening = threading.Thread(target=self._listen, daemon=True)
        self._listening.start()

    @property
    def is_alive(self) -> bool:
        """Whether it can still be asked."""
        return not self._why

    def send(self, name: str, task: Task | None) -> None:
        """Let it work on a task, or end one: that is what None means."""
        with contextlib.suppress(OSError, ValueError):  # it is gone: the listener says so
            self._connection.send((name, task))

    def kill(self, why: str) -> None:
        """End it at once."""
        self._why = self._why or why
        if self._process.pid is not None:
            self._process.kill()

    def stop(self) -> None:
        """End it, and wait until it is gone."""
        self.kill("the server was stopped")
        self._listening.join(1)

    def memory(self) -> int:
        """Return how many bytes of memory it holds; 0 where the system does not tell."""
        try:
            pages = Path(f"/proc/{self._process.pid}/statm").read_text().split()[1]
        except (OSError, IndexError):
            return 0
        return int(pages) * _PAGE

    def _listen(self) -> None:
        """Start the process, which may take a moment, and pass on what it says."""
        with contextlib.suppress(EOFError, OSError):
            self._process.start()
            self._theirs.close()
            if self._why:
                self._process.kill()
            while True:
                self._call(self._heard, self._connection.recv())
        if self._process.pid is not None:
            self._process.join()
        why = self._why or "its process died; it was killed, or memory ran out"
        self._why = why
        self._call(self._died, why)
        self._connection.close()

    def _call(self, what: Callable[..., None], *given: object) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody listens any more
            self._loop.call_soon_threadsafe(what, self, *given)


# --- jobs ------------------------------------------------------------------------------------

JobState = Literal["waiting", "running", "done", "failed", "cancelled"]
JobKind = Literal["read", "explain", "detect", "compare"]

_KEPT = 200  # finished jobs
_LOOK = 0.25  # seconds between two looks at time and memory
_GRACE = 3.0  # seconds in which a job ends by itself


@dataclasses.dataclass(eq=False, slots=True)
class Job:
    """One piece of work on a table: how far it is, and what has come of it."""

    table: str
    task: Task | None  # None: the table is read
    start: Callable[[Job], Process]
    id: str = dataclasses.field(default_factory=lambda: secrets.token_hex(8))
    state: JobState = "waiting"
    stage: str = "waiting"
    done: int = 0
    total: int = 0
    error: str | None = None
    remedies: tuple[Setting, ...] = ()
    result: TableFacts | Findings | Detection | SetExplanation | None = None
    rows: list[Flagged] = dataclasses.field(default_factory=list)  # found while it runs
    counts: Counts | None = None  # of rows that stand out, as soon as they are known
    process: Process | None = None
    began: float | None = None
    ended: float | None = None
    end_by: float | None = None  # when a job that was to end is ended with its process
    _changed: asyncio.Event = dataclasses.field(default_factory=asyncio.Event)

    @property
    def kind(self) -> JobKind:
        """What is done."""
        if self.task is None:
            return "read"
        kinds: dict[type[Task], JobKind] = {
            ExplainTask: "explain",
            DetectTask: "detect",
            CompareTask: "compare",
        }
        return kinds[type(self.task)]

    @property
    def page(self) -> str:
        """The address of the page that shows it."""
        task = self.task
        if task is None:
            return Addresses(self.table).table()
        addresses = Addresses(self.table, task.options)
        if isinstance(task, DetectTask):
            return addresses.odd(task.top)
        if isinstance(task, CompareTask):
            return addresses.apart(task.rows)
        if task.object is not None:
            return addresses.new(dict(task.object))
        return addresses.row(int(task.row or 0) + 1)

    @property
    def found(self) -> int:
        """How many odd rows it has found so far."""
        return len(self.rows)

    @property
    def is_over(self) -> bool:
        """Whether nothing more will happen."""
        return self.state in ("done", "failed", "cancelled")

    @property
    def seconds(self) -> float:
        """How long it has taken so far."""
        return round((self.ended or time.monotonic()) - self.began, 3) if self.began else 0.0

    @property
    def explained(self) -> tuple[Findings, ...]:
        """The findings of all rows that it has explained; an error says why there are none."""
        if isinstance(self.result, Findings):
            return (self.result,)
        if isinstance(self.result, Detection):
            return tuple(row.findings for row in self.result.rows if row.findings is not None)
        words = "holds no such result" if self.state == "done" else f"is {self.state}"
        raise NotReadyError(self.error or f"the job {words}")

    async def change(self, timeout: float) -> None:
        """Wait until something has happened, but not for ever."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._changed.wait(), timeout)

    async def finished(self, timeout: float) -> None:
        """Wait until it is over, but not for ever."""
        end = time.monotonic() + timeout
        while not self.is_over and time.monotonic() < end:
            await self.change(end - time.monotonic())

    def tell(self, **changes: Any) -> None:
        """Change what is known of the job, and wake all who wait for that."""
        for name, value in changes.items():
            setattr(self, name, value)
        self._changed.set()
        self._changed = asyncio.Event()


class Jobs:
    """All jobs of a server: those that wait, run, and have ended lately."""

    def __init__(self, limits: ServerLimits, on_done: Callable[[Job], None]) -> None:
        self._limits, self._on_done = limits, on_done
        self._jobs: dict[str, Job] = {}
        self._waiting: collections.deque[Job] = collections.deque()
        self._running: list[Job] = []
        self._watch: asyncio.Task[None] | None = None

    def list(self) -> list[Job]:
        """Return all jobs that are known, the oldest first."""
        return list(self._jobs.values())

    def get(self, name: str) -> Job:
        """Return a job by its id."""
        if name not in self._jobs:
            raise NotFoundError("there is no such job (any more); start it again")
        return self._jobs[name]

    def job_for(
        self, table: str, task: Task | None, start: Callable[[Job], Process], *, again: bool = False
    ) -> Job:
        """Return the job of a request; one that has failed is begun `again`, if wanted."""
        alike = (job for job in reversed(self.list()) if (job.table, job.task) == (table, task))
        job = next(alike, None) if task is not None else None
        if job is not None and not (again and job.state in ("failed", "cancelled")):
            self._jobs[job.id] = self._jobs.pop(job.id)
            return job
        if len(self._waiting) >= self._limits.waiting:
            raise BusyError(f"{len(self._waiting):,} jobs are waiting already", "waiting")
        job = Job(table, task, start)
        self._jobs[job.id] = job
        self._waiting.append(job)
        self._begin()
        return job

    def cancel(self, job: Job) -> Job:
        """End a job, as nobody wants it any more."""
        self.end(job, "cancelled", "cancelled")
        return job

    def end(self, job: Job, state: JobState, why: str) -> None:
        """End a job that is not over: at once for whoever waits, soon for its process."""
        if job.is_over:
            return
        job.tell(state=state, error=why, stage=state, ended=time.monotonic())
        if job in self._waiting:
            self._waiting.remove(job)
        elif job.process is not None and job.task is None:
            job.process.kill(why)
        elif job.process is not None:
            job.end_by = time.monotonic() + _GRACE
            job.process.send(job.id, None)

    def forget(self, table: str) -> None:
        """Forget all jobs of a table that is gone."""
        for job in [job for job in self.list() if job.table == table]:
            self.end(job, "cancelled", "the table was removed")
            del self._jobs[job.id]

    def heard(self, process: Process, news: News) -> None:
        """Take in what a worker process tells."""
        running = (job for job in self._running if job.process is process and job.id == news.task)
        job = next(running, None)
        if job is None:
            return
        if news.result is not None or news.error is not None:
            self._running.remove(job)
            if not job.is_over:
                self._conclude(job, news)
            self._begin()
        elif isinstance(news.found, Counts):
            job.tell(counts=news.found)
        elif news.found is not None:
            job.tell(rows=[*job.rows, news.found])
        elif not job.is_over:
            job.tell(stage=news.stage, done=news.done, total=news.total)

    def died(self, process: Process, why: str) -> None:
        """Fail all jobs of a process that is gone."""
        for job in [job for job in self._running if job.process is process]:
            self.heard(process, News(job.id, error=why))

    def _conclude(self, job: Job, news: News) -> None:
        job.result, job.error, job.remedies = news.result, news.error, news.remedies
        job.ended = time.monotonic()
        try:
            if news.error is None:
                self._on_done(job)
        except Exception as error:  # whoever waits must hear of it
            job.result, job.error = None, f"its result could not be taken in: {error}"
        if job.error is None:
            job.tell(state="done", stage="done", done=1, total=1)
        else:
            job.tell(state="failed", stage="failed")

    def _begin(self) -> None:
        """Begin as many of the waiting jobs as may run; forget those that ended long ago."""
        while self._waiting and len(self._running) < self._limits.jobs:
            job = self._waiting.popleft()
            self._running.append(job)
            job.tell(state="running", stage="beginning", began=time.monotonic())
            job.process = job.start(job)
        over = [job for job in self.list() if job.is_over]
        for job in over[: max(0, len(over) - _KEPT)]:
            del self._jobs[job.id]
        if self._watch is None or self._watch.done():
            self._watch = asyncio.get_running_loop().create_task(self._watched())

    async def _watched(self) -> None:
        """End what takes too long, or too much memory, as long as something runs."""
        while self._running:
            await asyncio.sleep(_LOOK)
            for job in list(self._running):
                if job.process is not None:
                    self._look_at(job, job.process)

    def _look_at(self, job: Job, process: Process) -> None:
        now = time.monotonic()
        if job.end_by is not None and now > job.end_by:
            process.kill("it was ended together with a job that did not end by itself; ask again")
        elif not job.is_over and now - (job.began or now) > self._limits.seconds:
            said = f"it took longer than {self._limits.seconds:,} seconds"
            self.end(job, "failed", f"{said}; --max-seconds of the server allows more")
        elif process.memory() > self._limits.memory << 20:
            said = f"it needed more than {self._limits.memory:,} MB of memory"
            process.kill(f"{said}; --max-memory of the server allows more")
