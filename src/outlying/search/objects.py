"""The object that is explained: its properties, and the conditions that it satisfies."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

from outlying.method.measure import Summary
from outlying.options import Options
from outlying.search.attributes import Attribute, NumericAttribute
from outlying.search.screen.histograms import Property
from outlying.search.screen.neighbours import Sample
from outlying.table.columns import Mask, Rows
from outlying.table.conditions import Condition
from outlying.table.values import Value


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Trait:
    """A property of the object: an attribute seen from its row."""

    name: str
    attribute: Attribute
    row: int
    options: Options

    @property
    def value(self) -> Value:
        """The object's value; None where the property is that it is missing."""
        return self.attribute.column.value(self.row)

    @property
    def place(self) -> float | Value:
        """The object's value as a number of the column, or its category."""
        attribute = self.attribute
        if isinstance(attribute, NumericAttribute):
            return float(attribute.column.values[self.row])
        return attribute.categories[int(attribute.codes[self.row])]

    def summary(self, mask: Mask) -> Summary | None:
        """Summarise its densities among the marked rows."""
        return self.attribute.whole.summary(mask, self.row, self.options.bandwidth)

    def grouped(self, sample: Sample) -> Property:
        """Prepare to estimate it in many contexts."""
        return self.attribute.grouped(sample)

    @property
    def position(self) -> float:
        """Where the object lies among the groups of its values."""
        return self.attribute.position(self.row)


class Premise:
    """A condition that the object satisfies, with the rows that satisfy it too."""

    def __init__(
        self,
        condition: Condition,
        group: int,
        test: Callable[[Rows | None], Mask],
        bounds: tuple[float, float] = (math.nan, math.nan),
    ) -> None:
        """Take how many rows satisfy it, and who marks them, among all rows or among some.

        `bounds` are those of an interval as numbers of the column.
        """
        self.condition, self.group, self._test, self.bounds = condition, group, test, bounds

    @property
    def attribute(self) -> str:
        """The attribute it is about."""
        return self.condition.attribute

    def marked(self, rows: Rows | None) -> Mask:
        """Mark those of some rows, or of all, that satisfy it."""
        return self._test(rows)
