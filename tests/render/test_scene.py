"""What pictures show: axes that hold what matters, logarithmic only where the data call for it."""

from __future__ import annotations

import dataclasses
import datetime as dt
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import outlying
from outlying.render import scene
from outlying.render.axis import Axis
from outlying.render.shapes import Line
from outlying.render.text import sparkline, text_width, wrapped
from tests import naive, strategies

RNG = np.random.default_rng(7)
OTHER = np.random.default_rng(17)


def chart_of(values: Any, choice: Any = "auto", row: int | None = None) -> scene.AnyChart:
    """Chart one value, by default the last, among all."""
    row = len(values) - 1 if row is None else row
    pair = outlying.explain({"v": values}, row=row).pairs[0]
    assert pair.picture is not None
    return scene.property_chart(pair, pair.picture, choice)


def density_of(values: Any, choice: Any = "auto") -> scene.Chart:
    """Chart the value that is farthest from the others."""
    numbers = [float(value) if isinstance(value, float) else value.toordinal() for value in values]
    far = int(np.argmax(np.abs(np.array(numbers) - np.median(numbers))))
    chart = chart_of(values, choice, far)
    assert isinstance(chart, scene.Chart)
    assert chart.kind == "density"
    return chart


@pytest.mark.parametrize(
    ("values", "is_log", "breaks"),
    [
        (RNG.lognormal(3, 1.5, 400), True, 0),
        (RNG.exponential(10, 400), True, 0),
        ([*RNG.normal(100, 5, 400), 9000.0], False, 1),
        ([*RNG.normal(100, 5, 400), 2.0], False, 0),
        (RNG.uniform(0, 1, 400), False, 0),
        (RNG.normal(100, 5, 400), False, 0),
        (RNG.normal(0, 1, 400), False, 0),
        ([*RNG.normal(0, 1, 400), 9000.0], False, 1),
        ([*[-999.0] * 40, *OTHER.normal(0, 1, 360), 9e6], False, 2),
        ([*[5.0] * 400, 9000.0], False, 0),
        (-RNG.lognormal(3, 1.5, 400), False, 1),
    ],
    ids=[
        "lognormal",
        "exponential",
        "up",
        "down",
        "uniform",
        "normal",
        "signed",
        "far",
        "sentinel",
        "constant",
        "under",
    ],
)
def test_the_data_decide_on_the_axis(values: Any, is_log: bool, breaks: int) -> None:
    """A skewed column is logarithmic; an axis is broken where a few values are far from all."""
    axis = density_of([float(value) for value in values]).axis
    assert (axis.is_log, len(axis.breaks)) == (is_log, breaks)


def test_one_column_has_one_scale() -> None:
    """Whichever row is drawn, and in whichever group: the whole column decides."""
    for skewed in (True, False):
        kinds = np.repeat(["a", "b"], 200)
        pay = OTHER.lognormal(3, 1.5, 400) if skewed else OTHER.normal(100, 5, 400)
        pay[:3] = 900.0, 9000.0, 90.0
        table = {"kind": kinds, "pay": pay, "age": OTHER.normal(size=400)}
        table["age"][:30] = 30.0
        charts = [
            chart
            for found in outlying.explain_many(table, rows=[0, 1, 2, 3, 250])
            for pair in found.pairs
            for chart in drawn(pair)
            if isinstance(chart, scene.Chart) and chart.name == "pay"
        ]
        assert len(charts) >= 3
        assert {chart.axis.is_log for chart in charts} == {skewed}


def drawn(pair: outlying.Pair) -> list[scene.AnyChart]:
    assert pair.picture is not None
    return [scene.property_chart(pair, pair.picture), *scene.strips(pair, pair.picture)]


@pytest.mark.parametrize("far", [0.2, 120.0, 5e6])
@pytest.mark.parametrize("sign", [1, -1])
def test_an_axis_fits_the_group_and_the_row(far: float, sign: int) -> None:
    """Neither is it squashed by the tail of the table, nor goes it beyond the sign of the data."""
    city = np.repeat(["A", "B"], 300)
    pay = np.where(city == "A", OTHER.normal(40, 4, 600), OTHER.normal(45, 14, 600).clip(1))
    pay[:1], pay[400:404] = far, [7e6, 8e6, 3e6, 9e6]
    found = outlying.explain({"city": city, "pay": sign * pay}, row=0, derive=False).pairs
    pair = next(item for item in found if item.property == "pay" and item.conditions)
    (chart, *_) = drawn(pair)
    assert isinstance(chart, scene.Chart)
    assert chart.kind == "density"
    ends = sorted((sign * chart.axis.low, sign * chart.axis.high))
    assert ends[0] >= 0
    assert ends[1] < 1.2 * far + 200
    low, high = chart.kept[0][0], chart.kept[-1][1]
    assert chart.axis.place(high) - chart.axis.place(low) > 0.06
    assert 0 < chart.axis.place(chart.mark) < 1
    assert chart.axis.is_cut


def test_a_broken_axis_shows_both_parts_in_one_scale() -> None:
    axis = Axis(((0.0, 10.0), (95.0, 105.0)), is_log=False, form="number", is_cut=False)
    ((start, stop),) = axis.breaks
    assert start == pytest.approx(axis.place(10.0)) == pytest.approx(1 - axis.place(95.0))
    assert stop == pytest.approx(axis.place(95.0))
    assert axis.place(5.0) == pytest.approx(axis.place(100.0) - axis.place(95.0))
    assert start < axis.place(50.0) < stop
    assert [tick.text for tick in axis.ticks(6, 120)] == ["0", "5", "10", "95", "100", "105"]


@pytest.mark.parametrize(
    ("axis", "ticks"),
    [
        (Axis(((0.0, 52_000.0),), False, "number", False), "0 10,000 20,000 30,000 40,000 50,000"),
        (Axis(((0.18, 0.92),), False, "number", False), "0.2 0.4 0.6 0.8"),
        (Axis(((-3.0, 3.0),), False, "number", False), "-3 -2 -1 0 1 2 3"),
        (Axis(((1.0, 3.0),), False, "integer", False), "1 2 3"),
        (Axis(((1900.0, 2020.0),), False, "integer", False), "1900 1920 1940 1960 1980 2000 2020"),
        (Axis(((0.5, 3000.0),), True, "number", False), "1 10 100 1000"),
        (Axis(((30.0, 150.0),), True, "number", False), "40 60 80 100 120 140"),
        (Axis(((2.0, 300.0),), True, "number", False), "2 5 10 20 50 100 200"),
    ],
)
def test_ticks_are_round(axis: Axis, ticks: str) -> None:
    assert " ".join(tick.text for tick in axis.ticks()) == ticks


def test_the_user_decides_on_the_axis() -> None:
    values = RNG.lognormal(3, 1.5, 400)
    assert not density_of(values, "linear").axis.is_log
    assert density_of(RNG.uniform(1, 90, 400), "log").axis.is_log
    assert not density_of(RNG.normal(0, 1, 400), "log").axis.is_log


def windowed(values: Any, near: int = 1, **fields: Any) -> scene.Chart:
    """Chart the last value as one that is rarest at a scale."""
    pair = outlying.explain({"v": values}, row=len(values) - 1).pairs[0]
    pair = dataclasses.replace(pair, near=near, **fields)
    assert pair.picture is not None
    chart = scene.property_chart(pair, pair.picture)
    assert isinstance(chart, scene.Chart)
    assert chart.kind == "density"
    return chart


def window_of(chart: scene.Chart) -> tuple[float, float]:
    """Return where the window around the object begins and ends."""
    (window,) = chart.of_role("window")
    return float(window.x[0]), float(window.x[-1])


def test_the_window_around_the_object_is_shown_where_it_is_wide() -> None:
    values = [*RNG.normal(0, 1, 400), 9.0]
    chart = windowed(values, scale=8, reach=2.57)
    assert window_of(chart) == pytest.approx((chart.axis.place(6.43), chart.axis.place(11.57)))
    assert chart.window_text == "no other row within 2.5"
    assert windowed(values, scale=8, reach=2.5, near=2).window_text == "one other row within 2.5"
    assert windowed(values, scale=8, reach=2.5, near=5).window_text == "4 other rows within 2.5"
    for scale, reach in ((1, 2.5), (8, None)):
        chart = windowed(values, scale=scale, reach=reach)
        assert not chart.of_role("window")
        assert chart.window_text == ""


def test_the_window_of_a_group_is_about_the_group() -> None:
    city = ["A"] * 150 + ["B"] * 150 + ["A"]
    temp = [*RNG.normal(30, 1, 150), *RNG.normal(5, 1, 150), 5.2]
    found = outlying.explain({"city": city, "temp": temp}, row=300).pairs
    pair = next(item for item in found if item.property == "temp" and item.conditions)
    pair = dataclasses.replace(pair, scale=4, near=1, reach=3.0)
    assert pair.picture is not None
    chart = scene.property_chart(pair, pair.picture)
    assert isinstance(chart, scene.Chart)
    assert chart.kind == "density"
    assert chart.window_text == "no other row of the group within 3"


def test_the_window_of_a_date_is_in_days() -> None:
    start = dt.date(2024, 1, 1)
    days = [start + dt.timedelta(int(day)) for day in RNG.integers(0, 90, 400)]
    chart = windowed([*days, dt.date(2026, 1, 1)], scale=16, reach=30 * 86_400.0)
    low, high = (chart.mark + side * 30 * 86_400e6 for side in (-1, 1))
    assert window_of(chart) == pytest.approx((chart.axis.place(low), chart.axis.place(high)))
    assert chart.window_text == "no other row within 30 days"


def test_far_values_of_others_are_cut_and_said() -> None:
    values = [*RNG.normal(0, 1, 2000), *[-60.0] * 4, 8.0]
    chart = chart_of(values)
    assert isinstance(chart, scene.Chart)
    assert chart.kind == "density"
    axis = chart.axis
    assert axis.is_cut
    assert -10 < axis.low < 0
    assert not density_of([*RNG.normal(0, 1, 400), 3.0]).axis.is_cut


def test_the_object_is_in_the_picture_however_far() -> None:
    chart = density_of([*RNG.normal(0, 1, 400), -1e6])
    assert 0 < chart.axis.place(chart.mark) < 0.1
    assert chart.mark_text == "-1,000,000"


def test_dates_are_written_as_dates() -> None:
    days = [dt.date(2024, 1, 1) + dt.timedelta(days=int(i)) for i in RNG.integers(0, 60, 200)]
    chart = density_of([*days, dt.date(2024, 9, 9)])
    assert chart.mark_text == "2024-09-09"
    assert all(end.startswith("202") for end in chart.axis.ends)
    assert chart.kept_text.startswith("2024-0")


def test_an_axis_ends_where_its_values_do() -> None:
    """There is no year 10000, and no time of day before midnight."""
    rng = np.random.default_rng(7)
    days = [dt.date(2024, 1, 1) + dt.timedelta(days=int(i)) for i in rng.integers(0, 60, 200)]
    assert density_of([*days, dt.date.max]).axis.ends[1] == "9999-12-31"
    assert density_of([*days, dt.date.min]).axis.ends[0] == "0001-01-01"
    hours = [dt.time(int(h), int(m)) for h, m in rng.integers((0, 0), (5, 60), (200, 2))]
    last = chart_of([*(time.replace(hour=time.hour + 19) for time in hours), dt.time(9, 50)])
    assert isinstance(last, scene.Chart)
    assert last.axis.ends[1] == "23:59"
    chart = chart_of([*hours, dt.time(23, 50)])  # a circle
    assert isinstance(chart, scene.Chart)
    assert chart.kind == "density"
    assert chart.axis.ends == ("23:41", f"{max(hours):%H:%M}")


@pytest.mark.parametrize(
    ("seconds", "low", "high"),
    [
        (1e-3, "2023-12-31 23:59:59.999850", "2024-01-01 00:00:00.005150"),
        (5.0, "2023-12-31 23:59:59.250", "2024-01-01 00:00:25.750"),
        (3600.0, "2023-12-31 23:51", "2024-01-01 05:09"),
        (1e6, "2023-12-30 06:00", "2024-02-29 15:00"),
        (1e8, "2023-07-11", "2040-04-27"),
    ],
)
def test_the_ends_are_as_exact_as_the_axis_can_be_read(seconds: float, low: str, high: str) -> None:
    begin = dt.datetime(2024, 1, 1)
    moments = [
        begin + dt.timedelta(seconds=share * seconds) for share in (*np.linspace(0, 1, 200), 5)
    ]
    chart = chart_of(moments)
    assert isinstance(chart, scene.Chart)
    assert chart.kind == "density"
    assert chart.axis.ends == (low, high)


def test_an_instant_names_its_zone_however_exact() -> None:
    begin = dt.datetime(2024, 1, 1, tzinfo=dt.UTC)
    steps = [*RNG.integers(0, 900, 200), 5001]
    chart = chart_of([begin + dt.timedelta(microseconds=int(step)) for step in steps])
    assert isinstance(chart, scene.Chart)
    assert chart.kind == "density"
    assert chart.mark_text == "2024-01-01 00:00:00.005001 UTC"
    assert all(end.endswith(" UTC") for end in chart.axis.ends)


def test_whole_numbers_are_rounded_not_cut() -> None:
    chart = chart_of([1] * 30 + [2] * 5 + [3])
    assert isinstance(chart, scene.Chart)
    assert chart.kind == "density"
    assert chart.axis.ends == ("1", "3")


def test_durations_keep_their_sign_in_front() -> None:
    seconds = [*RNG.normal(0, 900, 200), -86_400.0]
    chart = chart_of([dt.timedelta(seconds=value) for value in seconds])
    assert isinstance(chart, scene.Chart)
    assert chart.kind == "density"
    assert chart.axis.ends[0].startswith("-1 day, 0:")
    assert chart.kept_text.startswith("-0:")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("unit", [1.7e308, 1e300, 1e-300, 1e-321])
@pytest.mark.parametrize("least", [-1.0, 0.1])
def test_huge_and_tiny_numbers_have_their_place(unit: float, least: float) -> None:
    chart = chart_of([float(x) for x in np.append(RNG.uniform(least, 0.5, 300), 1) * unit])
    assert isinstance(chart, scene.Chart)
    assert chart.kind == "density"
    assert 0.9 < chart.axis.place(chart.mark) <= 1
    assert inside_of(chart).y.max() == pytest.approx(1.0)
    check_line(inside_of(chart))
    low, high = (float(end) for end in chart.axis.ends)
    assert low < high


def test_categories_become_bars_with_the_object_marked() -> None:
    chart = chart_of([*"aaabbb" * 30, "z"])
    assert isinstance(chart, scene.BarChart)
    assert [(bar.label, bar.is_object) for bar in chart.bars] == [
        ("a", False),
        ("b", False),
        ("z", True),
    ]
    assert sum(bar.inside for bar in chart.bars) == pytest.approx(1.0)


def test_many_categories_are_summed_up() -> None:
    values = [f"k{code}" for code in RNG.integers(0, 30, 900)] + ["z"]
    chart = chart_of(values)
    assert isinstance(chart, scene.BarChart)
    assert chart.bars[-1].label == "23 other categories"
    assert sum(bar.inside for bar in chart.bars) == pytest.approx(1.0)


def test_true_is_not_the_text_true() -> None:
    chart = chart_of([False] * 60 + [True])
    assert isinstance(chart, scene.BarChart)
    assert [bar.label for bar in chart.bars if bar.is_object] == ["true"]


@settings(max_examples=80)
@given(
    table=strategies.tables(),
    place=st.integers(0, 1000),
    choice=st.sampled_from(["auto", "linear", "log"]),
)
def test_any_finding_can_be_drawn(table: strategies.Table, place: int, choice: Any) -> None:
    assume(any(naive.takes_part(cells) for cells in table.values()))
    rows = len(next(iter(table.values())))
    for pair in outlying.explain(dict(table), row=place % rows).pairs:
        assert pair.picture is not None
        chart = scene.property_chart(pair, pair.picture, choice)
        if isinstance(chart, scene.Chart) and chart.kind == "density":
            check_line(inside_of(chart))
            check_ticks(chart.axis)
            assert chart.axis.low <= chart.mark <= chart.axis.high
            assert all(chart.axis.low <= low <= high for low, high in chart.kept)
        (cdf,) = scene.cdf_chart(pair, pair.picture).of_role("steps")
        assert cdf.y[-1] == 1.0
        assert np.all(np.diff(cdf.x) >= 0)
        for strip in scene.strips(pair, pair.picture):
            if isinstance(strip, scene.Chart):
                (around,) = strip.of_role("around")
                check_line(around)
                check_line(inside_of(strip))
            else:
                assert any(bar.is_object for bar in strip.bars)
        assert all(text_width(line) <= 60 for line in sparkline(pair, 60))


def check_ticks(axis: Axis) -> None:
    places = [tick.place for tick in axis.ticks()]
    assert all(0 <= place <= 1 for place in places)
    assert places == sorted(places)
    assert len({tick.text for tick in axis.ticks()}) == len(places) <= 12


def inside_of(chart: scene.Chart) -> Line:
    """Return the curve of the group."""
    (inside,) = chart.of_role("inside")
    return inside


def check_line(line: Line) -> None:
    assert len(line.x) == len(line.y)
    assert np.all((line.x >= 0) & (line.x <= 1))
    assert np.all((line.y >= 0) & (line.y <= 1))
    assert np.all(np.diff(line.x) >= 0)


def test_the_areas_of_the_picture_are_those_of_the_finding() -> None:
    """The polygons that are filled enclose what the caption says."""
    data = {"v": [*RNG.normal(0, 1, 200), 9.0], "w": RNG.normal(0, 1, 201)}
    pair = outlying.explain(data, row=200).pairs[0]
    assert pair.picture is not None
    picture = pair.picture
    line = scene.cdf_line(picture.inside.ranked, scene.cdf_chart(pair, picture).axis.high)
    below, above = scene.cdf_parts(line, picture.densities[0])
    assert np.trapezoid(1 - above.y, above.x) == pytest.approx(picture.areas[0], rel=1e-6)
    assert np.trapezoid(below.y, below.x) == pytest.approx(picture.areas[1], abs=1e-9)


def test_sparks_mark_the_object() -> None:
    data = {"v": [*RNG.normal(0, 1, 200), 9.0]}
    pair = outlying.explain(data, row=200).pairs[0]
    bars, mark = sparkline(pair, 80)
    assert "█" in bars
    assert mark.endswith("9 ▲")
    assert abs(mark.index("▲") - max(i for i, char in enumerate(bars) if char == "▁")) <= 1
    assert sparkline(pair, 12) == []
    for width in range(30, 80):
        assert sparkline(pair, width)[1].endswith("9 ▲")


def test_bars_fit_a_narrow_terminal() -> None:
    pair = outlying.explain({"k": [*["東京"] * 150, *["大阪"] * 50, "z"]}, row=200).pairs[0]
    for width in range(20, 60):
        lines = sparkline(pair, width)
        assert len(lines) == 3
        assert lines[0].startswith("東京 █")
        assert all(text_width(line) <= width for line in lines)
    assert sparkline(pair, 12) == []


def test_wide_characters_take_two_cells() -> None:
    assert text_width("東京") == 4
    assert text_width("e\u0301") == 1


@given(
    st.text(st.sampled_from("ab 東京é\u0301"), max_size=200),
    st.integers(10, 40),
    st.sampled_from(["", "  ", "1. "]),
)
@example("aaaaa京京", 10, "  ")
@example("aaaaaaaaa 京京京京京京", 11, "")
def test_lines_are_filled_by_cells(text: str, width: int, margin: str) -> None:
    lines = wrapped(text, width, margin, "  ")
    assert all(text_width(line) <= width for line in lines.splitlines())
    assert "".join(lines.removeprefix(margin).split()) == "".join(text.split())
