"""A picture: F1 against the number of columns."""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path
from typing import Any

from benchmarks.quality.summary import Figures

MARKERS = "osD^v"


def plot(figures: Figures, methods: tuple[str, ...], path: Path) -> bool:
    """Draw the mean F1 on the HiCS tables as SVG, always the same for the same figures.

    Gives False where there is nothing to draw, or matplotlib is not installed.
    """
    kinds = figures.get("hics", {})
    if not kinds or importlib.util.find_spec("matplotlib") is None:
        return False
    matplotlib: Any = importlib.import_module("matplotlib")
    with matplotlib.rc_context({"svg.hashsalt": "outlying", "font.size": 10}):
        drawing = importlib.import_module("matplotlib.figure").Figure((7, 3.8), layout="tight")
        _draw(drawing.add_subplot(), kinds, methods)
        drawing.savefig(path, format="svg", metadata={"Date": None})
    return True


def _draw(axes: Any, kinds: dict[str, Any], methods: tuple[str, ...]) -> None:
    columns = [int(kind.split()[1]) for kind in kinds]
    for marker, method in zip(MARKERS, methods, strict=False):
        values = [kinds[kind][method]["f1"] for kind in kinds]
        axes.plot(columns, values, marker=marker, label=method)
    axes.set(xlabel="columns", ylabel="mean F1 of the columns named", ylim=(0, 1.03))
    axes.set_xticks(columns)
    axes.grid(alpha=0.3)
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
