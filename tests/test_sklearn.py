"""The detector for scikit-learn: its own checks, dataframes, and the same answers as `detect`."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import outlying
from outlying.sklearn import OutlyingDetector

FIT, FAR = 7, 9


# the tables of the checks may have no odd row
@parametrize_with_checks([OutlyingDetector(contamination=0.1)])  # type: ignore[untyped-decorator]
def test_the_checks_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


def frame(rows: int = 600) -> pd.DataFrame:
    """Categories, gaps, one value that does not fit and one that is far off."""
    random = np.random.default_rng(4)
    city = random.choice(["A", "B"], rows)
    temp = np.where(city == "A", 25.0, 5.0) + random.normal(0, 1, rows)
    load = random.normal(0, 1, rows)
    city[FIT], temp[FIT], load[FAR] = "A", 5.0, 20.0
    data = pd.DataFrame({"city": pd.Categorical(city), "temp": temp, "load": load})
    data.loc[20:60, "load"] = np.nan
    return data


def test_outliers_are_the_rows_that_detect_calls_exceptional() -> None:
    data = frame()
    found = outlying.detect(data, entity=None, time=None)
    detector = OutlyingDetector()
    marked = detector.fit_predict(data)
    assert sorted(found.exceptional) == np.flatnonzero(marked == -1).tolist()
    assert {FIT, FAR} <= set(found.exceptional)
    assert np.array_equal(detector.score_samples(data), -found.scores)
    assert np.array_equal(detector.training_scores_, -found.scores)
    assert detector.feature_names_in_.tolist() == ["city", "temp", "load"]


def test_new_rows_are_judged_and_explained_one_by_one_by_the_fitted_table() -> None:
    detector = OutlyingDetector().fit(frame())
    new = pd.DataFrame(
        {"city": ["A", "B", "A", "D", None], "temp": [4.9, 5.1, 25.2, 5.0, 25.0], "load": [0.1] * 5}
    )
    assert detector.predict(new)[:3].tolist() == [-1, 1, 1]
    whole = detector.score_samples(new)
    single = [detector.score_samples(new.iloc[[row]])[0] for row in range(len(new))]
    assert whole.tolist() == single
    (told,) = detector.explain(new, rows=[0])
    assert set(told.stories[0].columns) == {"city", "temp"}
    assert told.exceptional
    assert len(detector.explain(new)) == len(new)


def test_a_row_of_the_table_is_judged_as_itself_not_as_one_more() -> None:
    data = frame()
    detector = OutlyingDetector().fit(data)
    order = np.random.default_rng(0).permutation(len(data))
    shuffled = detector.score_samples(data.iloc[order])
    assert np.array_equal(shuffled, detector.training_scores_[order])


def test_other_frames_and_arrays_say_the_same() -> None:
    data = frame()
    expected = OutlyingDetector().fit(data).training_scores_
    polars = pl.DataFrame(data.astype({"city": str}))
    assert np.array_equal(OutlyingDetector().fit(polars).score_samples(polars), expected)
    mixed = data.astype(object).to_numpy()
    assert np.array_equal(OutlyingDetector().fit(mixed).score_samples(mixed), expected)


def test_columns_that_are_judged_and_those_that_give_context() -> None:
    data = frame()
    detector = OutlyingDetector(properties=["temp"], contexts=["city"]).fit(data)
    marked = np.flatnonzero(detector.predict(data) == -1).tolist()
    assert FIT in marked
    assert FAR not in marked
    with pytest.raises(ValueError, match="unknown column 'tmp'"):
        OutlyingDetector(properties=["tmp"]).fit(data)


def test_it_is_cloned_pickled_and_part_of_a_pipeline() -> None:
    data = frame()
    detector = OutlyingDetector(properties=["temp"], contamination=0.02).fit(data)
    again = pickle.loads(pickle.dumps(detector))  # noqa: S301 - our own
    assert np.array_equal(again.decision_function(data), detector.decision_function(data))
    assert clone(detector).get_params() == detector.get_params()
    assert not hasattr(clone(detector), "offset_")
    assert (detector.predict(data) == -1).sum() == 12
    scaled = make_column_transformer((StandardScaler(), ["temp", "load"]), remainder="passthrough")
    pipe = make_pipeline(scaled.set_output(transform="pandas"), OutlyingDetector())
    marked = pipe.fit(data).predict(data)
    assert {FIT, FAR} <= set(np.flatnonzero(marked == -1).tolist())
    assert "standardscaler__temp" in pipe[-1].feature_names_in_


@pytest.mark.parametrize("share", [0, 0.6, "much", None])
def test_a_wrong_share_is_refused(share: Any) -> None:
    with pytest.raises(ValueError, match=r"contamination is .*allowed"):
        OutlyingDetector(contamination=share).fit(frame(50))
