"""The web page and its API: requests -> service -> worker processes that explain -> pages, JSON.

Limits of a server, and the errors that say which was hit, are here, so that a command can name them
without a server.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from outlying.errors import OutlyingError


def _limit(default: int, words: str, unit: str = "N") -> Any:
    return dataclasses.field(default=default, metadata={"help": words, "unit": unit})


@dataclasses.dataclass(frozen=True, slots=True)
class ServerLimits:
    """How much one server takes on; each is an option of `outlying serve`, made from this."""

    upload: int = _limit(1024, "Megabytes of one upload.", "MB")
    rows: int = _limit(10_000_000, "Rows of one table.")
    columns: int = _limit(2_000, "Columns of one table.")
    tables: int = _limit(20, "Tables at once.")
    seconds: int = _limit(600, "Seconds of one job.")
    jobs: int = _limit(2, "Jobs that run at once.")
    waiting: int = _limit(100, "Jobs that wait.")
    memory: int = _limit(8192, "Megabytes of memory of one worker process.", "MB")
    connections: int = _limit(512, "Connections at once.")  # see connections.py for who gets them
    pause: int = _limit(30, "Seconds for a head, or the next 64 KB, of a request to come.")


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

    status = 404


class NotReadyError(OutlyingError):
    """What was asked for is not there yet, or no longer."""

    status = 409
