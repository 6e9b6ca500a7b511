"""Plots of pairs with matplotlib: panels one below the other, with one legend for all of them.

Figures are made without pyplot, so that nothing global changes and nothing has to be closed.
"""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

from outlying.checks import check_choice, check_whole
from outlying.errors import MissingExtraError, OptionError
from outlying.render import scene
from outlying.render.axis import AxisChoice
from outlying.render.shapes import PALETTE, Shape, Theme
from outlying.render.text import wrapped
from outlying.results.findings import Findings
from outlying.results.stories import Pair
from outlying.results.wording import claim, members, percent
from outlying.table.values import printable

try:
    from matplotlib.figure import Figure
except ImportError:
    raise MissingExtraError("a plot", "plot") from None

if TYPE_CHECKING:
    from matplotlib.axes import Axes

View = Literal["all", "property", "context", "measure"]

_HEIGHTS = {
    "density": 1.9,
    "bars": 0.24,
    "strip": 0.75,
    "cdf": 2.0,
    "scatter": 2.6,
}  # inches; of a bar
_DOTS_PER_INCH, _LINE_HEIGHT = 100, 0.17
_LEAST_WIDTH, _NARROW = 240, 560  # pixels: fewer have fewer ticks, a longer legend
_LABEL_SIZE, _LABEL_SHARE = 8, 0.4  # points; of the width, at most
_LONGEST_BAR = 1.1  # with the number behind it
_LEAST_CHARACTERS = 8
_REPRODUCIBLE: Any = {"svg.hashsalt": "outlying", "svg.fonttype": "none"}

#: How shapes look: a colour of the palette, and what else matplotlib is told.
_LOOKS: dict[str, tuple[str, dict[str, Any]]] = {
    "inside": ("group", {"alpha": 0.55, "linewidth": 0.8}),
    "around": ("quiet", {"alpha": 0.35, "linewidth": 0}),
    "typical": ("typical", {"linewidth": 0}),
    "window": ("mark", {"alpha": 0.14, "linewidth": 0}),
    "above": ("above", {"linewidth": 0}),
    "below": ("below", {"linewidth": 0}),
    "break": ("paper", {"linewidth": 0}),
    "edge": ("quiet", {"linewidth": 0.8, "linestyle": (0, (2, 2))}),
    "overall": ("quiet", {"linewidth": 1.4, "linestyle": "--"}),
    "steps": ("group", {"linewidth": 1.8}),
    "mark": ("mark", {"linewidth": 2.5, "clip_on": False}),
    "grid": ("line", {"linewidth": 0.8}),
    "series": ("group", {"linewidth": 1.0, "alpha": 0.6}),
    "rows": ("group", {"alpha": 0.6, "marker": ".", "markersize": 4, "linestyle": ""}),
    "this": ("mark", {"marker": "o", "markersize": 8, "linestyle": "", "clip_on": False}),
    "mark guide": ("mark", {"linewidth": 0.8, "alpha": 0.5}),
    "mark other": ("mark", {"linewidth": 1.4, "linestyle": ":"}),
}


class Plot(Figure):
    """A figure that a notebook shows, and that is saved to the same bytes each time."""

    def savefig(self, fname: Any, **given: Any) -> None:
        """Save it; an SVG keeps its texts as texts and holds no date."""
        from matplotlib import rc_context

        kind = given.get("format") or str(getattr(fname, "name", fname)).rpartition(".")[2]
        if str(kind).lower() == "svg":
            given["metadata"] = {"Date": None} | dict(given.get("metadata") or {})
        with rc_context(_REPRODUCIBLE):
            self._settle()
            super().savefig(fname, **given)

    def _settle(self) -> None:
        """Lay panels out, and round where they are: the solver's last digit differs by run."""
        self.draw_without_rendering()
        self.set_layout_engine("none")
        for panel in self.axes:
            left, bottom, width, height = (round(end, 6) for end in panel.get_position().bounds)
            panel.set_position((left, bottom, width, height))

    def _repr_png_(self) -> bytes:
        target = io.BytesIO()
        self.savefig(target, format="png")
        return target.getvalue()


def plot(pair: Pair, view: View = "all", *, axis: AxisChoice, theme: Theme, width: int) -> Plot:
    """Draw a pair: its property, its context, its measure, or all three."""
    check_choice("view", view, get_args(View))
    return _figure([(pair, view)], axis, theme, width)


def plot_all(findings: Findings, top: int, *, axis: AxisChoice, theme: Theme, width: int) -> Plot:
    """Draw the properties of the strongest pairs, one below the other."""
    check_whole("top", top, 1)
    if not findings.pairs:
        raise OptionError("there is no finding to draw")
    return _figure([(pair, "property") for pair in findings.pairs[:top]], axis, theme, width)


def _figure(
    wanted: Sequence[tuple[Pair, View]], axis: AxisChoice, theme: Theme, width: int
) -> Plot:
    check_choice("axis", axis, get_args(AxisChoice))
    check_choice("theme", theme, get_args(Theme))
    if not isinstance(width, int) or width < _LEAST_WIDTH:
        raise OptionError(f"width is {width!r}; allowed: pixels, at least {_LEAST_WIDTH}")
    draw = _Drawing(PALETTE[theme], width)
    panels = [panel for pair, view in wanted for panel in _panels(pair, view, axis)]
    heights = [panel.height for panel in panels]
    lines = sum(draw.title(panel).count("\n") for panel in panels)
    figure = Plot(
        figsize=(
            width / _DOTS_PER_INCH,
            sum(heights) + 0.35 * len(panels) + 0.6 + _LINE_HEIGHT * lines,
        ),
        dpi=_DOTS_PER_INCH,
        layout="constrained",
        facecolor=draw.colours["paper"],
    )
    places = figure.subplots(len(panels), 1, height_ratios=heights, squeeze=False)[:, 0]
    for place, panel in zip(places, panels, strict=True):
        draw.panel(place, panel)
    draw.legend(figure, panels, any(pair.conditions for pair, _ in wanted))
    return figure


# --- panels --------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class _Panel:
    """A part of a figure: a chart with its title."""

    title: str
    chart: scene.AnyChart
    is_main: bool = False

    @property
    def height(self) -> float:
        height = _HEIGHTS[self.chart.kind]
        if isinstance(self.chart, scene.BarChart):
            return height * len(self.chart.bars) + 0.1
        if self.chart.kind == "scatter" and self.chart.levels is None:
            return height / 2
        return height

    @property
    def font(self) -> tuple[float, str]:
        return (10.0, "bold") if self.is_main else (8.5, "normal")


def _panels(pair: Pair, view: View, axis: AxisChoice) -> list[_Panel]:
    """Return the panels that show a pair; OptionError where there is nothing to show."""
    picture = pair.picture
    if picture is None:
        raise OptionError("this pair was not made by explain(): it has nothing to draw")
    panels: list[_Panel] = []
    if view in ("all", "property"):
        title = claim(pair) if pair.given else f"{claim(pair)}, among {members(pair)}"
        panels.append(_Panel(title, scene.property_chart(pair, picture, axis), is_main=True))
    if view in ("all", "context"):
        strips = scene.strips(pair, picture)
        panels += [_Panel(f"{strip.text}, over the whole table", strip) for strip in strips]
    if view in ("all", "measure"):
        above, below = picture.areas
        title = (
            f"Share of rows with at most this density: area above {above:.3f}, below {below:.3f}"
        )
        panels.append(_Panel(title, scene.cdf_chart(pair, picture)))
    if not panels:
        raise OptionError("this pair has no conditions: there is no context to draw")
    return panels


class _Drawing:
    """Colours and sizes that all panels of a figure share."""

    def __init__(self, colours: dict[str, str], width: int) -> None:
        self.colours, self.width = colours, width

    def title(self, panel: _Panel) -> str:
        """Return the title of a panel in lines that fit."""
        return _wrapped_to(panel.title, self.width - 60, *panel.font)

    def panel(self, axes: Axes, panel: _Panel) -> None:
        """Draw a chart, with a title as wide as the figure."""
        strip_frame(axes, self.colours)
        size, weight = panel.font
        axes.set_title(
            plain(self.title(panel)),
            loc="left",
            fontsize=size,
            fontweight=weight,
            color=self.colours["ink" if panel.is_main else "quiet"],
        )
        if isinstance(panel.chart, scene.BarChart):
            self._bars(axes, panel.chart)
        else:
            self._chart(axes, panel.chart)

    def _chart(self, axes: Axes, chart: scene.Chart) -> None:
        """Draw shapes in the unit square, mark the row, and name ticks."""
        for order, shape in enumerate(chart.shapes):
            self._shape(axes, shape, order)
        self._mark(axes, chart.mark_place, chart.mark_text)
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1.02 if chart.kind == "cdf" else 1.12)
        if chart.levels is not None:
            places = [tick.place for tick in chart.levels]
            axes.set_yticks(places, [plain(tick.text) for tick in chart.levels])
        ticks = chart.axis.ticks(3 if self.width < _NARROW else 6, self.width / 6.6 - 8)
        axes.set_xticks([tick.place for tick in ticks], [plain(tick.text) for tick in ticks])
        if chart.kind == "cdf":
            axes.set_yticks([0, 0.5, 1])
            axes.set_ylabel("G", color=self.colours["quiet"], fontsize=8.5)
        if chart.kind != "strip":
            named = _wrapped_to(chart.label, self.width - 60, 8.5, "normal")
            axes.set_xlabel(plain(named), color=self.colours["quiet"], fontsize=8.5)

    def _shape(self, axes: Axes, shape: Shape, order: int) -> None:
        name, known = _LOOKS[shape.role]
        look: Any = {"color": self.colours[name], "zorder": 1 + order / 100} | known
        if shape.kind == "area":
            axes.fill(shape.x, shape.y, **look)
        else:
            axes.plot(shape.x, shape.y, **look)

    def _mark(self, axes: Axes, place: float, text: str) -> None:
        """Label the object; the label leans towards the middle of the axis."""
        is_left = place < 0.6
        axes.annotate(
            plain(text),
            (place, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(4 if is_left else -4, -1),
            textcoords="offset points",
            ha="left" if is_left else "right",
            va="top",
            color=self.colours["mark"],
            fontweight="bold",
            fontsize=9,
        )

    def _bars(self, axes: Axes, chart: scene.BarChart) -> None:
        colours, bars = self.colours, chart.bars
        own, others = ("group", "quiet") if chart.is_condition else ("mark", "group")
        used = [colours[own if bar.is_object else others] for bar in bars]
        axes.barh(
            range(len(bars)), [bar.inside for bar in bars], color=used, height=0.65, alpha=0.75
        )
        widest = 0.0
        for place, bar in enumerate(bars):
            weight = "bold" if bar.is_object else "normal"
            behind = bar.inside
            if bar.overall is not None:
                ends = place - 0.42, place + 0.42
                axes.plot([bar.overall] * 2, ends, "--", color=colours["ink"], linewidth=1.6)
                is_near = bar.inside < bar.overall < bar.inside + 0.12
                behind = bar.overall if is_near else behind
            look: Any = {"va": "center", "fontsize": _LABEL_SIZE, "fontweight": weight}
            axes.text(behind + 0.015, place, percent(bar.inside), color=colours["ink"], **look)
            label, wide = _fitted(bar.label, weight, _LABEL_SHARE * self.width)
            widest = max(widest, wide)
            axes.annotate(  # inside of the axes, so that the title begins where others do
                plain(label),
                (0, place),
                xytext=(-4, 0),
                textcoords="offset points",
                ha="right",
                color=colours[own if bar.is_object else "ink"],
                **look,
            )
        share = (widest + 10) / (self.width - 10)
        axes.set_xlim(-_LONGEST_BAR * share / (1 - share), _LONGEST_BAR)
        axes.set_ylim(len(bars) - 0.4, -0.6)
        axes.set_xticks([])
        axes.spines["bottom"].set_visible(False)

    def legend(self, figure: Plot, panels: Sequence[_Panel], has_context: bool) -> None:
        """Explain colours once for the whole figure, below it."""
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        colours, kinds = self.colours, {panel.chart.kind for panel in panels}
        items: list[tuple[Any, str]] = []
        if kinds - {"scatter"}:
            items.append((Patch(color=colours["group"], alpha=0.55), "the group"))
        if has_context:
            dashed = Line2D([], [], color=colours["quiet"], linestyle="--")
            items.append((dashed, "the whole table"))
        if "scatter" in kinds:
            dots = Line2D([], [], color=colours["group"], marker=".", linestyle="")
            items += [(dots, "other rows"), (Patch(color=colours["typical"]), "expected")]
        if kinds & {"density", "strip"}:
            items.append((Patch(color=colours["typical"]), "expected: nine of ten"))
        items.append((Line2D([], [], color=colours["mark"], linewidth=2.5), "this row"))
        figure.legend(
            *zip(*items, strict=True),
            loc="outside lower left",
            ncols=4 if self.width >= _NARROW else 2,
            frameon=False,
            fontsize=8,
            labelcolor=colours["quiet"],
        )


def strip_frame(axes: Axes, colours: Mapping[str, str]) -> None:
    """Remove from an axes what carries no meaning: frame, ticks of heights."""
    axes.set_facecolor(colours["paper"])
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(colours["quiet"])
    axes.tick_params(colors=colours["quiet"], labelsize=8)
    axes.set_yticks([])


# --- texts ---------------------------------------------------------------------------------------


def plain(text: str) -> str:
    """Return a text that matplotlib does not read as mathematics."""
    return text.replace("$", r"\$")


def _wrapped_to(text: str, most: float, size: float, weight: str) -> str:
    """Return a text in lines of at most so many pixels."""
    count = int(most / (0.75 * size))
    while True:
        lines = wrapped(text, count)
        widest = max((_pixels(line, size, weight) for line in lines.splitlines()), default=0.0)
        if count <= _LEAST_CHARACTERS or most >= widest:
            return lines
        count -= 1


def _pixels(text: str, size: float, weight: str) -> float:
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(size=size, weight=weight)
    points = text_to_path.get_text_width_height_descent(text, font, ismath=False)[0]
    return float(points) * _DOTS_PER_INCH / 72


def _fitted(label: str, weight: str, most: float) -> tuple[str, float]:
    """Return a label, shortened until it fits, with its width in pixels."""
    shown = label
    while _pixels(shown, _LABEL_SIZE, weight) > most and len(shown) > 1:
        shown = printable(label, len(shown) - 1)
    return shown, _pixels(shown, _LABEL_SIZE, weight)
