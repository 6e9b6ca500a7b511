"""Where the table of a page comes from: named by whoever started the server, or uploaded.

Uploads, and copies of tables, are in a private folder that is gone when the server is.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import itertools
import os
import re
import shutil
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from types import TracebackType
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
from outlying.sources.copies import LEAST_ROOM, PrivateCopy, PrivateFolder, materialize
from outlying.sources.excel import sheet_names
from outlying.sources.paths import check_readable
from outlying.sources.recognise import REMOTE, are_files, name_of, path_of, scheme_of
from outlying.table.table import Table
from outlying.web import LimitError, Limits, SlowError

if TYPE_CHECKING:
    from outlying.sources.passes import Feeder

SAID = {"table": "Table of a database", "sheet": "Sheet of a workbook", "encoding": "Encoding"}
"""What a client may say about a file, and how a page calls it."""
_HEAD = 1 << 16  # bytes that tell what a file holds
#: Some that people meet; others can be named where a file could not be read.
_ENCODINGS = (
    "utf-8",
    "cp1252",
    "iso8859-1",
    "iso8859-2",
    "iso8859-15",
    "cp1250",
    "cp1251",
    "koi8-r",
    "mac-roman",
    "utf-16",
    "shift_jis",
    "gb18030",
    "big5",
    "euc-kr",
)


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
        if scheme_of(source) is None and engine != "spark" and given.get("master") is None:
            _check_there(source)
        return cls(source, None, engine, known), None

    @classmethod
    def uploaded(cls, name: str, file: Path, given: dict[str, str]) -> Sourcing:
        """Take a file that a client sent, with what it says about its table."""
        return cls(name, file, given=tuple(given.items()), is_upload=True)

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
        """Return what can be said of how it is read: the option, and what is usual to say.

        To be asked when it has been read: the file is known to be sound.
        """
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
            suffix = registry.suffix_of(path, registry.SUFFIXES)
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
            return _size_text(path.stat().st_size) if path.is_file() else ""
        return ""

    def open(self) -> Table | Feeder:
        """Read the table into memory, or open what is read as a stream."""
        if self.file is None:
            return registry.named(self.name, self.engine, **dict(self.given))
        given = dict(self.given)
        file = NamedFile(self.file, self.name)
        if "table" in given or "query" in given:
            return registry.scan(file, **given)
        return registry.opened(file, self.engine, **given)


def _size_text(size: int) -> str:
    for unit, name in ((1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "KB")):
        if size >= unit:
            return f"{size / unit:.3g} {name}"
    return f"{size:,} bytes"


def _check_there(source: str) -> None:
    """Refuse a file that cannot be read before the server starts; folders are looked at later."""
    if not are_files(source):
        check_readable(source, path_of(source))


class Workspace:
    """A folder for one server; names of its files are our own, never those of a client."""

    def __init__(self) -> None:
        self._private = PrivateFolder("serve")
        self.folder = self._private.path
        self._numbers = itertools.count(1)

    def new_path(self, suffix: str) -> Path:
        """Return a path that nothing has been written to."""
        return self.folder / f"{next(self._numbers)}{suffix}"

    def close(self) -> None:
        """Remove the folder and all that is in it."""
        self._private.remove()

    def __enter__(self) -> Workspace:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()


# --- files that clients send -----------------------------------------------------------------

_CHUNK = 1 << 20
_STRIDE = 1 << 16
_LONGEST_NAME = 200
_SEPARATORS = re.compile(r"[/\\\0]")


async def received(request: Request, workspace: Workspace, limits: Limits) -> Sourcing:
    """Take in the file of a request, as its whole body or as a field of a form."""
    given = request.headers.get("content-length", "")
    if given.isdigit() and int(given) > limits.upload_bytes:
        raise _too_large(limits)
    if request.headers.get("content-type", "").startswith("multipart/form-data"):
        name, path = await _from_form(request, workspace, limits)
    else:
        name = _checked_name(request.query_params.get("name"))
        path = _path_for(name, workspace)
        whole = bounded(request, limits.upload_bytes, _too_large(limits), limits.pause)
        await _written(whole.stream(), path)
    said = {key: request.query_params.get(key, "") for key in SAID}
    return Sourcing.uploaded(name, path, {key: value for key, value in said.items() if value})


def _checked_name(given: str | None) -> str:
    """Return the name of a file, which is only ever shown; one that holds a path is refused."""
    if given is None or not given.strip():
        raise OptionError("the file has no name; add ?name=FILE.csv")
    if _SEPARATORS.search(given) or given.strip(". ") == "":
        raise OptionError("the name of the file holds a path; allowed: a name such as patients.csv")
    return harmless(given)[:_LONGEST_NAME]


def _path_for(name: str, workspace: Workspace) -> Path:
    """Return where to write a file; of its own name, only a known ending is left."""
    return workspace.new_path(registry.suffix_of(Path(name), registry.SUFFIXES) or "")


async def _from_form(request: Request, workspace: Workspace, limits: Limits) -> tuple[str, Path]:
    most = limits.upload_bytes + _CHUNK
    whole = bounded(request, most, _too_large(limits), limits.pause)
    try:
        async with whole.form(max_files=1, max_fields=10) as form:
            file = next((item for item in form.values() if isinstance(item, UploadFile)), None)
            if file is None:
                raise OptionError("the form holds no file; send it in a field called file")
            name = _checked_name(file.filename)
            path = _path_for(name, workspace)
            await _written(_chunks(file), path)
    except (MultiPartException, FormParserError, HTTPException) as error:
        said = getattr(error, "message", None) or getattr(error, "detail", None) or str(error)
        raise SourceError(f"the form cannot be read: {said}") from None
    return name, path


def bounded(request: Request, most: int, error: LimitError, pause: float) -> Request:
    """Return a request whose body is read up to so many bytes; the error says that it has more.

    Every 64 KB of it have to come within `pause` seconds.
    """
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


def _too_large(limits: Limits) -> LimitError:
    return LimitError(f"the file has more than {limits.upload:,} MB", "upload")
