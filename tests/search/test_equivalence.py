"""The fast code against the naive twin, which was written from the specification alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import outlying
from outlying.method import density, intervals, mixture
from outlying.method import measure as outlierness
from outlying.options import Bandwidth, Options
from outlying.results import assembly
from outlying.search import limits
from outlying.search.attributes import attribute_of
from outlying.search.scoring import Hit
from outlying.table.columns import numeric_column
from outlying.table.targets import Target
from tests import naive, strategies

NUMBERS = ("outlierness", "rarity", "tail", "support", "lift", "strength", "overall_outlierness")

spread = st.integers(2, 60).flatmap(strategies.numbers).filter(lambda x: min(x) != max(x))


@given(values=spread, kind=st.sampled_from(["fixed", "adaptive"]))
def test_parzen(values: list[float], kind: Bandwidth) -> None:
    ordered = np.sort(np.array(values))
    expected = naive.parzen_densities([float(x) for x in ordered], kind)
    assert density.bandwidth_of(ordered) == pytest.approx(naive.bandwidth(values), rel=1e-9)
    assert density.parzen(ordered, kind) == pytest.approx(expected, rel=1e-9)
    place = int(np.searchsorted(ordered, values[0]))
    attribute = attribute_of(numeric_column("x", ordered))
    found = attribute.summary(np.ones(len(ordered), dtype=bool), place, kind)
    assert found is not None
    mean = sum(expected) / len(expected)
    assert found.mean * found.unit == pytest.approx(mean, rel=1e-9)
    assert found.at_object * found.unit == pytest.approx(expected[place], rel=1e-9)


@given(values=spread)
def test_identity_of_the_areas(values: list[float]) -> None:
    """Area above minus area below is mean(F) - f_o (method 3)."""
    densities = density.parzen(np.sort(np.array(values)))
    for at_object in (float(densities[0]), float(densities.max()), 0.0):
        above, below = outlierness.areas(densities, at_object)
        slow = naive.areas([float(f) for f in densities], at_object)
        scale = float(densities.max())
        assert (above, below) == pytest.approx(slow, rel=1e-9, abs=1e-12 * scale)
        assert above - below == pytest.approx(
            float(densities.mean()) - at_object, rel=1e-9, abs=1e-12 * scale
        )
        slow_tail = naive.tail([float(f) for f in densities], at_object)
        assert outlierness.tail(densities, at_object) == pytest.approx(slow_tail)


@given(labels=st.lists(st.sampled_from("abcd"), min_size=1, max_size=40))
def test_frequencies(labels: list[str]) -> None:
    names, codes = np.unique(labels, return_inverse=True)
    shares = density.frequencies(np.bincount(codes, minlength=len(names)))
    assert shares[codes] == pytest.approx(naive.frequency_densities(labels), rel=1e-9)


@given(difference=st.floats(-50, 50))
def test_omega(difference: float) -> None:
    assert outlierness.omega(difference) == pytest.approx(naive.omega(difference), rel=1e-9)


@given(values=spread, seed=st.sampled_from([None, None, 0, 7]))
def test_mixture(values: list[float], seed: int | None) -> None:
    points, counts = np.unique(np.array(values), return_counts=True)
    floor = density.bandwidth_of(np.sort(np.array(values))) / 2
    found = mixture.fit(points, counts, floor, seed)
    slow = naive.mixture([float(x) for x in points], [int(c) for c in counts], floor, seed)
    scale = float(points[-1] - points[0])
    assert len(found.weights) == len(slow)
    for fast, expected in zip(
        zip(found.weights, found.means / scale, found.widths / scale, strict=True),
        slow,
        strict=True,
    ):
        weight, mean, width = expected
        assert fast == pytest.approx((weight, mean / scale, width / scale), rel=1e-6, abs=1e-6)


@given(
    values=spread,
    place=st.integers(0, 1000),
    seed=st.sampled_from([None, None, 3]),
    scales=st.sampled_from(["several", "one"]),
    interval=st.sampled_from(["run", "span"]),
    min_support=st.sampled_from([0.1, 0.3]),
)
def test_intervals(
    values: list[float],
    place: int,
    seed: int | None,
    scales: str,
    interval: str,
    min_support: float,
) -> None:
    exponent = int(np.frexp(max(map(abs, values)))[1])
    values = [float(np.ldexp(value, -exponent)) for value in values]
    ordered = np.sort(np.array(values))
    value = values[place % len(values)]
    options = Options.of(scales=scales, interval=interval, min_support=min_support)
    found = intervals.segments(ordered, seed)
    fast = intervals.candidates(ordered, found, value, len(values), options)
    slow = naive.intervals(values, value, len(values), min_support, scales, interval, seed)
    assert fast == slow


@given(counts=st.lists(st.integers(1, 5000), min_size=2, max_size=12))
@settings(max_examples=6)
def test_mixture_of_more_rows_than_count(counts: list[int]) -> None:
    """Beyond 4,096 rows the counts are scaled."""
    points = np.arange(len(counts), dtype=np.float64) ** 1.5
    fast = mixture.fit(points, np.array(counts), 0.2)
    slow = naive.mixture([float(x) for x in points], counts, 0.2)
    assert fast.means == pytest.approx([mean for _, mean, _ in slow], rel=1e-6, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_intervals_of_many_values(seed: int) -> None:
    """More distinct values than points of the fit."""
    rng = np.random.default_rng(seed)
    values = np.sort(np.concatenate([rng.normal(0, 1, 300), rng.exponential(2, 300) + 9]))
    slow = naive.segments([float(x) for x in values], None)
    fast = intervals.segments(values)
    assert [(low, high, rows) for low, high, rows, _ in slow] == list(
        zip(fast.lows, fast.highs, fast.rows, strict=True)
    )


def fast_pairs(table: strategies.Table, row: int, options: dict[str, Any]) -> list[outlying.Pair]:
    types = {
        name: "categorical"
        for name, cells in table.items()
        if any(isinstance(cell, str) for cell in cells)
    }
    explainer = outlying.Explainer(dict(table), types=types, top=10_000, references=0, **options)
    searched = explainer.in_memory("searched()").searched(Target(row=row))
    hits, _ = assembly.grouped(searched.outcome.best, searched.exact, 10_000)
    best: dict[tuple[int, ...], Hit] = {}
    for hit in hits:  # the first scale only
        best.setdefault(searched.exact.attributes(hit.property, hit.context), hit)
    return [assembly.pair_of(hit, searched.exact) for hit in best.values()]


def assert_same(table: strategies.Table, row: int, options: dict[str, Any]) -> None:
    slow = naive.explain(table, row, **options)
    if not any(naive.takes_part(cells) for cells in table.values()):
        return
    fast = fast_pairs(table, row, options)
    assert [(pair.property, *map(key, pair.conditions)) for pair in fast] == [
        (pair.property, *map(key, pair.conditions)) for pair in slow
    ]
    for quick, sure in zip(fast, slow, strict=True):
        assert (quick.value, quick.group_size, quick.known, quick.reaches_threshold) == (
            sure.value,
            sure.group_size,
            sure.known,
            sure.exceptional,
        )
        for name in NUMBERS:
            assert getattr(quick, name) == pytest.approx(getattr(sure, name), rel=1e-9, abs=1e-9)


def key(condition: Any) -> tuple[Any, ...]:
    return (condition.attribute, condition.kind, condition.low, condition.high, condition.value)


OPTIONS = st.fixed_dictionaries(
    {
        "min_support": st.sampled_from([0.1, 0.2]),
        "min_outlierness": st.sampled_from([0.9, 0.6, 0.3]),
        "max_conditions": st.sampled_from([4, 3, 2, 0]),
        "search": st.sampled_from(["guided", "exhaustive"]),
        "measure": st.sampled_from(["relative", "paper"]),
        "scales": st.sampled_from(["several", "one"]),
        "interval": st.sampled_from(["run", "span"]),
        "bandwidth": st.sampled_from(["fixed", "adaptive"]),
        "seed": st.sampled_from([None, None, 5]),
    }
)


@settings(max_examples=400)
@given(table=strategies.tables(), place=st.integers(0, 1000), options=OPTIONS)
def test_explain(table: strategies.Table, place: int, options: dict[str, Any]) -> None:
    rows = len(next(iter(table.values())))
    assume(any(naive.takes_part(cells) for cells in table.values()))
    assert_same(table, place % rows, options)


@pytest.mark.slow
@settings(max_examples=40)
@given(table=strategies.tables(max_rows=60, max_columns=6), place=st.integers(0, 1000))
def test_explain_larger_tables_with_defaults(table: strategies.Table, place: int) -> None:
    rows = len(next(iter(table.values())))
    assume(any(naive.takes_part(cells) for cells in table.values()))
    assert_same(table, place % rows, {})


@settings(max_examples=200)
@given(
    table=strategies.tables(max_rows=40, max_columns=6),
    place=st.integers(0, 1000),
    triples=st.sampled_from([0, 10, 2000]),
)
def test_guided_search_with_a_narrow_beam(
    table: strategies.Table, place: int, triples: int
) -> None:
    """In small tables the choice of 15 contexts hardly ever binds; that of 2 does."""
    rows = len(next(iter(table.values())))
    assume(any(naive.takes_part(cells) for cells in table.values()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limits, "BEAM", 2)
        patch.setattr(naive, "FRONTIER", 2)
        patch.setattr(limits, "MOST_TRIPLES", triples)
        patch.setattr(naive, "MANY_TRIPLES", triples)
        assert_same(table, place % rows, {"min_outlierness": 0.8, "max_conditions": 5})


@settings(max_examples=30)
@given(table=strategies.tables(), place=st.integers(0, 1000))
def test_a_new_object_is_one_more_row(table: strategies.Table, place: int) -> None:
    """Both cases share one definition (method 1)."""
    rows = len(next(iter(table.values())))
    fresh = {name: cells[place % rows] for name, cells in table.items()}
    longer = {name: [*cells, fresh[name]] for name, cells in table.items()}
    assume(any(naive.takes_part(cells) for cells in longer.values()))
    types = {n: "categorical" for n, c in table.items() if any(isinstance(x, str) for x in c)}
    as_row = outlying.explain(dict(longer), row=rows, types=types, references=0)
    as_object = outlying.explain(dict(table), object=fresh, types=types, references=0)
    assert as_object.pairs == as_row.pairs
    assert as_object.row is None


def test_variable_windows_by_the_papers_measure() -> None:
    """Its score has a unit, also where no context is estimated."""
    table: strategies.Table = {
        "c0": [True, True, *[False] * 11, True, False],
        "c1": [0.041, *[0.0] * 7, 0.001, 0.001, 0.001, 0.041, 0.531, 0.001, 0.367],
    }
    assert_same(table, 0, {"measure": "paper", "bandwidth": "adaptive"})
