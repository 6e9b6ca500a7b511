"""Files on other machines (https, S3, Google Cloud, Azure), through fsspec.

Parquet files are read where they are, all others are copied. Addresses may hold passwords, which
libraries repeat in their errors: errors are told in words of our own.
"""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import glob
import logging
import time
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit, urlunsplit

from outlying.errors import MissingExtraError, SourceError
from outlying.sources import lazy, registry
from outlying.sources.copies import CHUNK, Keys, PrivateCopy
from outlying.sources.files import is_hidden, keys_in
from outlying.sources.recognise import first_line, name_of, scheme_of, translate_errors


@dataclasses.dataclass(frozen=True, slots=True)
class Timeouts:
    """How long to wait for other machines, in seconds."""

    to_connect: float = 15.0
    of_silence: float = 30.0
    for_a_part: float = 120.0  # a whole file has no limit of its own, but must not drip
    of_patience: float = 60.0  # after which a kibibyte must have come each second


LIMITS = Timeouts()
MOST_REDIRECTS = 5

_SLOWEST = 1024  # bytes per second
_BROKEN_OFF = {"ClientPayloadError", "IncompleteRead", "IncompleteReadError", "ContentLengthError"}
_TALKATIVE = ("fsspec", "fsspec.http", "s3fs", "aiobotocore", "botocore", "gcsfs", "adlfs", "azure")


@dataclasses.dataclass(frozen=True, slots=True)
class Place:
    """A file or folder on another machine: how messages call it, and how it is open_place."""

    source: str
    files: Any  # the file system, of fsspec
    path: str
    keys: Keys = ()

    def state(self) -> tuple[int | None, str]:
        """Return the size of the file, and what changes when it is written to."""
        with remote_errors(self.source):
            found = self.files.info(self.path)
        marks = (str(found.get(key)) for key in ("ETag", "etag", "LastModified", "mtime", "md5"))
        return found.get("size"), " ".join(marks)


def open_place(address: str, *, is_part: bool) -> Place:
    """Open the file system of an address; `is_part`: to read ranges of bytes, not a whole file."""
    source = name_of(address)
    try:
        import fsspec
    except ImportError:
        raise MissingExtraError("reading files of other machines", "remote") from None
    scheme = scheme_of(address) or ""
    given, options = address, dict[str, Any]()
    if scheme in ("http", "https"):
        given, options = _web_options(address, is_part)
    elif scheme in ("s3", "s3a"):
        limits = {
            "connect_timeout": LIMITS.to_connect,
            "read_timeout": LIMITS.of_silence,
            "retries": {"max_attempts": 2},
        }
        options = {"config_kwargs": limits}
    try:
        with remote_errors(source):
            files, path = fsspec.url_to_fs(
                given, skip_instance_cache=True, use_listings_cache=False, **options
            )
    except ImportError:
        raise MissingExtraError(f"reading {scheme}:// addresses", "remote") from None
    return Place(source, files, path)


def _web_options(address: str, is_part: bool) -> tuple[str, dict[str, Any]]:
    """Return the address without its password, and what the file system is told beside it."""
    try:
        import aiohttp
    except ImportError:
        raise MissingExtraError("reading https:// addresses", "remote") from None
    limit = aiohttp.ClientTimeout(
        total=LIMITS.for_a_part if is_part else None,
        sock_connect=LIMITS.to_connect,
        sock_read=LIMITS.of_silence,
    )
    parts = urlsplit(address)
    # what comes compressed all the same is unpacked by us, within bounds
    headers = {"Accept-Encoding": "identity"}
    if parts.username is not None:
        user = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
        headers["Authorization"] = f"Basic {base64.b64encode(user).decode()}"
    client = {"timeout": limit, "trust_env": True, "auto_decompress": False, "headers": headers}
    host = parts.netloc.rpartition("@")[2]
    bare = urlunsplit((parts.scheme, host, parts.path, parts.query, ""))
    return bare, {"client_kwargs": client, "max_redirects": MOST_REDIRECTS}


# --- errors --------------------------------------------------------------------------------------


@contextlib.contextmanager
def remote_errors(source: str, *, of_arrow: bool = False) -> Iterator[None]:
    """Turn errors of file systems into ours, without a word of theirs; Arrow's are harmless."""

    def explain(source: str, error: Exception) -> BaseException:
        if isinstance(error, ImportError):
            return error
        said = first_line(error)
        is_arrows = type(error).__module__.startswith("pyarrow") or type(error) is OSError
        if of_arrow and is_arrows and getattr(error, "errno", None) is None and "://" not in said:
            return SourceError(f"{source}: cannot be read: {said}")
        return SourceError(f"{source}: {_reason(error)}")

    with _quiet(), translate_errors(source, explain=explain):
        yield


def _reason(error: BaseException) -> str:
    chain = [error]  # and its causes: some libraries tell every fault as a file that is missing
    while (cause := chain[-1].__cause__) is not None:
        chain.append(cause)
    names = {kind.__name__ for error in chain for kind in type(error).__mro__}
    status = next((s for error in chain if isinstance(s := getattr(error, "status", None), int)), 0)
    if "TooManyRedirects" in names:
        return f"the server redirects more than {MOST_REDIRECTS} times"
    if "TimeoutError" in names or "HTTPClientError" in names:
        return "the server did not answer in time; try again, or download the file"
    if status in (401, 403) or names & {"PermissionError", "NoCredentialsError"}:
        return "no permission to read it; check the credentials"
    if names & _BROKEN_OFF:
        return (
            "the connection broke off before the whole file had come; try again, or download the "
            "file"
        )
    if names & {"ClientConnectionError", "EndpointConnectionError", "ConnectionError"}:
        return "there is no connection to the server; check the address"
    if status not in (0, 404):
        return f"the server answers with status {status}"
    if "FileNotFoundError" in names or status:
        return "no such file there; check the address"
    return f"cannot be read ({type(chain[0]).__name__})"


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep libraries from writing addresses, and what they sign them with, into a log."""
    loggers = [logging.getLogger(name) for name in _TALKATIVE]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(max(logger.getEffectiveLevel(), logging.WARNING))
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


# --- copies --------------------------------------------------------------------------------------


def fetch(address: str) -> Any:
    """Copy a file, or the files of a pattern or folder; those of Parquet stay where they are."""
    suffix = registry.suffix_of(_path_in(address), registry.SUFFIXES)
    if suffix == ".parquet" and _gives_parts(address):
        return address
    if not is_several(address):
        place = open_place(address, is_part=False)
        return PrivateCopy(place.source, _chunks(place), suffix or "")
    folder = open_place(address, is_part=True)
    with remote_errors(folder.source):
        is_delta = folder.files.exists(f"{folder.path.rstrip('/')}/_delta_log")
    if is_delta:
        return lazy.open_delta(address)
    places = find_places(address)
    suffixes = [registry.suffix_of(place.path, registry.SUFFIXES) or "" for place in places]
    if set(suffixes) == {".parquet"}:
        return address
    return [
        PrivateCopy(place.source, _chunks(place), end)
        for place, end in zip(places, suffixes, strict=True)
    ]


def _gives_parts(address: str) -> bool:
    """Return whether a server gives parts of a file; some web servers do not."""
    place = open_place(address, is_part=True)
    if is_several(address) or not _is_web(place.path):
        return True
    with remote_errors(place.source):
        try:
            with place.files.open(place.path, "rb", cache_type="none") as file:
                return file.seek(1) == 1 and len(file.read(1)) == 1
        except ValueError:  # it gives the whole, or does not tell how much that is
            return False


def _is_web(path: str) -> bool:
    return path.startswith(("http://", "https://"))


def _path_in(address: str) -> str:
    """Return the path of an address, without what is asked for or signed behind it."""
    parts = urlsplit(address)
    return unquote(parts.path) if parts.scheme in ("http", "https") else address.split("://")[1]


def is_several(address: str) -> bool:
    """Return whether an address is a pattern or a folder; the web knows neither."""
    if _is_web(address):
        return False
    is_folder = registry.suffix_of(_path_in(address), registry.SUFFIXES) is None
    return glob.has_magic(address) or address.endswith("/") or is_folder


def find_places(address: str) -> list[Place]:
    """Find the files that a pattern or a folder stands for, in the order of their names."""
    place = open_place(address, is_part=True)
    with remote_errors(place.source):
        if glob.has_magic(place.path):
            found = place.files.glob(place.path)
        elif place.files.isdir(place.path):
            found = place.files.find(place.path)
        else:
            found = [place.path]

    def is_part_of_table(path: str) -> bool:
        below = PurePosixPath(path.removeprefix(place.path))
        is_known = registry.suffix_of(path, registry.STREAMED_SUFFIXES) is not None
        return path == place.path or (is_known and not any(map(is_hidden, below.parts)))

    paths = list(filter(is_part_of_table, sorted(found)))
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


def _chunks(place: Place) -> Iterator[bytes]:
    start, size = time.monotonic(), 0
    with contextlib.ExitStack() as stack:
        stack.enter_context(remote_errors(place.source))
        # 0: as a stream, for servers that know no ranges
        block = 0 if _is_web(place.path) else 8 * CHUNK
        file = stack.enter_context(place.files.open(place.path, "rb", block_size=block))
        while chunk := file.read(CHUNK):
            size += len(chunk)
            elapsed = time.monotonic() - start
            if elapsed > LIMITS.of_patience and size < elapsed * _SLOWEST:
                raise SourceError(
                    f"{place.source}: only {size:,} bytes came in {elapsed:.0f} seconds; try "
                    "again, or download the file"
                )
            yield chunk
