"""The application: pages, and the API for programs, /api/v1: the same tables and jobs as JSON."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import mimetypes
from collections.abc import AsyncIterator, Mapping
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

import anyio.to_thread
from starlette.applications import Starlette
from starlette.datastructures import QueryParams
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from outlying.checks import Schema, check_choice, check_flag, check_names, check_whole, read_whole
from outlying.errors import OptionError, OutlyingError, not_allowed, shown
from outlying.options import Options
from outlying.table.values import Value
from outlying.web import (
    LimitError,
    NotFoundError,
    SlowError,
    answers,
    pages,
    row_pages,
)
from outlying.web.answers import POSITIVE, TEXT, Answer, Operation, fields, objects, record
from outlying.web.jobs import Job, warm_up
from outlying.web.queries import MOST_FILTERS, MOST_NAMED, MOST_ROWS, Filter, TableQuery
from outlying.web.safety import UNEXPECTED, Credentials, Safety
from outlying.web.sourcing import SAID, bounded, received
from outlying.web.tables import (
    MARK_TEXTS,
    MOST_FLAGGED,
    Mark,
    Page,
    Service,
    TableEntry,
    Twins,
    service_of,
)

_LARGEST_BODY = 4 << 20
_PATIENCE = 15.0  # seconds without news after which a stream of them says that it lives


def _entry(request: Request) -> TableEntry:
    return service_of(request).get(request.path_params["table"])


def _job(request: Request) -> Job:
    return service_of(request).jobs.get(request.path_params["job"])


def _table_record(entry: TableEntry) -> Any:
    return record(answers.TableRecord, entry, entry.facts, entry.sourcing)


def _job_record(job: Job | None) -> dict[str, Any]:
    if job is None:
        raise NotFoundError("there is no such job (any more); start it again")
    has_result = job.state == "done" and job.task is not None
    found: dict[str, Any] = record(answers.JobRecord, job)
    return found | {"result": f"/api/v1/jobs/{job.id}/result" if has_result else None}


async def tables(request: Request) -> Response:
    """List all tables."""
    return Answer({"tables": [_table_record(entry) for entry in service_of(request).list()]})


async def upload(request: Request) -> Response:
    """Upload a file: as the body, or in a form."""
    service = service_of(request)
    with service.expecting():
        sourcing = await received(request, service.folder, service.limits)
    entry = service.open(service.add(sourcing).id)
    if "text/html" in request.headers.get("accept", ""):
        return RedirectResponse(f"/t/{entry.id}/odd", 303)
    return Answer({"table": _table_record(entry), "job": _job_record(entry.reading)}, 202)


async def table(request: Request) -> Response:
    """Describe a table: its columns, its state."""
    return Answer(_table_record(_entry(request)))


async def remove_table(request: Request) -> Response:
    """Forget an upload."""
    return Answer(_table_record(service_of(request).remove(request.path_params["table"])))


async def open_table(request: Request) -> Response:
    """Begin to read a table."""
    entry = service_of(request).open(request.path_params["table"], again=True)
    return Answer(_job_record(entry.reading), 202)


async def rows(request: Request) -> Response:
    """Return a page of rows."""
    query = TableQuery.of(request.query_params)
    return Answer(record(Page, await service_of(request).page(_entry(request), query)))


async def marks(request: Request) -> Response:
    """List the rows that a reader has marked as fine."""
    return Answer({"fine": sorted(_entry(request).fine)})


async def mark(request: Request) -> Response:
    """Mark a row as fine, or take that back."""
    body, entry = await _body(request, ("row", "fine", *MARK_TEXTS)), _entry(request)
    number, is_fine = check_whole("row", body.get("row"), 1), check_flag("fine", body.get("fine"))
    service_of(request).mark(entry, number, Mark.of(body) if is_fine else None)
    return Answer({"fine": sorted(entry.fine)})


async def accepted(request: Request) -> Response:
    """Return what is exceptional in rows marked as fine, as `outlying check` takes it."""
    headers = {"Content-Disposition": 'attachment; filename="accepted.toml"'}
    content = _entry(request).accepted().encode("utf-8", "replace")  # TOML has no half characters
    return Response(content, media_type="application/toml", headers=headers)


async def explain(request: Request) -> Response:
    """Begin to explain a row or a new object."""
    body = await _body(request, ("row", "object", "options"))
    row, values = body.get("row"), body.get("object")
    if (row is None) == (values is None):
        raise OptionError("name exactly one of row and object")
    if values is not None and not isinstance(values, Mapping):
        raise not_allowed("object", values, "an object of column and value")
    what = check_whole("row", row, 1) if values is None else dict(values)
    options, service = _options(body), service_of(request)
    return Answer(_job_record(service.explain(_entry(request), what, options, again=True)), 202)


async def detect(request: Request) -> Response:
    """Begin to look for rows that stand out."""
    body = await _body(request, ("top", "options"))
    top, options = body.get("top", 10), _options(body)
    job = service_of(request).detect(_entry(request), top, options, again=True)
    return Answer(_job_record(job), 202)


async def compare(request: Request) -> Response:
    """Begin to say what sets some rows apart."""
    body = await _body(request, ("search", "filter", "rows", "options"))
    given: list[tuple[str, Any]] = []
    for name, kind in (("filter", Mapping), ("rows", int)):
        items = body.get(name) or []
        if not isinstance(items, list) or not all(isinstance(item, kind) for item in items):
            raise not_allowed(name, items, "a list of objects" if name == "filter" else "numbers")
        texts = [json.dumps(item) for item in items]
        given += [(name, text) for text in (texts if name == "filter" else [",".join(texts)])]
    search = body.get("search") or ""
    if not isinstance(search, str):
        raise not_allowed("search", search, "a text")
    query = TableQuery.of(QueryParams([*given, ("search", search)]))
    job = service_of(request).compare(_entry(request), query, _options(body), again=True)
    return Answer(_job_record(job), 202)


async def jobs(request: Request) -> Response:
    """List all jobs that are known."""
    return Answer({"jobs": [_job_record(item) for item in service_of(request).jobs.list()]})


async def job(request: Request) -> Response:
    """Say how far a job is."""
    return Answer(_job_record(_job(request)))


async def cancel(request: Request) -> Response:
    """End a job."""
    return Answer(_job_record(service_of(request).jobs.cancel(_job(request))))


async def events(request: Request) -> Response:
    """Tell all changes of a job as they happen."""
    item = _job(request)

    async def news() -> AsyncIterator[str]:
        while True:
            yield f"event: progress\ndata: {json.dumps(_job_record(item))}\n\n"
            if item.is_over or await request.is_disconnected():
                return
            await item.change(_PATIENCE)

    headers = {"X-Accel-Buffering": "no"}
    return StreamingResponse(news(), media_type="text/event-stream", headers=headers)


async def result(request: Request) -> Response:
    """Return what a job has found: the library's JSON."""
    return Answer(answers.document(_job(request)))


async def export(request: Request) -> Response:
    """Return the result as a file."""
    form = request.query_params.get("format", "json")
    check_choice("format", form, tuple(answers.FORMATS))
    item = _job(request)
    fine = frozenset(service_of(request).get(item.table).fine)
    content = await anyio.to_thread.run_sync(
        answers.exported, item, form, fine, abandon_on_cancel=True
    )
    name = f"outlying-{item.table}-{item.kind}.{form}"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=answers.FORMATS[form][0], headers=headers)


async def reproduced(request: Request) -> Response:
    """Return the command and the Python that give the same result."""
    item = _job(request)
    return Answer(answers.reproduced(service_of(request).get(item.table), item))


async def story(request: Request) -> Response:
    """Say what would be ordinary in place of a story."""
    item, number = _job(request), read_whole("story", request.path_params["story"], 1)
    place = read_whole("object", request.query_params.get("object") or 1, 1)
    if place > len(item.explained):
        raise NotFoundError(f"there is no object {place}")
    service, findings = service_of(request), item.explained[place - 1]
    found = await service.twins(service.get(item.table), findings, number - 1)
    return Answer(record(Twins, found))


async def document(_: Request) -> Response:
    """Return the OpenAPI document."""
    return Answer(described())


@functools.cache
def described() -> dict[str, Any]:
    """Return the OpenAPI document of all operations."""
    return answers.openapi(OPERATIONS)


def _options(body: Mapping[str, Any]) -> Options:
    options = body.get("options") or {}
    if not isinstance(options, Mapping):
        raise not_allowed("options", options, "an object of names and values")
    return Options.of(**options)


async def _body(request: Request, known: tuple[str, ...]) -> dict[str, Any]:
    error = LimitError(f"the request has more than {_LARGEST_BODY >> 20} MB", "upload")
    pause = service_of(request).limits.pause
    content = await bounded(request, _LARGEST_BODY, error, pause).body()
    try:
        body = json.loads(content or b"{}")
    except (ValueError, RecursionError):
        raise OptionError("the request is not JSON; send a JSON object") from None
    if not isinstance(body, dict):
        raise OptionError(f"the request holds {shown(body)}; send a JSON object")
    if "\\u0000" in content.decode("utf-8", "replace"):
        raise OptionError("the request holds a zero byte")
    check_names(body, known)
    return body


# --- operations ------------------------------------------------------------------------------

_TABLES, _JOBS = "/api/v1/tables", "/api/v1/jobs"
_TABLE, _JOB = f"{_TABLES}/{{table}}", f"{_JOBS}/{{job}}"
_FILE: Schema = {"type": "string", "format": "binary"}
_BOTH = {"options": answers.OPTIONS}
_OBJECT: Schema = {"type": "object", "additionalProperties": answers.schema_of(Value)}
_EXPLAIN = [
    objects({"row": POSITIVE} | _BOTH, ["row"]),
    objects({"object": _OBJECT} | _BOTH, ["object"]),
]
_DETECT = objects({"top": POSITIVE | {"maximum": MOST_FLAGGED}} | _BOTH)
_COMPARE = objects(
    {
        "search": TEXT | {"maxLength": 200},
        "filter": {"type": "array", "items": answers.schema_of(Filter), "maxItems": MOST_FILTERS},
        "rows": {"type": "array", "items": POSITIVE, "maxItems": MOST_NAMED},
    }
    | _BOTH
)
_MARK = objects(
    {"row": POSITIVE, "fine": {"type": "boolean"}, **dict.fromkeys(MARK_TEXTS, TEXT)},
    ["row", "fine"],
)
_FINE = fields(fine=list[int])
_VIEW: Schema = {
    "offset": answers.schema_of(int),
    "limit": POSITIVE | {"maximum": MOST_ROWS},
    "sort": TEXT,
    "order": {"enum": ["asc", "desc"]},
    "search": TEXT | {"maxLength": 200},
    "filter": {"type": "array", "items": TEXT | {"description": "A filter as JSON; see Filter."}},
    "rows": TEXT | {"description": "Numbers of rows, such as 3,17,25."},
}
_FORMAT = {"format": {"enum": list(answers.FORMATS)}}
_NAMED = dict.fromkeys(("name", *SAID), TEXT)
_UPLOAD = {"application/octet-stream": _FILE, "multipart/form-data": objects({"file": _FILE})}
_BEGUN = fields(table=answers.TableRecord, job=answers.JobRecord)


def _json(schema: Schema) -> Schema:
    return {"application/json": schema}


OPERATIONS = (
    Operation("GET", _TABLES, tables, fields(tables=list[answers.TableRecord])),
    Operation("POST", _TABLES, upload, _BEGUN, 202, query=_NAMED, body=_UPLOAD),
    Operation("GET", _TABLE, table, answers.TableRecord),
    Operation("DELETE", _TABLE, remove_table, answers.TableRecord),
    Operation("POST", f"{_TABLE}/open", open_table, answers.JobRecord, 202),
    Operation("GET", f"{_TABLE}/rows", rows, Page, query=_VIEW),
    Operation("GET", f"{_TABLE}/marks", marks, _FINE),
    Operation("POST", f"{_TABLE}/marks", mark, _FINE, body=_json(_MARK)),
    Operation("GET", f"{_TABLE}/accepted", accepted, TEXT, kind="application/toml"),
    Operation(
        "POST",
        f"{_TABLE}/explanations",
        explain,
        answers.JobRecord,
        202,
        body=_json({"oneOf": _EXPLAIN}),
    ),
    Operation("POST", f"{_TABLE}/detections", detect, answers.JobRecord, 202, body=_json(_DETECT)),
    Operation(
        "POST", f"{_TABLE}/comparisons", compare, answers.JobRecord, 202, body=_json(_COMPARE)
    ),
    Operation("GET", _JOBS, jobs, fields(jobs=list[answers.JobRecord])),
    Operation("GET", _JOB, job, answers.JobRecord),
    Operation("DELETE", _JOB, cancel, answers.JobRecord),
    Operation("GET", f"{_JOB}/events", events, TEXT, kind="text/event-stream"),
    Operation("GET", f"{_JOB}/result", result, answers.RESULT),
    Operation("GET", f"{_JOB}/export", export, _FILE, kind="*/*", query=_FORMAT),
    Operation("GET", f"{_JOB}/reproduce", reproduced, fields(command=str, python=str)),
    Operation("GET", f"{_JOB}/stories/{{story}}", story, Twins, query={"object": POSITIVE}),
)
ROUTES = [
    Route("/index.json", tables),
    Route("/openapi.json", document),
    *(operation.route for operation in OPERATIONS),
]


# --- the application -------------------------------------------------------------------------


def application(service: Service, credentials: Credentials, *, is_local: bool = True) -> ASGIApp:
    """Put the parts together; `is_local`: what readers open does not leave this machine."""

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        warm_up(service.folder)
        try:
            yield
        finally:
            service.close()

    static = resources.files("outlying.web") / "static"
    assets = [_asset(file) for file in static.iterdir() if file.is_file()]
    kinds = (OutlyingError, HTTPException, ClientDisconnect, Exception)
    app = Starlette(
        routes=[*ROUTES, *assets, *row_pages.ROUTES, *pages.ROUTES],
        exception_handlers=dict.fromkeys(kinds, _answer_error),
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    app.state.service, app.state.is_local = service, is_local
    return Safety(app, credentials)


def _asset(file: Traversable) -> Route:
    """Serve a file of pages, read once: no name from an address ever reaches the file system."""
    content, kind = file.read_bytes(), mimetypes.guess_type(file.name)[0]
    tag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
    headers = {"ETag": tag, "Cache-Control": "private, no-cache"}

    async def send(request: Request) -> Response:
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(content, media_type=kind, headers=headers)

    return Route(f"/static/{file.name}", send)


async def _answer_error(request: Request, error: Exception) -> Response:
    """Say what went wrong; of what nobody foresaw only the log of the server tells more."""
    status, said, headers = 500, UNEXPECTED, None
    if isinstance(error, ClientDisconnect):
        return Response(status_code=400)
    if isinstance(error, HTTPException):
        status, said, headers = error.status_code, error.detail, error.headers
    elif isinstance(error, OutlyingError):
        status = getattr(error, "status", 400)
        said = error.shell_message()
        headers = {"Connection": "close"} if isinstance(error, SlowError) else None
    path, is_form = request.url.path, "text/html" in request.headers.get("accept", "")
    is_of_api = path.startswith("/api/") and not (is_form and request.method == "POST")
    if is_of_api or path.endswith(".json"):
        answer: Response = Answer({"error": said}, status)
    else:
        answer = pages.error_page(request, status, said)
    answer.headers.update(headers or {})
    return answer
