"""Exact looks by compiled code: a property in a context, from all rows, which are in memory.

Rows that satisfy a condition are bits; how a property is looked at depends on its kind. The same
numbers come from `Exact` by NumPy, bit by bit.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np

from outlying.kernel.library import Kernel
from outlying.kernel.look import (
    Conditions,
    CountedMembers,
    Members,
    RawColumn,
    WholeColumn,
    all_members,
    counted_codes,
)
from outlying.method.density import bandwidth, close_pairs, mean_around
from outlying.method.measure import SAME_DENSITY, SCALES, Typical
from outlying.method.profiles import CategoricalProfile, NumericProfile
from outlying.search.attributes import Attribute, NumericAttribute
from outlying.search.category_attributes import CategoricalAttribute
from outlying.search.threads import Once

Scales: TypeAlias = tuple[int, ...]
AnyMembers: TypeAlias = Members | CountedMembers

#: A column is sorted after looks at so many times its rows.
_MANY = 2


class NumericLook:
    """Looks at a numeric column: at its rows as they lie, and once these are many, by value."""

    def __init__(self, kernel: Kernel, attribute: NumericAttribute) -> None:
        self.kernel, self.attribute = kernel, attribute
        self._raw = None
        if attribute.factor is not None:
            self._raw = RawColumn(kernel, attribute.column.values, attribute.factor)
        rows = len(attribute.column.values)
        self._left = 0 if self._raw is None else _MANY * rows  # to be looked at as they lie
        self._once = Once()

    def sort(self) -> WholeColumn:
        """Sort the column, which takes a while, for many looks."""
        self._left = 0
        return self._once("column", self._sorted)

    def _sorted(self) -> WholeColumn:
        attribute = self.attribute
        rows = len(attribute.column.values)
        return WholeColumn(self.kernel, attribute.sorted, attribute.by_value(), rows)

    @property
    def by_value(self) -> WholeColumn | None:
        """The column sorted, where there were enough looks at it."""
        return None if self._left > 0 else self.sort()

    def members(self, context: Conditions | None, least: float = 0.0) -> Members:
        """Return the rows of a context, or all; only their number where they are too few."""
        if context is None:
            return self._once("all", self._all)
        if context.column is not None:
            return context.column.members(context, least)
        assert self._raw is not None  # noqa: S101 - or there is a column by value
        members = self._raw.members(context, least)
        self._left -= members.rows
        return members

    def _all(self) -> Members:
        rows = len(self.attribute.column.values)
        return all_members(self.kernel, self.attribute.sorted, rows)

    def seen(
        self, row: int, members: Members, typical: Typical | None, scales: Scales, needed: float
    ) -> tuple[Typical | None, list[int]]:
        """Count the members near a row at each scale that may show the needed rarity.

        Returned, too, is what is typical at these scales, but perhaps for the lift; None where all
        values are equal. It may be known already.
        """
        known = members.known
        if typical is None:
            if not members.variance:
                return None, []
            values = members.values
            width = bandwidth(math.sqrt(members.variance), known, float(values[-1] - values[0]))
            typical = Typical(known, width, math.nan, {})
        point, least = self.attribute.scaled(row), needed * (1 - SAME_DENSITY)
        near = members.near(point, typical.width, scales, least)
        missing = scales[len(typical.neighbours) : len(near)]
        if missing:
            totals = members.totals(typical.width, missing)
            for scale, total in zip(missing, totals, strict=True):
                typical.neighbours[scale] = close_pairs(total, known) / known
        return typical, near

    def with_lift(self, typical: Typical, members: Members) -> Typical:
        """Compare with all rows: that takes longest, and is asked for last."""
        return self.attribute.with_lift(typical, lambda: self._around(members, typical.width))

    def _around(self, members: Members, width: float) -> float:
        column = self.by_value
        if column is None:
            return mean_around(members.values, self.attribute.sorted, width)
        return column.around(members, width / 2) / members.known

    def rows_near(self, row: int, context: Conditions | None, width: float) -> int:
        """Count the rows of a context, or all, within a window around a row."""
        point, reach = self.attribute.scaled(row), width / 2
        if context is None:
            return self.members(None).near(point, width, SCALES[:1], 0.0)[0]
        column = context.column or self._raw
        assert column is not None  # noqa: S101 - or the context were laid out
        return column.between(context, point - reach, point + reach)

    def profile(self, members: Members) -> NumericProfile:
        """Describe the values in a context."""
        return self.attribute.profile_of(members.values)


class CategoricalLook:
    """Looks at a categorical column, or at where a column is missing: by counts of categories."""

    def __init__(self, kernel: Kernel, attribute: CategoricalAttribute) -> None:
        self.kernel, self.attribute, self.by_value = kernel, attribute, None
        self.codes = np.ascontiguousarray(attribute.codes)

    def sort(self) -> None:
        """Do nothing: categories are counted as they lie."""

    def members(self, context: Conditions | None, least: float = 0.0) -> CountedMembers:  # noqa: ARG002
        """Count the rows of a context, or all, by category."""
        if context is None:
            return CountedMembers(len(self.codes), self.attribute.totals)
        return counted_codes(self.kernel, self.codes, len(self.attribute.categories), context)

    def seen(
        self,
        row: int,
        members: CountedMembers,
        typical: Typical | None,
        scales: Scales,  # noqa: ARG002
        needed: float,  # noqa: ARG002
    ) -> tuple[Typical | None, list[int]]:
        """Count the members of the category of a row; categories have one scale."""
        counts = members.counts
        return typical or self.attribute.typical_of(counts), [int(counts[self.codes[row]])]

    def with_lift(self, typical: Typical, members: CountedMembers) -> Typical:  # noqa: ARG002
        """Return what is known: counts tell all at once."""
        return typical

    def rows_near(self, row: int, context: Conditions | None, width: float) -> int:  # noqa: ARG002
        """Count the rows of a context, or all, that have the category of a row."""
        return int(self.members(context).counts[self.codes[row]])

    def profile(self, members: CountedMembers) -> CategoricalProfile:
        """Describe the categories in a context."""
        return CategoricalProfile(members.counts, self.attribute.categories)


Look: TypeAlias = NumericLook | CategoricalLook


def look_at(kernel: Kernel, attribute: Attribute) -> Look:
    """Make ready to look at an attribute."""
    if attribute.kind == "numbers":
        return NumericLook(kernel, attribute)
    return CategoricalLook(kernel, attribute)
