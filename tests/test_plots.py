"""Plots: real matplotlib, the same bytes each time, and harmless texts."""

from __future__ import annotations

import datetime as dt
import io
import subprocess
import sys
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import outlying

RNG = np.random.default_rng(8)
PNG = b"\x89PNG"


@pytest.fixture(scope="module")
def findings() -> outlying.Findings:
    city = np.repeat(["A", "B"], 150)
    temp = np.where(city == "A", RNG.normal(30, 1, 300), RNG.normal(5, 1, 300))
    wind = np.where(city == "A", RNG.normal(3, 1, 300), RNG.normal(20, 2, 300))
    temp[0] = 5.2
    return outlying.explain({"city": city, "temp": temp, "wind": wind}, row=0, references=0)


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


@pytest.mark.parametrize(
    "name", [r"$\frac{1}{2$", "a_$x$_b", "<script>alert(1)</script>", "x" * 10_000, "\x1b[2J\u202e"]
)
def test_hostile_names_are_texts(name: str) -> None:
    data = {name: [*RNG.normal(0, 1, 100), 9.0], "kind": ["a"] * 60 + [name] * 41}
    for pair in outlying.explain(data, row=100, references=0).pairs:
        figure = pair.plot()
        said = texts(svg_of(figure))
        assert all(len(text) < 200 for text in said)
        assert all(char.isprintable() for text in said for char in text)
        assert figure._repr_png_().startswith(PNG)


def test_dates_have_dates_on_their_axis() -> None:
    days = [dt.date(2024, 1, 1) + dt.timedelta(days=int(i)) for i in RNG.integers(0, 60, 200)]
    data = {"day": [*days, dt.date(2024, 9, 9)]}
    said = texts(svg_of(outlying.explain(data, row=200, references=0).pairs[0].plot("property")))
    assert "2024-09-09" in said
    assert {"Mar", "Sep"} <= set(said)


@pytest.mark.parametrize("kind", [dt.timedelta, dt.time])
def test_times_are_written_as_times(kind: Any) -> None:
    hours = [*RNG.integers(8, 12, 100), 20]
    cells = [dt.timedelta(hours=int(h)) if kind is dt.timedelta else dt.time(int(h)) for h in hours]
    said = texts(svg_of(outlying.explain({"t": cells}, row=100, references=0).plot()))
    assert any(":00" in text for text in said)


def test_a_logarithmic_axis() -> None:
    values = RNG.lognormal(3, 2, 300)
    pair = outlying.explain({"v": values}, row=int(values.argmax()), references=0).pairs[0]
    assert pair.plot("property").axes[0].get_xscale() == "log"
    assert pair.plot("property", axis="linear").axes[0].get_xscale() == "linear"


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
    pair = outlying.explain({"v": [1.0, 2.0, 9.0]}, row=2, references=0).pairs[0]
    with pytest.raises(outlying.OptionError, match="no context to draw"):
        pair.plot("context")


def test_without_matplotlib_all_else_works() -> None:
    """In a process of its own, in which the library cannot be imported."""
    code = """
import sys
sys.modules["matplotlib"] = sys.modules["matplotlib.figure"] = None
import outlying
findings = outlying.explain({"v": [1.0, 2.0, 3.0, 9.0]}, row=3, references=0)
assert "v = 9.0" in str(findings) and "9.0" in findings.to_json() and "9.0" in findings.to_html()
for draw in (findings.plot, findings.pairs[0].plot):
    try:
        draw()
    except outlying.MissingExtraError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "a plot needs an optional package: pip install 'outlying[plot]'\n" * 2
