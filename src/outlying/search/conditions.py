"""Conditions that an object satisfies: what contexts are made of."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

from outlying.table.columns import Mask, Rows
from outlying.table.conditions import Condition


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class CandidateCondition:
    """A condition that the object satisfies, and which other rows do."""

    condition: Condition
    rows: int  # that satisfy it; of a large table, of those that were drawn
    test: Callable[[Rows | None], Mask]  # tells which of some rows, or of all, satisfy it
    bounds: tuple[float, float] = (math.nan, math.nan)  # of an interval, as numbers of the column

    @property
    def attribute(self) -> str:
        """The attribute it is about."""
        return self.condition.attribute
