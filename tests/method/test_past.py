"""Steps, runs, gaps and first times, against loops."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outlying.method import past
from outlying.method.past import Timeline
from tests import naive_relations as naive


def _events(seed: int, rows: int = 240) -> list[naive.Event]:
    """Return walks of several things at irregular times; some moments have two rows."""
    rng = np.random.default_rng(seed)
    things = rng.integers(5, size=rows)
    times = rng.choice(np.arange(4.0 * rows), size=rows)
    things[1], times[1] = things[0], times[0]
    walks = {thing: dict(enumerate(rng.normal(size=4 * rows).cumsum())) for thing in range(5)}
    values = [round(float(walks[k][int(t)]), 1) for k, t in zip(things, times, strict=True)]
    return list(zip(things.tolist(), times.tolist(), values, strict=True))


def _arrays(rows: list[naive.Event]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    things, times, values = zip(*rows, strict=True)
    return np.array(things, dtype=np.int32), np.array(times), np.array(values)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), back=st.booleans(), new=st.booleans())
def test_neighbours_suggest_what_loops_find(seed: int, back: bool, new: bool) -> None:
    rows = _events(seed)
    things, times, values = _arrays(rows)
    timeline = Timeline.of(things, times)
    held = timeline.values(things, times, values)
    steps = past.Steps(timeline, held, None, back, explained=1.0)
    asked = [(k, t + 0.5, v) for k, t, v in rows] if new else rows  # between known moments
    things, times, values = _arrays(asked)
    found = steps.expected(things, timeline.around(things, times), values)
    for row, own in zip(asked, found, strict=True):
        expected = naive.closest(rows, row, back=back)
        if expected is None:
            assert math.isnan(own)
        else:
            assert abs(own - row[2]) == pytest.approx(abs(expected - row[2]), abs=1e-9)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), back=st.booleans())
def test_runs_and_gaps_are_those_of_loops(seed: int, back: bool) -> None:
    rows = [(thing, time, float(round(value / 3))) for thing, time, value in _events(seed)]
    things, times, values = _arrays(rows)
    timeline = Timeline.of(things, times)
    held = timeline.values(things, times, values)
    rows = [row for row in rows if sum(row[:2] == other[:2] for other in rows) == 1]
    things, times, values = _arrays(rows)
    events = [(int(k), t, v) for k, t, v in zip(timeline.things, timeline.times, held, strict=True)]
    gaps = past.Gaps(timeline, np.zeros(5), 1.0)
    for row, length in zip(rows, gaps.lengths(things, times), strict=True):
        assert naive.since_last(events, row) == (None if math.isnan(length) else length)
    found = past.runs(timeline, held, only_before=back)
    if found is not None:
        for row, length in zip(rows, found.lengths(things, times, values), strict=True):
            assert naive.run_length(events, row, back=back) == length


def test_things_with_few_values_stand_still_by_chance() -> None:
    rng = np.random.default_rng(0)
    things, times = np.repeat(np.arange(20), 200).astype(np.int32), np.tile(np.arange(200.0), 20)
    values = rng.normal(50 * things, 10)
    values[:200] = rng.integers(0, 2, 200) + 5 * (rng.random(200) < 0.3)  # thing 0
    values[650:662] = values[650]
    found = past.runs(Timeline.of(things, times), values, only_before=False)
    assert found is not None
    assert found.lengths(things, times, values)[:200].max() > found.limits[-1]
    is_odd = found.residuals(things, times, values) > 0
    assert np.flatnonzero(is_odd).tolist() == list(range(650, 662))


def test_only_the_wrong_row_of_a_walk_is_blamed() -> None:
    rng = np.random.default_rng(3)
    things = np.repeat(np.arange(6), 100).astype(np.int32)
    times = np.tile(np.arange(100.0), 6)
    values = rng.normal(0, 0.3, (6, 100)).cumsum(axis=1).ravel()
    values[250] += 4
    for back in (False, True):
        timeline = Timeline.of(things, times)
        found = past.steps(timeline, values, None, only_before=back)
        assert found is not None
        residuals = np.abs(found.residuals(things, timeline.around(things, times), values))
        assert np.argmax(np.nan_to_num(residuals)) == 250
        assert np.nan_to_num(residuals)[[249, 251]].max() < residuals[250] / 2


def test_noise_moves_in_no_steps_and_never_stands_still() -> None:
    rng = np.random.default_rng(4)
    things = np.repeat(np.arange(10), 50).astype(np.int32)
    times, values = np.tile(np.arange(50.0), 10), rng.normal(size=500)
    timeline = Timeline.of(things, times)
    assert past.steps(timeline, values, None, only_before=False) is None
    runs = past.runs(timeline, values, only_before=False)
    assert runs is not None
    assert not runs.residuals(things, times, values).any()
    assert past.runs(timeline, np.round(values), only_before=False) is None  # chance repeats


def test_a_value_that_often_stands_still_may_do_so() -> None:
    rng = np.random.default_rng(5)
    values = rng.normal(size=1_000)
    for start in (20, 90, 200, 320):
        values[start : start + 9] = 0.0  # it does not rain
    values[150:162] = 1.25
    timeline = Timeline.of(np.zeros(1_000, dtype=np.int32), np.arange(1_000.0))
    found = past.runs(timeline, values, only_before=False)
    assert found is not None
    residuals = found.residuals(timeline.things, timeline.times, values)
    assert np.flatnonzero(residuals).tolist() == list(range(150, 162))


def test_a_label_that_a_thing_never_had() -> None:
    rng = np.random.default_rng(6)
    things = np.repeat(np.arange(20), 20).astype(np.int32)
    times = np.tile(np.arange(20.0), 20)
    labels = ((things + rng.integers(2, size=400)) % 12).astype(np.int32)
    labels[37] = 11 if things[37] < 9 else 0
    for back in (False, True):
        found = past.first_times(things, times, labels, 12, only_before=back)
        assert found is not None
        residuals = np.nan_to_num(found.residuals(things, times, labels))
        assert np.argmax(residuals) == 37
        one = np.array([1], dtype=np.int32), np.array([30.0]), np.array([12], dtype=np.int32)
        assert found.residuals(*one)[0] > 0  # a label that nobody had


def test_a_gap_in_regular_times_is_told_and_chance_is_not() -> None:
    rng = np.random.default_rng(7)
    things = np.repeat(np.arange(5), 60).astype(np.int32)
    times = np.tile(np.arange(60.0), 5)
    times[130:180] += 12
    timeline = Timeline.of(things, times)
    found = past.gaps(timeline)
    assert found is not None
    assert np.flatnonzero(np.nan_to_num(found.residuals(things, times)) > 5).tolist() == [130]
    chance = Timeline.of(things, rng.exponential(size=300).cumsum())
    assert past.gaps(chance) is None


def test_what_begins_again_and_again_is_no_slow_number() -> None:
    """Hours that begin again at 0 jump too often; the number of the hour does not."""
    times = np.arange(2_000.0)
    times = times[np.arange(2_000) % 97 != 5]  # rows are missing now and then
    timeline = Timeline.of(np.zeros(len(times), dtype=np.int32), times)
    assert past.steps(timeline, times % 24, None, only_before=False) is None
    slow = np.sin(times / 40) + np.random.default_rng(1).normal(0, 0.01, len(times))
    assert past.steps(timeline, slow, None, only_before=False) is not None


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), back=st.booleans())
def test_labels_are_first_where_loops_say_so(seed: int, back: bool) -> None:
    rng = np.random.default_rng(seed)
    things = rng.integers(6, size=240).astype(np.int32)
    times = rng.permutation(240).astype(np.float64)
    labels = ((things + (rng.random(240) < 0.2)) % 5).astype(np.int32)
    labels[rng.integers(240, size=2)] = 4
    found = past.first_times(things, times, labels, 5, only_before=back)
    if found is None:
        return
    rows = list(zip(things.tolist(), times.tolist(), map(str, labels.tolist()), strict=True))
    for row, own in zip(rows, found.residuals(things, times, labels), strict=True):
        is_first, count = naive.is_first(rows, row, back=back)
        expected = math.nan if count < 8 else (30.0 + count) * is_first
        assert own == pytest.approx(expected, nan_ok=True)


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_the_hour_of_the_day_adds_what_loops_find(seed: int) -> None:
    rng = np.random.default_rng(seed)
    things = rng.integers(4, size=600).astype(np.int32)
    hours = rng.integers(24, size=600).astype(np.int32)
    values = 3.0 * things + 5 * np.sin(hours / 4) + rng.normal(0, 0.4, 600)
    found = past.season(things, hours, values, None)
    assert found is not None
    rows = list(zip(things.tolist(), [0.0] * 600, values.tolist(), strict=True))
    expected = naive.profile(rows, hours.tolist())
    for hour in range(24):
        own = expected.get(hour, math.nan)
        assert found.profile[hour] == pytest.approx(own, nan_ok=True)
    left = values - found.profile[hours]
    assert np.allclose(found.without(hours, values), left)


def _meters(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    things = np.repeat(np.arange(6), 50).astype(np.int32)
    values = np.concatenate([rng.integers(1_000) + rng.integers(9, size=50).cumsum()] * 6)
    return things, np.tile(np.arange(50.0), 6), values.astype(np.float64)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), back=st.booleans(), falls=st.booleans())
def test_numbers_are_out_of_order_where_loops_say_so(seed: int, back: bool, falls: bool) -> None:
    things, times, values = _meters(seed)
    rng = np.random.default_rng(seed)
    values[rng.choice(300, 2)] += rng.choice([-400, 90], 2)
    sign = -1.0 if falls else 1.0
    timeline = Timeline.of(things, times)
    found = past.climb(timeline, sign * values, only_before=back)
    if found is None:
        return
    assert found.sign == sign
    rows = list(zip(things.tolist(), times.tolist(), values.tolist(), strict=True))
    residuals = found.residuals(things, timeline.around(things, times), sign * values)
    for row, own in zip(rows, residuals, strict=True):
        away = naive.out_of_order(rows, row, back=back)
        if math.isnan(own):
            assert back
        else:
            expected = math.copysign(30, away) + away / found.usual if away else 0.0
            assert sign * own == pytest.approx(expected)


def test_a_meter_that_goes_back_is_told_once_and_others_are_no_meters() -> None:
    things, times, values = _meters(0)
    timeline = Timeline.of(things, times)
    for row, away in ((120, -300.0), (120, 500.0)):
        wrong = values.copy()
        wrong[row] += away
        found = past.climb(timeline, wrong, only_before=False)
        assert found is not None
        residuals = found.residuals(things, timeline.around(things, times), wrong)
        assert np.flatnonzero(residuals).tolist() == [row]
    rng = np.random.default_rng(1)
    assert past.climb(timeline, rng.normal(size=300), only_before=False) is None
    assert past.climb(timeline, things * 5.0, only_before=False) is None  # nothing moves
    yearly = (np.arange(2_000) % 365).astype(np.float64)  # begins anew, as sums of a year do
    alone = Timeline.of(np.zeros(2_000, dtype=np.int32), np.arange(2_000.0))
    assert past.climb(alone, yearly, only_before=False) is None
