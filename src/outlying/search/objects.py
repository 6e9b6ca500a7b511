"""The object that is explained: its properties, and the conditions that it satisfies."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from outlying.options import Options
from outlying.table.columns import Mask, Rows
from outlying.table.conditions import Condition
from outlying.table.values import Value

if TYPE_CHECKING:
    from outlying.search.attributes import Attribute


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class CandidateCondition:
    """A condition that the object satisfies, and which other rows do."""

    condition: Condition
    rows: int  # that satisfy it
    test: Callable[[Rows | None], Mask]  # tells which of some rows, or of all, satisfy it
    bounds: tuple[float, float] = (math.nan, math.nan)  # of an interval, as numbers of the column

    @property
    def attribute(self) -> str:
        """The attribute it is about."""
        return self.condition.attribute


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class ObjectProperty:
    """A property of the object: an attribute seen from its row."""

    attribute: Attribute
    row: int
    options: Options

    @classmethod
    def of(cls, attribute: Attribute, row: int, options: Options) -> ObjectProperty:
        """Return the property of a row in an attribute: its value, or that it has none."""
        is_missing = attribute.column.is_missing(row)
        return cls(attribute.missingness if is_missing else attribute, row, options)

    @property
    def name(self) -> str:
        """The attribute it belongs to."""
        return self.attribute.column.name

    @property
    def key(self) -> str:
        """What a pass over all rows knows the attribute by."""
        return self.attribute.column.key

    @property
    def family(self) -> str:
        """The column of the table it is about: of a derived attribute, its parent."""
        return self.attribute.column.family

    @property
    def value(self) -> Value:
        """The object's value; None where the property is that it is missing."""
        return self.attribute.column.value(self.row)

    @property
    def place(self) -> float | Value:
        """The object's value as a number of the column, or its category."""
        return self.attribute.place(self.row)
