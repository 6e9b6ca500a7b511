"""Distances to the nearest rows, by the index of a library."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from outlying.errors import MissingExtraError
from outlying.table import Floats, Rows

#: Larger leaves than the library's own 10: with many coordinates an index saves few comparisons.
_LEAF = 64
#: Distances asked for at once: an interrupt waits for no more than these.
_AT_ONCE = 2**20


def nearest(points: Floats, references: Rows, count: int, workers: int) -> Floats:
    """Give each row's distances to its nearest reference rows, the nearest first.

    A row is not its own neighbour: of a row among the references the first distance, which is that
    to itself or to a copy of it, is left out. Needs more references than neighbours.
    """
    tree = index()(points[references], leafsize=_LEAF)
    size = max(1, _AT_ONCE // len(references))
    parts = [points[start : start + size] for start in range(0, len(points), size)]
    found = np.vstack(
        _by_threads(lambda part: tree.query(part, k=range(1, count + 2))[0], parts, workers)
    )
    itself = np.zeros((len(points), 1), dtype=bool)
    itself[references] = True
    return np.asarray(np.where(itself, found[:, 1:], found[:, :-1]))


def _by_threads(
    work: Callable[[Floats], Floats], parts: list[Floats], workers: int
) -> list[Floats]:
    """Do the parts in order, several at once.

    Not by the library's own `workers`: an interrupt would leave its threads behind, at work on what
    is given back to the system meanwhile, and the process would crash.
    """
    if workers == 1 or len(parts) == 1:
        return [work(part) for part in parts]
    pool = ThreadPoolExecutor(workers)
    try:
        return list(pool.map(work, parts))
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def index() -> Any:
    """Give the kind of index, or say what to install."""
    try:
        return importlib.import_module("scipy.spatial").KDTree
    except ImportError:
        raise MissingExtraError("feature bagging", "detect") from None
