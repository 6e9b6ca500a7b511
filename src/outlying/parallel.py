"""Work on many items by several threads or processes: results in order, the same as from one.

Threads serve where compiled code does the work; it lets others run meanwhile.
Short work stays in this process. On Linux the worker processes are forked: they share the memory
prepared so far, and end soon after their parent, however that ends. On other systems there is one
process unless the caller asks for more, because new ones run the caller's script again and prepare
everything anew.
"""

from __future__ import annotations

import collections
import contextlib
import operator
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from outlying.errors import RowAt, Setting, WorkerError, not_allowed

if TYPE_CHECKING:
    from concurrent.futures import Executor
    from multiprocessing.process import BaseProcess

Item = TypeVar("Item")
Result = TypeVar("Result")

MOST_WORKERS = 1024  # more only need memory
PATIENCE = 0.3  # seconds of work before other processes are started
_FEW_ITEMS = 4  # for each process: fewer are not worth their start
_CHUNKS_EACH = 3  # that a process works on at least, so that all end at about the same time
_WORTHWHILE = 64  # items in a chunk: they share much
_CHUNKS_AHEAD = 2  # for each process: bounds what is finished but not yet consumed
_SIGNALS = {getattr(signal, name, signal.SIGINT) for name in ("SIGINT", "SIGTERM", "SIGHUP")}
_WATCH = 0.1  # seconds between a process's looks at whether its parent is gone

# What a worker process does, and where it notes what it is at; set once when it starts, and always
# None in the parent. It is state of the module because a pool passes only picklable things with
# each item, and the work (a prepared table) is too large for that: a forked process inherits it
# here without a copy.
_work: Callable[[Any], Iterable[Any]] | None = None
_note: Callable[[int], None] | None = None


def usable_workers(workers: object) -> int:
    """Return the number of processes: by default, on Linux, one for each core that may be used."""
    if workers is None:
        return usable_threads(None) if sys.platform == "linux" else 1
    try:
        number = 0 if isinstance(workers, bool) else operator.index(workers)  # type: ignore[arg-type]
    except Exception:  # whatever a class of the user's raises
        number = 0
    if number < 1:
        raise not_allowed("workers", workers, "a whole number, at least 1, or None")
    return min(number, MOST_WORKERS)


def usable_threads(workers: object) -> int:
    """Return the number of threads: by default one for each core that may be used."""
    if workers is not None:
        return usable_workers(workers)
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


@contextlib.contextmanager
def thread_map(threads: int) -> Iterator[Callable[..., Iterable[Any]]]:
    """Give a `map` that works by threads, and ends them whatever happens."""
    if threads == 1:
        yield map
        return
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(threads)
    try:
        yield pool.map
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def in_order(
    work: Callable[[Sequence[Item]], Iterable[Result]],
    items: Sequence[Item],
    workers: int,
    row_of: Callable[[Item], int | None] = lambda _: None,
    most: int = 4,
) -> Generator[Result, None, None]:
    """Yield the result of each item, in order; from several processes once it takes long.

    `work` takes some items at once, `most` of them, the first of all alone. `row_of` returns the
    row that an item is about, for the message where its process has died.
    """
    begin, done, size = time.monotonic(), 0, 1
    while done < len(items):
        takes_long, left = time.monotonic() - begin > PATIENCE, len(items) - done
        if workers > 1 and takes_long and left > workers * _FEW_ITEMS:
            each = min(_CHUNKS_EACH, max(1, left // (workers * _WORTHWHILE)))
            chunk = min(most, -(-left // (workers * each)))
            yield from _in_processes(work, items[done:], workers, row_of, chunk)
            return
        yield from work(items[done : done + size])
        done, size = done + size, most


def _in_processes(
    work: Callable[[Sequence[Item]], Iterable[Result]],
    items: Sequence[Item],
    workers: int,
    row_of: Callable[[Item], int | None],
    chunk: int,
) -> Generator[Result, None, None]:
    import multiprocessing
    from concurrent.futures.process import BrokenProcessPool

    starts = range(0, len(items), chunk)
    ahead, at_work = workers * _CHUNKS_AHEAD, AtWork(workers)
    others = set(multiprocessing.active_children())
    started: list[BaseProcess] = []
    try:
        with _pool(work, workers, at_work) as pool:

            def begin(start: int) -> Any:
                return pool.submit(_results, items[start : start + chunk], start)

            with warnings.catch_warnings(), _signals_held():
                # the children use none of the parent's threads
                warnings.filterwarnings("ignore", message=".*fork", category=DeprecationWarning)
                pending = collections.deque(map(begin, starts[:ahead]))
            started += [p for p in multiprocessing.active_children() if p not in others]
            with _ended_at_once(started):
                for start in [*starts[ahead:], *[None] * len(pending)]:
                    results = pending.popleft().result()
                    if start is not None:
                        pending.append(begin(start))
                    yield from results
    except BrokenProcessPool:
        rows = {row_of(items[place]) for place in at_work.lost(started)}
        raise _died(sorted(row for row in rows if row is not None)) from None


@contextlib.contextmanager
def _ended_at_once(processes: Sequence[BaseProcess]) -> Iterator[None]:
    """Do not wait for what processes are at when nobody wants it any more."""
    from concurrent.futures.process import BrokenProcessPool

    try:
        yield
    except BrokenProcessPool:  # they are ended already
        raise
    except BaseException:
        for process in processes:
            process.terminate()
        raise


def _died(rows: Sequence[int]) -> WorkerError:
    """Say that a process has died, and at which rows."""
    named = [part for row in rows for part in (" or ", RowAt(row))]
    at = (" while it worked on ", *named[1:]) if named else ()
    return WorkerError(
        "a worker process died",
        *at,
        "; it was killed, or memory ran out; ",
        Setting("workers", 1),
        " needs the least memory",
    )


class AtWork:
    """What each of several processes is at, in memory that they share."""

    def __init__(self, workers: int) -> None:
        import multiprocessing

        context = multiprocessing.get_context(_method())
        self._started = context.Value("i", 0)
        self._pids = context.RawArray("q", workers)
        self._places = context.RawArray("q", [-1] * workers)

    def noting(self) -> Callable[[int], None]:
        """Return what notes the place of an item in the slot of this process."""
        with self._started.get_lock():
            slot = self._started.value % len(self._pids)
            self._started.value += 1
        self._pids[slot] = os.getpid()
        return lambda place: self._places.__setitem__(slot, place)

    def lost(self, processes: Sequence[BaseProcess]) -> list[int]:
        """Return the places of items whose process has died; of all, where that is not known.

        The others are ended by a signal of their own when one has died.
        """
        ended = (None, 0, -signal.SIGTERM)
        died = {process.pid for process in processes if process.exitcode not in ended}
        slots = [slot for slot, place in enumerate(self._places) if place >= 0]
        return [self._places[slot] for slot in slots if not died or self._pids[slot] in died]


def _method() -> str:
    return "fork" if sys.platform == "linux" else "spawn"


@contextlib.contextmanager
def _pool(
    work: Callable[[Any], Iterable[Any]], workers: int, at_work: AtWork
) -> Iterator[Executor]:
    """Start processes that know the work, and end them whatever happens."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    pool = ProcessPoolExecutor(
        workers,
        mp_context=multiprocessing.get_context(_method()),
        initializer=_start,
        initargs=(work, os.getpid(), at_work),
    )
    try:
        yield pool
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


@contextlib.contextmanager
def _signals_held() -> Iterator[None]:
    """Let signals wait while processes are started.

    An interrupt between would be lost, or reach a process that is not ready for it.
    """
    if sys.platform != "linux":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start(work: Callable[[Any], Iterable[Any]], parent: int, at_work: AtWork) -> None:
    """Prepare a worker process; interrupts are left to the parent."""
    global _work, _note
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        for number in _SIGNALS - {signal.SIGINT}:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
    _work, _note = work, at_work.noting()  # not before it can be ended: it waits for others
    threading.Thread(target=_end_after, args=(parent,), daemon=True).start()


def _end_after(parent: int) -> None:
    """End this process when its parent has gone, which may have been killed without notice."""
    while os.getppid() == parent:
        time.sleep(_WATCH)
    os._exit(1)


def _results(items: Sequence[Any], start: int) -> list[Any]:
    """Return the results of a chunk of items."""
    assert _work is not None  # noqa: S101 - _start came first
    assert _note is not None  # noqa: S101
    found, results = [], iter(_work(items))
    for place in range(start, start + len(items)):
        _note(place)
        found.append(next(results))
    _note(-1)
    return found
