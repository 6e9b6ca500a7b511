"""What stands out in a table: its odd rows, the oddest first, each with its reason."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from outlying.checks import read_whole
from outlying.errors import OptionError
from outlying.render.listing import detector, most_in, reason
from outlying.results.detections import Detection, Flagged, OddCombination, Word
from outlying.web.jobs import Job
from outlying.web.queries import DETECT_OPTIONS, Addresses, OptionsQuery, TableQuery
from outlying.web.table_page import counted, size_of
from outlying.web.tables import MOST_FLAGGED, TableEntry

#: Rows that a first look finds.
USUAL = 20


def number_of(given: object) -> int:
    """Return how many rows are asked for."""
    top = read_whole("top", given or USUAL, 1)
    if top > MOST_FLAGGED:
        raise OptionError(f"top is {top:,}; allowed: 1 to {MOST_FLAGGED}")
    return top


def options_of(options: OptionsQuery) -> OptionsQuery:
    """Return the options that finding odd rows has."""
    return OptionsQuery(tuple(item for item in options.given if item[0] in DETECT_OPTIONS))


def request_context(entry: TableEntry, addresses: Addresses, top: int) -> dict[str, Any]:
    """Return what the page shows before anything was found."""
    return {
        "about": size_of(entry),
        "path": addresses.path("/odd"),
        "kept": addresses.kept,
        "top": min(top, entry.rows or top),
        "most": min(MOST_FLAGGED, entry.rows or MOST_FLAGGED),
        "notes": (),
        "groups": [],
        "along": None,
        "problem": "",
        "state": "new",
        "job": None,
        "remedy": None,
    }


def detection_context(job: Job, addresses: Addresses) -> dict[str, Any]:
    """Return what was found: what is exceptional, unusual, neither, odd all over; oddest first."""
    detection = job.detected.detection
    words = dict.fromkeys(item.word for item in detection.rows)
    groups = [
        _group(NAMES[word], (_row(item, detection, addresses) for item in rows), addresses)
        for word in words
        if (rows := [item for item in detection.rows if item.word == word])
    ]
    if detection.combinations:
        odd = (_combination(item, addresses) for item in detection.combinations)
        groups.append(_group("Odd all over", odd, addresses))
    return {
        "groups": groups,
        "summary": _summary(detection),
        "notes": (f"Ranked by {detector(detection.settings)}.", *detection.notes),
    }


#: What rows of a word are called.
NAMES: dict[Word, str] = {
    "exceptional": "Exceptional",
    "unusual": "Unusual",
    "": "Not out of the ordinary",
}


def _group(name: str, rows: Iterable[dict[str, Any]], addresses: Addresses) -> dict[str, Any]:
    shown = list(rows)
    return {
        "name": name,
        "count": counted(len(shown), "row"),
        "href": addresses.table(TableQuery(rows=tuple(row["number"] for row in shown))),
        "first": shown[0]["rank"],
        "rows": shown,
    }


def _row(item: Flagged, detection: Detection, addresses: Addresses) -> dict[str, Any]:
    top, words = detection.settings.top, reason(item, detection.settings)
    return _line(item, addresses, words, top) | {"reason": item.reason}


def _combination(item: OddCombination, addresses: Addresses) -> dict[str, Any]:
    return _line(item, addresses, most_in(item)) | {"reason": None}


def _line(
    item: Flagged | OddCombination, addresses: Addresses, words: str, top: int | None = None
) -> dict[str, Any]:
    number = (item.row or 0) + 1  # pages rank tables and copies, whose rows have a position
    return {
        "rank": item.rank,
        "number": number,
        "href": addresses.row(number, top=top),
        "words": words,
    }


def _summary(detection: Detection) -> str:
    count = 0 if detection.counts is None else detection.counts.exceptional
    if not count:
        return "No row is exceptional. Pick one to see what is odd in it."
    are = "is" if count == 1 else "are"
    return f"{counted(count, 'row')} {are} exceptional. Pick one to see why."
