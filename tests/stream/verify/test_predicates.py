"""Predicates and contexts hold the rows, as bits, that a loop over rows finds."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from hypothesis import given, settings
from hypothesis import strategies as st

from outlying.kernel.tally import Words
from outlying.stream.counting.scale import LARGEST
from outlying.stream.verify.contexts import BITS, ContextTrie, row_numbers
from outlying.stream.verify.predicates import (
    CodedLabels,
    Conjunction,
    Predicate,
    conjunction,
    evaluate,
)

FINITE = st.floats(allow_nan=False, allow_infinity=False)
ENDS = st.integers(-5, 5).map(float) | FINITE | st.sampled_from([LARGEST, -LARGEST, 5e-324])
INTERVALS = st.builds(
    lambda low, high: Predicate("x", "interval", low, high),
    ENDS | st.just(-math.inf),
    ENDS | st.just(math.inf),
)
OTHERS = st.sampled_from([Predicate("x", "missing"), Predicate("x", "known")])


def words_for(predicates: int, rows: int) -> Words:
    return np.zeros((predicates, -(-rows // BITS)), dtype=np.uint64)


def satisfying(numbers: list[float], predicate: Predicate) -> list[int]:
    if predicate.kind == "missing":
        return [row for row, number in enumerate(numbers) if math.isnan(number)]
    return [row for row, number in enumerate(numbers) if predicate.low <= number <= predicate.high]


@settings(max_examples=300)
@given(st.lists(INTERVALS | OTHERS, min_size=1, max_size=20), st.data())
def test_numbers_are_tested_like_one_by_one(
    predicates: list[Predicate], data: st.DataObject
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
    words = words_for(len(predicates), len(numbers))
    evaluate(predicates, np.array(numbers), words)
    assert [row_numbers(line).tolist() for line in words] == [
        satisfying(numbers, predicate) for predicate in predicates
    ]


@given(st.lists(st.integers(-1, 2), max_size=200))
def test_labels_are_tested_like_one_by_one(codes: list[int]) -> None:
    cells = CodedLabels(np.array(codes, dtype=np.int32), ["a", "b", "True"])
    predicates = [Predicate("x", "equals", label=label) for label in ("b", "c", True)]
    predicates += [Predicate("x", "known"), Predicate("x", "missing")]
    words = words_for(len(predicates), len(codes))
    evaluate(predicates, cells, words)
    marks = np.array(codes)
    expected = [marks == 1, marks == 9, marks == 9, marks >= 0, marks < 0]
    assert [row_numbers(line).tolist() for line in words] == [
        np.flatnonzero(each).tolist() for each in expected
    ]


def test_rare_labels_are_found_like_frequent_ones() -> None:
    rng = np.random.default_rng(2)
    codes = np.where(rng.random(20_001) < 0.4, 0, rng.integers(-1, 900, 20_001))
    labels = [f"label {code}" for code in range(900)]
    predicates = [Predicate("x", "equals", label=label) for label in (*labels[::3], "unknown")]
    predicates += [Predicate("x", "known"), Predicate("x", "missing")]
    words = words_for(len(predicates), len(codes))
    evaluate(predicates, CodedLabels(codes, labels), words)
    expected = [*(codes == code for code in range(0, 900, 3)), codes > 900, codes >= 0, codes < 0]
    for line, rows in zip(words, expected, strict=True):
        assert np.array_equal(row_numbers(line), np.flatnonzero(rows))


def test_blocks_of_rows_are_put_together() -> None:
    numbers = np.random.default_rng(1).random(100_003)
    numbers[::7] = np.nan
    predicates = [Predicate("x", "interval", end / 40, 0.9) for end in range(30)]
    words = words_for(len(predicates), len(numbers))
    evaluate(predicates, numbers, words)
    for line, predicate in zip(words, predicates, strict=True):
        inside = np.flatnonzero((numbers >= predicate.low) & (numbers <= predicate.high))
        assert np.array_equal(row_numbers(line), inside)


SETS = st.lists(
    st.lists(st.integers(0, 12), max_size=5).map(
        lambda lows: conjunction(Predicate("xyz"[low % 3], "interval", float(low)) for low in lows)
    ),
    max_size=60,
)


@given(SETS, st.integers(1, 200), st.integers(0, 99))
def test_contexts_are_where_all_rules_hold(sets: list[Conjunction], rows: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    cells: dict[str, npt.NDArray[np.float64]] = {
        name: rng.integers(0, 13, rows).astype(np.float64) for name in "xyz"
    }
    contexts = ContextTrie(sets)
    assert set(contexts.number) == set(sets) - {()}
    found = [row_numbers(words) for words in contexts.rows(cells, rows)]
    assert len(found) == len(contexts.number)
    for predicates, number in contexts.number.items():
        inside = np.all(
            [cells[predicate.column] >= predicate.low for predicate in predicates], axis=0
        )
        assert np.array_equal(found[number], np.flatnonzero(inside))
