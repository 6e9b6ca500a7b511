"""The application: pages, and the API for programs, /api/v1: the same tables and jobs as JSON."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import mimetypes
from collections.abc import AsyncIterator, Mapping
from importlib import resources
from typing import Any

import anyio.to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from outlying.checks import check_choice, check_names, check_whole, read_whole
from outlying.errors import OptionError, OutlyingError, not_allowed, shown
from outlying.web import (
    LimitError,
    NotFoundError,
    NotReadyError,
    SlowError,
    exports,
    openapi,
    pages,
)
from outlying.web.jobs import Job, warm_up
from outlying.web.openapi import POSITIVE, TEXT, Answer, Operation, Schema, fields, objects, record
from outlying.web.queries import MOST_ROWS, OptionsQuery, TableQuery
from outlying.web.safety import UNEXPECTED, Credentials, Safety
from outlying.web.sourcing import SAID, bounded, received
from outlying.web.tables import MOST_FLAGGED, Service, service_of

_LARGEST_BODY = 4 << 20
_PATIENCE = 15.0  # seconds without news after which a stream of them says that it lives


async def tables(request: Request) -> Response:
    """List all tables."""
    return Answer({"tables": record(list[openapi.Table], service_of(request).tables.list())})


async def upload(request: Request) -> Response:
    """Upload a file: as the body, or in a form."""
    service = service_of(request)
    with service.tables.expecting():
        sourcing = await received(request, service.workspace, service.limits)
    entry = service.tables.open(service.tables.add(sourcing).id)
    if "text/html" in request.headers.get("accept", ""):
        return RedirectResponse(f"/t/{entry.id}/odd", 303)
    job = service.jobs.get(entry.job or "")
    return Answer({"table": record(openapi.Table, entry), "job": job_record(job)}, 202)


async def table(request: Request) -> Response:
    """Describe a table: its columns, its state."""
    return Answer(record(openapi.Table, service_of(request).tables.get(_table(request))))


async def remove_table(request: Request) -> Response:
    """Forget an upload."""
    return Answer(record(openapi.Table, service_of(request).tables.remove(_table(request))))


async def open_table(request: Request) -> Response:
    """Begin to read a table."""
    service = service_of(request)
    entry = service.tables.reopen(_table(request))
    return Answer(job_record(service.jobs.get(entry.job or "")), 202)


async def rows(request: Request) -> Response:
    """Return a page of rows."""
    found = await service_of(request).tables.page(
        _table(request), TableQuery.of(request.query_params)
    )
    return Answer(record(openapi.Page, found))


async def explain(request: Request) -> Response:
    """Begin to explain a row or a new object."""
    body = await _body(request, ("row", "object", "options"))
    row, values = body.get("row"), body.get("object")
    if (row is None) == (values is None):
        raise OptionError("name exactly one of row and object")
    if values is not None and not isinstance(values, Mapping):
        raise not_allowed("object", values, "an object of column and value")
    job = service_of(request).tables.explain(
        _table(request),
        number=None if row is None else check_whole("row", row, 1),
        values=None if values is None else dict(values),
        options=_options(body),
        again=True,
    )
    return Answer(job_record(job), 202)


async def detect(request: Request) -> Response:
    """Begin to look for rows that stand out."""
    body = await _body(request, ("top", "options"))
    top, options = body.get("top", 10), _options(body)
    job = service_of(request).tables.detect(_table(request), top=top, options=options, again=True)
    return Answer(job_record(job), 202)


async def jobs(request: Request) -> Response:
    """List all jobs that are known."""
    return Answer({"jobs": [job_record(item) for item in service_of(request).jobs.list()]})


async def job(request: Request) -> Response:
    """Say how far a job is."""
    return Answer(job_record(_job(request)))


async def cancel(request: Request) -> Response:
    """End a job."""
    return Answer(job_record(service_of(request).jobs.cancel(_job(request).id)))


async def events(request: Request) -> Response:
    """Tell all changes of a job as they happen."""
    headers = {"X-Accel-Buffering": "no"}
    return StreamingResponse(
        _news(request, _job(request)), media_type="text/event-stream", headers=headers
    )


async def _news(request: Request, item: Job) -> AsyncIterator[str]:
    while True:
        yield f"event: progress\ndata: {json.dumps(job_record(item))}\n\n"
        if item.is_over or await request.is_disconnected():
            return
        await item.change(_PATIENCE)


async def result(request: Request) -> Response:
    """Return what a job has found: the library's JSON."""
    return Answer(exports.document(_job(request)))


async def export(request: Request) -> Response:
    """Return the result as a file."""
    form = request.query_params.get("format", "json")
    check_choice("format", form, tuple(exports.FORMATS))
    item = _job(request)
    fine = frozenset(service_of(request).tables.get(item.table).fine)
    content = await anyio.to_thread.run_sync(
        exports.exported, item, form, fine, abandon_on_cancel=True
    )
    name = f"outlying-{item.table}-{item.kind}.{form}"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=exports.FORMATS[form][0], headers=headers)


async def reproduced(request: Request) -> Response:
    """Return the command and the Python that give the same result."""
    item = _job(request)
    entry = service_of(request).tables.get(item.table)
    return Answer(exports.reproduced(entry, item))


async def story(request: Request) -> Response:
    """Say what would be ordinary in place of a story."""
    item, number = _job(request), read_whole("story", request.path_params["story"], 1)
    place = read_whole("object", request.query_params.get("object") or 1, 1)
    if place > len(item.explained):
        raise NotFoundError(f"there is no object {place}")
    findings = item.explained[place - 1]
    found = await service_of(request).tables.twins(item.table, findings, number - 1)
    return Answer(record(openapi.Twins, found))


async def document(_: Request) -> Response:
    """Return the OpenAPI document."""
    return Answer(described())


@functools.cache
def described() -> dict[str, Any]:
    """Return the OpenAPI document of all operations."""
    return openapi.document(OPERATIONS)


def job_record(item: Job) -> dict[str, Any]:
    """Describe a job."""
    found: dict[str, Any] = record(openapi.Job, item)
    has_result = item.state == "done" and item.kind != "read"
    return found | {"result": f"/api/v1/jobs/{item.id}/result" if has_result else None}


# --- operations ------------------------------------------------------------------------------

_TABLE, _JOB = "/api/v1/tables/{table}", "/api/v1/jobs/{job}"
_FILE: Schema = {"type": "string", "format": "binary"}
_BOTH = {"options": openapi.OPTIONS}
_OBJECT: Schema = {"type": "object", "additionalProperties": openapi.schema_of(openapi.Plain)}
_EXPLAIN: Schema = {
    "oneOf": [
        objects({"row": POSITIVE} | _BOTH, ["row"]),
        objects({"object": _OBJECT} | _BOTH, ["object"]),
    ]
}
_DETECT = objects({"top": POSITIVE | {"maximum": MOST_FLAGGED}} | _BOTH)
_VIEW: tuple[tuple[str, Schema], ...] = (
    ("offset", openapi.schema_of(int)),
    ("limit", POSITIVE | {"maximum": MOST_ROWS}),
    ("sort", TEXT),
    ("order", {"enum": ["asc", "desc"]}),
    ("search", TEXT | {"maxLength": 200}),
    (
        "filter",
        {"type": "array", "items": TEXT | {"description": "A filter as JSON; see Filter."}},
    ),
    ("rows", TEXT | {"description": "Numbers of rows, such as 3,17,25."}),
)
_FORMAT = (("format", {"enum": list(exports.FORMATS)}),)
_NAMED = (("name", TEXT), *((name, TEXT) for name in SAID))
_UPLOAD = {"application/octet-stream": _FILE, "multipart/form-data": objects({"file": _FILE})}
OPERATIONS = (
    Operation("GET", "/api/v1/tables", tables, fields(tables=list[openapi.Table])),
    Operation(
        "POST",
        "/api/v1/tables",
        upload,
        fields(table=openapi.Table, job=openapi.Job),
        202,
        query=_NAMED,
        body=_UPLOAD,
    ),
    Operation("GET", _TABLE, table, openapi.Table),
    Operation("DELETE", _TABLE, remove_table, openapi.Table),
    Operation("POST", f"{_TABLE}/open", open_table, openapi.Job, 202),
    Operation("GET", f"{_TABLE}/rows", rows, openapi.Page, query=_VIEW),
    Operation(
        "POST",
        f"{_TABLE}/explanations",
        explain,
        openapi.Job,
        202,
        body={"application/json": _EXPLAIN},
    ),
    Operation(
        "POST", f"{_TABLE}/detections", detect, openapi.Job, 202, body={"application/json": _DETECT}
    ),
    Operation("GET", "/api/v1/jobs", jobs, fields(jobs=list[openapi.Job])),
    Operation("GET", _JOB, job, openapi.Job),
    Operation("DELETE", _JOB, cancel, openapi.Job),
    Operation("GET", f"{_JOB}/events", events, TEXT, kind="text/event-stream"),
    Operation("GET", f"{_JOB}/result", result, openapi.RESULT),
    Operation("GET", f"{_JOB}/export", export, _FILE, kind="*/*", query=_FORMAT),
    Operation("GET", f"{_JOB}/reproduce", reproduced, fields(command=str, python=str)),
    Operation(
        "GET", f"{_JOB}/stories/{{story}}", story, openapi.Twins, query=(("object", POSITIVE),)
    ),
)
ROUTES = [
    Route("/index.json", tables),
    Route("/openapi.json", document),
    *(operation.route for operation in OPERATIONS),
]


def _table(request: Request) -> str:
    return str(request.path_params["table"])


def _job(request: Request) -> Job:
    return service_of(request).jobs.get(str(request.path_params["job"]))


def _options(body: Mapping[str, Any]) -> OptionsQuery:
    options = body.get("options") or {}
    if not isinstance(options, Mapping):
        raise not_allowed("options", options, "an object of names and values")
    return OptionsQuery.checked(options)


async def _body(request: Request, known: tuple[str, ...]) -> dict[str, Any]:
    """Read the JSON object that a request holds."""
    error = LimitError(f"the request has more than {_LARGEST_BODY >> 20} MB", "upload")
    pause = service_of(request).limits.pause
    content = await bounded(request, _LARGEST_BODY, error, pause).body()
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


# --- the application -------------------------------------------------------------------------

_STATUS: dict[type[Exception], int] = {NotFoundError: 404, NotReadyError: 409}


def application(service: Service, credentials: Credentials, *, is_local: bool = True) -> ASGIApp:
    """Put the parts together; what keeps others out is outermost: no answer goes around it.

    `is_local`: readers are at this machine, so that what they open does not leave it.
    """

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        warm_up(service.workspace.folder)
        try:
            yield
        finally:
            service.close()

    app = Starlette(
        routes=[*ROUTES, Route("/static/{name}", _asset), *pages.ROUTES],
        exception_handlers={
            OutlyingError: _answer_error,
            HTTPException: _http_error,
            ClientDisconnect: _gone,
            Exception: _unexpected,
        },
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    app.state.service, app.state.assets, app.state.is_local = service, _assets(), is_local
    return Safety(app, credentials)


def _assets() -> dict[str, tuple[bytes, str, str]]:
    """Read the files of pages once: no name from an address ever reaches the file system."""
    folder = resources.files("outlying.web") / "static"
    found = {}
    for file in folder.iterdir():
        if file.is_file():
            content = file.read_bytes()
            kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
            found[file.name] = content, kind, f'"{hashlib.sha256(content).hexdigest()[:16]}"'
    return found


async def _asset(request: Request) -> Response:
    found = request.app.state.assets.get(request.path_params["name"])
    if found is None:
        raise NotFoundError("there is no such file")
    content, kind, tag = found
    headers = {"ETag": tag, "Cache-Control": "private, no-cache"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=kind, headers=headers)


async def _answer_error(request: Request, error: Exception) -> Response:
    """Say what went wrong in words, and with the status that fits."""
    status = error.status if isinstance(error, LimitError) else _STATUS.get(type(error), 400)
    said = error.shell_message() if isinstance(error, OutlyingError) else str(error)
    answer = _answer(request, status, said)
    if isinstance(error, SlowError):
        answer.headers["Connection"] = "close"
    return answer


async def _http_error(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    answer = _answer(request, status, str(getattr(error, "detail", error)))
    answer.headers.update(getattr(error, "headers", None) or {})
    return answer


async def _gone(_: Request, error: Exception) -> Response:  # noqa: ARG001 - as all are called
    """Say nothing where nobody listens: a reader has gone back while a file was sent."""
    return Response(status_code=400)


async def _unexpected(request: Request, error: Exception) -> Response:  # noqa: ARG001
    """Say that something failed, and nothing of how: the log of the server has it."""
    return _answer(request, 500, UNEXPECTED)


def _answer(request: Request, status: int, said: str) -> Response:
    path, is_form = request.url.path, "text/html" in request.headers.get("accept", "")
    is_of_api = path.startswith("/api/") and not (is_form and request.method == "POST")
    if is_of_api or path.endswith(".json"):
        return Answer({"error": said}, status)
    return pages.error_page(request, status, said)
