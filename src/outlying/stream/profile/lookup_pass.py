"""A pass that finds rows by their values; it may run beside the first pass, in one scan."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from outlying.sources.passes import Batch
from outlying.sources.types.arrow import Field
from outlying.sources.types.arrow_numpy import of_numbers
from outlying.stream.profile.bottom_k import Kinds
from outlying.stream.profile.column_facts import Tally, settled
from outlying.stream.profile.lookup import MOST_ROWS, Columns, Groups, Sought, hits, refuse_number
from outlying.stream.profile.profile import Profile
from outlying.stream.profile.profile_pass import copied, takeable
from outlying.table.columns import Rows
from outlying.table.row_hash import Cells, Hashes, salted_sums, splitmix64

if TYPE_CHECKING:
    import pyarrow


@dataclasses.dataclass(slots=True)
class LookupState:
    """What was found among some rows."""

    tallies: dict[str, Tally]  # of columns that are only looked at
    found: Kinds  # known by the number of their where; where it stands for many, by their marks
    rows: int = 0
    fitting: int = 0  # rows that fit a where


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class LookupPass:
    """What rows to look for, and how the columns are read that are compared or looked at."""

    compared: tuple[Field, ...]
    beside: tuple[Field, ...]  # looked at, but not compared
    groups: Groups
    is_for_every: bool
    most: int

    @classmethod
    def of(cls, fields: tuple[Field, ...], sought: Sought) -> LookupPass:
        """Plan by how columns are read."""
        compared = tuple(field for field in fields if field.is_compared)
        names = sought.names
        beside = tuple(f for f in fields if f.name in names and not f.is_compared)
        most = max(len(sought.wheres), MOST_ROWS)
        return cls(compared, beside, sought.groups, sought.is_for_every, most)

    @property
    def fields(self) -> tuple[Field, ...]:
        """How the columns are read."""
        return (*self.compared, *self.beside)

    @property
    def columns(self) -> list[str]:
        """The columns to be read."""
        return [field.name for field in self.fields]

    def start(self) -> LookupState:
        """Return the state of no rows."""
        return LookupState({field.name: Tally() for field in self.beside}, Kinds(self.most))

    def add(self, state: LookupState, batch: Batch) -> LookupState:
        """Take in a batch of rows."""
        rows = batch.num_rows
        if rows == 0:
            return state
        arrays = takeable(batch, self.fields)
        names = {name for group, _ in self.groups for name in group}
        cells = {
            field.name: state.tallies.get(field.name, Tally()).add(field, arrays[field.name])
            for field in self.fields
            if field.name in names
        }
        state.rows += rows
        for places, numbers in hits(self.groups, cells, rows):
            state.fitting += len(places)
            if self.is_for_every and state.fitting > MOST_ROWS:
                continue  # far too many, which will be refused: only their number counts
            table = copied(self.fields, arrays, places)
            known_by = self._marks(table) if self.is_for_every else numbers
            state.found.add(known_by, lambda some, table=table: _taken(table, some))  # type: ignore[misc]
        return state

    def merge(self, state: LookupState, other: LookupState) -> LookupState:
        """Put what was found in two parts of the table together."""
        state.rows += other.rows
        state.fitting += other.fitting
        for name, tally in other.tallies.items():
            state.tallies[name].merge(tally)
        state.found.merge(other.found)
        return state

    def _marks(self, table: pyarrow.Table) -> Hashes:
        """Return the row hashes of found rows.

        Rows of one where that stands for many differ in columns that are compared, or not at all.
        """
        cells: list[Cells] = [
            Tally().add(field, table.column(field.name).combine_chunks()) for field in self.compared
        ]
        return splitmix64(salted_sums(cells, len(table)))


def found_in(profile: Profile, plan: LookupPass, state: LookupState, sought: Sought) -> Profile:
    """Return the profile with the rows that were found behind those that were drawn."""
    beside = [settled(field, state.tallies[field.name], state.rows) for field in plan.beside]
    if not sought.wheres:
        return profile
    sought.check(Columns([*profile.fields, *beside], profile.table.skipped))
    if sought.is_for_every:
        refuse_number(sought.wheres[0], state.fitting)
        places = np.repeat(np.arange(len(state.found.marks)), state.found.counts)
    else:
        places = sought.places(state.found.marks, state.found.counts)
    return profile.with_rows(_taken(state.found.rows(), places), beside)


def _taken(table: pyarrow.Table, rows: Rows) -> pyarrow.Table:
    return table.take(of_numbers(rows))
