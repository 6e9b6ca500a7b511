"""Columns of a stream that are no evidence: what a sample suggests is tried on all rows.

Copies show themselves in the sample, too. Only where it has some, a pass over their columns tells
whether that holds in every row: one that differs in a single row does not.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import cast

import numpy as np

from outlying.options import Options
from outlying.sources.arrow_types import Field
from outlying.sources.passes import Batch
from outlying.stream.profile import Profile
from outlying.table.columns import Column
from outlying.table.evidence import Copy, are_codes, copies_in, may_count_rows
from outlying.table.values import Value


@dataclasses.dataclass(slots=True)
class EvidenceState:
    """What was seen of some rows."""

    broken: set[str]  # copies that are none
    pairs: dict[str, set[tuple[Value, Value]]]  # categories beside those of the original


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class EvidencePass:
    """What to try on all rows."""

    fields: tuple[Field, ...]
    copies: tuple[Copy, ...]
    counting: tuple[str, ...]  # columns that hold the numbers of the rows

    @classmethod
    def of(cls, profile: Profile, options: Options) -> EvidencePass:
        """Plan by what the rows that were drawn suggest."""
        declared = options.declared
        used = profile.used
        counting = tuple(
            column.name
            for column in used
            if column.name not in declared and _counts_rows(column, profile)
        )
        if len(counting) == len(used):
            counting = ()  # what else is there?
        others = [column for column in used if column.name not in counting]
        drawn = [column.first(profile.drawn) for column in others]
        suggested = copies_in(drawn, are_drawn=True)
        copies = tuple(copy for copy in suggested if copy.name not in declared)
        return cls(profile.fields, copies, counting)

    @property
    def columns(self) -> list[str]:
        """The columns to be read."""
        pairs = (name for copy in self.copies for name in (copy.name, copy.original))
        return list(dict.fromkeys(pairs))

    def start(self) -> EvidenceState:
        """Return the state of no rows."""
        renamed = [copy.name for copy in self.copies if self._is_renamed(copy)]
        return EvidenceState(set(), {name: set() for name in renamed})

    def _is_renamed(self, copy: Copy) -> bool:
        return not copy.is_same and not copy.tolerance

    def add(self, state: EvidenceState, batch: Batch) -> EvidenceState:
        """Take in a batch of rows."""
        wanted = set(self.columns)
        columns = {
            field.name: field.column(batch.column(field.name))
            for field in self.fields
            if field.name in wanted
        }
        for copy in self.copies:
            self._try(copy, columns[copy.name], columns[copy.original], state)
        return state

    def _try(self, copy: Copy, column: Column, original: Column, state: EvidenceState) -> None:
        if copy.name in state.broken:
            return
        if self._is_renamed(copy):
            is_right = bool((column.missing() == original.missing()).all())
            state.pairs[copy.name] |= _pairs(column, original)
        else:
            is_right = copy.holds(column, original)
        if not is_right:
            state.broken.add(copy.name)

    def merge(self, state: EvidenceState, other: EvidenceState) -> EvidenceState:
        """Put what was seen of two parts of the table together."""
        state.broken |= other.broken
        for name, pairs in other.pairs.items():
            state.pairs[name] |= pairs
        return state

    def finish(self, state: EvidenceState, profile: Profile) -> Profile:
        """Return the profile without the columns that are no evidence."""
        copies = [copy for copy in self.copies if self._holds(copy, state)]
        return profile.without_evidence(self.counting, copies)

    def _holds(self, copy: Copy, state: EvidenceState) -> bool:
        pairs = state.pairs.get(copy.name, set())
        own, others = {one for one, _ in pairs}, {other for _, other in pairs}
        if copy.name in state.broken or not len(pairs) == len(own) == len(others):
            return False
        ordered = sorted((str(text), cast(int, number)) for number, text in pairs)
        return not copy.is_code or are_codes({text: float(number) for text, number in ordered})


def _counts_rows(column: Column, profile: Profile) -> bool:
    facts = profile.facts[column.name]
    low, high = float(facts.low), float(facts.high)
    return facts.counts_rows and may_count_rows(column, profile.rows, low, high)


def _pairs(column: Column, original: Column) -> set[tuple[Value, Value]]:
    """Return which categories stand beside which."""
    first: Sequence[int] = np.unique(
        np.stack([column.content()[1], original.content()[1]]), axis=1, return_index=True
    )[1].tolist()
    return {(column.value(row), original.value(row)) for row in first if not column.is_missing(row)}
