"""Lines and areas as SVG, in a view box of 1000 by 200 that a page stretches to its width.

Only shapes are written here: the page around them sets all texts, so that none is stretched.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from outlying.method.density import Counts, Floats
from outlying.render.axis import Axis
from outlying.render.scene import CdfChart, Line
from outlying.table.columns import Mask

if TYPE_CHECKING:
    from markupsafe import Markup

WIDTH, HEIGHT = 1000, 200


def outline(line: Line) -> str:
    """Return a line as a path."""
    return _path(line.x, line.y)


def area(line: Line) -> str:
    """Return the area below a line as a path."""
    x = np.concatenate((line.x[:1], line.x, line.x[-1:]))
    return _path(x, np.concatenate(([0.0], line.y, [0.0]))) + "z"


def steps(chart: CdfChart, line: Line) -> str:
    """Return a cdf as a path."""
    return _path(line.x / chart.high, _coarse(line.y))


def _coarse(shares: Floats) -> Floats:
    """Return shares rounded to percents: nobody sees finer steps."""
    return np.asarray(np.rint(shares * 100) / 100)


def area_above(chart: CdfChart) -> str:
    """Return the area between the cdf and 1, from f_o on, as a path."""
    line = chart.clipped(from_object=True)
    x = np.concatenate((line.x[:1], line.x)) / chart.high
    return _path(x, np.concatenate(([1.0], _coarse(line.y)))) + "z"


def area_below(chart: CdfChart) -> str:
    """Return the area below the cdf, up to f_o, as a path."""
    line = chart.clipped(from_object=False)
    x = np.concatenate((line.x, line.x[-1:])) / chart.high
    return _path(x, np.concatenate((_coarse(line.y), [0.0]))) + "z"


def _path(x: Floats, y: Floats) -> str:
    """Return points as a path of relative moves, which is shorter than one of coordinates."""
    across = np.rint(x * WIDTH).astype(np.int64)
    down = np.rint((1 - y) * HEIGHT).astype(np.int64)
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


def band(axis: Axis, low: float, high: float, kind: str = "band") -> Markup:
    """Return a shaded stretch of an axis, wide enough to show a single value."""
    from markupsafe import Markup

    start, end = axis.place(low) * WIDTH, axis.place(high) * WIDTH
    start, end = min(start, end - 1.5), max(end, start + 1.5)
    return Markup('<rect class="{}" x="{:.0f}" width="{:.0f}" height="{}"/>').format(
        kind, start, max(end - start, 3), HEIGHT
    )


def upright(axis: Axis, number: float) -> Markup:
    """Return an upright line that marks a number on an axis."""
    return _upright(axis.place(number), "mark")


def density_mark(chart: CdfChart, density: float, kind: str) -> Markup:
    """Return an upright line that marks a density below a cdf."""
    return _upright(density / chart.high, kind)


def _upright(place: float, kind: str) -> Markup:
    from markupsafe import Markup

    x = min(max(place * WIDTH, 1.5), WIDTH - 1.5)
    line = Markup('<line class="{}" x1="{:.1f}" x2="{:.1f}" y1="0" y2="{}"/>')
    return line.format(kind, x, x, HEIGHT)


def percent_along(place: float) -> float:
    """Return a place as percent of the width, as CSS needs it."""
    return round(100 * min(max(place, 0.0), 1.0), 2)
