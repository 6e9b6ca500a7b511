"""Whole numbers that are keys: what occurs twice among them is an exception."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np

from outlying.derived.chance import are_keys
from outlying.derived.texts import ONCE, REPEATED, are_exceptions, said_of_repeated
from outlying.table.arrays import Counts, Floats
from outlying.table.columns import CategoricalColumn, Column, frozen
from outlying.table.parts import Part
from outlying.table.values import Value


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class KeyFacts:
    """Distinct whole numbers in order, and how many rows each has."""

    values: Floats
    counts: Counts

    @classmethod
    def of(cls, values: Floats, rows: Counts | None = None) -> KeyFacts:
        """Count whole numbers, or `rows` of each; NaN is missing."""
        known = ~np.isnan(values)
        if rows is None:
            return cls(*np.unique(values[known], return_counts=True))
        distinct, places = np.unique(values[known], return_inverse=True)
        counts = np.zeros(len(distinct), dtype=np.int64)
        np.add.at(counts, places, rows[known])
        return cls(distinct, counts)

    def merged(self, other: KeyFacts) -> KeyFacts:
        """Return the facts of the rows of both."""
        values = np.concatenate([self.values, other.values])
        return KeyFacts.of(values, np.concatenate([self.counts, other.counts]))

    @property
    def rows(self) -> int:
        """How many rows have a number."""
        return int(self.counts.sum())

    @property
    def repeated(self) -> dict[float, int]:
        """The numbers that occur more than once, and how often."""
        places = self.counts > 1
        return dict(zip(self.values[places].tolist(), self.counts[places].tolist(), strict=True))


@dataclasses.dataclass(frozen=True, slots=True)
class RepeatedKeys:
    """Whether a key occurs more than once, where nearly all occur once."""

    parent: str
    counts: tuple[tuple[float, int], ...]

    given: ClassVar[tuple[str, ...]] = ()
    gives_conditions: ClassVar[bool] = False

    @property
    def name(self) -> str:
        """The name of the derived column."""
        return Part.REPEATED.name_of(self.parent)

    @property
    def key(self) -> str:
        """What tells it from the same part by other rows."""
        return f"{self.name} of {self.counts}"

    @property
    def ends(self) -> tuple[float, float]:
        """NaN: these are categories."""
        return math.nan, math.nan

    def column(self, columns: Mapping[str, Column]) -> Column:
        """Look keys up."""
        parent = columns[self.parent]
        assert parent.is_numeric  # noqa: S101 - keys of this kind are whole numbers
        codes = np.isin(parent.values, list(dict(self.counts))).astype(np.int32)
        codes[np.isnan(parent.values)] = -1
        return CategoricalColumn(self.name, "text", frozen(codes), (ONCE, REPEATED), origin=self)

    def said(self, values: Mapping[str, Value]) -> str | None:
        """Say how often it occurs."""
        value = values[self.parent]
        number = float(value) if isinstance(value, (int, float)) else np.nan
        return said_of_repeated(dict(self.counts).get(number), len(self.counts))


def key_derivations(parent: str, facts: KeyFacts) -> Iterator[RepeatedKeys]:
    """Return whether keys occur more than once, where few do."""
    repeated = facts.repeated
    if are_exceptions(repeated, len(facts.values), facts.rows) and are_keys(
        facts.values, facts.counts
    ):
        yield RepeatedKeys(parent, tuple(repeated.items()))
