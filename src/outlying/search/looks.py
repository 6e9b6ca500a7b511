"""Exact looks by compiled code: a property in a context, from all rows, which are in memory.

Rows that satisfy a condition are bits; how a property is looked at depends on its kind. The same
numbers come from `Exact` by NumPy, bit by bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from outlying.kernel.library import Kernel
from outlying.kernel.look import Conditions, Members, WholeColumn, counted_codes
from outlying.method.density import Counts, mean_neighbours
from outlying.method.measure import SAME_DENSITY, Typical
from outlying.method.profiles import CategoricalProfile, NumericProfile
from outlying.search.attributes import Attribute, CategoricalAttribute, NumericAttribute


class NumericLook:
    """Looks at a numeric column."""

    def __init__(self, kernel: Kernel, attribute: NumericAttribute) -> None:
        self.attribute = attribute
        rows = len(attribute.column.values)
        self.column = WholeColumn(kernel, attribute.sorted, attribute.by_value(), rows)

    def members(self, context: Conditions | None) -> Members:
        """Return the rows of a context, or all, that have a value."""
        return self.column.members(context)

    def typical(self, members: Members) -> Typical | None:
        """Return what is typical among them but for the lift; None where all values are equal."""
        return self.attribute.typical_of(members.values)

    def with_lift(self, typical: Typical, members: Members) -> Typical:
        """Compare with all rows: that takes longest, and is asked for last."""
        values, reach = members.values, typical.width / 2
        return self.attribute.with_lift(
            typical, lambda: self.column.around(values, reach) / len(values)
        )

    def near(
        self, row: int, members: Members, typical: Typical, scales: Sequence[int], needed: float
    ) -> list[int]:
        """Count the members near a row at each scale that may show the needed rarity."""
        reaches = [scale * typical.width / 2 for scale in scales]
        point = self.attribute.scaled(row)
        return self.column.near(members, point, reaches, needed * (1 - SAME_DENSITY))

    def widen(self, typical: Typical, members: Members, scales: Sequence[int]) -> None:
        """Count the neighbours of a typical member at further scales."""
        for scale in scales:
            if scale not in typical.neighbours:
                width = scale * typical.width
                typical.neighbours[scale] = mean_neighbours(members.values, width)

    def rows_near(self, row: int, context: Conditions | None, width: float) -> int:
        """Count the rows of a context within a window around a row."""
        return self.column.rows_near(context, self.attribute.scaled(row), width / 2)

    def profile(self, members: Members) -> NumericProfile:
        """Describe the values in a context."""
        return self.attribute.profile_of(members.values)


class CategoricalLook:
    """Looks at a categorical column, or at where a column is missing: by counts of categories."""

    def __init__(self, kernel: Kernel, attribute: CategoricalAttribute) -> None:
        self.kernel, self.attribute = kernel, attribute
        self.codes = np.ascontiguousarray(attribute.codes)

    def members(self, context: Conditions | None) -> Counts:
        """Count the rows of a context, or all, by category."""
        if context is None:
            return self.attribute.totals
        return counted_codes(self.kernel, self.codes, len(self.attribute.categories), context)

    def typical(self, members: Counts) -> Typical | None:
        """Return what is typical among them; None where there is only one category."""
        return self.attribute.typical_of(members)

    def with_lift(self, typical: Typical, members: Counts) -> Typical:  # noqa: ARG002
        """Return what is known: counts tell all at once."""
        return typical

    def near(
        self,
        row: int,
        members: Counts,
        typical: Typical,  # noqa: ARG002
        scales: Sequence[int],  # noqa: ARG002
        needed: float,  # noqa: ARG002
    ) -> list[int]:
        """Count the members of the category of a row; there is one scale."""
        return [int(members[self.codes[row]])]

    def widen(self, typical: Typical, members: Counts, scales: Sequence[int]) -> None:
        """Do nothing: categories have one scale."""

    def rows_near(self, row: int, context: Conditions | None, width: float) -> int:  # noqa: ARG002
        """Count the rows of a context that have the category of a row."""
        return int(self.members(context)[self.codes[row]])

    def profile(self, members: Counts) -> CategoricalProfile:
        """Describe the categories in a context."""
        return CategoricalProfile(members, self.attribute.categories)


Look: TypeAlias = NumericLook | CategoricalLook


def look_at(kernel: Kernel, attribute: Attribute) -> Look:
    """Make ready to look at an attribute."""
    if attribute.kind == "numbers":
        return NumericLook(kernel, attribute)
    return CategoricalLook(kernel, attribute)
