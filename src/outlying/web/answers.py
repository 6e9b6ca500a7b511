"""What the API takes and gives, declared once, and results as files, commands and Python.

A record names fields and their types; an answer takes them from the attributes of objects, the
OpenAPI document makes a schema of them. Results are the library's own JSON contract.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import functools
import io
import json
import shlex
import threading
import types
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Any, Literal, get_args, get_origin, get_type_hints

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

import outlying
from outlying import sentences as say
from outlying.checks import Schema
from outlying.errors import MissingExtraError
from outlying.options import EXPLAIN_OPTIONS, READ_OPTIONS, ColumnType
from outlying.render.report import Report
from outlying.render.tables import csv_text, workbook
from outlying.results import many
from outlying.results.detections import Detection
from outlying.results.many import json_schema
from outlying.results.sets import SetExplanation
from outlying.table.values import Value, plain
from outlying.web import NotReadyError, jobs, tables
from outlying.web.queries import Filter, own_values
from outlying.web.sourcing import Sourcing
from outlying.web.tables import TableEntry
from outlying.web.worker import CompareTask, ExplainTask

_record = dataclasses.dataclass(frozen=True, slots=True)


@_record
class ColumnRecord:
    """What a column holds."""

    name: str
    form: str
    type: ColumnType
    missing: int
    unread: int
    distinct: int
    low: Value
    high: Value
    categories: list[str]


@_record
class SkippedRecord:
    """A column that is not compared, and why."""

    name: str
    reason: str


@_record
class TableRecord:
    """A table that the server knows."""

    id: str
    name: str
    state: tables.TableState
    error: str | None
    job: str | None
    is_upload: bool
    is_streamed: bool
    rows: int
    columns: list[ColumnRecord]
    skipped: list[SkippedRecord]
    notes: list[str]


@_record
class JobRecord:
    """One piece of work: how far it is, and where its result will be."""

    id: str
    kind: jobs.JobKind
    table: str
    state: jobs.JobState
    stage: str
    done: int
    total: int
    found: int
    seconds: float
    error: str | None
    result: str | None
    page: str


class Answer(JSONResponse):
    """A JSON answer."""

    def render(self, content: Any) -> bytes:
        """Write the content; what UTF-8 does not have is escaped, as JSON knows it."""
        text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode("utf-8", "backslashreplace")


@functools.cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)


def record(kind: Any, *items: Any) -> Any:
    """Return objects as a type of the API; each field is that of the first which has it."""
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        return {
            name: record(hint, next(getattr(item, name) for item in items if hasattr(item, name)))
            for name, hint in _hints(kind).items()
        }
    (item,) = items
    if get_origin(kind) is list:
        (of,) = get_args(kind)
        return [record(of, each) for each in item]
    return item if isinstance(item, dict) else plain(item)


# --- schemas ---------------------------------------------------------------------------------

_PLAIN: dict[Any, str] = {
    bool: "boolean",
    int: "number",
    float: "number",
    str: "string",
    types.NoneType: "null",
    **dict.fromkeys((dt.date, dt.time, dt.timedelta), "string"),
}


def schema_of(kind: Any) -> Schema:
    """Return the JSON Schema of a type; records are named, and referred to."""
    origin, parts = get_origin(kind), get_args(kind)
    if dataclasses.is_dataclass(kind):
        return {"$ref": f"#/components/schemas/{_name(kind)}"}
    if kind is int:
        return {"type": "integer", "minimum": 0}
    if origin is list:
        return {"type": "array", "items": schema_of(parts[0])}
    if origin is dict:
        return {"type": "object", "additionalProperties": schema_of(parts[1])}
    if origin is Literal:
        return {"enum": list(parts)}
    if origin is types.UnionType and all(part in _PLAIN for part in parts):
        return {"type": list(dict.fromkeys(_PLAIN[part] for part in parts))}
    if origin is types.UnionType:
        return {"anyOf": [schema_of(part) for part in parts]}
    return {"type": _PLAIN[kind]}


def _name(kind: Any) -> str:
    return str(kind.__name__).removesuffix("Record")


def _record_schema(kind: Any) -> Schema:
    own = {name: schema_of(hint) for name, hint in _hints(kind).items()}
    needed = (item.name for item in dataclasses.fields(kind) if item.default is dataclasses.MISSING)
    return objects(own, list(needed))


def fields(**kinds: Any) -> Schema:
    """Return the schema of an object with all of these fields, by their types."""
    return objects({name: schema_of(kind) for name, kind in kinds.items()}, list(kinds))


def objects(fields: Schema, required: Sequence[str] = ()) -> Schema:
    """Return the schema of an object with these fields and no others."""
    return {
        "type": "object",
        "properties": fields,
        "required": list(required),
        "additionalProperties": False,
    }


TEXT: Schema = {"type": "string"}
POSITIVE: Schema = {"type": "integer", "minimum": 1}
_ID: Schema = {"type": "string", "minLength": 1, "maxLength": 80}
OPTIONS: Schema = objects({name: option.schema for name, option in EXPLAIN_OPTIONS.items()})
RESULT: Schema = {"$ref": "#/components/schemas/Result"}
_RECORDS = (
    ColumnRecord,
    SkippedRecord,
    TableRecord,
    JobRecord,
    tables.Row,
    tables.Page,
    Filter,
    tables.Twins,
)
_ERROR: Schema = {"$ref": "#/components/schemas/Error"}
_ERRORS = {
    400: "Something in the request is not allowed.",
    401: "The token is missing or wrong.",
    403: "The request comes from elsewhere.",
    404: "There is no such thing.",
    408: "The rest of the request did not come in time.",
    409: "It is not ready, or not to be changed.",
    413: "It is too large for this server.",
    429: "There is too much to do already.",
}


@dataclasses.dataclass(frozen=True, slots=True)
class Operation:
    """What one address does by one method; its summary is that of the function that does it."""

    method: str
    path: str
    does: Callable[[Request], Awaitable[Response]]
    answer: Any  # a record, or a schema
    status: int = 200
    kind: str = "application/json"
    query: Schema = dataclasses.field(default_factory=dict)
    body: Schema | None = None  # by its media type

    @property
    def route(self) -> Route:
        """How the application finds it."""
        return Route(self.path, self.does, methods=[self.method])

    def to_dict(self) -> dict[str, Any]:
        """Return the operation as it stands in the document."""
        names = [part[1:-1] for part in self.path.split("/") if part.startswith("{")]
        parameters = [_parameter(n, "path", POSITIVE if n == "story" else _ID) for n in names]
        parameters += [_parameter(name, "query", schema) for name, schema in self.query.items()]
        answer = self.answer if isinstance(self.answer, dict) else schema_of(self.answer)
        title = self.path.removeprefix("/api/v1").replace("{", "by_").replace("}", "")
        responses = {str(self.status): _response("It is so.", {self.kind: answer})}
        for status, words in _ERRORS.items():
            responses[str(status)] = _response(words, {"application/json": _ERROR})
        found: dict[str, Any] = {
            "summary": str(self.does.__doc__).partition("\n")[0],
            "operationId": self.method.lower() + "".join(map(str.capitalize, title.split("/"))),
            "parameters": parameters,
            "responses": responses,
        }
        if self.body is not None:
            found["requestBody"] = _response("What is sent.", self.body) | {"required": True}
        return found


def _parameter(name: str, place: str, schema: Schema) -> Schema:
    return {"name": name, "in": place, "required": place == "path", "schema": schema}


def _response(words: str, schemas: Schema) -> Schema:
    content = {kind: {"schema": schema} for kind, schema in schemas.items()}
    return {"description": words, "content": content}


def openapi(operations: Sequence[Operation]) -> dict[str, Any]:
    """Return the OpenAPI document; the library's references become those within it."""
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = operation.to_dict()
    text = json.dumps(json_schema())
    result = json.loads(text.replace('"#/$defs/', '"#/components/schemas/Result/$defs/'))
    result = {name: value for name, value in result.items() if name not in ("$schema", "$id")}
    schemas = {_name(kind): _record_schema(kind) for kind in _RECORDS}
    schemas |= {"Error": fields(error=str), "Options": OPTIONS, "Result": result}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "outlying",
            "version": outlying.__version__,
            "description": "Why is this row an outlier? See docs/web.md.",
        },
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


# --- results as files ----------------------------------------------------------------------------


#: What a result can be taken along as: the type of the file, and how a page calls it.
FORMATS = {
    "csv": ("text/csv; charset=utf-8", "Odd cells (CSV)"),
    "xlsx": (
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "Odd cells (Excel)",
    ),
    "html": ("text/html; charset=utf-8", "Report"),
    "json": ("application/json", "JSON"),
    "png": ("image/png", "Picture"),
}
_DRAWING = threading.Lock()


def exported(job: jobs.Job, form: str, fine: Collection[int] = ()) -> bytes:
    """Return the result of a job in one of the formats; CSV and Excel list the odd cells."""
    if form == "png":
        return _picture(job)
    if form == "xlsx":
        return workbook(odd_cells(job, fine), shaded=("value",))
    if form == "csv":
        text = csv_text(odd_cells(job, fine))
    elif form == "html":
        text = _page(job)
    else:
        text = json.dumps(document(job), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    return text.encode("utf-8", "backslashreplace")


def document(job: jobs.Job) -> dict[str, Any]:
    """Return what a job has found: the library's JSON contract."""
    found = job.result
    if isinstance(found, SetExplanation):
        return found.to_dict()
    if not isinstance(found, Detection) or job.task is None:
        return job.explained[0].to_dict()
    entries = (
        many.entry_beside(findings, found.population, row)
        for findings, row in zip(job.explained, found.rows, strict=True)
    )
    return many.document(found.population, job.task.options, entries, found)


def _page(job: jobs.Job) -> str:
    found = job.result
    if not isinstance(found, Detection) or job.task is None:
        return job.explained[0].to_html()
    report = Report(found.population, job.task.options, is_many=True, detection=found)
    for findings, flagged in zip(job.explained, found.rows, strict=True):
        report.add(findings, flagged)
    return report.page()


def odd_cells(job: jobs.Job, fine: Collection[int]) -> dict[str, list[Any]]:
    """Return the list of odd cells by field; rows that a reader marked as fine say so."""
    columns = many.cell_table(job.explained, first_row=1)
    return columns | {"marked": ["fine" if row in fine else "" for row in columns["row"]]}


def _picture(job: jobs.Job) -> bytes:
    try:
        import matplotlib as mpl
    except ImportError:
        raise MissingExtraError("a picture", "plot") from None
    with _DRAWING:
        mpl.use("agg")
        figure = job.explained[0].plot()
        out = io.BytesIO()
        figure.savefig(out, format="png", dpi=150)
        import matplotlib.pyplot as plt

        plt.close(figure)
    return out.getvalue()


# --- as a command, in Python -----------------------------------------------------------------


def reproduced(entry: TableEntry, job: jobs.Job) -> dict[str, str]:
    """Return the command and the lines of Python that print the result of a job as JSON."""
    if job.kind == "detect" and entry.facts.is_streamed:
        raise NotReadyError(say.PAGE_RANKED_HERE)
    if job.task is None:
        raise NotReadyError("this job reads a table: there is nothing to reproduce")
    if isinstance(job.task, CompareTask):
        raise NotReadyError(say.PAGE_COMPARED_HERE)
    sourcing, options = entry.sourcing, own_values(job.task.options)
    source, reading = _source(sourcing), _flags(_engine(sourcing) | dict(sourcing.given))
    data, python_reading = _python_data(sourcing)
    python_options = [*python_reading, *_keywords(options)]
    if isinstance(job.task, ExplainTask):
        before, flags, target = _target(entry, job, job.task)
        command = ["outlying", "explain", source, *reading, *flags, *_flags(options)]
        call = f"outlying.explain({', '.join([data, target, *python_options])})"
        python = f"import outlying\n\nfindings = {call}\nprint(findings.to_json(indent=2))\n"
        return {"command": before + shlex.join([*command, "--format", "json"]), "python": python}
    top = job.task.top
    pairs = ["--pairs", str(options.pop("top"))] if "top" in options else []
    flags = [*reading, "--top", str(top), *_flags(options), "--explain", *pairs]
    return {
        "command": shlex.join(["outlying", "detect", source, *flags, "--format", "json"]),
        "python": "import json\n\nimport outlying\n\n"
        f"explainer = outlying.Explainer({', '.join([data, *python_options])})\n"
        f"detection = outlying.detect(explainer, top={top})\n"
        "findings = explainer.explain_many(rows=detection.positions)\n"
        "print(json.dumps([item.to_dict() for item in findings], indent=2))\n",
    }


def _target(entry: TableEntry, job: jobs.Job, task: ExplainTask) -> tuple[str, list[str], str]:
    """Name what is explained: what is piped into the command, its flags, and in Python."""
    if task.object is not None:
        values = {name: plain(value) for name, value in task.object}
        content = shlex.quote(json.dumps(values, ensure_ascii=True))
        return f"printf '%s' {content} | ", ["--object", "-"], f"object={values!r}"
    if entry.facts.is_streamed:
        key = {name: plain(value) for name, value in job.explained[0].key}
        texts = [f"{name}={'' if value is None else value}" for name, value in key.items()]
        return "", [part for text in texts for part in ("--where", text)], f"where={key!r}"
    return "", ["--row", str((task.row or 0) + 1)], f"row={task.row}"


def _source(sourcing: Sourcing) -> str:
    """Return how a shell names the source; what came by standard input is there again."""
    if sourcing.file is not None and not sourcing.is_upload:
        return "-"
    return f"./{sourcing.name}" if sourcing.name.startswith("-") else sourcing.name


def _flags(given: dict[str, Any]) -> list[str]:
    flags: list[str] = []
    for name, value in given.items():
        option = (EXPLAIN_OPTIONS | READ_OPTIONS)[name]
        if isinstance(value, bool):
            flags.append(option.flag if value else f"--no-{option.flag[2:]}")
        else:
            flags += [part for text in option.kind.write(value) for part in (option.flag, text)]
    return flags


def _python_data(sourcing: Sourcing) -> tuple[str, list[str]]:
    """Write the data as Python names them, and the options of reading them."""
    given, source = dict(sourcing.given), repr(_source(sourcing))
    if "table" in given or "query" in given:
        return f"outlying.scan({', '.join([source, *_keywords(given)])})", []
    return source, _keywords(_engine(sourcing) | given)


def _engine(sourcing: Sourcing) -> dict[str, Any]:
    return {} if sourcing.engine == "auto" else {"engine": sourcing.engine}


def _keywords(given: dict[str, Any]) -> list[str]:
    return [f"{name}={value!r}" for name, value in given.items()]
