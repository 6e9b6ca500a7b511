"""Files of other machines, copied: what is not Parquet has to be read as a whole anyway."""

from __future__ import annotations

import contextlib
import glob
import time
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from outlying.errors import SourceError
from outlying.sources import registry
from outlying.sources.copies import CHUNK, PrivateCopy
from outlying.sources.lakes import delta
from outlying.sources.paths import is_hidden, keys_in
from outlying.sources.remote.opening import Place, opened, quiet, told

PATIENCE = 60.0
"""Seconds after which a file must have come at a rate of a kibibyte per second."""

_SLOWEST = 1024


def arrived(address: str) -> Any:
    """Copy a file, or the files of a pattern or folder; those of Parquet stay where they are."""
    suffix = registry.suffix_of(PurePosixPath(path_in(address)), registry.SUFFIXES)
    if suffix == ".parquet" and _gives_parts(address):
        return address
    if not is_several(address, suffix):
        return _copied(opened(address, is_part=False), suffix or "")
    if _is_delta(address):
        return delta.opened(address)
    places = expanded(address)
    kinds = {registry.suffix_of(PurePosixPath(place.path), registry.SUFFIXES) for place in places}
    if kinds == {".parquet"}:
        return address
    return [
        _copied(place, registry.suffix_of(PurePosixPath(place.path), registry.SUFFIXES) or "")
        for place in places
    ]


def _gives_parts(address: str) -> bool:
    """Return whether a server gives parts of a file; some web servers do not."""
    place = opened(address, is_part=True)
    if is_several(address, ".parquet") or not _is_web(place.path):
        return True
    with told(place.source), quiet():
        try:
            with place.files.open(place.path, "rb", cache_type="none") as file:
                return file.seek(1) == 1 and len(file.read(1)) == 1
        except ValueError:  # it gives the whole, or does not tell how much that is
            return False


def _is_web(path: str) -> bool:
    return path.startswith(("http://", "https://"))


def _is_delta(address: str) -> bool:
    place = opened(address, is_part=True)
    with told(place.source), quiet():
        return bool(place.files.exists(f"{place.path.rstrip('/')}/_delta_log"))


def path_in(address: str) -> str:
    """Return the path of an address, without what is asked for or signed behind it."""
    parts = urlsplit(address)
    return unquote(parts.path) if parts.scheme in ("http", "https") else address.split("://")[1]


def is_several(address: str, suffix: str | None) -> bool:
    """Return whether an address is a pattern or a folder; the web knows neither."""
    if _is_web(address):
        return False
    return glob.has_magic(address) or address.endswith("/") or suffix is None


def expanded(address: str) -> list[Place]:
    """Find the files that a pattern or a folder stands for, in the order of their names."""
    place = opened(address, is_part=True)
    with told(place.source), quiet():
        if glob.has_magic(place.path):
            found = place.files.glob(place.path)
        elif place.files.isdir(place.path):
            found = place.files.find(place.path)
        else:
            found = [place.path]
    paths = [path for path in sorted(found) if _is_part_of_table(place.path, path)]
    if not paths:
        raise SourceError(
            f"{place.source}: no table is there; looked for files that end in "
            f"{', '.join(registry.STREAMED_SUFFIXES)}"
        )
    for path in paths:
        if keys_in(PurePosixPath(path.removeprefix(place.path)).parts[:-1]):
            raise SourceError(
                f"{place.source}: its folders give keys (key=value), which are read of folders on "
                "this machine only; name the files of one folder by a pattern"
            )
    scheme = place.source.split("://")[0]
    return [Place(f"{scheme}://{path}", place.files, path) for path in paths]


def _is_part_of_table(root: str, path: str) -> bool:
    if path == root:
        return True
    below = PurePosixPath(path.removeprefix(root))
    is_known = registry.suffix_of(below, registry.STREAMED_SUFFIXES) is not None
    return is_known and not any(map(is_hidden, below.parts))


def _copied(place: Place, suffix: str) -> PrivateCopy:
    return PrivateCopy(place.source, _chunks(place), suffix)


def _chunks(place: Place) -> Iterator[bytes]:
    start, size = time.monotonic(), 0
    with contextlib.ExitStack() as stack:
        stack.enter_context(told(place.source))
        stack.enter_context(quiet())
        block = (
            0 if _is_web(place.path) else 8 * CHUNK
        )  # 0: as a stream, for servers that know no ranges
        file = stack.enter_context(place.files.open(place.path, "rb", block_size=block))
        while chunk := file.read(CHUNK):
            size += len(chunk)
            elapsed = time.monotonic() - start
            if elapsed > PATIENCE and size < elapsed * _SLOWEST:
                raise SourceError(
                    f"{place.source}: only {size:,} bytes came in {elapsed:.0f} seconds; try "
                    "again, or download the file"
                )
            yield chunk
