"""Distances to the nearest rows, by the index of a library."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeAlias

import numpy as np

from outlying.errors import MissingExtraError
from outlying.table.columns import Floats, Mask, Rows

_Found: TypeAlias = tuple[Floats, Rows]  # distances, and to which references

#: Larger leaves than the library's own 10: with many coordinates an index saves few comparisons.
_LEAF = 64
#: Distances asked for at once: an interrupt waits for no more than these.
_AT_ONCE = 2**20


def nearest(points: Floats, references: Rows, count: int, workers: int) -> Floats:
    """Give each row's distances to its nearest reference rows, the nearest first.

    A row is not its own neighbour: its distance to itself is left out. Needs more references than
    neighbours.
    """
    tree = index()(points[references], leafsize=_LEAF)
    size = max(1, _AT_ONCE // len(references))
    parts = [points[start : start + size] for start in range(0, len(points), size)]
    asked = _by_threads(lambda part: tree.query(part, k=range(1, count + 2)), parts, workers)
    found = np.vstack([distances for distances, _ in asked])
    nearest_ones = np.concatenate([places[:, 0] for _, places in asked])
    itself = _is_itself(points[references], found[:, 0] == 0, nearest_ones)
    return np.asarray(np.where(itself[:, None], found[:, 1:], found[:, :-1]))


def _is_itself(references: Floats, is_copy: Mask, nearest_ones: Rows) -> Mask:
    """Tell of which rows the nearest reference, at no distance, is the row itself.

    Of rows all copies of which are references. Where only some are, another sample would hold other
    ones: all copies are treated alike, as if they were not drawn.
    """
    if len(references) == len(is_copy):
        return is_copy
    _, place = np.unique(references, axis=0, return_inverse=True)
    place = place.reshape(-1)
    own = place[nearest_ones]
    copies = np.bincount(own[is_copy], minlength=len(references))
    return np.asarray(is_copy & (copies == np.bincount(place, minlength=len(references)))[own])


def _by_threads(
    work: Callable[[Floats], _Found], parts: list[Floats], workers: int
) -> list[_Found]:
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
    """Return the kind of index, or say what to install."""
    try:
        return importlib.import_module("scipy.spatial").KDTree
    except ImportError:
        raise MissingExtraError("feature bagging", "detect") from None
