"""Dependencies, order, durations and own kind, against loops; and through results."""

from __future__ import annotations

import datetime as dt
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


def test_two_labels_may_follow_as_well() -> None:
    rng = np.random.default_rng(3)
    patients = np.repeat(np.arange(80), 6).astype(np.int32)
    sexes = rng.integers(2, size=80).astype(np.int32)[patients]
    sexes[100] = 1 - sexes[100]
    found = rules.dependency(patients, sexes)
    assert found is not None
    assert np.flatnonzero(found.residuals(patients, sexes)).tolist() == [100]
    assert rules.dependency(patients, rng.permutation(sexes)) is None


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
    found = rules.order(start, end, are_moments=False)
    assert found is not None
    assert (found.holding, found.known) == (399, 400)
    residuals = found.residuals(start, end)
    assert np.flatnonzero(residuals).tolist() == [7]
    assert residuals[7] == pytest.approx(-30 - 3 / found.usual)
    assert rules.order(start, start + 1000, are_moments=True) is None  # so it is by chance, too
    assert rules.order(start, rng.uniform(0, 100, 400), are_moments=True) is None


def test_numbers_have_an_order_only_where_it_has_an_edge() -> None:
    """Goals are shots on target; a fare that is hardly ever below the miles just has a tail."""
    rng = np.random.default_rng(2)
    shots = rng.poisson(5, 3_000).astype(float)
    goals = rng.binomial(shots.astype(int), 0.3).astype(float)
    goals[9] = shots[9] + 4
    assert rules.order(goals, shots, are_moments=False) is not None
    one = rng.normal(size=3_000)
    other = one + rng.normal(3, 1, 3_000)
    assert 0 < np.count_nonzero(one > other) < 10
    assert rules.order(one, other, are_moments=False) is None
    other = one + 3 + np.abs(rng.normal(size=3_000))  # no row breaks it, and none is near to it
    assert rules.order(one, other, are_moments=False) is None
    assert rules.order(one, other - 3, are_moments=False) is not None


@pytest.mark.parametrize("reach", [8.0, 15.0])
def test_an_order_has_no_edge_where_its_exceptions_go_on_within_it(reach: float) -> None:
    """Hardly any ride takes more minutes than it costs, but some cost hardly more."""
    rng = np.random.default_rng(4)
    minutes = rng.gamma(2, 8, 6_000)
    apart = rng.normal(11, 2, 6_000)
    apart[:60] = np.append(np.linspace(-reach, -0.1, 30), np.linspace(0.1, 1.5 * reach, 30))
    assert rules.order(minutes, minutes + apart, are_moments=False) is None
    apart[:60] = np.where(apart[:60] < 0, -reach, 10)
    assert rules.order(minutes, minutes + apart, are_moments=False) is not None


def test_a_duration_is_told_where_it_is_much_tighter_than_its_moments() -> None:
    rng = np.random.default_rng(1)
    start = rng.integers(0, 700, 400).astype(float)
    days = rng.integers(1, 10, 400).astype(float)
    days[7], days[8] = 214, math.nan
    found = rules.duration(start, start + days, (1.0,))
    assert found is not None
    assert found.ends == (1, 9)
    assert found.least is None
    residuals = found.residuals(start, start + days)
    assert residuals[7] == pytest.approx(2.5 * (214 - found.middle) / (9 - found.middle))
    assert np.isnan(residuals[8])
    assert np.nanmax(np.abs(np.delete(residuals, 7))) <= 2.5 + 1e-9
    assert rules.duration(start, rng.uniform(0, 700, 400), (1.0,)) is None


def test_skewed_durations_are_told_by_logarithms() -> None:
    rng = np.random.default_rng(1)
    start, length = rng.uniform(0, 1e5, 1_000), rng.lognormal(1, 1, 1_000)
    found = rules.duration(start, start + length, (1.0,))
    assert found is not None
    assert found.least is not None
    assert np.abs(found.residuals(start, start + length)).max() < 6
    plain = rules.duration(start, start + rng.normal(10, 1, 1_000), (1.0,))
    assert plain is not None
    assert plain.least is None


def test_a_fixed_duration_is_broken_by_a_single_unit() -> None:
    start = np.random.default_rng(1).integers(0, 700, 400).astype(float)
    end = start + 30
    end[7] += 1
    found = rules.duration(start, end, (7.0, 1.0))
    assert found is not None
    assert found.ends == (30, 30)
    assert found.residuals(start, end)[[6, 7]].tolist() == [0, 30]


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
    assert f"expected city {own[4] % 20} where zip = " in details
    assert f"where zip = {zips[own[4]]}, as in " in details


def test_dates_in_the_wrong_order_are_told() -> None:
    rng = np.random.default_rng(4)
    ordered = np.datetime64("2024-01-01") + rng.integers(0, 300, 800).astype("timedelta64[D]")
    shipped = ordered + rng.integers(0, 5, 800).astype("timedelta64[D]")
    shipped[9] = ordered[9] - np.timedelta64(3, "D")
    found = outlying.explain({"ordered": ordered, "shipped": shipped}, row=9)
    assert found.exceptional
    details = " ".join(pair.detail or "" for story in found.stories for pair in story.pairs)
    assert f"before ordered = {ordered[9]}, unlike 799 of 800 rows" in details


_DATED = np.datetime64("2024-01-01T00:00:00.000000")


def _dated(seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    ordered = rng.integers(0, 700, 600)
    shipped = ordered + rng.integers(1, 10, 600)
    shipped[5] = ordered[5] + 214
    paid = shipped + rng.integers(5, 30, 600)
    days = {"shipped": shipped, "ordered": ordered, "paid": paid}
    return {name: _DATED + day.astype("timedelta64[D]") for name, day in days.items()}


def test_a_long_time_between_two_dates_is_told() -> None:
    table = _dated(3)
    found = outlying.explain(table, row=5)
    headline = found.stories[0].headline
    ordered = str(table["ordered"][5])[:10]
    assert headline.said == f"214 days after ordered = {ordered} 00:00, expected 1 to 9 days"
    assert set(found.stories[0].columns) == {"ordered", "shipped"}
    assert found.exceptional
    assert headline.expected is not None
    low, high = headline.expected
    assert [end - table["ordered"][5].item() for end in (low, high)] == [
        dt.timedelta(days=1),
        dt.timedelta(days=9),
    ]
    durations = [item for item in found.population.relations if item.kind == "duration"]
    assert [(item.column, item.given) for item in durations] == [
        ("paid", ("shipped",)),
        ("shipped", ("ordered",)),
    ]
    assert durations[1].sentence == "shipped is 1 to 9 days after ordered"
    assert not [item for item in found.population.relations if item.kind == "fit"]


def test_durations_do_not_depend_on_order_names_or_source() -> None:
    table = _dated(3)
    own = outlying.explain(table, row=5).stories[0]
    order = np.random.default_rng(0).permutation(600)
    mixed = {name: column[order] for name, column in reversed(table.items())}
    assert outlying.explain(mixed, row=int(np.flatnonzero(order == 5)[0])).stories[0] == own
    named = {f"z{len(name)}{name[::-1]}": column for name, column in table.items()}
    assert outlying.explain(named, row=5).stories[0].strength == own.strength
    dates = {name: column.astype("datetime64[D]") for name, column in table.items()}
    assert outlying.explain(dates, row=5).stories[0].strength == own.strength
    late = {name: value[5].item() for name, value in dates.items()}
    new = outlying.explain(dates, object=late)
    assert "214 days after ordered" in str(new)


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
    assert f"where account = A{accounts[row]:03d} (8 rows)" in detail


def test_flags_of_which_exactly_one_is_set_are_one_category() -> None:
    rng = np.random.default_rng(0)
    own = rng.choice(4, 2_000, p=[0.5, 0.3, 0.15, 0.05])
    flags = np.eye(4)[own]
    rare = rng.random((2_000, 3)) < [0.01, 0.04, 0.5]
    table = np.column_stack([rare[:, 0], flags[:, ::-1], rare[:, 1:]]).astype(float)
    table[11, 1:5] = 0  # two rows are wrong
    table[12, 1:3] = 1
    assert rules.one_hot(table) == [(1, 2, 3, 4)]
    assert rules.one_hot(table[:, 2:]) == []  # one of the four is missing
    assert rules.one_hot((rng.random((2_000, 6)) < 0.2).astype(float)) == []
