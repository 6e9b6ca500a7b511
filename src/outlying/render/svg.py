"""Shapes as SVG, in a view box of 1000 by 200 that a page stretches to its width.

Only shapes are written here: the page around them sets all texts, so that none is stretched.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from outlying.method.density import Counts
from outlying.render.scene import Line, Shape
from outlying.table.columns import Mask

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
