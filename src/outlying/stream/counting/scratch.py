"""Memory that is used again and again: asking the system anew takes longer than to count."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


class Memory:
    """Arrays by name. What is in one holds until the same name is asked for again."""

    def __init__(self) -> None:
        self._arrays: dict[str, npt.NDArray[Any]] = {}

    def array(self, name: str, shape: tuple[int, ...], kind: npt.DTypeLike) -> npt.NDArray[Any]:
        """Return an array whose contents are anything."""
        size, dtype = int(np.prod(shape)), np.dtype(kind)
        array = self._arrays.get(name)
        if array is None or len(array) < size or array.dtype != dtype:
            array = self._arrays[name] = np.empty(size, dtype=dtype)
        return array[:size].reshape(shape)
