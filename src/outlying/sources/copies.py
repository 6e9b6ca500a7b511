"""Plain files of what arrives otherwise: private copies, unpacked within bounds, text as UTF-8.

A copy goes with the last reference to it. A process that was killed leaves its folder behind; the
next one that makes such a folder finds that nobody holds its lock any more, and removes it.
"""

from __future__ import annotations

import codecs
import contextlib
import dataclasses
import importlib
import io
import os
import re
import shutil
import stat
import sys
import tempfile
import weakref
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, TypeAlias

from outlying import sentences as say
from outlying.errors import OptionError, Setting, SourceError, shown
from outlying.sources.recognise import REMOTE, scheme_of

try:
    import fcntl
except ImportError:  # no such locks on Windows
    fcntl = None  # type: ignore[assignment]

CHUNK = 1 << 20
LEAST_ROOM = 1 << 29  # bytes of the disk that no copy takes
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
                    is_time = number % _CHUNKS_BETWEEN_LOOKS == 0
                    if is_time and shutil.disk_usage(place).free < LEAST_ROOM:
                        raise SourceError(
                            f"{source}: too little room is left in {place} for a copy of it; make "
                            "room, or set TMPDIR to a folder on another disk"
                        )
                    stream.write(chunk)
        except OSError as error:
            if error.filename is None and error.errno is None:  # what is copied cannot be read
                raise
            raise SourceError(f"{source}: cannot be copied to {place}: {error}") from None

    def __fspath__(self) -> str:
        return str(self.path)


def materialize(data: Any) -> Any:
    """Return data that can be looked at twice: what flows only once is copied first."""
    if isinstance(data, str) and data == "-":
        stream = getattr(sys.stdin, "buffer", sys.stdin)
        return PrivateCopy("standard input", _chunks(stream, "standard input"))
    if isinstance(data, str) and scheme_of(data) in REMOTE:
        from outlying.sources.remote import fetch

        return fetch(data)
    if isinstance(data, (str, os.PathLike)):
        with contextlib.suppress(OSError, ValueError):  # for the reader, which says what is wrong
            if stat.S_ISFIFO(Path(data).stat().st_mode):  # <(command), or a named pipe
                with Path(data).open("rb") as stream:
                    return PrivateCopy(os.fsdecode(data), _chunks(stream, os.fsdecode(data)))
        return data
    if callable(getattr(data, "read", None)) and not isinstance(data, type):
        name = getattr(data, "name", None)
        source = name if isinstance(name, str) and name else "open file"
        return PrivateCopy(source, _chunks(data, source))
    return data


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


# --- compression ---------------------------------------------------------------------------------

#: How names of compressed files end, how they begin, and the modules of Python that open them.
ENDINGS = {"gzip": ".gz", "zstd": ".zst", "bzip2": ".bz2", "xz": ".xz"}
_MAGIC = {
    "gzip": rb"\x1f\x8b",
    "zstd": rb"\x28\xb5\x2f\xfd",
    "bzip2": rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)",
    "xz": rb"\xfd7zXZ\0",
}
_MODULES = {"gzip": "gzip", "bzip2": "bz2", "xz": "lzma"}


@dataclasses.dataclass(frozen=True, slots=True)
class UnpackingBounds:
    """How large a file may become: tables stay below 100 bytes for one, bombs begin at 1,000."""

    harmless: int = 1 << 30  # bytes to which anything may be unpacked
    per_byte: int = 500  # beyond that, how many bytes one may become

    def are_exceeded(self, size: int, packed: int) -> bool:
        """Return whether so many bytes are more than a table makes of those that it has."""
        return size > self.harmless and size > packed * self.per_byte


BOUNDS = UnpackingBounds()


def check_expanded(source: str, expanded: int, size: int) -> None:
    """Refuse a file that would need far more memory than it has bytes."""
    if BOUNDS.are_exceeded(expanded, size):
        raise SourceError(
            f"{source}: its {size:,} bytes would take {expanded:,} bytes of memory, which those of "
            "a table do not; read it in the program that wrote it, and write it anew"
        )


def _unpacked_chunks(source: str, path: Path, kind: str) -> Iterator[bytes]:
    """Unpack a file piece by piece; refuse one that is cut off, damaged, or grows beyond reason."""
    packed, size = path.stat().st_size, 0
    try:
        with _open(path, kind) as stream:
            while chunk := stream.read(CHUNK):
                size += len(chunk)
                if BOUNDS.are_exceeded(size, packed):
                    raise SourceError(
                        f"{source}: its {packed:,} bytes unpack to more than {BOUNDS.harmless:,}, "
                        "which no table does; if it is one, unpack it and give that file"
                    )
                yield chunk
    except (EOFError, OSError, zlib.error):
        raise _incomplete(source, kind) from None
    except Exception as error:
        if type(error).__name__ != "LZMAError":  # whose module is not always there
            raise
        raise _incomplete(source, kind) from None


def _open(path: Path, kind: str) -> IO[bytes]:
    stream: IO[bytes]
    if kind == "zstd":  # with Arrow, as Python knows it from version 3.14 on only
        import pyarrow

        stream = pyarrow.CompressedInputStream(pyarrow.OSFile(str(path)), "zstd")
    else:  # imported here, as not every Python is built with all of them
        stream = importlib.import_module(_MODULES[kind]).open(path)
    return stream


def _incomplete(source: str, kind: str) -> SourceError:
    return SourceError(f"{source}: is not a complete {kind} file; copy or compress it again")


# --- one file ------------------------------------------------------------------------------------

Keys: TypeAlias = tuple[tuple[str, str | None], ...]

LONGEST_LINE = 2_000_000  # bytes; the engine reads no longer ones
WESTERN = "cp1252"

_HEAD = 1 << 16  # bytes that tell what a file holds
_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_BEYOND_ASCII = re.compile(rb"[\x80-\xff]+")
_ENOUGH = 10_000  # bytes beyond ASCII that tell an encoding
_MOST_ALONE = 0.8  # of them, at least so many in runs of one or two are accents


class NotUtf8Error(SourceError):
    """A text file holds bytes that are no UTF-8."""


@dataclasses.dataclass(frozen=True, slots=True)
class InputFile:
    """A file by its name as given, where it is, and how to open it."""

    source: str
    path: Path
    suffix: str  # how its name ends, compression left out
    notes: tuple[str, ...] = ()  # what a reader of results should know about how it arrived
    held: object = None  # what must live as long as the file is read: a private copy
    keys: Keys = ()  # what folders below the root say of it

    @property
    def size(self) -> int:
        """How many bytes it has."""
        return self.path.stat().st_size

    def state(self) -> tuple[int, int]:
        """Return the size of the file, and what changes when it is written to."""
        found = self.path.stat()
        return found.st_size, found.st_mtime_ns

    def head(self) -> bytes:
        """Return the first bytes."""
        with self.path.open("rb") as stream:
            return stream.read(_HEAD)

    def at(self, copy: PrivateCopy) -> InputFile:
        """Return the file where a copy of it is."""
        return dataclasses.replace(self, path=copy.path, held=copy)

    def unpacked(self) -> InputFile:
        """Return the file, or what is in it if compressed; refuse it if only its name says so."""
        head = self.head()
        for kind, ending in ENDINGS.items():
            if re.match(_MAGIC[kind], head):
                chunks = _unpacked_chunks(self.source, self.path, kind)
                copy = self.at(PrivateCopy(self.source, chunks))
                return dataclasses.replace(copy, suffix=self.suffix.removesuffix(ending))
        for kind, ending in ENDINGS.items():
            if self.suffix and self.path.name.casefold().endswith(ending):
                raise _incomplete(self.source, kind)
        return self

    def error(self, fault: str) -> SourceError:
        """Make an error that names the file."""
        return SourceError(f"{self.source}: {fault}")

    def open_text(self) -> IO[str]:
        """Open the file as text with line ends as they are; wrong bytes are for `check_text`."""
        return self.path.open(encoding="utf-8-sig", errors="replace", newline="")

    def first_lines(self, count: int) -> list[str]:
        """Return the first lines of text; a first line without an end is refused."""
        with self.open_text() as stream:
            lines = [stream.readline(LONGEST_LINE) for _ in range(count)]
        if len(lines[0]) == LONGEST_LINE:
            raise self.error(f"its first line is longer than {LONGEST_LINE:,} characters")
        return [line for line in lines if line]

    def check_text(self) -> None:
        """Find the first line that is not UTF-8, and say what to do about it."""
        decoder, line = codecs.getincrementaldecoder("utf-8")(), 1
        with self.path.open("rb") as stream:
            try:
                while chunk := stream.read(CHUNK):
                    line += decoder.decode(chunk).count("\n")
                decoder.decode(b"", final=True)
            except UnicodeDecodeError as error:
                line += error.object[: error.start].count(b"\n")
                raise NotUtf8Error(
                    f"{self.source}: line {line} is not UTF-8 text (byte "
                    f"0x{error.object[error.start]:02x}); name its encoding, for example with ",
                    Setting("encoding", WESTERN),
                ) from None

    def as_text(self, encoding: str | None, *, is_whole: bool = True) -> InputFile:
        """Return a file as UTF-8 by its first bytes; `is_whole`: the rest is tried later."""
        head = self.head()
        is_marked_twice = head.startswith(2 * codecs.BOM_UTF8)  # readers skip one mark
        if encoding is not None:
            name = _checked_encoding(encoding)
            is_same = name in ("utf-8", "utf-8-sig") and not is_marked_twice
            return self if is_same else self._as_utf8(name)
        if is_marked_twice:
            return self._as_utf8("utf-8")
        wide = wide_encoding(head)
        if wide is None and (is_whole or _decodes(head, "utf-8", is_cut=True)):
            return self
        return self.as_guessed(wide)

    def as_guessed(self, encoding: str | None = None) -> InputFile:
        """Copy text that is not UTF-8 as UTF-8, with a note; refuse where no encoding is sure."""
        encoding = encoding or self._guessed_encoding()
        note = say.ENCODING_GUESSED.format(encoding=encoding)
        return dataclasses.replace(self._as_utf8(encoding), notes=(*self.notes, note))

    def _guessed_encoding(self) -> str:
        runs: list[bytes] = []
        with self.path.open("rb") as stream:
            while sum(map(len, runs)) < _ENOUGH and (chunk := stream.read(CHUNK)):
                runs += _BEYOND_ASCII.findall(chunk)
        alone = sum(len(run) for run in runs if len(run) <= 2)
        are_accents = alone >= _MOST_ALONE * sum(map(len, runs))
        are_utf8 = sum(len(run) > 1 and _decodes(run, "utf-8", True) for run in runs) * 2 > len(
            runs
        )
        if not are_accents or are_utf8 or not _decodes(b"".join(runs), WESTERN):
            self.check_text()
        return WESTERN

    def _as_utf8(self, encoding: str) -> InputFile:
        return self.at(PrivateCopy(self.source, self._utf8_chunks(encoding)))

    def _utf8_chunks(self, encoding: str) -> Iterator[bytes]:
        line = 1
        with self.path.open("rb") as stream:
            text = io.TextIOWrapper(stream, encoding, newline="")
            try:
                chunk = text.read(CHUNK).lstrip("\ufeff")
                while chunk:
                    line += chunk.count("\n")
                    yield chunk.encode()
                    chunk = text.read(CHUNK)
            except UnicodeError as error:
                raise SourceError(
                    f"{self.source}: is not {encoding} text ({error.args[-1]}, in line {line} or "
                    "further down); name its encoding by the option encoding"
                ) from None


def _checked_encoding(encoding: object) -> str:
    try:
        name = codecs.lookup(encoding).name  # type: ignore[arg-type]
        "".encode(name)  # not hex, zip and the like
    except (LookupError, TypeError, ValueError):
        raise OptionError(
            f"encoding is {shown(encoding)}; allowed: an encoding of text, such as 'utf-8', "
            "'utf-16', 'cp1252', 'latin-1' or 'shift_jis'"
        ) from None
    return name


def wide_encoding(head: bytes) -> str | None:
    """Return the encoding of text whose characters take several bytes; None: it is no such text."""
    for mark, name in _MARKS.items():
        if head.startswith(mark):
            return name
    even, odd = head[::2], head[1::2]
    for name, high, low in (("utf-16-le", odd, even), ("utf-16-be", even, odd)):
        if len(head) >= 8 and high.count(0) > 0.7 * len(high) and not low.count(0):
            return name
    return None


def _decodes(content: bytes, encoding: str, is_cut: bool = False) -> bool:
    """Return whether bytes are text in an encoding; the last character may be cut off."""
    try:
        codecs.getincrementaldecoder(encoding)().decode(content, final=not is_cut)
    except UnicodeDecodeError:
        return False
    return True
