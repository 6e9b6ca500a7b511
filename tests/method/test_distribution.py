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
from outlying.method.distribution import Bounds, Distribution, rows_by_number
from outlying.method.measure import Summary
from outlying.method.profiles import CategoricalProfile, NumericProfile
from outlying.method.surprise import robust_width
from outlying.reference.formulas import distribution

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
    assert found.width == pytest.approx(robust_width(values), rel=1e-12)
    width = found.width
    expected = density.parzen_at(values, values, width)
    assert np.repeat(found.densities(), found.rows) == pytest.approx(expected)
    for scale in outlierness.SCALES:
        mean = float(density.mean_neighbours(values, np.array([scale * width]))[0])
        assert found.mean_neighbours(scale) == pytest.approx(mean, rel=1e-12)
        densities = np.repeat(found.densities(scale=scale), found.rows)
        assert np.mean(densities) == pytest.approx(mean / (len(values) * scale * width))
    own = float(values[row % len(values)])
    near = np.count_nonzero(np.abs(values - own) <= found.width / 2)
    assert found.near(own, found.width / 2) == near
    points = np.linspace(-2, 2, 9)
    assert found.densities_at(points) == pytest.approx(density.parzen_at(values, points, width))
    assert found.at_ranks(np.arange(len(values))) == pytest.approx(values)


@given(
    hnp.arrays(np.int64, st.integers(3, 40), elements=st.integers(-6, 6)),
    st.lists(st.booleans(), min_size=40, max_size=40),
)
def test_what_is_typical_is_that_of_the_rows(whole: Floats, members: list[bool]) -> None:
    inside = np.array(members[: len(whole)])
    values, everywhere = np.sort(whole[inside] / 4), np.sort(whole / 4)
    overall = Distribution.of(everywhere)
    if len(values) == 0 or values[0] == values[-1]:
        assert len(values) == 0 or np.isnan(Distribution.of(values).lift(overall))
        return
    found = Distribution.of(values)
    lift = found.lift(overall)
    reach, known, total = found.width / 2, len(values), len(everywhere)
    own = sum(int(np.sum(np.abs(values - value) <= reach)) for value in values)
    around = sum(int(np.sum(np.abs(everywhere - value) <= reach)) for value in values)
    assert found.mean_neighbours() == pytest.approx(own / known)
    assert lift == pytest.approx((own / known) / (around / total))
    assert lift <= total / known * (1 + 1e-12)
    wide = density.mean_neighbours(values, np.array([32 * found.width]))
    assert found.mean_neighbours(32) == pytest.approx(wide[0])


def test_all_rows_are_as_tight_as_they_are() -> None:
    values = sample("heavy", 500, 4)
    for found in (Distribution.of(values), binned(values, 60)):
        assert found.lift(found) == 1.0


def test_what_is_typical_of_categories_is_that_of_the_rows() -> None:
    rng = np.random.default_rng(8)
    labels, inside = rng.integers(0, 4, 200), rng.random(200) < 0.3
    inside &= labels != 3
    group, overall = (
        CategoricalProfile(np.bincount(part, minlength=4), "abcd")
        for part in (labels[inside], labels)
    )
    lift = group.lift(overall)
    here = [np.mean(labels[inside] == label) for label in labels[inside]]
    there = [np.mean(labels == label) for label in labels[inside]]
    assert lift == pytest.approx(np.mean(here) / np.mean(there))
    seen = group.summary("b", lift, 10.0)
    assert seen.mean == pytest.approx(np.mean(here))
    assert seen.at_object == pytest.approx(np.mean(labels[inside] == 1))
    alone = CategoricalProfile(np.array([5, 0]), "ab")
    assert np.isnan(alone.lift(CategoricalProfile(np.array([9, 9]), "ab")))


def seen_from(found: Distribution, value: float, scale: int) -> Summary:
    """Return a summary at one scale, be it the rarest or not."""
    near = found.near(value, scale * found.width / 2)
    factor = 1 / (found.known * scale * found.width)
    mean = found.mean_neighbours(scale)
    return Summary(mean * factor, near * factor, 1.0, 1.0, scale, round(near))


@pytest.mark.parametrize("scale", outlierness.SCALES)
@pytest.mark.parametrize("shape", SHAPES)
def test_a_profile_is_that_of_the_single_rows(shape: str, scale: int) -> None:
    values = sample(shape, 700, 1)
    found = Distribution.of(values)
    reach = scale * found.width / 2
    rows = np.array([int(np.sum(np.abs(values - value) <= reach)) for value in values])
    profile = NumericProfile(found, "number", 0)
    for value in np.quantile(values, [0.0, 0.1, 0.5, 1.0], method="nearest"):
        summary = seen_from(found, float(value), scale)
        assert profile.tail(summary) == pytest.approx(np.mean(rows <= summary.near))
        above, below = (area / summary.mean for area in profile.areas(summary))
        assert above - below == pytest.approx(1 - 1 / summary.rarity, abs=1e-12)
        ranked = profile.sketch(scale).ranked
        rare = np.mean(ranked <= (1 + 1e-9) / summary.rarity)
        assert rare == pytest.approx(profile.tail(summary), abs=1.5 / len(ranked))


@pytest.mark.parametrize("shape", SHAPES)
def test_typical_is_where_most_rows_are(shape: str) -> None:
    values = sample(shape, 700, 1)
    densities = density.parzen_at(values, values, robust_width(values))
    profile = NumericProfile(Distribution.of(values), "number", 0)
    kept = values[densities >= np.sort(densities)[70] * (1 - 1e-9)]
    ranges = profile.typical(float(values[0]), float(densities.max()))
    ends = [end for both in ranges for end in both]
    assert (ends[0], ends[-1]) == (kept[0], kept[-1])


def test_a_gap_is_between_the_next_values() -> None:
    values = np.array([8.0, 16.0, 16.0, 40.0, 72.0])
    profile = NumericProfile(Distribution.of(values / 8), "integer", 3)
    assert [profile.gap(value) for value in (8.0, 16.0, 40.0, 72.0)] == [None, None, (16, 72), None]
    one_by_one = NumericProfile(distribution(values, "adaptive"), "number", 0)
    assert one_by_one.gap(16.0) is None
    assert one_by_one.gap(40.0) == (16.0, 72.0)
    in_bins = NumericProfile(binned(values, 3), "number", 0)
    assert in_bins.gap(40.0) is None
    assert CategoricalProfile(np.array([3, 1]), ["a", "b"]).gap("b") is None


def test_a_profile_draws_no_sketch_before_it_is_asked_for() -> None:
    profile = NumericProfile(Distribution.of(sample("normal", 300, 1)), "number", 0)
    before = profile.nbytes
    assert "_sketch" not in vars(profile)
    assert profile.sketch() is profile.sketch()
    assert profile.nbytes == before


def binned(values: Floats, bins: int, edges: Floats | None = None) -> Distribution:
    edges = np.linspace(values[0], values[-1], bins + 1) if edges is None else edges
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
    profile = NumericProfile(exact, "number", 0)
    for row in (0, 10, 1500, 2999):
        value = float(values[row])
        found = Bounds(coarse, value)
        for scale in (1, 4, 32):
            summary = seen_from(exact, value, scale)
            for between, truth in (
                (found.near(scale), exact.near(value, scale * exact.width / 2)),
                (found.neighbours(scale), exact.mean_neighbours(scale)),
                (found.rarity(scale), summary.rarity),
                (found.tail(scale), profile.tail(summary)),
            ):
                assert between.low * (1 - 1e-12) <= truth <= between.high * (1 + 1e-12)
        if bins > 10_000 and shape in ("normal", "clusters"):
            assert found.rarity().high / found.rarity().low < 1.02
            assert found.tail().high - found.tail().low < 0.02


@pytest.mark.parametrize("bins", [50, 1000, 200_000])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_lift_lies_between_the_bounds(shape: str, bins: int) -> None:
    values = sample(shape, 3000, 2)
    edges = np.linspace(values[0], values[-1], bins + 1)
    inside = values[(np.random.default_rng(3).random(3000) < 0.4) & (values > np.median(values))]
    truth = Distribution.of(inside).lift(Distribution.of(values))
    group, overall = (binned(part, bins, edges) for part in (inside, values))
    estimate = group.lift(overall)
    between = Bounds(group, float(inside[0])).lift(Bounds(overall, float(inside[0])))
    most = len(values) / len(inside)
    assert between.low <= truth * (1 + 1e-12) <= between.high * (1 + 1e-9) <= most * (1 + 2e-9)
    assert between.low <= estimate * (1 + 1e-12) <= between.high * (1 + 1e-9)
    if bins > 10_000 and shape in ("normal", "clusters"):
        assert between.high / between.low < 1.03


def test_exact_values_leave_nothing_open() -> None:
    values = sample("rounded", 500, 3)
    found, group = Distribution.of(values), Distribution.of(values[100:300])
    assert found.is_exact
    assert NumericProfile(found, "number", 0).known == 500
    bounds = Bounds(found, 0.0)
    for scale in (1, 2, 8):
        near = bounds.near(scale)
        assert near.low == near.high == found.near(0.0, scale * found.width / 2)
        assert bounds.neighbours(scale).off(found.mean_neighbours(scale)) < 1e-12
    assert Bounds(group, 0.0).lift(bounds).off(group.lift(found)) < 1e-12
    assert bounds.lift(bounds).off(1.0) == 0.0


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e9, 2.0**52])
def test_windows_far_from_zero_keep_their_digits(offset: float) -> None:
    """Rows one by one and counted have the same window, wherever the values lie."""
    steps = np.sort(np.random.default_rng(2).integers(0, 1000, 4000)).astype(np.float64)
    values = steps + offset
    assert density.bandwidth_of(values) == pytest.approx(density.bandwidth_of(steps), rel=1e-14)
    assert Distribution.of(values).width == pytest.approx(robust_width(steps), rel=1e-12)


@given(shape=st.sampled_from(SHAPES), rows=st.integers(2, 300), scale=st.sampled_from([1, 2, 8]))
def test_densities_are_ranked_by_counts(shape: str, rows: int, scale: int) -> None:
    found = Distribution.of(sample(shape, rows, seed=rows))
    assume(len(found.values) > 1)
    ranked, counts = found.ranked(scale=scale)
    own = found.densities(scale=scale)
    assert ranked.tolist() == sorted(set(own.tolist()))
    assert counts.tolist() == [int(found.rows[own == each].sum()) for each in ranked]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 5)), min_size=1, max_size=30))
def test_rows_are_added_up_by_number_be_these_small_or_huge(pairs: list[tuple[int, int]]) -> None:
    numbers, rows = (np.array(each, dtype=np.int64) for each in zip(*pairs, strict=True))
    expected = [int(rows[numbers == number].sum()) for number in np.unique(numbers)]
    for factor in (1, 1 << 40):  # counted one by one, or sorted
        found, counts = rows_by_number(numbers * factor, rows)
        assert found.tolist() == (np.unique(numbers) * factor).tolist()
        assert counts.tolist() == expected
