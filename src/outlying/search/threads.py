"""What several threads may share: values made once, and the threads of linear algebra.

The interpreter's own lock is relied on: free-threaded builds are not promised.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Hashable
from typing import Any, ClassVar, TypeVar, cast

Value = TypeVar("Value")


class Lock:
    """A reentrant lock that is free in a new process, forked or copied, whoever held it before.

    A plain one that another thread holds while the process is forked is never released there.
    """

    forks: ClassVar[int] = 0  # on the way from the first process to this one

    def __init__(self) -> None:
        self._lock, self._forks = threading.RLock(), Lock.forks

    def __enter__(self) -> None:
        if self._forks != Lock.forks:
            self.__init__()  # type: ignore[misc]
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def __reduce__(self) -> tuple[type[Lock], tuple[()]]:
        return Lock, ()


def _count_fork() -> None:
    Lock.forks += 1


if hasattr(os, "register_at_fork"):  # elsewhere there are no forks
    os.register_at_fork(after_in_child=_count_fork)


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
    """Matrix products on one thread, from the first one that begins until the last has ended.

    Ours are small and many; threads that wait for each other make them many times slower wherever
    something else runs on the machine. How many there are is, with most libraries, a setting of the
    whole process: the first one notes it, and only the last of those that overlap sets it back.
    Compiled code needs none: then the libraries, which takes time, are not even looked for.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._libraries: list[Any] | None = None  # found once
        self._before: list[int] = []
        self._products = 0

    def __enter__(self) -> None:
        with self._lock:
            if self._libraries is None:
                self._libraries = _blas_libraries()
            numbers = [library.get_num_threads() for library in self._libraries]
            self._before = self._before if self._products else numbers
            self._products += 1
            self._set([1] * len(numbers))  # also if the first has: a few ask each thread on its own

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._products -= 1
            if not self._products:
                self._set(self._before)

    def _set(self, numbers: list[int]) -> None:
        for library, number in zip(self._libraries or (), numbers, strict=True):
            if library.get_num_threads() != number:
                library.set_num_threads(number)


def _blas_libraries() -> list[Any]:
    import threadpoolctl  # type: ignore[import-untyped]

    found = threadpoolctl.ThreadpoolController().lib_controllers
    return [library for library in found if library.user_api == "blas"]


#: Not ours but the process's: what it counts must be counted in one place.
one_blas_thread = _OneBlasThread()
