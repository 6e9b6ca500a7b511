"""The tables that jobs work on, made from a spec."""

from __future__ import annotations

import dataclasses
import importlib
from typing import Any

import numpy as np

from benchmarks import planted
from benchmarks.quality import stories
from benchmarks.quality.cases import Array
from benchmarks.speed import subspaces
from benchmarks.speed.spec import Spec

SUBSPACES = "subspaces"


@dataclasses.dataclass(frozen=True, eq=False)
class Table:
    """Columns, and the outlying rows with the columns in which each of them is odd."""

    data: dict[str, Array]
    truths: dict[int, frozenset[str]]

    @property
    def row(self) -> int:
        """The first outlying row."""
        return next(iter(self.truths))

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(next(iter(self.data.values())))

    def frame(self) -> Any:
        """Return the table as a pandas frame."""
        return importlib.import_module("pandas").DataFrame(self.data)

    def drawn(self, count: int | None) -> list[int]:
        """Return the outlying rows alone, or one of them and others drawn blindly, always the same.

        The order is that of the drawing: no method may profit from neighbours.
        """
        if count is None:
            return list(self.truths)
        others = np.random.default_rng(count).permutation(self.rows)
        return [self.row, *(int(row) for row in others if row != self.row)][:count]


def make(spec: Spec) -> Table:
    """Make the table of a spec; the same spec always gives the same table."""
    if spec.kind == SUBSPACES:
        data, truths = subspaces.make(spec.seed, spec.rows, spec.columns)
        return Table(dict(data), truths)
    noise = spec.columns - stories._STORY_COLUMNS[spec.kind]
    made = planted.plant(spec.kind, spec.seed, spec.rows, noise)
    return Table(made.data, {made.row: made.columns})
