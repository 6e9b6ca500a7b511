"""What stands out in a table: odd rows, those with the same story together."""

from __future__ import annotations

from typing import Any

from outlying.errors import OptionError
from outlying.render.detection_text import detector, reason
from outlying.results.detections import Flagged
from outlying.results.findings import Findings
from outlying.results.patterns import Pattern
from outlying.web.addresses import Addresses
from outlying.web.jobs import Job
from outlying.web.queries import OptionsQuery, Query, whole
from outlying.web.reproduce import DETECT_OPTIONS
from outlying.web.service import MOST_FLAGGED
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
        "about": f"{entry.rows:,} rows, {len(entry.columns):,} columns",
        "path": addresses.path("/odd"),
        "kept": addresses.kept,
        "top": min(top, entry.rows or top),
        "most": min(MOST_FLAGGED, entry.rows or MOST_FLAGGED),
        "notes": (),
        "stories": [],
        "along": None,
        "problem": "",
    }


def found(job: Job, addresses: Addresses) -> dict[str, Any]:
    """Return what was found: the pattern of most rows first, in each the oddest rows first."""
    detection = job.detection
    rows = {
        flagged.row: _row(flagged, findings, detection.settings, addresses)
        for flagged, findings in zip(detection.rows, job.explained, strict=True)
    }
    stories = [_story(pattern, rows, addresses) for pattern in job.patterns]
    return {
        "stories": stories,
        "summary": _summary(job.patterns, len(rows)),
        "notes": (f"Ranked by {detector(detection.settings)}.", *detection.notes),
    }


def _story(pattern: Pattern, rows: dict[int, Any], addresses: Addresses) -> dict[str, Any]:
    numbers = tuple(row + 1 for row in pattern.rows)
    name = pattern.name
    return {
        "name": f"{name[0].upper()}{name[1:]}" if pattern.property is None else name,
        "count": "1 row" if pattern.count == 1 else f"{pattern.count:,} rows",
        "href": addresses.table(Query(rows=numbers)),
        "rows": [rows[row] for row in rows if row in set(pattern.rows)],
    }


def _row(
    flagged: Flagged, findings: Findings, settings: Any, addresses: Addresses
) -> dict[str, Any]:
    pair = next((pair for pair in findings.pairs if pair.exceptional), None)
    return {
        "number": f"{flagged.row + 1:,}",
        "href": addresses.row(flagged.row + 1),
        "pair": pair,
        "words": f"{reason(flagged, settings)[0].upper()}{reason(flagged, settings)[1:]}",
    }


def _summary(patterns: tuple[Pattern, ...], count: int) -> str:
    told = sum(pattern.property is not None for pattern in patterns)
    rows = "one row" if count == 1 else f"{count:,} rows"
    if not told:
        return f"These {count:,} rows are the oddest, but none of them is exceptional."
    kinds = "one pattern" if told == 1 else f"{told:,} patterns"
    return f"The oddest {rows} show {kinds}. Pick a row to see why."
