"""A population: what rows are compared with, be it in memory or read as a stream.

Both kinds answer the same questions, so that there is one way from a table to findings: find the
objects that are asked for, judge the rows of the table, and tell what counts against each.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Protocol, TypeVar

from outlying.options import Options
from outlying.search.attributes import Attribute
from outlying.search.scoring import Evaluation, Outcome, Progress
from outlying.search.standing import Standing
from outlying.table.selection import Selection
from outlying.table.table import Table
from outlying.table.targets import Key, RowRequest, Target, Targets
from outlying.table.values import Value

Result = TypeVar("Result")


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Searched:
    """An object that has been searched: what was found, and who measures it for a description."""

    row: int | None  # its position; None for a new object, and where rows have none
    key: Key
    values: Mapping[str, Value]
    table: Table  # the rows that are held in memory
    rows: int  # of the population, without a new object
    selection: Selection
    attributes: Sequence[Attribute]
    is_streamed: bool
    is_new: bool
    notes: tuple[str, ...]  # on the table and the object
    outcome: Outcome
    exact: Evaluation
    standing: Standing | None = None  # None where rows are not judged, as by the paper


class Searching(Protocol):
    """Searches objects, in order; what is done with each is told, and may be done by threads."""

    def __call__(self, finish: Callable[[Searched], Result]) -> Generator[Result, None, None]:
        """Return what `finish` makes of each object."""
        raise NotImplementedError


def row_of(target: Target) -> int | None:
    """Return the position of what was asked for, where it has one."""
    return target.row


class Population(Protocol):
    """What rows are compared with."""

    @property
    def options(self) -> Options:
        """How rows are explained."""

    @property
    def table(self) -> Table:
        """Its columns; with all rows where it is in memory, without any where it is a stream."""

    @property
    def is_streamed(self) -> bool:
        """Whether every question is a pass over all rows."""

    def count(self) -> int:
        """Return the number of rows, which may take a pass."""

    def selection(self) -> Selection:
        """Return which columns take part, which may take a pass."""

    def targets(
        self, asked: RowRequest, progress: Progress | None = None, workers: int | None = None
    ) -> Targets:
        """Find what is asked for, and check all of it."""

    def searching(
        self, targets: Targets, workers: int | None, progress: Progress | None
    ) -> Searching:
        """Do what these objects have in common, and return who searches and finishes each."""

    def standing(self, workers: int | None, progress: Progress | None) -> Standing:
        """Return how strong findings are on the rows of the population, judged once."""
