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
from outlying.render.text import sparkline, text_width, wrapped
from tests import naive, strategies

RNG = np.random.default_rng(7)


def chart_of(values: Any, choice: Any = "auto", row: int | None = None) -> scene.PropertyChart:
    """Chart one value, by default the last, among all."""
    row = len(values) - 1 if row is None else row
    pair = outlying.explain({"v": values}, row=row).pairs[0]
    assert pair.picture is not None
    return scene.property_chart(pair, pair.picture, choice)


def density_of(values: Any, choice: Any = "auto") -> scene.DensityChart:
    """Chart the value that is farthest from the others."""
    numbers = [float(value) if isinstance(value, float) else value.toordinal() for value in values]
    far = int(np.argmax(np.abs(np.array(numbers) - np.median(numbers))))
    chart = chart_of(values, choice, far)
    assert isinstance(chart, scene.DensityChart)
    return chart


@pytest.mark.parametrize(
    ("values", "is_log"),
    [
        (RNG.lognormal(3, 1.5, 400), True),
        (RNG.exponential(10, 400), True),
        ([*RNG.normal(100, 5, 400), 9000.0], True),
        ([*RNG.normal(100, 5, 400), 2.0], True),
        (RNG.uniform(0, 1, 400), False),
        (RNG.normal(100, 5, 400), False),
        (RNG.normal(0, 1, 400), False),
        ([*RNG.normal(0, 1, 400), 9000.0], False),
        (-RNG.lognormal(3, 1.5, 400), False),
    ],
    ids=["lognormal", "exponential", "up", "down", "uniform", "normal", "signed", "far", "under"],
)
def test_the_data_decide_on_a_logarithmic_axis(values: Any, is_log: bool) -> None:
    assert density_of(values).axis.is_log is is_log


def test_the_user_decides_on_the_axis() -> None:
    values = RNG.lognormal(3, 1.5, 400)
    assert not density_of(values, "linear").axis.is_log
    assert density_of(RNG.uniform(1, 90, 400), "log").axis.is_log
    assert not density_of(RNG.normal(0, 1, 400), "log").axis.is_log


def windowed(values: Any, near: int = 1, **fields: Any) -> scene.DensityChart:
    """Chart the last value as one that is rarest at a scale."""
    pair = outlying.explain({"v": values}, row=len(values) - 1).pairs[0]
    pair = dataclasses.replace(pair, near=near, **fields)
    assert pair.picture is not None
    chart = scene.property_chart(pair, pair.picture)
    assert isinstance(chart, scene.DensityChart)
    return chart


def test_the_window_around_the_object_is_shown_where_it_is_wide() -> None:
    values = [*RNG.normal(0, 1, 400), 9.0]
    chart = windowed(values, scale=8, reach=2.57)
    assert chart.window == pytest.approx((6.43, 11.57))
    assert chart.window_text == "no other row within 2.5"
    assert windowed(values, scale=8, reach=2.5, near=2).window_text == "one other row within 2.5"
    assert windowed(values, scale=8, reach=2.5, near=5).window_text == "4 other rows within 2.5"
    for scale, reach in ((1, 2.5), (8, None)):
        chart = windowed(values, scale=scale, reach=reach)
        assert chart.window is None
        assert chart.window_text == ""


def test_the_window_of_a_group_is_about_the_group() -> None:
    city = ["A"] * 150 + ["B"] * 150 + ["A"]
    temp = [*RNG.normal(30, 1, 150), *RNG.normal(5, 1, 150), 5.2]
    found = outlying.explain({"city": city, "temp": temp}, row=300).pairs
    pair = next(item for item in found if item.property == "temp" and item.conditions)
    pair = dataclasses.replace(pair, scale=4, near=1, reach=3.0)
    assert pair.picture is not None
    chart = scene.property_chart(pair, pair.picture)
    assert isinstance(chart, scene.DensityChart)
    assert chart.window_text == "no other row of the group within 3"


def test_the_window_of_a_date_is_in_days() -> None:
    start = dt.date(2024, 1, 1)
    days = [start + dt.timedelta(int(day)) for day in RNG.integers(0, 90, 400)]
    chart = windowed([*days, dt.date(2026, 1, 1)], scale=16, reach=30 * 86_400.0)
    assert chart.window is not None
    low, high = chart.window
    assert high - low == 60 * 86_400e6
    assert chart.window_text == "no other row within 30 days"


def test_far_values_of_others_are_cut_and_said() -> None:
    values = [*RNG.normal(0, 1, 2000), *[-60.0] * 4, 8.0]
    chart = chart_of(values)
    assert isinstance(chart, scene.DensityChart)
    axis = chart.axis
    assert axis.is_cut
    assert -10 < axis.low < 0
    assert not density_of([*RNG.normal(0, 1, 400), 3.0]).axis.is_cut


def test_the_object_is_in_the_picture_however_far() -> None:
    chart = density_of([*RNG.normal(0, 1, 400), -1e6])
    assert 0 < chart.axis.place(chart.mark) < 0.1
    assert chart.mark_text == "-1000000"


def test_dates_are_written_as_dates() -> None:
    days = [dt.date(2024, 1, 1) + dt.timedelta(days=int(i)) for i in RNG.integers(0, 60, 200)]
    chart = density_of([*days, dt.date(2024, 9, 9)])
    assert chart.mark_text == "2024-09-09"
    assert all(end.startswith("202") for end in chart.axis.ends)
    assert chart.typical_text.startswith("2024-0")


def test_an_axis_ends_where_its_values_do() -> None:
    """There is no year 10000, and no time of day before midnight."""
    days = [dt.date(2024, 1, 1) + dt.timedelta(days=int(i)) for i in RNG.integers(0, 60, 200)]
    assert density_of([*days, dt.date.max]).axis.ends[1] == "9999-12-31"
    assert density_of([*days, dt.date.min]).axis.ends[0] == "0001-01-01"
    hours = [dt.time(int(h), int(m)) for h, m in RNG.integers((0, 0), (5, 60), (200, 2))]
    last = chart_of([*(time.replace(hour=time.hour + 19) for time in hours), dt.time(9, 50)])
    assert isinstance(last, scene.DensityChart)
    assert last.axis.ends[1] == "23:59"
    chart = chart_of([*hours, dt.time(23, 50)])  # a circle
    assert isinstance(chart, scene.DensityChart)
    assert chart.axis.ends == ("23:41", "04:59")


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
    assert isinstance(chart, scene.DensityChart)
    assert chart.axis.ends == (low, high)


def test_an_instant_names_its_zone_however_exact() -> None:
    begin = dt.datetime(2024, 1, 1, tzinfo=dt.UTC)
    steps = [*RNG.integers(0, 900, 200), 5001]
    chart = chart_of([begin + dt.timedelta(microseconds=int(step)) for step in steps])
    assert isinstance(chart, scene.DensityChart)
    assert chart.mark_text == "2024-01-01 00:00:00.005001 UTC"
    assert all(end.endswith(" UTC") for end in chart.axis.ends)


def test_whole_numbers_are_rounded_not_cut() -> None:
    chart = chart_of([1] * 30 + [2] * 5 + [3])
    assert isinstance(chart, scene.DensityChart)
    assert chart.axis.ends == ("1", "3")


def test_durations_keep_their_sign_in_front() -> None:
    seconds = [*RNG.normal(0, 900, 200), -86_400.0]
    chart = chart_of([dt.timedelta(seconds=value) for value in seconds])
    assert isinstance(chart, scene.DensityChart)
    assert chart.axis.ends[0].startswith("-1 day, 0:")
    assert chart.typical_text.startswith("-0:")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("unit", [1.7e308, 1e300, 1e-300, 1e-321])
@pytest.mark.parametrize("least", [-1.0, 0.1])
def test_huge_and_tiny_numbers_have_their_place(unit: float, least: float) -> None:
    chart = chart_of([float(x) for x in np.append(RNG.uniform(least, 0.5, 300), 1) * unit])
    assert isinstance(chart, scene.DensityChart)
    assert 0.9 < chart.axis.place(chart.mark) <= 1
    assert chart.inside.y.max() == pytest.approx(1.0)
    check_line(chart.inside)
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
        if isinstance(chart, scene.DensityChart):
            check_line(chart.inside)
            assert chart.axis.low <= chart.mark <= chart.axis.high
            assert all(chart.axis.low <= low <= high for low, high in chart.typical)
        cdf = scene.cdf_chart(pair, pair.picture)
        assert cdf.inside.y[-1] == 1.0
        assert np.all(np.diff(cdf.inside.x) >= 0)
        for strip in scene.strips(pair, pair.picture):
            if isinstance(strip, scene.NumericStrip):
                check_line(strip.line)
                check_line(strip.kept)
            else:
                assert any(bar.is_object for bar in strip.bars)
        assert all(text_width(line) <= 60 for line in sparkline(pair, 60))


def check_line(line: scene.Line) -> None:
    assert len(line.x) == len(line.y)
    assert np.all((line.x >= 0) & (line.x <= 1))
    assert np.all((line.y >= 0) & (line.y <= 1))
    assert np.all(np.diff(line.x) >= 0)


def test_the_areas_of_the_picture_are_those_of_the_finding() -> None:
    """The polygons that are filled enclose what the caption says."""
    data = {"v": [*RNG.normal(0, 1, 200), 9.0], "w": RNG.normal(0, 1, 201)}
    pair = outlying.explain(data, row=200).pairs[0]
    assert pair.picture is not None
    chart = scene.cdf_chart(pair, pair.picture)
    above, below = chart.clipped(from_object=True), chart.clipped(from_object=False)
    assert np.trapezoid(1 - above.y, above.x) == pytest.approx(chart.above, rel=1e-6)
    assert np.trapezoid(below.y, below.x) == pytest.approx(chart.below, abs=1e-9)


def test_sparks_mark_the_object() -> None:
    data = {"v": [*RNG.normal(0, 1, 200), 9.0]}
    pair = outlying.explain(data, row=200).pairs[0]
    bars, mark = sparkline(pair, 80)
    assert "█" in bars
    assert mark.endswith("9.0 ▲")
    assert abs(mark.index("▲") - max(i for i, char in enumerate(bars) if char == "▁")) <= 1
    assert sparkline(pair, 12) == []
    for width in range(30, 80):
        assert sparkline(pair, width)[1].endswith("9.0 ▲")


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
