"""Conditions: frozen descriptions of a context; they hold no data."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

from outlying.table.values import Value, plain, printable, range_text, text_of

ConditionKind = Literal["interval", "equals", "missing"]


@dataclasses.dataclass(frozen=True, slots=True)
class Condition:
    """One condition on one attribute: it lies in an interval, equals a category, or is missing."""

    attribute: str
    kind: ConditionKind
    low: Value = None
    high: Value = None
    value: Value = None

    def __str__(self) -> str:
        name = printable(self.attribute)
        if self.kind == "missing":
            return f"{name} is missing"
        if self.kind == "equals" or self.low == self.high:
            return f"{name} = {text_of(self.low if self.kind == 'interval' else self.value)}"
        return f"{name} is {range_text(self.low, self.high)}"

    def to_dict(self) -> dict[str, Any]:
        """Return the condition as it stands in the JSON result."""
        return {
            "attribute": self.attribute,
            "kind": self.kind,
            "low": plain(self.low),
            "high": plain(self.high),
            "value": plain(self.value),
        }
