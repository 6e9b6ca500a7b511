"""Scales of a plot: numbers in the units of matplotlib, and ticks that people would choose."""

from __future__ import annotations

import datetime as dt
import math
from typing import TYPE_CHECKING, Any

from outlying.render.axis import Axis
from outlying.render.text import wrapped
from outlying.table.values import TIMES, Form, printable, value_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Figures of fewer pixels have fewer ticks, and a legend of more lines.
NARROW = 560

_TINY = 360
_DATES: tuple[Form, ...] = ("date", "datetime", "instant")
_MICROSECONDS_PER_DAY = 86_400e6
_LEAST_DRAWN = 1e-100
_SECOND, _DAY = 10**6, 86_400 * 10**6
_TIME_STEPS = (
    *(number * 10**power for power in range(6) for number in (1, 2, 5)),
    *(number * _SECOND for number in (1, 2, 5, 10, 30, 60, 120, 300, 600, 1800)),
    *(number * 3600 * _SECOND for number in (1, 2, 3, 6, 12)),
    *(number * 10**power * _DAY for power in range(4) for number in (1, 2, 5)),
)


class Scale:
    """The axis of a picture in the units of matplotlib."""

    def __init__(self, axis: Axis) -> None:
        self.axis = axis
        ends = [value_of(axis.form, end) for end in (axis.low, axis.high)]
        self.are_dates = axis.form in _DATES and all(isinstance(end, dt.date) for end in ends)
        self.unit = _MICROSECONDS_PER_DAY if self.are_dates else _unit(axis)

    def to_plot(self, number: float) -> float:
        """Return a number of the column in the units of the plot: dates in days since 1970."""
        return number / self.unit

    def from_places(self, places: Any) -> Any:
        """Return places along the axis, from 0 to 1, in the units of the plot."""
        import numpy as np

        low, high = self.to_plot(self.axis.low), self.to_plot(self.axis.high)
        if self.axis.is_log:
            return np.exp(np.log(low) + places * (np.log(high) - np.log(low)))
        return low + places * (high - low)

    def apply_to(self, axes: Axes) -> None:
        """Set limits and ticks."""
        from matplotlib import ticker

        is_tiny = axes.figure.bbox.width < _TINY
        if self.axis.is_log:
            axes.set_xscale("log")
        elif self.are_dates:
            _set_date_ticks(axes, 5 if is_tiny else 7)
        elif self.axis.form not in TIMES:
            axes.xaxis.set_major_locator(ticker.MaxNLocator(3 if is_tiny else 6))
        axes.set_xlim(self.to_plot(self.axis.low), self.to_plot(self.axis.high))
        if self.axis.form in TIMES and not self.are_dates:
            most = 3 if axes.figure.bbox.width < NARROW else 6
            axes.set_xticks(_time_ticks(self.axis, most))
            axes.set_xticks([], minor=True)
        if self.axis.form in TIMES or self.unit != 1.0:
            self._label_ticks(axes)

    def _label_ticks(self, axes: Axes) -> None:
        """Label ticks with values of the column, but for dates, which matplotlib labels well."""
        if not self.are_dates:
            axes.xaxis.set_major_formatter(lambda tick, _: self.axis.text(float(tick) * self.unit))


def _unit(axis: Axis) -> float:
    """Return a unit in which numbers are of a size that matplotlib can draw."""
    largest = max(abs(axis.low), abs(axis.high))
    if _LEAST_DRAWN < largest < 1 / _LEAST_DRAWN or axis.is_log:
        return 1.0
    return float(10.0 ** math.floor(math.log10(largest)))


def _time_ticks(axis: Axis, most: int) -> list[float]:
    """Return times or durations at which people expect ticks: full hours, minutes, days."""
    if axis.is_log:
        inside = [step for step in _TIME_STEPS if axis.low <= step <= axis.high]
        every = math.ceil(len(inside) / most)
        return [float(step) for step in inside[:: max(1, every)]]
    length = axis.high - axis.low
    step = next((step for step in _TIME_STEPS if length / step <= most), None)
    if step is None:
        step = 10 ** math.ceil(math.log10(length / most / _TIME_STEPS[-1])) * _TIME_STEPS[-1]
    first, last = math.ceil(axis.low / step), math.floor(axis.high / step)
    return [float(place * step) for place in range(first, last + 1)]


def _set_date_ticks(axes: Axes, most: int) -> None:
    from matplotlib import dates

    locator = dates.AutoDateLocator(minticks=3, maxticks=most)  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_locator(locator)
    formatter = dates.ConciseDateFormatter(locator)  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_formatter(formatter)


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
