"""Plots: real matplotlib, the same bytes each time, and harmless texts."""

from __future__ import annotations

import dataclasses
import datetime as dt
import io
import itertools
import re
import subprocess
import sys
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import outlying
from outlying.errors import installed_as
from outlying.render import scene

RNG = np.random.default_rng(8)
PNG = b"\x89PNG"


@pytest.fixture(scope="module")
def findings() -> outlying.Findings:
    rng = np.random.default_rng(8)  # of its own: whatever tests ran before
    city = np.repeat(["A", "B"], 150)
    temp = np.where(city == "A", rng.normal(30, 1, 300), rng.normal(5, 1, 300))
    wind = np.where(city == "A", rng.normal(3, 1, 300), rng.normal(20, 2, 300))
    temp[0] = 5.2
    return outlying.explain({"city": city, "temp": temp, "wind": wind}, row=0)


def chart_of(pair: outlying.Pair, choice: Any = "auto") -> Any:
    assert pair.picture is not None
    return scene.property_chart(pair, pair.picture, choice)


def svg_of(figure: Any) -> str:
    target = io.BytesIO()
    figure.savefig(target, format="svg")
    return target.getvalue().decode()


def texts(svg: str) -> list[str]:
    root = ElementTree.fromstring(svg)  # noqa: S314 - written here
    return ["".join(node.itertext()) for node in root.iter("{http://www.w3.org/2000/svg}text")]


@pytest.mark.parametrize("view", ["all", "property", "context", "measure"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_view_is_drawn(findings: outlying.Findings, view: Any, theme: Any) -> None:
    pair = next(pair for pair in findings.pairs if pair.conditions)
    figure = pair.plot(view, theme=theme, width=400)
    assert figure.get_size_inches()[0] == pytest.approx(4.0)
    assert figure._repr_png_().startswith(PNG)
    assert svg_of(figure).count("<path") > 3


@pytest.mark.parametrize("reach", [4.0, 400.0])
def test_the_window_around_a_far_value_is_drawn(reach: float) -> None:
    """It ends where the axis does, and the label of the axis says what it is."""
    pair = outlying.explain({"v": [*RNG.normal(size=199), 9.0]}, row=199).pairs[0]
    axes = dataclasses.replace(pair, scale=1).plot("property").axes[0]
    before, limits = len(axes.patches), axes.get_xlim()
    assert axes.get_xlabel() == "v"
    far = dataclasses.replace(pair, scale=16, near=1, reach=reach)
    axes = far.plot("property").axes[0]
    assert len(axes.patches) == before + 1
    assert axes.get_xlim() == limits
    low, high = axes.patches[0].get_xy()[:, 0].min(), axes.patches[0].get_xy()[:, 0].max()
    axis = chart_of(far).axis
    assert (low, high) == pytest.approx((axis.place(9 - reach), axis.place(9 + reach)))
    assert high == limits[1] == 1.0
    assert axes.get_xlabel() == f"v; no other row within {reach:.0f} of this one"


def test_the_same_bytes_each_time(findings: outlying.Findings) -> None:
    assert svg_of(findings.plot()) == svg_of(findings.plot())
    assert svg_of(findings.pairs[0].plot()) == svg_of(findings.pairs[0].plot())


def test_files_are_written_by_their_ending(findings: outlying.Findings, tmp_path: Any) -> None:
    figure = findings.plot()
    figure.savefig(tmp_path / "why.svg")
    figure.savefig(tmp_path / "why.png")
    assert "<svg" in (tmp_path / "why.svg").read_text()
    assert b"dc:date" not in (tmp_path / "why.svg").read_bytes()
    assert (tmp_path / "why.png").read_bytes().startswith(PNG)


def test_texts_stay_texts(findings: outlying.Findings) -> None:
    pair = next(pair for pair in findings.pairs if pair.property == "temp")
    said = texts(svg_of(pair.plot("property")))
    assert "5.2" in said
    assert any(text.startswith("temp = 5.2, among ") for text in said)
    pair = next(pair for pair in findings.pairs if pair.given)
    said = texts(svg_of(pair.plot("property")))
    assert any(text.startswith("temp = 5.2, expected 27.4 to 32.39 given wind") for text in said)
    assert "wind →  temp ↑" in said
    assert "temp = 5.2" in said
    assert {"other rows", "expected", "this row"} <= set(said)


@pytest.mark.parametrize(
    "name", [r"$\frac{1}{2$", "a_$x$_b", "<script>alert(1)</script>", "x" * 10_000, "\x1b[2J\u202e"]
)
def test_hostile_names_are_texts(name: str) -> None:
    data = {name: [*RNG.normal(0, 1, 100), 9.0], "kind": ["a"] * 60 + [name] * 41}
    for pair in outlying.explain(data, row=100).pairs:
        figure = pair.plot()
        said = texts(svg_of(figure))
        assert all(len(text) < 200 for text in said)
        assert all(char.isprintable() for text in said for char in text)
        assert figure._repr_png_().startswith(PNG)


def test_dates_have_dates_on_their_axis() -> None:
    days = [dt.date(2024, 1, 1) + dt.timedelta(days=int(i)) for i in RNG.integers(0, 60, 200)]
    data = {"day": [*days, dt.date(2024, 9, 9)]}
    said = texts(svg_of(outlying.explain(data, row=200).pairs[0].plot("property")))
    assert "2024-09-09" in said
    assert {"2024-03", "2024-09"} <= set(said)


@pytest.mark.parametrize("kind", [dt.timedelta, dt.time])
def test_times_are_written_as_times(kind: Any) -> None:
    hours = [*RNG.integers(8, 12, 100), 20]
    cells = [dt.timedelta(hours=int(h)) if kind is dt.timedelta else dt.time(int(h)) for h in hours]
    said = texts(svg_of(outlying.explain({"t": cells}, row=100).plot()))
    assert any(":00" in text for text in said)


def ticks(figure: Any) -> list[str]:
    figure.savefig(io.BytesIO(), format="png")
    axes = figure.axes[0]
    low, high = axes.get_xlim()
    shown = zip(axes.get_xticks(), axes.get_xticklabels(), strict=True)
    return [label.get_text() for place, label in shown if low <= place <= high]


def test_durations_have_full_hours_and_days_on_their_axis() -> None:
    seconds = [*np.random.default_rng(0).lognormal(3, 2, 300), 86_400 * 100.0]
    data = {"d": [dt.timedelta(seconds=value) for value in seconds]}
    pair = outlying.explain(data, row=300).pairs[0]
    shown = ticks(pair.plot("property"))
    assert chart_of(pair).axis.is_log
    assert any(re.fullmatch("[0-9]+:[0-9][0-9]:00", text) for text in shown)
    assert any(re.fullmatch("[0-9]+ days", text) for text in shown)
    assert not any("10^" in text for text in shown)
    assert ticks(pair.plot("property", axis="linear"))[:2] == ["0:00:00", "20 days"]


@pytest.mark.parametrize("unit", ["number", "day", "duration"])
def test_ticks_do_not_touch_in_the_narrowest_figure(unit: str) -> None:
    numbers = [*RNG.normal(0, 900, 100), 60_000.0]
    made: dict[str, Any] = {
        "number": lambda value: value,
        "day": lambda value: dt.date(2024, 1, 1) + dt.timedelta(days=int(value)),
        "duration": lambda value: dt.timedelta(days=value),
    }
    cells = [made[unit](value) for value in numbers]
    figure = outlying.explain({"v": cells}, row=100).pairs[0].plot(width=240)
    assert len(ticks(figure)) >= 2
    boxes = [label.get_window_extent() for label in figure.axes[0].get_xticklabels()]
    assert all(left.x1 < right.x0 for left, right in itertools.pairwise(boxes))


def test_times_have_full_hours_on_their_axis() -> None:
    hours = [dt.time(int(h), int(m)) for h, m in RNG.integers((0, 0), (5, 60), (200, 2))]
    table = {"t": [*hours, dt.time(23, 50)]}
    pair = outlying.explain(table, row=200, derive=False).pairs[0]
    assert ticks(pair.plot("property")) == ["00:00", "06:00", "12:00", "18:00"]
    assert ticks(pair.plot("property", width=400)) == ["00:00", "12:00"]


def test_the_last_day_has_years_on_its_axis() -> None:
    days = [dt.date(2024, 1, 1) + dt.timedelta(days=int(i)) for i in RNG.integers(0, 60, 200)]
    pair = outlying.explain({"day": [*days, dt.date.max]}, row=200).pairs[0]
    assert {"4000", "6000"} <= set(ticks(pair.plot("property", axis="linear")))
    shown = ticks(pair.plot("property"))  # broken: the group is seen, too
    assert shown[0].startswith("2024-")
    assert shown[-1] == "9999-12-31"


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("unit", [1.7e308, 1e-300])
def test_huge_and_tiny_numbers_are_drawn(unit: float) -> None:
    values = np.append(RNG.uniform(-1, 0.5, 300), 1) * unit
    pair = outlying.explain({"v": values}, row=300).pairs[0]
    figure = pair.plot("property")
    assert any(float(text.replace("\u2212", "-")) > 0.4 * unit for text in ticks(figure))
    low, high = figure.axes[0].get_xlim()
    mark = figure.axes[0].lines[-1].get_xdata()[0]
    assert 0.9 < (mark - low) / (high - low) <= 1


@pytest.mark.parametrize("width", [240, 400, 720])
@pytest.mark.parametrize("char", ["W", "i", "y", "W "])
def test_long_names_stay_inside_of_the_figure(width: int, char: str) -> None:
    names = [char * 90 + str(code) for code in RNG.integers(0, 4, 200)] + [char * 99]
    pair = outlying.explain({char * 80: names}, row=200).pairs[0]
    figure = pair.plot("property", width=width)
    assert figure._repr_png_().startswith(PNG)
    for text in (figure.axes[0].title, figure.axes[0]._left_title, *figure.axes[0].texts):
        box = text.get_window_extent()
        assert box.x0 >= 0
        assert box.x1 <= width


def test_a_single_typical_value_is_shaded() -> None:
    pair = outlying.explain({"v": [5.0] * 99 + [7.0]}, row=99).pairs[0]
    assert pair.typical == ((5.0, 5.0),)
    axes = pair.plot("property", width=720).axes[0]
    assert np.ptp(axes.patches[0].get_xy()[:, 0]) * 720 > 2


def test_a_logarithmic_axis() -> None:
    values = RNG.lognormal(3, 2, 300)
    pair = outlying.explain({"v": values}, row=int(values.argmax())).pairs[0]
    shown = [float(text.replace(",", "")) for text in ticks(pair.plot("property"))]
    assert {round(b / a) for a, b in itertools.pairwise(shown)} == {10}
    even = [float(text.replace(",", "")) for text in ticks(pair.plot("property", axis="linear"))]
    assert len({b - a for a, b in itertools.pairwise(even)}) == 1


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"theme": "blue"}, "theme is 'blue'; allowed: 'light' or 'dark'"),
        ({"axis": "square"}, "axis is 'square'; allowed: 'auto' or 'linear' or 'log'"),
        ({"width": 10}, "width is 10; allowed: pixels, at least 240"),
        ({"top": 0}, "top is 0; allowed: a whole number, at least 1"),
    ],
)
def test_wrong_wishes(findings: outlying.Findings, given: Any, said: str) -> None:
    with pytest.raises(outlying.OptionError) as caught:
        findings.plot(**given)
    assert said in str(caught.value)


def test_a_pair_without_conditions_has_no_context() -> None:
    pair = outlying.explain({"v": [*RNG.normal(size=99), 9.0]}, row=99).pairs[0]
    with pytest.raises(outlying.OptionError, match="no context to draw"):
        pair.plot("context")


def test_without_matplotlib_all_else_works() -> None:
    """In a process of its own, in which the library cannot be imported."""
    code = """
import sys
sys.modules["matplotlib"] = sys.modules["matplotlib.figure"] = None
import outlying
findings = outlying.explain({"v": [0.1 * (i % 17) for i in range(99)] + [9.0]}, row=99)
assert "v = 9," in str(findings) and "9.0" in findings.to_json() and "v = 9" in findings.to_html()
for draw in (findings.plot, findings.pairs[0].plot):
    try:
        draw()
    except outlying.MissingExtraError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    said = f"a plot needs an optional package: pip install {installed_as('plot')}\n"
    assert done.stdout == said * 2
