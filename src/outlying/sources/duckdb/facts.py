"""What a reader of pages should know of a column before any row."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from outlying.options import ColumnType
from outlying.table.columns import Column
from outlying.table.values import TIMES, Form, Value, plain, value_of

MOST_CATEGORIES = 30
"""So many of the commonest categories are named."""


@dataclasses.dataclass(frozen=True, slots=True)
class ColumnFacts:
    """What a column holds; `low` and `high` are those of numbers."""

    name: str
    form: Form
    type: ColumnType
    missing: int
    distinct: int
    low: Value = None
    high: Value = None
    categories: tuple[str, ...] = ()
    unread: int = 0  # rows with a text that is no number; they count as missing, too
    spread: float = 1.0  # from the 1st to the 99th percentile, by which differences are measured

    def to_dict(self) -> dict[str, Any]:
        """Return the facts as plain values."""
        own = {name: getattr(self, name) for name in ("name", "form", "type", "missing", "unread")}
        return own | {
            "distinct": self.distinct,
            "low": plain(self.low),
            "high": plain(self.high),
            "categories": list(self.categories),
        }


def facts_of(column: Column) -> ColumnFacts:
    """Look at a column once."""
    missing = int(np.count_nonzero(column.missing()))
    if not column.is_numeric:
        counts = np.bincount(column.codes[column.codes >= 0], minlength=len(column.labels))
        common = np.argsort(-counts, kind="stable")[:MOST_CATEGORIES]
        names = tuple(str(plain(column.labels[place])) for place in common)
        return ColumnFacts(
            column.name, column.form, "categorical", missing, len(column.labels), categories=names
        )
    kind: ColumnType = "datetime" if column.form in TIMES else "numeric"
    known = column.values[np.isfinite(column.values)]
    if not len(known):
        return ColumnFacts(column.name, column.form, kind, missing, 0)
    low, near, far, high = (float(x) for x in np.quantile(known, (0, 0.01, 0.99, 1)))
    distinct = len(np.unique(known))
    ends = value_of(column.form, low), value_of(column.form, high)
    spread = (far - near) or (high - low) or 1.0
    facts = ColumnFacts(column.name, column.form, kind, missing, distinct, *ends, spread=spread)
    return dataclasses.replace(facts, unread=len(column.unread_rows()))
