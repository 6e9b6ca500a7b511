"""A population made ready: each column sorted and scaled once, shared by all contexts and objects.

A numeric column is divided by a power of two, which is exact, so that its values lie within [-1, 1]
and no unit, however huge or tiny, overflows a square. Densities are computed on that scale and
brought back to the column's unit only where the paper's measure needs it.
"""

from __future__ import annotations

import dataclasses
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from outlying.density import Counts, Floats, frequencies, parzen, parzen_summary
from outlying.intervals import Segments, segments
from outlying.options import Bandwidth, Measure
from outlying.outlierness import outlierness
from outlying.screen import CategoricalScreen, Masks, Numbers, NumericScreen, Places, Screen
from outlying.table import CategoricalColumn, Column, Mask, NumericColumn
from outlying.values import Form

Rows: TypeAlias = npt.NDArray[np.int64]

_MICROSECONDS_PER_DAY = 86_400e6
_FORMS_IN_DAYS: tuple[Form, ...] = ("date", "datetime", "instant", "time", "duration")


@dataclasses.dataclass(frozen=True, slots=True)
class Summary:
    """What a search needs to know of one property in one context."""

    mean: float  # mean(F), on the scale of the attribute
    at_object: float  # f_o
    unit: float  # what turns these into densities per unit of the column

    @property
    def rarity(self) -> float:
        """How many times rarer the object is than a typical member."""
        return self.mean / self.at_object

    def outlierness(self, measure: Measure) -> float:
        """Score the object by the chosen measure."""
        if measure == "paper":
            return outlierness(self.mean * self.unit, self.at_object * self.unit, measure)
        return outlierness(self.mean, self.at_object, measure)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """All densities of one property in one context, by ascending value or by category code."""

    values: Floats  # sorted numbers, or category codes
    densities: Floats
    rows: Counts  # how many rows each entry stands for
    at_object: float


class NumericAttribute:
    """A numeric column, sorted and scaled."""

    def __init__(self, column: NumericColumn) -> None:
        self.column = column
        known = np.flatnonzero(~column.missing())
        self.order: Rows = known[np.argsort(column.values[known], kind="stable")]
        ordered = column.values[self.order]
        largest = float(np.max(np.abs(ordered[[0, -1]]))) if len(ordered) else 0.0
        self.exponent = int(np.frexp(largest)[1])
        self.sorted: Floats = np.ldexp(ordered, -self.exponent)
        per_unit = np.ldexp(1.0, -self.exponent)
        self._segments: dict[int | None, Segments] = {}
        self._numbers: Numbers | None = None
        self.unit = float(
            per_unit * (_MICROSECONDS_PER_DAY if column.form in _FORMS_IN_DAYS else 1)
        )

    @property
    def is_constant(self) -> bool:
        """Whether all known values are equal."""
        return len(self.sorted) == 0 or bool(self.sorted[0] == self.sorted[-1])

    def segments(self, seed: int | None) -> Segments:
        """Find the natural segments once for all objects."""
        if seed not in self._segments:
            self._segments[seed] = segments(self.sorted, seed)
        return self._segments[seed]

    def screen(self, row: int, sample: Rows | None) -> Screen:
        """Prepare to estimate the property of a row in many contexts."""
        if self._numbers is None:  # one population has one sample
            values = np.ldexp(self.column.values, -self.exponent)
            self._numbers = Numbers(values if sample is None else values[sample])
        return NumericScreen(self._numbers, self.scaled(row), self.unit)

    def scaled(self, row: int) -> float:
        """Give the value of a row on the scale of this attribute."""
        return float(np.ldexp(self.column.values[row], -self.exponent))

    def unscaled(self, number: float) -> float:
        """Give a number of this scale in the column's own unit, exactly."""
        return float(np.ldexp(number, self.exponent))

    def between(self, low: float, high: float) -> Mask:
        """Mark the rows whose value lies in a closed interval of this scale."""
        start = np.searchsorted(self.sorted, low, side="left")
        end = np.searchsorted(self.sorted, high, side="right")
        mask = np.zeros(len(self.column), dtype=bool)
        mask[self.order[start:end]] = True
        return mask

    def summary(self, mask: Mask, row: int, bandwidth: Bandwidth) -> Summary | None:
        """Summarise the densities in a context; None where there is nothing to compare."""
        found = parzen_summary(self.sorted[mask[self.order]], self.scaled(row), bandwidth)
        return None if found is None else Summary(*found, self.unit)

    def profile(self, mask: Mask, row: int, bandwidth: Bandwidth) -> Profile:
        """Give every density in a context."""
        values = self.sorted[mask[self.order]]
        densities = parzen(values, bandwidth)
        at_object = float(densities[np.searchsorted(values, self.scaled(row))])
        return Profile(values, densities, np.ones(len(values), dtype=np.int64), at_object)


class CategoricalAttribute:
    """A categorical column, or the question whether a column is missing, as codes."""

    def __init__(self, column: Column, codes: npt.NDArray[np.int32], labels: int) -> None:
        self.column = column
        self.codes = codes
        self.labels = labels

    @classmethod
    def of(cls, column: CategoricalColumn) -> CategoricalAttribute:
        """Take a categorical column as it is."""
        return cls(column, column.codes, len(column.labels))

    @classmethod
    def missingness(cls, column: Column) -> CategoricalAttribute:
        """Ask of a column whether it is missing: 0 for known, 1 for missing."""
        return cls(column, column.missing().astype(np.int32), 2)

    def equal(self, row: int) -> Mask:
        """Mark the rows of the same category as this row."""
        return np.asarray(self.codes == self.codes[row])

    def counts(self, mask: Mask) -> Counts:
        """Count the known rows of a context by category."""
        codes = self.codes[mask]
        return np.bincount(codes[codes >= 0], minlength=self.labels)

    def screen(self, row: int, sample: Rows | None) -> Screen:
        """Prepare to estimate the property of a row in many contexts."""
        codes = self.codes if sample is None else self.codes[sample]
        return CategoricalScreen(codes, int(self.codes[row]))

    def summary(self, mask: Mask, row: int, bandwidth: Bandwidth) -> Summary | None:  # noqa: ARG002
        """Summarise the frequencies in a context; None where there is only one category."""
        counts = self.counts(mask)
        if np.count_nonzero(counts) < 2:
            return None
        shares = frequencies(counts)
        return Summary(float(np.add.reduce(shares * shares)), float(shares[self.codes[row]]), 1.0)

    def profile(self, mask: Mask, row: int, bandwidth: Bandwidth) -> Profile:  # noqa: ARG002
        """Give the frequency of every category in a context."""
        counts = self.counts(mask)
        shares = frequencies(counts)
        at_object = float(shares[self.codes[row]])
        return Profile(np.arange(self.labels, dtype=np.float64), shares, counts, at_object)


Attribute: TypeAlias = NumericAttribute | CategoricalAttribute


class ExactScreen:
    """No estimate at all, but the exact densities of one context after the other."""

    def __init__(self, attribute: Attribute, row: int, bandwidth: Bandwidth) -> None:
        self.attribute, self.row, self.bandwidth = attribute, row, bandwidth
        self.unit = attribute.unit if isinstance(attribute, NumericAttribute) else 1.0

    def estimate(self, left: Masks, right: Masks, cells: Places) -> tuple[Floats, Floats]:
        """Give mean(F) and f_o in each context."""
        mean, at_object = np.full(len(cells), np.nan), np.full(len(cells), np.nan)
        for place, cell in enumerate(cells):
            i, j = divmod(int(cell), right.shape[1])
            mask = (left[:, i] * right[:, j]).astype(bool)
            found = self.attribute.summary(mask, self.row, self.bandwidth)
            if found is not None:
                mean[place], at_object[place] = found.mean, found.at_object
        return mean, at_object


def attribute_of(column: Column) -> Attribute:
    """Prepare a column of either kind."""
    if isinstance(column, NumericColumn):
        return NumericAttribute(column)
    return CategoricalAttribute.of(column)
