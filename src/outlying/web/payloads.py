"""What the API says of tables, rows and jobs: plain values, and answers that hold them as JSON."""

from __future__ import annotations

import json
from typing import Any

from starlette.responses import JSONResponse

from outlying.results.documents import document, entry_beside
from outlying.table.values import plain
from outlying.web.jobs import Job
from outlying.web.tables import Page, PageRow, TableEntry, Twins
from outlying.web.tasks import Detected


class Answer(JSONResponse):
    """A JSON answer."""

    def render(self, content: Any) -> bytes:
        """Write the content; what UTF-8 does not have is escaped, as JSON knows it."""
        text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode("utf-8", "backslashreplace")


def table(entry: TableEntry) -> dict[str, Any]:
    """Describe a table."""
    names = ("id", "name", "state", "error", "job", "is_upload", "is_streamed", "rows")
    return {name: getattr(entry, name) for name in names} | {
        "columns": [facts.to_dict() for facts in entry.columns],
        "skipped": [{"name": name, "reason": reason} for name, reason in entry.skipped],
        "notes": list(entry.notes),
    }


def page(found: Page, entry: TableEntry) -> dict[str, Any]:
    """Return a page of rows."""
    return {
        "total": found.total,
        "offset": found.offset,
        "limit": found.limit,
        "columns": [facts.name for facts in entry.columns],
        "rows": [row(item) for item in found.rows],
    }


def row(item: PageRow) -> dict[str, Any]:
    """Return a row; numbers count from 1."""
    return {"row": item.number, "values": list(map(plain, item.cells)), "blame": item.blame}


def twins(found: Twins) -> dict[str, Any]:
    """Return what would be ordinary."""
    return {
        "sentence": found.sentence,
        "ordinary_at": plain(found.ordinary_at),
        "filters": [item.to_dict() for item in found.group_filters],
        "twins": [row(item) for item in found.twins],
    }


def job(item: Job) -> dict[str, Any]:
    """Describe a job."""
    names = ("id", "kind", "table", "state", "stage", "done", "total", "seconds", "error")
    result = f"/api/v1/jobs/{item.id}/result" if item.state == "done" else None
    return {name: getattr(item, name) for name in names} | {
        "result": None if item.kind == "read" else result,
        "page": item.page,
    }


def result(item: Job) -> dict[str, Any]:
    """Return what a job has found: the library's JSON contract."""
    if not isinstance(item.result, Detected):
        return item.findings.to_dict()
    found = item.result
    people, flagged = found.detection.population, found.detection.rows
    entries = (
        entry_beside(findings, people, row)
        for findings, row in zip(found.explained, flagged, strict=True)
    )
    return document(people, found.options, entries, found.detection)
