"""What pages and API call: the tables and jobs of one server, its folder, the files sent to it."""

from __future__ import annotations

import asyncio
import re
import shutil
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from python_multipart.exceptions import FormParserError
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException
from starlette.requests import Request
from starlette.types import Message

from outlying.checks import check_names, check_whole
from outlying.errors import ObjectError, OptionError, SourceError, harmless
from outlying.sources import registry
from outlying.sources.copies import LEAST_ROOM
from outlying.table.values import Form, read_text
from outlying.web.jobs import Job, Jobs
from outlying.web.limits import LimitError, Limits, SlowError
from outlying.web.queries import DETECT_OPTIONS, OptionsQuery
from outlying.web.sourcing import Sourcing, Workspace
from outlying.web.tables import TableEntry, Tables, check_number
from outlying.web.tasks import Detect, Explain

MOST_FLAGGED = 200
"""Rows that one detection explains."""


class Service:
    """One server: its private folder, its tables, its jobs, its limits."""

    def __init__(
        self,
        workspace: Workspace,
        limits: Limits | None = None,
        sources: Sequence[tuple[Sourcing, Any]] = (),
    ) -> None:
        self.workspace, self.limits = workspace, limits or Limits()
        self.jobs = TableJobs(self.limits)
        self.tables = Tables(workspace, self.limits, self.jobs)
        self.jobs.tables = self.tables
        for sourcing, held in sources:
            self.tables.add(sourcing, held)

    def close(self) -> None:
        """End all that runs."""
        self.tables.close()


def service_of(request: Request) -> Service:
    """Return the service that answers a request."""
    found: Service = request.app.state.service
    return found


class TableJobs(Jobs):
    """The jobs of a server, begun by what is asked of its tables."""

    tables: Tables

    def explain(
        self,
        table: str,
        *,
        number: int | None = None,
        values: Mapping[str, Any] | None = None,
        options: OptionsQuery | None = None,
        again: bool = False,
    ) -> Job:
        """Explain a row by its number from 1, or a new object by its values.

        The same request has the same job; `again` begins one that has failed once more.
        """
        chosen, entry = options or OptionsQuery(), self.tables.get(table)
        entry.ready()
        if values is not None:
            typed = tuple(_typed(values, entry, chosen).items())
            return self.tables.job_for(table, Explain(chosen, object=typed), again=again)
        check_number(entry, number)
        return self.tables.job_for(table, Explain(chosen, row=int(number or 0) - 1), again=again)

    def detect(
        self,
        table: str,
        *,
        top: int = 10,
        options: OptionsQuery | None = None,
        again: bool = False,
    ) -> Job:
        """Find the rows that stand out, and explain them."""
        chosen = options or OptionsQuery()
        check_names(dict(chosen.given), DETECT_OPTIONS)
        if check_whole("top", top, 1) > MOST_FLAGGED:
            raise OptionError(f"top is {top}; allowed: 1 to {MOST_FLAGGED}")
        return self.tables.job_for(table, Detect(chosen, top), again=again)


def _typed(values: Mapping[str, Any], entry: TableEntry, options: OptionsQuery) -> dict[str, Any]:
    """Read texts as what their columns hold; other values stay as they are."""
    declared = dict(options.options.types)
    forms: dict[str, Form] = {}
    mixed = {facts.name for facts in entry.columns if facts.unread}
    for facts in entry.columns:
        kind = declared.get(facts.name, facts.type)
        is_number = kind == "numeric" and facts.type == "categorical"
        forms[facts.name] = "number" if is_number else facts.form
        if kind == "categorical" and facts.type != "categorical":
            forms[facts.name] = "text"
    found = {}
    for name, value in values.items():
        try:
            is_text = isinstance(value, str) and name in forms
            found[name] = read_text(forms[name], value.strip()) if is_text else value
        except ValueError as error:
            if name in mixed:  # a text among numbers is what some rows hold, and can be odd
                found[name] = value
                continue
            raise ObjectError(f"the object's {name!r} is {value!r}; it expects {error}") from None
        if not isinstance(value, (str, int, float, bool, type(None))):
            raise ObjectError(f"the object's {name!r} is no text, number, true, false or null")
    return found


# --- files that clients send -----------------------------------------------------------------

SAID = {"table": "Table of a database", "sheet": "Sheet of a workbook", "encoding": "Encoding"}
"""What a client may say about a file, and how a page calls it."""
_CHUNK = 1 << 20
_STRIDE = 1 << 16
_LONGEST_NAME = 200
_SEPARATORS = re.compile(r"[/\\\0]")


async def received(request: Request, service: Service) -> TableEntry:
    """Take in the file of a request, as its whole body or as a field of a form, and open it."""
    with service.tables.expecting():
        name, path = await _taken_in(request, service)
    said = {key: request.query_params.get(key, "") for key in SAID}
    known = {key: value for key, value in said.items() if value}
    entry = service.tables.add(Sourcing.uploaded(name, path, known))
    return service.tables.open(entry.id)


async def _taken_in(request: Request, service: Service) -> tuple[str, Path]:
    given = request.headers.get("content-length", "")
    if given.isdigit() and int(given) > service.limits.upload_bytes:
        raise _too_large(service)
    if request.headers.get("content-type", "").startswith("multipart/form-data"):
        return await _from_form(request, service)
    name = checked_name(request.query_params.get("name"))
    path = _path_for(name, service)
    whole = bounded(request, service.limits.upload_bytes, _too_large(service))
    await _written(whole.stream(), path)
    return name, path


def checked_name(given: str | None) -> str:
    """Return the name of a file, which is only ever shown; one that holds a path is refused."""
    if given is None or not given.strip():
        raise OptionError("the file has no name; add ?name=FILE.csv")
    if _SEPARATORS.search(given) or given.strip(". ") == "":
        raise OptionError("the name of the file holds a path; allowed: a name such as patients.csv")
    return harmless(given)[:_LONGEST_NAME]


def _path_for(name: str, service: Service) -> Path:
    """Return where to write a file; of its own name, only a known ending is left."""
    suffix = registry.suffix_of(Path(name), registry.SUFFIXES) or ""
    return service.workspace.new_path(suffix)


async def _from_form(request: Request, service: Service) -> tuple[str, Path]:
    whole = bounded(request, service.limits.upload_bytes + _CHUNK, _too_large(service))
    try:
        async with whole.form(max_files=1, max_fields=10) as form:
            file = next((item for item in form.values() if isinstance(item, UploadFile)), None)
            if file is None:
                raise OptionError("the form holds no file; send it in a field called file")
            name = checked_name(file.filename)
            path = _path_for(name, service)
            await _written(_chunks(file), path)
    except (MultiPartException, FormParserError, HTTPException) as error:
        said = getattr(error, "message", None) or getattr(error, "detail", None) or str(error)
        raise SourceError(f"the form cannot be read: {said}") from None
    return name, path


def bounded(request: Request, most: int, error: LimitError) -> Request:
    """Return a request whose body is read up to so many bytes; the error says that it has more.

    Every 64 KB of it have to come in time.
    """
    pause, clock = service_of(request).limits.pause, asyncio.get_running_loop().time
    total, mark, end = 0, _STRIDE, clock() + pause

    async def receive() -> Message:
        nonlocal total, mark, end
        try:
            async with asyncio.timeout_at(end):
                message = await request.receive()
        except TimeoutError:
            said = f"the next {_STRIDE >> 10} KB of the request did not come within {pause} seconds"
            raise SlowError(said, "pause") from None
        total += len(message.get("body", b""))
        if total > most:
            raise error
        if total >= mark:
            mark, end = total + _STRIDE, clock() + pause
        return message

    return Request(request.scope, receive)


async def _chunks(file: UploadFile) -> AsyncIterator[bytes]:
    while chunk := await file.read(_CHUNK):
        yield chunk


async def _written(chunks: AsyncIterator[bytes], path: Path) -> None:
    """Write a file that only its owner may read; nothing is left where it does not come whole."""
    try:
        with path.open("xb") as stream:
            path.chmod(0o600)
            async for chunk in chunks:
                if shutil.disk_usage(path.parent).free < LEAST_ROOM:
                    raise SourceError("too little room is left on the disk for the file")
                stream.write(chunk)
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def _too_large(service: Service) -> LimitError:
    return LimitError(f"the file has more than {service.limits.upload:,} MB", "upload")
