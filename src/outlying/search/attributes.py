"""A population made ready: each column sorted and scaled once, shared by all contexts and objects.

A numeric column is divided by a power of two, which is exact, so that its values lie within [-1, 1]
and no unit, however huge or tiny, overflows a square. Densities are computed on that scale and
brought back to the column's unit only where the paper's measure needs it. Both kinds of attribute
answer the same questions; what they find is found once, also where threads share a population.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Sequence
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from outlying.kernel.sweep import taken
from outlying.method.density import (
    Floats,
    bandwidth_of,
    mean_around,
    mean_neighbours,
    parzen,
)
from outlying.method.distribution import Distribution
from outlying.method.intervals import Segments, candidates, segments
from outlying.method.measure import SCALES, Summary, Typical, lift
from outlying.method.profiles import NumericProfile
from outlying.method.sketches import (
    NumericSketch,
    numeric_sketch,
)
from outlying.options import Bandwidth, Options
from outlying.search.category_attributes import BaseAttribute, CategoricalAttribute
from outlying.search.objects import CandidateCondition
from outlying.search.screen.histograms import NumericHistogram
from outlying.search.screen.neighbours import Sample
from outlying.table.columns import Column, Mask, NumericColumn, Rows, frozen
from outlying.table.conditions import Condition
from outlying.table.values import Form, Value, value_of

_MICROSECONDS_PER_DAY = 86_400e6
_SAFE_EXPONENT = 900  # beyond, a product might lose digits
_VANISHING = 1020  # what is smaller than the largest value by more powers of two loses its digits
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


class NumericAttribute(BaseAttribute):
    """A numeric column, sorted and scaled; of a large table, only the rows that were drawn."""

    column: NumericColumn
    kind: ClassVar[Literal["numbers"]] = "numbers"
    scales = len(SCALES)

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

    def find_intervals(self, seed: int | None) -> None:
        """Find the natural intervals now, not when the first object is searched."""
        if not self.is_constant:
            self.segments(seed)

    def segments(self, seed: int | None) -> Segments:
        """Return the natural segments, the same for all objects."""
        return self._once(("segments", seed), lambda: segments(self.sorted, seed))

    def _conditions(
        self, row: int, known: int, total: int, options: Options
    ) -> list[CandidateCondition]:
        """Return the intervals around the value of a row, the same for all rows of a segment."""
        if self.is_constant:
            return []
        found, value = self.segments(options.seed), self.scaled(row)

        def intervals() -> list[CandidateCondition]:
            around = candidates(self.sorted, found, value, known, total, options)
            return [
                self._once((low, high), functools.partial(self._interval, low, high))
                for low, high in around
            ]

        own = found.holding(value)
        if own is None:
            return intervals()
        return self._once(
            ("around", own, options.seed, options.interval, options.scales), intervals
        )

    def _interval(self, low: float, high: float) -> CandidateCondition:
        bounds = self.unscaled(low), self.unscaled(high)
        ends = [value_of(self.column.form, bound) for bound in bounds]
        condition = Condition(self.column.name, "interval", low=ends[0], high=ends[1])
        test = functools.partial(self.between, low, high)
        return CandidateCondition(condition, self.rows_between(low, high), test, bounds)

    def _rescaled(self, values: Floats) -> Floats:
        """Divide values by the power of two of this attribute, exactly."""
        if self.factor is not None:
            return values * self.factor
        return np.ldexp(values, -self.exponent)

    def histogram(self, sample: Sample) -> NumericHistogram:
        """Return the values in groups, to be counted in many contexts."""
        return self._once("histogram", lambda: self._histogram(sample))

    def _histogram(self, sample: Sample) -> NumericHistogram:
        values = self._rescaled(self.column.values[sample.nearby])
        return NumericHistogram(values, self.unit, sample)

    def position(self, row: int) -> float:
        """Return where a row lies in the histogram."""
        return self.scaled(row)

    def place(self, row: int) -> float:
        """Return the value of a row as a number of the column."""
        return float(self.column.values[row])

    def scaled(self, row: int) -> float:
        """Return the value of a row on the scale of this attribute."""
        return math.ldexp(self.column.values[row], -self.exponent)

    def unscaled(self, number: float) -> float:
        """Return a number of this scale in the column's own unit, exactly."""
        return float(np.ldexp(number, self.exponent))

    def rows_between(self, low: float, high: float) -> int:
        """Count the rows whose value lies in a closed interval of this scale."""
        start = np.searchsorted(self.sorted, low, side="left")
        return int(np.searchsorted(self.sorted, high, side="right") - start)

    def between(self, low: float, high: float, rows: Rows | None = None) -> Mask:
        """Return which rows, of all or of some, have a value in a closed interval of this scale."""
        values = self.column.values if rows is None else self.column.values[rows]
        return (values >= self.unscaled(low)) & (values <= self.unscaled(high))

    def typical(self, chosen: Mask | Rows) -> Typical | None:
        """Return what is typical among the rows of a context; None where all values are equal."""
        values = self._values(chosen)
        width = self.width_of(values)
        if width is None:
            return None
        neighbours = {SCALES[0]: mean_neighbours(values, width)}
        return self.with_lift(
            Typical(len(values), width, math.nan, neighbours),
            lambda: mean_around(values, self.sorted, width),
        )

    def width_of(self, values: Floats) -> float | None:
        """Return the Parzen bandwidth of ascending values; None where all are equal."""
        if len(values) == 0 or values[0] == values[-1]:
            return None
        return bandwidth_of(values)

    def with_lift(self, typical: Typical, around: Callable[[], float]) -> Typical:
        """Take how many of all rows a member has within its window on average; ask if need be."""
        known, total, inside = typical.known, len(self.sorted), typical.neighbours[SCALES[0]]
        outside = inside if known == total else around()
        return dataclasses.replace(typical, lift=lift(inside / known, outside / total))

    def widen(self, typical: Typical, chosen: Mask | Rows, scales: Sequence[int]) -> None:
        """Count the neighbours of a typical member at further scales."""
        missing = [scale for scale in scales if scale not in typical.neighbours]
        if missing:
            values = self._values(chosen)
            for scale in missing:
                typical.neighbours[scale] = mean_neighbours(values, scale * typical.width)

    def _values(self, chosen: Mask | Rows) -> Floats:
        """Return the values of rows in order, be they marked or listed, as of a small group."""
        if chosen.dtype == np.bool_:
            return taken(self.sorted, self.order, chosen.view(np.bool_))
        values = self._rescaled(self.column.values[chosen])
        return np.sort(values[~np.isnan(values)]) + 0.0

    def near(self, row: int, chosen: Rows, width: float) -> int:
        """Count which of some rows lie within a window around a row."""
        values = self._rescaled(self.column.values[chosen])
        return int(np.count_nonzero(np.abs(values - self.scaled(row)) <= width / 2))

    def rows_near(self, row: int, width: float) -> Rows:
        """Return the rows whose values lie within a window around that of a row."""
        value, reach = self.scaled(row), width / 2
        start = self.sorted.searchsorted(value - reach)
        return self.order[start : self.sorted.searchsorted(value + reach, "right")]

    def summary(self, mask: Mask, row: int, bandwidth: Bandwidth) -> Summary | None:
        """Summarise the densities at the first scale; None where there is nothing to compare."""
        typical = self.typical(mask)
        if typical is None:
            return None
        if bandwidth == "fixed":
            near = int(np.count_nonzero(mask[self.rows_near(row, typical.width)]))
            return self.summary_with(typical, [near])
        values, densities = self.densities(mask, bandwidth)
        at_object = float(densities[np.searchsorted(values, self.scaled(row))])
        mean = float(np.add.reduce(densities) / len(densities))
        return Summary(mean, at_object, self.unit, typical.lift)

    def summary_with(self, typical: Typical, near: Sequence[float]) -> Summary:
        """Summarise a context for an object with so many rows near it, scale by scale."""
        return typical.summary(near, self.unit, self.unscaled(typical.width / 2))

    def sketch(
        self,
        row: int,  # noqa: ARG002
        bandwidth: Bandwidth,
        shown: Sequence[Value] | None = None,  # noqa: ARG002
    ) -> NumericSketch:
        """Sketch all values for pictures."""
        return self._once(("sketch", bandwidth), lambda: self._sketch(bandwidth))

    def _sketch(self, bandwidth: Bandwidth) -> NumericSketch:
        found = Distribution.of(self.sorted, bandwidth)
        return numeric_sketch(found, self.column.form, self.exponent, bandwidth)

    def profile(self, mask: Mask, bandwidth: Bandwidth) -> NumericProfile:
        """Describe the values in a context."""
        return self.profile_of(taken(self.sorted, self.order, mask), bandwidth)

    def profile_of(self, values: Floats, bandwidth: Bandwidth = "fixed") -> NumericProfile:
        """Describe ascending values."""
        found = Distribution.of(values, bandwidth)
        return NumericProfile(found, self.column.form, self.exponent, bandwidth)

    def densities(self, mask: Mask, bandwidth: Bandwidth) -> tuple[Floats, Floats]:
        """Return the values in a context, sorted, with the density at each."""
        values = taken(self.sorted, self.order, mask)
        return values, parzen(values, bandwidth)


Attribute: TypeAlias = NumericAttribute | CategoricalAttribute


def attribute_of(column: Column, rows: Rows | None = None) -> Attribute:
    """Prepare a column of either kind, by all its rows or by some."""
    if column.is_numeric:
        return NumericAttribute(column, rows)
    return CategoricalAttribute(column, column.codes, column.labels, rows)
