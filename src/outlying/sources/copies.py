"""Private copies of what cannot be read where it is: standard input, open files, packed files.

A copy is a file in a folder that nobody else may look into. It goes with the last reference to it,
and at the end of the process at the latest. A process that was killed leaves its folder behind; the
next one that makes such a folder finds that nobody holds its lock any more, and removes it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import sys
import tempfile
import weakref
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from outlying.errors import SourceError
from outlying.sources.recognise import REMOTE, scheme_of

try:
    import fcntl
except ImportError:  # no such locks on Windows
    fcntl = None  # type: ignore[assignment]

CHUNK = 1 << 20
LEAST_ROOM = 1 << 29
"""Bytes of the disk that no copy takes."""

_CHUNKS_BETWEEN_LOOKS = 64
_PREFIX = "outlying-"
_LOCK = "lock"


class PrivateFolder:
    """A folder of this process, for its owner only."""

    def __init__(self, kind: str) -> None:
        """Make a folder whose name tells what it is for; take away what others have left."""
        _remove_leftovers()
        self.path = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{kind}-"))
        self._process, new = os.getpid(), self.path / f"{_LOCK}.new"
        self._lock = new.open("wb")
        if fcntl is not None:
            with contextlib.suppress(OSError):  # a file system without locks
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                new.rename(self.path / _LOCK)  # not before it is held

    def remove(self) -> None:
        """Remove the folder and all in it, unless this is a fork of the process that made it."""
        self._lock.close()
        if os.getpid() == self._process:
            shutil.rmtree(self.path, ignore_errors=True)

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.remove()


def _remove_leftovers() -> None:
    """Remove folders of processes that were killed: ours, closed to others, locked by nobody."""
    if fcntl is None:
        return
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):  # held, not ours, or being removed by another process
            state = folder.lstat()
            is_private = stat.S_ISDIR(state.st_mode) and stat.S_IMODE(state.st_mode) == 0o700
            if is_private and state.st_uid == os.getuid():
                with (folder / _LOCK).open("rb") as held:
                    fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(folder, ignore_errors=True)


class PrivateCopy(os.PathLike[str]):
    """A file of our own that can be given wherever a path can; `source` is what it is a copy of."""

    def __init__(self, source: str, chunks: Iterable[bytes], suffix: str = "") -> None:
        self.source = source
        folder = PrivateFolder("copy")
        self.path = folder.path / f"copy{suffix}"
        weakref.finalize(self, folder.remove)
        place = folder.path.parent
        try:
            with self.path.open("wb") as stream:
                for number, chunk in enumerate(chunks):
                    if number % _CHUNKS_BETWEEN_LOOKS == 0:
                        _check_room(source, place)
                    stream.write(chunk)
        except OSError as error:
            if error.filename is None and error.errno is None:  # what is copied cannot be read
                raise
            raise SourceError(f"{source}: cannot be copied to {place}: {error}") from None

    def __fspath__(self) -> str:
        return str(self.path)


def _check_room(source: str, place: Path) -> None:
    if shutil.disk_usage(place).free < LEAST_ROOM:
        raise SourceError(
            f"{source}: too little room is left in {place} for a copy of it; make room, or set "
            "TMPDIR to a folder on another disk"
        )


def materialize(data: Any) -> Any:
    """Return data that can be looked at twice: what flows only once is copied first.

    That is standard input ("-"), pipes, files of other machines, and whatever has a method `read`
    of bytes or text.
    """
    if isinstance(data, str) and data == "-":
        return _copy_of(getattr(sys.stdin, "buffer", sys.stdin), "standard input")
    if isinstance(data, str) and scheme_of(data) in REMOTE:
        from outlying.sources.remote import fetch

        return fetch(data)
    if isinstance(data, (str, os.PathLike)):
        with contextlib.suppress(OSError, ValueError):  # for the reader, which says what is wrong
            if stat.S_ISFIFO(Path(data).stat().st_mode):  # <(command), or a named pipe
                with Path(data).open("rb") as stream:
                    return _copy_of(stream, os.fsdecode(data))
        return data
    if callable(getattr(data, "read", None)) and not isinstance(data, type):
        name = getattr(data, "name", None)
        return _copy_of(data, name if isinstance(name, str) and name else "open file")
    return data


def _copy_of(stream: IO[Any], source: str) -> PrivateCopy:
    return PrivateCopy(source, _chunks(stream, source))


def _chunks(stream: IO[Any], source: str) -> Iterator[bytes]:
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
