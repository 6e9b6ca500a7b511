"""The pages: each address is read, the service is asked, a template shows the answer."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from outlying.checks import read_whole
from outlying.errors import ColumnError, ObjectError, OptionError
from outlying.table.values import printable
from outlying.web import odd_page, table_page
from outlying.web.jobs import Job
from outlying.web.page_frame import (
    PATIENCE,
    along,
    ended,
    form,
    is_infinite,
    open_table,
    page,
    progress,
    style_sheet,
    view,
)
from outlying.web.queries import Addresses, TableQuery
from outlying.web.row_page import RowPage, Subject, copied, is_moved, moved, texts_of, too_long
from outlying.web.service import SAID, service_of
from outlying.web.tables import TableEntry, Twins

_KINDS = "CSV, Excel, Parquet, JSON, SQLite and more."
#: Where what is opened goes, where readers are at this machine and where they may not be.
_STAYS = (
    "Nothing leaves this computer.",
    "The file stays on this computer and is forgotten when the server stops.",
)
_GOES = (
    "Your table goes to the computer that serves this page, and no further.",
    "The file is forgotten when the server stops.",
)


async def start(request: Request) -> Response:
    """Show the tables that can be opened, and a place to drop another."""
    tables = [
        {
            "name": entry.name,
            "href": Addresses(entry.id).table(),
            "about": _about(entry),
            "forget": Addresses(entry.id).path("/forget") if entry.is_upload else None,
        }
        for entry in service_of(request).tables.list()
    ]
    promise, stays = _STAYS if request.app.state.is_local else _GOES
    return page(
        "start.html",
        tables=tables,
        upload="/api/v1/tables",
        kinds=f"{_KINDS} {stays}",
        promise=promise,
    )


async def forget(request: Request) -> Response:
    """Forget a table that was uploaded."""
    service_of(request).tables.remove(request.path_params["table"])
    return RedirectResponse("/", 303)


def _about(entry: TableEntry) -> str:
    if entry.state == "ready":
        return table_page.size_of(entry)
    return {"reading": "being read", "failed": "could not be read"}.get(entry.state, "")


async def table(request: Request) -> Response:
    """Show a part of a table."""
    addresses = Addresses.of(request)
    entry, waiting = await open_table(request)
    if waiting is not None:
        return waiting
    problem = ""
    try:
        moved_to = table_page.sent(entry, request.query_params, addresses)
        if moved_to is not None:
            return RedirectResponse(moved_to, 303)
    except OptionError as error:
        problem = error.shell_message()
    query, left = TableQuery.of(request.query_params), table_page.left_of(request.query_params)
    rows = await service_of(request).tables.page(entry.id, query)
    shown = table_page.TablePage(entry, query, addresses, left).context(rows)
    status = 400 if problem else 200
    return view("table.html", entry, addresses, "table", status, problem=problem, **shown)


async def read_again(request: Request) -> Response:
    """Read a table once more: one that could not be read, or in another way than before."""
    params = await form(request)
    said = {name: params.get(name) for name in SAID}
    entry = service_of(request).tables.read_as(request.path_params["table"], said)
    return RedirectResponse(Addresses(entry.id).table(), 303)


async def cancel(request: Request) -> Response:
    """Cancel a job, and show the page that waited for it."""
    job = service_of(request).jobs.cancel(request.path_params["job"])
    return RedirectResponse(job.page, 303)


# --- what stands out -------------------------------------------------------------------------


async def odd(request: Request) -> Response:
    """Show the odd rows of a table, the work of finding them, or how to ask for them."""
    addresses = Addresses.of(request)
    entry, waiting = await open_table(request)
    if waiting is not None:
        return waiting
    given = request.query_params.get("top")
    top = odd_page.number_of(given)
    shown = odd_page.request_context(entry, addresses, top)
    if given is not None:
        job = looked_for(request, addresses, top)
        await job.finished(PATIENCE)
        shown |= _detected(job, addresses, top, entry)
    return view("odd.html", entry, addresses, "odd", waiting=shown["state"] == "running", **shown)


def _detected(job: Job, addresses: Addresses, top: int, entry: TableEntry) -> dict[str, Any]:
    if job.state == "done":
        taken = along(entry, job, addresses.odd(top, ".json"))
        return {"state": "done", "along": taken} | odd_page.detection_context(job, addresses)
    if job.state in ("failed", "cancelled"):
        remedy = addresses.without_infinite.odd(top) if is_infinite(job) else None
        return {"state": "ended", "problem": ended(job), "remedy": remedy}
    return {"state": "running", "job": progress(job)}


async def find_odd(request: Request) -> Response:
    """Start to look for odd rows, also where that was cancelled before."""
    params = await form(request)
    top = odd_page.number_of(params.get("top"))
    addresses = Addresses.posted(request, params)
    looked_for(request, addresses, top, again=True)
    return RedirectResponse(addresses.odd(top), 303)


def looked_for(request: Request, addresses: Addresses, top: int, again: bool = False) -> Job:
    """Return the job that looks for odd rows, begun unless there is one."""
    options, jobs = odd_page.options_of(addresses.options), service_of(request).jobs
    return jobs.detect(addresses.table_id, top=top, options=options, again=again)


# --- a row, a new object ---------------------------------------------------------------------

_WELCOME = (
    "Enter what you know, and leave out what you do not. The object is then compared with the rows "
    "of the table, as if it were one of them. To begin with a row, open it and change its values."
)


async def row(request: Request) -> Response:
    """Show a row, and why it is odd."""
    addresses = Addresses.of(request)
    entry, waiting = await open_table(request)
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
    entry, waiting = await open_table(request)
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
            # the page explains the row without them, too, where its columns cannot be filtered by
            with contextlib.suppress(OptionError, ColumnError):
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


ROUTES: Sequence[BaseRoute] = [
    Route("/", start),
    Route("/style.css", style_sheet),
    Route("/t/{table}", table, methods=["GET"]),
    Route("/t/{table}", read_again, methods=["POST"]),
    Route("/t/{table}/forget", forget, methods=["POST"]),
    Route("/t/{table}/odd", odd, methods=["GET"]),
    Route("/t/{table}/odd", find_odd, methods=["POST"]),
    Route("/t/{table}/row/{number}", row, methods=["GET"]),
    Route("/t/{table}/row/{number}", explain_again, methods=["POST"]),
    Route("/t/{table}/new", new, methods=["GET"]),
    Route("/t/{table}/new", explain_again, methods=["POST"]),
    Route("/jobs/{job}/cancel", cancel, methods=["POST"]),
]
