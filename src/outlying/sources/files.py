"""Files by the names that users give: one is read or streamed, several are streamed."""

from __future__ import annotations

import codecs
import dataclasses
import difflib
import gzip
import io
import os
import re
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from outlying.errors import SourceError
from outlying.sources import recognise, registry
from outlying.table.table import Table

if TYPE_CHECKING:
    from outlying.sources.passes import Feeder


def read(data: str | os.PathLike[str]) -> Table:
    """Read a file by its suffix; `Table.source` is the path as it was given."""
    source = os.fsdecode(data)
    if recognise.is_address(source):
        raise SourceError(f"{source}: is an address, not a file; download it and give its path")
    if re.search("[\ud800-\udfff]", source):  # how Python holds bytes that are no text
        raise SourceError(f"{source!a}: the name is not valid UTF-8; rename the file")
    path = recognise.path_of(source)
    check_readable(source, path)
    suffix = registry.suffix_of(path, registry.SUFFIXES)
    if suffix is None:
        known = ", ".join(registry.SUFFIXES)
        raise SourceError(f"{source}: unknown kind of file; known suffixes: {known}")
    file = InputFile.of(source, path, suffix)
    check_compression(file)
    table: Table = registry.module(registry.format_of(suffix).read).read(file)
    return table


def stream(data: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> Feeder:
    """Feed from a file, a list of files, a folder or a pattern."""
    from outlying.sources import paths

    if recognise.is_address(data):
        raise SourceError(
            f"{data}: unknown kind of address; known: postgresql://, spark://; files are given by "
            "their path, without file://"
        )
    found = paths.find(data)
    feeder: Feeder = registry.module(registry.format_of(found.suffix).stream).stream(found)
    return feeder


@dataclasses.dataclass(frozen=True, slots=True)
class InputFile:
    """A file by its name as given, where it is, and how to open it."""

    source: str
    path: Path
    suffix: str
    """How its name ends, compression left out."""
    compressed: bool

    @classmethod
    def of(cls, source: str, path: Path, suffix: str) -> InputFile:
        """Describe a file whose name ends so."""
        return cls(source, path, suffix.removesuffix(".gz"), suffix.endswith(".gz"))

    def open_bytes(self) -> IO[bytes]:
        """Open the file at its first byte of text."""
        return cast(IO[bytes], gzip.open(self.path)) if self.compressed else self.path.open("rb")

    def open_text(self) -> IO[str]:
        """Open the file as text with line ends as they are; wrong bytes are for `check_text`."""
        return io.TextIOWrapper(self.open_bytes(), "utf-8-sig", "replace", newline="")

    def error(self, fault: str) -> SourceError:
        """Make an error that names the file."""
        return SourceError(f"{self.source}: {fault}")


def check_readable(source: str, path: Path) -> None:
    """Refuse what is not there, not a file, empty, or not ours to read."""
    try:
        if path.is_dir():
            raise SourceError(f"{source}: is a folder; give the path of one file in it")
        with path.open("rb") as stream:
            if not stream.read(1):
                raise SourceError(f"{source}: the file is empty")
    except PermissionError:
        raise SourceError(f"{source}: no permission to read it; check the file's rights") from None
    except (OSError, ValueError) as error:  # ValueError: a name with a zero byte in it
        raise SourceError(_not_found(source, path, error)) from None


def _not_found(source: str, path: Path, error: Exception) -> str:
    if not isinstance(error, (FileNotFoundError, NotADirectoryError)):
        return f"{source!a}: cannot be opened: {getattr(error, 'strerror', None) or error}"
    if not path.parent.is_dir():
        return f"{source}: no such file; the folder {str(path.parent)!r} does not exist"
    names = [entry.name for entry in path.parent.iterdir() if entry.is_file()]
    near = difflib.get_close_matches(path.name, names, n=3, cutoff=0.5)
    hint = "did you mean " + " or ".join(map(repr, near)) + "?" if near else "check the path"
    return f"{source}: no such file; {hint}"


def check_compression(file: InputFile) -> None:
    """Read a compressed file to its end: an engine may take a cut-off one for complete."""
    if not file.compressed:
        return
    try:
        with file.open_bytes() as stream:
            while stream.read(1 << 20):
                pass
    except (EOFError, OSError, zlib.error):
        raise file.error("is not a complete gzip file; copy or compress it again") from None


def check_text(file: InputFile) -> None:
    """Find the first line that is not UTF-8, and say how to convert the file."""
    with file.open_bytes() as stream:
        for number, line in enumerate(stream, start=1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                raise file.error(_not_utf8(file, number, line, error)) from None


def _not_utf8(file: InputFile, number: int, line: bytes, error: UnicodeDecodeError) -> str:
    utf16 = number == 1 and line.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    encoding = "utf16" if utf16 else "latin1"
    name = file.path.name
    return (
        f"line {number} is not UTF-8 text (byte 0x{line[error.start]:02x}); convert the file, "
        f"for example with: iconv -f {encoding} -t utf8 {name} > utf8-{name}"
    )
