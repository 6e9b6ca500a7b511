"""Run methods over cases, in processes that can be interrupted."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import functools
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from typing import TypeVar

from benchmarks.quality import hics, peers, real, stories
from benchmarks.quality.cases import Answer, Case, Method, Target
from benchmarks.quality.metrics import Score, score, thinned
from benchmarks.quality.ours import Ours, Paper

Item = TypeVar("Item")
Result = TypeVar("Result")

OURS: dict[str, type[Ours]] = {Ours.name: Ours, Paper.name: Paper}
LARGE = ("columns_50", "columns_100", "columns_200", "rows_100000", "rows_1000000")
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")


@dataclasses.dataclass(frozen=True)
class Source:
    """Enough to make a case in any process: a path, a kind, or the place of a real table."""

    suite: str
    name: str
    seed: int = 0
    most: int | None = None  # rows to explain
    is_thinned: bool = False

    def load(self) -> Case:
        """Make the case."""
        case = _LOADERS[self.suite](self)
        case = dataclasses.replace(case, targets=case.targets[: self.most])
        return thinned(case, self.seed) if self.is_thinned else case


@functools.lru_cache(maxsize=1)
def _real_tables(seed: int) -> list[Case]:
    return real.cases(seed)


_LOADERS: dict[str, Callable[[Source], Case]] = {
    "hics": lambda source: hics.read(Path(source.name)),
    "planted": lambda source: stories.make(source.name, source.seed),
    "real": lambda source: _real_tables(source.seed)[int(source.name)],
}


@dataclasses.dataclass(frozen=True)
class Task:
    """One method over the rows of one case."""

    source: Source
    method: str
    weight: float = 0.0  # the heaviest begin first, so that none is left over at the end


@dataclasses.dataclass(frozen=True)
class Run:
    """What came of a task. A method that fails gives no answer, and says why."""

    suite: str
    kind: str
    name: str
    is_thinned: bool
    method: str
    fit_seconds: float
    scores: tuple[Score, ...]
    error: str | None = None


def methods() -> dict[str, type[Method]]:
    """Return all methods that can run here, by name."""
    return {**OURS, **peers.installed()}


def run_all(tasks: Sequence[Task], jobs: int) -> list[Run]:
    """Run tasks over processes; the results stand in the order of the tasks."""
    order = sorted(range(len(tasks)), key=lambda place: -tasks[place].weight)
    runs: dict[int, Run] = {}
    for place, run in in_processes(run_task, tasks, order, jobs):
        runs[place] = run
        _tell(len(runs), len(tasks), run)
    return [runs[place] for place in range(len(tasks))]


def in_processes(
    work: Callable[[Item], Result], tasks: Sequence[Item], order: Sequence[int], jobs: int
) -> Iterator[tuple[int, Result]]:
    """Yield the place and the result of each task as it ends; they begin in the order given."""
    for name in ONE_THREAD:
        os.environ[name] = "1"  # the processes inherit it
    context = multiprocessing.get_context("spawn")
    started = context.Value("i", 0)
    pool = concurrent.futures.ProcessPoolExecutor(jobs, context, _settled, (started,))
    try:
        futures = {pool.submit(work, tasks[place]): place for place in order}
        for future in concurrent.futures.as_completed(futures):
            yield futures[future], future.result()
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for child in multiprocessing.active_children():
            child.terminate()
        raise
    pool.shutdown()


def _settled(started: Synchronized[int]) -> None:
    """Let Ctrl-C end a worker without a traceback, and keep it to a core of its own.

    Where it has one core only, what it measures starts no processes that would crowd the others.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if sys.platform == "linux":
        cores = sorted(os.sched_getaffinity(0))
        with started.get_lock():
            os.sched_setaffinity(0, {cores[started.value % len(cores)]})
            started.value += 1


def _tell(done: int, of: int, run: Run) -> None:
    seconds = run.fit_seconds + sum(score.seconds for score in run.scores)
    thin = " thinned" if run.is_thinned else ""
    failed = f", failed: {run.error}" if run.error else ""
    line = f"{done}/{of} {run.name}{thin}, {run.method}: {seconds:.1f} s{failed}"
    print(line, file=sys.stderr, flush=True)


@functools.lru_cache(maxsize=1)
def _loaded(source: Source) -> Case:
    """Keep the last case: its methods usually come one after the other."""
    return source.load()


def run_task(task: Task) -> Run:
    """Run a method over the rows of a case."""
    case = _loaded(task.source)
    method = methods()[task.method]()
    error, fit_seconds = None, 0.0
    try:
        fit_seconds, answers = _answers(method, case)
    except Exception as failure:  # one method must not end the run of all; it is reported
        error = f"{type(failure).__name__}: {str(failure).splitlines()[0][:200]}"
        answers = [(Answer((), claims=False), 0.0) for _ in case.targets]
    return Run(
        suite=case.suite,
        kind=case.kind,
        name=case.name,
        is_thinned=task.source.is_thinned,
        method=task.method,
        fit_seconds=fit_seconds,
        scores=tuple(
            score(case, target, answer, seconds)
            for target, (answer, seconds) in zip(case.targets, answers, strict=True)
        ),
        error=error,
    )


def _answers(method: Method, case: Case) -> tuple[float, list[tuple[Answer, float]]]:
    start = time.perf_counter()
    method.fit(case)
    fitted = time.perf_counter() - start
    return fitted, [_timed(method, target) for target in case.targets]


def _timed(method: Method, target: Target) -> tuple[Answer, float]:
    start = time.perf_counter()
    answer = method.explain(target)
    return answer, time.perf_counter() - start
