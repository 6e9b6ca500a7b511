"""What several threads may share: values made once.

The interpreter's own lock is relied on: free-threaded builds are not promised.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any, TypeVar, cast

Value = TypeVar("Value")


class LazyValues:
    """Values by name, each made once, when it is first asked for; copies begin without any."""

    def __init__(self) -> None:
        self._values: dict[Hashable, Any] = {}
        self._lock = threading.RLock()

    def __call__(self, name: Hashable, make: Callable[[], Value]) -> Value:
        """Return a value by its name, or make it."""
        if name not in self._values:
            with self._lock:
                if name not in self._values:
                    self._values[name] = make()
        return cast(Value, self._values[name])

    def __reduce__(self) -> tuple[type[LazyValues], tuple[()]]:
        return LazyValues, ()
