"""From the bytes of a file to plain ones: compression and encoding.

Compressed files are recognised by their first bytes and unpacked within bounds. Text is UTF-8
unless the user or the bytes say otherwise; what is found by looking at bytes is said in a note.
Only what can be told with some certainty is found: UTF-16 and UTF-32 by their marks or zeros, and
Western European text by accented letters that stand alone. For all others the user is asked: a
library that guesses any encoding needs more text than the few names that a table may have.
"""

from __future__ import annotations

import codecs
import dataclasses
import importlib
import io
import re
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from outlying.errors import OptionError, Setting, SourceError, shown
from outlying.sources.copies import CHUNK, PrivateCopy

# --- compression ---------------------------------------------------------------------------------

ENDINGS = {"gzip": ".gz", "zstd": ".zst", "bzip2": ".bz2", "xz": ".xz"}
"""How names of compressed files end."""

_MAGIC = {
    "gzip": rb"\x1f\x8b",
    "zstd": rb"\x28\xb5\x2f\xfd",
    "bzip2": rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)",
    "xz": rb"\xfd7zXZ\0",
}
_MODULES = {"gzip": "gzip", "bzip2": "bz2", "xz": "lzma"}


@dataclasses.dataclass(frozen=True, slots=True)
class Bounds:
    """How large a file may become: tables stay below 100 bytes for one, bombs begin at 1,000."""

    harmless: int = 1 << 30  # bytes to which anything may be unpacked
    per_byte: int = 500  # beyond that, how many bytes one may become

    def are_exceeded(self, size: int, packed: int) -> bool:
        """Return whether so many bytes are more than a table makes of those that it has."""
        return size > self.harmless and size > packed * self.per_byte


BOUNDS = Bounds()


def compression_of(head: bytes) -> str | None:
    """Return how a file is compressed that begins so; None: it is not."""
    return next((name for name, magic in _MAGIC.items() if re.match(magic, head)), None)


def promised_compression(name: str) -> str | None:
    """Return the compression that the name of a file promises."""
    return next((kind for kind, end in ENDINGS.items() if name.casefold().endswith(end)), None)


def _open(path: Path, kind: str) -> IO[bytes]:
    """Open a compressed file; what comes are the bytes inside."""
    stream: IO[bytes]
    if kind == "zstd":  # with Arrow, as Python knows it from version 3.14 on only
        import pyarrow

        stream = pyarrow.CompressedInputStream(pyarrow.OSFile(str(path)), "zstd")
    else:  # imported here, as not every Python is built with all of them
        stream = importlib.import_module(_MODULES[kind]).open(path)
    return stream


def unpack(source: str, path: Path, kind: str) -> PrivateCopy:
    """Copy what is in a compressed file."""
    return PrivateCopy(source, unpacked(source, path, kind))


def unpacked(source: str, path: Path, kind: str) -> Iterator[bytes]:
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
        raise incomplete(source, kind) from None
    except Exception as error:
        if type(error).__name__ != "LZMAError":  # whose module is not always there
            raise
        raise incomplete(source, kind) from None


def check_expanded(source: str, expanded: int, size: int) -> None:
    """Refuse a file that would need far more memory than it has bytes."""
    if BOUNDS.are_exceeded(expanded, size):
        raise SourceError(
            f"{source}: its {size:,} bytes would take {expanded:,} bytes of memory, which those of "
            "a table do not; read it in the program that wrote it, and write it anew"
        )


def incomplete(source: str, kind: str) -> SourceError:
    """Make the error of a file that does not hold what its name or its first bytes promise."""
    return SourceError(f"{source}: is not a complete {kind} file; copy or compress it again")


# --- encoding ------------------------------------------------------------------------------------

WESTERN = "cp1252"

_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_MARK = "\ufeff"
_BEYOND_ASCII = re.compile(rb"[\x80-\xff]+")
_ENOUGH = 10_000  # bytes beyond ASCII that tell an encoding
_MOST_ALONE = 0.8  # of them, at least so many in runs of one or two are accents

OpenBytes = Callable[[], IO[bytes]]


class NotUtf8Error(SourceError):
    """A text file holds bytes that are no UTF-8."""


def checked_encoding(encoding: object) -> str:
    """Return the name of an encoding as Python knows it; refuse what is none of text."""
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


def is_marked_twice(head: bytes) -> bool:
    """Return whether UTF-8 text begins with several marks of it, of which readers skip one."""
    return head.startswith(2 * codecs.BOM_UTF8)


def is_utf8(head: bytes) -> bool:
    """Return whether the beginning of a text is UTF-8; its last character may be cut off."""
    return _decodes(codecs.getincrementaldecoder("utf-8")().decode, head)


def _decodes(decode: Callable[[bytes], str], content: bytes) -> bool:
    try:
        decode(content)
    except UnicodeDecodeError:
        return False
    return True


def guessed_encoding(source: str, open_bytes: OpenBytes) -> str:
    """Return the encoding of a file that is not UTF-8; refuse to guess where bytes do not tell."""
    runs = list(_runs_beyond_ascii(open_bytes))
    alone = sum(len(run) for run in runs if len(run) <= 2)
    are_accents = alone >= _MOST_ALONE * sum(map(len, runs))
    are_utf8 = sum(len(run) > 1 and is_utf8(run) for run in runs) * 2 > len(runs)
    is_western = _decodes(lambda content: content.decode(WESTERN), b"".join(runs))
    if are_accents and not are_utf8 and is_western:
        return WESTERN
    check_utf8(source, open_bytes)
    return "utf-8"


def _runs_beyond_ascii(open_bytes: OpenBytes) -> Iterator[bytes]:
    """Return the first runs of bytes beyond ASCII."""
    size = 0
    with open_bytes() as stream:
        while size < _ENOUGH and (chunk := stream.read(CHUNK)):
            runs = _BEYOND_ASCII.findall(chunk)
            size += sum(map(len, runs))
            yield from runs


def check_utf8(source: str, open_bytes: OpenBytes) -> None:
    """Find the first line that is not UTF-8, and say what to do about it."""
    decoder, line = codecs.getincrementaldecoder("utf-8")(), 1
    with open_bytes() as stream:
        try:
            while chunk := stream.read(CHUNK):
                line += decoder.decode(chunk).count("\n")
            decoder.decode(b"", final=True)
        except UnicodeDecodeError as error:
            line += error.object[: error.start].count(b"\n")
            raise NotUtf8Error(
                f"{source}: line {line} is not UTF-8 text (byte "
                f"0x{error.object[error.start]:02x}); name its encoding, for example with ",
                Setting("encoding", WESTERN),
            ) from None


def as_utf8(source: str, open_bytes: OpenBytes, encoding: str) -> Iterator[bytes]:
    """Read text in some encoding, and return it as UTF-8 without a mark."""
    lines, began = 1, False
    with open_bytes() as stream:
        text = io.TextIOWrapper(stream, encoding, newline="")
        try:
            while chunk := text.read(CHUNK):
                lines += chunk.count("\n")
                yield (chunk if began else chunk.lstrip(_MARK)).encode("utf-8", "strict")
                began = True
        except UnicodeError as error:
            raise SourceError(
                f"{source}: is not {encoding} text ({error.args[-1]}, in line {lines} or "
                "further down); name its encoding by the option encoding"
            ) from None
