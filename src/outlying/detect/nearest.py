"""Distances to the nearest rows, by a k-d tree."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeAlias

import numpy as np

from outlying.errors import MissingExtraError
from outlying.table.columns import Floats, Mask, Rows

_Found: TypeAlias = tuple[Floats, Rows]  # distances, and to which references

#: Larger leaves than SciPy's default of 10: with many coordinates a tree saves few comparisons.
_LEAF = 64
#: Distances asked for at once: an interrupt waits for no more than these.
_AT_ONCE = 2**20


def nearest_distances(points: Floats, references: Rows, count: int, workers: int) -> Floats:
    """Return the distances of each row to its nearest reference rows, the nearest first.

    A row is not its own neighbour: its distance to itself is left out. Needs more references than
    neighbours.
    """
    tree = kd_tree()(points[references], leafsize=_LEAF)
    size = max(1, _AT_ONCE // len(references))
    parts = [points[start : start + size] for start in range(0, len(points), size)]
    asked = _in_threads(lambda part: tree.query(part, k=range(1, count + 2)), parts, workers)
    found = np.vstack([distances for distances, _ in asked])
    nearest = np.concatenate([places[:, 0] for _, places in asked])
    itself = _is_itself(points[references], found[:, 0] == 0, nearest)
    return np.asarray(np.where(itself[:, None], found[:, 1:], found[:, :-1]))


def _is_itself(references: Floats, is_copy: Mask, nearest: Rows) -> Mask:
    """Return a mask of the rows whose nearest reference, at no distance, is the row itself.

    That is so where all copies of the row are references. Where only some are, another sample would
    hold other ones: all copies are treated alike, as if they were not drawn.
    """
    if len(references) == len(is_copy):
        return is_copy
    _, place = np.unique(references, axis=0, return_inverse=True)
    place = place.reshape(-1)
    own = place[nearest]
    copies = np.bincount(own[is_copy], minlength=len(references))
    return np.asarray(is_copy & (copies == np.bincount(place, minlength=len(references)))[own])


def _in_threads(
    work: Callable[[Floats], _Found], parts: list[Floats], workers: int
) -> list[_Found]:
    """Return the results of the parts in order, several of which are worked on at once.

    SciPy's own `workers` would leave its threads behind after an interrupt, at work on memory that
    is freed meanwhile, and the process would crash.
    """
    if workers == 1 or len(parts) == 1:
        return [work(part) for part in parts]
    pool = ThreadPoolExecutor(workers)
    try:
        return list(pool.map(work, parts))
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def kd_tree() -> Any:
    """Return the class of SciPy's k-d tree, or say what to install."""
    try:
        return importlib.import_module("scipy.spatial").KDTree
    except ImportError:
        raise MissingExtraError("feature bagging", "detect") from None
