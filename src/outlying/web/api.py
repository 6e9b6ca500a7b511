"""The API for programs, /api/v1: the same tables and jobs as pages show, as JSON."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from outlying.checks import check_choice, check_names, check_whole, read_whole
from outlying.errors import OptionError, not_allowed, shown
from outlying.results.findings import Findings
from outlying.web import exports, openapi, payloads
from outlying.web.jobs import Job
from outlying.web.limits import LimitError, NotFoundError
from outlying.web.payloads import Answer
from outlying.web.queries import OptionsQuery, TableQuery
from outlying.web.row_page import copied, texts_of
from outlying.web.service import bounded, received, service_of
from outlying.web.tables import TableEntry

_LARGEST_BODY = 4 << 20
_PATIENCE = 15.0  # seconds without news after which a stream of them says that it lives


async def tables(request: Request) -> Response:
    """List all tables."""
    found = service_of(request).tables.list()
    return Answer({"tables": [payloads.table(entry) for entry in found]})


async def upload(request: Request) -> Response:
    """Take in a file, and begin to read it."""
    service = service_of(request)
    entry = await received(request, service)
    if "text/html" in request.headers.get("accept", ""):
        return RedirectResponse(f"/t/{entry.id}", 303)
    job = service.jobs.get(entry.job or "")
    return Answer({"table": payloads.table(entry), "job": payloads.job(job)}, 202)


async def table(request: Request) -> Response:
    """Describe a table."""
    return Answer(payloads.table(service_of(request).tables.get(_name(request, "table"))))


async def remove_table(request: Request) -> Response:
    """Forget an upload."""
    return Answer(payloads.table(service_of(request).tables.remove(_name(request, "table"))))


async def open_table(request: Request) -> Response:
    """Begin to read a table."""
    service = service_of(request)
    entry = service.tables.reopen(_name(request, "table"))
    return Answer(payloads.job(service.jobs.get(entry.job or "")), 202)


async def rows(request: Request) -> Response:
    """Return a page of rows."""
    service, name = service_of(request), _name(request, "table")
    found = await service.tables.page(name, TableQuery.of(request.query_params))
    return Answer(payloads.page(found, service.tables.get(name)))


async def explain(request: Request) -> Response:
    """Begin to explain a row or a new object."""
    body = await _body(request, ("row", "object", "options"))
    row, values = body.get("row"), body.get("object")
    if (row is None) == (values is None):
        raise OptionError("name exactly one of row and object")
    if values is not None and not isinstance(values, Mapping):
        raise not_allowed("object", values, "an object of column and value")
    job = service_of(request).jobs.explain(
        _name(request, "table"),
        number=None if row is None else check_whole("row", row, 1),
        values=None if values is None else dict(values),
        options=_options(body),
        again=True,
    )
    return Answer(payloads.job(job), 202)


async def detect(request: Request) -> Response:
    """Begin to look for rows that stand out."""
    body = await _body(request, ("top", "options"))
    top, options = body.get("top", 10), _options(body)
    name = _name(request, "table")
    job = service_of(request).jobs.detect(name, top=top, options=options, again=True)
    return Answer(payloads.job(job), 202)


async def jobs(request: Request) -> Response:
    """List all jobs that are known."""
    return Answer({"jobs": [payloads.job(item) for item in service_of(request).jobs.list()]})


async def job(request: Request) -> Response:
    """Say how far a job is."""
    return Answer(payloads.job(_job(request)))


async def cancel(request: Request) -> Response:
    """End a job."""
    return Answer(payloads.job(service_of(request).jobs.cancel(_job(request).id)))


async def events(request: Request) -> Response:
    """Tell all changes of a job as they happen."""
    headers = {"X-Accel-Buffering": "no"}
    return StreamingResponse(
        _news(request, _job(request)), media_type="text/event-stream", headers=headers
    )


async def _news(request: Request, item: Job) -> AsyncIterator[str]:
    while True:
        yield f"event: progress\ndata: {json.dumps(payloads.job(item))}\n\n"
        if item.is_over or await request.is_disconnected():
            return
        await item.change(_PATIENCE)


async def result(request: Request) -> Response:
    """Return what a job has found."""
    return Answer(payloads.result(_job(request)))


async def export(request: Request) -> Response:
    """Return what a job has found as a file."""
    form = request.query_params.get("format", "json")
    check_choice("format", form, tuple(exports.FORMATS))
    item = _job(request)
    content = await anyio.to_thread.run_sync(exports.exported, item, form, abandon_on_cancel=True)
    name = f"outlying-{item.table}-{item.kind}.{form}"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=exports.FORMATS[form], headers=headers)


async def reproduced(request: Request) -> Response:
    """Return the command and the Python that give the same result."""
    item = _job(request)
    entry = service_of(request).tables.get(item.table)
    said = {"command": exports.command_line(entry, item), "python": exports.python(entry, item)}
    return Answer(said)


async def story(request: Request) -> Response:
    """Say what would be ordinary in place of a story."""
    item, number = _job(request), _number(request, "story")
    explained: tuple[Findings, ...] = item.explained
    place = read_whole("object", request.query_params.get("object") or 1, 1)
    if place > len(explained):
        raise NotFoundError(f"there is no object {place}")
    found = await service_of(request).tables.twins(item.table, explained[place - 1], number - 1)
    return Answer(payloads.twins(found))


async def document(_: Request) -> Response:
    """Return the OpenAPI document."""
    return Answer(openapi.document())


# --- every page in JSON ------------------------------------------------------------------------


async def table_twin(request: Request) -> Response:
    """Return the rows that the page of a table shows."""
    await _open_table(request)
    return await rows(request)


async def _open_table(request: Request) -> TableEntry:
    """Open the table of an address, and wait until it is read."""
    service = service_of(request)
    entry = service.tables.open(_name(request, "table"))
    if entry.job is not None and entry.state == "reading":
        await service.jobs.get(entry.job).finished(service.limits.seconds)
    return entry


async def odd_twin(request: Request) -> Response:
    """Return what stands out, as the library's JSON."""
    given = request.query_params
    top, entry = read_whole("top", given.get("top") or 10, 1), await _open_table(request)
    job = service_of(request).jobs.detect(entry.id, top=top, options=OptionsQuery.of(given))
    return await _answered(request, job)


async def row_twin(request: Request) -> Response:
    """Return why a row is odd, as the library's JSON."""
    options = OptionsQuery.of(request.query_params)
    number, entry = _number(request, "row"), await _open_table(request)
    job = service_of(request).jobs.explain(entry.id, number=number, options=options)
    return await _answered(request, job)


async def object_twin(request: Request) -> Response:
    """Return why a new object is odd, as the library's JSON."""
    service, given = service_of(request), request.query_params
    entry = await _open_table(request)
    texts = {facts.name: given.get(f"v.{facts.name}", "") for facts in entry.columns}
    if given.get("from"):
        number = read_whole("from", given["from"], 1)
        texts = copied(texts_of(await service.tables.values(entry.id, number)), entry)
    values = {name: text or None for name, text in texts.items()}
    job = service.jobs.explain(entry.id, values=values, options=OptionsQuery.of(given))
    return await _answered(request, job)


async def _answered(request: Request, item: Job) -> Response:
    await item.finished(service_of(request).limits.seconds)
    return Answer(payloads.result(item))


ROUTES = [
    Route("/index.json", tables),
    Route("/t/{table}.json", table_twin),
    Route("/t/{table}/odd.json", odd_twin),
    Route("/t/{table}/row/{row}.json", row_twin),
    Route("/t/{table}/new.json", object_twin),
    Route("/openapi.json", document),
    Route("/api/v1/tables", tables),
    Route("/api/v1/tables", upload, methods=["POST"]),
    Route("/api/v1/tables/{table}", table),
    Route("/api/v1/tables/{table}", remove_table, methods=["DELETE"]),
    Route("/api/v1/tables/{table}/open", open_table, methods=["POST"]),
    Route("/api/v1/tables/{table}/rows", rows),
    Route("/api/v1/tables/{table}/explanations", explain, methods=["POST"]),
    Route("/api/v1/tables/{table}/detections", detect, methods=["POST"]),
    Route("/api/v1/jobs", jobs),
    Route("/api/v1/jobs/{job}", job),
    Route("/api/v1/jobs/{job}", cancel, methods=["DELETE"]),
    Route("/api/v1/jobs/{job}/events", events),
    Route("/api/v1/jobs/{job}/result", result),
    Route("/api/v1/jobs/{job}/export", export),
    Route("/api/v1/jobs/{job}/reproduce", reproduced),
    Route("/api/v1/jobs/{job}/stories/{story}", story),
]


def _name(request: Request, field: str) -> str:
    return str(request.path_params[field])


def _number(request: Request, field: str) -> int:
    return read_whole(field, request.path_params[field], 1)


def _job(request: Request) -> Job:
    return service_of(request).jobs.get(_name(request, "job"))


def _options(body: Mapping[str, Any]) -> OptionsQuery:
    options = body.get("options") or {}
    if not isinstance(options, Mapping):
        raise not_allowed("options", options, "an object of names and values")
    return OptionsQuery.checked(options)


async def _body(request: Request, known: tuple[str, ...]) -> dict[str, Any]:
    """Read the JSON object that a request holds."""
    error = LimitError(f"the request has more than {_LARGEST_BODY >> 20} MB", "upload")
    content = await bounded(request, _LARGEST_BODY, error).body()
    try:
        body = json.loads(content or b"{}")
    except (ValueError, RecursionError):
        raise OptionError("the request is no JSON; needed is a JSON object") from None
    if not isinstance(body, dict):
        raise OptionError(f"the request holds {shown(body)}; needed is a JSON object")
    if "\\u0000" in content.decode("utf-8", "replace"):
        raise OptionError("the request holds a zero byte")
    check_names(body, known)
    return body
