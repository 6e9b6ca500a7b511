"""What the pictures of a pair show, before anyone decides how to draw it; and their colours.

Axes, shapes, marks and texts are chosen here once; pages, plots and sparklines only draw them. All
texts are short and safe to show.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from outlying.method.density import Floats
from outlying.method.profiles import (
    CategoricalSketch,
    Curve,
    NumericSketch,
    Picture,
    RelationSketch,
    Sketch,
)
from outlying.render.axis import Axis, AxisChoice, Tick, choose_axis, short, short_value
from outlying.results.stories import Pair
from outlying.results.wording import distance
from outlying.table.table import Condition
from outlying.table.values import TIMES, Form, Value, number_of, printable, value_of

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


_DAY = 86_400e6
_MICROSECONDS = 1e6  # in a second: times are microseconds inside
_CLOSE = 5.0  # times what a row is off is shown on both sides of it
_LEAST_WIDTH = 0.003  # of what is shaded, as a share of the picture


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Line:
    """A curve on an axis: places from 0 to 1, heights from 0 to 1."""

    x: Floats
    y: Floats


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Shape(Line):
    """Something to draw in a unit square, in the style of its role.

    An area is closed, an upright is a line from bottom to top, a break crosses the axis.
    """

    kind: Literal["area", "line", "dots", "upright"]
    role: str


def area(line: Line, role: str, ground: float = 0.0) -> Shape:
    """Return what lies between a line and the ground, or the ceiling."""
    x = np.concatenate((line.x[:1], line.x, line.x[-1:]))
    return Shape(x, np.concatenate(([ground], line.y, [ground])), "area", role)


def _curve_shape(line: Line, role: str) -> Shape:
    return Shape(line.x, line.y, "line", role)


def upright(place: float, role: str = "mark") -> Shape:
    """Return a line from bottom to top."""
    return Shape(np.full(2, min(max(place, 0.0), 1.0)), np.array([0.0, 1.0]), "upright", role)


def band(axis: Axis, low: float, high: float, role: str) -> Shape:
    """Return a shaded stretch of an axis, wide enough to show a single value."""
    start, end = axis.place(low), axis.place(high)
    start, end = min(start, end - _LEAST_WIDTH / 2), max(end, start + _LEAST_WIDTH / 2)
    return Shape(np.array([start, start, end, end]), np.array([0.0, 1.0, 1.0, 0.0]), "area", role)


def _breaks(axis: Axis) -> list[Shape]:
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


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class _Marked:
    """What marks the row on an axis."""

    name: str
    axis: Axis
    mark: float
    mark_text: str

    @property
    def mark_place(self) -> float:
        """Where the row is."""
        return self.axis.place(self.mark)

    @property
    def label(self) -> str:
        """What stands along the axis."""
        return self.name


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class DensityChart(_Marked):
    """A number among the numbers of its group, and among all."""

    kind: ClassVar = "density"

    inside: Line
    overall: Line | None  # None where the group is the whole table
    typical: tuple[tuple[float, float], ...]
    typical_text: str
    window: tuple[float, float] | None = None  # where the row is alone, or nearly, if that is wide
    window_text: str = ""

    @property
    def label(self) -> str:
        """What stands along the axis."""
        return self.name + (f"; {self.window_text} of this one" if self.window_text else "")

    @property
    def shapes(self) -> list[Shape]:
        """The group filled, the whole table as a line, what is typical shaded, the row marked."""
        around = [] if self.window is None else [band(self.axis, *self.window, "window")]
        return [
            *around,
            *(band(self.axis, low, high, "typical") for low, high in self.typical),
            area(self.inside, "inside"),
            *([] if self.overall is None else [_curve_shape(self.overall, "overall")]),
            *_breaks(self.axis),
            upright(self.mark_place),
        ]


@dataclasses.dataclass(frozen=True, slots=True)
class Share:
    """A category with its share of the group and of the whole table."""

    label: str
    inside: float
    overall: float | None
    is_object: bool


@dataclasses.dataclass(frozen=True, slots=True)
class BarChart:
    """A category among the categories of its group; or how a condition divides the table."""

    kind: ClassVar = "bars"

    text: str  # the condition, or the name of the property
    bars: tuple[Share, ...]
    is_condition: bool = False


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class CdfChart:
    """The paper's view: the cdf of the densities, with the areas that make the outlierness.

    Densities are multiples of the mean density of their group. `inside` and `overall` start at
    (0, 0) and end where G is 1.
    """

    kind: ClassVar = "cdf"
    name: ClassVar = "density, as a multiple of the mean of the group"
    label: ClassVar = name

    high: float
    inside: Line  # x: densities, y: G
    overall: Line | None
    at_object: float
    at_object_overall: float
    above: float
    below: float

    @property
    def axis(self) -> Axis:
        """The densities from 0 on."""
        return Axis(((0.0, self.high),), is_log=False, form="number", is_cut=False)

    @property
    def mark_place(self) -> float:
        """Where the density of the row is."""
        return self.at_object / self.high

    @property
    def mark_text(self) -> str:
        """The density of the row."""
        return f"{self.at_object:.3g}"

    @property
    def shapes(self) -> list[Shape]:
        """The cdf, and the areas above and below it."""
        above, below = self.clipped(from_object=True), self.clipped(from_object=False)
        everyone = [] if self.overall is None else [self._shown(self.overall)]
        return [
            area(self._shown(above), "above", 1.0),
            area(self._shown(below), "below"),
            _curve_shape(self._shown(self.inside), "steps"),
            *(_curve_shape(line, "overall") for line in everyone),
            *(upright(self.at_object_overall / self.high, "mark other") for _ in everyone),
            upright(self.mark_place),
        ]

    def _shown(self, line: Line) -> Line:
        """Return a cdf in the unit square, in percents: nobody sees finer steps."""
        return Line(line.x / self.high, np.rint(line.y * 100) / 100)

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
class NumericStrip(_Marked):
    """A condition on a number: the attribute over the whole table, the interval, the object."""

    kind: ClassVar = "strip"

    text: str
    line: Line
    kept: Line  # the part of it that the condition keeps
    interval: tuple[float, float]
    interval_text: str

    @property
    def shapes(self) -> list[Shape]:
        """The table, what the condition keeps of it, and the row."""
        return [
            band(self.axis, *self.interval, "typical"),
            area(self.line, "around"),
            area(self.kept, "inside"),
            *_breaks(self.axis),
            upright(self.mark_place),
        ]


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class ScatterChart:
    """A number beside what another column, or several, say of it: rows, a band, and the row.

    Without a column along the axis (`levels` is None) all rows are of the row's own thing, and the
    axis is that of the number itself.
    """

    kind: ClassVar = "scatter"

    name: str
    axis: Axis
    levels: Axis | None  # upwards
    rows: Line
    band: Shape
    rows_text: str
    mark_place: float
    mark_level: float
    mark_text: str
    is_series: bool = False

    @property
    def label(self) -> str:
        """What stands along the axis."""
        return self.name

    @property
    def level_ticks(self) -> tuple[Tick, ...]:
        """The ticks upwards, which may stand close together."""
        return () if self.levels is None else self.levels.ticks(5, math.inf)

    @property
    def shapes(self) -> list[Shape]:
        """What is expected, some rows, and the row."""
        lines = [tick.place for tick in self.level_ticks]
        own = np.array([self.mark_place]), np.array([self.mark_level])
        return [
            self.band,
            *(Shape(np.array([0.0, 1.0]), np.full(2, place), "line", "grid") for place in lines),
            *([_curve_shape(self.rows, "series")] if self.is_series and len(self.rows.x) else []),
            Shape(self.rows.x, self.rows.y, "dots", "rows"),
            *_breaks(self.axis),
            upright(self.mark_place, "mark guide"),
            Shape(*own, "dots", "this"),
        ]


PropertyChart: TypeAlias = DensityChart | BarChart | ScatterChart
Strip: TypeAlias = NumericStrip | BarChart
NumericChart: TypeAlias = DensityChart | NumericStrip | CdfChart | ScatterChart
Chart: TypeAlias = NumericChart | BarChart


def property_chart(pair: Pair, picture: Picture, choice: AxisChoice = "auto") -> PropertyChart:
    """Return the chart of the property: its value among those of the group."""
    if isinstance(picture.relation, CategoricalSketch):
        return BarChart(short(pair.column), _shares(picture.relation, None, pair.parent_value))
    if picture.relation is not None and picture.relation.sketches is not None:
        return _scatter_chart(pair, picture.relation, *picture.relation.sketches, choice)
    inside, overall = picture.inside, picture.overall
    if isinstance(inside, CategoricalSketch) or isinstance(overall, CategoricalSketch):
        return _bar_chart(pair, picture)
    ranges = [_numbers(item, overall) for item in _ranges(pair)]
    mark = _as_number(picture.place)
    axis = choose_axis(mark, inside, overall, ranges, choice)
    line, around = (_visible(_curve(item, axis), axis) for item in (inside, overall))
    top = _top(line, around)
    return DensityChart(
        name="usual distances from what is expected" if pair.given else short(pair.property),
        axis=axis,
        inside=_scaled(line, top),
        overall=_scaled(around, top) if pair.conditions else None,
        typical=tuple(ranges),
        typical_text=_ranges_text(pair),
        mark=mark,
        mark_text=_end_text(pair, pair.value),
        window=_window(pair, mark, inside.form),
        window_text=_window_text(pair),
    )


def _scatter_chart(
    pair: Pair, found: RelationSketch, x: NumericSketch, y: NumericSketch, choice: AxisChoice
) -> ScatterChart:
    """Return the rows of a relation in a square, or along a line where it has one column."""
    points, low, high = found.band
    at = int(np.argmin(np.abs(points - found.own[0])))
    expected = float(low[at]), float(high[at])
    name, own = short(pair.column), short_value(pair.parent_value)
    given = " and ".join(short(item) for item in pair.given)
    if found.given is None:
        axis = choose_axis(found.own[1], y, y, [_ends([*expected, *found.y])], choice)
        rows = Line(
            axis.places(found.y), np.linspace(0.3, 0.7, max(len(found.y), 1))[: len(found.y)]
        )
        shade = band(axis, *expected, "typical")
        place = axis.place(found.own[1])
        return ScatterChart(
            name, axis, None, _seen(rows), shade, _rows_text(pair, found), place, 0.5, own
        )
    if found.is_series:
        first, last = _ends([*found.x, found.own[0]])
        room = (last - first) / 40 or 1.0
        axis = Axis(((first - room, last + room),), is_log=False, form=x.form, is_cut=False)
        levels = choose_axis(found.own[1], y, y, [_ends([*expected, *found.y])], choice)
    elif found.given:
        most = x.quantiles[2:5:2], y.quantiles[2:5:2]
        axis = choose_axis(found.own[0], x, x, [_ends([found.own[0], *most[0]])], choice)
        levels = choose_axis(found.own[1], y, y, [_ends([*expected, *most[1]])], choice)
    else:
        axis = levels = _close_axis(found.own, y, choice)
    return ScatterChart(
        name=f"{short(found.given) if found.given else f'{name} expected by {given}'} →  {name} ↑",
        axis=axis,
        levels=levels,
        rows=_seen(Line(axis.places(found.x), levels.places(found.y))),
        band=_between_lines(axis.places(points), levels.places(low), levels.places(high)),
        rows_text=_rows_text(pair, found),
        is_series=found.is_series,
        mark_place=axis.place(found.own[0]),
        mark_level=levels.place(found.own[1]),
        mark_text=f"{name} = {own}",
    )


def _rows_text(pair: Pair, found: RelationSketch) -> str:
    things = [short(name) for name in pair.given if name != found.given]
    if found.given is None or (found.is_series and things):
        return f"other rows with the same {' and '.join(things)}"
    return "other rows"


def _ends(numbers: Iterable[float]) -> tuple[float, float]:
    known = [number for number in numbers if math.isfinite(number)]
    return min(known), max(known)


def _close_axis(own: tuple[float, float], y: NumericSketch, choice: AxisChoice) -> Axis:
    """Return an axis around a row and what is computed for it, close enough to tell them apart."""
    axis = choose_axis(own[1], y, y, [_ends([own[0], *y.quantiles[2:5:2]])], choice)
    if axis.is_log and min(own) > 0:
        factor = (max(own) / min(own)) ** _CLOSE
        low, high = max(min(own) / factor, axis.low), min(max(own) * factor, axis.high)
    else:
        away = _CLOSE * abs(own[1] - own[0])
        low, high = max(min(own) - away, axis.low), min(max(own) + away, axis.high)
    if not low < high or axis.breaks:
        return axis
    return dataclasses.replace(axis, stretches=((low, high),), is_cut=True)


def _between_lines(x: Floats, low: Floats, high: Floats) -> Shape:
    """Return the area between two lines, wide enough to be seen where they are one."""
    inside = (x >= -1) & (x <= 2) & np.isfinite(low) & np.isfinite(high)
    if len(x) == 1:  # of a series: what is expected of the row itself
        x, low, high = np.append(x - 0.01, x + 0.01), np.repeat(low, 2), np.repeat(high, 2)
        inside = np.isfinite(low)
    x, low, high = (np.clip(side[inside], 0.0, 1.0) for side in (x, low, high))
    middle = np.minimum(np.maximum(high - low, 2 * _LEAST_WIDTH) - (high - low), 1.0) / 2
    up = np.concatenate((low - middle, (high + middle)[::-1]))
    return Shape(np.concatenate((x, x[::-1])), np.clip(up, 0.0, 1.0), "area", "typical")


def _seen(rows: Line) -> Line:
    """Return the points that lie inside of a picture."""
    kept = (rows.x >= 0) & (rows.x <= 1) & (rows.y >= 0) & (rows.y <= 1)
    return Line(rows.x[kept], rows.y[kept])


def _window(pair: Pair, mark: float, form: Form) -> tuple[float, float] | None:
    """Return the stretch at which the object is rarest; None where the usual window is."""
    if pair.scale <= 1 or not pair.reach:
        return None
    reach = pair.reach * _MICROSECONDS if form in TIMES else pair.reach
    return mark - reach, mark + reach


def _window_text(pair: Pair) -> str:
    if pair.scale <= 1 or not pair.reach:
        return ""
    others = max(pair.near - 1, 0)
    rows = {0: "no other row", 1: "one other row"}.get(others, f"{others:,} other rows")
    return f"{rows}{' of the group' if pair.conditions else ''} within {distance(pair)}"


def cdf_chart(pair: Pair, picture: Picture) -> CdfChart:
    """Return the chart of the measure: the densities of the rows, and that of the object."""
    inside, overall = picture.densities
    ranked = picture.inside.ranked, picture.overall.ranked
    high = 1.06 * max(float(densities[-1]) for densities in ranked)
    return CdfChart(
        high=high,
        inside=cdf_line(ranked[0], high),
        overall=cdf_line(ranked[1], high) if pair.conditions else None,
        at_object=inside,
        at_object_overall=overall,
        above=picture.areas[0],
        below=picture.areas[1],
    )


def strips(pair: Pair, picture: Picture) -> tuple[Strip, ...]:
    """Return a strip for each condition: what it keeps of the whole table."""
    items = zip(pair.conditions, picture.context, picture.places, strict=True)
    return tuple(_strip(*item) for item in items)


def _strip(condition: Condition, sketch: Sketch, place: float | Value) -> Strip:
    text, name = printable(str(condition), 120), short(condition.attribute)
    if isinstance(sketch, CategoricalSketch):
        return BarChart(text, _shares(sketch, None, place), is_condition=True)
    interval = _numbers((condition.low, condition.high), sketch)
    mark = _as_number(place)
    most = sketch.quantiles[2:5:2]
    axis = choose_axis(mark, sketch, sketch, [(min(interval + most), max(interval + most))], "auto")
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
        low, high = (_end_text(pair, end) for end in item)
        named.append(low if low == high else f"{low} to {high}")
    more = len(pair.typical) - len(named)
    return " or ".join(named) + (f" or {more} more" if more else "")


def _end_text(pair: Pair, value: Value) -> str:
    """Write a value on the axis; of how far one is off a relation, three digits tell enough."""
    is_distance = pair.given and isinstance(value, float)
    return short_value(float(f"{value:.3g}") if is_distance else value)


def _as_number(place: float | Value) -> float:
    if not isinstance(place, (int, float)):
        raise TypeError("the place of a number is a number")
    return float(place)


def _numbers(ends: tuple[Value, Value], sketch: NumericSketch) -> tuple[float, float]:
    """Return the numbers of a range; of times on a line that goes on past midnight, too."""
    low, high = (_number(end, sketch.form) for end in ends)
    first, last = sketch.quantiles[0], sketch.quantiles[-1]
    if sketch.form == "time" and last >= _DAY:
        low, high = (number + _DAY if number < first else number for number in (low, high))
    return low, high


def _number(value: Value, form: Form) -> float:
    """Return the number behind a value; one that no date can show is a number already."""
    return float(value) if isinstance(value, (int, float)) else number_of(form, value)


def _curve(sketch: NumericSketch, axis: Axis) -> Curve:
    """Return a density per unit, or per factor; close numbers have the same shape by both."""
    if not axis.is_log:
        return sketch.curve
    if sketch.logarithmic is not None:
        return sketch.logarithmic
    positive = sketch.curve.points > 0
    points, heights = sketch.curve.points[positive], sketch.curve.heights[positive]
    per_factor = heights * (points / points[-1])
    return Curve(points, per_factor / np.trapezoid(per_factor, np.log2(points)))


def _visible(curve: Curve, axis: Axis) -> Line:
    """Return the part of a curve that the axis shows; beyond its own ends a curve is 0."""
    points = np.concatenate((curve.points[:1], curve.points, curve.points[-1:]))
    heights = np.concatenate(([0.0], curve.heights, [0.0]))
    return _between(Line(axis.places(points), heights), 0.0, 1.0)


def _between(line: Line, low: float, high: float) -> Line:
    """Return the part of a line between two places."""
    seen = (line.x > low) & (line.x < high)
    ends = np.interp([low, high], line.x, line.y)
    x = np.concatenate(([low], line.x[seen], [high]))
    return Line(x, np.concatenate((ends[:1], line.y[seen], ends[1:])))


def _top(inside: Line, overall: Line) -> float:
    """Return the density at the top of the picture: the group decides, the table may be cut."""
    own = float(inside.y.max(initial=0.0))
    return max(own, min(float(overall.y.max(initial=0.0)), 1.5 * own))


def _scaled(line: Line, top: float) -> Line:
    if top <= 0:
        return line
    return Line(line.x, np.minimum(line.y / top, 1.0))


def cdf_line(ranked: Floats, high: float) -> Line:
    """Return the steps of the cdf of ranked densities, from (0, 0) to (high, 1)."""
    x = np.concatenate(([0.0], np.repeat(ranked, 2), [high]))
    return Line(x, np.repeat(np.arange(len(ranked) + 1) / len(ranked), 2))
