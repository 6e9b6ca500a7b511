"""Paths: read back, they are the lines that were drawn."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlying.render import shapes
from outlying.render.axis import Axis
from outlying.render.shapes import Line


def points(path: str) -> list[tuple[int, int]]:
    """Follow a path as a browser does."""
    found: list[tuple[int, int]] = []
    for letter, rest in re.findall(r"([Mlhvz])([-\d ]*)", path):
        numbers = [int(number) for number in re.findall(r"-?\d+", rest)]
        x, y = found[-1] if found else (0, 0)
        if letter == "M":
            found.append((numbers[0], numbers[1]))
        elif letter == "l":
            found.append((x + numbers[0], y + numbers[1]))
        elif letter == "h":
            found.append((x + numbers[0], y))
        elif letter == "v":
            found.append((x, y + numbers[0]))
    return found


coordinates = st.lists(
    st.tuples(st.integers(0, 8).map(lambda n: n / 8), st.integers(0, 4).map(lambda n: n / 4)),
    min_size=1,
    max_size=30,
)


@given(coordinates)
def test_a_path_goes_through_every_point(drawn: list[tuple[float, float]]) -> None:
    drawn = sorted(drawn, key=lambda point: point[0])
    line = Line(np.array([x for x, _ in drawn]), np.array([y for _, y in drawn]))
    read = points(shapes.path(line))
    for x, y in drawn:
        assert any(
            on_segment(a, b, (x * 1000, 200 - y * 200))
            for a, b in zip(read, [*read[1:], read[-1]], strict=True)
        )
    assert read[0] == (round(drawn[0][0] * 1000), round(200 - drawn[0][1] * 200))
    assert read[-1] == (round(drawn[-1][0] * 1000), round(200 - drawn[-1][1] * 200))


def on_segment(a: tuple[int, int], b: tuple[int, int], c: tuple[float, float]) -> bool:
    cross = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
    within = min(a[0], b[0]) <= c[0] <= max(a[0], b[0]) and min(a[1], b[1]) <= c[1] <= max(
        a[1], b[1]
    )
    return abs(cross) < 1e-6 and within


def test_corners_stay_where_a_point_is_repeated() -> None:
    """A step, with its corner twice: from level to upright."""
    line = Line(np.array([0.0, 0.5, 0.5, 0.5, 1.0]), np.array([0.0, 0.0, 0.0, 1.0, 1.0]))
    assert points(shapes.path(line)) == [(0, 200), (500, 200), (500, 0), (1000, 0)]


def test_an_area_closes_on_the_ground() -> None:
    line = Line(np.array([0.25, 0.5]), np.array([1.0, 0.5]))
    drawn = shapes.drawn([shapes.area(line, "inside")])
    assert drawn == '<path class="inside" d="M250 200v-200l250 100v100z"/>'


@pytest.mark.parametrize(("number", "x"), [(-1.0, 1.5), (1.234, 123.4), (20.0, 998.5)])
def test_uprights_stay_inside(number: float, x: float) -> None:
    """What lies beyond an axis is marked at its end, where it can be seen."""
    drawn = shapes.drawn([shapes.upright(axis().place(number))])
    assert f'<line class="mark" x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="200"/>' == drawn


def axis() -> Axis:
    return Axis(((0.0, 10.0),), is_log=False, form="number", is_cut=False)


def test_bands_end_with_their_axis() -> None:
    band, window = (
        shapes.drawn([shapes.band(axis(), low, high, role)])
        for low, high, role in ((2.0, 5.0, "typical"), (9.0, 90.0, "window"))
    )
    assert band == '<path class="typical" d="M200 200v-200h300v200z"/>'
    assert window == '<path class="window" d="M900 200v-200h100v200z"/>'
    (single,) = points(shapes.path(shapes.band(axis(), 5.0, 5.0, "typical")))[2:3]
    assert single[0] >= 501


def test_dots_are_lines_of_no_length() -> None:
    dots = shapes.Shape(np.array([0.5, 1.0]), np.array([0.0, 0.5]), "dots", "rows")
    assert shapes.drawn([dots]) == '<path class="rows" d="M500 200h0M1000 100h0"/>'
