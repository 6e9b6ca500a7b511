"""Draw the README's picture from the demo: the same value against everyone and in its context.

    python scripts/make_picture.py

The picture is drawn from a finding, so that it says what the code says.
"""

from __future__ import annotations

import argparse
import json
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import outlying
from outlying import sources
from outlying.table import CategoricalColumn, NumericColumn

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "pictures" / "demo.svg"
PROPERTY, CONTEXT = "resting_pulse", "training"
WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 760, 300, 24, 66, 40
INK, GREY, BLUE, RED = "#1b1f24", "#7a828c", "#2f6fb2", "#c8452f"


def main() -> None:
    """Explain the demo's patient and draw one of the findings."""
    parser = argparse.ArgumentParser(description="Draw the README's picture.")
    parser.add_argument("--out", type=Path, default=PICTURE, help="the file to write")
    target = parser.parse_args().out
    target.write_text(picture() + "\n", encoding="utf-8")


def picture() -> str:
    """Give the picture of the finding on the property in its context."""
    data = resources.files("outlying") / "data"
    with resources.as_file(data / "patients.csv") as path:
        table = sources.read(path)
    patient = json.loads((data / "patient.json").read_text(encoding="utf-8"))
    findings = outlying.explain(table, object=patient)
    pair = next(item for item in findings.pairs if item.property == PROPERTY)
    values, groups = table.column(PROPERTY), table.column(CONTEXT)
    if not isinstance(values, NumericColumn) or not isinstance(groups, CategoricalColumn):
        raise TypeError("the demo's columns have changed their types")
    known = ~values.missing()
    inside = groups.matches(pair.conditions[0].value) & known
    return drawing(pair, values.values[known], values.values[inside])


def drawing(pair: Any, everyone: npt.NDArray[Any], group: npt.NDArray[Any]) -> str:
    """Draw two densities on one axis, the typical range and the value."""
    grid = np.linspace(everyone.min() - 3, everyone.max() + 3, 240)
    wide, narrow = density(everyone, grid), density(group, grid)
    top = max(wide.max(), narrow.max())
    xs = LEFT + (grid - grid[0]) / (grid[-1] - grid[0]) * (WIDTH - 2 * LEFT)

    def place(value: float) -> float:
        return float(np.interp(value, grid, xs))

    low, high = pair.typical[0]
    base = HEIGHT - BOTTOM
    shapes = [
        f'<rect x="{place(low):.1f}" y="{TOP}" width="{place(high) - place(low):.1f}" '
        f'height="{base - TOP}" fill="{BLUE}" opacity="0.12"/>',
        f'<path d="{outline(xs, narrow / top)} Z" fill="{BLUE}" opacity="0.55"/>',
        f'<path d="{outline(xs, wide / top)}" fill="none" stroke="{GREY}" stroke-width="2" '
        'stroke-dasharray="6 4"/>',
        f'<line x1="{LEFT}" x2="{WIDTH - LEFT}" y1="{base}" y2="{base}" stroke="{GREY}"/>',
        f'<line x1="{place(pair.value):.1f}" x2="{place(pair.value):.1f}" y1="{TOP}" y2="{base}" '
        f'stroke="{RED}" stroke-width="3"/>',
        *(
            words(place(tick), base + 18, f"{tick:g}", GREY, "middle")
            for tick in range(40, 100, 10)
        ),
        words(
            LEFT, 24, f"{pair.property} = {pair.value:g} where {pair.conditions[0]}", INK, size=17
        ),
        words(LEFT, 46, f"{pair.rarity:.0f} times rarer than a typical member of that group", GREY),
        words(place((low + high) / 2), TOP + 16, "typical there", BLUE, "middle"),
        words(place(pair.value) + 8, TOP + 16, "the patient", RED),
        words(place(78), base - 68, "everyone", GREY),
        words(place(53.5), TOP + 60, f"the {pair.known} who train hard", BLUE),
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" role="img" font-family="sans-serif">'
        f"<title>{escape(pair.sentence)}</title>"
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="10" fill="#ffffff"/>'
        + "".join(shapes)
        + "</svg>"
    )


def density(values: npt.NDArray[Any], grid: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Smooth values for the eye; the scores use Parzen windows of the library itself."""
    width = 1.06 * values.std() * len(values) ** -0.2
    scaled = (grid[:, None] - values[None, :]) / width
    return np.asarray(np.exp(-0.5 * scaled**2).mean(axis=1) / width)


def outline(xs: npt.NDArray[Any], heights: npt.NDArray[Any]) -> str:
    """Write a curve as an SVG path that stands on the axis."""
    base, room = HEIGHT - BOTTOM, HEIGHT - BOTTOM - TOP - 26
    points = " L".join(f"{x:.1f},{base - room * h:.1f}" for x, h in zip(xs, heights, strict=True))
    return f"M{xs[0]:.1f},{base} L{points} L{xs[-1]:.1f},{base}"


def words(x: float, y: float, text: str, colour: str, anchor: str = "start", size: int = 13) -> str:
    """Write a text."""
    return (
        f'<text x="{x:.1f}" y="{y}" fill="{colour}" font-size="{size}" text-anchor="{anchor}">'
        f"{escape(text)}</text>"
    )


if __name__ == "__main__":
    main()
