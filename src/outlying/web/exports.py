"""What people take along: the result of a job as a page, JSON, a table of findings, a picture."""

from __future__ import annotations

import csv
import io
import json
import threading
from typing import Any

from outlying.errors import MissingExtraError
from outlying.render.html import Report
from outlying.results.stories import PAIR_FIELDS
from outlying.table.values import plain
from outlying.web import payloads
from outlying.web.jobs import Job
from outlying.web.tasks import Detected

FORMATS = {
    "html": "text/html; charset=utf-8",
    "json": "application/json",
    "csv": "text/csv; charset=utf-8",
    "png": "image/png",
}
_FIELDS = ("row", "story", "culprit", "columns", *PAIR_FIELDS)
_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # with which a spreadsheet begins to compute
_DRAWING = threading.Lock()


def exported(job: Job, form: str) -> bytes:
    """Return the result of a job in one of the formats."""
    if form == "png":
        return _picture(job)
    write = {"html": _page, "json": _json, "csv": _csv}[form]
    return write(job).encode("utf-8", "backslashreplace")


def _json(job: Job) -> str:
    whole = payloads.result(job)
    return json.dumps(whole, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _page(job: Job) -> str:
    if not isinstance(job.result, Detected):
        return job.findings.to_html()
    found = job.result
    people = found.detection.population
    report = Report(people, found.options, is_many=True, detection=found.detection)
    for findings, flagged in zip(found.explained, found.detection.rows, strict=True):
        report.add(findings, flagged)
    return report.page()


def _csv(job: Job) -> str:
    """Write the headline of each story, a line each."""
    out = io.StringIO()
    lines = csv.writer(out, lineterminator="\r\n")
    lines.writerow(_FIELDS)
    for findings in job.explained:
        row = "" if findings.row is None else findings.row + 1
        for number, story in enumerate(findings.stories, start=1):
            pair = story.headline.to_dict()
            pair["value"] = plain(story.headline.value)
            pair["conditions"] = " and ".join(map(str, story.headline.conditions))
            for name in ("typical", "gap"):
                pair[name] = json.dumps(pair[name], ensure_ascii=False)
            own = [row, number, story.culprit, ", ".join(story.columns)]
            lines.writerow([_cell(item) for item in (*own, *(pair[name] for name in PAIR_FIELDS))])
    return "\ufeff" + out.getvalue()  # by which spreadsheets know that it is UTF-8


def _cell(value: Any) -> Any:
    """Return a cell that no spreadsheet takes for a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def _picture(job: Job) -> bytes:
    try:
        import matplotlib as mpl
    except ImportError:
        raise MissingExtraError("a picture", "plot") from None
    with _DRAWING:
        mpl.use("agg")
        figure = job.explained[0].plot()
        out = io.BytesIO()
        figure.savefig(out, format="png", dpi=150)
        import matplotlib.pyplot as plt

        plt.close(figure)
    return out.getvalue()
