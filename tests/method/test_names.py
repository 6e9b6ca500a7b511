"""Numbers that name things, and numbers that measure or count."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from outlying.method.relations import Codes
from outlying.method.rules import are_names, ranked
from tests.naive_relations import are_names as naive_are_names

Rng = np.random.Generator
Made = tuple[Any, list[Any]]  # numbers, and what other columns hold
ROWS = 2_000


def _codes(values: Any) -> Codes:
    return np.asarray(values, dtype=np.int32)


def accounts(rng: Rng) -> Made:
    """Seven digits, with gaps; each account has a level of amounts of its own."""
    ids = np.sort(rng.choice(np.arange(1_000_000, 9_999_999), 150, replace=False))
    own, level = rng.integers(0, 150, ROWS), rng.normal(5, 0.4, 150)
    return ids[own] * 1.0, [np.exp(rng.normal(level[own], 0.35)), rng.gamma(2, 5, ROWS)]


def stores(rng: Rng) -> Made:
    """1 to 40, by region: those of a region are more alike than others."""
    own, level = rng.integers(0, 40, ROWS), rng.normal(0, 1, 40)
    sales = level[own] + 1.5 * (own // 10) + rng.normal(0, 1, ROWS)
    return own + 1.0, [sales, _codes(own // 10)]


def flights(rng: Rng) -> Made:
    """Flight numbers, each of which goes to one place."""
    own, ids = rng.integers(0, 300, ROWS), np.sort(rng.choice(6_000, 300, replace=False))
    return ids[own] * 1.0, [_codes(rng.integers(0, 90, 300)[own]), rng.gamma(1, 20, ROWS)]


def departments(rng: Rng) -> Made:
    own = rng.integers(0, 14, ROWS)
    return 4_100.0 + 100 * own, [_codes(own), rng.lognormal(5, 1, ROWS)]


def classes(rng: Rng) -> Made:
    """Three numbers, each of which has a label."""
    own = rng.integers(1, 4, ROWS)
    return own * 1.0, [_codes(own)]


def ages(rng: Rng) -> Made:
    age = rng.integers(18, 90, ROWS) * 1.0
    pressure = 100 + 0.6 * age + rng.normal(0, 9, ROWS)
    return age, [pressure, _codes(age >= 65), _codes(rng.integers(0, 9, ROWS))]


def flippers(rng: Rng) -> Made:
    kind = rng.choice(3, 344, p=[0.44, 0.36, 0.2])
    length = np.round(np.array([190, 217, 196])[kind] + rng.normal(0, 6.5, 344))
    depth = np.array([18.3, 15, 18.4])[kind] + rng.normal(0, 1.1, 344)
    return length, [_codes(kind), depth]


def winds(rng: Rng) -> Made:
    """Tens of degrees, around a circle."""
    degrees = 10.0 * rng.integers(0, 36, ROWS)
    return degrees, [10 * np.cos(np.radians(degrees - 200)) + rng.normal(0, 7, ROWS)]


def quantities(rng: Rng) -> Made:
    quantity, price = 1.0 + rng.integers(0, 20, ROWS), rng.lognormal(2, 0.8, ROWS)
    return quantity, [price, quantity * price, _codes(quantity >= 10)]


def years(rng: Rng) -> Made:
    """The same years of many countries."""
    year, level = np.tile(1952.0 + 5 * np.arange(12), 140), np.repeat(rng.normal(55, 10, 140), 12)
    life = level + 0.3 * (year - 1952) + rng.normal(0, 2, len(year))
    return year, [life, _codes(np.repeat(np.arange(140), 12))]


def scores(rng: Rng) -> Made:
    """Points, and the grade that goes with them."""
    score = np.clip(np.round(rng.normal(62, 15, ROWS)), 0, 100)
    return score, [_codes(np.digitize(score, [40, 50, 60, 70, 80, 90])), score + rng.normal(0, 8)]


def unrelated(rng: Rng) -> Made:
    values = np.round(rng.normal(40, 8, 300))
    return values, [rng.normal(size=300) for _ in range(60)]


NAMES: tuple[Callable[[Rng], Made], ...] = (accounts, stores, flights, departments, classes)
MEASURES = (ages, flippers, winds, quantities, years, scores, unrelated)


def _decided(made: Made) -> bool:
    numbers, others = made
    return are_names(numbers, [ranked(own) if own.dtype.kind == "f" else own for own in others])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("make", NAMES)
def test_numbers_name_things(make: Callable[[Rng], Made], seed: int) -> None:
    assert _decided(make(np.random.default_rng(seed)))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("make", MEASURES)
def test_numbers_measure_or_count(make: Callable[[Rng], Made], seed: int) -> None:
    assert not _decided(make(np.random.default_rng(seed)))


@pytest.mark.parametrize("seed", range(20))
def test_the_slow_twin_agrees(seed: int) -> None:
    rng = np.random.default_rng(seed)
    own = rng.integers(0, 15, 200)
    share = rng.random()  # how much is told by the number itself, rather than by its size
    level = share * rng.normal(size=15) + (1 - share) * np.arange(15) / 4
    numbers = np.where(rng.random(200) < 0.05, np.nan, own * 3.0)
    amount = level[own] + rng.normal(0, 0.5, 200)
    amount[rng.random(200) < 0.05] = np.nan
    label = np.where(rng.random(200) < 0.9, np.digitize(level, [0.5, 1.5])[own], -1)
    codes = _codes(label)
    for given, other in ((ranked(amount), amount.tolist()), (codes, codes.tolist())):
        assert are_names(numbers, [given]) == naive_are_names(numbers.tolist(), other)


def test_a_column_without_repeats_or_without_others_names_nothing() -> None:
    assert not are_names(np.arange(100.0), [np.arange(100.0)])
    assert not are_names(np.repeat(np.arange(20.0), 10), [])
    assert not are_names(np.full(100, np.nan), [np.arange(100.0)])
