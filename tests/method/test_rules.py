"""Dependencies, order and own kind, against loops; and through results."""

from __future__ import annotations

import math
from statistics import median

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import outlying
from outlying.method import rules
from tests import naive_relations as naive


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), gaps=st.sampled_from([0.0, 0.02]))
def test_a_dependency_is_what_loops_count(seed: int, gaps: float) -> None:
    rng = np.random.default_rng(seed)
    given_ = rng.integers(25, size=300).astype(np.int32)
    own = (given_ % 7).astype(np.int32)
    wrong = rng.choice(300, 2, replace=False)
    own[wrong] = (own[wrong] + 1) % 7
    given_[rng.random(300) < gaps] = -1
    found = rules.dependency(given_, own)
    assert found is not None
    residuals = found.residuals(given_, own)
    for row in range(300):
        members = [own[k] for k in range(300) if given_[k] == given_[row] >= 0]
        counts = {label: members.count(label) for label in members}
        top = max(counts.values(), default=0)
        if len(members) < 3 or top < 0.9 * (len(members) - 1):
            assert np.isnan(residuals[row])
        elif counts[own[row]] == top:
            assert residuals[row] == 0
        else:
            assert residuals[row] == min(4 * top, 100)


def test_chance_is_no_dependency() -> None:
    rng = np.random.default_rng(0)
    one, other = (rng.integers(8, size=500).astype(np.int32) for _ in range(2))
    assert rules.dependency(one, other) is None
    rare = np.zeros(500, dtype=np.int32)
    rare[:3] = [1, 2, 3]
    assert rules.dependency(one, rare) is None  # nearly all rows have the same label


def test_order_is_found_where_chance_would_break_it() -> None:
    rng = np.random.default_rng(1)
    start = rng.uniform(0, 100, 400)
    end = start + rng.uniform(0, 5, 400)
    end[7] = start[7] - 3
    found = rules.order(start, end)
    assert found is not None
    assert (found.holding, found.known) == (399, 400)
    residuals = found.residuals(start, end)
    assert np.flatnonzero(residuals).tolist() == [7]
    assert residuals[7] == pytest.approx(-30 - 3 / found.usual)
    assert rules.order(start, start + 1000) is None  # so it is by chance, too
    assert rules.order(start, rng.uniform(0, 100, 400)) is None


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), members=st.integers(4, 9))
def test_own_kind_expects_the_median_of_the_other_rows(seed: int, members: int) -> None:
    rng = np.random.default_rng(seed)
    things = np.repeat(np.arange(20), members).astype(np.int32)
    values = (10 * rng.normal(size=20)[things] + rng.normal(size=len(things))).round(1)
    found = rules.own_kind(things, values, None)
    assert found is not None
    expected = found.expected(things, values)
    for row in range(len(things)):
        others = [values[k] for k in range(len(things)) if k != row and things[k] == things[row]]
        weight = len(others)
        wanted = (weight * median(others) + found.pull * median(values)) / (weight + found.pull)
        assert expected[row] == pytest.approx(wanted, abs=1e-9)
    points = naive.local(expected.tolist(), np.abs(values - expected).tolist())
    low, high = naive.quantiles(expected.tolist(), 0.01, 0.99)
    wider = (1 + math.pi / 2 / (members - 1 + found.pull)) ** 0.5  # the median of a few is unsure
    for row, said in enumerate(expected.tolist()):
        usual = wider * (naive.between(said, points) + max(low - said, said - high, 0.0))
        assert found.usual(things, values)[row] == pytest.approx(usual)


def test_noise_has_no_own_kind() -> None:
    rng = np.random.default_rng(2)
    things = np.repeat(np.arange(40), 8).astype(np.int32)
    assert rules.own_kind(things, rng.normal(size=320), None) is None


def test_a_level_that_many_rows_do_not_have_is_none() -> None:
    rng = np.random.default_rng(2)
    things = np.repeat(np.arange(40), 12).astype(np.int32)
    values = 10 * rng.normal(size=40)[things] + rng.normal(size=480)
    assert rules.own_kind(things, values, None) is not None
    values[rng.random(480) < 0.06] = 60.0  # a code
    assert rules.own_kind(things, values, None) is None


def test_a_city_of_another_zip_is_told() -> None:
    rng = np.random.default_rng(3)
    own = rng.integers(60, size=900)
    zips, cities = np.array([f"{10000 + 37 * k}" for k in range(60)]), own % 20
    cities[4] = (cities[4] + 5) % 20
    table = {"zip": zips[own], "city": np.array([f"city {k}" for k in range(20)])[cities]}
    found = outlying.explain(table, row=4)
    assert found.exceptional
    assert found.stories[0].columns == ("city", "zip")
    details = " ".join(pair.detail or "" for story in found.stories for pair in story.pairs)
    assert f"expected city {own[4] % 20} given zip = {zips[own[4]]}" in details


def test_dates_in_the_wrong_order_are_told() -> None:
    rng = np.random.default_rng(4)
    ordered = np.datetime64("2024-01-01") + rng.integers(0, 300, 800).astype("timedelta64[D]")
    shipped = ordered + rng.integers(0, 5, 800).astype("timedelta64[D]")
    shipped[9] = ordered[9] - np.timedelta64(3, "D")
    found = outlying.explain({"ordered": ordered, "shipped": shipped}, row=9)
    assert found.exceptional
    details = " ".join(pair.detail or "" for story in found.stories for pair in story.pairs)
    assert f"before ordered = {ordered[9]}; in 799 of 800 rows it is not" in details


def test_an_amount_unlike_those_of_its_account_is_told() -> None:
    rng = np.random.default_rng(5)
    accounts = np.repeat(np.arange(100), 8)
    amounts = np.exp(rng.normal(5, 1.2, 100)[accounts] + rng.normal(0, 0.2, 800)).round(2)
    row = int(np.argsort(amounts)[200])
    amounts[row] = (8 * amounts[row]).round(2)
    table = {"account": np.array([f"A{k:03d}" for k in accounts]), "amount": amounts}
    found = outlying.explain(table, row=row)
    assert found.exceptional
    detail = found.stories[0].headline.detail
    assert detail is not None
    assert f"given account = A{accounts[row]:03d}, by its 8 rows" in detail
