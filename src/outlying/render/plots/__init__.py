"""Plots of pairs with matplotlib: panels one below the other, with one legend for all of them.

What is shown is chosen in `scene`; here it is drawn. Figures are made without pyplot, so that
nothing global changes and nothing has to be closed.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any, get_args

from outlying.errors import MissingExtraError, OptionError
from outlying.render.axis import AxisChoice
from outlying.render.plots.panels import (
    DensityPanel,
    Panel,
    PanelStyle,
    StripPanel,
    panels_of,
)
from outlying.render.plots.panels import View as View
from outlying.render.plots.scales import DOTS_PER_INCH, NARROW
from outlying.render.scene import PALETTE, Theme
from outlying.results.findings import Findings
from outlying.results.stories import Pair

try:
    from matplotlib.figure import Figure
except ImportError:
    raise MissingExtraError("a plot", "plot") from None

_LEAST_WIDTH = 240
_LINE_HEIGHT = 0.17  # inches
_REPRODUCIBLE: Any = {"svg.hashsalt": "outlying", "svg.fonttype": "none"}


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
    _check("view", view, get_args(View))
    return _figure([(pair, view)], axis, theme, width)


def plot_all(findings: Findings, top: int, *, axis: AxisChoice, theme: Theme, width: int) -> Plot:
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
    wanted: Sequence[tuple[Pair, View]], axis: AxisChoice, theme: Theme, width: int
) -> Plot:
    _check("axis", axis, get_args(AxisChoice))
    _check("theme", theme, get_args(Theme))
    if not isinstance(width, int) or width < _LEAST_WIDTH:
        raise OptionError(f"width is {width!r}; allowed: pixels, at least {_LEAST_WIDTH}")
    style = PanelStyle(PALETTE[theme], width)
    panels = [panel for pair, view in wanted for panel in panels_of(pair, view, axis, style)]
    heights = [panel.height for panel in panels]
    figure = Plot(
        figsize=(width / DOTS_PER_INCH, sum(heights) + _rest(panels, style)),
        dpi=DOTS_PER_INCH,
        layout="constrained",
        facecolor=style.colours["paper"],
    )
    for place, panel in zip(
        figure.subplots(len(panels), 1, height_ratios=heights, squeeze=False)[:, 0],
        panels,
        strict=True,
    ):
        style.prepare(place, panel)
        panel.draw(place)
    has_range = any(isinstance(panel, (DensityPanel, StripPanel)) for panel in panels)
    _legend(figure, style, any(pair.conditions for pair, _ in wanted), has_range)
    return figure


def _rest(panels: Sequence[Panel], style: PanelStyle) -> float:
    """Return the inches that titles, ticks and the legend need."""
    more = sum(style.title(panel).count("\n") for panel in panels)
    return 0.35 * len(panels) + 0.6 + _LINE_HEIGHT * more


def _legend(figure: Plot, style: PanelStyle, has_context: bool, has_range: bool) -> None:
    """Explain colours once for the whole figure, below it."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    colours = style.colours
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
        ncols=4 if style.width >= NARROW else 2,
        frameon=False,
        fontsize=8,
        labelcolor=colours["quiet"],
    )
