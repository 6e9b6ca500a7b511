"""Draw the pictures of the docs, and write the page that shows them, from the demo's findings.

    python scripts/make_gallery.py

Whatever the page shows, the code has drawn: a test makes it anew and compares.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

import outlying
from outlying import sources
from outlying.render import text

DOCS = Path(__file__).resolve().parents[1] / "docs"


@dataclasses.dataclass(frozen=True)
class Shown:
    """A picture: its file, what it shows, how it is called and drawn."""

    file: str
    words: str
    call: str
    draw: Callable[[outlying.Findings], Any]


def pair_of(findings: outlying.Findings, name: str) -> outlying.Pair:
    """Find the headline of the strongest story about a column."""
    return next(story.headline for story in findings.stories if name in story.columns)


PICTURES = [
    Shown(
        "why.svg",
        "What is odd of the patient of `outlying demo`: a fever, too little haemoglobin for a man, "
        "and a pulse that is common, but not in those who train hard.",
        "findings.plot(top=3)",
        lambda findings: findings.plot(top=3),
    ),
    Shown(
        "measure.svg",
        "All that there is to see of a finding, here of one with two conditions: the value in its "
        "group (filled, how the group is spread; dashed, the whole table; shaded, where nine of "
        "ten of the group are), the conditions, and the measure. There each row of the group has a "
        "density, the curve is their cdf, and the area above it less the area below it is the "
        "outlierness.",
        "pair.plot()",
        lambda findings: pair_of(findings, "age").plot(),
    ),
    Shown(
        "category.svg",
        "A category, or that a value is missing: the share of the group, and dashed that of the "
        "whole table.",
        'pair.plot("property")',
        lambda findings: pair_of(findings, "clinic").plot("property"),
    ),
    Shown(
        "far.svg",
        "A value far from all others: the axis is broken, so that the group is seen as well.",
        'pair.plot("property")',
        lambda _: headline_of(orders(), 2).plot("property"),
    ),
    Shown(
        "relation.svg",
        "A broken relation: other rows, what is expected along another column, and the row.",
        'pair.plot("property")',
        lambda _: headline_of(orders(), 0).plot("property"),
    ),
    Shown(
        "formula.svg",
        "A formula of several columns: what it gives beside what the table says, close to the row.",
        'pair.plot("property")',
        lambda _: headline_of(orders(), 1).plot("property"),
    ),
    Shown(
        "series.svg",
        "A row beside its own past: the readings of its sensor, and what those next to it suggest.",
        'pair.plot("property")',
        lambda _: headline_of(readings(), 500).plot("property"),
    ),
    Shown(
        "dark.svg",
        "In the dark and in a narrow column.",
        'findings.plot(top=2, theme="dark", width=400)',
        lambda findings: findings.plot(top=2, theme="dark", width=400),
    ),
]


def headline_of(table: dict[str, Any], row: int) -> outlying.Pair:
    """Explain a row, and return what tells most of it."""
    return outlying.explain(table, row=row).stories[0].headline


def orders() -> dict[str, Any]:
    """Make parcels: one is too heavy, one total is wrong, one was paid years too late."""
    rng = np.random.default_rng(3)
    length, quantity = rng.normal(60, 12, 600).round(1), rng.integers(1, 9, 600)
    price, days = rng.lognormal(3, 0.6, 600).round(2), rng.normal(30, 4, 600).round(1)
    weight = (0.4 * length - 8 + rng.normal(0, 1.5, 600)).round(1)
    total = (quantity * price).round(2)
    length[0], weight[0] = 58.0, 29.0
    total[1], days[2] = (0.8 * total[1]).round(2), 1830.0
    return {
        "length_cm": length,
        "weight_kg": weight,
        "quantity": quantity,
        "price": price,
        "total": total,
        "paid_after_days": days,
    }


def readings() -> dict[str, Any]:
    """Make readings of sensors, by the hour; one jumps."""
    rng = np.random.default_rng(5)
    hours = np.datetime64("2024-03-01T00:00") + np.arange(120) * np.timedelta64(60, "m")
    temp = np.cumsum(rng.normal(0, 0.3, (12, 120)), axis=1) + rng.normal(20, 6, (12, 1))
    temp = temp.ravel().round(2)
    temp[500] += 5
    names = [f"S{number:02}" for number in range(12)]
    return {"sensor": np.repeat(names, 120), "taken": np.tile(hours, 12), "temp": temp}


def main() -> None:
    """Write the page and its pictures."""
    parser = argparse.ArgumentParser(description="Draw the pictures of the docs.")
    parser.add_argument("--out", type=Path, default=DOCS, help="the folder to write to")
    folder = parser.parse_args().out
    findings = demo()
    (folder / "pictures").mkdir(exist_ok=True)
    for shown in PICTURES:
        shown.draw(findings).savefig(folder / "pictures" / shown.file)
    (folder / "gallery.md").write_text(page(findings), encoding="utf-8")


def demo() -> outlying.Findings:
    """Explain the demo's patient."""
    data = resources.files("outlying") / "data"
    with resources.as_file(data / "patients.csv") as path:
        table = dataclasses.replace(sources.read(path), source="patients.csv")
    patient = json.loads((data / "patient.json").read_text(encoding="utf-8"))
    return outlying.explain(table, object=patient)


def page(findings: outlying.Findings) -> str:
    """Write the page around the pictures."""
    parts = [
        "# What do the pictures show?",
        "Every picture is drawn from a finding alone: on the patient of `outlying demo`, and on "
        "two small tables that the script makes. This page is written by "
        "`python scripts/make_gallery.py`.",
    ]
    for shown in PICTURES:
        parts += [f"`{shown.call}`", f"![{shown.words}](pictures/{shown.file})", shown.words]
    first = text.render(findings, text.Look(with_sparks=True)).split("\n\n")[1:3]
    parts += [
        "## On a terminal",
        "Text for a terminal has the group as a row of bars, and a mark where the row is.",
        "```text\n" + "\n\n".join(first) + "\n```",
        "## In a browser",
        "`outlying explain ... --format html -o why.html` writes a page with all of this: "
        "see [reports](reports.md).",
    ]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    main()
