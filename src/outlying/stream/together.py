"""Several passes in one scan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from outlying.sources.passes import Batch, Pass


class Together:
    """Passes that read the same batches; the state is a list of theirs."""

    def __init__(self, passes: Sequence[Pass[Any]]) -> None:
        self.passes = tuple(passes)

    def start(self) -> list[Any]:
        """Return the states of no rows."""
        return [each.start() for each in self.passes]

    def add(self, states: list[Any], batch: Batch) -> list[Any]:
        """Take in a batch of rows."""
        return [each.add(state, batch) for each, state in zip(self.passes, states, strict=True)]

    def merge(self, states: list[Any], others: list[Any]) -> list[Any]:
        """Put the states of two parts of the table together."""
        return [
            each.merge(state, other)
            for each, state, other in zip(self.passes, states, others, strict=True)
        ]
