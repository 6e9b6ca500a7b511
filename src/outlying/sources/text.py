"""Text files, plain or compressed, and the faults they can have before any format matters."""

from __future__ import annotations

import codecs
import dataclasses
import gzip
import io
import zlib
from pathlib import Path
from typing import IO, cast

from outlying.errors import SourceError
from outlying.table.values import Form


@dataclasses.dataclass(frozen=True, slots=True)
class TextFile:
    """A text file by its name as given, where it is, and how to open it."""

    source: str
    path: Path
    suffix: str
    compressed: bool

    def open_bytes(self) -> IO[bytes]:
        """Open the file at its first byte of text."""
        return cast(IO[bytes], gzip.open(self.path)) if self.compressed else self.path.open("rb")

    def open_text(self) -> IO[str]:
        """Open the file as text with line ends as they are; wrong bytes are for `check_text`."""
        return io.TextIOWrapper(self.open_bytes(), "utf-8-sig", "replace", newline="")

    def error(self, fault: str) -> SourceError:
        """Make an error that names the file."""
        return SourceError(f"{self.source}: {fault}")


def check_compression(file: TextFile) -> None:
    """Read a compressed file to its end: an engine may take a cut-off one for complete."""
    if not file.compressed:
        return
    try:
        with file.open_bytes() as stream:
            while stream.read(1 << 20):
                pass
    except (EOFError, OSError, zlib.error):
        raise file.error("is not a complete gzip file; copy or compress it again") from None


def check_text(file: TextFile) -> None:
    """Find the first line that is not UTF-8, and say how to convert the file."""
    with file.open_bytes() as stream:
        for number, line in enumerate(stream, start=1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                raise file.error(_not_utf8(file, number, line, error)) from None


def _not_utf8(file: TextFile, number: int, line: bytes, error: UnicodeDecodeError) -> str:
    utf16 = number == 1 and line.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    encoding = "utf16" if utf16 else "latin1"
    name = file.path.name
    return (
        f"line {number} is not UTF-8 text (byte 0x{line[error.start]:02x}); convert the file, "
        f"for example with: iconv -f {encoding} -t utf8 {name} > utf8-{name}"
    )


_DAY = r"\d{4}-\d{2}-\d{2}"
_CLOCK = r"\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?"
ISO_PATTERNS: dict[Form, str] = {
    "date": _DAY,
    "datetime": rf"{_DAY}(?:[ T]{_CLOCK})?",
    "instant": rf"{_DAY}[ T]{_CLOCK}(?:Z|[+-]\d{{2}}(?::?\d{{2}})?)",
    "time": _CLOCK,
}
"""How dates and times look in formats that have no type for them (for Python and for RE2)."""
