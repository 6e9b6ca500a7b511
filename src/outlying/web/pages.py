"""The pages: each address is read, the service is asked, a template shows the answer.

A page whose address ends with .json says the same as JSON.
"""

from __future__ import annotations

import contextlib
import dataclasses
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
from outlying.web import LimitError, NotReadyError, exports, row_page, table_page, tables
from outlying.web.jobs import Job
from outlying.web.openapi import Answer, record
from outlying.web.queries import Addresses
from outlying.web.row_page import RowPage, texts_of
from outlying.web.sourcing import SAID, bounded
from outlying.web.table_page import TablePage
from outlying.web.tables import Mark, TableEntry, Twins, service_of
from outlying.web.worker import Detected

if TYPE_CHECKING:
    from jinja2 import Environment

Page = Callable[[Request], Awaitable[Response]]

#: A page waits so many seconds for an answer before it shows progress instead.
PATIENCE = 0.7
_LARGEST_FORM, _MOST_FIELDS = 4 << 20, 100_000  # bytes; a new object has one for each column
#: What a page need not show.
_OF_JOBS = ("job", "waiting", "problem", "remedy", "again", "along", "findings", "welcome")
_OF_VIEWS = (
    "table",
    "accepts",
    "summary",
    "sections",
    "columns",
    "hidden",
    "more",
    "notes",
    "back",
)
_OPTIONAL = dict.fromkeys((*_OF_JOBS, *_OF_VIEWS))


# --- the frame -------------------------------------------------------------------------------


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
    found.filters |= {
        "percent_of": _percent_of,
        "counted": table_page.counted,
        "picture": table_page.picture,
        "choices": row_page.choices,
        "hint": row_page.hint,
    }
    script = (resources.files("outlying.web") / "static" / "page.js").read_bytes()
    digest = hashlib.blake2b(script, digest_size=4).hexdigest()
    found.globals |= {
        "say": say,
        "formats": exports.FORMATS,
        "version": outlying.__version__,
        "assets": {
            "style": f"/style.css?{outlying.__version__}",
            "script": f"/static/page.js?{digest}",
            "icon": "/static/icon.svg",
        },
    }
    return found


def _percent_of(number: float, name: str) -> Any:
    """Return a percentage as an attribute that the style sheet knows."""
    from markupsafe import Markup

    step = 1 if name == "heat" else 0.5
    return Markup('data-{}="{:g}"').format(name, round(number / step) * step)


def error_page(request: Request, status: int, message: str) -> Response:
    """Show what went wrong, and a way back."""
    table_id = request.path_params.get("table")
    back = None
    if table_id is not None and (request.url.query or request.url.path.count("/") > 2):
        back = Addresses(table_id).table()
    headings = {404: "There is no such page", 429: "Too much at once"}
    heading = headings.get(status, "That did not work")
    return page("error.html", status, heading=heading, problem=message, back=back)


def is_json(request: Request) -> bool:
    """Return whether a page is asked for as JSON."""
    return request.url.path.endswith(".json")


async def finished(request: Request, job: Job) -> Job:
    """Wait for a job: for JSON until it is over, for a page not longer than readers like."""
    await job.finished(service_of(request).limits.seconds if is_json(request) else PATIENCE)
    return job


def of_table(
    show: Callable[[Request, TableEntry, Addresses], Awaitable[Response]],
) -> Page:
    """Return a page of a table that is read first; until then, how far that is."""

    async def answer(request: Request) -> Response:
        table_id, service = request.path_params["table"], service_of(request)
        addresses = Addresses.of(table_id, request.query_params)
        entry = service.open(table_id)
        if entry.reading is not None and entry.state == "reading":
            await finished(request, entry.reading)
            entry = service.get(entry.id)
        if is_json(request):
            entry.ready()
        heading = printable(entry.name, 60)
        if entry.state == "failed":
            again = {"path": addresses.path(), "names": entry.sourcing.sayable, "said": SAID}
            again |= {"given": dict(entry.sourcing.given)}
            heading = f"{heading} could not be read"
            return page("error.html", 400, again=again, heading=heading, problem=entry.error or "")
        if entry.state != "ready":
            shown = {"heading": heading, "words": "Reading the table"}
            return page("waiting.html", 202, job=entry.reading, waiting=True, **shown)
        return await show(request, entry, addresses)

    return answer


def view(
    template: str,
    entry: TableEntry,
    addresses: Addresses,
    here: str,
    status: int = 200,
    **context: Any,
) -> Response:
    """Show a view of a table."""
    accepts = any(map(entry.accepts, entry.fine))
    shown = {"table": entry, "addresses": addresses, "here": here, "accepts": accepts}
    return page(template, status, **shown, **context)


async def form(request: Request) -> tuple[QueryParams, Addresses]:
    """Return the texts of a form that was sent, and the views that it was sent from."""
    error = LimitError(f"the form has more than {_LARGEST_FORM >> 20} MB", "upload")
    whole = bounded(request, _LARGEST_FORM, error, service_of(request).limits.pause)
    form = await whole.form(max_fields=_MOST_FIELDS)
    texts = QueryParams([item for item in form.multi_items() if isinstance(item[1], str)])
    return texts, Addresses.of(request.path_params["table"], texts)


def ended(job: Job, remedy: Callable[[], str]) -> dict[str, Any]:
    """Say why a job has ended without a result, and where infinite values count as missing."""
    said = "It was cancelled." if job.state == "cancelled" else job.error or "It failed."
    is_infinite = INFINITE_AS_MISSING in job.remedies
    return {"problem": said, "again": True, "remedy": remedy() if is_infinite else None}


def along(entry: TableEntry, job: Job, json: str) -> dict[str, Any]:
    """Return the ways to take a result along."""
    try:
        said = exports.reproduced(entry, job)
    except NotReadyError as error:
        said = {"instead": str(error)}
    return {"along": {"job": job, "json": json, **said}}


# --- the start, the table ----------------------------------------------------------------------


async def start(request: Request) -> Response:
    """Show the tables that can be opened, and a place to drop another."""
    words = {"reading": "being read", "failed": "could not be read"}
    known = [
        (
            entry,
            Addresses(entry.id),
            table_page.size_of(entry) if entry.state == "ready" else words.get(entry.state, ""),
        )
        for entry in service_of(request).list()
    ]
    promise, stays = say.PAGE_STAYS if request.app.state.is_local else say.PAGE_GOES
    return page("start.html", tables=known, kinds=f"{say.PAGE_KINDS} {stays}", promise=promise)


async def forget(request: Request) -> Response:
    """Forget a table that was uploaded."""
    service_of(request).remove(request.path_params["table"])
    return RedirectResponse("/", 303)


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
    shown = TablePage(entry, addresses, request.query_params)
    rows = await service_of(request).page(entry, shown.query)
    if is_json(request):
        return Answer(record(tables.Page, rows))
    status, context = 400 if problem else 200, shown.of_rows(rows)
    return view("table.html", entry, addresses, "table", status, problem=problem, **context)


@of_table
async def columns(request: Request, entry: TableEntry, addresses: Addresses) -> Response:
    """Show what the columns of a table hold, and how each was read."""
    shown = TablePage(entry, addresses, request.query_params, "/columns").of_columns()
    return view("columns.html", entry, addresses, "columns", **shown)


async def read_again(request: Request) -> Response:
    """Read a table once more: one that could not be read, or in another way than before."""
    params, _ = await form(request)
    said = {name: params.get(name) for name in SAID}
    entry = service_of(request).read_as(request.path_params["table"], said)
    return RedirectResponse(Addresses(entry.id).table(), 303)


async def cancel(request: Request) -> Response:
    """Cancel a job, and show the page that waited for it."""
    jobs = service_of(request).jobs
    return RedirectResponse(jobs.cancel(jobs.get(request.path_params["job"])).page, 303)


# --- what stands out -------------------------------------------------------------------------


@of_table
async def odd(request: Request, entry: TableEntry, addresses: Addresses) -> Response:
    """Show the odd rows of a table as they are found; a look at this page begins the search."""
    given = request.query_params.get("top") or ("10" if is_json(request) else None)
    top = row_page.number_of(given)
    job = await finished(request, looked_for(request, entry, addresses, top))
    if is_json(request):
        return Answer(exports.document(job))
    shown: dict[str, Any] = {"about": table_page.size_of(entry), "top": top, "job": job}
    if job.state in ("failed", "cancelled"):
        shown |= ended(job, lambda: addresses.without_infinite.odd(top))
    else:
        shown |= row_page.odd_rows(entry, addresses, top, job)
    if job.state == "done":
        shown |= along(entry, job, addresses.odd(top, ".json"))
    return view("odd.html", entry, addresses, "odd", waiting=not job.is_over, **shown)


async def find_odd(request: Request) -> Response:
    """Start to look for odd rows, also where that was cancelled before."""
    params, addresses = await form(request)
    top = row_page.number_of(params.get("top"))
    entry = service_of(request).get(addresses.table_id)
    looked_for(request, entry, addresses, top, again=True)
    return RedirectResponse(addresses.odd(top), 303)


async def mark(request: Request) -> Response:
    """Mark a row as fine, or take that back, and show the page that it was marked on."""
    params, addresses = await form(request)
    number, service = read_whole("row", params.get("row"), 1), service_of(request)
    mark = Mark.of(params) if params.get("fine") else None
    service.mark(service.get(addresses.table_id), number, mark)
    top = row_page.number_of(params["odd"]) if params.get("odd") else None
    is_row = params.get("back") == "row"
    return RedirectResponse(addresses.row(number, top=top) if is_row else addresses.odd(top), 303)


def looked_for(
    request: Request, entry: TableEntry, addresses: Addresses, top: int, again: bool = False
) -> Job:
    """Return the job that looks for odd rows, begun unless there is one."""
    options = row_page.options_of(addresses.options)
    return service_of(request).detect(entry, top, options, again=again)


# --- a row, a new object ---------------------------------------------------------------------


@of_table
async def row(request: Request, entry: TableEntry, addresses: Addresses) -> Response:
    """Show a row, and why it is odd; one that was picked among the odd rows, together with them."""
    number = read_whole("row", request.path_params["number"], 1)
    values = await service_of(request).values(entry, number)
    shown = RowPage(entry, addresses, texts_of(values), number, name=entry.name_of(values))
    if (given := request.query_params.get("odd")) is not None:
        job = looked_for(request, entry, addresses, top := row_page.number_of(given))
        if isinstance(job.result, Detected):
            rows = row_page.listed(job.result.detection.rows)
            odd = tuple(item.row + 1 for item in rows if item.row is not None)
            shown = dataclasses.replace(shown, top=top, odd=odd)
    return await _explained(request, shown, "")


@of_table
async def new(request: Request, entry: TableEntry, addresses: Addresses) -> Response:
    """Show a form for a new object, and why that is odd."""
    params, welcome = request.query_params, say.PAGE_WELCOME
    if params.get("from"):
        number = read_whole("from", params["from"], 1)
        found = texts_of(await service_of(request).values(entry, number))
        values = row_page.copied(found, entry)
        left_out = ", ".join(printable(name, 60) for name in row_page.too_long(found)[:5])
        welcome += say.PAGE_LEFT_OUT.format(columns=left_out) if left_out else ""
    else:
        values = _typed(entry, params)
    shown = RowPage(entry, addresses, values)
    is_empty = params.get("from") or not any(values.values())
    if is_empty and not is_json(request):
        return view("row.html", entry, addresses, "new", welcome=welcome, **shown.context())
    return await _explained(request, shown, "new")


def _typed(entry: TableEntry, params: QueryParams) -> dict[str, str]:
    """Return the values of a new object as they were typed."""
    return {column.name: params.get(f"v.{column.name}", "") for column in entry.facts.columns}


async def _explained(request: Request, shown: RowPage, here: str) -> Response:
    entry, addresses = shown.entry, shown.addresses
    context = shown.context()
    try:
        job = _job_of(request, shown)
    except ObjectError as error:
        if is_json(request):
            raise
        context["problem"] = error.shell_message()
        return view("row.html", entry, addresses, here, **context)
    await finished(request, job)
    if is_json(request):
        return Answer(exports.document(job))
    if job.state == "done":
        context |= shown.explained(job.explained[0], await _twins(request, entry, job))
        context |= along(entry, job, shown.address(".json"))
    elif job.is_over:
        context |= ended(job, lambda: shown.address(addresses=addresses.without_infinite))
    else:
        context |= {"job": job, "waiting": True}
    return view("row.html", entry, addresses, here, **context)


def _job_of(request: Request, shown: RowPage, again: bool = False) -> Job:
    typed = {name: text or None for name, text in shown.values.items()}
    what = typed if shown.number is None else shown.number
    return service_of(request).explain(shown.entry, what, shown.addresses.options, again=again)


async def _twins(request: Request, entry: TableEntry, job: Job) -> dict[int, Twins]:
    """Return ordinary rows like this one for each story that is told in full."""
    service, (findings, *_) = service_of(request), job.explained
    found: dict[int, Twins] = {}
    for place, story in enumerate(findings.stories):
        if story.stands_out:
            # the page explains the row without them, too, where its columns cannot be filtered by
            with contextlib.suppress(OptionError, ColumnError):
                found[place] = await service.twins(entry, findings, place)
    return found


async def explain_again(request: Request) -> Response:
    """Explain once more what was cancelled or has failed."""
    params, addresses = await form(request)
    entry = service_of(request).get(addresses.table_id)
    given = request.path_params.get("number")
    number = None if given is None else read_whole("row", given, 1)
    shown = RowPage(entry, addresses, _typed(entry, params), number)
    _job_of(request, shown, again=True)
    return RedirectResponse(shown.address(), 303)


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
