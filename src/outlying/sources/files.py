"""Files by the names that users give: one is read or streamed, several are streamed."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from outlying.errors import SourceError
from outlying.sources import recognise, registry
from outlying.sources.input_file import InputFile, check_compression, check_readable
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
