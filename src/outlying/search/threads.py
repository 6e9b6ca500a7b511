"""What several threads may share: values made once.

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


class LazyValues:
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

    def __reduce__(self) -> tuple[type[LazyValues], tuple[()]]:
        return LazyValues, ()
