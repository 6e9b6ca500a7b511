"""Scores from elsewhere: a detector of another library, numbers that the user has, a column."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from outlying.errors import ColumnError, OptionError, RowAt, shown
from outlying.options import Infinite
from outlying.table.columns import Column, Floats, frozen
from outlying.table.table import Table
from outlying.table.values import printable

#: Attributes and methods with the scores after `fit`, and the sign that makes high ones abnormal.
_RESULTS = (("decision_scores_", 1.0), ("negative_outlier_factor_", -1.0))
_METHODS = (("score_samples", -1.0), ("decision_function", -1.0))
_LONGEST_NAME = 200


def detector_scores(detector: Any, columns: Sequence[Column]) -> Floats:
    """Fit a detector to the table and return its scores; high ones are abnormal.

    PyOD keeps the scores of the rows it was fitted to (`decision_scores_`, high is abnormal), as
    does scikit-learn's LocalOutlierFactor; the other detectors of scikit-learn give them when asked
    (`score_samples`, `decision_function`, low is abnormal). A pipeline keeps them in its last step.
    """
    if isinstance(detector, (str, type)) or not callable(getattr(detector, "fit", None)):
        raise _no_detector(detector)
    from outlying.detect.bagging import Coordinates

    points = Coordinates.of(columns).points()
    detector.fit(points)
    fitted = _last_step(detector)
    for name, sign in _RESULTS:
        if hasattr(fitted, name):
            return checked_scores(
                sign * np.asarray(getattr(fitted, name)), len(points), "the detector"
            )
    for name, sign in _METHODS:
        if hasattr(detector, name):
            found = sign * np.asarray(getattr(detector, name)(points))
            return checked_scores(found, len(points), "the detector")
    raise _no_detector(detector)


def _last_step(detector: Any) -> Any:
    """Return the last step of a pipeline, which decides the sign of the scores."""
    while isinstance(steps := getattr(detector, "steps", None), list) and steps:
        detector = steps[-1][-1]
    return detector


def detector_name(detector: Any) -> str:
    """Describe a detector in one line."""
    return printable(" ".join(shown(detector, _LONGEST_NAME).split()), _LONGEST_NAME)


def _no_detector(detector: Any) -> OptionError:
    return OptionError(
        f"detector is {detector_name(detector)}; allowed: 'strength', 'feature-bagging', or "
        "a detector with fit and score_samples or decision_function as in scikit-learn (low is "
        "abnormal), or with fit and decision_scores_ as in PyOD (high is abnormal), such as "
        "IsolationForest()"
    )


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class ColumnScores:
    """Scores that a column of the table holds."""

    name: str
    values: Floats

    @classmethod
    def of(cls, table: Table, name: str, infinite: Infinite = "error") -> ColumnScores:
        """Return the scores in a column of numbers; infinite ones may count as missing."""
        column = table.column(name)
        if not column.is_numeric:
            raise ColumnError(
                f"column {name!r} holds no numbers; scores are numbers, one for each row"
            )
        values = column.values
        if infinite == "missing":
            values = np.where(np.isinf(values), np.nan, values)
        return cls(name, checked_scores(values, table.rows, f"column {name!r}"))


def checked_scores(scores: Any, rows: int, whose: str) -> Floats:
    """Return scores as an array, one number for each row; NaN where there is none."""
    try:
        numbers = np.array(scores, dtype=np.float64)
    except Exception:  # whatever a class of the user's raises
        raise OptionError(
            f"{whose}: the scores are not numbers; one for each row is needed"
        ) from None
    if numbers.shape != (rows,):
        raise OptionError(
            f"{whose}: the scores have the shape {numbers.shape}; needed is one number for each of "
            f"the {rows:,} rows"
        )
    if np.isinf(numbers).any():
        place = int(np.flatnonzero(np.isinf(numbers))[0])
        raise OptionError(
            f"{whose}: the score of ",
            RowAt(place),
            " is infinite; scores must be finite, or missing",
        )
    if np.isnan(numbers).all():
        raise OptionError(f"{whose}: no row has a score")
    return np.asarray(frozen(numbers))
