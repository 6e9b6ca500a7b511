"""An axis of a picture: which stretch of a column's numbers it shows, linear or logarithmic."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np

from outlying.method.density import Floats
from outlying.method.profiles import NumericSketch
from outlying.table.values import (
    TIMES,
    Form,
    Value,
    coarse,
    limits_of,
    number_text,
    printable,
    text_of,
    value_of,
)

AxisChoice = Literal["auto", "linear", "log"]

#: How long a name or a value may be in a picture: an instant to the microsecond fits.
MOST_CHARACTERS = 30

_PADDING = 0.03
_WHOLE = 1.6  # all values are shown where that makes the axis at most so many times longer
_SKEWED = 3.0  # the upper half is so many times longer than the lower one
_FAR = 10.0
_P0, _P005, _P05, _P50, _P95, _P995, _P100 = range(7)
_LEAST_NUMBER, _MOST_NUMBER = 5e-324, 1.7e308
_TEXTS_PER_AXIS = 250  # so many texts along an axis differ


def short(text: str, most: int = MOST_CHARACTERS) -> str:
    """Return a name or a value cut to fit into a picture."""
    return printable(text, most)


def short_value(value: Value, most: int = MOST_CHARACTERS) -> str:
    """Return a value as text that fits into a picture."""
    return short(text_of(value), most)


@dataclasses.dataclass(frozen=True, slots=True)
class Axis:
    """A stretch of a column's numbers, and where a number lies on it."""

    low: float
    high: float
    is_log: bool
    form: Form
    is_cut: bool  # some values lie beyond

    def place(self, number: float) -> float:
        """Return where a number lies, from 0 to 1; what lies beyond the axis is put at its end."""
        number = min(max(number, self.low), self.high)
        low, high = self._warped(self.low), self._warped(self.high)
        return (self._warped(number) - low) / (high - low)

    def _warped(self, number: float) -> float:
        return math.log(number) if self.is_log else number * self._unit

    @property
    def _unit(self) -> float:
        """A factor that keeps the length of the axis from being infinite."""
        return 0.25 if max(-self.low, self.high) > _MOST_NUMBER / 4 else 1.0

    def places(self, numbers: Floats) -> Floats:
        """Return where numbers lie; below 0 or above 1 where they are beyond the axis."""
        with np.errstate(divide="ignore", invalid="ignore"):
            warped = np.log(numbers) if self.is_log else numbers * self._unit
        low, high = self._warped(self.low), self._warped(self.high)
        return np.asarray((warped - low) / (high - low))

    def text(self, number: float) -> str:
        """Return a number of the axis as people write it."""
        if self.form in TIMES:
            text = short_value(coarse(self.form, number, self._step(number)))
            return text.removesuffix(", 0:00:00")
        value = value_of(self.form, round(number) if self.form == "integer" else number)
        return _rounded(value, self) if isinstance(value, float) else short_value(value)

    def _step(self, number: float) -> float:
        """Return how far a number may be moved without anyone seeing it on the axis."""
        return (abs(number) if self.is_log else self.high - self.low) / _TEXTS_PER_AXIS

    @property
    def ends(self) -> tuple[str, str]:
        """The ends in words."""
        return self.text(self.low), self.text(self.high)


def _rounded(number: float, axis: Axis) -> str:
    """Return a number as precise as its axis can be read."""
    if axis.is_log:
        return number_text(number, 3)
    length = axis.high - axis.low
    digits = 3 - math.floor(math.log10(length)) if 0 < length < math.inf else 0
    return short_value(round(number, digits) if 0 < digits < 300 else number)


def choose_axis(
    mark: float,
    inside: NumericSketch,
    overall: NumericSketch,
    ranges: Iterable[tuple[float, float]],
    choice: AxisChoice,
) -> Axis:
    """Return an axis that shows the object, what is typical, and nearly all of the rest."""
    is_log = _is_log(mark, inside, overall, choice)
    ends = [end for pair in ranges for end in pair]
    near = [mark, *ends, inside.quantiles[_P005], inside.quantiles[_P995]]
    near += [overall.quantiles[_P05], overall.quantiles[_P95]]
    low, high = min(near), max(near)
    least = min(inside.quantiles[_P0], overall.quantiles[_P0])
    most = max(inside.quantiles[_P100], overall.quantiles[_P100])
    if _length(least, most, is_log) <= _WHOLE * _length(low, high, is_log):
        low, high = least, most
    is_cut = least < low or most > high
    return Axis(*_padded(low, high, is_log, inside.form), is_log, inside.form, is_cut)


def _length(low: float, high: float, is_log: bool) -> float:
    return math.log(high) - math.log(low) if is_log else high / 4 - low / 4


def _padded(low: float, high: float, is_log: bool, form: Form) -> tuple[float, float]:
    """Return a stretch with margins, but none where no value can be: there is no 25th hour."""
    if is_log:
        factor = math.exp(_PADDING * _length(low, high, True))
        return max(low / factor, _LEAST_NUMBER), max(high, min(high * factor, _MOST_NUMBER))
    padding = _PADDING * high - _PADDING * low
    least, most = limits_of(form)
    return min(low, max(low - padding, least)), max(high, min(high + padding, most))


def _is_log(mark: float, inside: NumericSketch, overall: NumericSketch, choice: AxisChoice) -> bool:
    """Return whether a logarithmic axis is possible and, if it is up to the data, called for."""
    if choice == "linear" or inside.logarithmic is None or overall.logarithmic is None:
        return False
    return choice == "log" or _is_skewed(overall.quantiles) or _is_far(mark, inside, overall)


def _is_skewed(quantiles: Sequence[float]) -> bool:
    low, middle, high = quantiles[_P05], quantiles[_P50], quantiles[_P95]
    return high >= _FAR * low and high - middle > _SKEWED * (middle - low)


def _is_far(mark: float, inside: NumericSketch, overall: NumericSketch) -> bool:
    low = min(inside.quantiles[_P005], overall.quantiles[_P005])
    high = max(inside.quantiles[_P95], overall.quantiles[_P95])
    return mark > _FAR * high or mark < low / _FAR
