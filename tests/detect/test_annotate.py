"""annotate(): the frame comes back as it was, with columns that say what is odd."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import outlying
from outlying.detect.annotate import ANNOTATIONS


def frame(rows: int = 400) -> pd.DataFrame:
    random = np.random.default_rng(3)
    kind = random.choice(["a", "b"], rows)
    size = np.where(kind == "a", 50.0, 5.0) + random.normal(0, 1, rows)
    kind[7], size[7], size[9] = "a", 5.0, 900.0
    data = pd.DataFrame({"kind": kind, "size": size, "other": random.normal(0, 1, rows)})
    data.loc[30:40, "other"] = np.nan
    return data


def test_the_index_and_the_order_of_pandas_are_kept() -> None:
    data = frame()
    data.index = pd.Index([f"k{k % 100}" for k in range(len(data))], name="key")  # not unique
    before = data.copy()
    found = outlying.annotate(data)
    pd.testing.assert_frame_equal(data, before)
    pd.testing.assert_frame_equal(found[data.columns.tolist()], before)
    assert found.columns.tolist() == [*data.columns, *ANNOTATIONS]
    assert found["outlying_exceptional"].dtype == bool
    odd = np.flatnonzero(found["outlying_exceptional"]).tolist()
    detection = outlying.detect(before)
    assert odd == sorted(detection.exceptional)
    assert {7, 9} <= set(odd)
    assert np.array_equal(found["outlying_strength"], np.maximum(detection.scores, 0))
    row = found.iloc[9]
    reason = next(item.reason for item in detection.rows if item.row == 9)
    assert reason is not None
    assert row["outlying_column"] == reason.column == "size"
    assert row["outlying_reason"] == reason.sentence
    assert row["outlying_expected"] == reason.expected.removeprefix("expected ")
    assert found["outlying_reason"].isna().sum() == len(data) - len(odd)


def test_the_same_kind_comes_back_and_a_second_call_begins_anew() -> None:
    data = frame()
    polars, arrow = pl.DataFrame(data), pa.table(data)
    of_polars, of_arrow = outlying.annotate(polars), outlying.annotate(arrow)
    assert isinstance(of_polars, pl.DataFrame)
    assert isinstance(of_arrow, pa.Table)
    assert isinstance(outlying.annotate(arrow.to_batches()[0]), pa.Table)
    for again in (of_polars, outlying.annotate(of_polars)):
        assert again.columns == [*polars.columns, *ANNOTATIONS]
        assert again["outlying_reason"].to_list() == of_arrow["outlying_reason"].to_pylist()
    assert of_arrow.drop_columns(list(ANNOTATIONS)).equals(arrow)


def test_unusual_rows_have_reasons_where_these_are_wanted() -> None:
    data = frame()
    more = outlying.annotate(data, unusual=True)["outlying_reason"].notna()
    less = outlying.annotate(data)["outlying_reason"].notna()
    assert more.sum() > less.sum()
    assert not (less & ~more).any()


def test_a_table_without_odd_rows_gets_the_columns_too() -> None:
    found = outlying.annotate(pd.DataFrame({"x": np.arange(50.0) % 7}))
    assert not found["outlying_exceptional"].any()
    assert found["outlying_reason"].isna().all()


@pytest.mark.parametrize("data", ["a.csv", {"x": [1, 2, 3]}, np.zeros((3, 2)), pl.LazyFrame()])
def test_what_is_no_frame_is_refused(data: Any) -> None:
    with pytest.raises(outlying.SourceError, match=r"allowed: a pandas or polars DataFrame"):
        outlying.annotate(data)
