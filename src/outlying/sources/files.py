"""Files: which reader a name asks for, and what can be wrong before any reader starts."""

from __future__ import annotations

import difflib
import os
import re
from pathlib import Path
from typing import Any

from outlying.errors import SourceError
from outlying.sources import csv as delimited
from outlying.sources import json as records
from outlying.sources import parquet
from outlying.sources.text import TextFile, check_compression
from outlying.table.table import Table

_TEXTS = {
    ".csv": delimited.read,
    ".tsv": delimited.read,
    ".json": records.read,
    ".jsonl": records.read,
    ".ndjson": records.read,
}
SUFFIXES = (*_TEXTS, *(f"{suffix}.gz" for suffix in _TEXTS), ".parquet")


def read(data: str | os.PathLike[Any]) -> Table:
    """Read a file by its suffix; `Table.source` is the path as it was given."""
    source = os.fsdecode(data)
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", source):
        raise SourceError(f"{source}: is an address, not a file; download it and give its path")
    if re.search("[\ud800-\udfff]", source):  # how Python holds bytes that are no text
        raise SourceError(f"{source!a}: the name is not valid UTF-8; rename the file")
    path = Path(source).expanduser() if source.startswith("~/") else Path(source)
    check_readable(source, path)
    suffix = _suffix_of(source, path)
    if suffix == ".parquet":
        return parquet.read(source, path)
    file = TextFile(source, path, suffix.removesuffix(".gz"), suffix.endswith(".gz"))
    check_compression(file)
    return _TEXTS[file.suffix](file)


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


def _suffix_of(source: str, path: Path) -> str:
    name = path.name.casefold()
    for suffix in SUFFIXES:
        if name.endswith(suffix):
            return suffix
    raise SourceError(f"{source}: unknown kind of file; known suffixes: {', '.join(SUFFIXES)}")
