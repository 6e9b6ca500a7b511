"""Plots of pairs with matplotlib, for papers and notebooks; the web page draws its own.

What is shown is chosen in `scene`; here it is put on paper. Figures are made without pyplot, so
that nothing global changes and nothing has to be closed.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, get_args

from outlying.errors import MissingExtraError, OptionError
from outlying.method.sketches import Picture
from outlying.render import scene
from outlying.render.lettering import DOTS_PER_INCH, filled, fitting, plain
from outlying.render.palette import PALETTE, Theme
from outlying.render.scales import NARROW, Scale
from outlying.results.findings import Findings, Pair
from outlying.results.wording import claim, members, percent

try:
    from matplotlib.figure import Figure
except ImportError:
    raise MissingExtraError("a plot", "plot") from None

if TYPE_CHECKING:
    from matplotlib.axes import Axes

View = Literal["all", "property", "context", "measure"]

_LEAST_WIDTH = 240
_HEIGHTS = {"density": 1.9, "bar": 0.24, "strip": 0.75, "measure": 2.0}
_LINE_HEIGHT = 0.17
_LABEL_SIZE = 8
_LABEL_SHARE = 0.4  # of the width, at most
_LONGEST_BAR = 1.1  # with the number behind it
_SAVED_ALIKE: Any = {"svg.hashsalt": "outlying", "svg.fonttype": "none"}


class Plot(Figure):
    """A figure that a notebook shows, and that is saved to the same bytes each time."""

    def savefig(self, fname: Any, **given: Any) -> None:
        """Save it; an SVG keeps its texts as texts and holds no date."""
        from matplotlib import rc_context

        kind = given.get("format") or str(getattr(fname, "name", fname)).rpartition(".")[2]
        if str(kind).lower() == "svg":
            given["metadata"] = {"Date": None} | dict(given.get("metadata") or {})
        with rc_context(_SAVED_ALIKE):
            super().savefig(fname, **given)

    def _repr_png_(self) -> bytes:
        target = io.BytesIO()
        self.savefig(target, format="png")
        return target.getvalue()


def plot(
    pair: Pair, view: View = "all", *, axis: scene.AxisChoice, theme: Theme, width: int
) -> Plot:
    """Draw a pair: its property, its context, its measure, or all three."""
    _check("view", view, get_args(View))
    return _figure([(pair, view)], axis, theme, width)


def plot_all(
    findings: Findings, top: int, *, axis: scene.AxisChoice, theme: Theme, width: int
) -> Plot:
    """Draw the properties of the strongest pairs, one below the other."""
    if not isinstance(top, int) or top < 1:
        raise OptionError(f"top is {top!r}; allowed: a whole number, at least 1")
    if not findings.pairs:
        raise OptionError("there is no finding to draw")
    return _figure([(pair, "property") for pair in findings.pairs[:top]], axis, theme, width)


def _check(name: str, value: object, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise OptionError(f"{name} is {value!r}; allowed: {' or '.join(map(repr, allowed))}")


def _figure(
    wanted: Sequence[tuple[Pair, View]], axis: scene.AxisChoice, theme: Theme, width: int
) -> Plot:
    _check("axis", axis, get_args(scene.AxisChoice))
    _check("theme", theme, get_args(Theme))
    if not isinstance(width, int) or width < _LEAST_WIDTH:
        raise OptionError(f"width is {width!r}; allowed: pixels, at least {_LEAST_WIDTH}")
    brush = _Brush(PALETTE[theme], width)
    panels = [panel for pair, view in wanted for panel in _panels(pair, view, axis, brush)]
    heights = [panel.height for panel in panels]
    figure = Plot(
        figsize=(width / DOTS_PER_INCH, sum(heights) + _rest(panels, brush)),
        dpi=DOTS_PER_INCH,
        layout="constrained",
        facecolor=brush.colours["paper"],
    )
    for place, panel in zip(
        figure.subplots(len(panels), 1, height_ratios=heights, squeeze=False)[:, 0],
        panels,
        strict=True,
    ):
        brush.prepare(place)
        brush.title(place, panel)
        panel.draw(place)
    has_range = any(isinstance(panel, (_DensityPanel, _StripPanel)) for panel in panels)
    _legend(figure, brush, any(pair.conditions for pair, _ in wanted), has_range)
    return figure


def _rest(panels: Sequence[_Panel], brush: _Brush) -> float:
    """Return the inches that titles, ticks and the legend need."""
    more = sum(brush.filled(panel).count("\n") for panel in panels)
    return 0.35 * len(panels) + 0.6 + _LINE_HEIGHT * more


def _legend(figure: Plot, brush: _Brush, has_context: bool, has_range: bool) -> None:
    """Explain colours once for the whole figure, below it."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    colours = brush.colours
    items: list[tuple[Any, str]] = [(Patch(color=colours["group"], alpha=0.55), "the group")]
    if has_context:
        dashed = Line2D([], [], color=colours["quiet"], linestyle="--")
        items.append((dashed, "the whole table"))
    if has_range:
        items.append((Patch(color=colours["typical"]), "typical: nine of ten"))
    items.append((Line2D([], [], color=colours["mark"], linewidth=2.5), "this row"))
    figure.legend(
        *zip(*items, strict=True),
        loc="outside lower left",
        ncols=4 if brush.width >= NARROW else 2,
        frameon=False,
        fontsize=8,
        labelcolor=colours["quiet"],
    )


class _Panel(Protocol):
    """A part of a figure."""

    title: str
    is_main: bool
    height: float

    def draw(self, axes: Axes) -> None:
        """Draw it."""


class _Brush:
    """Colours and habits that all panels of a figure share."""

    def __init__(self, colours: dict[str, str], width: int) -> None:
        self.colours, self.width = colours, width

    def prepare(self, axes: Axes) -> None:
        """Take away what carries no meaning."""
        axes.set_facecolor(self.colours["paper"])
        for side in ("top", "right", "left"):
            axes.spines[side].set_visible(False)
        axes.spines["bottom"].set_color(self.colours["quiet"])
        axes.tick_params(colors=self.colours["quiet"], labelsize=8)
        axes.set_yticks([])

    def title(self, axes: Axes, panel: _Panel) -> None:
        """Write a title as wide as the figure."""
        size, weight = _font(panel)
        axes.set_title(
            plain(self.filled(panel)),
            loc="left",
            fontsize=size,
            fontweight=weight,
            color=self.colours["ink" if panel.is_main else "quiet"],
        )

    def filled(self, panel: _Panel) -> str:
        """Break a title into lines that fit."""
        return filled(panel.title, self.width - 60, *_font(panel))

    def shade(self, axes: Axes, axis: Scale, low: float, high: float) -> None:
        """Shade a stretch of an axis; a single value still shows."""
        length = axis.axis.place(high) - axis.axis.place(low)
        axes.axvspan(
            axis.at(low),
            axis.at(high),
            color=self.colours["typical"],
            linewidth=2.0 if length * self.width < 2 else 0,
        )

    def mark(self, axes: Axes, place: float, text: str, shift: float) -> None:
        """Mark the object; the label leans towards the middle of the axis."""
        axes.axvline(place, color=self.colours["mark"], linewidth=2.5, clip_on=False)
        axes.annotate(
            plain(text),
            (place, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(4 if shift < 0.6 else -4, -1),
            textcoords="offset points",
            ha="left" if shift < 0.6 else "right",
            va="top",
            color=self.colours["mark"],
            fontweight="bold",
            fontsize=9,
        )


def _font(panel: _Panel) -> tuple[float, str]:
    return (10.0, "bold") if panel.is_main else (8.5, "normal")


class _DensityPanel:
    """A number in its group."""

    height = _HEIGHTS["density"]

    def __init__(self, pair: Pair, chart: scene.DensityChart, brush: _Brush) -> None:
        self.chart, self.brush, self.is_main = chart, brush, True
        self.title = f"{claim(pair)}, among {members(pair)}"

    def draw(self, axes: Axes) -> None:
        chart, colours = self.chart, self.brush.colours
        axis = Scale(chart.axis)
        for low, high in chart.typical:
            self.brush.shade(axes, axis, low, high)
        x, y = axis.back(chart.inside.x), chart.inside.y
        axes.fill_between(x, y, color=colours["group"], alpha=0.55, linewidth=0.8)
        if chart.overall is not None:
            across = axis.back(chart.overall.x)
            axes.plot(across, chart.overall.y, "--", color=colours["quiet"], linewidth=1.4)
        self.brush.mark(axes, axis.at(chart.mark), chart.mark_text, chart.axis.place(chart.mark))
        axis.put_on(axes)
        axes.set_ylim(0, 1.12)
        axes.set_xlabel(plain(chart.name), color=colours["quiet"], fontsize=8.5)


class _BarPanel:
    """A category in its group, or how a condition divides the table."""

    def __init__(self, title: str, bars: Sequence[scene.Share], brush: _Brush, kind: str) -> None:
        self.title, self.bars, self.brush = title, bars, brush
        self.is_main = kind == "property"
        self.height = _HEIGHTS["bar"] * len(bars) + 0.1

    def draw(self, axes: Axes) -> None:
        colours = self.brush.colours
        places = range(len(self.bars))
        own, others = ("mark", "group") if self.is_main else ("group", "quiet")
        used = [colours[own if bar.is_object else others] for bar in self.bars]
        axes.barh(places, [bar.inside for bar in self.bars], color=used, height=0.65, alpha=0.75)
        for place, bar in enumerate(self.bars):
            if bar.overall is not None:
                ends = place - 0.42, place + 0.42
                axes.plot([bar.overall] * 2, ends, "--", color=colours["ink"], linewidth=1.6)
            axes.text(
                _free_place(bar),
                place,
                percent(bar.inside),
                va="center",
                fontsize=8,
                fontweight="bold" if bar.is_object else "normal",
                color=colours["ink"],
            )
        share = self._label(axes, colours[own], colours["ink"])
        axes.set_xlim(-_LONGEST_BAR * share / (1 - share), _LONGEST_BAR)
        axes.set_ylim(len(self.bars) - 0.4, -0.6)
        axes.set_xticks([])
        axes.spines["bottom"].set_visible(False)

    def _label(self, axes: Axes, own: str, other: str) -> float:
        """Write the labels beside the bars; give the share of the width that they need.

        They stand inside of the axes, so that the title above begins where that of others does.
        """
        most = _LABEL_SHARE * self.brush.width
        widest = 0.0
        for place, bar in enumerate(self.bars):
            weight = "bold" if bar.is_object else "normal"
            label, wide = fitting(bar.label, _LABEL_SIZE, weight, most)
            widest = max(widest, wide)
            colour = own if bar.is_object else other
            axes.annotate(
                plain(label),
                (0, place),
                xytext=(-4, 0),
                textcoords="offset points",
                ha="right",
                va="center",
                color=colour,
                fontweight=weight,
                fontsize=_LABEL_SIZE,
            )
        return (widest + 10) / (self.brush.width - 10)


def _free_place(bar: scene.Share) -> float:
    """Find room for a label: behind the bar, or behind the mark beside it."""
    is_near = bar.overall is not None and bar.inside < bar.overall < bar.inside + 0.12
    return (bar.overall if is_near and bar.overall is not None else bar.inside) + 0.015


class _StripPanel:
    """A condition on a number."""

    height = _HEIGHTS["strip"]

    def __init__(self, strip: scene.NumericStrip, brush: _Brush) -> None:
        self.strip, self.brush, self.is_main = strip, brush, False
        self.title = f"{strip.text}, over the whole table"

    def draw(self, axes: Axes) -> None:
        strip, colours = self.strip, self.brush.colours
        axis = Scale(strip.axis)
        low, high = strip.interval
        self.brush.shade(axes, axis, low, high)
        for line, colour, alpha in ((strip.line, "quiet", 0.35), (strip.kept, "group", 0.55)):
            axes.fill_between(
                axis.back(line.x), line.y, color=colours[colour], alpha=alpha, linewidth=0
            )
        self.brush.mark(axes, axis.at(strip.mark), strip.mark_text, strip.axis.place(strip.mark))
        axis.put_on(axes)
        axes.set_ylim(0, 1.1)


class _MeasurePanel:
    """The paper's view: the cdf of the densities, and the areas that make the outlierness."""

    height = _HEIGHTS["measure"]

    def __init__(self, chart: scene.CdfChart, brush: _Brush) -> None:
        self.chart, self.brush, self.is_main = chart, brush, False
        areas = f"area above {chart.above:.3f}, below {chart.below:.3f}"
        self.title = f"Share of rows with at most this density: {areas}"

    def draw(self, axes: Axes) -> None:
        chart, colours = self.chart, self.brush.colours
        above, below = chart.clipped(from_object=True), chart.clipped(from_object=False)
        axes.fill_between(above.x, above.y, 1.0, color=colours["above"], linewidth=0)
        axes.fill_between(below.x, below.y, color=colours["below"], linewidth=0)
        axes.plot(chart.inside.x, chart.inside.y, color=colours["group"], linewidth=1.8)
        if chart.overall is not None:
            axes.plot(chart.overall.x, chart.overall.y, "--", color=colours["quiet"], linewidth=1.4)
            axes.axvline(chart.at_object_overall, color=colours["mark"], ls=":", linewidth=1.4)
        place = chart.at_object / chart.high
        self.brush.mark(axes, chart.at_object, f"{chart.at_object:.3g}", place)
        axes.set_xlim(0, chart.high)
        axes.set_ylim(0, 1.02)
        axes.set_yticks([0, 0.5, 1])
        axes.set_xlabel(
            "density, as a multiple of the mean of the group", color=colours["quiet"], fontsize=8.5
        )
        axes.set_ylabel("G", color=colours["quiet"], fontsize=8.5)


def _panels(pair: Pair, view: View, axis: scene.AxisChoice, brush: _Brush) -> list[_Panel]:
    picture = pair.picture
    if picture is None:
        raise OptionError("this pair was not made by explain(): it has nothing to draw")
    panels: list[_Panel] = []
    if view in ("all", "property"):
        panels.append(_property_panel(pair, picture, axis, brush))
    if view in ("all", "context"):
        panels += [_strip_panel(strip, brush) for strip in scene.strips(pair, picture)]
    if view in ("all", "measure"):
        panels.append(_MeasurePanel(scene.cdf_chart(pair, picture), brush))
    if not panels:
        raise OptionError("this pair has no conditions: there is no context to draw")
    return panels


def _property_panel(
    pair: Pair, picture: Picture, axis: scene.AxisChoice, brush: _Brush
) -> _DensityPanel | _BarPanel:
    chart = scene.property_chart(pair, picture, axis)
    if isinstance(chart, scene.DensityChart):
        return _DensityPanel(pair, chart, brush)
    title = f"{claim(pair)}, among {members(pair)}"
    return _BarPanel(title, chart.bars, brush, "property")


def _strip_panel(strip: scene.Strip, brush: _Brush) -> _StripPanel | _BarPanel:
    if isinstance(strip, scene.NumericStrip):
        return _StripPanel(strip, brush)
    return _BarPanel(f"{strip.text}, over the whole table", strip.bars, brush, "context")
