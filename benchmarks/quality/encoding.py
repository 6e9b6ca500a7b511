"""Tables as plain numbers, for methods that know nothing else."""

from __future__ import annotations

import dataclasses
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from benchmarks.quality.cases import Array

Floats: TypeAlias = npt.NDArray[np.float64]

MOST_LABELS = 100  # rarer labels of a column share one dimension


@dataclasses.dataclass(frozen=True, eq=False)
class Encoded:
    """A matrix, and to which column of the table each of its dimensions belongs."""

    matrix: Floats
    owners: tuple[str, ...]

    def by_column(self, values: Floats, join: np.ufunc) -> dict[str, float]:
        """Join the values of a row's dimensions to one value for each column."""
        owners = np.array(self.owners)
        names = dict.fromkeys(self.owners)
        return {name: float(join.reduce(values[owners == name])) for name in names}


def encode(data: dict[str, Array]) -> Encoded:
    """Make dates numbers, labels one dimension each, and missing numbers the median.

    Columns that hold a single value are left out.
    """
    dimensions = [(name, column) for name in data for column in _dimensions(data[name])]
    dimensions = [(name, column) for name, column in dimensions if np.ptp(column) > 0]
    return Encoded(
        matrix=np.column_stack([column for _, column in dimensions]),
        owners=tuple(name for name, _ in dimensions),
    )


def numbers(column: Array) -> Floats:
    """Return numbers as they are and dates as seconds from the first one; NaN where missing."""
    if column.dtype.kind != "M":
        return column.astype(np.float64)
    known = ~np.isnat(column)
    if not known.any():
        return np.full(len(column), np.nan)
    seconds = (column - column[known].min()) / np.timedelta64(1, "s")
    return np.asarray(seconds, dtype=np.float64)


def is_text(column: Array) -> bool:
    """Return whether a column holds labels."""
    return column.dtype.kind in "OUSb"


def _dimensions(column: Array) -> list[Floats]:
    return _one_hot(column) if is_text(column) else [_filled(numbers(column))]


def _filled(column: Floats) -> Floats:
    known = np.isfinite(column)
    return np.where(known, column, np.median(column[known]) if known.any() else 0.0)


def _one_hot(column: Array) -> list[Floats]:
    """Count missing as a label of its own."""
    labels = np.array(["missing" if value is None else f"={value}" for value in column])
    found, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    places = np.empty(len(found), dtype=np.int64)
    places[order] = np.minimum(np.arange(len(found)), MOST_LABELS)
    groups = places[codes]
    return [(groups == group).astype(np.float64) for group in range(int(groups.max()) + 1)]
