"""Where results go: standard output, or a file that appears whole or not at all."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from outlying.errors import OutputError

_NAMED = 40  # characters of a name in that of its temporary file, which must not be too long


class Output:
    """A place for one result. A file is tried before the work begins, so that none is lost."""

    def __init__(self, path: Path | None, temporary: str | None) -> None:
        self._path, self._temporary = path, temporary

    @classmethod
    @contextlib.contextmanager
    def to(cls, target: str | None) -> Iterator[Output]:
        """Open standard output (None or -) or a file; leaves nothing behind on failure."""
        if target is None or target == "-":
            yield cls(None, None)
            return
        path = final_path(target)
        if is_special(path):
            yield cls(path, None)
            return
        temporary = _temporary_beside(path)
        try:
            yield cls(path, temporary)
        finally:
            Path(temporary).unlink(missing_ok=True)

    @property
    def is_terminal(self) -> bool:
        """Whether a person is looking."""
        return self._path is None and sys.stdout.isatty()

    def write(self, content: str) -> None:
        """Write the result with a final newline; a file is renamed into place when complete."""
        self.write_all([content])

    def write_all(self, parts: Iterable[str]) -> None:
        """Write each part with a final newline; standard output gets it as soon as it is there.

        A device or a pipe is written to; a file put in its place would destroy it.
        """
        if self._path is None:
            for part in parts:
                _print(part)
            return
        try:
            with Path(self._temporary or self._path).open("w", encoding="utf-8") as stream:
                stream.writelines(_line(part) for part in parts)
            if self._temporary is not None:
                Path(self._temporary).replace(self._path)
        except OSError as error:
            raise OutputError(f"cannot write {self._path}: {error.strerror}") from None


def final_path(target: str) -> Path:
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
    return path


def is_special(path: Path) -> bool:
    """Return whether a path is a device or a pipe, such as /dev/null: no file may replace it."""
    return path.exists() and not path.is_file() and not path.is_dir()


def _print(part: str) -> None:
    try:
        sys.stdout.write(_shown(_line(part)))
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"cannot write to standard output: {error.strerror}") from None


def _shown(content: str) -> str:
    """Write characters that standard output does not have: in a page as HTML does."""
    if content.lstrip()[:9].lower() != "<!doctype":
        return content
    encoding = sys.stdout.encoding or "utf-8"
    return content.encode(encoding, "xmlcharrefreplace").decode(encoding)


def _line(content: str) -> str:
    """End a line; halves of characters, which no encoding takes, become escapes, as in JSON."""
    return content.encode("utf-8", "backslashreplace").decode("utf-8") + "\n"


def _temporary_beside(path: Path) -> str:
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name[:_NAMED]}.", dir=path.parent)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror}") from None
    os.close(handle)
    mask = os.umask(0)  # a temporary file is private; the result is an ordinary file
    os.umask(mask)
    Path(name).chmod(0o666 & ~mask)
    return name
