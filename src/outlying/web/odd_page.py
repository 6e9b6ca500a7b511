"""What stands out in a table: odd rows, those with the same story together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from outlying.errors import OptionError
from outlying.render.detection_text import detector, reason
from outlying.results.detections import Flagged
from outlying.results.findings import Findings
from outlying.results.patterns import Pattern
from outlying.web.addresses import Addresses
from outlying.web.jobs import Job
from outlying.web.queries import OptionsQuery, TableQuery, whole
from outlying.web.reproduce import DETECT_OPTIONS
from outlying.web.service import MOST_FLAGGED
from outlying.web.table_page import counted, size_of
from outlying.web.tables import TableEntry

#: Rows that a first look finds.
USUAL = 20


def number_of(given: object) -> int:
    """Return how many rows are asked for."""
    top = whole("top", given or USUAL, 1)
    if top > MOST_FLAGGED:
        raise OptionError(f"top is {top:,}; allowed: 1 to {MOST_FLAGGED}")
    return top


def options_of(options: OptionsQuery) -> OptionsQuery:
    """Return the options that finding odd rows has."""
    return OptionsQuery(tuple(item for item in options.given if item[0] in DETECT_OPTIONS))


def asked(entry: TableEntry, addresses: Addresses, top: int) -> dict[str, Any]:
    """Return what the page shows before anything was found."""
    return {
        "about": size_of(entry),
        "path": addresses.path("/odd"),
        "kept": addresses.kept,
        "top": min(top, entry.rows or top),
        "most": min(MOST_FLAGGED, entry.rows or MOST_FLAGGED),
        "notes": (),
        "stories": [],
        "along": None,
        "problem": "",
        "state": "new",
        "job": None,
        "remedy": None,
    }


def found(job: Job, addresses: Addresses) -> dict[str, Any]:
    """Return what was found: the pattern of most rows first, in each the oddest rows first."""
    rows = {
        flagged.row: _row(flagged, findings, job, addresses)
        for flagged, findings in zip(job.detection.rows, job.explained, strict=True)
    }
    patterns = sorted(job.patterns, key=lambda pattern: pattern.property is None)
    return {
        "stories": [_story(pattern, rows, addresses) for pattern in patterns],
        "summary": _summary(patterns, len(rows)),
        "notes": (f"Ranked by {detector(job.detection.settings)}.", *job.detection.notes),
    }


def _story(pattern: Pattern, rows: dict[int, Any], addresses: Addresses) -> dict[str, Any]:
    numbers = tuple(row + 1 for row in pattern.rows)
    return {
        "name": "No single cell stands out" if pattern.property is None else pattern.name,
        "count": counted(pattern.count, "row"),
        "href": addresses.table(TableQuery(rows=numbers)),
        "rows": [rows[row] for row in rows if row in pattern.rows],
    }


def _row(flagged: Flagged, findings: Findings, job: Job, addresses: Addresses) -> dict[str, Any]:
    pair = next((pair for pair in findings.pairs if pair.exceptional), None)
    said = f"odd by its {reason(flagged, job.detection.settings)}"
    if flagged.rarer_than is not None:
        others = f"{flagged.rarer_than:,} of {job.detection.population.rows:,} rows"
        said = f"rarer, all its values together, than {others}"
    return {
        "number": f"{flagged.row + 1:,}",
        "href": addresses.row(flagged.row + 1, top=job.detection.settings.top),
        "pair": pair,
        "words": said,
    }


def _summary(patterns: Sequence[Pattern], count: int) -> str:
    told = sum(pattern.property is not None for pattern in patterns)
    rows = "The oddest row shows" if count == 1 else f"The {count:,} oddest rows show"
    if not told:
        return "These rows are the oddest, but no single cell of them is exceptional."
    kinds = "one pattern" if told == 1 else f"{told:,} patterns"
    return f"{rows} {kinds}. Pick a row to see why."
