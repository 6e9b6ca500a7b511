"""Distances to the nearest rows, by the index of a library."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from outlying.errors import MissingExtraError
from outlying.population import Rows
from outlying.table import Floats

#: Larger leaves than the library's own 10: with many coordinates an index saves few comparisons.
_LEAF = 64


def nearest(points: Floats, references: Rows, count: int, workers: int) -> Floats:
    """Give each row's distances to its nearest reference rows, the nearest first.

    A row is not its own neighbour: of a row among the references the first distance, which is that
    to itself or to a copy of it, is left out. Needs more references than neighbours.
    """
    tree = index()(points[references], leafsize=_LEAF)
    found, _ = tree.query(points, k=range(1, count + 2), workers=workers)
    itself = np.zeros((len(points), 1), dtype=bool)
    itself[references] = True
    return np.asarray(np.where(itself, found[:, 1:], found[:, :-1]))


def index() -> Any:
    """Give the kind of index, or say what to install."""
    try:
        return importlib.import_module("scipy.spatial").KDTree
    except ImportError:
        raise MissingExtraError("feature bagging", "detect") from None
