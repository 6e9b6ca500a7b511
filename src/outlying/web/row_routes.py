"""The pages of a row and of a new object, and of why they are odd."""

from __future__ import annotations

import contextlib
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from outlying.checks import read_whole
from outlying.errors import ObjectError, OptionError
from outlying.table.values import printable
from outlying.web import odd_page
from outlying.web.addresses import Addresses
from outlying.web.jobs import Job
from outlying.web.odd_routes import looked_for
from outlying.web.page_frame import (
    PATIENCE,
    along,
    ended,
    form,
    is_infinite,
    opened,
    progress,
    view,
)
from outlying.web.row_page import RowPage, Subject, copied, texts_of, too_long
from outlying.web.service import service_of
from outlying.web.sliders import is_moved, moved
from outlying.web.tables import TableEntry, Twins

_WELCOME = (
    "Enter what you know, and leave out what you do not. The object is then compared with the rows "
    "of the table, as if it were one of them. To begin with a row, open it and change its values."
)


async def row(request: Request) -> Response:
    """Show a row, and why it is odd."""
    addresses = Addresses.of(request)
    entry, waiting = await opened(request)
    if waiting is not None:
        return waiting
    number = read_whole("row", request.path_params["number"], 1)
    values = await service_of(request).tables.values(entry.id, number)
    subject = Subject(texts_of(values), number, *_among_odd(request, addresses))
    return await _explained(request, entry, subject, addresses, "")


def _among_odd(request: Request, addresses: Addresses) -> tuple[int | None, tuple[int, ...]]:
    """Return how many odd rows were found where this one was picked, and which, if it was."""
    given = request.query_params.get("odd")
    if given is None:
        return None, ()
    job = looked_for(request, addresses, top := odd_page.number_of(given))
    if job.state != "done":
        return None, ()
    return top, tuple(row + 1 for row in job.detection.positions)


async def new(request: Request) -> Response:
    """Show a form for a new object, and why that is odd."""
    addresses = Addresses.of(request)
    entry, waiting = await opened(request)
    if waiting is not None:
        return waiting
    params, welcome = request.query_params, _WELCOME
    if params.get("from"):
        number = read_whole("from", params["from"], 1)
        found = texts_of(await service_of(request).tables.values(entry.id, number))
        values = copied(found, entry)
        left_out = ", ".join(printable(name, 60) for name in too_long(found)[:5])
        welcome += f" Left out, as too long to be typed: {left_out}." if left_out else ""
    else:
        values = {column.name: params.get(f"v.{column.name}", "") for column in entry.columns}
    subject = Subject(values)
    if not is_moved(list(params)) and (params.get("from") or not any(values.values())):
        shown = RowPage(entry, subject, addresses).context()
        return view("row.html", entry, addresses, "new", **_NOTHING | shown | {"welcome": welcome})
    return await _explained(request, entry, subject, addresses, "new")


_NOTHING: dict[str, Any] = {
    "findings": None,
    "job": None,
    "problem": "",
    "again": None,
    "remedy": None,
    "along": None,
    "welcome": "",
}


async def _explained(
    request: Request, entry: TableEntry, subject: Subject, addresses: Addresses, here: str
) -> Response:
    params = request.query_params
    if is_moved(list(params)):
        options = moved(params, addresses.options, entry.rows or 0)
        changed = Addresses(entry.id, options, addresses.hidden)
        return RedirectResponse(subject.address(changed), 303)
    shown = RowPage(entry, subject, addresses)
    context = _NOTHING | shown.context()
    try:
        job = _job_of(request, entry, subject, addresses)
    except ObjectError as error:
        context["problem"] = error.shell_message()
        return view("row.html", entry, addresses, here, **context)
    await job.finished(PATIENCE)
    if job.state == "done":
        twins = await _twins(request, entry, job)
        context |= shown.explained(job.findings, twins)
        context["along"] = along(entry, job, subject.address(addresses, ".json"))
    elif job.state in ("failed", "cancelled"):
        again = {"path": context["path"], "kept": context["kept"]}
        remedy = subject.address(addresses.without_infinite) if is_infinite(job) else None
        context |= {"problem": ended(job), "again": again, "remedy": remedy}
    else:
        context |= {"job": progress(job), "waiting": True}
    return view("row.html", entry, addresses, here, **context)


def _job_of(
    request: Request, entry: TableEntry, subject: Subject, addresses: Addresses, again: bool = False
) -> Job:
    jobs, options = service_of(request).jobs, addresses.options
    if subject.number is None:
        return jobs.explain(entry.id, values=subject.values, options=options, again=again)
    return jobs.explain(entry.id, number=subject.number, options=options, again=again)


async def _twins(request: Request, entry: TableEntry, job: Job) -> dict[int, Twins]:
    """Return ordinary rows like this one for each story that is told in full."""
    tables = service_of(request).tables
    found: dict[int, Twins] = {}
    for place, story in enumerate(job.findings.stories):
        if story.stands_out:
            with contextlib.suppress(OptionError):  # the page explains the row without them, too
                found[place] = await tables.twins(entry.id, job.findings, place)
    return found


async def explain_again(request: Request) -> Response:
    """Explain once more what was cancelled or has failed."""
    params = await form(request)
    addresses = Addresses.posted(request, params)
    entry = service_of(request).tables.get(addresses.table_id)
    number = request.path_params.get("number")
    values = {column.name: params.get(f"v.{column.name}", "") for column in entry.columns}
    subject = Subject(values, None if number is None else read_whole("row", number, 1))
    _job_of(request, entry, subject, addresses, again=True)
    return RedirectResponse(subject.address(addresses), 303)
