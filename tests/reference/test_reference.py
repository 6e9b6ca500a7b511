"""The paper's method against the naive twin, which was written from the specification alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import outlying
from outlying.method import density, intervals, measure, mixture
from outlying.options import Bandwidth, Options, PaperOptions
from outlying.reference.formulas import distribution, natural_intervals, omega, window_rows
from tests import naive, strategies
from tests.every_pair import fast_pairs

NUMBERS = ("outlierness", "rarity", "tail", "support", "lift", "strength", "overall_outlierness")

spread = st.integers(2, 60).flatmap(strategies.numbers).filter(lambda x: min(x) != max(x))


# --- densities ---


@given(values=spread, kind=st.sampled_from(["fixed", "adaptive"]))
def test_parzen(values: list[float], kind: Bandwidth) -> None:
    ordered = np.sort(np.array(values))
    expected = naive.parzen_densities([float(x) for x in ordered], kind)
    assert density.bandwidth_of(ordered) == pytest.approx(naive.bandwidth(values), rel=1e-9)
    found = distribution(ordered, kind)
    places = np.searchsorted(found.values, ordered)
    assert found.densities()[places] == pytest.approx(expected, rel=1e-9)
    assert found.densities_at(ordered) == pytest.approx(expected, rel=1e-9)
    assert found.mean(found.densities()) == pytest.approx(sum(expected) / len(expected), rel=1e-9)
    ranked, rows = found.ranked()
    assert np.repeat(ranked, rows) == pytest.approx(sorted(expected), rel=1e-9)


@given(labels=st.lists(st.sampled_from("abcd"), min_size=1, max_size=40))
def test_frequencies(labels: list[str]) -> None:
    names, codes = np.unique(labels, return_inverse=True)
    shares = density.frequencies(np.bincount(codes, minlength=len(names)))
    assert shares[codes] == pytest.approx(naive.frequency_densities(labels), rel=1e-9)


# --- outlierness ---


@given(values=spread)
def test_identity_of_the_areas(values: list[float]) -> None:
    """Area above minus area below is mean(F) - f_o (method 3)."""
    densities = density.parzen(np.sort(np.array(values)))
    for at_object in (float(densities[0]), float(densities.max()), 0.0):
        above, below = measure.areas(densities, at_object)
        slow = naive.areas([float(f) for f in densities], at_object)
        scale = float(densities.max())
        assert (above, below) == pytest.approx(slow, rel=1e-9, abs=1e-12 * scale)
        assert above - below == pytest.approx(
            float(densities.mean()) - at_object, rel=1e-9, abs=1e-12 * scale
        )
        slow_tail = naive.tail([float(f) for f in densities], at_object)
        assert measure.tail(densities, at_object) == pytest.approx(slow_tail)


@given(difference=st.floats(-50, 50))
def test_omega(difference: float) -> None:
    assert omega(difference) == pytest.approx(naive.omega(difference), rel=1e-9)


# --- natural intervals ---


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
    options=st.builds(
        PaperOptions,
        seed=st.sampled_from([None, None, 3]),
        scales=st.sampled_from(["several", "one"]),
        interval=st.sampled_from(["run", "span"]),
    ),
    sigma=st.sampled_from([0.1, 0.3]),
)
def test_intervals(values: list[float], place: int, options: PaperOptions, sigma: float) -> None:
    exponent = int(np.frexp(max(map(abs, values)))[1])
    values = [float(np.ldexp(value, -exponent)) for value in values]
    ordered, rows = np.sort(np.array(values)), len(values)
    value = values[place % rows]
    found = intervals.segments(ordered, options.seed)
    window = window_rows(Options.of(min_support=sigma).least_rows(rows), rows)
    fast = natural_intervals(ordered, found, value, window, options)
    given = options.scales, options.interval, options.seed
    assert fast == naive.intervals(values, value, rows, sigma, *given)


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


# --- the search ---


def assert_same(table: strategies.Table, row: int, options: dict[str, Any]) -> None:
    paper: dict[str, Any] = {"search": "exhaustive", "minimality": "strict", "windows": (1,)}
    slow = naive.explain(table, row, **paper, **options)
    fast = fast_pairs(table, row, options | {"preset": "paper"})
    assert [(pair.property, *map(key, pair.conditions)) for pair in fast] == [
        (pair.property, *map(key, pair.conditions)) for pair in slow
    ]
    for quick, sure in zip(fast, slow, strict=True):
        assert (quick.value, quick.group_size, quick.known, quick.exceptional) == (
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
        "min_support": st.sampled_from([None, 0.1, 0.2, 3]),
        "min_outlierness": st.sampled_from([0.9, 0.6, 0.3]),
        "max_conditions": st.sampled_from([4, 3, 2, 0]),
        "measure": st.sampled_from(["paper", "relative"]),
        "scales": st.sampled_from(["one", "several"]),
        "interval": st.sampled_from(["span", "run"]),
        "bandwidth": st.sampled_from(["fixed", "adaptive"]),
        "seed": st.sampled_from([None, None, 5]),
    }
)


@settings(max_examples=150)
@given(table=strategies.tables(), place=st.integers(0, 1000), options=OPTIONS)
def test_explain(table: strategies.Table, place: int, options: dict[str, Any]) -> None:
    rows = len(next(iter(table.values())))
    assume(any(naive.takes_part(cells) for cells in table.values()))
    assert_same(table, place % rows, options)


@settings(max_examples=30)
@given(table=strategies.tables(), place=st.integers(0, 1000))
def test_a_new_object_is_one_more_row(table: strategies.Table, place: int) -> None:
    """Both cases share one definition (method 1)."""
    rows = len(next(iter(table.values())))
    fresh = {name: cells[place % rows] for name, cells in table.items()}
    longer = {name: [*cells, fresh[name]] for name, cells in table.items()}
    assume(any(naive.takes_part(cells) for cells in longer.values()))
    types = {n: "categorical" for n, c in table.items() if any(isinstance(x, str) for x in c)}
    as_row = outlying.explain(dict(longer), row=rows, types=types, preset="paper")
    as_object = outlying.explain(dict(table), object=fresh, types=types, preset="paper")
    assert as_object.pairs == as_row.pairs
    assert as_object.row is None


def test_variable_windows_by_the_papers_measure() -> None:
    """Its score has a unit."""
    table: strategies.Table = {
        "c0": [True, True, *[False] * 11, True, False],
        "c1": [0.041, *[0.0] * 7, 0.001, 0.001, 0.001, 0.041, 0.531, 0.001, 0.367],
    }
    options = {"measure": "paper", "scales": "one", "interval": "span", "bandwidth": "adaptive"}
    assert_same(table, 0, options | {"min_support": 0.2, "max_conditions": 3})


# --- findings ---


def test_findings_by_the_paper_have_no_standing() -> None:
    """What reaches theta is exceptional; no other row is asked."""
    table = {"x": [*np.linspace(0, 0.1, 40), 0.9], "y": ["a", "b"] * 20 + ["a"]}
    found = outlying.explain(table, row=40, preset="paper", min_outlierness=0.5)
    assert found.exceptional
    assert found.stories[0].culprit == "x"
    below = outlying.explain(table, row=40, preset="paper", min_outlierness=1.0)
    assert not below.exceptional
    assert any("Nothing reaches the threshold of 1" in note for note in below.notes)
    for page in (str(found), found.to_html(), found.to_json()):
        assert "x" in page


def test_several_rows_are_explained_as_one_by_one() -> None:
    rng = np.random.default_rng(3)
    table = {"x": rng.normal(size=60), "y": rng.normal(size=60), "z": rng.integers(0, 3, 60)}
    explainer = outlying.Explainer(table, preset="paper", scales="several", interval="run")
    many = list(explainer.explain_many(rows=range(4), workers=1))
    assert [item.to_json() for item in many] == [
        explainer.explain(row=row).to_json() for row in range(4)
    ]
