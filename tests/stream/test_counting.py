"""Encodings of numbers: every number is inside what its code stands for, to the last bit."""

from __future__ import annotations

import pickle

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outlying.stream.histograms import (
    LARGEST,
    LEAST_BINS,
    MOST_BINS,
    Grid,
    affordable_bins,
)

Floats = npt.NDArray[np.float64]

BINS = 131_072
FINITE = st.floats(allow_nan=False, allow_infinity=False)
#: Where a column is, and how wide: timestamps, tiny ranges, denormals, huge numbers.
PLACES = st.sampled_from([0.0, 1.0, -3.0, 1.7e15, -1e300, 1e300, 5e-324])
WIDTHS = st.sampled_from([1.0, 1e-15, 1e-3, 8.64e10, 1e290, 1e300, 1e-310, 1e308])


@st.composite
def columns(draw: st.DrawFn) -> Floats:
    """Columns of many shapes; some with numbers of every kind, some with ties."""
    if draw(st.booleans()):
        return np.array(draw(st.lists(FINITE, min_size=1, max_size=60)))
    place, width = draw(PLACES), draw(WIDTHS)
    parts = draw(st.lists(st.floats(-1, 1) | st.sampled_from([0.0, 0.5]), min_size=1, max_size=60))
    return np.array([place + width * part for part in parts])


@st.composite
def grids(draw: st.DrawFn) -> tuple[Floats, Grid]:
    """A column and a grid over it, by a part of its values."""
    column = draw(columns())
    sample = np.sort(column[: draw(st.integers(0, len(column)))])
    size = st.floats(0, LARGEST)
    zones = draw(st.lists(st.tuples(st.sampled_from(column.tolist()), size), max_size=2))
    bins = draw(st.sampled_from([1, 16, 64, 1024, 4096]))
    return column, Grid.of(sample, float(column.min()), float(column.max()), bins, zones)


@settings(max_examples=300)
@given(grids(), st.lists(FINITE, max_size=30))
def test_numbers_are_within_their_edges(drawn: tuple[Floats, Grid], others: list[float]) -> None:
    column, grid = drawn
    numbers = np.concatenate((column, np.nextafter(column, 0.0), others))
    codes, edges = grid.codes(numbers), grid.edges()
    assert codes.min() >= 1
    assert codes.max() < grid.size == len(edges.lows)
    assert np.all(edges.lows[codes] <= numbers)
    assert np.all(numbers <= edges.highs[codes])
    assert np.all((edges.lows <= edges.values)[codes] & (edges.values <= edges.highs)[codes])


@given(grids())
def test_bins_are_in_order_and_leave_no_gap(drawn: tuple[Floats, Grid]) -> None:
    _, grid = drawn
    edges = grid.edges()
    lows, highs = edges.lows[1:], edges.highs[1:]
    assert (lows[0], highs[-1]) == (-LARGEST, LARGEST)
    assert np.array_equal(np.nextafter(highs[:-1], np.inf), lows[1:])
    assert np.all(lows <= highs)


@given(grids(), st.lists(FINITE, min_size=1, max_size=30))
def test_codes_ascend_with_numbers(drawn: tuple[Floats, Grid], others: list[float]) -> None:
    column, grid = drawn
    numbers = np.sort(np.concatenate((column, others)))
    assert np.all(np.diff(grid.codes(numbers)) >= 0)


@given(grids())
def test_missing_values_have_a_code_of_their_own(drawn: tuple[Floats, Grid]) -> None:
    column, grid = drawn
    codes = grid.codes(np.concatenate(([np.nan], column, [-np.nan])))
    assert codes[[0, -1]].tolist() == [0, 0]
    assert codes[1:-1].min() >= 1


@given(grids())
def test_the_two_zeros_are_one(drawn: tuple[Floats, Grid]) -> None:
    _, grid = drawn
    one, other = grid.codes(np.array([0.0, -0.0]))
    assert one == other


def test_a_grid_is_the_same_after_a_journey() -> None:
    numbers = np.random.default_rng(1).normal(size=5000)
    grid = Grid.of(np.sort(numbers[:1000]), numbers.min(), numbers.max(), BINS)
    there = pickle.dumps(grid)
    assert len(there) < 400_000
    assert np.array_equal(pickle.loads(there).codes(numbers), grid.codes(numbers))  # noqa: S301


def shapes() -> dict[str, Floats]:
    rng = np.random.default_rng(2)
    rows = 200_000
    return {
        "uniform": rng.random(rows),
        "normal": rng.normal(50.0, 9.0, rows),
        "skewed": np.exp(rng.normal(size=rows)),
        "over many sizes": np.exp(6 * rng.normal(size=rows)),
        "far values": rng.standard_cauchy(rows),
        "moments": 1.7e15 + rng.random(rows) * 1e13,
        "half zeros": np.where(rng.random(rows) < 0.5, 0.0, rng.random(rows)),
    }


@pytest.mark.parametrize("name", shapes())
def test_rows_are_spread_evenly_over_bins(name: str) -> None:
    column = shapes()[name]
    grid = Grid.of(np.sort(column[:16_384]), column.min(), column.max(), BINS)
    assert 0.9 * BINS < grid.size < 4 / 3 * BINS
    counts = np.bincount(grid.codes(column), minlength=grid.size)
    assert counts[counts < 0.4 * len(column)].max() < 0.00025 * len(column)


def test_frequent_values_are_counted_exactly() -> None:
    column = shapes()["half zeros"]
    grid = Grid.of(np.sort(column[:16_384]), column.min(), column.max(), BINS)
    edges, code = grid.edges(), int(grid.codes(np.zeros(1))[0])
    assert (edges.lows[code], edges.values[code], edges.highs[code]) == (0.0, 0.0, 0.0)
    counts = np.bincount(grid.codes(column), minlength=grid.size)
    assert counts[code] == np.count_nonzero(column == 0.0)


@pytest.mark.parametrize("value", [50.0, 62.0, 90.0])
def test_bins_around_a_value_are_finer(value: float) -> None:
    column = shapes()["normal"]
    sample, low, high = np.sort(column[:16_384]), float(column.min()), float(column.max())
    plain, finer = (Grid.of(sample, low, high, BINS, zone) for zone in ((), [(value, 0.5)]))
    near = np.clip(value + np.linspace(-0.49, 0.49, 999), low, high)
    widths = []
    for grid in (plain, finer):
        edges, codes = grid.edges(), grid.codes(near)
        widths.append(np.mean(edges.highs[codes] - edges.lows[codes]))
    assert widths[1] < widths[0] / 3


def test_bins_are_narrow_beside_the_window_of_a_density() -> None:
    column = shapes()["normal"]
    grid = Grid.of(np.sort(column[:16_384]), column.min(), column.max(), BINS)
    edges, codes = grid.edges(), grid.codes(column)
    widths = np.sort(edges.highs[codes] - edges.lows[codes])
    window = 1.06 * 9.0 * 1e7**-0.2
    assert np.median(widths) < window / 1000
    assert widths[int(0.99 * len(widths))] < window / 100


def test_zones_of_many_objects_share_their_bins() -> None:
    column = shapes()["normal"]
    sample, low, high = np.sort(column[:16_384]), float(column.min()), float(column.max())
    for bins in (4096, BINS):
        zones = [(float(value), 20.0) for value in column[:100]]
        assert Grid.of(sample, low, high, bins, zones).size < 4 / 3 * bins


@pytest.mark.parametrize(
    ("histograms", "bins"), [(0, MOST_BINS), (12, MOST_BINS), (100, 125_829), (10**6, LEAST_BINS)]
)
def test_bins_are_affordable(histograms: int, bins: int) -> None:
    assert affordable_bins(histograms) == bins
    assert bins == LEAST_BINS or histograms * bins * 8 * 4 / 3 <= 128 * 2**20
