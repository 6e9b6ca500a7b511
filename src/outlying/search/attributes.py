"""A population made ready: each column sorted and scaled once, shared by all contexts and objects.

A numeric column is divided by a power of two, which is exact, so that its values lie within [-1, 1]
and no unit, however huge or tiny, overflows a square. Densities are computed on that scale and
brought back to the column's unit only where the paper's measure needs it. Both kinds of attribute
answer the same questions; what they find is found once, also where threads share a population.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import ClassVar, Literal, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from outlying.method.density import Counts, Floats
from outlying.method.distribution import Distribution
from outlying.method.intervals import Segments, segments
from outlying.method.profiles import CategoricalProfile, NumericProfile, unit_of
from outlying.search.threads import LazyValues
from outlying.table.columns import Column, Mask, NumericColumn, Rows, frozen
from outlying.table.values import Value

_SAFE_EXPONENT = 900  # beyond, a product might lose digits
_VANISHING = 1020  # what is smaller than the largest value by more powers of two loses its digits
_MOST = 1e100  # a new value, however far off: products of it stay finite


def exponent_of(largest: float) -> int:
    """Return the power of two by which to divide values, the largest of them given."""
    return int(np.frexp(largest)[1])


def _largest(values: Floats) -> float:
    """Return the largest number without its sign; 0 where there is none."""
    return max(
        float(np.fmax.reduce(values, initial=0.0)), -float(np.fmin.reduce(values, initial=0.0))
    )


class BaseAttribute:
    """What both kinds of attribute have in common."""

    column: Column

    def __init__(self, column: Column, rows: Rows | None) -> None:
        self.column, self._rows = column, rows
        self._once = LazyValues()

    @property
    def missingness(self) -> CategoricalAttribute:
        """The question whether this attribute is missing."""
        return self._once("missingness", lambda: gaps_of(self.column, self._rows))


class CategoricalAttribute(BaseAttribute):
    """A categorical column, or the question whether a column is missing, as codes."""

    kind: Literal["labels", "gaps"]
    exponent = 0

    def __init__(
        self,
        column: Column,
        codes: npt.NDArray[np.int32],
        categories: Sequence[Value],
        rows: Rows | None = None,
        *,
        kind: Literal["labels", "gaps"] = "labels",
    ) -> None:
        """Take the code of each row, -1 where missing, and what the codes stand for."""
        super().__init__(column, rows)
        self.codes, self.categories, self.kind = codes, categories, kind

    @property
    def whole(self) -> CategoricalAttribute:
        """The same column with all its rows."""
        if self._rows is None:
            return self
        return self._once("whole", self._with_all_rows)

    def _with_all_rows(self) -> CategoricalAttribute:
        return CategoricalAttribute(self.column, self.codes, self.categories, kind=self.kind)

    @property
    def is_constant(self) -> bool:
        """Whether there is only one category."""
        return len(self.categories) == 1

    def number_of(self, other: Column, row: int) -> npt.NDArray[np.int32]:
        """Return the code of a row of another table; one more than all of a category not known."""
        value = other.value(row)
        if value is None:
            code = -1
        elif value in self.categories:
            code = self.categories.index(value)
        else:
            code = len(self.categories)
        return np.array([code], dtype=np.int32)

    def place(self, row: int) -> Value:
        """Return the category of a row."""
        return self.categories[int(self.codes[row])]

    def counts(self, mask: Mask) -> Counts:
        """Count the known rows of a context by category."""
        codes = self.codes[mask]
        return np.bincount(codes[codes >= 0], minlength=len(self.categories))

    def profile(self, mask: Mask) -> CategoricalProfile:
        """Describe the categories in a context."""
        return CategoricalProfile(self.counts(mask), self.categories)


def gaps_of(column: Column, rows: Rows | None = None) -> CategoricalAttribute:
    """Ask of a column whether it is missing: 0 for known, 1 for missing."""
    codes = column.missing().astype(np.int32)
    return CategoricalAttribute(column, codes, ("known", "missing"), rows, kind="gaps")


class NumericAttribute(BaseAttribute):
    """A numeric column, sorted and scaled; of a large table, only the rows that were drawn."""

    column: NumericColumn
    kind: ClassVar[Literal["numbers"]] = "numbers"

    def __init__(self, column: NumericColumn, rows: Rows | None = None) -> None:
        super().__init__(column, rows)
        values = column.values if rows is None else column.values[rows]
        self.exponent = max(
            exponent_of(_largest(values)), exponent_of(_largest(column.values)) - _SAFE_EXPONENT
        )
        held = self._without_vanishing(column.values)
        if held is not column.values:
            self.column = dataclasses.replace(column, values=frozen(held))
        self.unit = unit_of(column.form, self.exponent)

    def _without_vanishing(self, values: Floats) -> Floats:
        """Return numbers of the column with 0 for what vanishes beside the largest of them.

        Or densities would overflow, and a row would not lie in the interval of its scaled value.
        """
        least = np.ldexp(1.0, self.exponent - _VANISHING)
        vanishes = (np.abs(values) < least) & (values != 0.0)
        return np.where(vanishes, 0.0, values) if vanishes.any() else values

    @property
    def sorted(self) -> Floats:
        """The known values on the scale of this attribute, ascending."""
        return self._once("sorted", self._sorted)

    def _sorted(self) -> Floats:
        values = self.column.values if self._rows is None else self.column.values[self._rows]
        ordered = np.sort(values) + 0.0  # what is missing comes last; there is one zero
        ordered = ordered[: len(ordered) - np.count_nonzero(np.isnan(ordered))]
        return self._rescaled(ordered)

    @property
    def factor(self) -> float | None:
        """What brings values to the scale of this attribute; None where a product might not."""
        return 2.0**-self.exponent if abs(self.exponent) < _SAFE_EXPONENT else None

    @property
    def whole(self) -> NumericAttribute:
        """The same column with all its rows."""
        if self._rows is None:
            return self
        return self._once("whole", lambda: NumericAttribute(self.column))

    @property
    def is_constant(self) -> bool:
        """Whether all known values are equal."""
        return self._once("constant", self._is_constant)

    def _is_constant(self) -> bool:
        return len(self.sorted) == 0 or bool(self.sorted[0] == self.sorted[-1])

    @property
    def order(self) -> Rows:
        """The rows that have a value, by value."""
        return self._once("order", self.by_value)

    def by_value(self) -> Rows:
        """Put the rows that have a value in the order of these, anew."""
        known = np.flatnonzero(~self.column.missing())
        return np.asarray(known[np.argsort(self.column.values[known])])

    def segments(self) -> Segments:
        """Return the natural segments, the same for all objects."""
        return self._once("segments", lambda: segments(self.sorted))

    def _rescaled(self, values: Floats) -> Floats:
        """Divide values by the power of two of this attribute, exactly."""
        if self.factor is not None:
            return values * self.factor
        return np.ldexp(values, -self.exponent)

    def rescaled(self, rows: Rows | None = None) -> Floats:
        """Return the values of all or some rows on the scale of this attribute; one zero."""
        values = self.column.values if rows is None else self.column.values[rows]
        return self._rescaled(values) + 0.0

    def place(self, row: int) -> float:
        """Return the value of a row as a number of the column."""
        return float(self.column.values[row])

    def scaled(self, row: int) -> float:
        """Return the value of a row on the scale of this attribute."""
        return math.ldexp(self.column.values[row], -self.exponent)

    def unscaled(self, number: float) -> float:
        """Return a number of this scale in the column's own unit, exactly."""
        return float(np.ldexp(number, self.exponent))

    def number_of(self, other: Column, row: int) -> Floats:
        """Return the value of a row of another table on the scale of this attribute."""
        own = self._rescaled(np.array([cast(NumericColumn, other).values[row]]))
        return np.clip(own, -_MOST, _MOST) + 0.0

    def profile(self, mask: Mask) -> NumericProfile | None:
        """Describe the values in a context; None where all are equal."""
        values = self.sorted[mask[self.order]]
        return None if len(values) == 0 or values[0] == values[-1] else self.profile_of(values)

    def profile_of(self, values: Floats) -> NumericProfile:
        """Describe ascending values."""
        return NumericProfile(Distribution.of(values), self.column.form, self.exponent)


Attribute: TypeAlias = NumericAttribute | CategoricalAttribute


def attribute_of(column: Column, rows: Rows | None = None) -> Attribute:
    """Prepare a column of either kind, by all its rows or by some."""
    if column.is_numeric:
        return NumericAttribute(column, rows)
    return CategoricalAttribute(column, column.codes, column.labels, rows)
