"""The pages: each address is read, the service is asked, a template shows the answer."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from outlying.errors import OptionError
from outlying.web import table_page
from outlying.web.addresses import Addresses
from outlying.web.odd_routes import find_odd, odd
from outlying.web.page_frame import form, opened, view
from outlying.web.queries import TableQuery
from outlying.web.row_routes import explain_again, new, row
from outlying.web.service import service_of
from outlying.web.tables import TableEntry
from outlying.web.templating import page, style_sheet
from outlying.web.uploads import SAID

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
    entry, waiting = await opened(request)
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
