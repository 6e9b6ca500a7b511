"""Panels of a figure: the property, a condition, the measure; and the style that they share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, Protocol

from outlying.errors import OptionError
from outlying.method.profiles import Picture
from outlying.render import scene
from outlying.render.axis import AxisChoice
from outlying.render.plots.scales import Scale, fitted, plain, wrapped_to
from outlying.results.stories import Pair
from outlying.results.wording import claim, members, percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

View = Literal["all", "property", "context", "measure"]

_HEIGHTS = {"density": 1.9, "bar": 0.24, "strip": 0.75, "measure": 2.0}  # in inches
_LABEL_SIZE = 8
_LABEL_SHARE = 0.4  # of the width, at most
_LONGEST_BAR = 1.1  # with the number behind it


class Panel(Protocol):
    """A part of a figure."""

    title: str
    is_main: bool
    height: float

    def draw(self, axes: Axes) -> None:
        """Draw it."""


def strip_frame(axes: Axes, colours: Mapping[str, str]) -> None:
    """Remove from an axes what carries no meaning: frame, ticks of heights."""
    axes.set_facecolor(colours["paper"])
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(colours["quiet"])
    axes.tick_params(colors=colours["quiet"], labelsize=8)
    axes.set_yticks([])


class PanelStyle:
    """Colours and marks that all panels of a figure share."""

    def __init__(self, colours: dict[str, str], width: int) -> None:
        self.colours, self.width = colours, width

    def prepare(self, axes: Axes, panel: Panel) -> None:
        """Set an axes up for a panel, with a title as wide as the figure."""
        strip_frame(axes, self.colours)
        size, weight = _font(panel)
        axes.set_title(
            plain(self.title(panel)),
            loc="left",
            fontsize=size,
            fontweight=weight,
            color=self.colours["ink" if panel.is_main else "quiet"],
        )

    def title(self, panel: Panel) -> str:
        """Return the title of a panel in lines that fit."""
        return wrapped_to(panel.title, self.width - 60, *_font(panel))

    def shade(self, axes: Axes, scale: Scale, low: float, high: float) -> None:
        """Shade a stretch of an axis; a single value still shows."""
        length = scale.axis.place(high) - scale.axis.place(low)
        axes.axvspan(
            scale.to_plot(low),
            scale.to_plot(high),
            color=self.colours["typical"],
            linewidth=2.0 if length * self.width < 2 else 0,
        )

    def surround(self, axes: Axes, scale: Scale, window: tuple[float, float]) -> None:
        """Shade the part of the axis around the object where hardly anything else is."""
        low, high = (min(max(end, scale.axis.low), scale.axis.high) for end in window)
        colour = self.colours["mark"]
        axes.axvspan(scale.to_plot(low), scale.to_plot(high), color=colour, alpha=0.14, linewidth=0)

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


def _font(panel: Panel) -> tuple[float, str]:
    return (10.0, "bold") if panel.is_main else (8.5, "normal")


class DensityPanel:
    """A number in its group."""

    height = _HEIGHTS["density"]

    def __init__(self, title: str, chart: scene.DensityChart, style: PanelStyle) -> None:
        self.title, self.chart, self.style, self.is_main = title, chart, style, True

    def draw(self, axes: Axes) -> None:
        """Fill the density of the group, and mark the object."""
        chart, colours = self.chart, self.style.colours
        scale = Scale(chart.axis)
        if chart.window is not None:
            self.style.surround(axes, scale, chart.window)
        for low, high in chart.typical:
            self.style.shade(axes, scale, low, high)
        x, y = scale.from_places(chart.inside.x), chart.inside.y
        axes.fill_between(x, y, color=colours["group"], alpha=0.55, linewidth=0.8)
        if chart.overall is not None:
            across = scale.from_places(chart.overall.x)
            axes.plot(across, chart.overall.y, "--", color=colours["quiet"], linewidth=1.4)
        self.style.mark(
            axes, scale.to_plot(chart.mark), chart.mark_text, chart.axis.place(chart.mark)
        )
        scale.apply_to(axes)
        axes.set_ylim(0, 1.12)
        named = chart.name + (f"; {chart.window_text} of this one" if chart.window_text else "")
        lines = wrapped_to(named, self.style.width - 60, 8.5, "normal")
        axes.set_xlabel(plain(lines), color=colours["quiet"], fontsize=8.5)


class BarPanel:
    """A category in its group, or how a condition divides the table."""

    def __init__(
        self, title: str, bars: Sequence[scene.Share], style: PanelStyle, *, is_main: bool
    ) -> None:
        self.title, self.bars, self.style, self.is_main = title, bars, style, is_main
        self.height = _HEIGHTS["bar"] * len(bars) + 0.1

    def draw(self, axes: Axes) -> None:
        """Draw a bar for each category, and mark the object's."""
        colours = self.style.colours
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
        """Write the labels beside the bars, and return the share of the width that they need.

        They stand inside the axes, so that the title begins where those of other panels do.
        """
        most = _LABEL_SHARE * self.style.width
        widest = 0.0
        for place, bar in enumerate(self.bars):
            weight = "bold" if bar.is_object else "normal"
            label, wide = fitted(bar.label, _LABEL_SIZE, weight, most)
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
        return (widest + 10) / (self.style.width - 10)


def _free_place(bar: scene.Share) -> float:
    """Return where a label has room: behind the bar, or behind the mark beside it."""
    is_near = bar.overall is not None and bar.inside < bar.overall < bar.inside + 0.12
    return (bar.overall if is_near and bar.overall is not None else bar.inside) + 0.015


class StripPanel:
    """A condition on a number."""

    height = _HEIGHTS["strip"]

    def __init__(self, title: str, strip: scene.NumericStrip, style: PanelStyle) -> None:
        self.title, self.strip, self.style, self.is_main = title, strip, style, False

    def draw(self, axes: Axes) -> None:
        """Shade the interval, and fill what the condition keeps."""
        strip, colours = self.strip, self.style.colours
        scale = Scale(strip.axis)
        low, high = strip.interval
        self.style.shade(axes, scale, low, high)
        for line, colour, alpha in ((strip.line, "quiet", 0.35), (strip.kept, "group", 0.55)):
            axes.fill_between(
                scale.from_places(line.x), line.y, color=colours[colour], alpha=alpha, linewidth=0
            )
        self.style.mark(
            axes, scale.to_plot(strip.mark), strip.mark_text, strip.axis.place(strip.mark)
        )
        scale.apply_to(axes)
        axes.set_ylim(0, 1.1)


class MeasurePanel:
    """The paper's view: the cdf of the densities, and the areas that make the outlierness."""

    height = _HEIGHTS["measure"]

    def __init__(self, chart: scene.CdfChart, style: PanelStyle) -> None:
        self.chart, self.style, self.is_main = chart, style, False
        areas = f"area above {chart.above:.3f}, below {chart.below:.3f}"
        self.title = f"Share of rows with at most this density: {areas}"

    def draw(self, axes: Axes) -> None:
        """Draw the cdf, and fill the areas above and below it."""
        chart, colours = self.chart, self.style.colours
        above, below = chart.clipped(from_object=True), chart.clipped(from_object=False)
        axes.fill_between(above.x, above.y, 1.0, color=colours["above"], linewidth=0)
        axes.fill_between(below.x, below.y, color=colours["below"], linewidth=0)
        axes.plot(chart.inside.x, chart.inside.y, color=colours["group"], linewidth=1.8)
        if chart.overall is not None:
            axes.plot(chart.overall.x, chart.overall.y, "--", color=colours["quiet"], linewidth=1.4)
            axes.axvline(chart.at_object_overall, color=colours["mark"], ls=":", linewidth=1.4)
        place = chart.at_object / chart.high
        self.style.mark(axes, chart.at_object, f"{chart.at_object:.3g}", place)
        axes.set_xlim(0, chart.high)
        axes.set_ylim(0, 1.02)
        axes.set_yticks([0, 0.5, 1])
        axes.set_xlabel(
            "density, as a multiple of the mean of the group", color=colours["quiet"], fontsize=8.5
        )
        axes.set_ylabel("G", color=colours["quiet"], fontsize=8.5)


def panels_of(pair: Pair, view: View, axis: AxisChoice, style: PanelStyle) -> list[Panel]:
    """Return the panels that show a pair; OptionError where there is nothing to show."""
    picture = pair.picture
    if picture is None:
        raise OptionError("this pair was not made by explain(): it has nothing to draw")
    panels: list[Panel] = []
    if view in ("all", "property"):
        panels.append(_property_panel(pair, picture, axis, style))
    if view in ("all", "context"):
        panels += [_strip_panel(strip, style) for strip in scene.strips(pair, picture)]
    if view in ("all", "measure"):
        panels.append(MeasurePanel(scene.cdf_chart(pair, picture), style))
    if not panels:
        raise OptionError("this pair has no conditions: there is no context to draw")
    return panels


def _property_panel(
    pair: Pair, picture: Picture, axis: AxisChoice, style: PanelStyle
) -> DensityPanel | BarPanel:
    chart = scene.property_chart(pair, picture, axis)
    title = f"{claim(pair)}, among {members(pair)}"
    if isinstance(chart, scene.DensityChart):
        return DensityPanel(title, chart, style)
    return BarPanel(title, chart.bars, style, is_main=True)


def _strip_panel(strip: scene.Strip, style: PanelStyle) -> StripPanel | BarPanel:
    title = f"{strip.text}, over the whole table"
    if isinstance(strip, scene.NumericStrip):
        return StripPanel(title, strip, style)
    return BarPanel(title, strip.bars, style, is_main=False)
