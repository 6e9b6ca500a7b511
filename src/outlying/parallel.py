"""Work on many items in several processes: results in order, the same as from one process.

Short work stays in this process. On Linux the worker processes are forked: they share the memory
prepared so far, and end soon after their parent, however that ends. On other systems there is one
process unless the caller asks for more, because new ones run the caller's script again and prepare
everything anew.
"""

from __future__ import annotations

import collections
import contextlib
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from outlying.errors import OptionError

if TYPE_CHECKING:
    from concurrent.futures import Executor

Item = TypeVar("Item")
Result = TypeVar("Result")

PATIENCE = 0.3  # seconds of work before other processes are started
_CHUNK = 4  # items that a process takes at once
_CHUNKS_AHEAD = 4  # for each process: bounds what is finished but not yet consumed
_WATCH = 0.1  # seconds between a process's looks at whether its parent is gone

# What a worker process does; set once when it starts, and always None in the parent. It is state of
# the module because a pool passes only picklable things with each item, and the work (a prepared
# table) is too large for that: a forked process inherits it here without a copy.
_work: Callable[[Any], Any] | None = None


def usable_workers(workers: object) -> int:
    """Return the number of processes: by default, on Linux, one for each core that may be used."""
    if workers is None:
        return len(os.sched_getaffinity(0)) if sys.platform == "linux" else 1
    number = getattr(workers, "__index__", None)
    if number is None or isinstance(workers, bool) or number() < 1:
        raise OptionError(f"workers is {workers!r}; allowed: a whole number, at least 1, or None")
    return int(number())


def in_order(
    work: Callable[[Item], Result], items: Sequence[Item], workers: int
) -> Generator[Result, None, None]:
    """Yield the result of each item, in order; from several processes once it takes long."""
    begin = time.monotonic()
    for done, item in enumerate(items):
        takes_long = time.monotonic() - begin > PATIENCE
        if workers > 1 and takes_long and len(items) - done > workers * _CHUNK:
            yield from _in_processes(work, items[done:], workers)
            return
        yield work(item)


def _in_processes(
    work: Callable[[Item], Result], items: Sequence[Item], workers: int
) -> Generator[Result, None, None]:
    chunks = [items[start : start + _CHUNK] for start in range(0, len(items), _CHUNK)]
    ahead = workers * _CHUNKS_AHEAD
    with _pool(work, workers) as pool:
        with warnings.catch_warnings():  # the children use none of the parent's threads
            warnings.filterwarnings("ignore", message=".*fork", category=DeprecationWarning)
            pending = collections.deque(pool.submit(_results, chunk) for chunk in chunks[:ahead])
        for chunk in [*chunks[ahead:], *[None] * len(pending)]:
            results = pending.popleft().result()
            if chunk is not None:
                pending.append(pool.submit(_results, chunk))
            yield from results


@contextlib.contextmanager
def _pool(work: Callable[[Any], Any], workers: int) -> Iterator[Executor]:
    """Start processes that know the work, and end them whatever happens."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    method = "fork" if sys.platform == "linux" else "spawn"
    pool = ProcessPoolExecutor(
        workers,
        mp_context=multiprocessing.get_context(method),
        initializer=_start,
        initargs=(work, os.getpid()),
    )
    try:
        yield pool
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _start(work: Callable[[Any], Any], parent: int) -> None:
    """Prepare a worker process; interrupts are left to the parent."""
    global _work
    _work = work
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_after, args=(parent,), daemon=True).start()


def _end_after(parent: int) -> None:
    """End this process when its parent has gone, which may have been killed without notice."""
    while os.getppid() == parent:
        time.sleep(_WATCH)
    os._exit(1)


def _results(items: Sequence[Any]) -> list[Any]:
    """Return the results of a chunk of items."""
    assert _work is not None  # noqa: S101 - _start came first
    return [_work(item) for item in items]
