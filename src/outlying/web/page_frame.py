"""What all pages have in common: templates that escape every value, and the frame around a view."""

from __future__ import annotations

import functools
import hashlib
from importlib import resources
from typing import TYPE_CHECKING, Any

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

import outlying
from outlying.errors import INFINITE_AS_MISSING
from outlying.render import html
from outlying.table.values import printable
from outlying.web.exports import RANKED_HERE, command_line, python
from outlying.web.jobs import Job
from outlying.web.limits import LimitError
from outlying.web.queries import Addresses, encoded
from outlying.web.service import SAID, bounded, service_of
from outlying.web.tables import TableEntry

if TYPE_CHECKING:
    from jinja2 import Environment


def page(template: str, status: int = 200, **context: Any) -> Response:
    """Return a page."""
    text = _environment().get_template(template).render(**context)
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
_EXPORTS = {"html": "Report", "json": "JSON", "csv": "CSV", "png": "Picture"}


def view(
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


async def open_table(request: Request) -> tuple[TableEntry, Response | None]:
    """Return the table, and what to show instead while it is read or where it cannot be."""
    service = service_of(request)
    entry = service.tables.open(request.path_params["table"])
    if entry.state == "reading" and entry.job is not None:
        await service.jobs.get(entry.job).finished(PATIENCE)
        entry = service.tables.get(entry.id)
    if entry.state == "failed":
        return entry, _unread(entry)
    if entry.state == "ready" or entry.job is None:
        return entry, None
    shown = {"heading": printable(entry.name, 60), "words": "Reading the table"}
    job = progress(service.jobs.get(entry.job))
    return entry, page("waiting.html", 202, job=job, waiting=True, **shown)


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
    form = await bounded(request, _LARGEST_FORM, error).form(max_fields=_MOST_FIELDS)
    return QueryParams([item for item in form.multi_items() if isinstance(item[1], str)])


def progress(job: Job) -> dict[str, Any]:
    """Return how far a job is, and where that is told."""
    return {
        "events": f"/api/v1/jobs/{job.id}/events",
        "cancel": f"/jobs/{job.id}/cancel",
        "done": job.done,
        "total": job.total,
        "text": job.stage,
    }


def ended(job: Job) -> str:
    """Say why a job has ended without a result."""
    return "It was cancelled." if job.state == "cancelled" else job.error or "It failed."


def is_infinite(job: Job) -> bool:
    """Return whether a job has failed for infinite values, which can count as missing."""
    return INFINITE_AS_MISSING in job.remedies


def along(entry: TableEntry, job: Job, json: str) -> dict[str, Any]:
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
