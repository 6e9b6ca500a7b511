"""A population made ready: each column sorted and scaled once, shared by all contexts and objects.

A numeric column is divided by a power of two, which is exact, so that its values lie within [-1, 1]
and no unit, however huge or tiny, overflows a square. Densities are computed on that scale and
brought back to the column's unit only where the paper's measure needs it.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from outlying.method.density import (
    Counts,
    Floats,
    density_at,
    frequency_mean,
    parzen,
    parzen_mean,
)
from outlying.method.distribution import Distribution
from outlying.method.intervals import Segments, segments
from outlying.method.measure import Summary, Typical
from outlying.method.profiles import CategoricalProfile, NumericProfile
from outlying.method.sketches import (
    CategoricalSketch,
    NumericSketch,
    categorical_sketch,
    numeric_sketch,
    shown_categories,
)
from outlying.options import Bandwidth
from outlying.search.screen.histograms import Categories, Numbers
from outlying.search.screen.neighbours import Sample
from outlying.table.columns import CategoricalColumn, Column, Mask, NumericColumn, Rows
from outlying.table.values import Form, Value

_MICROSECONDS_PER_DAY = 86_400e6
_SAFE_EXPONENT = 900  # beyond, a product might lose digits
_FORMS_IN_DAYS: tuple[Form, ...] = ("date", "datetime", "instant", "time", "duration")


def exponent_of(largest: float) -> int:
    """Return the power of two by which to divide values, the largest of them given."""
    return int(np.frexp(largest)[1])


def unit_of(form: Form, exponent: int) -> float:
    """Return what turns densities of values divided by 2**exponent into those per unit."""
    per_unit = np.ldexp(1.0, min(-exponent, 1023))
    return float(per_unit * (_MICROSECONDS_PER_DAY if form in _FORMS_IN_DAYS else 1))


def _largest(values: Floats) -> float:
    """Return the largest number without its sign; 0 where there is none."""
    return max(
        float(np.fmax.reduce(values, initial=0.0)), -float(np.fmin.reduce(values, initial=0.0))
    )


class NumericAttribute:
    """A numeric column, sorted and scaled; of a large table, only the rows that were drawn."""

    def __init__(self, column: NumericColumn, rows: Rows | None = None) -> None:
        self.column, self._rows = column, rows
        values = column.values if rows is None else column.values[rows]
        ordered = np.sort(values) + 0.0  # what is missing comes last; there is one zero
        ordered = ordered[: len(ordered) - np.count_nonzero(np.isnan(ordered))]
        self.exponent = max(
            exponent_of(_largest(ordered)), exponent_of(_largest(column.values)) - _SAFE_EXPONENT
        )
        self.sorted: Floats = self._rescaled(ordered)
        self._segments: dict[int | None, Segments] = {}
        self._order: Rows | None = None
        self._numbers: Numbers | None = None
        self._sketch: NumericSketch | None = None
        self.unit = unit_of(column.form, self.exponent)

    @functools.cached_property
    def missingness(self) -> CategoricalAttribute:
        """The question whether this attribute is missing."""
        return gaps_of(self.column, self._rows)

    @functools.cached_property
    def whole(self) -> NumericAttribute:
        """The same column with all its rows."""
        return self if self._rows is None else NumericAttribute(self.column)

    @property
    def is_constant(self) -> bool:
        """Whether all known values are equal."""
        return len(self.sorted) == 0 or bool(self.sorted[0] == self.sorted[-1])

    @property
    def order(self) -> Rows:
        """The rows that have a value, by value; found when first needed."""
        if self._order is None:
            known = np.flatnonzero(~self.column.missing())
            self._order = known[np.argsort(self.column.values[known])]
        return self._order

    def find_intervals(self, seed: int | None) -> None:
        """Find the natural intervals now, not when the first object is searched."""
        if not self.is_constant:
            self.segments(seed)

    def segments(self, seed: int | None) -> Segments:
        """Find the natural segments once for all objects."""
        if seed not in self._segments:
            self._segments[seed] = segments(self.sorted, seed)
        return self._segments[seed]

    def _rescaled(self, values: Floats) -> Floats:
        """Divide values by the power of two of this attribute, exactly."""
        if abs(self.exponent) < _SAFE_EXPONENT:
            return values * 2.0**-self.exponent
        return np.ldexp(values, -self.exponent)

    def grouped(self, sample: Sample) -> Numbers:
        """Prepare to estimate the property in many contexts, once: a population has one sample."""
        if self._numbers is None:
            values = self._rescaled(self.column.values[sample.nearby])
            self._numbers = Numbers(values, self.unit, sample)
        return self._numbers

    def position(self, row: int) -> float:
        """Return where a row lies among the groups."""
        return self.scaled(row)

    def scaled(self, row: int) -> float:
        """Return the value of a row on the scale of this attribute."""
        return float(np.ldexp(self.column.values[row], -self.exponent))

    def unscaled(self, number: float) -> float:
        """Return a number of this scale in the column's own unit, exactly."""
        return float(np.ldexp(number, self.exponent))

    def rows_between(self, low: float, high: float) -> int:
        """Count the rows whose value lies in a closed interval of this scale."""
        start = np.searchsorted(self.sorted, low, side="left")
        return int(np.searchsorted(self.sorted, high, side="right") - start)

    def between(self, low: float, high: float, rows: Rows | None = None) -> Mask:
        """Mark the rows, all or some, whose value lies in a closed interval of this scale."""
        values = self.column.values if rows is None else self.column.values[rows]
        return (values >= self.unscaled(low)) & (values <= self.unscaled(high))

    def typical(self, mask: Mask) -> Typical | None:
        """Say what is typical in a context; None where all values are equal."""
        values = self.sorted[mask[self.order]]
        if len(values) == 0 or values[0] == values[-1]:
            return None
        return Typical(len(values), *parzen_mean(values))

    def rows_near(self, row: int, typical: Typical) -> Rows:
        """Return the rows whose values lie within a window around that of a row."""
        value, reach = self.scaled(row), typical.width / 2
        start = self.sorted.searchsorted(value - reach)
        return self.order[start : self.sorted.searchsorted(value + reach, "right")]

    def summary(self, mask: Mask, row: int, bandwidth: Bandwidth) -> Summary | None:
        """Summarise the densities in a context; None where there is nothing to compare."""
        typical = self.typical(mask)
        if typical is None:
            return None
        if bandwidth == "adaptive":
            values, densities = self.densities(mask, bandwidth)
            at_object = float(densities[np.searchsorted(values, self.scaled(row))])
            mean = float(np.add.reduce(densities) / len(densities))
            return Summary(mean, at_object, self.unit)
        near = np.count_nonzero(mask[self.rows_near(row, typical)])
        return self.seen(typical, int(near))

    def seen(self, typical: Typical, near: int) -> Summary:
        """Summarise a context for an object with so many rows near it."""
        at_object = density_at(near, typical.known, typical.width)
        return Summary(typical.mean, at_object, self.unit)

    def sketch(
        self,
        row: int,  # noqa: ARG002
        bandwidth: Bandwidth,
        shown: Sequence[Value] | None = None,  # noqa: ARG002
    ) -> NumericSketch:
        """Sketch all values for pictures, once."""
        if self._sketch is None:
            found = Distribution.of(self.sorted, bandwidth)
            self._sketch = numeric_sketch(found, self.column.form, self.exponent, bandwidth)
        return self._sketch

    def profile(self, mask: Mask, bandwidth: Bandwidth) -> NumericProfile:
        """Describe the values in a context."""
        found = Distribution.of(self.sorted[mask[self.order]], bandwidth)
        return NumericProfile(found, self.column.form, self.exponent, bandwidth)

    def densities(self, mask: Mask, bandwidth: Bandwidth) -> tuple[Floats, Floats]:
        """Return the values in a context, sorted, with the density at each."""
        values = self.sorted[mask[self.order]]
        return values, parzen(values, bandwidth)


class CategoricalAttribute:
    """A categorical column, or the question whether a column is missing, as codes."""

    def __init__(
        self,
        column: Column,
        codes: npt.NDArray[np.int32],
        labels: int,
        rows: Rows | None = None,
    ) -> None:
        self.column, self._rows = column, rows
        self.codes = codes
        self.labels = labels
        self.exponent = 0
        self._totals: Counts | None = None
        self._categories: Categories | None = None
        self._members: dict[int, Rows] = {}

    @classmethod
    def of(cls, column: CategoricalColumn, rows: Rows | None = None) -> CategoricalAttribute:
        """Take a categorical column as it is."""
        return cls(column, column.codes, len(column.labels), rows)

    @functools.cached_property
    def missingness(self) -> CategoricalAttribute:
        """The question whether this attribute is missing."""
        return gaps_of(self.column, self._rows)

    @functools.cached_property
    def whole(self) -> CategoricalAttribute:
        """The same column with all its rows."""
        if self._rows is None:
            return self
        return CategoricalAttribute(self.column, self.codes, self.labels)

    @property
    def totals(self) -> Counts:
        """How many rows each category has; of a large table, of those that were drawn."""
        if self._totals is None:
            codes = self.codes if self._rows is None else self.codes[self._rows]
            self._totals = np.bincount(codes[codes >= 0], minlength=self.labels)
        return self._totals

    def find_intervals(self, seed: int | None) -> None:
        """Do nothing: categories have no intervals."""

    def equal(self, code: int, rows: Rows | None = None) -> Mask:
        """Mark the rows, all or some, of a category."""
        return np.asarray((self.codes if rows is None else self.codes[rows]) == code)

    @property
    def categories(self) -> Sequence[Value]:
        """What the codes stand for."""
        column = self.column
        if isinstance(column, CategoricalColumn) and self.codes is column.codes:
            return column.labels
        return ("known", "missing")

    def counts(self, mask: Mask) -> Counts:
        """Count the known rows of a context by category."""
        codes = self.codes[mask]
        return np.bincount(codes[codes >= 0], minlength=self.labels)

    def grouped(self, sample: Sample) -> Categories:
        """Prepare to estimate the property in many contexts, once: a population has one sample."""
        if self._categories is None:
            self._categories = Categories(self.codes, sample)
        return self._categories

    def position(self, row: int) -> float:
        """Return where a row lies among the groups."""
        return float(self.codes[row])

    def typical(self, mask: Mask) -> Typical | None:
        """Say what is typical in a context; None where there is only one category."""
        counts = self.counts(mask)
        if np.count_nonzero(counts) < 2:
            return None
        return Typical(int(counts.sum()), frequency_mean(counts), 1.0)

    def rows_near(self, row: int, typical: Typical) -> Rows:  # noqa: ARG002
        """Return the rows of the same category as a row."""
        code = int(self.codes[row])
        if code not in self._members:
            self._members[code] = np.flatnonzero(self.codes == code)
        return self._members[code]

    def summary(self, mask: Mask, row: int, bandwidth: Bandwidth) -> Summary | None:  # noqa: ARG002
        """Summarise the frequencies in a context; None where there is only one category."""
        typical = self.typical(mask)
        if typical is None:
            return None
        return self.seen(typical, int(np.count_nonzero(mask[self.rows_near(row, typical)])))

    def sketch(
        self,
        row: int,
        bandwidth: Bandwidth,  # noqa: ARG002
        shown: Sequence[Value] | None = None,
    ) -> CategoricalSketch:
        """Sketch all rows for pictures, with the given categories or those usual for a row."""
        labels = self.categories
        if shown is None:
            codes = shown_categories(self.totals, int(self.codes[row]))
        else:
            codes = [labels.index(label) for label in shown]
        return categorical_sketch(self.totals, labels, codes)

    def profile(self, mask: Mask, bandwidth: Bandwidth) -> CategoricalProfile:  # noqa: ARG002
        """Describe the categories in a context."""
        return CategoricalProfile(self.counts(mask), self.categories)

    def seen(self, typical: Typical, near: int) -> Summary:
        """Summarise a context for an object with so many rows of its category."""
        return Summary(typical.mean, near / typical.known, 1.0)


Attribute: TypeAlias = NumericAttribute | CategoricalAttribute


def gaps_of(column: Column, rows: Rows | None = None) -> CategoricalAttribute:
    """Ask of a column whether it is missing: 0 for known, 1 for missing."""
    return CategoricalAttribute(column, column.missing().astype(np.int32), 2, rows)


def attribute_of(column: Column, rows: Rows | None = None) -> Attribute:
    """Prepare a column of either kind, by all its rows or by some."""
    if isinstance(column, NumericColumn):
        return NumericAttribute(column, rows)
    return CategoricalAttribute.of(column, rows)
