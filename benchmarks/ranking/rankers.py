"""Rankers: this package, a plain yardstick, and other tools (those that are not installed, not)."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import outlying
from benchmarks.machine import is_installed
from benchmarks.quality.encoding import encode
from benchmarks.ranking.cases import Array, Floats, Frame, Mask, Ranked

OURS = "benchmarks.ranking.rankers:ours"
#: So many rows are asked for, each with its odd column.
SHOWN = 100
EXCEPTIONAL_Z = 5.0


def ours(data: Frame | Path) -> Ranked:
    """Rank by `outlying.detect` with its defaults; odd columns are those of the rows it shows."""
    detection = outlying.detect(data, top=SHOWN)
    rows = len(detection.scores)
    columns: list[str | None] = [None] * rows
    for item in detection.rows:
        if item.row is not None and item.reason is not None:
            columns[item.row] = item.reason.column
    return Ranked(
        scores=detection.scores,
        exceptional=_mask(detection.exceptional, rows),
        unusual=_mask(detection.exceptional + detection.unusual, rows),
        combination=detection.combination_scores,
        columns=columns,
    )


def _mask(positions: Sequence[int], rows: int) -> Mask:
    marks = np.zeros(rows, dtype=np.bool_)
    marks[list(positions)] = True
    return marks


def robust_z(data: Frame | Path) -> Ranked:
    """Rank by the largest robust z-score of a row: the plainest detector that anyone would try."""
    columns = {name: values for name, values in arrays(data).items() if values.dtype.kind == "f"}
    if not columns:
        return Ranked(np.zeros(len(_frame(data))))
    away = np.column_stack([_z(values) for values in columns.values()])
    names = list(columns)
    top = away.max(axis=1)
    return Ranked(
        scores=top,
        exceptional=top > EXCEPTIONAL_Z,
        combination=away.sum(axis=1),
        columns=[names[place] for place in away.argmax(axis=1)],
    )


def outlier_tree(data: Frame | Path) -> Ranked:
    """Rank by the scores of OutlierTree, which flags few rows; the others share the last place."""
    package: Any = importlib.import_module("outliertree")
    columns = arrays(data)
    frame = pd.DataFrame({k: pd.Series(v, dtype=v.dtype) for k, v in columns.items()})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = package.OutlierTree(nthreads=1).fit(frame, return_outliers=True, outliers_print=0)
    low = np.asarray(found["outlier_score"], dtype=np.float64)
    odd = [value["column"] if value else None for value in found["suspicious_value"]]
    return Ranked(-low, exceptional=np.isfinite(low), columns=odd)


def isolation_forest(data: Frame | Path) -> Ranked:
    """Rank by scikit-learn's IsolationForest."""
    forest = importlib.import_module("sklearn.ensemble").IsolationForest(random_state=0)
    matrix = encode(arrays(data)).matrix
    return Ranked(-forest.fit(matrix).score_samples(matrix))


def knn(data: Frame | Path) -> Ranked:
    """Rank by PyOD's KNN, columns in standard units."""
    matrix = encode(arrays(data)).matrix
    matrix = (matrix - matrix.mean(axis=0)) / matrix.std(axis=0)
    model = importlib.import_module("pyod.models.knn").KNN().fit(matrix)
    return Ranked(np.asarray(model.decision_scores_, dtype=np.float64))


def ecod(data: Frame | Path) -> Ranked:
    """Rank by PyOD's ECOD."""
    model = importlib.import_module("pyod.models.ecod").ECOD().fit(encode(arrays(data)).matrix)
    return Ranked(np.asarray(model.decision_scores_, dtype=np.float64))


PEERS = (
    ("outliertree", outlier_tree),
    ("scikit-learn", isolation_forest),
    ("pyod", knn),
    ("pyod", ecod),
)


def peers() -> list[str]:
    """Return the other tools that can run here, as `module:function`."""
    return [f"{__name__}:{peer.__name__}" for package, peer in PEERS if is_installed(package)]


def arrays(data: Frame | Path) -> dict[str, Array]:
    """Return columns as float arrays, dates as seconds, and objects of str and None."""
    frame = _frame(data)
    return {str(name): _array(frame[name]) for name in frame}


def _frame(data: Frame | Path) -> Frame:
    return pd.read_csv(data, sep=None, engine="python") if isinstance(data, Path) else data


def _array(series: Any) -> Array:
    if series.dtype.kind in "iufb":
        return np.asarray(series, dtype=np.float64)
    if series.dtype.kind == "M":
        seconds = (series - series.min()) / np.timedelta64(1, "s")
        return np.asarray(seconds, dtype=np.float64)
    return np.array([None if pd.isna(value) else str(value) for value in series], dtype=object)


def _z(values: Array) -> Floats:
    known = values[np.isfinite(values)]
    if not len(known):
        return np.zeros(len(values))
    away = np.abs(known - np.median(known))
    scale = 1.4826 * np.median(away) or 1.2533 * away.mean() or 1.0
    return np.asarray(np.nan_to_num(np.abs(values - np.median(known)) / scale))
