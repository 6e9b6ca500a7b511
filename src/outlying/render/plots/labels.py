"""Labels and titles of a plot: measured so that they fit, and never read as mathematics."""

from __future__ import annotations

from outlying.render.text_width import wrapped
from outlying.table.values import printable

DOTS_PER_INCH = 100

_LEAST_CHARACTERS = 8


def plain(text: str) -> str:
    """Return a text that matplotlib does not read as mathematics."""
    return text.replace("$", r"\$")


def wrapped_to(text: str, most: float, size: float, weight: str) -> str:
    """Return a text in lines of at most so many pixels."""
    count = int(most / (0.75 * size))
    while True:
        lines = wrapped(text, count)
        if count <= _LEAST_CHARACTERS or most >= max(
            (_pixels(line, size, weight) for line in lines.splitlines()), default=0.0
        ):
            return lines
        count -= 1


def _pixels(text: str, size: float, weight: str) -> float:
    """Return how wide a line is."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(size=size, weight=weight)
    points = text_to_path.get_text_width_height_descent(text, font, ismath=False)[0]
    return float(points) * DOTS_PER_INCH / 72


def fitted(label: str, size: float, weight: str, most: float) -> tuple[str, float]:
    """Return a label, shortened until it fits, with its width in pixels."""
    shown = label
    while _pixels(shown, size, weight) > most and len(shown) > 1:
        shown = printable(label, len(shown) - 1)
    return shown, _pixels(shown, size, weight)
