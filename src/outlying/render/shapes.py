"""What pictures are made of: shapes in a unit square, their colours, and the same as SVG.

Only shapes are written as SVG, in a view box of 1000 by 200 that a page stretches to its width: the
page around them sets all texts, so that none is stretched.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any, Literal

import numpy as np

from outlying.method.density import Counts, Floats
from outlying.render.axis import Axis
from outlying.table.columns import Mask

Theme = Literal["light", "dark"]

#: Texts and marks have a contrast of 4.5 at least against page and paper.
PALETTE: dict[Theme, dict[str, str]] = {
    "light": {
        "ink": "#1b1f24",
        "quiet": "#59626d",
        "line": "#d5dae0",
        "page": "#f6f7f9",
        "paper": "#ffffff",
        "group": "#0072b2",
        "above": "#9cc7e2",
        "below": "#e0c08a",
        "typical": "#dcebf5",
        "mark": "#b34700",
        "hot": "#f7b27e",
    },
    "dark": {
        "ink": "#e8eaed",
        "quiet": "#a3abb5",
        "line": "#3b424b",
        "page": "#15181c",
        "paper": "#1e2329",
        "group": "#56b4e9",
        "above": "#2c6d95",
        "below": "#7a5a1e",
        "typical": "#24394a",
        "mark": "#f0a04b",
        "hot": "#8f4a10",
    },
}

#: What is shaded is at least so wide, as a share of the picture.
LEAST_WIDTH = 0.003


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Line:
    """A curve on an axis: places from 0 to 1, heights from 0 to 1."""

    x: Floats
    y: Floats


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Shape(Line):
    """Something to draw in a unit square; an upright goes from bottom to top, an area is closed."""

    kind: Literal["area", "line", "dots", "upright"]
    role: str


def area(line: Line, role: str, ground: float = 0.0) -> Shape:
    """Return what lies between a line and the ground, or the ceiling."""
    x = np.concatenate((line.x[:1], line.x, line.x[-1:]))
    return Shape(x, np.concatenate(([ground], line.y, [ground])), "area", role)


def curve(line: Line, role: str) -> Shape:
    """Return a line as it is."""
    return Shape(line.x, line.y, "line", role)


def upright(place: float, role: str = "mark") -> Shape:
    """Return a line from bottom to top."""
    return Shape(np.full(2, min(max(place, 0.0), 1.0)), np.array([0.0, 1.0]), "upright", role)


def band(axis: Axis, low: float, high: float, role: str) -> Shape:
    """Return a shaded stretch of an axis, wide enough to show a single value."""
    start, end = axis.place(low), axis.place(high)
    start, end = min(start, end - LEAST_WIDTH / 2), max(end, start + LEAST_WIDTH / 2)
    return Shape(np.array([start, start, end, end]), np.array([0.0, 1.0, 1.0, 0.0]), "area", role)


def breaks(axis: Axis) -> list[Shape]:
    """Return what hides the shapes where an axis is broken."""
    return [
        shape
        for start, stop in axis.breaks
        for shape in (
            Shape(np.array([start, start, stop, stop]), np.array([0, 1, 1, 0.0]), "area", "break"),
            *(
                Shape(np.full(2, end), np.array([0.0, 1.0]), "line", "edge")
                for end in (start, stop)
            ),
        )
    ]


# --- as SVG -------------------------------------------------------------------------------------

WIDTH, HEIGHT = 1000, 200


def drawn(shapes: Iterable[Shape]) -> Any:
    """Return shapes as markup; each has its role as its class."""
    from markupsafe import Markup

    return Markup("").join(map(_element, shapes))


def _element(shape: Shape) -> Any:
    from markupsafe import Markup

    if shape.kind == "upright":
        x = min(max(float(shape.x[0]) * WIDTH, 1.5), WIDTH - 1.5)
        line = Markup('<line class="{}" x1="{:.1f}" x2="{:.1f}" y1="0" y2="{}"/>')
        return line.format(shape.role, x, x, HEIGHT)
    if shape.kind == "dots":  # lines of no length, with round ends
        dots = "".join(f"M{x} {y}h0" for x, y in zip(*_pixels(shape), strict=True))
        return Markup('<path class="{}" d="{}"/>').format(shape.role, dots)
    if len(shape.x) == 0:
        return Markup("")
    end = "z" if shape.kind == "area" else ""
    return Markup('<path class="{}" d="{}{}"/>').format(shape.role, path(shape), end)


def _pixels(line: Line) -> tuple[list[int], list[int]]:
    across = np.rint(line.x * WIDTH).astype(np.int64)
    return across.tolist(), np.rint((1 - line.y) * HEIGHT).astype(np.int64).tolist()


def path(line: Line) -> str:
    """Return points as a path of relative moves, which is shorter than one of coordinates."""
    across, down = map(np.array, _pixels(line))
    for choose in (_moved, _needed):
        kept = choose(np.diff(across), np.diff(down))
        across, down = across[kept], down[kept]
    moves = zip(np.diff(across).tolist(), np.diff(down).tolist(), strict=True)
    return f"M{across[0]} {down[0]}" + "".join(_step(*move) for move in moves)


def _moved(across: Counts, down: Counts) -> Mask:
    """Mark the points that do not repeat the one before."""
    return np.concatenate(([True], (across != 0) | (down != 0)))


def _needed(across: Counts, down: Counts) -> Mask:
    """Mark the points that are not on a level or upright line between their neighbours."""
    goes_on = (down[1:] * down[:-1] >= 0) & (across[1:] * across[:-1] >= 0)
    level, upright = down == 0, across == 0
    straight = (level[1:] & level[:-1]) | (upright[1:] & upright[:-1])
    return np.concatenate(([True], ~(straight & goes_on), [True]))[: len(across) + 1]


def _step(across: int, down: int) -> str:
    if down == 0:
        return f"h{across}"
    if across == 0:
        return f"v{down}"
    return f"l{across}{'' if down < 0 else ' '}{down}"
