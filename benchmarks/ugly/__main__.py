"""Run all files, and say what became of each."""

from __future__ import annotations

import argparse
import datetime as dt
import math
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import outlying
from benchmarks.ugly.cases import Case, cases

DOCS = Path(__file__).parents[2] / "docs" / "messy.md"
_BEGIN, _END = "<!-- outcomes -->\n", "<!-- end of outcomes -->"


def outcome(case: Case, folder: Path) -> tuple[bool, str]:
    """Read a file; return whether that went right, and what was said."""
    path = folder / case.file
    path.write_bytes(case.content)
    try:
        explainer = outlying.Explainer(path, **case.options)
        findings = explainer.explain(row=0)
    except outlying.OutlyingError as error:
        said = str(error).removeprefix(f"{path}: ")
        return bool(case.refusal) and case.refusal in said, said
    skipped = [f"{item.name!r} {item.reason}" for item in findings.population.skipped_columns]
    said = " ".join([*explainer.table.notes, *skipped])
    if case.refusal:
        return False, f"was not refused: {said}"
    for name, right in case.right.items():
        if name not in explainer.table.names:
            return False, f"no column {name!r}, only {explainer.table.names}; {said}"
        column = explainer.table.column(name)
        cells = [column.cell(row) for row in range(explainer.rows)]
        wrong = [
            place for place, pair in enumerate(zip(cells, right, strict=True)) if not same(*pair)
        ]
        if wrong:
            place = wrong[0]
            return False, f"{name}: {cells[place]!r} instead of {right[place]!r}; {said}"
    return case.said in said, said


def same(cell: Any, right: Any) -> bool:
    """Return whether a cell holds what is right."""
    if isinstance(cell, dt.datetime) and not isinstance(right, dt.datetime):
        cell = cell.date()
    if (
        isinstance(cell, dt.date)
        and not isinstance(cell, dt.datetime)
        and isinstance(right, dt.datetime)
    ):
        cell = dt.datetime.combine(cell, dt.time())
    if isinstance(cell, (int, float)) and isinstance(right, (int, float)):
        return math.isclose(cell, right, rel_tol=1e-12)
    return bool(cell == right)


def lines(found: Iterable[tuple[Case, bool, str]]) -> list[str]:
    """Write the table of outcomes."""
    table = ["| file | outcome | what is said |", "| --- | --- | --- |"]
    for case, right, said in found:
        kind = "refused" if case.refusal else "read"
        words = said.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")
        words = words if len(words) < 200 else words[:199] + "…"
        table.append(f"| {case.name} | {kind if right else '**WRONG**'} | {words} |")
    return table


def main() -> int:
    """Run all files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--docs", action="store_true", help="write the table to docs/messy.md")
    parser.add_argument("--keep", type=Path, help="a folder for the files")
    given = parser.parse_args()
    found = []
    with tempfile.TemporaryDirectory() as temporary:
        for number, case in enumerate(cases(), start=1):
            folder = (given.keep or Path(temporary)) / f"{number:02d}"
            folder.mkdir(parents=True)
            found.append((case, *outcome(case, folder)))
    table = lines(found)
    right = sum(ok for _, ok, _ in found)
    summary = f"{right} of {len(found)} files are read right, or refused with a remedy."
    print("\n".join([*table, "", summary]))
    if given.docs:
        before, rest = DOCS.read_text(encoding="utf-8").split(_BEGIN)
        after = rest.split(_END)[1]
        body = "\n".join([summary, "", *table, ""])
        DOCS.write_text(f"{before}{_BEGIN}{body}{_END}{after}", encoding="utf-8")
    return int(right < len(found))


if __name__ == "__main__":
    sys.exit(main())
