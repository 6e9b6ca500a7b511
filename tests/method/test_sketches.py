"""Sketches say the same as the numbers beside them."""

from __future__ import annotations

import dataclasses
import datetime as dt
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import outlying
from benchmarks.planted import KINDS, plant
from outlying.method.density import bandwidth_of, parzen, parzen_at
from outlying.method.distribution import Distribution
from outlying.method.profiles import CategoricalSketch, NumericSketch, Picture, numeric_sketch
from tests import naive, strategies


def pictures(findings: outlying.Findings) -> list[tuple[outlying.Pair, Picture]]:
    found = [(pair, pair.picture) for pair in findings.pairs if pair.picture is not None]
    assert len(found) == len(findings.pairs)
    return found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bandwidth", ["fixed", "adaptive"])
def test_areas_and_densities_are_those_of_the_pair(kind: str, bandwidth: Any) -> None:
    planted = plant(kind, 3, rows=250, noise=3)
    options = {"measure": "relative", "bandwidth": bandwidth}
    findings = outlying.explain(planted.data, row=planted.row, preset="paper", **options)
    for pair, picture in pictures(findings):
        above, below = picture.areas
        assert above - below == pytest.approx(1 - 1 / pair.rarity, rel=1e-9, abs=1e-12)
        assert picture.densities[0] == pytest.approx(1 / pair.rarity)


@pytest.mark.parametrize("kind", KINDS)
def test_the_cdf_has_the_tail_of_the_pair(kind: str) -> None:
    planted = plant(kind, 3, rows=250, noise=3)
    findings = outlying.explain(planted.data, row=planted.row)
    for pair, picture in pictures(findings):
        rare = np.mean(picture.inside.ranked <= picture.densities[0] * (1 + 1e-9))
        assert rare == pytest.approx(pair.tail, abs=1.5 / len(picture.inside.ranked))
        assert picture.inside.known == pair.known


def test_a_curve_is_the_density_of_the_twin() -> None:
    rng = np.random.default_rng(1)
    values = np.sort(rng.normal(size=80))
    points = rng.uniform(-3, 3, size=40)
    width = bandwidth_of(values)
    assert width == pytest.approx(1.06 * np.std(values) * 80**-0.2)
    expected = [
        sum(abs(value - point) <= width / 2 for value in values) / (80 * width) for point in points
    ]
    assert parzen_at(values, points, width) == pytest.approx(expected)


def test_densities_at_the_values_are_those_at_points() -> None:
    values = np.sort(np.random.default_rng(2).normal(size=300))
    width = bandwidth_of(values)
    assert parzen_at(values, values, width) == pytest.approx(parzen(values))


def test_a_curve_encloses_one() -> None:
    values = np.sort(np.random.default_rng(3).normal(size=5000))
    sketch = numeric_sketch(Distribution.of(values / 8), "number", 3)
    area = np.trapezoid(sketch.curve.heights / 8, sketch.curve.points)
    assert area == pytest.approx(1.0, abs=0.02)
    assert np.mean(sketch.ranked) == pytest.approx(1.0, abs=0.01)
    assert sketch.quantiles[3] == pytest.approx(np.median(values), abs=0.01)


def test_only_positive_numbers_may_be_logarithmic() -> None:
    rng = np.random.default_rng(4)
    wide, narrow = np.sort(rng.lognormal(0, 2, 500)), np.sort(rng.uniform(5, 6, 500))
    assert numeric_sketch(Distribution.of(wide), "number", 0).logarithmic is not None
    assert numeric_sketch(Distribution.of(wide), "date", 0).logarithmic is None
    assert numeric_sketch(Distribution.of(narrow), "number", 0).logarithmic is None
    assert numeric_sketch(Distribution.of(wide - 1), "number", 0).logarithmic is None


def test_categories_are_counted() -> None:
    rng = np.random.default_rng(5)
    labels = [f"k{code:02d}" for code in rng.integers(0, 20, 400)] + ["rare"]
    data = {"group": rng.choice(["a", "b"], 401), "label": labels}
    pair = next(pair for pair in outlying.explain(data, row=400).pairs if pair.property == "label")
    sketch = pair.picture.inside if pair.picture else None
    assert isinstance(sketch, CategoricalSketch)
    assert len(sketch.bars) == 8
    assert [bar.label for bar in sketch.bars][-1] == "rare"
    assert sketch.rest + sum(bar.count for bar in sketch.bars) == sketch.known == pair.known
    assert sketch.others == 21 - 8 or pair.conditions


def test_large_tables_are_sketched_from_some_rows() -> None:
    found = Distribution.of(np.sort(np.random.default_rng(6).normal(size=50_000)))
    all_rows, some = (
        numeric_sketch(found, "number", 0, (np.sort(found.densities()), found.rows)),
        numeric_sketch(found, "number", 0),
    )
    assert np.array_equal(all_rows.curve.heights, some.curve.heights)
    assert some.ranked == pytest.approx(all_rows.ranked, rel=0.03, abs=0.03)
    assert len(some.curve.points) + len(some.ranked) < 500


def test_the_order_of_rows_changes_no_picture() -> None:
    planted = plant("interval", 1, rows=250, noise=3)
    order = np.random.default_rng(0).permutation(250)
    shuffled = {name: column[order] for name, column in planted.data.items()}
    row = int(np.flatnonzero(order == planted.row)[0])
    before = outlying.explain(planted.data, row=planted.row)
    after = outlying.explain(shuffled, row=row)
    renamed = dataclasses.replace(after, row=before.row)
    assert renamed.to_html() == before.to_html()


@settings(max_examples=60)
@given(table=strategies.tables(), place=st.integers(0, 1000))
def test_any_table_has_sketches(table: strategies.Table, place: int) -> None:
    assume(any(naive.takes_part(cells) for cells in table.values()))
    rows = len(next(iter(table.values())))
    findings = outlying.explain(dict(table), row=place % rows)
    for pair, picture in pictures(findings):
        assert math.isclose(
            picture.areas[0] - picture.areas[1], 1 - 1 / pair.rarity, rel_tol=1e-9, abs_tol=1e-9
        )
        for sketch in (picture.inside, picture.overall, *picture.context):
            assert np.all(np.diff(sketch.ranked) >= 0)
            if isinstance(sketch, NumericSketch):
                assert np.all(np.isfinite(sketch.curve.heights))
                assert np.all(np.diff(sketch.curve.points) >= 0)


def test_dates_keep_their_form() -> None:
    days = [dt.date(2024, 1, 1) + dt.timedelta(days=i % 40) for i in range(120)]
    days.append(dt.date(2025, 6, 1))
    pair = outlying.explain({"day": days}, row=120).pairs[0]
    assert pair.picture is not None
    assert isinstance(pair.picture.inside, NumericSketch)
    assert pair.picture.inside.form == "date"
