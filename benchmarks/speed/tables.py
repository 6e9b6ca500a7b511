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

SUBSPACES, RELATED = "subspaces", "related"


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
    if spec.kind == RELATED:
        return Table(_related(spec), {0: frozenset()})
    noise = spec.columns - stories._STORY_COLUMNS[spec.kind]
    made = planted.plant(spec.kind, spec.seed, spec.rows, noise)
    return Table(made.data, {made.row: made.columns})


def _related(spec: Spec) -> dict[str, Array]:
    """Make columns that depend on four factors, more or less, among counts and labels of chance."""
    rng = np.random.default_rng(spec.seed)
    factors = rng.normal(size=(spec.rows, 4))
    found: dict[str, Array] = {}
    for number in range(spec.columns):
        name, noise = f"x{number:03d}", rng.normal(size=spec.rows)
        if number % 5 == 4:
            labels = rng.integers(0, 8 + number, spec.rows)
            found[name] = np.array([f"c{code}" for code in labels], dtype=object)
        elif number % 5 == 3:
            found[name] = np.round(np.exp(factors[:, number % 4] + 0.3 * noise), 2)
        elif number % 5 == 2:
            found[name] = rng.integers(0, 1000, spec.rows)
        else:
            found[name] = factors @ rng.normal(size=4) + (0.5 + rng.random()) * noise
    return found
