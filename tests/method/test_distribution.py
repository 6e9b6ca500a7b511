"""Counted values against the same values row by row; bins against what they stand for."""

from __future__ import annotations

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from outlying.method import density
from outlying.method import measure as outlierness
from outlying.method.density import Floats
from outlying.method.distribution import Bounds, Distribution
from outlying.method.profiles import NumericProfile

SHAPES = ("normal", "heavy", "clusters", "rounded", "spike")


def sample(shape: str, rows: int, seed: int) -> Floats:
    rng = np.random.default_rng(seed)
    values = {
        "normal": rng.normal(size=rows),
        "heavy": rng.standard_t(2, rows),
        "clusters": rng.choice([0.0, 8.0, 9.5], rows) + rng.normal(0, 0.3, rows),
        "rounded": np.round(rng.normal(size=rows), 1),
        "spike": np.where(rng.random(rows) < 0.5, 0.0, rng.exponential(size=rows)),
    }[shape]
    return np.sort(values)


@given(hnp.arrays(np.int64, st.integers(2, 40), elements=st.integers(-6, 6)), st.integers(0, 39))
def test_counted_values_have_the_densities_of_their_rows(whole: Floats, row: int) -> None:
    values = np.sort(whole / 4)
    assume(values[0] < values[-1])
    found = Distribution.of(values)
    assert found.known == len(values)
    assert found.width == pytest.approx(density.bandwidth_of(values), rel=1e-12)
    expected = density.parzen(values)
    assert np.repeat(found.densities(), found.rows) == pytest.approx(expected)
    mean, width = density.parzen_mean(values)
    assert (found.mean, found.width) == pytest.approx((mean, width), rel=1e-12)
    own = float(values[row % len(values)])
    near = np.count_nonzero(np.abs(values - own) <= found.width / 2)
    assert found.near(own, found.width / 2) == near
    points = np.linspace(-2, 2, 9)
    assert found.densities_at(points) == pytest.approx(density.parzen_at(values, points, width))
    assert found.at_ranks(np.arange(len(values))) == pytest.approx(values)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_profile_is_that_of_the_single_rows(shape: str) -> None:
    values = sample(shape, 700, 1)
    densities = density.parzen(values)
    profile = NumericProfile(Distribution.of(values), "number", 0)
    for at_object in np.quantile(densities, [0.0, 0.1, 0.5, 1.0]):
        assert profile.tail(at_object) == pytest.approx(outlierness.tail(densities, at_object))
        assert profile.areas(at_object) == pytest.approx(outlierness.areas(densities, at_object))
    kept = values[densities >= np.sort(densities)[70] * (1 - 1e-9)]
    ranges = profile.typical(float(values[0]), float(densities.max()))
    ends = [end for both in ranges for end in both]
    assert (ends[0], ends[-1]) == (kept[0], kept[-1])


def binned(values: Floats, bins: int) -> Distribution:
    edges = np.linspace(values[0], values[-1], bins + 1)
    codes = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, bins - 1)
    rows = np.bincount(codes, minlength=bins)
    filled = np.flatnonzero(rows)
    lows, highs = edges[filled], edges[filled + 1]
    return Distribution((lows + highs) / 2, rows[filled], lows, highs)


@pytest.mark.parametrize("bins", [50, 1000, 200_000])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_truth_lies_between_the_bounds(shape: str, bins: int) -> None:
    values = sample(shape, 3000, 2)
    exact, coarse = Distribution.of(values), binned(values, bins)
    densities = exact.densities()
    for row in (0, 10, 1500, 2999):
        value = float(values[row])
        near = exact.near(value, exact.width / 2)
        at_object = near / (exact.known * exact.width)
        found = Bounds(coarse, value)
        tail = outlierness.tail(densities, at_object, exact.rows)
        for between, truth in (
            (found.near, near),
            (found.mean, exact.mean),
            (found.rarity, exact.mean / at_object),
            (found.tail, tail),
        ):
            assert between.low * (1 - 1e-12) <= truth <= between.high * (1 + 1e-12)
        if bins > 10_000 and shape in ("normal", "clusters"):
            assert found.rarity.high / found.rarity.low < 1.02
            assert found.tail.high - found.tail.low < 0.02


def test_exact_values_leave_nothing_open() -> None:
    found = Distribution.of(sample("rounded", 500, 3))
    assert found.is_exact
    assert NumericProfile(found, "number", 0).known == 500
    bounds = Bounds(found, 0.0)
    assert bounds.near.low == bounds.near.high == found.near(0.0, found.width / 2)
    assert bounds.mean.off(found.mean) < 1e-12


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e9, 2.0**52])
def test_windows_far_from_zero_keep_their_digits(offset: float) -> None:
    """Rows one by one and counted have the same window, wherever the values lie."""
    steps = np.sort(np.random.default_rng(2).integers(0, 1000, 4000)).astype(np.float64)
    values = steps + offset
    assert density.bandwidth_of(values) == pytest.approx(density.bandwidth_of(steps), rel=1e-14)
    assert Distribution.of(values).width == pytest.approx(density.bandwidth_of(steps), rel=1e-14)
