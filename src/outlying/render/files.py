"""Where results go: standard output, or a file that appears whole or not at all."""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from outlying.errors import OutputError
from outlying.sources.files import files_read

_STANDARD_OUTPUT = "to standard output"
_NAMED = 40  # characters of a name in that of its temporary file, which must not be too long


class Output:
    """A place for one result. A file is tried before the work begins, so that none is lost."""

    def __init__(self, path: Path | None, temporary: IO[bytes] | None) -> None:
        self._path, self._temporary = path, temporary
        self._before: list[str] = []

    @classmethod
    @contextlib.contextmanager
    def to(cls, target: str | None, inputs: Iterable[str] = ()) -> Iterator[Output]:
        """Open standard output (None or -) or a file that is none of the `inputs`, nor in them."""
        if target is None or target == "-":
            yield cls(None, None)
            return
        path = final_path(target, inputs)
        if is_special(path):
            yield cls(path, None)
            return
        temporary = _temporary_beside(path)
        try:
            yield cls(path, temporary)
        finally:
            temporary.close()
            Path(temporary.name).unlink(missing_ok=True)

    def write(self, content: str, end: str = "\n") -> None:
        """Write the result with a final newline; a file is renamed into place when complete."""
        self.write_all([content], end)

    def add(self, part: str) -> None:
        """Write a part of the result now, to a file when `write_all` writes the rest."""
        if self._path is None:
            _print(part)
        else:
            self._before.append(part)

    def write_all(self, parts: Iterable[str], end: str = "\n") -> None:
        """Write each part with a final newline; standard output gets it as soon as it is there."""
        if self._path is None:
            for part in parts:
                _print(part, end)
            return
        whole = (_encoded(part, end).encode() for part in itertools.chain(self._before, parts))
        self._write(self._path, whole)

    def write_bytes(self, content: bytes) -> None:
        """Write a result that is no text."""
        if self._path is not None:
            self._write(self._path, [content])
            return
        with _plain_errors(_STANDARD_OUTPUT):
            sys.stdout.buffer.write(content)
            sys.stdout.buffer.flush()

    def _write(self, path: Path, parts: Iterable[bytes]) -> None:
        """Write a file; a temporary one is open already, so that no link can take its name."""
        with _plain_errors(path):
            with path.open("wb") if self._temporary is None else self._temporary as stream:
                stream.writelines(parts)
            if self._temporary is not None:
                Path(self._temporary.name).replace(path)


@contextlib.contextmanager
def _plain_errors(what: object) -> Iterator[None]:
    """Say what cannot be written; a pipe that nobody reads is left to the command."""
    try:
        yield
    except OSError as error:
        if isinstance(error, BrokenPipeError) and what == _STANDARD_OUTPUT:
            raise
        raise OutputError(f"cannot write {what}: {error.strerror}") from None


def final_path(target: str, inputs: Iterable[str] = ()) -> Path:
    """Return where a file is to be written: what a link points to is, and it stays a link."""
    if not target:
        raise OutputError("cannot write a file without a name; give one, or - for standard output")
    path = Path(target)
    try:
        if path.is_symlink():
            path = path.resolve()
        if path.is_symlink():  # newer versions of Python leave such a link as it is
            raise RuntimeError
        is_folder = path.is_dir()
    except RuntimeError:
        raise OutputError(f"cannot write {target}: its links go in a circle") from None
    except OSError as error:
        raise OutputError(f"cannot write {target}: {error.strerror}") from None
    if is_folder:
        raise OutputError(f"cannot write {target}: it is a directory; give a file name")
    refuse_inputs(target, path, inputs)
    return path


def refuse_inputs(target: str, path: Path, inputs: Iterable[str]) -> None:
    """Refuse to write to a file that is read, by whatever name: that would destroy the data."""
    if not path.is_file():
        return
    for name, place in ((given, file) for given in inputs for file in files_read(given)):
        with contextlib.suppress(OSError, ValueError):  # for the reader, which says what is wrong
            if os.path.samestat(path.stat(), os.stat(place)):  # noqa: PTH116 (it may be a number)
                shown = "standard input" if name == "-" else str(place)
                raise OutputError(
                    f"cannot write {target}: it is the same file as {shown}, which is read; give "
                    "another name"
                )


def is_special(path: Path) -> bool:
    """Return whether a path is a device or a pipe, such as /dev/null: no file may replace it."""
    return path.exists() and not path.is_file() and not path.is_dir()


def _print(part: str, end: str = "\n") -> None:
    with _plain_errors(_STANDARD_OUTPUT):
        sys.stdout.write(_shown(_encoded(part, end)))
        sys.stdout.flush()


def _shown(content: str) -> str:
    """Write characters that standard output does not have: in a page as HTML does."""
    if content.lstrip()[:9].lower() != "<!doctype":
        return content
    encoding = sys.stdout.encoding or "utf-8"
    return content.encode(encoding, "xmlcharrefreplace").decode(encoding)


def _encoded(content: str, end: str) -> str:
    """End a line; halves of characters, which no encoding takes, become escapes, as in JSON."""
    return content.encode("utf-8", "backslashreplace").decode("utf-8") + end


def _temporary_beside(path: Path) -> IO[bytes]:
    """Open a file of our own beside the final one."""
    with _plain_errors(path):
        found = tempfile.NamedTemporaryFile(  # noqa: SIM115 - it is renamed when it is complete
            prefix=f".{path.name[:_NAMED]}.", dir=path.parent, delete=False
        )
    mask = os.umask(0)  # a temporary file is private; the result is an ordinary file
    os.umask(mask)
    Path(found.name).chmod(0o666 & ~mask)
    return found
