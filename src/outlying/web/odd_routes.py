"""The page of what stands out: asked for, in progress, found."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from outlying.web import odd_page
from outlying.web.addresses import Addresses
from outlying.web.jobs import Job
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
from outlying.web.service import service_of
from outlying.web.tables import TableEntry


async def odd(request: Request) -> Response:
    """Show the odd rows of a table, the work of finding them, or how to ask for them."""
    addresses = Addresses.of(request)
    entry, waiting = await opened(request)
    if waiting is not None:
        return waiting
    given = request.query_params.get("top")
    top = odd_page.number_of(given)
    shown = odd_page.asked(entry, addresses, top)
    if given is not None:
        job = looked_for(request, addresses, top)
        await job.finished(PATIENCE)
        shown |= _detected(job, addresses, top, entry)
    return view("odd.html", entry, addresses, "odd", waiting=shown["state"] == "running", **shown)


def _detected(job: Job, addresses: Addresses, top: int, entry: TableEntry) -> dict[str, Any]:
    if job.state == "done":
        taken = along(entry, job, addresses.odd(top, ".json"))
        return {"state": "done", "along": taken} | odd_page.found(job, addresses)
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
