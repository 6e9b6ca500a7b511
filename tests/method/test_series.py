"""Exponentials, logarithms and sums with the same bits everywhere."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlying.method.mixture import (
    LANES,
    exponential,
    logarithm,
    logarithm_of,
    sum_in_lanes,
    sum_in_turn,
)


@given(st.floats(-700, 700))
def test_exponentials_are_right_to_the_last_bits(power: float) -> None:
    assert exponential(np.array([power]))[0] == pytest.approx(math.exp(power), rel=1e-15)


@given(st.floats(1e-300, 1e300))
def test_logarithms_are_right_to_the_last_bits(number: float) -> None:
    found = logarithm(np.array([number]))[0]
    assert found == pytest.approx(math.log(number), rel=1e-15, abs=0)
    assert logarithm_of(number) == found


def test_what_is_known_is_exact() -> None:
    assert exponential(np.zeros(1)).tolist() == [1.0]
    assert logarithm(np.array([1.0])).tolist() == [0.0]


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=50), st.integers(1, 3))
def test_sums_run_in_a_fixed_order(numbers: list[float], lines: int) -> None:
    numbers = [*numbers, *[0.0] * (-len(numbers) % LANES)]
    lanes = [0.0] * LANES
    for place, number in enumerate(numbers):
        lanes[place % LANES] += number
    halves = [lanes[lane] + lanes[lane + 4] for lane in range(4)]
    expected = (halves[0] + halves[2]) + (halves[1] + halves[3])
    assert sum_in_lanes(np.array([numbers] * lines)).tolist() == [expected] * lines
    in_turn = 0.0
    for number in numbers:
        in_turn += number
    assert sum_in_turn(np.array(numbers)) == in_turn
