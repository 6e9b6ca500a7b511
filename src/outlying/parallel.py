"""Several processes for many rows: results in the order of the rows, the same as from one process.

Work that is soon done stays in this process. On Linux the others are forked: they share what was
prepared so far, and end soon after their parent, however that ends. Elsewhere they have to be asked
for, as new processes run the caller's script again and have to prepare everything anew.
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

PATIENCE = 0.3  # seconds of work before others are asked to help
_CHUNK = 4
_CHUNKS_AHEAD = 4  # for each process: what is finished but not yet asked for stays bounded
_WATCH = 0.1  # seconds until a process notices that its parent is gone

_work: Callable[[Any], Any] | None = None  # of a process that helps


def usable_workers(workers: object) -> int:
    """Return how many processes may work: by default as many as there are cores to use."""
    if workers is None:
        return len(os.sched_getaffinity(0)) if sys.platform == "linux" else 1
    number = getattr(workers, "__index__", None)
    if number is None or isinstance(workers, bool) or number() < 1:
        raise OptionError(f"workers is {workers!r}; allowed: a whole number, at least 1, or None")
    return int(number())


def in_order(
    work: Callable[[Item], Result], items: Sequence[Item], workers: int
) -> Generator[Result, None, None]:
    """Return the result of each item, in order; several processes help where it takes long."""
    begin = time.monotonic()
    for done, item in enumerate(items):
        takes_long = time.monotonic() - begin > PATIENCE
        if workers > 1 and takes_long and len(items) - done > workers * _CHUNK:
            yield from _spread(work, items[done:], workers)
            return
        yield work(item)


def _spread(
    work: Callable[[Item], Result], items: Sequence[Item], workers: int
) -> Generator[Result, None, None]:
    chunks = [items[start : start + _CHUNK] for start in range(0, len(items), _CHUNK)]
    ahead = workers * _CHUNKS_AHEAD
    with _pool(work, workers) as pool:
        with warnings.catch_warnings():  # the children use none of the parent's threads
            warnings.filterwarnings("ignore", message=".*fork", category=DeprecationWarning)
            pending = collections.deque(pool.submit(_done, chunk) for chunk in chunks[:ahead])
        for chunk in [*chunks[ahead:], *[None] * len(pending)]:
            results = pending.popleft().result()
            if chunk is not None:
                pending.append(pool.submit(_done, chunk))
            yield from results


@contextlib.contextmanager
def _pool(work: Callable[[Any], Any], workers: int) -> Iterator[Executor]:
    """Start processes that know the work; whatever happens, they end."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    method = "fork" if sys.platform == "linux" else "spawn"
    pool = ProcessPoolExecutor(
        workers,
        mp_context=multiprocessing.get_context(method),
        initializer=_begin,
        initargs=(work, os.getpid()),
    )
    try:
        yield pool
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _begin(work: Callable[[Any], Any], parent: int) -> None:
    """Prepare a process to help: an interrupt is the parent's affair."""
    global _work
    _work = work
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_after, args=(parent,), daemon=True).start()


def _end_after(parent: int) -> None:
    """End this process when its parent has gone, which may have had no time to say so."""
    while os.getppid() == parent:
        time.sleep(_WATCH)
    os._exit(1)


def _done(items: Sequence[Any]) -> list[Any]:
    """Do a chunk of the work."""
    assert _work is not None  # noqa: S101 - _begin came first
    return [_work(item) for item in items]
