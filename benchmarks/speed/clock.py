"""A clock for the stages of a job."""

from __future__ import annotations

import time


class Clock:
    """Seconds by stage; each stage ends when it is named."""

    def __init__(self) -> None:
        self.stages: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, stage: str) -> None:
        """End a stage."""
        now = time.perf_counter()
        self.stages[stage] = now - self._last
        self._last = now
