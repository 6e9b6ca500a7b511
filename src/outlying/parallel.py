"""Work on many items by several threads or processes: results in order, the same as from one.

Threads serve where compiled code works. Longer work in Python goes to other processes: fresh
interpreters, because a fork of a process with threads may wait for ever for a lock that one of them
held. They do not run the caller's script. The death of one blocks nobody, and its item is known.
"""

from __future__ import annotations

import collections
import contextlib
import operator
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from typing import IO, TYPE_CHECKING, Any, TypeVar

from outlying.errors import OR_NONE, OptionName, RowAt, Setting, WorkerError, not_allowed

if TYPE_CHECKING:
    from concurrent.futures import Future

Item = TypeVar("Item")
Result = TypeVar("Result")

MOST_WORKERS = 1024  # more only need memory
PATIENCE = 0.3  # seconds of work before other processes are started
_WORTHWHILE = 4  # times as long must be left for that
_FEW_ITEMS = 4  # for each process: fewer are not worth their start
_CHUNKS_EACH = 3  # that a process works on at least, so that all end at about the same time
_SHARING = 64  # items in a chunk: they share much
_CHUNKS_AHEAD = 2  # for each process: bounds what is finished but not yet consumed
_RESULT, _ERROR, _UNREADABLE = "result", "error", "unreadable"
_PROGRAM = "import sys; sys.path[:] = sys.argv[1:]; from outlying.parallel import serve; serve()"


def usable_workers(workers: object) -> int:
    """Return the number of threads or processes: by default one for each core that may be used."""
    if workers is None:
        return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    try:
        number = 0 if isinstance(workers, bool) else operator.index(workers)  # type: ignore[arg-type]
    except Exception:  # whatever a class of the user's raises
        number = 0
    if number < 1:
        raise not_allowed(OptionName("workers"), workers, "a whole number, at least 1", OR_NONE)
    return min(number, MOST_WORKERS)


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

    `work` takes some items at once, `most` of them, the first of all alone; it can be pickled.
    `row_of` returns the row that an item is about, for the message where its process has died.
    """
    begin, done, size = time.monotonic(), 0, 1
    while done < len(items):
        spent, left = time.monotonic() - begin, len(items) - done
        takes_long = spent > PATIENCE and spent * left > _WORTHWHILE * PATIENCE * done
        # another process cannot be started by a program that holds Python in it
        has_interpreter = bool(sys.executable) and not getattr(sys, "frozen", False)
        if takes_long and left > workers * _FEW_ITEMS and workers > 1 and has_interpreter:
            each = min(_CHUNKS_EACH, max(1, left // (workers * _SHARING)))
            chunk = min(most, -(-left // (workers * each)))
            yield from _by_processes(work, items[done:], workers, row_of, chunk)
            return
        yield from work(items[done : done + size])
        done, size = done + size, most


def _by_processes(
    work: Callable[[Sequence[Item]], Iterable[Result]],
    items: Sequence[Item],
    workers: int,
    row_of: Callable[[Item], int | None],
    chunk: int,
) -> Generator[Result, None, None]:
    from concurrent.futures import ThreadPoolExecutor

    packed, mine = pickle.dumps(work), threading.local()
    processes, ending = list[_Process](), threading.Event()
    threads = ThreadPoolExecutor(workers)

    def results(some: Sequence[Item]) -> list[Result]:
        if not hasattr(mine, "process"):  # started here, where no signal comes between
            mine.process = _Process()
            processes.append(mine.process)
            if ending.is_set():
                mine.process.end()
        found: list[Result] | None = mine.process.results(some, packed, row_of)
        return list(work(some)) if found is None else found

    try:
        pending: collections.deque[Future[list[Result]]] = collections.deque()
        for start in range(0, len(items), chunk):
            if len(pending) == workers * _CHUNKS_AHEAD:
                yield from pending.popleft().result()
            pending.append(threads.submit(results, items[start : start + chunk]))
        for future in pending:
            yield from future.result()
    finally:
        ending.set()
        for process in processes:
            process.end()  # a thread that waits for it goes on
        threads.shutdown(wait=True, cancel_futures=True)
        for process in processes:
            process.close()


class _Process:
    """Another interpreter, and the pipes to it; one thread at a time asks it."""

    def __init__(self) -> None:
        # Signals of the terminal are left to this process. One that is gone closes the pipe.
        groups = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
        self._process = subprocess.Popen(  # noqa: S603 - ourselves
            [sys.executable, "-P", "-c", _PROGRAM, *sys.path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            creationflags=groups,
            process_group=None if groups else 0,
        )
        self._is_ready = False
        assert self._process.stdin and self._process.stdout  # noqa: S101, PT018 - both are pipes
        self._stdin, self._stdout = self._process.stdin, self._process.stdout

    def results(
        self, items: Sequence[Any], work: bytes, row_of: Callable[[Any], int | None]
    ) -> list[Any] | None:
        """Return the results of items; None where these cannot be read over there."""
        found: list[Any] = []
        for item in items:
            try:
                if not found:
                    self._send(items, work)
                said, result = pickle.load(self._stdout)  # noqa: S301 - our own
            except (EOFError, OSError, pickle.UnpicklingError):
                raise _died(row_of(item)) from None
            if said == _UNREADABLE:
                return None
            if said == _ERROR:
                raise result
            found.append(result)
        return found

    def _send(self, items: Sequence[Any], work: bytes) -> None:
        if not self._is_ready:
            pickle.dump(work, self._stdin)
            self._is_ready = True
        pickle.dump(pickle.dumps(items), self._stdin)
        self._stdin.flush()

    def end(self) -> None:
        """End the process, whatever it is at."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """Close the pipes, which no thread uses any more."""
        for pipe in (self._stdin, self._stdout):
            with contextlib.suppress(OSError):  # nobody reads what was not sent yet
                pipe.close()


def _died(row: int | None) -> WorkerError:
    """Say that a process has died, and at which row."""
    return WorkerError(
        "a worker process died",
        *(() if row is None else (" while it worked on ", RowAt(row))),
        "; it was killed, or memory ran out; ",
        Setting("workers", 1),
        " needs the least memory",
    )


def serve() -> None:
    """Work on what another process sends, and end with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    results = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what is printed is no result
    asked: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(asked,), daemon=True).start()
    packed, work = asked.get(), None
    while True:
        given = asked.get()
        try:
            work, items = work or pickle.loads(packed), pickle.loads(given)  # noqa: S301
        except Exception:  # a class of the caller's script, which does not run here
            _say(results, _UNREADABLE, None)
            continue
        try:
            for result in work(items):
                _say(results, _RESULT, result)
        except Exception as error:
            error.add_note(traceback.format_exc())
            _say(results, _ERROR, error)


def _listen(asked: queue.SimpleQueue[bytes]) -> None:
    """Pass on what is asked, and end this process as soon as nobody can ask any more."""
    try:
        while True:
            asked.put(pickle.load(sys.stdin.buffer))  # noqa: S301 - from our own parent
    finally:
        os._exit(1)


def _say(results: IO[bytes], said: str, result: object) -> None:
    try:
        packed = pickle.dumps((said, result))
    except Exception:
        if said != _ERROR:
            raise
        packed = pickle.dumps((said, RuntimeError(traceback.format_exc())))
    results.write(packed)
    results.flush()
