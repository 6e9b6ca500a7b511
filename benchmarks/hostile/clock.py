"""A limit of time that counts only while the machine runs: one that is paused is not a fault."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator

LONGEST = 30  # seconds


class TooLongError(BaseException):
    """Something did not end in time."""


@contextlib.contextmanager
def limited(seconds: int = LONGEST) -> Iterator[None]:
    """Stop what takes longer; seconds are ticks, of which a pause of the machine swallows all."""
    ticks = 0

    def tick(*_: object) -> None:
        nonlocal ticks
        ticks += 1
        if ticks > seconds:
            raise TooLongError

    signal.signal(signal.SIGALRM, tick)
    signal.setitimer(signal.ITIMER_REAL, 1, 1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
