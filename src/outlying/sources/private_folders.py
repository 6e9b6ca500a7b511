"""Folders for temporary files that nobody else may look into, gone when their process is.

A process that was killed leaves its folder behind; the next one that makes such a folder finds that
nobody holds its lock any more, and removes it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
from pathlib import Path

try:
    import fcntl
except ImportError:  # no such locks on Windows
    fcntl = None  # type: ignore[assignment]

_PREFIX = "outlying-"
_LOCK = "lock"


class PrivateFolder:
    """A folder of this process, for its owner only."""

    def __init__(self, kind: str) -> None:
        """Make a folder whose name tells what it is for; take away what others have left."""
        remove_leftovers()
        self.path = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{kind}-"))
        self._process, new = os.getpid(), self.path / f"{_LOCK}.new"
        self._lock = new.open("wb")
        if fcntl is not None:
            with contextlib.suppress(OSError):  # a file system without locks
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                new.rename(self.path / _LOCK)  # not before it is held

    def remove(self) -> None:
        """Remove the folder and all in it, unless this is a fork of the process that made it."""
        self._lock.close()
        if os.getpid() == self._process:
            shutil.rmtree(self.path, ignore_errors=True)

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.remove()


def remove_leftovers() -> None:
    """Remove folders of processes that were killed: ours, closed to others, locked by nobody."""
    if fcntl is None:
        return
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):  # another process removes it, or it is not ours
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
