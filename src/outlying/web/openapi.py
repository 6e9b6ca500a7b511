"""The OpenAPI document of the API: one line for each operation, schemas of what it takes and gives.

Results are the library's own JSON contract, whose schema is a part of the document.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, TypeAlias, get_args

import outlying
from outlying import options
from outlying.results.documents import json_schema
from outlying.web.exports import FORMATS
from outlying.web.filters import FilterKind
from outlying.web.queries import MOST_ROWS
from outlying.web.service import MOST_FLAGGED, SAID

Schema: TypeAlias = dict[str, Any]

_TEXT: Schema = {"type": "string"}
_OR_NULL: Schema = {"type": ["string", "null"]}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_FLAG: Schema = {"type": "boolean"}
_VALUE: Schema = {"type": ["string", "number", "boolean", "null"]}
_ID: Schema = {"type": "string", "minLength": 1, "maxLength": 80}


def _array(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _object(required: Schema, **more: Schema) -> Schema:
    return {
        "type": "object",
        "properties": required | more,
        "required": list(required),
        "additionalProperties": False,
    }


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def _choice(kind: Any) -> Schema:
    return {"enum": list(get_args(kind))}


_NAMES: Schema = _array(_TEXT)
_OPTIONS: Schema = {
    "type": "object",
    "additionalProperties": False,
    "properties": {name: option.schema for name, option in options.EXPLAIN_OPTIONS.items()},
}
_COLUMN = _object(
    {
        "name": _TEXT,
        "form": _TEXT,
        "type": _choice(options.ColumnType),
        "missing": _COUNT,
        "unread": _COUNT,
        "distinct": _COUNT,
        "low": _VALUE,
        "high": _VALUE,
        "categories": _NAMES,
    }
)
_TABLE = _object(
    {
        "id": _ID,
        "name": _TEXT,
        "state": {"enum": ["closed", "reading", "ready", "failed"]},
        "error": _OR_NULL,
        "job": _OR_NULL,
        "is_upload": _FLAG,
        "is_streamed": _FLAG,
        "rows": _COUNT,
        "columns": _array(_COLUMN),
        "skipped": _array(_object({"name": _TEXT, "reason": _TEXT})),
        "notes": _NAMES,
    }
)
_JOB = _object(
    {
        "id": _ID,
        "kind": {"enum": ["read", "explain", "detect"]},
        "table": _ID,
        "state": {"enum": ["waiting", "running", "done", "failed", "cancelled"]},
        "stage": _TEXT,
        "done": _COUNT,
        "total": _COUNT,
        "seconds": {"type": "number", "minimum": 0},
        "error": _OR_NULL,
        "result": _OR_NULL,
        "page": _TEXT,
    }
)
_ROW = _object(
    {
        "row": {"type": "integer", "minimum": 1},
        "values": _array(_VALUE),
        "blame": {"type": ["object", "null"], "additionalProperties": {"type": "number"}},
    }
)
_FILTER: Schema = {
    "type": "object",
    "additionalProperties": False,
    "required": ["attribute", "kind"],
    "properties": {
        "attribute": _TEXT,
        "kind": _choice(FilterKind),
        "low": _VALUE,
        "high": _VALUE,
        "value": _VALUE,
    },
}
_ROW_NUMBER: Schema = {"type": "integer", "minimum": 1}
_SCHEMAS: Schema = {
    "Error": _object({"error": _TEXT}),
    "Options": _OPTIONS,
    "Table": _TABLE,
    "Tables": _object({"tables": _array(_ref("Table"))}),
    "Job": _JOB,
    "Jobs": _object({"jobs": _array(_ref("Job"))}),
    "Uploaded": _object({"table": _ref("Table"), "job": _ref("Job")}),
    "Row": _ROW,
    "Filter": _FILTER,
    "Page": _object(
        {
            "total": _COUNT,
            "offset": _COUNT,
            "limit": _COUNT,
            "columns": _NAMES,
            "rows": _array(_ref("Row")),
        }
    ),
    "Explain": {
        "oneOf": [
            _object({"row": _ROW_NUMBER}, options=_ref("Options")),
            _object(
                {"object": {"type": "object", "additionalProperties": _VALUE}},
                options=_ref("Options"),
            ),
        ]
    },
    "Detect": _object(
        {}, top={"type": "integer", "minimum": 1, "maximum": MOST_FLAGGED}, options=_ref("Options")
    ),
    "Twins": _object(
        {
            "sentence": _TEXT,
            "ordinary_at": _VALUE,
            "filters": _array(_ref("Filter")),
            "twins": _array(_ref("Row")),
        }
    ),
    "Reproduced": _object({"command": _TEXT, "python": _TEXT}),
}


@dataclasses.dataclass(frozen=True, slots=True)
class Operation:
    """What one address does by one method."""

    method: str
    path: str
    summary: str
    answer: Schema
    status: int = 200
    kind: str = "application/json"
    query: tuple[tuple[str, Schema], ...] = ()
    body: Schema | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the operation as it stands in the document."""
        names = [part[1:-1] for part in self.path.split("/") if part.startswith("{")]
        parameters = [_parameter(name, "path", _path_schema(name)) for name in names]
        parameters += [_parameter(name, "query", schema) for name, schema in self.query]
        content = {self.kind: {"schema": self.answer}}
        found: dict[str, Any] = {
            "summary": self.summary,
            "operationId": f"{self.method}{''.join(_title(self.path))}",
            "parameters": parameters,
            "responses": {str(self.status): {"description": "It is so.", "content": content}}
            | _ERRORS,
        }
        return found if self.body is None else found | {"requestBody": self.body}


def _title(path: str) -> list[str]:
    parts = path.removeprefix("/api/v1").replace("{", "by_").replace("}", "").split("/")
    return [part.capitalize() for part in parts]


def _path_schema(name: str) -> Schema:
    return _ROW_NUMBER if name == "story" else _ID


def _parameter(name: str, place: str, schema: Schema) -> Schema:
    return {"name": name, "in": place, "required": place == "path", "schema": schema}


_ERRORS: Schema = {
    str(status): {
        "description": words,
        "content": {"application/json": {"schema": _ref("Error")}},
    }
    for status, words in {
        400: "Something in the request is not allowed.",
        401: "The token is missing or wrong.",
        403: "The request comes from elsewhere.",
        404: "There is no such thing.",
        408: "The rest of the request did not come in time.",
        409: "It is not ready, or not to be changed.",
        413: "It is too large for this server.",
        429: "There is too much to do already.",
    }.items()
}


def _json_body(name: str) -> Schema:
    return {"required": True, "content": {"application/json": {"schema": _ref(name)}}}


_FILE: Schema = {
    "required": True,
    "content": {
        "application/octet-stream": {"schema": {"type": "string", "format": "binary"}},
        "multipart/form-data": {
            "schema": _object({"file": {"type": "string", "format": "binary"}})
        },
    },
}
_VIEW: tuple[tuple[str, Schema], ...] = (
    ("offset", _COUNT),
    ("limit", {"type": "integer", "minimum": 1, "maximum": MOST_ROWS}),
    ("sort", _TEXT),
    ("order", {"enum": ["asc", "desc"]}),
    ("search", {"type": "string", "maxLength": 200}),
    ("filter", _array({"type": "string", "description": "A filter as JSON; see Filter."})),
    ("rows", {"type": "string", "description": "Numbers of rows, such as 3,17,25."}),
)
_FORMAT = ("format", {"enum": list(FORMATS)})
_TABLE_PATH, _JOB_PATH = "/api/v1/tables/{table}", "/api/v1/jobs/{job}"
_RESULT: Schema = {"$ref": "#/components/schemas/Result"}
OPERATIONS = (
    Operation("get", "/api/v1/tables", "All tables.", _ref("Tables")),
    Operation(
        "post",
        "/api/v1/tables",
        "Upload a file: as the body, or in a form.",
        _ref("Uploaded"),
        202,
        query=(("name", _TEXT), *((name, _TEXT) for name in SAID)),
        body=_FILE,
    ),
    Operation("get", _TABLE_PATH, "One table: its columns, its state.", _ref("Table")),
    Operation("delete", _TABLE_PATH, "Forget an upload.", _ref("Table")),
    Operation("post", f"{_TABLE_PATH}/open", "Begin to read a table.", _ref("Job"), 202),
    Operation("get", f"{_TABLE_PATH}/rows", "A page of rows.", _ref("Page"), query=_VIEW),
    Operation(
        "post",
        f"{_TABLE_PATH}/explanations",
        "Begin to explain a row or a new object.",
        _ref("Job"),
        202,
        body=_json_body("Explain"),
    ),
    Operation(
        "post",
        f"{_TABLE_PATH}/detections",
        "Begin to look for rows that stand out.",
        _ref("Job"),
        202,
        body=_json_body("Detect"),
    ),
    Operation("get", "/api/v1/jobs", "All jobs that are known.", _ref("Jobs")),
    Operation("get", _JOB_PATH, "How far a job is.", _ref("Job")),
    Operation("delete", _JOB_PATH, "End a job.", _ref("Job")),
    Operation(
        "get",
        f"{_JOB_PATH}/events",
        "All changes of a job, as they happen.",
        _TEXT,
        kind="text/event-stream",
    ),
    Operation("get", f"{_JOB_PATH}/result", "The library's JSON.", _RESULT),
    Operation(
        "get",
        f"{_JOB_PATH}/export",
        "The result as a file.",
        {"type": "string", "format": "binary"},
        kind="*/*",
        query=(_FORMAT,),
    ),
    Operation(
        "get", f"{_JOB_PATH}/reproduce", "The same by a command, in Python.", _ref("Reproduced")
    ),
    Operation(
        "get",
        f"{_JOB_PATH}/stories/{{story}}",
        "What would be ordinary in place of a story.",
        _ref("Twins"),
        query=(("object", _ROW_NUMBER),),
    ),
)


@functools.cache
def document() -> dict[str, Any]:
    """Return the OpenAPI document."""
    paths: dict[str, dict[str, Any]] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method] = operation.to_dict()
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
            "schemas": _SCHEMAS | {"Result": _own_schema()},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _own_schema() -> Schema:
    """Return the schema of results with its references as they are within this document."""

    def moved(item: Any) -> Any:
        if isinstance(item, dict):
            return {name: moved(value) for name, value in item.items()}
        if isinstance(item, list):
            return [moved(value) for value in item]
        if isinstance(item, str) and item.startswith("#/$defs/"):
            return item.replace("#/$defs/", "#/components/schemas/Result/$defs/", 1)
        return item

    schema = moved(json_schema())
    return {name: value for name, value in schema.items() if name not in ("$schema", "$id")}
