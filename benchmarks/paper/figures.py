"""The figures of the page, drawn with matplotlib from values that are computed elsewhere."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from benchmarks.paper import unif2
from benchmarks.paper.density_score import DensityScore
from benchmarks.paper.examples import Example
from benchmarks.paper.notation import context, subject
from benchmarks.paper.tables import Reproduced, ScoredPair
from benchmarks.paper.timing import Timed
from benchmarks.paper.unif2 import Drawn, Histogram, Unif2
from outlying.options import Measure
from outlying.render.plots import Plot, plain, strip_frame
from outlying.render.scene import cdf_line
from outlying.render.shapes import PALETTE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = PALETTE["light"]
_MEASURES: dict[Measure, str] = {
    "paper": "the paper's measure",
    "relative": "the measure free of units",
}
_STYLES = ("-", "--", ":")
_MOST_STEPS = 400
_WIDEST = 58  # characters of a title


def svg(figure: Plot) -> str:
    """Return a figure as the text of an SVG file, the same each time."""
    target = io.BytesIO()
    figure.savefig(target, format="svg")
    return target.getvalue().decode("utf-8").rstrip("\n")


def example(shown: Example) -> Plot:
    """Draw f with the marked values, and G with the areas of each."""
    figure, grid = _sheet(1, 1 + len(shown.marks), 2.9)
    axes = grid[0][0]
    _filled(axes, shown.points, shown.heights)
    axes.set_xlim(float(shown.points[0]), float(shown.points[-1]))
    for mark in shown.marks:
        _mark(axes, mark.value, mark.name)
    axes.set_ylim(0, 1.25 * float(np.max(shown.heights)))
    _title(axes, "Density f", shown.unit or "value")
    for place, mark in enumerate(shown.marks, start=1):
        _cdf(grid[0][place], mark.score, mark.name)
    return figure


def explained(found: Reproduced) -> Plot:
    """Draw G without and with the explanation: for the paper's pair, and for ours."""
    pairs = list(_distinct(found))
    figure, grid = _sheet(len(pairs), 2, 2.7)
    for (whose, pair), row in zip(pairs, grid, strict=True):
        about = f"{whose}: {subject(pair)}"
        _cdf(row[0], pair.overall, "f(o)", f"{about}, all rows")
        if not pair.conditions:
            row[1].set_visible(False)
            continue
        _cdf(row[1], pair.inside, "f(o)", f"{context(pair)} ({pair.rows:,} rows)")
    return figure


def _distinct(found: Reproduced) -> Iterator[tuple[str, ScoredPair]]:
    """Return the paper's pair and ours, the same one once."""
    seen: list[tuple[Any, ...]] = []
    named = [("paper's pair", found.published), ("highest", found.highest)]
    if found.same_property is not None:
        named.append(("same property", found.same_property))
    for whose, pair in named:
        key = (pair.number, pair.conditions)
        if key not in seen:
            seen.append(key)
            yield whose, pair


def times(measured: Sequence[Timed]) -> Plot:
    """Draw the time of the search against the number of conditions."""
    figure, grid = _sheet(1, 2, 2.8)
    titles = ("Threshold 0.9: what is reported is not extended", "All contexts visited")
    for place, (axes, title) in enumerate(zip(grid[0], titles, strict=True)):
        for timed, style in zip(measured, _STYLES, strict=False):
            seconds = (timed.by_conditions, timed.all_visited)[place]
            levels = range(1, len(seconds) + 1)
            milliseconds = [1000 * second for second in seconds]
            axes.plot(levels, milliseconds, style, marker="o", markersize=3, color=COLOURS["group"])
            axes.annotate(
                timed.claim.name,
                (levels[-1], milliseconds[-1]),
                xytext=(4, 0),
                textcoords="offset points",
                fontsize=8,
                va="center",
                color=COLOURS["ink"],
            )
        most = max(len(timed.by_conditions) for timed in measured)
        axes.set_xlim(0.5, most + 1.8)
        axes.set_xticks(range(1, most + 1))
        axes.set_ylim(0, None)
        _title(axes, title, "most conditions k")
        _left(axes, "search, ms")
    return figure


def bins(found: Unif2) -> Plot:
    """Draw the older method's scores against the number of bins, and our single values."""
    figure, grid = _sheet(2, 1, 2.4)
    for row, measure in zip(grid, get_args(Measure), strict=True):
        axes, score = row[0], found.first.score(measure)
        axes.axhline(score, color=COLOURS["mark"], linewidth=2)
        _note(axes, (unif2.BINS[-1], score), f"density {score:.3f}", COLOURS["mark"], (-2, 4))
        for binned, style in zip(found.first.binned, _STYLES, strict=False):
            scores = binned.scores(measure)
            axes.plot(
                unif2.BINS,
                scores,
                style,
                marker=".",
                color=COLOURS["group"],
                linewidth=1,
                label=binned.kind,
            )
        axes.set_ylim(-0.03 * max(1.1 * score, 0.05), 1.18 * score)
        axes.legend(frameon=False, fontsize=8, loc="center right", labelcolor=COLOURS["ink"])
        _title(axes, f"Outlierness of o = 0 by {_MEASURES[measure]}", "bins")
        _left(axes, "")
    return figure


def histograms(shown: Sequence[Histogram]) -> Plot:
    """Draw histograms, the object's bin in another colour."""
    figure, grid = _sheet(1, len(shown), 2.3)
    for axes, item in zip(grid[0], shown, strict=True):
        colours = [COLOURS["group"]] * len(item.shares)
        colours[item.own] = COLOURS["mark"]
        widths = np.diff(item.edges)
        axes.bar(
            item.edges[:-1],
            item.shares,
            widths,
            align="edge",
            color=colours,
            alpha=0.7,
            edgecolor=COLOURS["paper"],
        )
        _mark(axes, 0.0, "o", thin=True)
        axes.set_ylim(0, 1.25 * float(item.shares.max()))
        _title(axes, f"{item.bins} bins: {item.paper:.3f}, {item.relative:.3f} (relative)", "")
    return figure


def density(found: Unif2) -> Plot:
    """Draw the density with the object, and its G."""
    figure, grid = _sheet(1, 2, 2.5)
    axes = grid[0][0]
    _filled(axes, found.points, found.heights)
    _mark(axes, 0.0, "o")
    axes.set_ylim(0, 1.25 * float(np.max(found.heights)))
    scores = f"{found.score.paper:.3f}, {found.score.relative:.3f} (relative)"
    _title(axes, f"Density: {scores}", "value")
    _cdf(grid[0][1], found.score, "f(o)")
    return figure


def seeds(samples: Sequence[Drawn]) -> Plot:
    """Draw, for each sample, the range over numbers of bins and our single value."""
    figure, grid = _sheet(1, 2, 2.5)
    for axes, measure in zip(grid[0], get_args(Measure), strict=True):
        for item in samples:
            scores = item.binned[0].scores(measure)
            axes.plot([item.seed] * 2, [min(scores), max(scores)], color=COLOURS["group"], lw=2.5)
            axes.plot([item.seed], [item.score(measure)], "o", color=COLOURS["mark"], markersize=4)
        axes.set_ylim(0, None)
        _title(axes, f"Outlierness of o = 0 by {_MEASURES[measure]}", "sample")
        _left(axes, "")
    return figure


def _sheet(rows: int, columns: int, height: float) -> tuple[Plot, list[list[Axes]]]:
    """Prepare a figure with panels."""
    figure = Plot(
        figsize=(8.4, height * rows), dpi=100, layout="constrained", facecolor=COLOURS["paper"]
    )
    grid = figure.subplots(rows, columns, squeeze=False)
    for axes in grid.flat:
        strip_frame(axes, COLOURS)
    return figure, [list(row) for row in grid]


def _filled(axes: Axes, points: Any, heights: Any) -> None:
    axes.fill_between(points, heights, color=COLOURS["group"], alpha=0.55, linewidth=0.8)


def _mark(axes: Axes, place: float, name: str, *, thin: bool = False) -> None:
    """Mark a value; the name leans towards the middle of the axis."""
    axes.axvline(place, color=COLOURS["mark"], linewidth=1 if thin else 2)
    low, high = axes.get_xlim()
    shift = 4 if place < low + 0.7 * (high - low) else -4
    _note(axes, (place, 1.0), name, COLOURS["mark"], (shift, -9), ("data", "axes fraction"))


def _note(
    axes: Axes,
    place: tuple[float, float],
    text: str,
    colour: str,
    shift: tuple[float, float],
    coordinates: Any = "data",
) -> None:
    axes.annotate(
        plain(text),
        place,
        xycoords=coordinates,
        xytext=shift,
        textcoords="offset points",
        ha="left" if shift[0] >= 0 else "right",
        color=colour,
        fontsize=8.5,
        fontweight="bold",
    )


def _cdf(axes: Axes, score: DensityScore, name: str, title: str = "") -> None:
    """Draw G with the areas above and below it, cut at the object's density."""
    steps = np.sort(score.densities)
    if len(steps) > _MOST_STEPS:
        steps = steps[np.linspace(0, len(steps) - 1, _MOST_STEPS).round().astype(int)]
    high = 1.05 * max(float(steps[-1]), score.at_object)
    line = cdf_line(steps, high)
    _areas(axes, line.x, line.y, score.at_object)
    axes.plot(line.x, line.y, color=COLOURS["group"], linewidth=1.8)
    axes.set_xlim(-0.02 * high, high)
    axes.set_ylim(0, 1.02)
    _mark(axes, score.at_object, name)
    above, below = score.areas
    areas = f"above {above:.3g}, below {below:.3g}"
    lines = [*textwrap.wrap(title or f"G, {name}", _WIDEST), areas]
    _title(axes, "\n".join([*lines, f"outlierness {score.paper:.3f}"]), "density per unit")
    _left(axes, "G", (0, 0.5, 1))


def _areas(axes: Axes, places: Any, shares: Any, at_object: float) -> None:
    """Fill above G right of the object, and below G left of it."""
    own = float(shares[np.searchsorted(places, at_object, side="right") - 1])
    right, left = places >= at_object, places <= at_object
    axes.fill_between(
        np.concatenate(([at_object], places[right])),
        np.concatenate(([own], shares[right])),
        1.0,
        color=COLOURS["above"],
        linewidth=0,
    )
    axes.fill_between(
        np.concatenate((places[left], [at_object])),
        np.concatenate((shares[left], [own])),
        color=COLOURS["below"],
        linewidth=0,
    )


def _title(axes: Axes, text: str, below: str) -> None:
    axes.set_title(plain(text), loc="left", fontsize=8.5, color=COLOURS["ink"])
    axes.set_xlabel(plain(below), color=COLOURS["quiet"], fontsize=8.5)


def _left(axes: Axes, text: str, ticks: Sequence[float] | None = None) -> None:
    """Show an axis at the left."""
    from matplotlib.ticker import MaxNLocator

    if ticks is None:
        axes.yaxis.set_major_locator(MaxNLocator(4))
    else:
        axes.set_yticks(ticks)
    axes.set_ylabel(text, color=COLOURS["quiet"], fontsize=8.5)
    axes.spines["left"].set_visible(True)
    axes.spines["left"].set_color(COLOURS["line"])
