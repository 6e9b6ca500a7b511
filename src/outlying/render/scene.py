"""What the pictures of a pair show, before anyone decides how to draw it: axes, shapes, texts."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable
from typing import ClassVar, Literal, TypeAlias, cast

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
from outlying.render.axis import Axis, AxisChoice, Stretch, Tick, choose_axis, short, short_value
from outlying.render.shapes import (
    LEAST_WIDTH,
    Line,
    Shape,
    area,
    band,
    breaks,
    curve,
    upright,
)
from outlying.results.stories import Pair
from outlying.results.wording import distance
from outlying.table.table import Condition
from outlying.table.values import TIMES, Value, number_of, printable, value_of

_DAY = 86_400e6
_MICROSECONDS = 1e6  # in a second: times are microseconds inside
_CLOSE = 5.0  # times what a row is off is shown on both sides of it


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Chart:
    """Shapes over an axis, in the order in which they are drawn, and where the row is.

    A "density" is a number among those of its group, and among all. A "strip" is what a condition
    on a number keeps of the whole table. A "scatter" is a number beside what other columns say of
    it, or alone where there are no `levels`. "cdf" is the paper's view: densities as multiples of
    their mean.
    """

    kind: Literal["density", "strip", "scatter", "cdf"]
    name: str
    axis: Axis
    mark: float
    mark_text: str
    shapes: tuple[Shape, ...]
    #: What is expected, or kept by a condition: as stretches of the axis, and in words.
    kept: tuple[Stretch, ...] = ()
    kept_text: str = ""
    text: str = ""  # the condition of a strip; the other rows of a scatter
    window_text: str = ""  # how few rows are near, where that is not the usual window
    levels: tuple[Tick, ...] | None = None  # upwards; they may stand close together

    @property
    def mark_place(self) -> float:
        """Where the row is."""
        return self.axis.place(self.mark)

    @property
    def label(self) -> str:
        """What stands along the axis."""
        return self.name + (f"; {self.window_text} of this one" if self.window_text else "")

    def of_role(self, role: str) -> list[Shape]:
        """Return the shapes of a role, which may be none."""
        return [shape for shape in self.shapes if shape.role == role]


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


AnyChart: TypeAlias = Chart | BarChart


def property_chart(pair: Pair, picture: Picture, choice: AxisChoice = "auto") -> AnyChart:
    """Return the chart of the property: its value among those of the group."""
    if isinstance(picture.relation, CategoricalSketch):
        return BarChart(short(pair.column), _shares(picture.relation, None, pair.parent_value))
    if picture.relation is not None and picture.relation.sketches is not None:
        return _scatter_chart(pair, picture.relation, *picture.relation.sketches, choice)
    inside, overall = picture.inside, picture.overall
    if isinstance(inside, CategoricalSketch) and isinstance(overall, CategoricalSketch):
        around = overall if pair.conditions else None
        return BarChart(short(pair.property), _shares(inside, around, picture.place))
    assert isinstance(inside, NumericSketch)  # noqa: S101 - sketches of a property are of one kind
    assert isinstance(overall, NumericSketch)  # noqa: S101
    ranges = [_numbers(item, overall) for item in _ranges(pair)]
    mark = float(cast(float, picture.place))
    axis = choose_axis(mark, inside, overall, ranges, choice)
    line, whole = (_visible(_curve(item, axis), axis) for item in (inside, overall))
    # the group decides on the height of the picture, the table may be cut
    own, other = (float(item.y.max(initial=0.0)) for item in (line, whole))
    top = max(own, min(other, 1.5 * own))
    shapes = [band(axis, low, high, "typical") for low, high in ranges]
    shapes.append(area(_scaled(line, top), "inside"))
    if pair.conditions:
        shapes.append(curve(_scaled(whole, top), "overall"))
    reach = 0.0 if pair.scale <= 1 or not pair.reach else pair.reach
    if reach:
        off = reach * _MICROSECONDS if inside.form in TIMES else reach
        shapes.insert(0, band(axis, mark - off, mark + off, "window"))
    return Chart(
        kind="density",
        name="usual distances from what is expected" if pair.given else short(pair.property),
        axis=axis,
        mark=mark,
        mark_text=_end_text(pair, pair.value),
        shapes=(*shapes, *breaks(axis), upright(axis.place(mark))),
        kept=tuple(ranges),
        kept_text=_ranges_text(pair),
        window_text=_window_text(pair) if reach else "",
    )


def _scatter_chart(
    pair: Pair, found: RelationSketch, x: NumericSketch, y: NumericSketch, choice: AxisChoice
) -> Chart:
    """Return the rows of a relation in a square, or along a line where it has one column."""
    points, low, high = found.band
    at = int(np.argmin(np.abs(points - found.own[0])))
    expected = float(low[at]), float(high[at])
    name, own = short(pair.column), short_value(pair.parent_value)
    mark, level = found.own
    among = [_ends([*expected, *found.y])]
    if found.given is None:
        axis, upwards = choose_axis(level, y, y, among, choice), None
        heights = np.linspace(0.3, 0.7, max(len(found.y), 1))[: len(found.y)]
        rows, shade = Line(axis.places(found.y), heights), band(axis, *expected, "typical")
        mark, height, label = level, 0.5, name
    else:
        if found.is_series:
            first, last = _ends([*found.x, mark])
            room = (last - first) / 40 or 1.0
            axis = Axis(((first - room, last + room),), is_log=False, form=x.form, is_cut=False)
            upwards = choose_axis(level, y, y, among, choice)
        elif found.given:
            most = x.quantiles[2:5:2], y.quantiles[2:5:2]
            axis = choose_axis(mark, x, x, [_ends([mark, *most[0]])], choice)
            upwards = choose_axis(level, y, y, [_ends([*expected, *most[1]])], choice)
        else:
            axis = upwards = _close_axis(found.own, y, choice)
        rows = Line(axis.places(found.x), upwards.places(found.y))
        shade = _between_lines(axis.places(points), upwards.places(low), upwards.places(high))
        given = " and ".join(short(item) for item in pair.given)
        along = short(found.given) if found.given else f"{name} expected by {given}"
        height, label, own = upwards.place(level), f"{along} →  {name} ↑", f"{name} = {own}"
    levels = None if upwards is None else upwards.ticks(5, math.inf)
    is_seen = (rows.x >= 0) & (rows.x <= 1) & (rows.y >= 0) & (rows.y <= 1)
    rows = Line(rows.x[is_seen], rows.y[is_seen])
    is_series = found.is_series and levels is not None and len(rows.x) > 0
    ends = np.array([0.0, 1.0])
    place = axis.place(mark)
    return Chart(
        kind="scatter",
        name=label,
        axis=axis,
        mark=mark,
        mark_text=own,
        shapes=(
            shade,
            *(Shape(ends, np.full(2, tick.place), "line", "grid") for tick in levels or ()),
            *([curve(rows, "series")] if is_series else []),
            Shape(rows.x, rows.y, "dots", "rows"),
            *breaks(axis),
            upright(place, "mark guide"),
            Shape(np.array([place]), np.array([height]), "dots", "this"),
        ),
        text=_rows_text(pair, found),
        levels=levels,
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
    middle = np.minimum(np.maximum(high - low, 2 * LEAST_WIDTH) - (high - low), 1.0) / 2
    up = np.concatenate((low - middle, (high + middle)[::-1]))
    return Shape(np.concatenate((x, x[::-1])), np.clip(up, 0.0, 1.0), "area", "typical")


def _window_text(pair: Pair) -> str:
    others = max(pair.near - 1, 0)
    rows = {0: "no other row", 1: "one other row"}.get(others, f"{others:,} other rows")
    return f"{rows}{' of the group' if pair.conditions else ''} within {distance(pair)}"


def cdf_chart(pair: Pair, picture: Picture) -> Chart:
    """Return the chart of the measure: the densities of the rows, and that of the object."""
    at_object, at_object_overall = picture.densities
    ranked = picture.inside.ranked, picture.overall.ranked
    high = 1.06 * max(float(densities[-1]) for densities in ranked)
    axis = Axis(((0.0, high),), is_log=False, form="number", is_cut=False)
    inside = cdf_line(ranked[0], high)
    below, above = (_shown(part, high) for part in cdf_parts(inside, at_object))
    shapes = [area(above, "above", 1.0), area(below, "below"), curve(_shown(inside, high), "steps")]
    if pair.conditions:
        shapes += [
            curve(_shown(cdf_line(ranked[1], high), high), "overall"),
            upright(axis.place(at_object_overall), "mark other"),
        ]
    return Chart(
        kind="cdf",
        name="density, as a multiple of the mean of the group",
        axis=axis,
        mark=at_object,
        mark_text=f"{at_object:.3g}",
        shapes=(*shapes, upright(axis.place(at_object))),
    )


def _shown(line: Line, high: float) -> Line:
    """Return a cdf in the unit square, in percents: nobody sees finer steps."""
    return Line(line.x / high, np.rint(line.y * 100) / 100)


def cdf_parts(line: Line, at_object: float) -> tuple[Line, Line]:
    """Return a cdf up to f_o, and from there on, both with its value there as one more point."""
    x, y = (np.append(own, own[-1:]) for own in (line.x, line.y))  # the end is a corner, too
    is_below = x <= at_object
    at = np.array([at_object]), y[is_below][-1:]
    below = Line(np.append(x[is_below], at[0]), np.append(y[is_below], at[1]))
    return below, Line(np.append(at[0], x[~is_below]), np.append(at[1], y[~is_below]))


def strips(pair: Pair, picture: Picture) -> tuple[AnyChart, ...]:
    """Return a strip for each condition: what it keeps of the whole table."""
    items = zip(pair.conditions, picture.context, picture.places, strict=True)
    return tuple(_strip(*item) for item in items)


def _strip(condition: Condition, sketch: Sketch, place: float | Value) -> AnyChart:
    text, name = printable(str(condition), 120), short(condition.attribute)
    if isinstance(sketch, CategoricalSketch):
        return BarChart(text, _shares(sketch, None, place), is_condition=True)
    interval = _numbers((condition.low, condition.high), sketch)
    mark = float(cast(float, place))
    most = sketch.quantiles[2:5:2]
    axis = choose_axis(mark, sketch, sketch, [(min(interval + most), max(interval + most))], "auto")
    line = _visible(_curve(sketch, axis), axis)
    line = _scaled(line, float(line.y.max(initial=0.0)))
    kept = _between(line, *(axis.place(end) for end in interval))
    return Chart(
        kind="strip",
        name=name,
        axis=axis,
        mark=mark,
        mark_text=short_value(value_of(sketch.form, mark)),
        shapes=(
            band(axis, *interval, "typical"),
            area(line, "around"),
            area(kept, "inside"),
            *breaks(axis),
            upright(axis.place(mark)),
        ),
        kept=(interval,),
        kept_text=text.removeprefix(f"{printable(condition.attribute)} ").removeprefix("is "),
        text=text,
    )


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


def _numbers(ends: tuple[Value, Value], sketch: NumericSketch) -> tuple[float, float]:
    """Return the numbers of a range; of times on a line that goes on past midnight, too."""
    low, high = (  # one that no date can show is a number already
        float(end) if isinstance(end, (int, float)) else number_of(sketch.form, end) for end in ends
    )
    first, last = sketch.quantiles[0], sketch.quantiles[-1]
    if sketch.form == "time" and last >= _DAY:
        low, high = (number + _DAY if number < first else number for number in (low, high))
    return low, high


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
    seen = (line.x > low) & (line.x < high)
    ends = np.interp([low, high], line.x, line.y)
    x = np.concatenate(([low], line.x[seen], [high]))
    return Line(x, np.concatenate((ends[:1], line.y[seen], ends[1:])))


def _scaled(line: Line, top: float) -> Line:
    if top <= 0:
        return line
    return Line(line.x, np.minimum(line.y / top, 1.0))


def cdf_line(ranked: Floats, high: float) -> Line:
    """Return the steps of the cdf of ranked densities, from (0, 0) to (high, 1)."""
    x = np.concatenate(([0.0], np.repeat(ranked, 2), [high]))
    return Line(x, np.repeat(np.arange(len(ranked) + 1) / len(ranked), 2))
