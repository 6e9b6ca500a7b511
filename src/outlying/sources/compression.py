"""Compressed files: recognised by their first bytes, unpacked within bounds."""

from __future__ import annotations

import importlib
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from outlying.errors import MissingExtraError, SourceError
from outlying.sources.copies import CHUNK, PrivateCopy

ENDINGS = {"gzip": ".gz", "zstd": ".zst", "bzip2": ".bz2", "xz": ".xz"}
"""How names of compressed files end."""
HARMLESS = 1 << 30
"""Bytes to which anything may be unpacked."""
MOST_PER_BYTE = 500
"""Beyond that: how many bytes one may become. Tables stay below 100, bombs begin at 1000."""

_MAGIC = {
    "gzip": rb"\x1f\x8b",
    "zstd": rb"\x28\xb5\x2f\xfd",
    "bzip2": rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)",
    "xz": rb"\xfd7zXZ\0",
}
_MODULES = {"gzip": "gzip", "bzip2": "bz2", "xz": "lzma"}


def compression_of(head: bytes) -> str | None:
    """Return how a file is compressed that begins so; None: it is not."""
    return next((name for name, magic in _MAGIC.items() if re.match(magic, head)), None)


def named(name: str) -> str | None:
    """Return the compression that the name of a file promises."""
    return next((kind for kind, end in ENDINGS.items() if name.casefold().endswith(end)), None)


def opened(path: Path, kind: str) -> IO[bytes]:
    """Open a compressed file; what comes are the bytes inside."""
    if kind == "zstd":
        return _zstd(path)
    # imported here, as not every Python is built with all of them
    stream: IO[bytes] = importlib.import_module(_MODULES[kind]).open(path)
    return stream


def unpacked(source: str, path: Path, kind: str) -> PrivateCopy:
    """Copy what is in a compressed file."""
    return PrivateCopy(source, chunks(source, path, kind))


def chunks(source: str, path: Path, kind: str) -> Iterator[bytes]:
    """Unpack a file piece by piece; refuse one that is cut off, damaged, or grows beyond reason."""
    packed, size = path.stat().st_size, 0
    try:
        with opened(path, kind) as stream:
            while chunk := stream.read(CHUNK):
                size += len(chunk)
                if size > HARMLESS and size > packed * MOST_PER_BYTE:
                    raise SourceError(
                        f"{source}: its {packed:,} bytes unpack to more than {HARMLESS:,}, "
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
    if expanded > HARMLESS and expanded > size * MOST_PER_BYTE:
        raise SourceError(
            f"{source}: its {size:,} bytes would take {expanded:,} bytes of memory, which those of "
            "a table do not; read it in the program that wrote it, and write it anew"
        )


def incomplete(source: str, kind: str) -> SourceError:
    """Make the error of a file that does not hold what its name or its first bytes promise."""
    return SourceError(f"{source}: is not a complete {kind} file; copy or compress it again")


def _zstd(path: Path) -> IO[bytes]:
    """Open with Arrow, as Python knows zstd from version 3.14 on only."""
    try:
        import pyarrow
    except ImportError:
        raise MissingExtraError("reading zstd files", "big") from None
    stream: IO[bytes] = pyarrow.CompressedInputStream(pyarrow.OSFile(str(path)), "zstd")
    return stream
