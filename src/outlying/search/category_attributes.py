"""What all attributes have in common, and attributes of categories: codes, counted once."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from outlying.method.density import (
    Counts,
    alike,
)
from outlying.method.measure import SCALES, Summary, Typical, lift
from outlying.method.profiles import CategoricalProfile
from outlying.method.sketches import (
    CategoricalSketch,
    categorical_sketch,
    shown_categories,
)
from outlying.options import Bandwidth, Options
from outlying.search.objects import CandidateCondition
from outlying.search.screen.categories import CategoricalHistogram
from outlying.search.screen.neighbours import Sample
from outlying.search.threads import Once
from outlying.table.columns import Column, Mask, Rows
from outlying.table.conditions import Condition
from outlying.table.values import Value


class BaseAttribute:
    """What both kinds of attribute have in common."""

    column: Column

    def __init__(self, column: Column, rows: Rows | None) -> None:
        self.column, self._rows = column, rows
        self._once = Once()

    @property
    def missingness(self) -> CategoricalAttribute:
        """The question whether this attribute is missing."""
        return self._once("missingness", lambda: gaps_of(self.column, self._rows))

    def conditions(
        self, row: int, known: int, total: int, options: Options
    ) -> list[CandidateCondition]:
        """Return the conditions that a row satisfies, from fine to coarse, by some of all rows."""
        origin = self.column.origin
        if origin is not None and (not origin.gives_conditions or self.column.is_missing(row)):
            return []  # that its parent is missing, the parent says
        if not self.column.is_missing(row):
            return self._conditions(row, known, total, options)
        gaps = self.missingness
        condition = Condition(self.column.name, "missing")
        test = functools.partial(gaps.equal, 1)
        members = functools.partial(gaps.rows_of, 1)
        return [CandidateCondition(condition, int(gaps.totals[1]), test, members=members)]

    def _conditions(
        self, row: int, known: int, total: int, options: Options
    ) -> list[CandidateCondition]:
        raise NotImplementedError


class CategoricalAttribute(BaseAttribute):
    """A categorical column, or the question whether a column is missing, as codes."""

    kind: Literal["labels", "gaps"]
    scales = 1
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

    @property
    def totals(self) -> Counts:
        """How many rows each category has; of a large table, of those that were drawn."""
        return self._once("totals", self._totals)

    def _totals(self) -> Counts:
        return self._counted(self.codes if self._rows is None else self.codes[self._rows])

    def _counted(self, codes: npt.NDArray[np.int32]) -> Counts:
        return np.bincount(codes[codes >= 0], minlength=len(self.categories))

    def equal(self, code: int, rows: Rows | None = None) -> Mask:
        """Return which rows, of all or of some, are of a category."""
        return np.asarray((self.codes if rows is None else self.codes[rows]) == code)

    def counts(self, chosen: Mask | Rows) -> Counts:
        """Count the known rows of a context by category."""
        return self._counted(self.codes[chosen])

    def find_intervals(self, seed: int | None) -> None:
        """Do nothing: categories have no intervals."""

    def _conditions(
        self,
        row: int,
        known: int,  # noqa: ARG002
        total: int,  # noqa: ARG002
        options: Options,  # noqa: ARG002
    ) -> list[CandidateCondition]:
        """Return the one condition on a category: to be that of the row."""
        code = int(self.codes[row])
        condition = Condition(self.column.name, "equals", value=self.column.value(row))
        test = functools.partial(self.equal, code)
        members = functools.partial(self._members, code)
        return [CandidateCondition(condition, int(self.totals[code]), test, members=members)]

    def _members(self, code: int) -> Rows:
        return self.whole.rows_of(code)

    def histogram(self, sample: Sample) -> CategoricalHistogram:
        """Return the categories in groups, to be counted in many contexts."""
        return self._once("histogram", lambda: CategoricalHistogram(self.codes, sample))

    def position(self, row: int) -> float:
        """Return where a row lies in the histogram."""
        return float(self.codes[row])

    def place(self, row: int) -> Value:
        """Return the category of a row."""
        return self.categories[int(self.codes[row])]

    def typical(self, chosen: Mask | Rows) -> Typical | None:
        """Return what is typical among rows of a context; None if there is only one category."""
        return self.typical_of(self.counts(chosen))

    def typical_of(self, counts: Counts) -> Typical | None:
        """Return what is typical of rows by category; None if there is only one."""
        if np.count_nonzero(counts) < 2:
            return None
        known, total = int(counts.sum()), int(self.totals.sum())
        inside, around = alike(counts, counts), alike(counts, self.totals)
        return Typical(known, 1.0, lift(inside / known, around / total), {SCALES[0]: inside})

    def widen(self, typical: Typical, chosen: Mask | Rows, scales: Sequence[int]) -> None:
        """Do nothing: categories have one scale."""

    def near(self, row: int, chosen: Rows, width: float) -> int:  # noqa: ARG002
        """Count which of some rows have the category of a row."""
        return int(np.count_nonzero(self.codes[chosen] == self.codes[row]))

    def rows_near(self, row: int, width: float) -> Rows:  # noqa: ARG002
        """Return the rows of the same category as a row."""
        return self.rows_of(int(self.codes[row]))

    def rows_of(self, code: int) -> Rows:
        """Return the rows of a category."""
        order, ends = self._once("rows", self._by_category)
        return np.asarray(order[ends[code + 1] : ends[code + 2]])

    def _by_category(self) -> tuple[Rows, Rows]:
        order = np.argsort(self.codes, kind="stable")
        return order, np.searchsorted(self.codes[order], np.arange(-1, len(self.categories) + 1))

    def summary(self, mask: Mask, row: int, bandwidth: Bandwidth) -> Summary | None:  # noqa: ARG002
        """Summarise the frequencies in a context; None where there is only one category."""
        typical = self.typical(mask)
        if typical is None:
            return None
        return self.summary_with(typical, [int(np.count_nonzero(mask[self.rows_near(row, 1.0)]))])

    def summary_with(self, typical: Typical, near: Sequence[float]) -> Summary:
        """Summarise a context for an object with so many rows of its category."""
        return typical.summary(near, 1.0)

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


def gaps_of(column: Column, rows: Rows | None = None) -> CategoricalAttribute:
    """Ask of a column whether it is missing: 0 for known, 1 for missing."""
    codes = column.missing().astype(np.int32)
    return CategoricalAttribute(column, codes, ("known", "missing"), rows, kind="gaps")
