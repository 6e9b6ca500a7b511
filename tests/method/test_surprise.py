"""Surprise: what is counted and what distance adds, against the twin and against known tails."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outlying.method import surprise
from outlying.method.surprise import ColumnFacts, Group
from outlying.table.columns import Floats
from tests import naive_surprise as naive

SHAPES: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "rounded": lambda rng, n: rng.normal(size=n).round(1),
    "whole": lambda rng, n: rng.poisson(3, n).astype(float),
    "exponential": lambda rng, n: rng.exponential(size=n),
    "heavy": lambda rng, n: rng.standard_t(2, n),
    "uniform": lambda rng, n: rng.random(n),
    "spike": lambda rng, n: np.where(rng.random(n) < 0.9, 0.1, rng.exponential(size=n)),
    "both sides": lambda rng, n: np.where(rng.random(n) < 0.5, 0.0, rng.standard_t(2, n).round(1)),
    "code off": lambda rng, n: rng.choice([0.0, 0.0, 1e4], n) + rng.poisson(1, n),
    "rare off": lambda rng, n: np.where(np.arange(n) % 40, 0.1, rng.exponential(size=n).round(2)),
    "constant but one": lambda rng, n: np.where(np.arange(n) == rng.integers(n), 0.3, 0.1),
    "two groups": lambda rng, n: rng.normal(size=n) + 30 * (rng.random(n) < 0.06),
}


@given(
    seed=st.integers(0, 10**6),
    shape=st.sampled_from(sorted(SHAPES)),
    rows=st.integers(20, 150),
    more=st.integers(1, 100),
)
def test_surprise_is_that_of_the_twin(seed: int, shape: str, rows: int, more: int) -> None:
    rng = np.random.default_rng(seed)
    values = np.sort(SHAPES[shape](rng, rows)) + 0.0
    column = np.sort(np.append(values, SHAPES[shape](rng, more)))
    if values[0] == values[-1]:
        return
    asked = np.sort(np.concatenate([values, rng.normal(0, 20, 10), [-300.0, 300.0]]))
    group, twin = Group(values, ColumnFacts(column)), naive.Group(values.tolist(), column.tolist())
    assert group.width == pytest.approx(twin.width, rel=1e-12)
    counted, found = group.surprise(asked)
    assert counted == pytest.approx([twin.log_rarity(x) for x in asked.tolist()], abs=1e-9)
    assert group.tail(asked) == pytest.approx([twin.tail(x) for x in asked.tolist()], rel=1e-9)
    assert found == pytest.approx([twin.surprise(x) for x in asked.tolist()], abs=1e-9)


@given(seed=st.integers(0, 10**6), shape=st.sampled_from(sorted(SHAPES)), rows=st.integers(20, 150))
def test_no_value_between_limits_is_more_surprising_than_their_bound(
    seed: int, shape: str, rows: int
) -> None:
    rng = np.random.default_rng(seed)
    values = np.sort(SHAPES[shape](rng, rows)) + 0.0
    if values[0] == values[-1]:
        return
    group = Group(values, ColumnFacts(np.sort(np.append(values, SHAPES[shape](rng, 50)))))
    asked = np.sort(np.concatenate([values, rng.normal(0, 20, 40), [-300.0, 300.0]]))
    limits = np.unique(np.concatenate([rng.choice(asked, 12), asked[[0, -1]]]))
    tail, most = group.most_surprise(limits[:-1], limits[1:])
    place = np.clip(np.searchsorted(limits, asked, "right") - 1, 0, len(most) - 1)
    assert np.all(group.tail(asked) <= tail[place] + 1e-9)
    assert np.all(group.surprise(asked)[1] <= most[place] + 1e-9)


@pytest.mark.parametrize("shape", ["normal", "exponential", "heavy", "uniform"])
@pytest.mark.parametrize("unit", [2.0**-30, 1e-3, 1e6])
def test_units_do_not_matter(shape: str, unit: float) -> None:
    values = np.sort(SHAPES[shape](np.random.default_rng(1), 300))
    asked = np.array([-30.0, 2.9, 30.0])
    _, found = Group(values * unit, ColumnFacts(values * unit)).surprise(asked * unit)
    assert found == pytest.approx(Group(values, ColumnFacts(values)).surprise(asked)[1], abs=1e-9)


@settings(max_examples=20)
@given(
    seed=st.integers(0, 10**6),
    shape=st.sampled_from(sorted(SHAPES)),
    rows=st.integers(350, 1500),
)
def test_tails_of_many_rows_are_those_of_the_twin(seed: int, shape: str, rows: int) -> None:
    rng = np.random.default_rng(seed)
    values = np.sort(SHAPES[shape](rng, rows)) + 0.0
    group, twin = Group(values, ColumnFacts(values)), naive.Group(values.tolist(), values.tolist())
    asked = np.array([-300.0, -20.0, -4.0, 4.0, 20.0, 300.0])
    found = np.maximum(*group.beyond(asked))
    assert found == pytest.approx([twin.beyond(x) for x in asked.tolist()], rel=1e-9)


def test_a_tail_that_is_heavy_far_out_only_is_seen() -> None:
    """The body of a t-distribution looks like that of a normal one; 8.9 nats are right."""

    def nats(draw: Callable[[np.random.Generator], Floats]) -> float:
        drawn = [np.sort(draw(np.random.default_rng(seed))) for seed in range(12)]
        groups = [Group(ordered, ColumnFacts(ordered)) for ordered in drawn]
        return float(np.mean([group.tail(np.array([20.0])) for group in groups]))

    assert nats(lambda rng: rng.standard_t(3, 4000)) < 14
    assert nats(lambda rng: rng.normal(size=4000)) > 50


@pytest.mark.parametrize("step", [0.2, 0.4, 0.6])
def test_rounding_makes_no_tail_heavier(step: float) -> None:
    """A sodium of 104 among whole numbers of 140 +- 2.2 is as odd as among measured ones."""
    lacking = []
    for seed in range(8):
        values = np.sort(np.random.default_rng(seed).normal(size=4000))
        rounded, asked = np.round(values / step) * step, np.array([-16.2, 16.2])
        exact = Group(values, ColumnFacts(values)).surprise(asked)[1]
        lacking.append(exact - Group(rounded, ColumnFacts(rounded)).surprise(asked)[1])
    assert np.abs(np.mean(lacking)) < 0.3


def test_the_next_whole_number_is_not_far() -> None:
    """Names of cars have 2 to 4 words; 1 and 5 are rare by counting, and little more than that."""
    words = np.repeat([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 201, 154, 46, 2, 1])
    counted, found = Group(words, ColumnFacts(words)).surprise(np.array([1.0, 5.0, 20.0]))
    assert found[:2] == pytest.approx(counted[:2], abs=0.3)
    assert found[2] > counted[2] + 3


def test_tails_are_those_of_known_distributions() -> None:
    """Nats of what is expected beyond: of an exponential x + 0, of a Gaussian nearly its own."""
    shares = (np.arange(200_000) + 0.5) / 200_000
    ordered = -np.log1p(-shares)
    asked = np.array([5.0, 9.0])
    assert Group(ordered, ColumnFacts(ordered)).tail(asked) == pytest.approx(asked, rel=0.02)
    half = np.sort(np.concatenate([-ordered, ordered]))
    heavy = (1 - shares) ** -0.5
    found = Group(heavy, ColumnFacts(heavy)).tail(np.array([20.0, 100.0]))
    assert found == pytest.approx(2 * np.log([20.0, 100.0]), rel=0.1)
    assert Group(half, ColumnFacts(half)).tail(np.array([0.0])) == 0


@pytest.mark.parametrize("value", [0.1, 0.3, 1 / 3, 7.7])
@pytest.mark.parametrize("rows", [30, 49, 300])
def test_a_window_of_nearly_equal_values_is_no_rounding_error(value: float, rows: int) -> None:
    """The deviation of equal values is 0, though that of their rounded mean may not be."""
    values = np.sort(np.append(np.full(rows, value), value + 1))
    expected = 1.06 * values.std() * len(values) ** -0.2
    assert surprise.robust_width(values) == pytest.approx(expected)


def test_what_many_rows_share_is_no_surprise() -> None:
    values = np.sort(np.append(np.random.default_rng(0).normal(size=960), np.full(40, 50.0)))
    group = Group(values, ColumnFacts(values))
    alone = np.sort(np.append(values[:960], [50.0]))
    asked = np.array([50.0])
    assert group.tail(asked)[0] == pytest.approx(0.0, abs=1e-9)
    assert Group(alone, ColumnFacts(alone)).tail(asked)[0] > 20
    assert group.tail(np.array([49.0]))[0] > 20


def test_rows_off_a_spike_tell_how_far_such_rows_lie() -> None:
    """Hundreds that differ do, below 3% of the table, too; copies of one code do not.

    7.1 is as far out as exp(-3.5) of the wet days, which are 0.7% of all.
    """
    rain = np.random.default_rng(1).exponential(2.0, 300).round(1) + 0.1
    asked = np.array([7.1, 900.0])
    wet, coded, both = (
        np.sort(np.append(np.zeros(40_000), off))
        for off in (rain, np.full(300, 900.0), np.append(rain, np.full(300, 900.0)))
    )
    usual, far = Group(wet, ColumnFacts(wet)).tail(asked)
    assert usual == pytest.approx(3.5 + np.log(40_300 / 300), abs=0.6)
    assert far > 50
    code = Group(coded, ColumnFacts(coded)).tail(asked)
    assert code == pytest.approx(surprise.OFF_A_SPIKE)
    usual, far = Group(both, ColumnFacts(both)).tail(asked)
    assert usual < 9 < 50 < far


def test_values_beside_a_spike_are_compared_with_each_other() -> None:
    """Most have no capital, some have much: that is no error. A tip of 250 is one."""
    rng = np.random.default_rng(2)
    capital = np.exp(rng.normal(6, 1.8, 1_500))
    tips = np.append(rng.exponential(3.0, 1_750).round(1) + 0.1, 250.0)
    for off, low, high in ((capital, 0.0, 10.0), (tips, 12.0, 1e9)):
        values = np.sort(np.append(np.zeros(3_300), off))
        group = Group(values, ColumnFacts(values))
        assert low < group.tail(values[-1:])[0] < high
        mirrored = Group(-values[::-1], ColumnFacts(-values[::-1]))
        assert mirrored.tail(-values[-1:]) == pytest.approx(group.tail(values[-1:]))
