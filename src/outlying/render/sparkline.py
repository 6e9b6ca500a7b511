"""Sparklines: the picture of a pair in a few block characters, for terminals that have them."""

from __future__ import annotations

import numpy as np

from outlying.render import scene
from outlying.render.axis import short
from outlying.render.text_width import text_width
from outlying.results.stories import Pair
from outlying.results.wording import percent

#: What a terminal must be able to show.
CHARACTERS = "▁▂▃▄▅▆▇█▲◀▏▎▍▌▋▊▉"

_LEVELS = " ▁▂▃▄▅▆▇█"
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_MOST_CELLS = 48
_MOST_BARS = 4
_BAR_CELLS = 24
_LEAST_BAR_CELLS = 6
_BESIDE_BAR = 10  # a share and a mark
_LABEL_CELLS = 20


def sparkline(pair: Pair, width: int) -> list[str]:
    """Return the group of a pair and where the object is, in lines of at most a width.

    Empty where there is nothing to draw, or no room for it.
    """
    if pair.picture is None:
        return []
    chart = scene.property_chart(pair, pair.picture)
    lines = _density(chart, width) if isinstance(chart, scene.DensityChart) else _bars(chart, width)
    return lines if all(text_width(line) <= width for line in lines) else []


def _density(chart: scene.DensityChart, width: int) -> list[str]:
    low, high = chart.axis.ends
    count = min(_MOST_CELLS, width - text_width(low) - text_width(high) - 2)
    if count < 10:
        return []
    at = min(int(chart.axis.place(chart.mark) * count), count - 1)
    margin = " " * (text_width(low) + 1)
    label = _marked(at, chart.mark_text, count)
    return [f"{low} {_levels(chart.inside, count)} {high}", margin + label]


def _levels(line: scene.Line, count: int) -> str:
    """Return a curve as blocks of eight heights; whatever is not empty shows."""
    fine = np.interp((np.arange(8 * count) + 0.5) / (8 * count), line.x, line.y)
    heights = fine.reshape(count, 8).max(axis=1)
    levels = np.where(heights > 0, np.maximum(np.rint(heights * 8), 1), 0).astype(int)
    return "".join(_LEVELS[level] for level in levels)


def _marked(at: int, text: str, count: int) -> str:
    """Return a line that marks a place, the label on the side where there is room."""
    if at > count // 2 and at > text_width(text):
        return " " * (at - text_width(text) - 1) + f"{text} ▲"
    return " " * at + f"▲ {text}"


def _bars(chart: scene.BarChart, width: int) -> list[str]:
    """Return bars for the most frequent categories, and the object's."""
    shown = list(chart.bars[:_MOST_BARS])
    if not any(bar.is_object for bar in shown):
        shown[-1:] = [bar for bar in chart.bars if bar.is_object]
    labels = [short(bar.label, _LABEL_CELLS) for bar in shown]
    widest = max(text_width(label) for label in labels)
    most = min(_BAR_CELLS, width - widest - _BESIDE_BAR)
    if most < _LEAST_BAR_CELLS:
        return []
    return [
        label
        + " " * (widest - text_width(label))
        + f" {_bar(bar.inside, most)} {percent(bar.inside)}"
        + (" ◀" if bar.is_object else "")
        for label, bar in zip(labels, shown, strict=True)
    ]


def _bar(share: float, most: int) -> str:
    eighths = max(1, round(share * 8 * most))
    full, part = divmod(eighths, 8)
    return "█" * full + (_EIGHTHS[part] if part else "")
