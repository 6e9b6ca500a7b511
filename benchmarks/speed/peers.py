"""The other tools, as their users would call them: default settings, all cores where they do so.

What only changes the form of a table (labels as objects for OutlierTree) is done before the clock
starts. One-hot labels and filled gaps belong to the method of the isolation forest and are timed.
"""

from __future__ import annotations

import importlib
import warnings
from typing import Any

import numpy as np


class OutlierTree:
    """The package outliertree."""

    def __init__(self, frame: Any, **settings: Any) -> None:
        """Take the frame; the package knows labels as objects only."""
        package: Any = importlib.import_module("outliertree")
        labels = frame.select_dtypes(exclude="number").columns
        self._frame = frame.astype(dict.fromkeys(labels, object))
        self._frame[labels] = self._frame[labels].where(frame[labels].notna(), None)
        self._model = package.OutlierTree(**settings)
        self._found: Any = None

    def fit(self) -> None:
        """Grow the trees."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # columns of two numbers are only warned about
            self._found = self._model.fit(self._frame, return_outliers=True, outliers_print=0)

    def named(self, row: int) -> frozenset[str]:
        """Return the columns that the explanation of a row names; none where it is not flagged."""
        found = self._found.iloc[row]
        if not found["suspicious_value"]:
            return frozenset()
        context = (str(condition["column"]) for condition in found["conditions"])
        return frozenset({str(found["suspicious_value"]["column"]), *context})


class ForestShap:
    """Isolation forest, whose score SHAP values share out among the columns."""

    def __init__(self, frame: Any) -> None:
        """Take the frame."""
        self._pandas: Any = importlib.import_module("pandas")
        self._ensemble: Any = importlib.import_module("sklearn.ensemble")
        self._shap: Any = importlib.import_module("shap")
        self._frame = frame
        self._matrix: Any = None
        self._forest: Any = None

    @property
    def dimensions(self) -> int:
        """How many columns the encoded table has."""
        return int(self._matrix.shape[1])

    def encode(self) -> None:
        """Give each label a dimension, and gaps among numbers the median."""
        filled = self._frame.fillna(self._frame.select_dtypes("number").median())
        dummies = self._pandas.get_dummies(filled, dummy_na=True, dtype=np.float32)
        self._matrix = dummies.to_numpy(np.float32)

    def fit(self) -> None:
        """Grow the forest."""
        self._forest = self._ensemble.IsolationForest(random_state=0).fit(self._matrix)

    def explain(self, row: int) -> Any:
        """Share out the score of a row."""
        explainer = self._shap.TreeExplainer(self._forest)
        return explainer.shap_values(self._matrix[row : row + 1])
