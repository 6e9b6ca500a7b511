"""What several threads may share: values made once, and the threads of linear algebra.

The interpreter's own lock is relied on: free-threaded builds are not promised.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Hashable
from typing import Any, TypeVar, cast

Value = TypeVar("Value")


class Lock:
    """A reentrant lock that is free in a new process, forked or copied, whoever held it before.

    A plain one that another thread holds while the process is forked is never released there.
    """

    def __init__(self) -> None:
        self._lock, self._process = threading.RLock(), os.getpid()

    def __enter__(self) -> None:
        if self._process != os.getpid():
            self._lock, self._process = threading.RLock(), os.getpid()
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def __reduce__(self) -> tuple[type[Lock], tuple[()]]:
        return Lock, ()


class Once:
    """Values by name, each made once, when it is first asked for; copies begin without any."""

    def __init__(self) -> None:
        self._values: dict[Hashable, Any] = {}
        self._lock = Lock()

    def __call__(self, name: Hashable, make: Callable[[], Value]) -> Value:
        """Return a value by its name, or make it."""
        if name not in self._values:
            with self._lock:
                if name not in self._values:
                    self._values[name] = make()
        return cast(Value, self._values[name])

    def __reduce__(self) -> tuple[type[Once], tuple[()]]:
        return Once, ()


class _OneBlasThread:
    """Matrix products on one thread, from the first search that begins until the last has ended.

    Ours are small and many; threads that wait for each other make them many times slower wherever
    something else runs on the machine. How many there are is, with most libraries, a setting of the
    whole process: the first search notes it, and only the last of those that overlap sets it back.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._pools: Any = None  # the libraries that use threads, found once
        self._before: Any = None
        self._searches = 0

    def __enter__(self) -> None:
        with self._lock:
            if self._pools is None:
                import threadpoolctl  # type: ignore[import-untyped]

                self._pools = threadpoolctl.ThreadpoolController()
            limited = self._pools.limit(limits=1, user_api="blas")  # a few libraries: this thread
            self._before = self._before if self._searches else limited
            self._searches += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._searches -= 1
            if not self._searches:
                self._before.restore_original_limits()


#: Not ours but the process's: what it counts must be counted in one place.
one_blas_thread = _OneBlasThread()
