"""Predicates hold of the rows that a loop over rows finds."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from outlying.stream.histograms import LARGEST
from outlying.stream.verify import ValueTest
from outlying.table.columns import CategoricalColumn, Column, NumericColumn

FINITE = st.floats(allow_nan=False, allow_infinity=False)
ENDS = st.integers(-5, 5).map(float) | FINITE | st.sampled_from([LARGEST, -LARGEST, 5e-324])
INTERVALS = st.builds(
    lambda low, high: ValueTest("x", "interval", low, high),
    ENDS | st.just(-math.inf),
    ENDS | st.just(math.inf),
)
OTHERS = st.just(ValueTest("x", "missing"))


def satisfied(predicates: list[ValueTest], cells: Column) -> list[list[int]]:
    """Return the rows that satisfy each predicate."""
    return [np.flatnonzero(own.test(cells)).tolist() for own in predicates]


def satisfying(numbers: list[float], predicate: ValueTest) -> list[int]:
    if predicate.kind == "missing":
        return [row for row, number in enumerate(numbers) if math.isnan(number)]
    return [row for row, number in enumerate(numbers) if predicate.low <= number <= predicate.high]


@settings(max_examples=300)
@given(st.lists(INTERVALS | OTHERS, min_size=1, max_size=20), st.data())
def test_numbers_are_tested_like_one_by_one(
    predicates: list[ValueTest], data: st.DataObject
) -> None:
    ends = [
        end
        for predicate in predicates
        for end in (predicate.low, predicate.high)
        if math.isfinite(end)
    ]
    near = st.sampled_from(ends or [0.0])
    beside = st.builds(math.nextafter, near, st.sampled_from([0.0, LARGEST, -LARGEST]))
    cells = near | beside | FINITE | st.integers(-6, 6).map(float) | st.just(math.nan)
    numbers = data.draw(st.lists(cells, min_size=1, max_size=150))
    expected = [satisfying(numbers, predicate) for predicate in predicates]
    assert satisfied(predicates, NumericColumn("x", "number", np.array(numbers))) == expected


@given(st.lists(st.integers(-1, 2), max_size=200))
def test_labels_are_tested_like_one_by_one(codes: list[int]) -> None:
    cells = CategoricalColumn("x", "text", np.array(codes, dtype=np.int32), ("a", "b", "True"))
    predicates = [ValueTest("x", "equals", label=label) for label in ("b", "c", True)]
    predicates.append(ValueTest("x", "missing"))
    marks = np.array(codes)
    expected = [marks == 1, marks == 9, marks == 9, marks < 0]
    assert satisfied(predicates, cells) == [np.flatnonzero(each).tolist() for each in expected]
