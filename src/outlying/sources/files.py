"""Files by the names that users give: one is read or streamed, several are streamed."""

from __future__ import annotations

import dataclasses
import difflib
import gzip
import io
import os
import re
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeAlias, cast

from outlying.errors import SourceError
from outlying.sources import compression, encodings, recognise, registry
from outlying.table.table import Table

if TYPE_CHECKING:
    from outlying.sources.passes import Feeder

Name: TypeAlias = "str | os.PathLike[str]"

_WEB_PAGE = re.compile(rb"\s*<(?:!doctype html|html)", re.IGNORECASE)
_HEAD = 1 << 16  # bytes that tell what a file holds
LONGEST_LINE = 2_000_000  # bytes; the engine reads no longer ones


@dataclasses.dataclass(frozen=True, slots=True)
class InputFile:
    """A file by its name as given, where it is, and how to open it."""

    source: str
    path: Path
    suffix: str
    """How its name ends, compression left out."""
    compressed: bool
    """Whether it is a gzip file, which readers of text open as it is; others are unpacked."""
    notes: tuple[str, ...] = ()
    """What a reader of results should know about how it arrived."""
    held: object = None
    """What must live as long as the file is read: a private copy."""

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

    def first_lines(self, count: int) -> list[str]:
        """Return the first lines of text; a first line without an end is refused."""
        with self.open_text() as stream:
            lines = [stream.readline(LONGEST_LINE) for _ in range(count)]
        if len(lines[0]) == LONGEST_LINE:
            raise self.error(f"its first line is longer than {LONGEST_LINE:,} characters")
        return [line for line in lines if line]

    def head(self) -> bytes:
        """Return the first bytes."""
        with self.open_bytes() as stream:
            return stream.read(_HEAD)

    def error(self, fault: str) -> SourceError:
        """Make an error that names the file."""
        return SourceError(f"{self.source}: {fault}")


def read(data: Name, **given: Any) -> Table:
    """Read a file by its suffix or by what it holds; `Table.source` is the path as it was given."""
    source = recognise.name_of(data)
    if recognise.is_address(data):
        raise SourceError(
            f"{source}: is an address, not a file; give the path, without {source.split('//')[0]}//"
        )
    if re.search("[\ud800-\udfff]", source):  # how Python holds bytes that are no text
        raise SourceError(f"{source!a}: the name is not valid UTF-8; rename the file")
    file, form = found(source, recognise.path_of(os.fsdecode(data)))
    options = registry.taken(given, form.takes, source)
    encoding = options.pop("encoding", None)
    check_compression(file)
    file = _as_text(file, encoding) if form.is_text else file
    reader = registry.module(form.read)
    try:
        table: Table = reader.read(file, **options)
    except encodings.NotUtf8Error:
        if encoding is not None:
            raise
        file = encodings.converted(file, encodings.found_encoding(file), is_found=True)
        table = reader.read(file, **options)
    return dataclasses.replace(table, notes=(*file.notes, *table.notes))


def stream(data: Name | Sequence[Name], **given: Any) -> Feeder:
    """Feed from a file, a list of files, a folder or a pattern."""
    from outlying.sources import paths

    if recognise.is_address(data):
        raise SourceError(
            f"{recognise.name_of(data)}: unknown kind of address; known: postgresql://, spark://, "
            f"{', '.join(f'{name}://' for name in recognise.REMOTE)}; files are given by their "
            "path, without file://"
        )
    if not isinstance(data, (str, os.PathLike)) and any(map(recognise.is_address, data)):
        raise SourceError(
            "the list holds addresses; name files of other machines by one pattern, such as "
            "s3://bucket/folder/*.parquet"
        )
    encoding = given.get("encoding")
    if isinstance(data, (str, os.PathLike)) and not recognise.are_files(data):
        file, form = found(recognise.name_of(data), recognise.path_of(os.fsdecode(data)))
        if form.stream is None:
            raise paths.unknown_kind(file.source)
        file = _as_text(file, encoding, is_whole=False) if form.is_text else file
        files = paths.of_file(file, file.notes)
    else:
        files = paths.find(data)
        form = registry.format_of(files.suffix)
        if form.is_text:
            files = files.arrived(lambda name, path: _arrived(name, path, encoding))
    options = registry.taken(given, form.takes, files.source)
    options.pop("encoding", None)
    feeder: Feeder = registry.module(form.stream).stream(files, **options)
    return feeder


def _arrived(name: str, path: Path, encoding: str | None) -> InputFile:
    return _as_text(found(name, path)[0], encoding, is_whole=False)


def found(source: str, path: Path) -> tuple[InputFile, registry.Format]:
    """Return a file and its format, by its name and by what it holds; the latter is right.

    What is compressed is unpacked into a private copy, unless it is text in a gzip file, which
    readers open as it is.
    """
    check_readable(source, path)
    suffix = registry.suffix_of(path, registry.SUFFIXES)
    head = InputFile(source, path, "", compressed=False).head()
    kind, promised = compression.compression_of(head), compression.named(path.name)
    if kind is None:
        if promised is not None and suffix is not None:
            raise compression.incomplete(source, promised)
        return _recognised(InputFile(source, path, suffix or "", compressed=False), head)
    if kind == "gzip":
        file = InputFile(source, path, (suffix or "").removesuffix(".gz"), compressed=True)
        file, form = _recognised(file, _inner_head(file))
        if form.is_text:
            return file, form
    copy = compression.unpacked(source, path, kind)
    inner = (suffix or "").removesuffix(compression.ENDINGS[kind])
    file = InputFile(source, copy.path, inner, compressed=False, held=copy)
    return _recognised(file, file.head())


def _inner_head(file: InputFile) -> bytes:
    try:
        return file.head()
    except (EOFError, OSError, zlib.error):
        raise compression.incomplete(file.source, "gzip") from None


def _recognised(file: InputFile, head: bytes) -> tuple[InputFile, registry.Format]:
    """Find the format; bytes that only one format begins with count more than a name."""
    if _WEB_PAGE.match(head):
        raise file.error("holds a web page, not a table; check the address, or log in first")
    named = registry.format_of(file.suffix) if file.suffix else None
    form = registry.format_by_content(head)
    if named is not None and (form is None or form.is_text):
        return file, named
    if form is None:
        known = ", ".join(registry.SUFFIXES)
        raise file.error(f"unknown kind of file; known suffixes: {known}")
    if form is named:
        return file, form
    says = () if named is None else (f"holds {form.name}, whatever its name says",)
    return dataclasses.replace(file, suffix=form.endings[0], notes=(*file.notes, *says)), form


def _as_text(file: InputFile, encoding: str | None, *, is_whole: bool = True) -> InputFile:
    """Return a file whose text is UTF-8, as far as its first bytes tell.

    Where not the whole of it can be tried later (`is_whole`), a first look has to be enough.
    """
    if encoding is not None:
        name = encodings.checked_encoding(encoding)
        is_same = name in ("utf-8", "utf-8-sig") and not encodings.is_marked_twice(file.head())
        return file if is_same else encodings.converted(file, name, is_found=False)
    head = file.head()
    wide = "utf-8" if encodings.is_marked_twice(head) else encodings.wide_encoding(head)
    if wide is None and not is_whole and not encodings.is_utf8(head):
        wide = encodings.found_encoding(file)
    return file if wide is None else encodings.converted(file, wide, is_found=True)


def check_readable(source: str, path: Path) -> None:
    """Refuse what is not there, not a file, empty, or not ours to read."""
    try:
        if path.is_dir():
            raise SourceError(f"{source}: is a folder; give the path of one file in it")
        with path.open("rb") as stream:
            if not stream.read(1):
                raise SourceError(f"{source}: the file is empty")
    except PermissionError:
        raise SourceError(
            f"{source}: no permission to read it; check the rights of the file and of the folders "
            "that it is in"
        ) from None
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
    if file.compressed:
        for _ in compression.chunks(file.source, file.path, "gzip"):
            pass
