"""Private copies of what cannot be read where it is: standard input, open files, packed files.

A copy is a file in a folder that nobody else may look into. It goes with the last reference to it,
and at the end of the process at the latest.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import sys
import weakref
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from outlying.errors import SourceError
from outlying.sources.private_folders import PrivateFolder
from outlying.sources.recognise import REMOTE, scheme_of

CHUNK = 1 << 20
LEAST_ROOM = 1 << 29
"""Bytes of the disk that no copy takes."""

_CHUNKS_BETWEEN_LOOKS = 64


class PrivateCopy(os.PathLike[str]):
    """A file of our own that can be given wherever a path can; `source` is what it is a copy of."""

    def __init__(self, source: str, chunks: Iterable[bytes], suffix: str = "") -> None:
        self.source = source
        private = PrivateFolder("copy")
        folder = private.path
        self.path = folder / f"copy{suffix}"
        weakref.finalize(self, private.remove)
        try:
            with self.path.open("wb") as stream:
                for chunk in _with_room_for(chunks, source, folder):
                    stream.write(chunk)
        except OSError as error:
            if error.filename is None and error.errno is None:  # what is copied cannot be read
                raise
            raise SourceError(f"{source}: cannot be copied to {folder.parent}: {error}") from None

    def __fspath__(self) -> str:
        return str(self.path)


def landed(data: Any) -> Any:
    """Return data that can be looked at twice: what flows only once is copied first.

    That is standard input ("-"), pipes, files of other machines, and whatever has a method `read`
    of bytes or text.
    """
    if isinstance(data, str) and data == "-":
        stream = getattr(sys.stdin, "buffer", sys.stdin)
        return PrivateCopy("standard input", chunks_of(stream, "standard input"))
    if isinstance(data, str) and scheme_of(data) in REMOTE:
        from outlying.sources.remote.copying import arrived

        return arrived(data)
    if isinstance(data, (str, os.PathLike)):
        return _landed_pipe(data)
    if callable(getattr(data, "read", None)) and not isinstance(data, type):
        name = _name_of(data)
        return PrivateCopy(name, chunks_of(data, name))
    return data


def _landed_pipe(name: str | os.PathLike[str]) -> Any:
    """Copy what a shell's <(command) or a named pipe gives; other files stay where they are."""
    with contextlib.suppress(OSError, ValueError):  # for the reader, which says what is wrong
        if stat.S_ISFIFO(Path(name).stat().st_mode):
            with Path(name).open("rb") as stream:
                return PrivateCopy(os.fsdecode(name), chunks_of(stream, os.fsdecode(name)))
    return name


def chunks_of(stream: IO[Any], source: str) -> Iterator[bytes]:
    """Read a stream to its end, piece by piece; text becomes UTF-8."""
    while True:
        try:
            chunk = stream.read(CHUNK)
        except (OSError, ValueError) as error:  # ValueError: it is closed
            reason = getattr(error, "strerror", None) or error
            raise SourceError(f"{source}: cannot be read: {reason}") from None
        if not isinstance(chunk, (bytes, str)):
            kind = type(chunk).__name__
            raise SourceError(f"{source}: read() gives {kind}; allowed: bytes or text")
        if not chunk:
            return
        yield chunk.encode("utf-8", "surrogateescape") if isinstance(chunk, str) else chunk


def _name_of(data: Any) -> str:
    name = getattr(data, "name", None)
    return name if isinstance(name, str) and name else "open file"


def _with_room_for(chunks: Iterable[bytes], source: str, folder: Path) -> Iterator[bytes]:
    for place, chunk in enumerate(chunks):
        if place % _CHUNKS_BETWEEN_LOOKS == 0 and shutil.disk_usage(folder).free < LEAST_ROOM:
            raise SourceError(
                f"{source}: too little room is left in {folder.parent} for a copy of it; make "
                "room, or set TMPDIR to a folder on another disk"
            )
        yield chunk
