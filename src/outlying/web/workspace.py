"""The private folder of a server: uploads and copies of tables, gone when the server is."""

from __future__ import annotations

import itertools
from pathlib import Path
from types import TracebackType

from outlying.sources.private_folders import PrivateFolder


class Workspace:
    """A folder for one server; names of its files are our own, never those of a client."""

    def __init__(self) -> None:
        self._private = PrivateFolder("serve")
        self.folder = self._private.path
        self._numbers = itertools.count(1)

    def new_path(self, suffix: str) -> Path:
        """Return a path that nothing has been written to."""
        return self.folder / f"{next(self._numbers)}{suffix}"

    def close(self) -> None:
        """Remove the folder and all that is in it."""
        self._private.remove()

    def __enter__(self) -> Workspace:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()
