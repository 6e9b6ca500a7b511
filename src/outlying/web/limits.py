"""What a server gives at most, and the errors that say which limit was hit."""

from __future__ import annotations

import dataclasses

from outlying.errors import OutlyingError


@dataclasses.dataclass(frozen=True, slots=True)
class Limits:
    """How much one server takes on; each has an option of `outlying serve`."""

    upload: int = 1024  # megabytes of one file
    rows: int = 10_000_000
    columns: int = 2_000
    tables: int = 20  # at once, given and uploaded
    seconds: int = 600  # of one job
    jobs: int = 2  # that run at the same time
    waiting: int = 100  # jobs that have not begun
    memory: int = 8192  # megabytes of one worker process
    connections: int = 512  # at once; see connections.py for who gets them
    pause: int = 30  # seconds in which a head, or the next part of a body, has to come

    @property
    def upload_bytes(self) -> int:
        """The most bytes of an upload."""
        return self.upload << 20

    @property
    def memory_bytes(self) -> int:
        """The most bytes that a worker process holds."""
        return self.memory << 20


class LimitError(OutlyingError):
    """Something is larger, longer or more than this server allows."""

    status = 413

    def __init__(self, said: str, name: str) -> None:
        self.limit = name
        super().__init__(f"{said}; start the server with a higher --max-{name} to allow it")


class BusyError(LimitError):
    """There is too much to do already."""

    status = 429


class SlowError(LimitError):
    """The rest of a request does not come."""

    status = 408


class NotFoundError(OutlyingError):
    """There is no such table, row, job or file."""


class NotReadyError(OutlyingError):
    """What was asked for is not there yet, or no longer."""
