"""What other libraries' objects are, and what their errors say, told without importing them."""

from __future__ import annotations

import contextlib
import glob
import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias, TypeGuard

from outlying.errors import OutlyingError, SourceError

Test: TypeAlias = Callable[[Any], bool]

#: Schemes of addresses whose files fsspec reads.
REMOTE = ("http", "https", "s3", "s3a", "gs", "gcs", "az", "abfs", "abfss")

_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")


def name_of(data: object) -> str:
    """Name something as its users do: "pandas DataFrame", "pyarrow Table"; a path by itself."""
    if is_path(data):
        return without_secrets(str(getattr(data, "source", os.fsdecode(data))))
    kind, package = type(data), package_of(data)
    return kind.__name__ if package == "builtins" else f"{package} {kind.__name__}"


def without_secrets(address: str) -> str:
    """Write an address as results may show it: without user, password, signature and settings."""
    found = _ADDRESS.match(address)
    if found is None:
        return address
    place, slash, path = address[found.end() :].partition("/")
    return f"{found[0]}{place.rpartition('@')[2]}{slash}{re.split('[?#]', path)[0]}"


def path_of(given: str | os.PathLike[str]) -> Path:
    """Return the path that a user names; a file may be called ~."""
    name = os.fsdecode(given)
    return Path(name).expanduser() if name.startswith("~/") else Path(name)


def is_path(data: object) -> TypeGuard[str | os.PathLike[str]]:
    """Return whether something may be the name of a file: addresses are taken for names too."""
    return isinstance(data, (str, os.PathLike))


def is_address(data: object) -> bool:
    """Return whether something is the address of a table: scheme://..."""
    return scheme_of(data) is not None


def scheme_of(data: object) -> str | None:
    """Return the scheme of an address; None: it is no address."""
    found = _ADDRESS.match(os.fsdecode(data)) if is_path(data) else None
    return None if found is None else found[1]


def has_scheme(*schemes: str) -> Test:
    """Make a test for addresses of these schemes."""
    return lambda data: scheme_of(data) in schemes


def is_a(package: str, name: str) -> Test:
    """Make a test for objects of a class of some package."""
    return lambda data: type(data).__name__ == name and package_of(data) == package


def is_feeder(data: object) -> bool:
    """Return whether something feeds batches to passes already."""
    return all(hasattr(data, name) for name in ("fold", "schema", "scans"))


def begins_with(magic: bytes, offset: int = 0) -> Test:
    """Make a test for files by their first bytes."""

    def test(data: Any) -> bool:
        with contextlib.suppress(OSError, ValueError):
            if is_path(data):
                with path_of(data).open("rb") as stream:
                    return stream.read(offset + len(magic))[offset:] == magic
        return False

    return test


def is_delta(data: object) -> bool:
    """Return whether something is a Delta Lake table: an open one, or a folder with its log."""
    with contextlib.suppress(OSError, ValueError):
        if is_path(data):
            return (path_of(data) / "_delta_log").is_dir()
    return is_a("deltalake", "DeltaTable")(data)


def is_iceberg(data: object) -> bool:
    """Return whether something is an Iceberg table: an open one, or a folder with its metadata."""
    with contextlib.suppress(OSError, ValueError):
        if is_path(data):
            return any((path_of(data) / "metadata").glob("*.metadata.json"))
    return package_of(data) == "pyiceberg"


def are_files(data: object) -> bool:
    """Return whether something names several files: a folder, a pattern or a list of paths."""
    if is_path(data):
        name = os.fsdecode(data)
        with contextlib.suppress(OSError, ValueError):  # for whoever opens it, to say what is wrong
            return path_of(name).is_dir() or is_pattern(name)
        return False
    if not isinstance(data, Sequence) or isinstance(data, bytes):
        return False
    return bool(data) and all(map(is_path, data))


def is_pattern(name: str) -> bool:
    """Return whether a text is a pattern of file names, and not a file that is called like one."""
    return glob.has_magic(name) and not Path(name).exists()


def package_of(data: object) -> str:
    """Return the package that the class of something is from."""
    return type(data).__module__.split(".")[0].lstrip("_")


#: Makes our error of the source's name and the library's error; or gives the latter back.
Explain: TypeAlias = Callable[[str, Exception], BaseException]


def first_line(error: Exception) -> str:
    """Return the first line of an error's text, or its class where there is none."""
    return str(error).strip().split("\n")[0] or type(error).__name__


def unreadable(source: str, error: Exception) -> BaseException:
    """Say that a source cannot be read, with the first line of the library's reason."""
    if isinstance(error, UnicodeEncodeError):
        return SourceError(f"{source!a}: the name is not valid text; rename it")
    return SourceError(f"{source}: cannot be read: {first_line(error)}")


@contextlib.contextmanager
def translate_errors(source: str, *packages: str, explain: Explain = unreadable) -> Iterator[None]:
    """Raise errors of these packages (or of any), of the system, and of texts as ours."""
    try:
        with interrupts():
            yield
    except OutlyingError:
        raise
    except Exception as error:
        homes = {kind.__module__.partition(".")[0].lstrip("_") for kind in type(error).__mro__}
        is_theirs = isinstance(error, (OSError, UnicodeError)) or not homes.isdisjoint(packages)
        if isinstance(error, MemoryError) if not packages else not is_theirs:
            raise
        ours = explain(source, error)
        if ours is error:
            raise
        raise ours from None


@contextlib.contextmanager
def interrupts() -> Iterator[None]:
    """Raise an interrupt as such where DuckDB has noticed it, and tells it as an error."""
    try:
        yield
    except Exception as error:
        if str(error).startswith(("Query interrupted", "INTERRUPT Error")):
            raise KeyboardInterrupt from None
        raise
