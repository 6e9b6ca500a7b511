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
        "pulse.svg",
        "A number in its group: filled, how the group is spread; dashed, the whole table; shaded, "
        "where nine of ten of the group are. A pulse of 74.6 is common, but not in those who train "
        "hard.",
        'pair.plot("property")',
        lambda findings: pair_of(findings, "resting_pulse").plot("property"),
    ),
    Shown(
        "pressure.svg",
        "All that there is to see of a pair, here of one with two conditions: the property, the "
        "context, and the measure. In the last picture each row of the group has a density, the "
        "curve is their cdf, and the area above it less the area below it is the outlierness.",
        "pair.plot()",
        lambda findings: pair_of(findings, "systolic_mmhg").plot(),
    ),
    Shown(
        "ecg.svg",
        "A category, or that a value is missing: the share of the group, and dashed that of the "
        "whole table.",
        'pair.plot("property")',
        lambda findings: pair_of(findings, "last_ecg").plot("property"),
    ),
    Shown(
        "three.svg",
        "The strongest findings, one below the other, in the dark and in a narrow column.",
        'findings.plot(top=3, theme="dark", width=400)',
        lambda findings: findings.plot(top=3, theme="dark", width=400),
    ),
]


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
        "Every picture is drawn from a finding alone, here from those on the patient of "
        "`outlying demo`. This page is written by `python scripts/make_gallery.py`.",
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
