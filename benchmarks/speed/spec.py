"""What one measurement is: plain values that travel to the worker as JSON."""

from __future__ import annotations

import dataclasses
import json
from typing import Any


@dataclasses.dataclass(frozen=True)
class Spec:
    """A job, and the table that it works on."""

    job: str
    kind: str = ""  # of table: a planted story, "subspaces", or "" where the job reads `path`
    rows: int = 0
    columns: int = 0
    seed: int = 0
    path: str | None = None
    row: int | None = None  # to explain; the first outlying row of a made table by default
    options: dict[str, Any] = dataclasses.field(default_factory=dict)
    says: bool = False  # whether the answer is also written as text
    objects: int | None = None  # how many rows to explain; the outlying rows by default
    workers: int | None = None

    @classmethod
    def read(cls, text: str) -> Spec:
        """Read the JSON of a spec."""
        return cls(**json.loads(text))

    def written(self) -> str:
        """Write it as JSON."""
        return json.dumps(dataclasses.asdict(self))
