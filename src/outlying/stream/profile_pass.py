"""The first pass: what a table holds, and a sample of its rows; one more tries what these suggest.

Between the passes the ordinary search runs on the sample. It is the one that
`sampling.sample_rows` takes from the same table in memory, and typed by the same rules. Columns
that copy others show themselves in it, too; only where it has some, a pass over these columns tells
whether that holds in every row.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from outlying.options import Options
from outlying.search.model import MOST_ROWS
from outlying.sources.arrow_arrays import arrow, form_of, of_numbers, plain_texts
from outlying.sources.columns import Field, skipped, unique_names
from outlying.sources.passes import Batch
from outlying.stream.bottom_k import RowSketch
from outlying.stream.column_facts import ColumnCounts
from outlying.table.columns import Column, Rows
from outlying.table.row_hash import SKETCH_SIZE, salted_sums, splitmix64
from outlying.table.selection import (
    MOST_ASKED,
    Copy,
    Selection,
    are_codes,
    check_width,
    copies_in,
    is_asked_for,
    may_count_rows,
    not_empty,
)
from outlying.table.table import SkippedColumn, Table, is_part_name
from outlying.table.values import EXPECTS, Value

if TYPE_CHECKING:
    import pyarrow

    from outlying.stream.profile import Profile


@dataclasses.dataclass(slots=True)
class ProfileState:
    """What was seen of some rows."""

    counts: dict[str, ColumnCounts]
    sketch: RowSketch
    rows: int = 0


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class ProfilePass:
    """The plan of the first pass: how the compared columns are read, and how much is kept."""

    options: Options
    fields: tuple[Field, ...]  # in the order of the source
    unread: tuple[SkippedColumn, ...]
    sketch_size: int
    sample_size: int
    knows_types: bool = True  # whether the table holds anything but texts

    @classmethod
    def of(
        cls,
        options: Options,
        fields: Sequence[Field],
        unread: Sequence[SkippedColumn],
        most: int = MOST_ROWS,
    ) -> ProfilePass:
        """Plan by how columns are read, by those that cannot be, and by how many rows to draw."""
        empty = tuple(field.empty() for field in fields)
        _check_names(Table(empty, 0, "", tuple(unread)), options)
        compared = tuple(field for field in fields if field.is_compared)
        knows_types = any(field.form != "text" for field in fields)
        plan = cls(
            options, compared, tuple(unread), max(SKETCH_SIZE, most), most, knows_types=knows_types
        )
        if not plan.fields:
            not_empty(Selection((), plan.unusable))
        return plan

    @property
    def columns(self) -> list[str]:
        """The columns to be read."""
        return [field.name for field in self.fields]

    @property
    def unusable(self) -> tuple[SkippedColumn, ...]:
        """The columns that would be compared if they could be read."""
        return tuple(column for column in self.unread if is_asked_for(column.name, self.options))

    def start(self) -> ProfileState:
        """Return the state of no rows."""
        has_parts = self.options.derive
        counts = {
            field.name: ColumnCounts.of(field, has_parts=has_parts, knows_types=self.knows_types)
            for field in self.fields
        }
        return ProfileState(counts, RowSketch(self.sketch_size))

    def add(self, state: ProfileState, batch: Batch) -> ProfileState:
        """Take in a batch of rows."""
        rows = batch.num_rows
        if rows == 0:
            return state
        arrays = takeable(batch, self.fields)
        cells = [state.counts[f.name].add(f, arrays[f.name]) for f in self.fields]
        state.rows += rows
        row_hashes = splitmix64(salted_sums(cells, rows))
        state.sketch.add(row_hashes, lambda places: copied(self.fields, arrays, places))
        return state

    def merge(self, state: ProfileState, other: ProfileState) -> ProfileState:
        """Put what was seen of two parts of the table together."""
        state.rows += other.rows
        for name, counts in other.counts.items():
            state.counts[name].merge(counts)
        state.sketch.merge(other.sketch)
        return state


def fields_of(
    source: str, schema: pyarrow.Schema, options: Options
) -> tuple[list[Field], list[SkippedColumn]]:
    """Return how each column is read, or why not."""
    wanted = dict(options.types)
    fields, unusable = [], []
    for name, kind in zip(unique_names(source, schema.names), schema.types, strict=True):
        form = form_of(kind)
        if form in EXPECTS:
            fields.append(Field(name, form, wanted.get(name), is_asked_for(name, options)))
        else:
            unusable.append(skipped(name, form))
    check_width(sum(field.is_compared for field in fields), MOST_ASKED)
    return fields, unusable


def _check_names(table: Table, options: Options) -> None:
    """Refuse options that name a column which does not exist."""
    unread = {column.name for column in table.skipped}
    for name in options.named:
        if name not in unread and not is_part_name(name, table.names):
            table.column(name)


def takeable(batch: Batch, fields: Iterable[Field]) -> dict[str, Any]:
    """Return arrays from which single cells can be taken; the library cannot do so from views."""
    pa = arrow()
    arrays = {field.name: batch.column(field.name) for field in fields}
    return {
        name: array.cast(pa.large_string()) if pa.types.is_string_view(array.type) else array
        for name, array in arrays.items()
    }


def copied(fields: Sequence[Field], arrays: Mapping[str, Any], places: Rows) -> pyarrow.Table:
    """Copy some rows; texts of all kinds become plain ones."""
    chosen = of_numbers(places)
    taken = {field.name: arrays[field.name].take(chosen) for field in fields}
    texts = {field.name: plain_texts(taken[field.name]) for field in fields if field.form == "text"}
    return arrow().table(taken | texts)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class PastPass:
    """All rows of some columns, which are held while it is found out what their past says."""

    fields: tuple[Field, ...]

    @property
    def columns(self) -> list[str]:
        """The columns to be read."""
        return [field.name for field in self.fields]

    def start(self) -> list[pyarrow.Table]:
        """Return no rows."""
        return []

    def add(self, state: list[pyarrow.Table], batch: Batch) -> list[pyarrow.Table]:
        """Take in a batch of rows."""
        rows = np.arange(batch.num_rows)
        return [*state, copied(self.fields, takeable(batch, self.fields), rows)]

    def merge(self, state: list[pyarrow.Table], other: list[pyarrow.Table]) -> list[pyarrow.Table]:
        """Put the rows of two parts of the table together."""
        return state + other


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
