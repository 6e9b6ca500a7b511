"""The axis of a picture: which stretches of a column's numbers it shows, its scale and its ticks.

It fits the group and the row, not the tail of the whole table, and never goes beyond the sign of
the data. The whole column decides whether it is logarithmic; where a row or a sentinel lies far
from all else, the axis is broken instead.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

import numpy as np

from outlying.method.density import Floats
from outlying.method.profiles import NumericSketch
from outlying.table.values import (
    TIMES,
    Form,
    Value,
    coarse,
    limits_of,
    may_be_year,
    number_of,
    number_text,
    printable,
    quantity_text,
    value_of,
)

AxisChoice = Literal["auto", "linear", "log"]
Stretch: TypeAlias = tuple[float, float]

#: How long a name or a value may be in a picture: an instant to the microsecond fits.
MOST_CHARACTERS = 30

_PADDING = 0.03
_AROUND = 0.35  # of the length of what is typical is shown on both sides of it
_WIDER = 1.6  # more is shown where that makes the axis at most so many times longer
_EMPTY = 0.88  # a gap that takes this share of the axis is left out
_MOST_BREAKS = 2
_BREAK = 0.035  # the width of a break, as a share of the axis
_ALONE = 0.16  # around a number that stands alone, as a share of all else that is shown
_SKEWED, _FAR = 3.0, 10.0  # the upper half is so many times longer; the most is so many times more
_P0, _P005, _P05, _P50, _P95, _P995, _P100 = range(7)
_LEAST_NUMBER, _MOST_NUMBER = 5e-324, 1.7e308
_TEXTS_PER_AXIS = 250  # so many texts along an axis differ
_TICKS, _CHARACTERS = 6, 90.0  # on an axis

_DATES: tuple[Form, ...] = ("date", "datetime", "instant")
_SECOND, _DAY = 10**6, 86_400 * 10**6
_MONTHS = (1, 2, 3, 6, *(12 * years * 10**power for power in range(4) for years in (1, 2, 5)))
_TIME_STEPS = (
    *(number * 10**power for power in range(6) for number in (1, 2, 5)),
    *(number * _SECOND for number in (1, 2, 5, 10, 30, 60, 120, 300, 600, 1800)),
    *(number * 3600 * _SECOND for number in (1, 2, 3, 6, 12)),
    *(number * 10**power * _DAY for power in range(8) for number in (1, 2, 5)),
)


def short(text: str, most: int = MOST_CHARACTERS) -> str:
    """Return a name or a value cut to fit into a picture."""
    return printable(text, most)


def short_value(value: Value) -> str:
    """Return a value as text that fits into a picture."""
    return short(quantity_text(value))


@dataclasses.dataclass(frozen=True, slots=True)
class Tick:
    """A place on an axis, from 0 to 1, and the number there as people write it."""

    place: float
    text: str


@dataclasses.dataclass(frozen=True, slots=True)
class Axis:
    """Stretches of a column's numbers, and where a number lies on them."""

    stretches: tuple[Stretch, ...]
    is_log: bool
    form: Form
    is_cut: bool  # some values lie beyond
    alone: tuple[float, ...] = ()  # numbers that have a stretch to themselves

    @property
    def low(self) -> float:
        """The least number on the axis."""
        return self.stretches[0][0]

    @property
    def high(self) -> float:
        """The greatest number on the axis."""
        return self.stretches[-1][1]

    def place(self, number: float) -> float:
        """Return where a number lies, from 0 to 1; what lies beyond the axis is put at its end."""
        number = min(max(number, self.low), self.high)
        return float(np.clip(self.places(np.array([number]))[0], 0.0, 1.0))

    def places(self, numbers: Floats) -> Floats:
        """Return where numbers lie; below 0 or above 1 where they are beyond the axis."""
        ends, known = self._knots()
        warped = self._warp(numbers)
        if len(ends) == 2:
            return np.asarray((warped - ends[0]) / (ends[1] - ends[0]))
        beyond = np.minimum(warped - ends[0], 0.0) + np.maximum(warped - ends[-1], 0.0)
        return np.asarray(np.interp(warped, ends, known) + beyond / (ends[-1] - ends[0]))

    def _knots(self) -> tuple[Floats, Floats]:
        """Return the ends of the stretches, warped, and where they are."""
        ends = self._warp(np.array(self.stretches).ravel())
        shown, breaks = ends[1::2] - ends[::2], len(self.stretches) - 1
        steps = np.full(2 * breaks + 1, _BREAK)
        steps[::2] = shown / shown.sum() * (1 - _BREAK * breaks)
        return ends, np.concatenate(([0.0], np.cumsum(steps)))

    def _warp(self, numbers: Floats) -> Floats:
        """Return numbers on a scale that is even along the axis, and of finite length."""
        if self.is_log:
            with np.errstate(divide="ignore", invalid="ignore"):
                return np.asarray(np.log(numbers))
        return numbers * (0.25 if max(-self.low, self.high) > _MOST_NUMBER / 4 else 1.0)

    @property
    def breaks(self) -> list[tuple[float, float]]:
        """Where the axis is broken: from place to place."""
        known = self._knots()[1].tolist()
        return list(zip(known[1:-1:2], known[2::2], strict=True))

    def text(self, number: float) -> str:
        """Return a number of the axis as people write it."""
        if self.form in TIMES:
            text = short_value(coarse(self.form, number, self._step(number)))
            return text.removesuffix(", 0:00:00")
        value = value_of(self.form, round(number) if self.form == "integer" else number)
        return self._rounded(value) if isinstance(value, float) else short_value(value)

    def _step(self, number: float) -> float:
        """Return how far a number may be moved without anyone seeing it on the axis."""
        return (abs(number) if self.is_log else self.high - self.low) / _TEXTS_PER_AXIS

    def _rounded(self, number: float) -> str:
        """Return a number as precise as its axis can be read."""
        if self.is_log:
            return quantity_text(number, 3)
        length = self.high - self.low
        digits = 3 - math.floor(math.log10(length)) if 0 < length < math.inf else 0
        return short_value(round(number, digits) if 0 < digits < 300 else number)

    @property
    def ends(self) -> tuple[str, str]:
        """The ends in words."""
        return self.text(self.low), self.text(self.high)

    def ticks(self, most: int = _TICKS, characters: float = _CHARACTERS) -> tuple[Tick, ...]:
        """Return round numbers, full hours, first days; their texts do not touch."""
        for count in range(most, 0, -1):
            found = self._all_ticks(count)
            room = [(b.place - a.place) * characters for a, b in itertools.pairwise(found)]
            texts = [len(a.text + b.text) / 2 + 1.5 for a, b in itertools.pairwise(found)]
            if all(have >= need for have, need in zip(room, texts, strict=True)):
                return tuple(found)
        return tuple(found[-1:])

    def _all_ticks(self, most: int) -> list[Tick]:
        known = self._knots()[1]
        found: list[tuple[float, str]] = []
        for (low, high), start, stop in zip(self.stretches, known[::2], known[1::2], strict=True):
            alone = [number for number in self.alone if low <= number <= high]
            if alone:
                found += [(number, self.text(number)) for number in alone[:1]]
            else:
                found += self._ticks((low, high), max(1, round(most * float(stop - start))))
        return [Tick(self.place(number), text) for number, text in found]

    def _ticks(self, stretch: Stretch, most: int) -> list[tuple[float, str]]:
        low, high = stretch
        if self.is_log:
            numbers = _log_numbers(self.form, low, high, most)
        elif self.form in _DATES and (high - low) / most > 20 * _DAY:
            return _month_ticks(low, high, most)
        elif self.form in TIMES:
            numbers = _multiples(low, high, most, _TIME_STEPS)
        else:
            numbers = _multiples(low, high, most)
        if self.form in TIMES:
            step = numbers[1] - numbers[0] if len(numbers) > 1 else high - low
            return [(number, self._time_text(number, step)) for number in numbers]
        if self.form == "integer":
            numbers = [number for number in numbers if number == round(number)]
        return [(number, _tick_text(number, numbers)) for number in numbers]

    def _time_text(self, number: float, step: float) -> str:
        step = abs(number) / _TEXTS_PER_AXIS if self.is_log else step
        text = short_value(coarse(self.form, number, step))
        return text.removesuffix(", 0:00:00").removesuffix(" 00:00 UTC")


def _multiples(low: float, high: float, most: int, steps: Sequence[int] = ()) -> list[float]:
    """Return the multiples of a round step, of which there are about so many."""
    wanted = (high / 4 - low / 4) / most * 4
    if wanted < 1e-306:
        return [low, high]
    step = next((float(step) for step in steps if step >= wanted), 0.0)
    if not step:
        unit = 10.0 ** math.floor(math.log10(wanted))
        step = next(factor * unit for factor in (1, 2, 5, 10) if factor * unit >= wanted * 0.999)
    first, last = math.ceil(low / step), math.floor(high / step)
    return [place * step for place in range(first, min(last, first + 2 * most) + 1)]


def _log_numbers(form: Form, low: float, high: float, most: int) -> list[float]:
    """Return round numbers on a logarithmic axis: powers of ten, with 2 and 5 times them."""
    if high < 10 * low:
        return _multiples(low, high, most, _TIME_STEPS if form in TIMES else ())
    if form in TIMES:
        numbers = [float(step) for step in _TIME_STEPS if low <= step <= high]
    else:
        powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        factors = (1, 2, 5) if len(powers) <= 4 else (1,)
        found = (float(f"{factor}e{power}") for power in powers for factor in factors)
        numbers = [number for number in found if low <= number <= high]
    return numbers[:: max(1, math.ceil(len(numbers) / (most + 1)))]


def _month_ticks(low: float, high: float, most: int) -> list[tuple[float, str]]:
    """Return first days of months or years; the years 1 to 9999 are all there are."""
    first, last = (value_of("datetime", end) for end in (low, high))
    start = first.year * 12 + first.month - 1 if isinstance(first, dt.datetime) else 12
    stop = last.year * 12 + last.month - 1 if isinstance(last, dt.datetime) else 9999 * 12 + 11
    step = next((step for step in _MONTHS if (stop - start) / step <= most), _MONTHS[-1])
    found = []
    for month in range(max(12, -(-start // step) * step), stop + 1, step):
        number = number_of("date", dt.date(month // 12, month % 12 + 1, 1))
        if low <= number <= high:
            text = (
                f"{month // 12:04}" if step % 12 == 0 else f"{month // 12:04}-{month % 12 + 1:02}"
            )
            found.append((number, text))
    return found


def _tick_text(number: float, numbers: Sequence[float]) -> str:
    steps = [abs(b - a) for a, b in itertools.pairwise(numbers)] or [abs(number) or 1.0]
    step = min(steps)
    if max(abs(numbers[0]), abs(numbers[-1])) >= 1e12 or step < 1e-6:
        return number_text(number, 4)
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    if number and len(set(steps)) > 1:  # on a logarithmic axis each number has its own
        decimals = max(0, -math.floor(math.log10(abs(number)) + 1e-9))
    text = f"{number + 0.0:,.{decimals}f}"
    return text.replace(",", "") if all(map(may_be_year, numbers)) else text


# --- choosing ------------------------------------------------------------------------------------


def choose_axis(
    mark: float,
    inside: NumericSketch,
    overall: NumericSketch,
    ranges: Iterable[Stretch],
    choice: AxisChoice,
) -> Axis:
    """Return an axis that shows the object and what is typical; a linear one has no breaks."""
    is_log = _is_log(mark, overall, choice)
    typical = list(ranges) or [(inside.quantiles[_P05], inside.quantiles[_P95])]
    scale = _Scale(is_log, inside, overall, mark)
    if is_log:  # what is expected may go down to 0
        typical = [(max(low, scale.least), max(high, scale.least)) for low, high in typical]
    parts = [scale.around(*item) for item in typical]
    may_break = choice == "auto" and inside.form != "time"
    stretches = scale.without_gaps([*parts, (mark, mark)], _MOST_BREAKS if may_break else 0)
    if len(stretches) == 1:
        stretches = [scale.widened(stretches[0])]
    alone = [low for low, high in stretches if low == high]
    padded = scale.padded(stretches)
    known = (*inside.quantiles, *overall.quantiles)
    is_cut = any(not any(low <= item <= high for low, high in padded) for item in known)
    return Axis(tuple(padded), is_log, inside.form, is_cut, tuple(alone))


def _is_log(mark: float, overall: NumericSketch, choice: AxisChoice) -> bool:
    """Return whether a logarithmic axis is possible and, if it is up to the data, called for."""
    if choice == "linear" or overall.logarithmic is None or mark <= 0:
        return False
    low, middle, high = (overall.quantiles[place] for place in (_P05, _P50, _P95))
    is_skewed = high >= _FAR * low and high - middle > _SKEWED * (middle - low)
    return choice == "log" or is_skewed


class _Scale:
    """Stretches of a column's numbers, longer and shorter on a linear or logarithmic scale."""

    def __init__(
        self, is_log: bool, inside: NumericSketch, overall: NumericSketch, mark: float
    ) -> None:
        self.is_log, self.form = is_log, inside.form
        self.inside, self.overall = inside.quantiles, overall.quantiles
        self.least = min(self.inside[_P0], self.overall[_P0], mark)
        self.most = max(self.inside[_P100], self.overall[_P100], mark)
        lowest, highest = limits_of(self.form)
        if self.form not in TIMES or self.form == "duration":  # dates have no sign
            lowest = max(lowest, 0.0) if self.least >= 0 else lowest
            highest = min(highest, 0.0) if self.most <= 0 else highest
        self.limits = max(lowest, _LEAST_NUMBER) if is_log else lowest, highest
        is_huge = max(-self.least, self.most) > _MOST_NUMBER / 4
        self.unit = 0.25 if is_huge else 1.0  # in which no length is infinite

    def length(self, stretch: Stretch) -> float:
        """Return how long a stretch is."""
        low, high = stretch
        if self.is_log:
            return math.log(high) - math.log(low)
        return high * self.unit - low * self.unit

    def moved(self, number: float, by: float) -> float:
        """Return a number moved along the scale, inside of the limits of the column."""
        if self.is_log:
            found = math.exp(min(math.log(number) + by, 709.0))
        else:
            most = _MOST_NUMBER * self.unit
            found = min(max(number * self.unit + by, -most), most) / self.unit
        low, high = self.limits
        return max(min(found, max(high, number)), min(low, number))

    def around(self, low: float, high: float) -> Stretch:
        """Return what is typical with some room on both sides, but not more than there is."""
        room = _AROUND * self.length((low, high))
        least, most = min(self.inside[_P0], low), max(self.inside[_P100], high)
        return max(self.moved(low, -room), least), min(self.moved(high, room), most)

    def without_gaps(self, parts: Iterable[Stretch], breaks: int) -> list[Stretch]:
        """Return the hull of parts, broken where a gap takes nearly all of it."""
        found: list[Stretch] = []
        for low, high in sorted(parts):
            if found and low <= found[-1][1]:
                found[-1] = found[-1][0], max(high, found[-1][1])
            else:
                found.append((low, high))
        gaps = sorted(
            ((self.length((a[1], b[0])), a[1], b[0]) for a, b in itertools.pairwise(found)),
            reverse=True,
        )
        hull = (found[0][0], found[-1][1])
        left, kept = self.length(hull), []
        for length, low, high in gaps[:breaks]:
            if length <= _EMPTY * left or left - length <= 1e-9 * left:
                break
            left -= length
            kept.append((low, high))
        ends = [hull[0], *(end for gap in sorted(kept) for end in gap), hull[1]]
        return list(zip(ends[::2], ends[1::2], strict=True))

    def widened(self, stretch: Stretch) -> Stretch:
        """Return a stretch with more of the group and of the table, as far as there is room."""
        for low, high in (
            (self.inside[_P005], self.inside[_P995]),
            (self.overall[_P05], self.overall[_P95]),
            (self.least, self.most),
        ):
            wider = min(stretch[0], low), max(stretch[1], high)
            if self.length(stretch) == 0 or self.length(wider) <= _WIDER * self.length(stretch):
                stretch = wider
        low, high = stretch
        return (low, high) if low < high else (low - abs(low or 1) / 2, high + abs(high or 1) / 2)

    def padded(self, stretches: Sequence[Stretch]) -> list[Stretch]:
        """Return stretches with margins, but none where no value can be: there is no 25th hour."""
        shown = sum(map(self.length, stretches))
        found = []
        for place, (low, high) in enumerate(stretches):
            is_alone = len(stretches) > 1 and self.length((low, high)) < _ALONE * shown / 2
            room = shown * (_ALONE / 2 if is_alone else _PADDING)
            first, last = place == 0 or is_alone, place == len(stretches) - 1 or is_alone
            found.append((self.moved(low, -room * first), self.moved(high, room * last)))
        return found
