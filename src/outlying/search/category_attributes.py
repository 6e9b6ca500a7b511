"""What all attributes have in common, and attributes of categories: codes, counted once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from outlying.method.density import Counts
from outlying.method.profiles import CategoricalProfile
from outlying.search.threads import Once
from outlying.table.columns import Column, Mask, Rows
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
