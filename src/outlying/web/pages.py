"""The pages: each address is read, the service is asked, a template shows the answer."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from outlying.errors import ObjectError, OptionError
from outlying.table.values import printable
from outlying.web import odd_page, table_page
from outlying.web.addresses import Addresses
from outlying.web.jobs import Job
from outlying.web.queries import Query, encoded, whole
from outlying.web.reproduce import RANKED_HERE, command_line, python
from outlying.web.row_page import Asked, RowPage, copied, texts_of
from outlying.web.service import Service
from outlying.web.sliders import is_moved, moved
from outlying.web.tables import TableEntry, Twins
from outlying.web.templating import page, style_sheet
from outlying.web.uploads import SAID

#: A page waits so many seconds for an answer before it shows progress instead.
PATIENCE = 0.7
_KINDS = (
    "CSV, Excel, Parquet, JSON, SQLite and more. The file stays on this computer and is forgotten "
    "when the server stops."
)
_WELCOME = (
    "Enter what you know, and leave out what you do not. The object is then compared with the rows "
    "of the table, as if it were one of them. To begin with a row, open it and change its values."
)
_SAID = {"table": "Table of a database", "sheet": "Sheet of a workbook", "encoding": "Encoding"}
#: Only what infinite values are refused with says so.
_INFINITE = "--infinite missing"
_EXPORTS = {"html": "Report", "json": "JSON", "csv": "CSV", "png": "Picture"}


# --- the start ---------------------------------------------------------------------------------


async def start(request: Request) -> Response:
    """Show the tables that can be opened, and a place to drop another."""
    tables = [
        {
            "name": entry.name,
            "href": Addresses(entry.id).table(),
            "about": _about(entry),
            "forget": Addresses(entry.id).path("/forget") if entry.is_upload else None,
        }
        for entry in _service(request).tables.list()
    ]
    return page("start.html", tables=tables, upload="/api/v1/tables", kinds=_KINDS)


async def forget(request: Request) -> Response:
    """Forget a table that was uploaded."""
    _service(request).tables.remove(request.path_params["table"])
    return RedirectResponse("/", 303)


def _about(entry: TableEntry) -> str:
    if entry.state == "ready":
        return table_page.size_of(entry)
    return {"reading": "being read", "failed": "could not be read"}.get(entry.state, "")


# --- a table -----------------------------------------------------------------------------------


async def table(request: Request) -> Response:
    """Show a part of a table."""
    addresses = Addresses.of(request)
    entry, waiting = await _opened(request)
    if waiting is not None:
        return waiting
    problem = ""
    try:
        moved_to = table_page.sent(entry, request.query_params, addresses)
        if moved_to is not None:
            return RedirectResponse(moved_to, 303)
    except OptionError as error:
        problem = error.shell_message()
    query, left = Query.of(request.query_params), table_page.left_of(request.query_params)
    rows = await _service(request).tables.page(entry.id, query)
    shown = table_page.TablePage(entry, query, addresses, left).context(rows)
    status = 400 if problem else 200
    return _view("table.html", entry, addresses, "table", status, problem=problem, **shown)


async def _opened(request: Request) -> tuple[TableEntry, Response | None]:
    """Return the table, and what to show instead while it is read or where it cannot be."""
    service = _service(request)
    entry = service.tables.open(request.path_params["table"])
    if entry.state == "reading" and entry.job is not None:
        await service.jobs.get(entry.job).finished(PATIENCE)
        entry = service.tables.get(entry.id)
    if entry.state == "failed":
        return entry, _unread(entry)
    if entry.state == "ready" or entry.job is None:
        return entry, None
    shown = {"heading": printable(entry.name, 60), "words": "Reading the table"}
    job = _progress(service.jobs.get(entry.job))
    return entry, page("waiting.html", 202, job=job, waiting=True, **shown)


def _unread(entry: TableEntry) -> Response:
    """Say why a table could not be read; ask what may help to read it once more."""
    given = dict(entry.sourcing.given)
    fields = [{"name": name, "label": _SAID[name], "value": given.get(name, "")} for name in SAID]
    again = {"path": Addresses(entry.id).path(), "fields": fields}
    said = {
        "heading": f"{printable(entry.name, 60)} could not be read",
        "problem": entry.error or "",
    }
    back = {"href": "/", "name": "Back to the start"}
    return page("error.html", 400, again=again, back=back, **said)


async def read_again(request: Request) -> Response:
    """Read a table once more whose reading was cancelled, or has failed."""
    tables, params = _service(request).tables, await _form(request)
    entry = tables.get(request.path_params["table"])
    if entry.state == "failed":
        entry.sourcing = entry.sourcing.read_as({name: params.get(name) for name in SAID})
    tables.reopen(entry.id)
    return RedirectResponse(Addresses(entry.id).table(), 303)


# --- what stands out ---------------------------------------------------------------------------


async def odd(request: Request) -> Response:
    """Show the odd rows of a table, the work of finding them, or how to ask for them."""
    addresses = Addresses.of(request)
    entry, waiting = await _opened(request)
    if waiting is not None:
        return waiting
    given = request.query_params.get("top")
    top = odd_page.number_of(given)
    shown = odd_page.asked(entry, addresses, top)
    if given is not None:
        job = _looked_for(request, addresses, top)
        await job.finished(PATIENCE)
        shown |= _detected(job, addresses, top, entry)
    return _view("odd.html", entry, addresses, "odd", waiting=shown["state"] == "running", **shown)


def _detected(job: Job, addresses: Addresses, top: int, entry: TableEntry) -> dict[str, Any]:
    if job.state == "done":
        along = _along(entry, job, addresses.odd(top, ".json"))
        return {"state": "done", "along": along} | odd_page.found(job, addresses)
    if job.state in ("failed", "cancelled"):
        remedy = addresses.without_infinite.odd(top) if _is_infinite(job) else None
        return {"state": "ended", "problem": _ended(job), "remedy": remedy}
    return {"state": "running", "job": _progress(job)}


async def find_odd(request: Request) -> Response:
    """Start to look for odd rows, also where that was cancelled before."""
    params = await _form(request)
    top = odd_page.number_of(params.get("top"))
    addresses = Addresses.posted(request, params)
    _looked_for(request, addresses, top, again=True)
    return RedirectResponse(addresses.odd(top), 303)


def _looked_for(request: Request, addresses: Addresses, top: int, again: bool = False) -> Job:
    options, jobs = odd_page.options_of(addresses.options), _service(request).jobs
    return jobs.detect(addresses.table_id, top=top, options=options, again=again)


# --- a row, a new object -----------------------------------------------------------------------


async def row(request: Request) -> Response:
    """Show a row, and why it is odd."""
    addresses = Addresses.of(request)
    entry, waiting = await _opened(request)
    if waiting is not None:
        return waiting
    number = whole("row", request.path_params["number"], 1)
    values = await _service(request).tables.values(entry.id, number)
    asked = Asked(texts_of(values), number, *_among_odd(request, addresses))
    return await _explained(request, entry, asked, addresses, "")


def _among_odd(request: Request, addresses: Addresses) -> tuple[int | None, tuple[int, ...]]:
    """Return how many odd rows were found where this one was picked, and which, if it was."""
    given = request.query_params.get("odd")
    if given is None:
        return None, ()
    job = _looked_for(request, addresses, top := odd_page.number_of(given))
    if job.state != "done":
        return None, ()
    return top, tuple(row + 1 for row in job.detection.positions)


async def new(request: Request) -> Response:
    """Show a form for a new object, and why that is odd."""
    addresses = Addresses.of(request)
    entry, waiting = await _opened(request)
    if waiting is not None:
        return waiting
    params = request.query_params
    if params.get("from"):
        number = whole("from", params["from"], 1)
        found = await _service(request).tables.values(entry.id, number)
        values = copied(texts_of(found), entry)
    else:
        values = {column.name: params.get(f"v.{column.name}", "") for column in entry.columns}
    asked = Asked(values)
    if not is_moved(list(params)) and (params.get("from") or not any(values.values())):
        shown = RowPage(entry, asked, addresses).context()
        return _view(
            "row.html", entry, addresses, "new", **_NOTHING | shown | {"welcome": _WELCOME}
        )
    return await _explained(request, entry, asked, addresses, "new")


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
    request: Request, entry: TableEntry, asked: Asked, addresses: Addresses, here: str
) -> Response:
    params = request.query_params
    if is_moved(list(params)):
        options = moved(params, addresses.options, entry.rows or 0)
        changed = Addresses(entry.id, options, addresses.hidden)
        return RedirectResponse(asked.address(changed), 303)
    shown = RowPage(entry, asked, addresses)
    context = _NOTHING | shown.context()
    try:
        job = _asked_for(request, entry, asked, addresses)
    except ObjectError as error:
        context["problem"] = error.shell_message()
        return _view("row.html", entry, addresses, here, **context)
    await job.finished(PATIENCE)
    if job.state == "done":
        twins = await _twins(request, entry, job)
        context |= shown.explained(job.findings, twins)
        context["along"] = _along(entry, job, asked.address(addresses, ".json"))
    elif job.state in ("failed", "cancelled"):
        again = {"path": context["path"], "kept": context["kept"]}
        remedy = asked.address(addresses.without_infinite) if _is_infinite(job) else None
        context |= {"problem": _ended(job), "again": again, "remedy": remedy}
    else:
        context |= {"job": _progress(job), "waiting": True}
    return _view("row.html", entry, addresses, here, **context)


def _asked_for(
    request: Request, entry: TableEntry, asked: Asked, addresses: Addresses, again: bool = False
) -> Job:
    jobs, options = _service(request).jobs, addresses.options
    if asked.number is None:
        return jobs.explain(entry.id, values=asked.values, options=options, again=again)
    return jobs.explain(entry.id, number=asked.number, options=options, again=again)


async def _twins(request: Request, entry: TableEntry, job: Job) -> dict[int, Twins]:
    """Return ordinary rows like this one for each story that is told in full."""
    tables = _service(request).tables
    found: dict[int, Twins] = {}
    for place, story in enumerate(job.findings.stories):
        if story.exceptional:
            with contextlib.suppress(OptionError):  # the page explains the row without them, too
                found[place] = await tables.twins(entry.id, job.findings, place)
    return found


async def explain_again(request: Request) -> Response:
    """Explain once more what was cancelled or has failed."""
    params = await _form(request)
    addresses = Addresses.posted(request, params)
    entry = _service(request).tables.get(addresses.table_id)
    number = request.path_params.get("number")
    values = {column.name: params.get(f"v.{column.name}", "") for column in entry.columns}
    asked = Asked(values, None if number is None else whole("row", number, 1))
    _asked_for(request, entry, asked, addresses, again=True)
    return RedirectResponse(asked.address(addresses), 303)


# --- jobs --------------------------------------------------------------------------------------


async def cancel(request: Request) -> Response:
    """Cancel a job, and show the page that waited for it."""
    job = _service(request).jobs.cancel(request.path_params["job"])
    return RedirectResponse(job.page, 303)


async def _form(request: Request) -> QueryParams:
    """Return the texts of a form that was sent."""
    form = await request.form()
    return QueryParams([item for item in form.multi_items() if isinstance(item[1], str)])


def _progress(job: Job) -> dict[str, Any]:
    return {
        "events": f"/api/v1/jobs/{job.id}/events",
        "cancel": f"/jobs/{job.id}/cancel",
        "done": job.done,
        "total": job.total,
        "text": job.stage,
    }


def _ended(job: Job) -> str:
    return "It was cancelled." if job.state == "cancelled" else job.error or "It failed."


def _is_infinite(job: Job) -> bool:
    return _INFINITE in (job.error or "")


def _along(entry: TableEntry, job: Job, json: str) -> dict[str, Any]:
    """Return the ways to take a result along."""
    address = f"/api/v1/jobs/{job.id}/export"
    is_ranked_here = entry.is_streamed and job.kind == "detect"
    return {
        "exports": [
            {"name": name, "href": address + encoded([("format", kind)])}
            for kind, name in _EXPORTS.items()
            if kind != "png" or job.kind == "explain"
        ],
        "command": None if is_ranked_here else command_line(entry, job),
        "python": None if is_ranked_here else python(entry, job),
        "instead": RANKED_HERE if is_ranked_here else "",
        "json": json,
    }


# --- templates ---------------------------------------------------------------------------------


def error_page(request: Request, status: int, message: str) -> Response:
    """Show what went wrong, and a way back."""
    table_id = request.path_params.get("table")
    back = {"href": "/", "name": "Back to the start"}
    if table_id is not None and (request.url.query or request.url.path.count("/") > 2):
        back = {"href": Addresses(table_id).table(), "name": "Back to the table"}
    heading = {404: "There is no such page", 429: "Too much at once"}.get(
        status, "That did not work"
    )
    return page("error.html", status, heading=heading, problem=message, back=back, again=None)


def _view(
    template: str,
    entry: TableEntry,
    addresses: Addresses,
    here: str,
    status: int = 200,
    **context: Any,
) -> Response:
    """Show a view of a table."""
    links = {"table": addresses.table(), "odd": addresses.odd(), "new": addresses.to("/new")}
    shown = {"name": entry.name, "links": links}
    return page(template, status, table=shown, here=here, **context)


def _service(request: Request) -> Service:
    found: Service = request.app.state.service
    return found


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
