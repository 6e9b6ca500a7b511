"""Detectors of scikit-learn and of PyOD's kind: whatever their sign, the oddest row comes first."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.covariance import EllipticEnvelope
from sklearn.ensemble import IsolationForest
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

import outlying

ODD = 5


class HighIsOdd(BaseEstimator):  # type: ignore[misc]
    """The interface of PyOD: high is abnormal, in what it keeps and in what it says."""

    def fit(self, points: Any, y: object = None) -> HighIsOdd:
        self.decision_scores_ = self.decision_function(points)
        return self

    def decision_function(self, points: Any) -> Any:
        return np.abs(points).max(axis=1)


class Grumbling(HighIsOdd):
    def fit(self, points: Any, y: object = None) -> Grumbling:
        warnings.warn("it did not converge", ConvergenceWarning, stacklevel=2)
        super().fit(points)
        return self


DETECTORS = [
    IsolationForest(random_state=0),
    LocalOutlierFactor(),
    LocalOutlierFactor(novelty=True),
    OneClassSVM(),
    EllipticEnvelope(random_state=0),
    HighIsOdd(),
    make_pipeline(StandardScaler(), IsolationForest(random_state=0)),
    make_pipeline(StandardScaler(), LocalOutlierFactor()),
    make_pipeline(StandardScaler(), LocalOutlierFactor(novelty=True)),
    make_pipeline(StandardScaler(), OneClassSVM()),
    make_pipeline(StandardScaler(), HighIsOdd()),
    make_pipeline(StandardScaler(), make_pipeline(StandardScaler(), HighIsOdd())),
]


def mixed(rows: int = 300) -> dict[str, Any]:
    """Numbers with gaps, categories with gaps, dates and booleans; one row is far away."""
    rng = np.random.default_rng(0)
    table: dict[str, Any] = {f"x{place}": rng.normal(size=rows) for place in range(4)}
    table["x2"][rng.random(rows) < 0.1] = np.nan
    table["label"] = [*rng.choice(["a", "b", "c"], rows - 30), *[None] * 30]
    table["flag"] = rng.random(rows) < 0.5
    table["day"] = np.datetime64("2024-01-01") + rng.integers(0, 300, rows).astype("m8[D]")
    for name in ("x0", "x1", "x2"):
        table[name][ODD] = 9.0
    return table


@pytest.mark.parametrize("detector", DETECTORS, ids=lambda detector: str(detector)[:60])
def test_the_oddest_row_comes_first(detector: Any) -> None:
    detection = outlying.detect(mixed(), detector=detector, top=3)
    assert detection.positions[0] == ODD
    assert detection.rows[0].score == detection.scores.max()
    assert type(detector).__name__ in detection.settings.detector


def test_a_warning_of_the_detector_reaches_its_user() -> None:
    with pytest.warns(ConvergenceWarning, match="did not converge"):
        detection = outlying.detect(mixed(), detector=Grumbling(), top=1)
    assert detection.positions == [ODD]


def test_a_pipeline_without_a_detector_is_none() -> None:
    with pytest.raises(outlying.OptionError, match="detector is Pipeline"):
        outlying.detect(mixed(), detector=make_pipeline(StandardScaler()))
