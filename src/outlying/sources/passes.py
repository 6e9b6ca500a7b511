"""What a pass over a table is, and who feeds it: neither knows more of the other than this.

A pass is a plan that turns batches of rows into a state. States of parts of a table are merged in
any order and give the same result, so that a pass runs as well on one batch as on a cluster. Plans
and states can be pickled.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar

if TYPE_CHECKING:
    import pyarrow

    from outlying.table.table import FrameLibrary, SkippedColumn

Batch: TypeAlias = "pyarrow.RecordBatch"
Progress: TypeAlias = Callable[[int, int], None]  # rows done, of how many; 0: nobody knows

State = TypeVar("State")


class Pass(Protocol[State]):
    """One pass over all rows."""

    def start(self) -> State:
        """Return the state of no rows."""

    def add(self, state: State, batch: Batch) -> State:
        """Take in a batch of rows; the given state may be changed and must not be used again."""

    def merge(self, state: State, other: State) -> State:
        """Put the states of two parts of the table together; neither must be used again."""


@dataclasses.dataclass(slots=True)
class Traffic:
    """What the passes have moved so far, as far as the engine tells; None: it does not."""

    scans: int = 0
    bytes_read: int | None = None
    bytes_shuffled: int | None = None


class Feeder(Protocol):
    """A table that is read as a stream of batches, in no particular order."""

    @property
    def source(self) -> str:
        """How results name the table."""

    @property
    def frame_library(self) -> FrameLibrary:
        """Whose dataframes the user works with."""

    @property
    def skipped(self) -> tuple[SkippedColumn, ...]:
        """Columns that batches cannot hold, and why."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of results should know about how the table was read."""

    @property
    def traffic(self) -> Traffic:
        """What was moved so far."""

    def schema(self) -> pyarrow.Schema:
        """Return the names of all columns and the Arrow types that batches will have.

        Texts may come as dictionaries of them, from one batch to the next.
        """

    def fold(
        self,
        work: Pass[State],
        columns: Sequence[str],
        progress: Progress | None = None,
        workers: int | None = None,
    ) -> State:
        """Run a pass over all rows, of which only these columns are read; one scan.

        `workers` threads take in what is read, by default one for each core; a cluster has its own
        number of them.
        """
