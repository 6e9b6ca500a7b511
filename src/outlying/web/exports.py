"""What people take along: the result of a job as a file, the command and Python that give it."""

from __future__ import annotations

import io
import json
import shlex
import threading
from collections.abc import Collection
from typing import Any

from outlying import sentences as say
from outlying.errors import MissingExtraError
from outlying.options import EXPLAIN_OPTIONS, READ_OPTIONS
from outlying.render.report import Report
from outlying.render.tables import csv_text, workbook
from outlying.results import many
from outlying.table.values import plain
from outlying.web import NotReadyError
from outlying.web.jobs import Job
from outlying.web.sourcing import Sourcing
from outlying.web.tables import TableEntry
from outlying.web.worker import Detected, Explain

#: What a result can be taken along as: the type of the file, and how a page calls it.
FORMATS = {
    "csv": ("text/csv; charset=utf-8", "Odd cells (CSV)"),
    "xlsx": (
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "Odd cells (Excel)",
    ),
    "html": ("text/html; charset=utf-8", "Report"),
    "json": ("application/json", "JSON"),
    "png": ("image/png", "Picture"),
}
_DRAWING = threading.Lock()


def exported(job: Job, form: str, fine: Collection[int] = ()) -> bytes:
    """Return the result of a job in one of the formats; CSV and Excel list the odd cells."""
    if form == "png":
        return _picture(job)
    if form == "xlsx":
        return workbook(odd_cells(job, fine), shaded=("value",))
    if form == "csv":
        text = csv_text(odd_cells(job, fine))
    elif form == "html":
        text = _page(job)
    else:
        text = json.dumps(document(job), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    return text.encode("utf-8", "backslashreplace")


def document(job: Job) -> dict[str, Any]:
    """Return what a job has found: the library's JSON contract."""
    if not isinstance(job.result, Detected):
        return job.explained[0].to_dict()
    detection = job.result.detection
    entries = (
        many.entry_beside(findings, detection.population, row)
        for findings, row in zip(job.explained, detection.rows, strict=True)
    )
    return many.document(detection.population, job.result.options, entries, detection)


def _page(job: Job) -> str:
    if not isinstance(job.result, Detected):
        return job.explained[0].to_html()
    found = job.result.detection
    report = Report(found.population, job.result.options, is_many=True, detection=found)
    for findings, flagged in zip(job.explained, found.rows, strict=True):
        report.add(findings, flagged)
    return report.page()


def odd_cells(job: Job, fine: Collection[int]) -> dict[str, list[Any]]:
    """Return the list of odd cells by field; rows that a reader marked as fine say so."""
    columns = many.cell_table(job.explained, first_row=1)
    return columns | {"marked": ["fine" if row in fine else "" for row in columns["row"]]}


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


# --- as a command, in Python -----------------------------------------------------------------


def reproduced(entry: TableEntry, job: Job) -> dict[str, str]:
    """Return the command and the lines of Python that print the result of a job as JSON."""
    if job.kind == "detect" and entry.facts.is_streamed:
        raise NotReadyError(say.PAGE_RANKED_HERE)
    if job.task is None:
        raise NotReadyError("this job reads a table: there is nothing to reproduce")
    sourcing, options = entry.sourcing, dict(job.task.options.given)
    source, reading = _source(sourcing), _flags(_engine(sourcing) | dict(sourcing.given))
    data, python_reading = _python_data(sourcing)
    python_options = [*python_reading, *_keywords(job.task.options.keywords)]
    if isinstance(job.task, Explain):
        before, flags, target = _target(entry, job, job.task)
        command = ["outlying", "explain", source, *reading, *flags, *_flags(options)]
        call = f"outlying.explain({', '.join([data, target, *python_options])})"
        python = f"import outlying\n\nfindings = {call}\nprint(findings.to_json(indent=2))\n"
        return {"command": before + shlex.join([*command, "--format", "json"]), "python": python}
    top = job.task.top
    pairs = ["--pairs", str(options.pop("top"))] if "top" in options else []
    flags = [*reading, "--top", str(top), *_flags(options), "--explain", *pairs]
    return {
        "command": shlex.join(["outlying", "detect", source, *flags, "--format", "json"]),
        "python": "import json\n\nimport outlying\n\n"
        f"explainer = outlying.Explainer({', '.join([data, *python_options])})\n"
        f"detection = outlying.detect(explainer, top={top})\n"
        "findings = explainer.explain_many(rows=detection.positions)\n"
        "print(json.dumps([item.to_dict() for item in findings], indent=2))\n",
    }


def _target(entry: TableEntry, job: Job, task: Explain) -> tuple[str, list[str], str]:
    """Name what is explained: what is piped into the command, its flags, and in Python."""
    if task.object is not None:
        values = {name: plain(value) for name, value in task.object}
        content = shlex.quote(json.dumps(values, ensure_ascii=True))
        return f"printf '%s' {content} | ", ["--object", "-"], f"object={values!r}"
    if entry.facts.is_streamed:
        key = {name: plain(value) for name, value in job.explained[0].key}
        texts = [f"{name}={'' if value is None else value}" for name, value in key.items()]
        return "", [part for text in texts for part in ("--where", text)], f"where={key!r}"
    return "", ["--row", str((task.row or 0) + 1)], f"row={task.row}"


def _source(sourcing: Sourcing) -> str:
    """Return how a shell names the source; what came by standard input is there again."""
    if sourcing.file is not None and not sourcing.is_upload:
        return "-"
    return f"./{sourcing.name}" if sourcing.name.startswith("-") else sourcing.name


def _flags(given: dict[str, Any]) -> list[str]:
    """Write options as the flags of a command."""
    flags: list[str] = []
    for name, value in given.items():
        option = (EXPLAIN_OPTIONS | READ_OPTIONS)[name]
        if isinstance(value, bool):
            flags.append(option.flag if value else f"--no-{option.flag[2:]}")
        else:
            flags += [part for text in option.kind.write(value) for part in (option.flag, text)]
    return flags


def _python_data(sourcing: Sourcing) -> tuple[str, list[str]]:
    """Write the data as Python names them, and the options of reading them."""
    given, source = dict(sourcing.given), repr(_source(sourcing))
    if "table" in given or "query" in given:
        return f"outlying.scan({', '.join([source, *_keywords(given)])})", []
    return source, _keywords(_engine(sourcing) | given)


def _engine(sourcing: Sourcing) -> dict[str, Any]:
    return {} if sourcing.engine == "auto" else {"engine": sourcing.engine}


def _keywords(given: dict[str, Any]) -> list[str]:
    """Write options as the arguments of a call."""
    return [f"{name}={value!r}" for name, value in given.items()]
