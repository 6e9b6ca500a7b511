"""Rows as points: coordinates whose Euclidean distance compares mixed rows, free of units.

Squared distances of single attributes are summed (docs/detect.md). A number is measured in standard
deviations of its column. Two categories are one apart: each has a coordinate of its own, so that an
k-d tree of plain points serves mixed tables, too. A missing value stands in the middle of its
column, half a squared step away from every value; two missing values are alike.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence

import numpy as np

from outlying.errors import OptionError, Setting
from outlying.options import Scale
from outlying.table.columns import CategoricalColumn, Column, Floats, Mask, NumericColumn, Rows

#: The rare labels of a column with more labels count as one, as each costs a coordinate.
MOST_LABELS = 32
#: Sums of squares of larger numbers would overflow.
LARGEST = 1e100

_HALF = math.sqrt(0.5)  # two categories differ in two coordinates: half a squared step in each


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Coordinates:
    """One block of coordinates per attribute, in the order of the names."""

    names: tuple[str, ...]
    blocks: tuple[Floats, ...]
    lumped: tuple[str, ...]  # columns with more labels than coordinates

    @classmethod
    def of(cls, columns: Iterable[Column], scale: Scale = "deviation") -> Coordinates:
        """Return the coordinates of every row."""
        ordered = sorted(columns, key=lambda column: column.name)
        return cls(
            tuple(column.name for column in ordered),
            tuple(_block(column, scale) for column in ordered),
            tuple(column.name for column in ordered if _is_lumped(column)),
        )

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.blocks[0])

    @property
    def width(self) -> int:
        """The number of coordinates."""
        return sum(block.shape[1] for block in self.blocks)

    def points(self, attributes: Sequence[int] | None = None, rows: Rows | None = None) -> Floats:
        """Return the coordinates in some attributes, or in all; of some rows, or of all."""
        if attributes is None:
            attributes = range(len(self.blocks))
        blocks = [self.blocks[place] for place in attributes]
        return np.hstack(blocks if rows is None else [block[rows] for block in blocks])


def _block(column: Column, scale: Scale) -> Floats:
    if not column.is_numeric:
        return _indicators(column)
    known = ~column.missing()
    scaled = _scaled(column, known, scale)
    middle = float(np.median(scaled[known]))
    values = np.where(known, scaled, middle)
    return np.column_stack([values] if known.all() else [values, np.where(known, 0.0, _HALF)])


def _is_lumped(column: Column) -> bool:
    return not column.is_numeric and len(column.labels) > MOST_LABELS


def _indicators(column: CategoricalColumn) -> Floats:
    """Return a coordinate for each label; a missing value is at the origin of all."""
    width = min(len(column.labels), MOST_LABELS)
    frequent = np.argsort(-np.bincount(column.codes[column.codes >= 0]), kind="stable")[:width]
    place = np.full(len(column.labels) + 1, width - 1)  # the last one is shared by rare labels
    place[frequent] = np.arange(width)
    place[-1] = width
    return np.asarray(np.eye(width + 1, width)[place[column.codes]] * _HALF)


def _scaled(column: NumericColumn, known: Mask, scale: Scale) -> Floats:
    """Return the numbers divided by the spread of the known ones, whatever their size."""
    largest = float(np.abs(column.values[known]).max())
    if scale == "none":
        return _as_they_are(column, largest)
    parts = column.values / (largest or 1.0)
    ordered = np.sort(parts[known])  # so that the order of rows moves no digit
    spread = float(np.ptp(ordered) if scale == "range" else (ordered - ordered[0]).std())
    return np.asarray((parts - np.median(ordered)) / (spread or 1.0))


def _as_they_are(column: NumericColumn, largest: float) -> Floats:
    if largest > LARGEST:
        raise OptionError(
            Setting("scale", "none"),
            f" cannot compare column {column.name!r}, which holds numbers as large as {largest:g} "
            f"(allowed: up to {LARGEST:g}); use ",
            Setting("scale", "deviation"),
            " or leave the column out with ",
            Setting("exclude"),
        )
    return column.values
