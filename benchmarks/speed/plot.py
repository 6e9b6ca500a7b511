"""A picture: seconds against rows, columns and conditions."""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path
from typing import Any

from benchmarks.speed.checks import Figures
from benchmarks.speed.parts import METHODS

PANELS = ("rows", "columns", "conditions")
MARKERS = "osD^"


def plot(figures: Figures, path: Path) -> bool:
    """Draw the part `scaling` as SVG, always the same for the same figures.

    Gives False where there is nothing to draw, or matplotlib is not installed.
    """
    if not figures or importlib.util.find_spec("matplotlib") is None:
        return False
    matplotlib: Any = importlib.import_module("matplotlib")
    with matplotlib.rc_context({"svg.hashsalt": "outlying", "font.size": 10}):
        drawing = importlib.import_module("matplotlib.figure").Figure((11, 3.8), layout="tight")
        panels = drawing.subplots(1, len(PANELS), sharey=True)
        for panel, axes in zip(PANELS, panels, strict=True):
            _draw(axes, panel, figures)
        panels[0].set_ylabel("seconds for one row")
        panels[-1].legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
        drawing.savefig(path, format="svg", metadata={"Date": None})
    return True


def _draw(axes: Any, panel: str, figures: Figures) -> None:
    for place, method in enumerate(METHODS):
        points = series(figures, panel, method)
        if panel == "conditions" and not method.startswith("outlying") and points:
            axes.axhline(points[0][1], color=f"C{place}", linestyle="--", label=method)
        else:
            xs, ys = [x for x, _ in points], [y for _, y in points]
            axes.plot(xs, ys, marker=MARKERS[place], color=f"C{place}", label=method)
    axes.set(xlabel="most conditions" if panel == "conditions" else panel, yscale="log")
    if panel == "conditions":
        axes.set_xticks(
            sorted({x for method in METHODS for x, _ in series(figures, panel, method)})
        )
    else:
        axes.set_xscale("log")
    axes.grid(alpha=0.3)


def series(figures: Figures, panel: str, method: str) -> list[tuple[int, float]]:
    """Return what came to its end: size and seconds, by size."""
    begin = f"{panel}/{method}/"
    return sorted(
        (int(name.removeprefix(begin)), float(figure["seconds"]))
        for name, figure in figures.items()
        if name.startswith(begin) and "seconds" in figure
    )
