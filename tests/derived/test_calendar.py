"""Parts of dates and times: those of Python's own calendar, and a circle that is cut open well."""

from __future__ import annotations

import calendar
import datetime as dt
from collections.abc import Callable, Sequence
from pathlib import Path

import duckdb
import numpy as np
import pyarrow
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import outlying
from outlying.derived.calendar import (
    MINUTE,
    MINUTES,
    CalendarDerivation,
    CalendarFacts,
    calendar_derivations,
)
from outlying.table.columns import Column, numeric_column
from outlying.table.table import Part
from outlying.table.values import number_of

MOMENTS = st.datetimes(dt.datetime(1800, 1, 1), dt.datetime(2200, 1, 1))


def column_of(moments: list[dt.datetime | None]) -> Column:
    numbers = [np.nan if each is None else number_of("datetime", each) for each in moments]
    return numeric_column("when", numbers, "datetime")


@given(st.lists(MOMENTS | st.none(), max_size=20), st.integers(0, MINUTES - 1))
def test_parts_are_those_of_the_calendar(moments: list[dt.datetime | None], cut: int) -> None:
    column = column_of(moments)
    parts = {
        part: CalendarDerivation("when", part, cut).column({"when": column})
        for part in (Part.HOUR, Part.WEEKDAY, Part.DAY, Part.MONTH)
    }
    for row, moment in enumerate(moments):
        found = [parts[part].value(row) for part in parts]
        if moment is None:
            assert found == [None] * 4
        else:
            time = moment.time().replace(second=0, microsecond=0)
            weekday = calendar.day_name[moment.weekday()]
            assert found == [time, weekday, moment.day, calendar.month_name[moment.month]]


@given(st.lists(st.integers(0, MINUTES - 1), min_size=1, max_size=40))
def test_the_cut_is_in_the_longest_empty_stretch(minutes: list[int]) -> None:
    """No two neighbours on the clock are torn apart that are nearer than the longest gap."""
    facts = CalendarFacts.of(np.array(minutes) * MINUTE)
    line = sorted((minute - facts.cut) % MINUTES for minute in minutes)
    clock = sorted(set(minutes))
    gaps = np.diff([*clock, clock[0] + MINUTES])
    assert line[0] + MINUTES - line[-1] >= max(gaps) - 10  # the steps are of five minutes


def test_near_midnight_is_near_on_the_line() -> None:
    minutes = np.array([*range(22 * 60, 24 * 60), *range(120)])
    facts = CalendarFacts.of(minutes * MINUTE)
    derived = CalendarDerivation("when", Part.HOUR, facts.cut)
    moments = [dt.datetime(2024, 1, 1, 23, 50), dt.datetime(2024, 1, 2, 0, 10)]
    column = derived.column({"when": column_of(list(moments))})
    assert column.is_numeric
    assert float(column.values[1] - column.values[0]) == 20 * MINUTE


def test_hours_say_nothing_of_hours(tmp_path: Path) -> None:
    """A trip across midnight, or where the circle is cut, is as ordinary as others."""
    rng, rows = np.random.default_rng(3), 6000
    minutes = (rng.normal(14 * 60, 300, rows) % MINUTES).astype(int)
    start = np.datetime64("2024-05-01T00:00") + rng.integers(0, 30, rows) * MINUTES + minutes
    ends = {"start": start, "end": start + rng.integers(5, 30, rows)}
    table = pyarrow.table({name: own.astype("datetime64[s]") for name, own in ends.items()})
    pq.write_table(table, tmp_path / "trips.parquet")
    for source in (table, outlying.scan(tmp_path / "trips.parquet")):
        found = outlying.detect(source)
        assert found.counts is not None
        assert found.counts.exceptional == 0
    for findings in outlying.explain_many(table, rows=np.argsort(minutes)[:20].tolist()):
        for pair in findings.pairs:
            own = pair.property.partition(" (")[2]
            others = {item.attribute.partition(" (")[2] for item in pair.conditions}
            assert not own or own not in others


@pytest.mark.parametrize(
    ("days", "hours", "expected"),
    [
        (1, 24, []),  # within a day the hour tells no more than the moment
        (10, 24, ["when (hour)"]),
        (40, 1, ["when (weekday)"]),
        (200, 1, ["when (weekday)", "when (day of month)"]),
        (1000, 1, ["when (weekday)", "when (day of month)", "when (month)"]),
    ],
)
def test_only_what_repeats_is_a_part(days: int, hours: int, expected: list[str]) -> None:
    start = dt.datetime(2024, 1, 1)
    moments = [
        start + dt.timedelta(days=day % days, hours=hour)
        for day in range(max(days, 40))
        for hour in range(hours)
    ]
    column = column_of(list(moments))
    assert column.is_numeric
    facts = CalendarFacts.of(column.values)
    assert [each.name for each in calendar_derivations("when", "datetime", facts)] == expected
    assert not any(each.part is Part.HOUR for each in calendar_derivations("when", "date", facts))


@given(st.lists(MOMENTS, max_size=20), st.lists(MOMENTS, max_size=20))
def test_facts_of_parts_of_a_table_are_those_of_all(
    first: list[dt.datetime], second: list[dt.datetime]
) -> None:
    facts = [
        CalendarFacts.of(np.array([number_of("datetime", each) for each in some], dtype=float))
        for some in (first, second, [*second, *first])
    ]
    for merged in (facts[0].merged(facts[1]), facts[1].merged(facts[0])):
        assert merged.days.tolist() == facts[2].days.tolist()
        assert merged.minutes.tolist() == facts[2].minutes.tolist()


@pytest.mark.parametrize(
    ("hours", "is_circle"),
    [
        ((18, 19, 20, 21, 22, 23, 0, 1), True),
        ((8, 9, 10, 11, 12), False),
        ((0, 1, 2), False),  # durations that are held as times stay in their order
        ((0, 23), True),
        (range(24), True),
    ],
)
def test_times_of_day_across_midnight_lie_on_a_circle(
    hours: Sequence[int], is_circle: bool
) -> None:
    times = [dt.time(hour, 7 * n % 60, n % 60) for n in range(60) for hour in hours]
    column = numeric_column("at", [number_of("time", time) for time in times], "time")
    found = list(calendar_derivations("at", "time", CalendarFacts.of(column.values)))
    assert [each.name for each in found] == (["at (hour)"] if is_circle else [])
    for each in found:
        line = each.column({"at": column})
        assert line.is_numeric
        assert [line.value(row) for row in range(len(times))] == times  # to the second
        low, high = each.ends
        assert low <= line.values.min() <= line.values.max() <= high


def _departures(rows: int = 3_000, seed: int = 0) -> dict[str, np.ndarray]:
    """Return hours and minutes as whole numbers: by day around 9, at night around midnight."""
    rng = np.random.default_rng(seed)
    at_night = rng.random(rows) < 0.3
    minutes = np.where(at_night, rng.normal(1430, 30, rows), rng.normal(540, 40, rows))
    minutes = minutes.astype(int) % MINUTES
    return {
        "dep": minutes // 60 * 100 + minutes % 60,
        "kind": np.where(at_night, "night", "day"),
        "delay": rng.gamma(1, 10, rows).round(2),
    }


def _as_written(table: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return hours and minutes as texts of four digits: 0312."""
    return table | {"dep": np.char.zfill(table["dep"].astype(str), 4)}


@pytest.mark.parametrize("write", [dict, _as_written])
def test_hours_and_minutes_without_a_colon_lie_on_a_circle(
    write: Callable[[dict[str, np.ndarray]], dict[str, np.ndarray]],
) -> None:
    table = _departures()
    table["dep"][[7, 8]], table["kind"][[7, 8]] = (2, 1300), ("night", "night")
    explainer = outlying.Explainer(write(table))
    odd = explainer.explain(row=8)
    assert odd.exceptional
    assert odd.stories[0].headline.property == "dep (hour)"
    assert any(note.startswith("dep: read as hours and minutes") for note in odd.notes)
    ordinary = explainer.explain(row=7)  # 00:02 follows 23:59
    assert not ordinary.exceptional


@pytest.mark.parametrize("write", [dict, _as_written])
def test_what_is_no_time_among_hours_and_minutes_is_told(
    few_drawn: int, write: Callable[[dict[str, np.ndarray]], dict[str, np.ndarray]]
) -> None:
    table = _departures(2 * few_drawn)
    table["dep"][7] = 1275
    table = write(table)
    frame = pyarrow.table(table)
    memory = outlying.explain(frame, row=7)
    assert memory.stories[0].headline.said == (
        f"is no time of day, in a column of {len(frame) - 1:,} times"
    )
    stream = outlying.explain(duckdb.from_arrow(frame), where={"dep": table["dep"][7].item()})
    assert stream.stories[0].headline.said == memory.stories[0].headline.said
    declared = outlying.explain(table, row=7, types={"dep": "numeric"})
    assert not any(item.name.startswith("dep") for item in declared.population.derived_columns)


def test_texts_that_are_declared_as_categories_are_no_hours_and_minutes() -> None:
    table = _as_written(_departures())
    table["dep"] = np.append(table["dep"][1:], "late")  # one text that is no time tells nothing
    found = outlying.Explainer(table).explain(row=0).population
    assert [item.name for item in found.derived_columns if item.name == "dep (hour)"]
    declared = outlying.explain(table, row=0, types={"dep": "categorical"}).population
    assert not any(item.name.startswith("dep") for item in declared.derived_columns)


@pytest.mark.parametrize(
    "numbers",
    [
        [100 * floor + room for floor in range(1, 20) for room in range(1, 31)],  # rooms
        range(1900, 2025),
        range(0, 2400, 25),
        range(60),
        [100 * hour for hour in range(24)],
    ],
)
def test_other_whole_numbers_are_no_hours_and_minutes(numbers: Sequence[int]) -> None:
    assert not CalendarFacts.of_clock(np.repeat(np.array(numbers, dtype=float), 20)).is_clock
