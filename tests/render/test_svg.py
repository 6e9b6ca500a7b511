"""Paths: read back, they are the lines that were drawn."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlying.render import svg
from outlying.render.axis import Axis
from outlying.render.scene import Line


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
    read = points(svg.outline(line))
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
    assert points(svg.outline(line)) == [(0, 200), (500, 200), (500, 0), (1000, 0)]


def test_an_area_closes_on_the_ground() -> None:
    line = Line(np.array([0.25, 0.5]), np.array([1.0, 0.5]))
    assert svg.area(line) == "M250 200v-200l250 100v100z"


@pytest.mark.parametrize(("place", "percent"), [(-1.0, 0.0), (0.12345, 12.35), (2.0, 100.0)])
def test_places_in_percent(place: float, percent: float) -> None:
    assert svg.percent_along(place) == percent


def test_bands_end_with_their_axis() -> None:
    axis = Axis(0.0, 10.0, is_log=False, form="number", is_cut=False)
    assert 'class="band" x="200" width="300"' in svg.band(axis, 2.0, 5.0)
    assert 'class="window" x="900" width="100"' in svg.band(axis, 9.0, 90.0, "window")
