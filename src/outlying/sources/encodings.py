"""The encoding of text files: UTF-8 unless the user or the bytes say otherwise.

A file in another encoding is copied as UTF-8, which every reader knows. What is found by looking
at bytes is said in a note. Only what can be told with some certainty is found: UTF-16 and UTF-32 by
their marks or zeros, and Western European text by accented letters that stand alone. For all others
the user is asked: a library that guesses any encoding needs more text than the few names that a
table may have.
"""

from __future__ import annotations

import codecs
import dataclasses
import io
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from outlying.errors import OptionError, Setting, SourceError, shown
from outlying.sources.copies import CHUNK, PrivateCopy

if TYPE_CHECKING:
    from outlying.sources.files import InputFile

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
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return True


def converted(file: InputFile, encoding: str, *, is_found: bool) -> InputFile:
    """Copy a text file as UTF-8, with a note if its encoding was found and not given."""
    copy = PrivateCopy(file.source, _as_utf8(file, encoding))
    says = f"taken for {encoding} text; if that is wrong, name its encoding"
    is_found = is_found and encoding != "utf-8"
    notes = (*file.notes, says) if is_found else file.notes
    return dataclasses.replace(file, path=copy.path, compressed=False, notes=notes, held=copy)


def found_encoding(file: InputFile) -> str:
    """Return the encoding of a file that is not UTF-8; refuse to guess where bytes do not tell."""
    runs = list(_runs(file))
    alone = sum(len(run) for run in runs if len(run) <= 2)
    are_accents = alone >= _MOST_ALONE * sum(map(len, runs))
    are_utf8 = sum(len(run) > 1 and is_utf8(run) for run in runs) * 2 > len(runs)
    if are_accents and not are_utf8 and _fits(b"".join(runs), WESTERN):
        return WESTERN
    check_text(file)
    return "utf-8"


def check_text(file: InputFile) -> None:
    """Find the first line that is not UTF-8, and say what to do about it."""
    decoder, line = codecs.getincrementaldecoder("utf-8")(), 1
    with file.open_bytes() as stream:
        try:
            while chunk := stream.read(CHUNK):
                line += decoder.decode(chunk).count("\n")
            decoder.decode(b"", final=True)
        except UnicodeDecodeError as error:
            line += error.object[: error.start].count(b"\n")
            raise NotUtf8Error(
                f"{file.source}: line {line} is not UTF-8 text (byte "
                f"0x{error.object[error.start]:02x}); name its encoding, for example with ",
                Setting("encoding", WESTERN),
            ) from None


def _runs(file: InputFile) -> Iterator[bytes]:
    """Return the first runs of bytes beyond ASCII."""
    found = 0
    with file.open_bytes() as stream:
        while found < _ENOUGH and (chunk := stream.read(CHUNK)):
            runs = _BEYOND_ASCII.findall(chunk)
            found += sum(map(len, runs))
            yield from runs


def _fits(content: bytes, encoding: str) -> bool:
    try:
        content.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


def _as_utf8(file: InputFile, encoding: str) -> Iterator[bytes]:
    lines, began = 1, False
    with file.open_bytes() as stream:
        text = io.TextIOWrapper(stream, encoding, newline="")
        try:
            while chunk := text.read(CHUNK):
                lines += chunk.count("\n")
                yield (chunk if began else chunk.lstrip(_MARK)).encode("utf-8", "strict")
                began = True
        except UnicodeError as error:
            raise SourceError(
                f"{file.source}: is not {encoding} text ({error.args[-1]}, in line {lines} or "
                "further down); name its encoding by the option encoding"
            ) from None
