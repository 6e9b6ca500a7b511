"""File systems of other machines: opened with limits, their errors told in words of our own."""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import logging
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urlsplit, urlunsplit

from outlying.errors import MissingExtraError, OutlyingError, SourceError
from outlying.sources.batches import arrow_errors
from outlying.sources.recognise import name_of, scheme_of
from outlying.sources.sql import first_line

SECONDS_TO_CONNECT = 15.0
SECONDS_OF_SILENCE = 30.0
SECONDS_FOR_A_PART = 120.0
"""How long a range of bytes may take; a whole file has no limit of its own, but must not drip."""
MOST_REDIRECTS = 5

_BROKEN_OFF = {"ClientPayloadError", "IncompleteRead", "IncompleteReadError", "ContentLengthError"}
_TALKATIVE = ("fsspec", "fsspec.http", "s3fs", "aiobotocore", "botocore", "gcsfs", "adlfs", "azure")


@dataclasses.dataclass(frozen=True, slots=True)
class Place:
    """A file or folder on another machine: how messages call it, and how it is opened."""

    source: str
    files: Any
    """The file system, of fsspec."""
    path: str

    def state(self) -> tuple[int | None, str]:
        """Return the size of the file, and what changes when it is written to."""
        with told(self.source), quiet():
            found = self.files.info(self.path)
        marks = (str(found.get(key)) for key in ("ETag", "etag", "LastModified", "mtime", "md5"))
        return found.get("size"), " ".join(marks)


def opened(address: str, *, is_part: bool) -> Place:
    """Open the file system of an address; `is_part`: to read ranges of bytes, not a whole file."""
    source = name_of(address)
    try:
        import fsspec
    except ImportError:
        raise MissingExtraError("reading files of other machines", "remote") from None
    scheme = scheme_of(address) or ""
    given, options = _options(address, scheme, is_part)
    try:
        with told(source), quiet():
            files, path = fsspec.url_to_fs(
                given, skip_instance_cache=True, use_listings_cache=False, **options
            )
    except ImportError:
        raise MissingExtraError(f"reading {scheme}:// addresses", "remote") from None
    return Place(source, files, path)


def _options(address: str, scheme: str, is_part: bool) -> tuple[str, dict[str, Any]]:
    """Return the address without its password, and what the file system is told beside it."""
    if scheme in ("http", "https"):
        return _web_options(address, is_part)
    if scheme in ("s3", "s3a"):
        limits = {
            "connect_timeout": SECONDS_TO_CONNECT,
            "read_timeout": SECONDS_OF_SILENCE,
            "retries": {"max_attempts": 2},
        }
        return address, {"config_kwargs": limits}
    return address, {}


def _web_options(address: str, is_part: bool) -> tuple[str, dict[str, Any]]:
    try:
        import aiohttp
    except ImportError:
        raise MissingExtraError("reading https:// addresses", "remote") from None
    limit = aiohttp.ClientTimeout(
        total=SECONDS_FOR_A_PART if is_part else None,
        sock_connect=SECONDS_TO_CONNECT,
        sock_read=SECONDS_OF_SILENCE,
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


@contextlib.contextmanager
def told(source: str) -> Iterator[None]:
    """Turn errors of file systems into ours, without a word of theirs."""
    try:
        yield
    except (OutlyingError, ImportError, MemoryError):
        raise
    except Exception as error:
        raise SourceError(f"{source}: {_reason(list(_chain_of(error)))}") from None


@contextlib.contextmanager
def remote_errors(source: str) -> Iterator[None]:
    """Tell errors of Arrow in its words, which know no address, and others in ours."""
    with told(source), quiet(), arrow_errors(source, reason=_arrows_reason):
        yield


def _arrows_reason(error: Exception) -> str:
    import pyarrow

    said = first_line(error)
    is_arrows = isinstance(error, pyarrow.ArrowException) or type(error) is OSError
    if not is_arrows or getattr(error, "errno", None) is not None or "://" in said:
        raise error  # of the file system: for `told`
    return said


def _chain_of(error: BaseException | None) -> Iterator[BaseException]:
    """Return an error and its causes: some libraries tell every fault as a file that is missing."""
    while error is not None:
        yield error
        error = error.__cause__


def _reason(chain: list[BaseException]) -> str:
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
def quiet() -> Iterator[None]:
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
