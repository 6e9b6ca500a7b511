"""Files by the names that users give: one is read or streamed, several are streamed."""

from __future__ import annotations

import dataclasses
import os
import re
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from outlying.errors import SourceError
from outlying.sources import decoding, recognise, registry
from outlying.sources.paths import Files, InputFile, Name, check_readable, find, unknown_kind
from outlying.table.table import Table

if TYPE_CHECKING:
    from outlying.sources.passes import Feeder

_WEB_PAGE = re.compile(rb"\s*<(?:!doctype html|html)", re.IGNORECASE)


def read(data: Name, **given: Any) -> Table:
    """Read a file by its suffix or by what it holds; `Table.source` is the path as it was given."""
    source = recognise.name_of(data)
    if recognise.is_address(data):
        raise SourceError(
            f"{source}: is an address, not a file; give the path, without {source.split('//')[0]}//"
        )
    if re.search("[\ud800-\udfff]", source):  # how Python holds bytes that are no text
        raise SourceError(f"{source!a}: the name is not valid UTF-8; rename the file")
    file, form = identify(source, recognise.path_of(os.fsdecode(data)))
    options = registry.taken(given, form.takes, source)
    encoding = options.pop("encoding", None)
    file.check_compression()
    file = _as_text(file, encoding) if form.is_text else file
    reader = registry.module(form.read)
    try:
        table: Table = reader.read(file, **options)
    except decoding.NotUtf8Error:
        if encoding is not None:
            raise
        file = file.as_utf8(file.guessed_encoding(), is_guessed=True)
        table = reader.read(file, **options)
    return dataclasses.replace(table, notes=(*file.notes, *table.notes))


def stream(data: Name | Sequence[Name], **given: Any) -> Feeder:
    """Feed from a file, a list of files, a folder or a pattern."""
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
        file, form = identify(recognise.name_of(data), recognise.path_of(os.fsdecode(data)))
        if form.stream is None:
            raise unknown_kind(file.source)
        file = _as_text(file, encoding, is_whole=False) if form.is_text else file
        files = Files(file.source, (file,), file.notes)
    else:
        files = find(data)
        form = registry.format_of(files.suffix)
        files = _all_as_text(files, encoding) if form.is_text else files
    options = registry.taken(given, form.takes, files.source)
    options.pop("encoding", None)
    feeder: Feeder = registry.module(form.stream).stream(files, **options)
    return feeder


def identify(source: str, path: Path) -> tuple[InputFile, registry.Format]:
    """Return a file and its format, by its name and by what it holds; the latter is right.

    What is compressed is unpacked into a private copy, unless it is text in a gzip file, which
    readers open as it is.
    """
    check_readable(source, path)
    suffix = registry.suffix_of(path, registry.SUFFIXES) or ""
    file = InputFile(source, path, suffix)
    kind = decoding.compression_of(head := file.head())
    promised = decoding.promised_compression(path.name)
    if kind is None:
        if promised is not None and suffix:
            raise decoding.incomplete(source, promised)
        return _recognised(file, head)
    file = dataclasses.replace(file, suffix=suffix.removesuffix(decoding.ENDINGS[kind]))
    if kind == "gzip":
        packed = dataclasses.replace(file, compressed=True)
        try:
            head = packed.head()
        except (EOFError, OSError, zlib.error):
            raise decoding.incomplete(source, "gzip") from None
        packed, form = _recognised(packed, head)
        if form.is_text:
            return packed, form
    file = file.at(decoding.unpack(source, path, kind))
    return _recognised(file, file.head())


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
    note = () if named is None else (f"holds {form.name}, whatever its name says",)
    return dataclasses.replace(file, suffix=form.endings[0], notes=(*file.notes, *note)), form


def _as_text(file: InputFile, encoding: str | None, *, is_whole: bool = True) -> InputFile:
    """Return a file whose text is UTF-8, as far as its first bytes tell.

    Where not the whole of it can be tried later (`is_whole`), a first look has to be enough.
    """
    head = file.head()
    is_marked_twice = decoding.is_marked_twice(head)
    if encoding is not None:
        name = decoding.checked_encoding(encoding)
        is_same = name in ("utf-8", "utf-8-sig") and not is_marked_twice
        return file if is_same else file.as_utf8(name, is_guessed=False)
    wide = "utf-8" if is_marked_twice else decoding.wide_encoding(head)
    if wide is None and not is_whole and not decoding.is_utf8(head):
        wide = file.guessed_encoding()
    return file if wide is None else file.as_utf8(wide, is_guessed=True)


def _all_as_text(files: Files, encoding: str | None) -> Files:
    """Return these files as text that engines read, copied where they are not.

    If one has to be copied, all are unpacked, as files of one table are opened in one way.
    """
    found = [_as_text(identify(f.source, f.path)[0], encoding, is_whole=False) for f in files.files]
    notes = dict.fromkeys((*files.notes, *(note for file in found for note in file.notes)))
    if all(file.held is None for file in found):
        return dataclasses.replace(files, notes=tuple(notes))
    if files.keys:
        raise SourceError(
            f"{files.source}: files in folders that give keys (key=value) are read where they "
            "are; write them as UTF-8 text, plain or compressed by gzip"
        )
    return Files(files.source, tuple(file.unpack() for file in found), tuple(notes))
