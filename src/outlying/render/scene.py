"""What the pictures of a pair show, before anyone decides how to draw it.

Axes, curves and marks are chosen here once; the web page and the plots only put them on paper. All
texts are safe to show and short.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

import numpy as np

from outlying.method.density import Floats
from outlying.method.sketches import CategoricalSketch, Curve, NumericSketch, Picture, Sketch
from outlying.results.findings import Pair
from outlying.table.conditions import Condition
from outlying.table.values import (
    TIMES,
    Form,
    Value,
    coarse,
    limits_of,
    number_of,
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
    """Make a name or a value fit into a picture."""
    return printable(text, most)


def short_value(value: Value, most: int = MOST_CHARACTERS) -> str:
    """Write a value so that it fits into a picture."""
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
        """Return where a number lies, from 0 to 1; what is beyond lies at the end."""
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
        """Return where numbers lie; beyond 0 or 1 where they are beyond the axis."""
        with np.errstate(divide="ignore", invalid="ignore"):
            warped = np.log(numbers) if self.is_log else numbers * self._unit
        low, high = self._warped(self.low), self._warped(self.high)
        return np.asarray((warped - low) / (high - low))

    def text(self, number: float) -> str:
        """Write a number of the axis as people know it."""
        if self.form in TIMES:
            text = short_value(coarse(self.form, number, self._step(number)))
            return text.removesuffix(", 0:00:00")
        value = value_of(self.form, round(number) if self.form == "integer" else number)
        return _rounded(value, self) if isinstance(value, float) else short_value(value)

    def _step(self, number: float) -> float:
        """Return how far a number may be moved, and nobody sees it on the axis."""
        return (abs(number) if self.is_log else self.high - self.low) / _TEXTS_PER_AXIS

    @property
    def ends(self) -> tuple[str, str]:
        """The ends in words."""
        return self.text(self.low), self.text(self.high)


def _rounded(number: float, axis: Axis) -> str:
    """Write a number as exactly as its axis can be read."""
    if axis.is_log:
        return number_text(number, 3)
    length = axis.high - axis.low
    digits = 3 - math.floor(math.log10(length)) if 0 < length < math.inf else 0
    return short_value(round(number, digits) if 0 < digits < 300 else number)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Line:
    """A curve on an axis: places from 0 to 1, heights from 0 to 1."""

    x: Floats
    y: Floats


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class DensityChart:
    """A number among the numbers of its group, and among all."""

    name: str
    axis: Axis
    inside: Line
    overall: Line | None  # None where the group is the whole table
    typical: tuple[tuple[float, float], ...]
    typical_text: str
    mark: float
    mark_text: str


@dataclasses.dataclass(frozen=True, slots=True)
class Share:
    """A category with its share of the group and of the whole table."""

    label: str
    inside: float
    overall: float | None
    is_object: bool


@dataclasses.dataclass(frozen=True, slots=True)
class BarChart:
    """A category among the categories of its group."""

    name: str
    bars: tuple[Share, ...]


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class CdfChart:
    """The paper's view: the cdf of the densities, with the areas that make the outlierness.

    Densities are multiples of the mean density of their group. `inside` and `overall` start at
    (0, 0) and end where G is 1.
    """

    high: float
    inside: Line  # x: densities, y: G
    overall: Line | None
    at_object: float
    at_object_overall: float
    above: float
    below: float

    def clipped(self, from_object: bool) -> Line:
        """Return the cdf from f_o on, or up to f_o, with its value there as one more point."""
        x, y = self.inside.x, self.inside.y
        kept = x > self.at_object if from_object else x <= self.at_object
        at = float(y[x <= self.at_object][-1])
        if from_object:
            whole = [self.at_object, *x[kept], self.high], [at, *y[kept], 1.0]
        else:
            whole = [*x[kept], self.at_object], [*y[kept], at]
        return Line(np.array(whole[0]), np.array(whole[1]))


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class NumericStrip:
    """A condition on a number: the attribute over the whole table, the interval, the object."""

    text: str
    name: str
    axis: Axis
    line: Line
    kept: Line  # the part of it that the condition keeps
    interval: tuple[float, float]
    interval_text: str
    mark: float
    mark_text: str


@dataclasses.dataclass(frozen=True, slots=True)
class CategoricalStrip:
    """A condition on a category: how the whole table divides."""

    text: str
    name: str
    bars: tuple[Share, ...]


PropertyChart: TypeAlias = DensityChart | BarChart
Strip: TypeAlias = NumericStrip | CategoricalStrip


def property_chart(pair: Pair, picture: Picture, choice: AxisChoice = "auto") -> PropertyChart:
    """Choose what to show of the property."""
    inside, overall = picture.inside, picture.overall
    if isinstance(inside, CategoricalSketch) or isinstance(overall, CategoricalSketch):
        return _bar_chart(pair, picture)
    ranges = [_numbers(item, inside.form) for item in _ranges(pair)]
    mark = _as_number(picture.place)
    axis = _axis(mark, inside, overall, ranges, choice)
    line, around = (_visible(_curve(item, axis), axis) for item in (inside, overall))
    top = _top(line, around)
    return DensityChart(
        name=short(pair.property),
        axis=axis,
        inside=_scaled(line, top),
        overall=_scaled(around, top) if pair.conditions else None,
        typical=tuple(ranges),
        typical_text=_ranges_text(pair),
        mark=mark,
        mark_text=short_value(pair.value),
    )


def cdf_chart(pair: Pair, picture: Picture) -> CdfChart:
    """Choose what to show of the densities of the rows."""
    inside, overall = picture.densities
    lines = [_cdf(sketch.ranked) for sketch in (picture.inside, picture.overall)]
    high = 1.06 * max(float(line.x[-1]) for line in lines)
    return CdfChart(
        high=high,
        inside=_extended(lines[0], high),
        overall=_extended(lines[1], high) if pair.conditions else None,
        at_object=inside,
        at_object_overall=overall,
        above=picture.areas[0],
        below=picture.areas[1],
    )


def strips(pair: Pair, picture: Picture) -> tuple[Strip, ...]:
    """Choose what to show of each condition."""
    items = zip(pair.conditions, picture.context, picture.places, strict=True)
    return tuple(_strip(*item) for item in items)


def _strip(condition: Condition, sketch: Sketch, place: float | Value) -> Strip:
    text, name = printable(str(condition), 120), short(condition.attribute)
    if isinstance(sketch, CategoricalSketch):
        return CategoricalStrip(text, name, _shares(sketch, None, place))
    interval = _numbers((condition.low, condition.high), sketch.form)
    mark = _as_number(place)
    axis = _axis(mark, sketch, sketch, [interval], "auto")
    line = _visible(_curve(sketch, axis), axis)
    line = _scaled(line, float(line.y.max(initial=0.0)))
    return NumericStrip(
        text=text,
        name=name,
        axis=axis,
        line=line,
        kept=_between(line, *(axis.place(end) for end in interval)),
        interval=interval,
        interval_text=text.removeprefix(f"{printable(condition.attribute)} ").removeprefix("is "),
        mark=mark,
        mark_text=short_value(value_of(sketch.form, mark)),
    )


def _bar_chart(pair: Pair, picture: Picture) -> BarChart:
    inside, overall = picture.inside, picture.overall
    if not isinstance(inside, CategoricalSketch) or not isinstance(overall, CategoricalSketch):
        raise TypeError("a property has sketches of one kind")
    around = overall if pair.conditions else None
    return BarChart(short(pair.property), _shares(inside, around, picture.place))


def _shares(
    sketch: CategoricalSketch, overall: CategoricalSketch | None, own: float | Value
) -> tuple[Share, ...]:
    others = [None] * len(sketch.bars) if overall is None else overall.bars
    bars = [
        Share(
            short_value(bar.label),
            bar.count / sketch.known,
            None if other is None or overall is None else other.count / overall.known,
            bar.label == own and type(bar.label) is type(own),
        )
        for bar, other in zip(sketch.bars, others, strict=True)
    ]
    if sketch.others:
        rest = None if overall is None else overall.rest / overall.known
        kinds = "other category" if sketch.others == 1 else "other categories"
        share = sketch.rest / sketch.known
        bars.append(Share(f"{sketch.others:,} {kinds}", share, rest, False))
    return tuple(bars)


def _ranges(pair: Pair) -> list[tuple[Value, Value]]:
    return [item for item in pair.typical if isinstance(item, tuple)]


def _ranges_text(pair: Pair) -> str:
    named = []
    for item in _ranges(pair)[:2]:
        low, high = (short_value(end) for end in item)
        named.append(low if low == high else f"{low} to {high}")
    more = len(pair.typical) - len(named)
    return " or ".join(named) + (f" or {more} more" if more else "")


def _as_number(place: float | Value) -> float:
    if not isinstance(place, (int, float)):
        raise TypeError("the place of a number is a number")
    return float(place)


def _numbers(ends: tuple[Value, Value], form: Form) -> tuple[float, float]:
    return _number(ends[0], form), _number(ends[1], form)


def _number(value: Value, form: Form) -> float:
    """Return the number behind a value; one that no date can show is a number already."""
    return float(value) if isinstance(value, (int, float)) else number_of(form, value)


def _axis(
    mark: float,
    inside: NumericSketch,
    overall: NumericSketch,
    ranges: Iterable[tuple[float, float]],
    choice: AxisChoice,
) -> Axis:
    """Choose the stretch to show: the object, what is typical, and nearly all of the rest."""
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
    """Lengthen a stretch somewhat, but not to where there is no such value: no hour is the 25th."""
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


def _curve(sketch: NumericSketch, axis: Axis) -> Curve:
    if axis.is_log and sketch.logarithmic is not None:
        return sketch.logarithmic
    return sketch.curve


def _visible(curve: Curve, axis: Axis) -> Line:
    """Cut a curve at the ends of the axis."""
    places = axis.places(np.concatenate((curve.points[:1], curve.points, curve.points[-1:])))
    heights = np.concatenate(([0.0], curve.heights, [0.0]))  # beyond its ends there is nothing
    seen = (places > 0) & (places < 1)
    ends = np.interp([0.0, 1.0], places, heights, left=0.0, right=0.0)
    x = np.concatenate(([0.0], places[seen], [1.0]))
    return Line(x, np.concatenate((ends[:1], heights[seen], ends[1:])))


def _between(line: Line, low: float, high: float) -> Line:
    """Cut a line at two places."""
    seen = (line.x > low) & (line.x < high)
    ends = np.interp([low, high], line.x, line.y)
    x = np.concatenate(([low], line.x[seen], [high]))
    return Line(x, np.concatenate((ends[:1], line.y[seen], ends[1:])))


def _top(inside: Line, overall: Line) -> float:
    """Return the height of the picture: the group decides, what is around may be cut."""
    own = float(inside.y.max(initial=0.0))
    return max(own, min(float(overall.y.max(initial=0.0)), 1.5 * own))


def _scaled(line: Line, top: float) -> Line:
    if top <= 0:
        return line
    return Line(line.x, np.minimum(line.y / top, 1.0))


def _cdf(ranked: Floats) -> Line:
    """Turn ranked densities into the steps of their cdf, from (0, 0) on."""
    shares = np.arange(1, len(ranked) + 1) / len(ranked)
    heights = np.repeat(np.concatenate(([0.0], shares)), 2)[:-1]
    return Line(np.concatenate(([0.0], np.repeat(ranked, 2))), heights)


def _extended(line: Line, high: float) -> Line:
    return Line(np.append(line.x, high), np.append(line.y, 1.0))
