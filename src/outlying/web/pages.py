"""The pages: each address is read, the service is asked, a template shows the answer.

A page whose address ends with .json says the same as JSON.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
from collections.abc import Awaitable, Callable, Sequence
from importlib import resources
from typing import TYPE_CHECKING, Any

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

import outlying
from outlying import sentences as say
from outlying.checks import read_whole
from outlying.errors import INFINITE_AS_MISSING, ColumnError, ObjectError, OptionError
from outlying.render import html
from outlying.table.values import printable
from outlying.web import LimitError, NotReadyError, exports, odd_page, openapi, row_page, table_page
from outlying.web.jobs import Job
from outlying.web.openapi import Answer, record
from outlying.web.queries import Addresses, TableQuery
from outlying.web.row_page import RowPage, Subject, copied, texts_of, too_long
from outlying.web.sourcing import SAID, bounded
from outlying.web.tables import TableEntry, Twins, service_of

if TYPE_CHECKING:
    from jinja2 import Environment


def page(template: str, status: int = 200, **context: Any) -> Response:
    """Return a page."""
    text = _environment().get_template(template).render(**_OPTIONAL | context)
    return HTMLResponse(text.encode("utf-8", "backslashreplace"), status)


async def style_sheet(request: Request) -> Response:  # noqa: ARG001 - as all routes are called
    """Send the style of all pages: that of the cards, and what is around them."""
    return Response(_style(), media_type="text/css")


@functools.cache
def _style() -> str:
    return _environment().get_template("page.css").render(cards=html.style_sheet())


@functools.cache
def _environment() -> Environment:
    found = html.with_cards(html.environment("outlying.web"))
    found.filters["percent_of"] = _percent_of
    found.filters |= {"counted": table_page.counted, "picture": table_page.picture}
    found.filters |= {"choices": row_page.choices, "hint": row_page.hint}
    found.globals |= {"say": say, "formats": exports.FORMATS}
    script = resources.files("outlying.web") / "static" / "page.js"
    found.globals["version"] = outlying.__version__
    found.globals["assets"] = {
        "style": f"/style.css?{outlying.__version__}",
        "script": f"/static/page.js?{_digest(script.read_bytes())}",
        "icon": "/static/icon.svg",
    }
    return found


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=4).hexdigest()


def _percent_of(number: float, name: str) -> Any:
    """Return a percentage as an attribute that the style sheet knows."""
    from markupsafe import Markup

    step = 1 if name == "heat" else 0.5
    return Markup('data-{}="{:g}"').format(name, round(number / step) * step)


# --- the frame -------------------------------------------------------------------------------

#: A page waits so many seconds for an answer before it shows progress instead.
PATIENCE = 0.7
_LARGEST_FORM, _MOST_FIELDS = 4 << 20, 100_000  # bytes; a new object has one for each column
#: What a page need not show.
_OF_JOBS = ("job", "waiting", "problem", "remedy", "again", "along", "findings", "welcome")
_OF_VIEWS = ("table", "summary", "sections", "columns", "hidden", "more", "notes")
_OPTIONAL = dict.fromkeys((*_OF_JOBS, *_OF_VIEWS))


def view(
    template: str,
    entry: TableEntry,
    addresses: Addresses,
    here: str,
    status: int = 200,
    **context: Any,
) -> Response:
    """Show a view of a table."""
    return page(template, status, table=entry, addresses=addresses, here=here, **context)


def error_page(request: Request, status: int, message: str) -> Response:
    """Show what went wrong, and a way back."""
    table_id = request.path_params.get("table")
    back = {"href": "/", "name": "Back to the start"}
    if table_id is not None and (request.url.query or request.url.path.count("/") > 2):
        back = {"href": Addresses(table_id).table(), "name": "Back to the table"}
    heading = {404: "There is no such page", 429: "Too much at once"}.get(
        status, "That did not work"
    )
    return page("error.html", status, heading=heading, problem=message, back=back)


def is_json(request: Request) -> bool:
    """Return whether a page is asked for as JSON."""
    return request.url.path.endswith(".json")


async def finished(request: Request, job: Job) -> Job:
    """Wait for a job: for JSON until it is over, for a page not longer than readers like."""
    await job.finished(service_of(request).limits.seconds if is_json(request) else PATIENCE)
    return job


async def open_table(request: Request) -> tuple[TableEntry, Response | None]:
    """Return the table, and what to show instead while it is read or where it cannot be."""
    service = service_of(request)
    entry = service.tables.open(request.path_params["table"])
    if entry.state == "reading" and entry.job is not None:
        await finished(request, service.jobs.get(entry.job))
        entry = service.tables.get(entry.id)
    if is_json(request):
        entry.ready()
    if entry.state == "failed":
        return entry, _unread(entry)
    if entry.state == "ready" or entry.job is None:
        return entry, None
    shown = {"heading": printable(entry.name, 60), "words": "Reading the table"}
    return entry, page("waiting.html", 202, job=service.jobs.get(entry.job), waiting=True, **shown)


def of_table(
    show: Callable[[Request, TableEntry, Addresses], Awaitable[Response]],
) -> Callable[[Request], Awaitable[Response]]:
    """Return a page of a table that is read first; until then, how far that is."""

    async def answer(request: Request) -> Response:
        addresses = Addresses.of(request)
        entry, waiting = await open_table(request)
        return waiting or await show(request, entry, addresses)

    return answer


def _unread(entry: TableEntry) -> Response:
    """Say why a table could not be read; ask what may help to read it once more."""
    given = dict(entry.sourcing.given)
    names = entry.sourcing.sayable
    fields = [{"name": name, "label": SAID[name], "value": given.get(name, "")} for name in names]
    again = {"path": Addresses(entry.id).path(), "fields": fields}
    said = {
        "heading": f"{printable(entry.name, 60)} could not be read",
        "problem": entry.error or "",
    }
    back = {"href": "/", "name": "Back to the start"}
    return page("error.html", 400, again=again, back=back, **said)


async def form(request: Request) -> QueryParams:
    """Return the texts of a form that was sent."""
    error = LimitError(f"the form has more than {_LARGEST_FORM >> 20} MB", "upload")
    whole = bounded(request, _LARGEST_FORM, error, service_of(request).limits.pause)
    form = await whole.form(max_fields=_MOST_FIELDS)
    return QueryParams([item for item in form.multi_items() if isinstance(item[1], str)])


def ended(job: Job) -> str:
    """Say why a job has ended without a result."""
    return "It was cancelled." if job.state == "cancelled" else job.error or "It failed."


def is_infinite(job: Job) -> bool:
    """Return whether a job has failed for infinite values, which can count as missing."""
    return INFINITE_AS_MISSING in job.remedies


def along(entry: TableEntry, job: Job, json: str) -> dict[str, Any]:
    """Return the ways to take a result along."""
    try:
        said = exports.reproduced(entry, job)
    except NotReadyError as error:
        said = {"instead": str(error)}
    return {"job": job, "json": json, **said}


# --- the start, the table ----------------------------------------------------------------------


async def start(request: Request) -> Response:
    """Show the tables that can be opened, and a place to drop another."""
    tables = [
        {
            "name": entry.name,
            "href": Addresses(entry.id).odd(),
            "about": _about(entry),
            "forget": Addresses(entry.id).path("/forget") if entry.is_upload else None,
        }
        for entry in service_of(request).tables.list()
    ]
    promise, stays = say.PAGE_STAYS if request.app.state.is_local else say.PAGE_GOES
    return page(
        "start.html",
        tables=tables,
        upload="/api/v1/tables",
        kinds=f"{say.PAGE_KINDS} {stays}",
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


@of_table
async def table(request: Request, entry: TableEntry, addresses: Addresses) -> Response:
    """Show a part of a table."""
    problem = ""
    try:
        moved_to = table_page.sent(entry, request.query_params, addresses)
        if moved_to is not None:
            return RedirectResponse(moved_to, 303)
    except OptionError as error:
        problem = error.shell_message()
    query, left = TableQuery.of(request.query_params), table_page.left_of(request.query_params)
    rows = await service_of(request).tables.page(entry.id, query)
    if is_json(request):
        return Answer(record(openapi.Page, rows))
    shown = table_page.TablePage(entry, query, addresses, left).context(rows)
    status = 400 if problem else 200
    return view("table.html", entry, addresses, "table", status, problem=problem, **shown)


@of_table
async def columns(request: Request, entry: TableEntry, addresses: Addresses) -> Response:
    """Show what the columns of a table hold, and how each was read."""
    left = table_page.left_of(request.query_params)
    shown = table_page.ColumnsPage(entry, TableQuery(), addresses, left).context()
    return view("columns.html", entry, addresses, "columns", **shown)


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


@of_table
async def odd(request: Request, entry: TableEntry, addresses: Addresses) -> Response:
    """Show the odd rows of a table as they are found; a look at this page begins the search."""
    given = request.query_params.get("top") or ("10" if is_json(request) else None)
    top = odd_page.number_of(given)
    job = await finished(request, looked_for(request, addresses, top))
    if is_json(request):
        return Answer(exports.document(job))
    shown: dict[str, Any] = {"about": table_page.size_of(entry), "top": top, "job": job}
    if job.state in ("failed", "cancelled"):
        remedy = addresses.without_infinite.odd(top) if is_infinite(job) else None
        shown |= {"problem": ended(job), "remedy": remedy}
    else:
        shown |= odd_page.OddPage(entry, addresses, top).found(job)
    if job.state == "done":
        shown["along"] = along(entry, job, addresses.odd(top, ".json"))
    return view("odd.html", entry, addresses, "odd", waiting=not job.is_over, **shown)


async def find_odd(request: Request) -> Response:
    """Start to look for odd rows, also where that was cancelled before."""
    params = await form(request)
    top = odd_page.number_of(params.get("top"))
    addresses = Addresses.posted(request, params)
    looked_for(request, addresses, top, again=True)
    return RedirectResponse(addresses.odd(top), 303)


async def mark(request: Request) -> Response:
    """Mark a row as fine, or take that back, and show the page that it was marked on."""
    params = await form(request)
    addresses, number = Addresses.posted(request, params), read_whole("row", params.get("row"), 1)
    is_fine = bool(params.get("fine"))
    service_of(request).tables.mark(addresses.table_id, number, is_fine=is_fine)
    top = odd_page.number_of(params["odd"]) if params.get("odd") else None
    if params.get("back") == "row":
        return RedirectResponse(addresses.row(number, top=top), 303)
    return RedirectResponse(addresses.odd(top), 303)


def looked_for(request: Request, addresses: Addresses, top: int, again: bool = False) -> Job:
    """Return the job that looks for odd rows, begun unless there is one."""
    options, tables = odd_page.options_of(addresses.options), service_of(request).tables
    return tables.detect(addresses.table_id, top=top, options=options, again=again)


# --- a row, a new object ---------------------------------------------------------------------


@of_table
async def row(request: Request, entry: TableEntry, addresses: Addresses) -> Response:
    """Show a row, and why it is odd."""
    number = read_whole("row", request.path_params["number"], 1)
    values = await service_of(request).tables.values(entry.id, number)
    subject = Subject(
        texts_of(values), number, *_among_odd(request, addresses), entry.name_of(values)
    )
    return await _explained(request, entry, subject, addresses, "")


def _among_odd(request: Request, addresses: Addresses) -> tuple[int | None, tuple[int, ...]]:
    """Return how many odd rows were found where this one was picked, and which, if it was."""
    given = request.query_params.get("odd")
    if given is None:
        return None, ()
    job = looked_for(request, addresses, top := odd_page.number_of(given))
    if job.state != "done":
        return None, ()
    rows = odd_page.listed(job.detected.detection.rows)
    return top, tuple(item.row + 1 for item in rows if item.row is not None)


@of_table
async def new(request: Request, entry: TableEntry, addresses: Addresses) -> Response:
    """Show a form for a new object, and why that is odd."""
    params, welcome = request.query_params, say.PAGE_WELCOME
    if params.get("from"):
        number = read_whole("from", params["from"], 1)
        found = texts_of(await service_of(request).tables.values(entry.id, number))
        values = copied(found, entry)
        left_out = ", ".join(printable(name, 60) for name in too_long(found)[:5])
        welcome += say.PAGE_LEFT_OUT.format(columns=left_out) if left_out else ""
    else:
        values = {column.name: params.get(f"v.{column.name}", "") for column in entry.columns}
    subject = Subject(values)
    is_empty = params.get("from") or not any(values.values())
    if is_empty and not is_json(request):
        shown = RowPage(entry, subject, addresses).context()
        return view("row.html", entry, addresses, "new", welcome=welcome, **shown)
    return await _explained(request, entry, subject, addresses, "new")


async def _explained(
    request: Request, entry: TableEntry, subject: Subject, addresses: Addresses, here: str
) -> Response:
    shown = RowPage(entry, subject, addresses)
    context = shown.context()
    try:
        job = _job_of(request, entry, subject, addresses)
    except ObjectError as error:
        if is_json(request):
            raise
        context["problem"] = error.shell_message()
        return view("row.html", entry, addresses, here, **context)
    await finished(request, job)
    if is_json(request):
        return Answer(exports.document(job))
    if job.state == "done":
        twins = await _twins(request, entry, job)
        context |= shown.explained(job.findings, twins)
        context["along"] = along(entry, job, subject.address(addresses, ".json"))
    elif job.state in ("failed", "cancelled"):
        remedy = subject.address(addresses.without_infinite) if is_infinite(job) else None
        context |= {"problem": ended(job), "again": True, "remedy": remedy}
    else:
        context |= {"job": job, "waiting": True}
    return view("row.html", entry, addresses, here, **context)


def _job_of(
    request: Request, entry: TableEntry, subject: Subject, addresses: Addresses, again: bool = False
) -> Job:
    tables, options = service_of(request).tables, addresses.options
    if subject.number is None:
        values = {name: text or None for name, text in subject.values.items()}
        return tables.explain(entry.id, values=values, options=options, again=again)
    return tables.explain(entry.id, number=subject.number, options=options, again=again)


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
    Route("/t/{table}.json", table),
    Route("/t/{table}/odd.json", odd),
    Route("/t/{table}/row/{number}.json", row),
    Route("/t/{table}/new.json", new),
    Route("/t/{table}", table, methods=["GET"]),
    Route("/t/{table}", read_again, methods=["POST"]),
    Route("/t/{table}/forget", forget, methods=["POST"]),
    Route("/t/{table}/columns", columns),
    Route("/t/{table}/fine", mark, methods=["POST"]),
    Route("/t/{table}/odd", odd, methods=["GET"]),
    Route("/t/{table}/odd", find_odd, methods=["POST"]),
    Route("/t/{table}/row/{number}", row, methods=["GET"]),
    Route("/t/{table}/row/{number}", explain_again, methods=["POST"]),
    Route("/t/{table}/new", new, methods=["GET"]),
    Route("/t/{table}/new", explain_again, methods=["POST"]),
    Route("/jobs/{job}/cancel", cancel, methods=["POST"]),
]
