"""Where the table of a page comes from: named by whoever started the server, or uploaded."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import os
import re
import secrets
import shutil
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from python_multipart.exceptions import FormParserError
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException
from starlette.requests import Request
from starlette.types import Message

from outlying.errors import OptionError, SourceError, harmless
from outlying.options import Engine
from outlying.sources import registry
from outlying.sources.copies import LEAST_ROOM, PrivateCopy, materialize
from outlying.sources.excel import sheet_names
from outlying.sources.files import check_readable
from outlying.sources.recognise import REMOTE, are_files, name_of, path_of, scheme_of
from outlying.table.table import Table
from outlying.web import LimitError, ServerLimits, SlowError

if TYPE_CHECKING:
    from outlying.sources.passes import Feeder

SAID = {"table": "Table of a database", "sheet": "Sheet of a workbook", "encoding": "Encoding"}
"""What a client may say about a file, and how a page calls it."""
_HEAD = 1 << 16  # bytes that tell what a file holds
#: Some that people meet; others can be named where a file could not be read.
_WESTERN = ("utf-8", "cp1252", "iso8859-1", "iso8859-2", "iso8859-15", "cp1250", "mac-roman")
_ENCODINGS = (*_WESTERN, "cp1251", "koi8-r", "utf-16", "shift_jis", "gb18030", "big5", "euc-kr")


class NamedFile(os.PathLike[str]):
    """A file of ours that results call by the name its owner knows."""

    def __init__(self, path: Path, source: str) -> None:
        self.path, self.source = path, source

    def __fspath__(self) -> str:
        return str(self.path)


@dataclasses.dataclass(frozen=True, slots=True)
class Sourcing:
    """A source as it is named, or a private file, and how it is read; can be pickled."""

    name: str
    file: Path | None = None  # a private one; None: the name says where the table is
    engine: Engine = "auto"
    given: tuple[tuple[str, Any], ...] = ()
    is_upload: bool = False

    @classmethod
    def named(cls, source: str, engine: Engine, given: dict[str, Any]) -> tuple[Sourcing, object]:
        """Take a source of the command line; what flows only once is copied, and must be held."""
        known = tuple((name, value) for name, value in given.items() if value is not None)
        if scheme_of(source) not in REMOTE and isinstance(held := materialize(source), PrivateCopy):
            return cls(held.source, held.path, engine, known), held
        is_local = scheme_of(source) is None and engine != "spark" and given.get("master") is None
        if is_local and not are_files(source):  # folders are looked at later
            check_readable(source, path_of(source))
        return cls(source, None, engine, known), None

    def read_as(self, said: Mapping[str, str | None]) -> Sourcing:
        """Return the same source with something else said about it; None: as before."""
        told = {name: text.strip() for name, text in said.items() if text is not None}
        given = {name: value for name, value in (dict(self.given) | told).items() if value != ""}
        return dataclasses.replace(self, given=tuple(given.items()))

    @property
    def title(self) -> str:
        """What people call the table: no secrets, no folders."""
        shown = name_of(self.name)
        return shown if "://" in shown else shown.rstrip("/").rpartition("/")[2] or shown

    def choices(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Return what can be said of how a sound file is read: the option, and its usual values."""
        if "table" in dict(self.given):
            return (("table", ()),)
        path = self.file or path_of(self.name)
        if not path.is_file():
            return ()
        with path.open("rb") as stream:
            form = registry.format_by_content(stream.read(_HEAD))
        if form is None:  # compressed, or no file of ours: nothing to choose
            return ()
        if "sheet" in form.takes:
            names = sheet_names(path)
            return (("sheet", names),) if len(names) > 1 else ()
        return (("encoding", _ENCODINGS),) if "encoding" in form.takes else ()

    @property
    def sayable(self) -> tuple[str, ...]:
        """What could help to read it: the table, the sheet or the encoding; all if nobody knows."""
        path = self.file or path_of(self.name)
        with contextlib.suppress(OSError, ValueError):
            with path.open("rb") as stream:
                head = stream.read(_HEAD)
            suffix = registry.suffix_of(path.name, registry.SUFFIXES)
            named = None if suffix is None else registry.format_of(suffix)
            kinds = [item for item in (named, registry.format_by_content(head)) if item is not None]
            found = tuple(dict.fromkeys(option for item in kinds for option in item.takes))
            return found if kinds and "table" not in dict(self.given) else tuple(SAID)
        return ("table",) if scheme_of(self.name) is not None else ()

    @property
    def size(self) -> str:
        """How large the file is in words; nothing where it is none, or not there."""
        with contextlib.suppress(OSError, ValueError):
            path = self.file or path_of(self.name)
            size = path.stat().st_size if path.is_file() else 0
            for unit, name in ((1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "KB"), (1, "bytes")):
                if size >= unit:
                    number = size / unit
                    return f"{number:,.0f} {name}" if number >= 100 else f"{number:.3g} {name}"
        return ""

    def open(self) -> Table | Feeder:
        """Read the table into memory, or open what is read as a stream."""
        if self.file is None:
            return registry.open_named(self.name, self.engine, **dict(self.given))
        given = dict(self.given)
        file = NamedFile(self.file, self.name)
        if "table" in given or "query" in given:
            return registry.scan(file, **given)
        return registry.open_source(file, self.engine, **given)


def new_path(folder: Path, suffix: str) -> Path:
    """Return a path that nothing has been written to: a number, not the name of a client."""
    return folder / f"{secrets.randbelow(10**18):018}{suffix}"


# --- files that clients send -----------------------------------------------------------------

_CHUNK = 1 << 20
_STRIDE = 1 << 16
_LONGEST_NAME = 200
_SEPARATORS = re.compile(r"[/\\\0]")


async def received(request: Request, folder: Path, limits: ServerLimits) -> Sourcing:
    """Take in the file of a request, as its whole body or as a field of a form."""
    given, most = request.headers.get("content-length", ""), limits.upload << 20
    too_large = LimitError(f"the file has more than {limits.upload:,} MB", "upload")
    if given.isdigit() and int(given) > most:
        raise too_large
    if request.headers.get("content-type", "").startswith("multipart/form-data"):
        whole = bounded(request, most + _CHUNK, too_large, limits.pause)
        name, path = await _from_form(whole, folder)
    else:
        whole = bounded(request, most, too_large, limits.pause)
        name = _checked_name(request.query_params.get("name"))
        path = await _written(whole.stream(), name, folder)
    said = {key: request.query_params.get(key, "") for key in SAID}
    return Sourcing(name, path, is_upload=True).read_as(said)


def _checked_name(given: str | None) -> str:
    """Return the name of a file, which is only ever shown; one that holds a path is refused."""
    if given is None or not given.strip():
        raise OptionError("the file has no name; add ?name=FILE.csv")
    if _SEPARATORS.search(given) or given.strip(". ") == "":
        raise OptionError("the name of the file holds a path; allowed: a name such as patients.csv")
    return harmless(given)[:_LONGEST_NAME]


async def _from_form(request: Request, folder: Path) -> tuple[str, Path]:
    try:
        async with request.form(max_files=1, max_fields=10) as form:
            file = next((item for item in form.values() if isinstance(item, UploadFile)), None)
            if file is None:
                raise OptionError("the form holds no file; send it in a field called file")
            name = _checked_name(file.filename)
            return name, await _written(_chunks(file), name, folder)
    except (MultiPartException, FormParserError, HTTPException) as error:
        said = getattr(error, "message", None) or getattr(error, "detail", None) or str(error)
        raise SourceError(f"the form cannot be read: {said}") from None


def bounded(request: Request, most: int, error: LimitError, pause: float) -> Request:
    """Return a request whose body has a limit, and of which 64 KB come within `pause` seconds."""
    clock = asyncio.get_running_loop().time
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


async def _written(chunks: AsyncIterator[bytes], name: str, folder: Path) -> Path:
    """Write a file that only its owner may read, whole or not at all, with a known ending."""
    path = new_path(folder, registry.suffix_of(name, registry.SUFFIXES) or "")
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
    return path
