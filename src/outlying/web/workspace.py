"""The private folder of a server: uploads and copies of tables, gone when the server is.

Nobody else may look into it. A server that was killed leaves its folder behind; the next one finds
that nobody holds its lock any more, and removes it.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import stat
import tempfile
from pathlib import Path
from types import TracebackType
from typing import IO

try:
    import fcntl
except ImportError:  # no such locks on Windows
    fcntl = None  # type: ignore[assignment]

_PREFIX = "outlying-serve-"
_LOCK = "lock"


class Workspace:
    """A folder for one server; names of its files are our own, never those of a client."""

    def __init__(self) -> None:
        remove_leftovers()
        self.folder = Path(tempfile.mkdtemp(prefix=_PREFIX))  # for the owner only
        self._lock: IO[bytes] = (self.folder / _LOCK).open("wb")
        if fcntl is not None:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self._numbers = itertools.count(1)

    def new_path(self, suffix: str) -> Path:
        """Return a path that nothing has been written to."""
        return self.folder / f"{next(self._numbers)}{suffix}"

    def close(self) -> None:
        """Remove the folder and all that is in it."""
        self._lock.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Workspace:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()


def remove_leftovers() -> None:
    """Remove folders of servers that were killed: ours, closed to others, and locked by nobody."""
    if fcntl is None:
        return
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):  # another server removes it, or it is not ours
            if _is_ours(folder) and _is_left(folder / _LOCK):
                shutil.rmtree(folder, ignore_errors=True)


def _is_ours(folder: Path) -> bool:
    found = folder.lstat()
    is_private = stat.S_ISDIR(found.st_mode) and stat.S_IMODE(found.st_mode) == 0o700
    return is_private and found.st_uid == os.getuid()


def _is_left(lock: Path) -> bool:
    with lock.open("rb") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
