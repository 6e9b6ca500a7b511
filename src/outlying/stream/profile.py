"""What the first pass leaves behind: facts about all rows, and a table in memory of some."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from outlying.derived.calendar import DATES, CalendarFacts
from outlying.derived.choosing import Facts, chosen, joined, with_parts
from outlying.derived.finding import find_relations, past_of
from outlying.derived.keys import KeyFacts
from outlying.derived.texts import TextFacts
from outlying.errors import InfiniteValueError, NoRowsError
from outlying.options import Options
from outlying.parsing.reading import Reading
from outlying.sources.arrow_arrays import arrow, of_numbers
from outlying.sources.columns import Field
from outlying.stream.bottom_k import estimated_count
from outlying.stream.column_facts import (
    ColumnCounts,
    ColumnFacts,
    typed_by_all_rows,
)
from outlying.stream.profile_pass import PastPass, ProfilePass, ProfileState
from outlying.table.columns import Column, Derivation, infinities_note
from outlying.table.row_hash import systematic_sample
from outlying.table.selection import (
    MOST_TEXTS,
    ColumnSummary,
    Copy,
    Selection,
    is_too_fine,
    row_numbers,
    skipped_column,
)
from outlying.table.table import SkippedColumn, SkipReason, Table
from outlying.table.targets import Key
from outlying.table.values import Value

if TYPE_CHECKING:
    import pyarrow

#: Stands for all labels that no row drawn has: no text, as Unicode keeps it free.
OTHER_LABEL = "\U0010ffff"
_UNEVEN = 1.1  # distinct rows with so many more or fewer copies than all have are not typical


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """What a table holds, and some of its rows in memory."""

    table: Table  # the rows drawn, then those that were looked for, in the order of the wheres
    rows: int  # of the whole table
    drawn: int
    fields: tuple[Field, ...]  # how the columns of the table are read in another pass
    facts: Mapping[str, ColumnFacts]
    skipped: tuple[SkippedColumn, ...]
    sample: pyarrow.Table  # the rows drawn, as they were read
    other_values: tuple[Mapping[str, Value], ...] = ()  # what rows looked for hold in other columns
    copies: tuple[Copy, ...] = ()  # columns that say nothing beside others
    part_facts: Mapping[str, Facts] = dataclasses.field(default_factory=dict)
    derivations: tuple[Derivation, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether no row was left out."""
        return self.drawn == self.rows

    def with_rows(self, found: pyarrow.Table, others: Sequence[Field]) -> Profile:
        """Put rows that were looked for behind those drawn; they may hold other columns, too."""
        columns = _columns(self.fields, [self.sample, found])
        table = dataclasses.replace(self.table, columns=columns, rows=self.drawn + len(found))
        return dataclasses.replace(self, table=table, other_values=tuple(values_of(others, found)))

    def only(self, row: int) -> Profile:
        """Return the rows drawn with only one of those behind them."""
        rows = np.append(np.arange(self.drawn), row)
        columns = tuple(column.taken(rows) for column in self.table.columns)
        table = dataclasses.replace(self.table, columns=columns, rows=len(rows))
        return dataclasses.replace(self, table=table)

    def with_notes(self, notes: Iterable[str]) -> Profile:
        """Put notes before those on the table."""
        table = dataclasses.replace(self.table, notes=(*notes, *self.table.notes))
        return dataclasses.replace(self, table=table)

    def without_evidence(self, counting: Iterable[str], copies: Sequence[Copy]) -> Profile:
        """Leave out columns that count rows, and copies of others."""
        skipped = (*map(row_numbers, counting), *(copy.skipped() for copy in copies))
        names = {item.name for item in skipped}
        return dataclasses.replace(
            self,
            skipped=(*self.skipped, *skipped),
            copies=(*self.copies, *copies),
            derivations=tuple(item for item in self.derivations if item.parent not in names),
        )

    def with_relations(self, options: Options) -> Profile:
        """Add the relations between columns that take part, as the rows drawn show them."""
        rows = np.arange(self.drawn)
        found = find_relations(self.selection.columns, self.table.names, options, rows)
        return dataclasses.replace(self, derivations=(*self.derivations, *found))

    def with_past(self, plan: PastPass, rows: Sequence[pyarrow.Table], options: Options) -> Profile:
        """Add what the past of rows says of them, given all of them."""
        columns = _columns(plan.fields, rows)
        found = past_of(columns, self.table.names, options, self.derivations)
        return dataclasses.replace(self, derivations=(*self.derivations, *found))

    def derived(self, derivation: Derivation) -> Column:
        """Compute a derived column of the rows in memory."""
        return derivation.column({item.name: item for item in self.table.columns})

    def derivations_with(
        self, new: Sequence[Column], skipped: tuple[SkippedColumn, ...], options: Options
    ) -> tuple[Derivation, ...]:
        """Return what is derived once there is one more row, given as columns of it."""
        facts = {
            column.name: joined(self.part_facts[column.name], column)
            for column in new
            if column.name in self.part_facts
        }
        unused = {item.name for item in skipped}
        relations = (
            item
            for item in self.derivations
            if item.given and unused.isdisjoint((item.parent, *item.given))
        )
        return (*_derivations(new, skipped, facts, options), *relations)

    def ends(self, name: str) -> tuple[float, float]:
        """Return the least and the greatest number of a column."""
        return float(self.facts[name].low), float(self.facts[name].high)

    def values(self, place: int) -> dict[str, Value]:
        """Return all that is known of a row that was looked for, by its place among these."""
        others = self.other_values[place] if self.other_values else {}
        return {**others, **self.table.values(self.drawn + place)}

    def key(self, values: Mapping[str, Value], where: Iterable[str] = ()) -> Key:
        """Name a row by what was looked for, as the table holds it, and by identifiers."""
        naming = (SkipReason.IDENTIFIER, SkipReason.ROW_NUMBER)
        identifiers = [item.name for item in self.skipped if item.why in naming]
        return tuple((name, values[name]) for name in dict.fromkeys((*where, *identifiers)))

    def too_fine(self, options: Options) -> set[str]:
        """Name the columns that name rows rather than group them."""
        declared = options.declared
        return {
            column.name
            for column in self.table.columns
            if is_too_fine(
                _summary(column, self.facts[column.name], self.rows),
                is_declared=column.name in declared,
            )
        }

    def left_out_with(self, new: Sequence[Column], options: Options) -> tuple[SkippedColumn, ...]:
        """Return which columns take no part once there is one more row, given as columns of it."""
        known = {column.name: column for column in self.table.columns}
        unread = [item for item in self.skipped if item.name not in known]
        facts = {
            column.name: self.facts[column.name].joined(column, _labels(known[column.name]))
            for column in new
        }
        own = {column.name: column for column in new}
        counting = [item for item in self.skipped if item.why is SkipReason.ROW_NUMBER]
        copies = (copy.skipped() for copy in self.copies if _still_holds(copy, known, own))
        left_out = _left_out(options, self.rows + 1, self.table.columns, facts)
        named = {item.name for item in counting}
        others = (item for item in left_out if item.name not in named)
        return (*unread, *others, *counting, *copies)

    @property
    def selection(self) -> Selection:
        """The columns that take part, chosen by what all rows hold; there may be none."""
        whole = Selection(self.used, self.skipped)
        return with_parts(whole, tuple(map(self.derived, self.derivations)))

    @property
    def known_selection(self) -> Selection:
        """The same, with one more label where there are some that no row drawn has.

        A model knows by it that there are others, as that of a table in memory does.
        """
        whole = self.selection
        return dataclasses.replace(whole, columns=tuple(map(self._with_other, whole.columns)))

    def _with_other(self, column: Column) -> Column:
        distinct = self.facts[column.name].distinct or 0
        if column.is_numeric or distinct <= len(column.labels):
            return column
        other = not any(column.labels) if column.form == "boolean" else OTHER_LABEL
        return dataclasses.replace(column, labels=(*column.labels, other))

    @property
    def used(self) -> tuple[Column, ...]:
        """The columns that take part, be it by what is derived from them."""
        unused = {column.name for column in self.skipped}
        return tuple(column for column in self.table.columns if column.name not in unused)


def finish(plan: ProfilePass, state: ProfileState, empty: Table) -> Profile:
    """Make a table in memory of what was kept, typed by what all rows hold.

    `empty` is the table without its rows.
    """
    _refuse(plan, state, empty.source)
    fields = tuple(typed_by_all_rows(f, state.counts[f.name], state.rows) for f in plan.fields)
    places = systematic_sample(state.sketch.hashes, state.sketch.copies, plan.sample_size)
    sample = state.sketch.rows().take(of_numbers(places))
    columns = _columns(fields, [sample])
    notes = tuple(_notes(plan, state))
    table = dataclasses.replace(empty, columns=columns, rows=len(places), notes=notes)
    facts = {field.name: _facts(field, state.counts[field.name], state.rows) for field in fields}
    skipped = (*plan.unusable, *_left_out(plan.options, state.rows, columns, facts))
    parts = {
        field.name: found
        for field in fields
        if (found := _part_facts(field, state.counts[field.name], state.rows)) is not None
    }
    derivations = tuple(_derivations(columns, skipped, parts, plan.options))
    return Profile(
        table,
        state.rows,
        len(places),
        fields,
        facts,
        skipped,
        sample,
        part_facts=parts,
        derivations=derivations,
    )


def _part_facts(field: Field, counts: ColumnCounts, rows: int) -> Facts | None:
    """Return what decides on the parts of a column, as all rows show its type."""
    if counts.parts is None or field.are_labels_of_numbers:
        return None
    facts = counts.parts.facts(rows - counts.missing - counts.infinite)
    return facts if field.written is None else _read_facts(field.written, facts)


def _read_facts(reading: Reading, texts: Facts | None) -> Facts | None:
    """Return the facts of what texts mean, which are all known unless they are very many."""
    if not isinstance(texts, TextFacts) or not texts.is_whole:
        return None
    numbers = reading.numbers(list(texts.counts))
    rows = np.array(list(texts.counts.values()), dtype=np.int64)
    if reading.form in DATES:
        return CalendarFacts.of(numbers, rows)
    return KeyFacts.of(numbers, rows) if reading.form == "integer" else None


def _derivations(
    columns: Sequence[Column],
    skipped: Iterable[SkippedColumn],
    facts: Mapping[str, Facts],
    options: Options,
) -> Iterator[Derivation]:
    """Return what is derived from columns, by the same rules as in memory."""
    unused = {item.name: item for item in skipped}
    used = tuple(column for column in columns if column.name not in unused)
    selection = Selection(used, tuple(unused.values()))
    return chosen(columns, selection, facts, options)


def _refuse(plan: ProfilePass, state: ProfileState, source: str) -> None:
    if state.rows == 0:
        raise NoRowsError(f"{source}: there are no rows, only column names")
    for field in plan.fields:
        if state.counts[field.name].infinite and plan.options.infinite == "error":
            raise InfiniteValueError(field.name, None, "in some row")


def _columns(fields: Sequence[Field], tables: Sequence[pyarrow.Table]) -> tuple[Column, ...]:
    names = [field.name for field in fields]
    joined = arrow().concat_tables([table.select(names) for table in tables])
    return tuple(_column(field, joined) for field in fields)


def _column(field: Field, rows: pyarrow.Table) -> Column:
    column = field.column(rows.column(field.name))
    if column.is_numeric:
        return column
    return dataclasses.replace(column, are_of_numbers=field.are_labels_of_numbers)


def values_of(fields: Sequence[Field], rows: pyarrow.Table) -> Iterator[dict[str, Value]]:
    """Return what rows hold."""
    columns = [field.column(rows.column(field.name)) for field in fields]
    for row in range(len(rows)):
        yield {column.name: column.cell(row) for column in columns}


def _facts(field: Field, counts: ColumnCounts, rows: int) -> ColumnFacts:
    missing = counts.missing + counts.infinite
    if field.written is not None:
        decision = counts.decision()
        if decision is None:
            return ColumnFacts(missing, math.nan, math.nan, None, is_exact=True)
        return ColumnFacts(missing + decision.missing, *decision.ends, None, is_exact=True)
    if field.is_numeric:
        ends, counts_rows = (float(counts.low), float(counts.high)), counts.counts_rows(rows)
        return ColumnFacts(missing, *ends, None, is_exact=True, counts_rows=counts_rows)
    seen = counts.distinct
    return ColumnFacts(missing, math.nan, math.nan, seen.count, seen.is_exact)


def _left_out(
    options: Options, rows: int, columns: Sequence[Column], facts: Mapping[str, ColumnFacts]
) -> Iterator[SkippedColumn]:
    """Leave out columns by the same rules and in the same words as in memory."""
    declared = options.declared
    for column in columns:
        summary = _summary(column, facts[column.name], rows)
        is_declared = column.name in declared
        skip = skipped_column(column.name, summary, is_declared=is_declared, is_streamed=True)
        if skip is not None:
            yield skip


def _still_holds(copy: Copy, known: Mapping[str, Column], new: Mapping[str, Column]) -> bool:
    """Return whether a copy is one of a new object, too, given as columns of one row."""
    one, other = (known[name].with_value(new[name].cell(0)) for name in (copy.name, copy.original))
    return copy.holds(one, other)


def _labels(column: Column) -> int:
    return 0 if column.is_numeric else len(column.labels)


def _summary(column: Column, facts: ColumnFacts, rows: int) -> ColumnSummary:
    is_constant = facts.low == facts.high if facts.distinct is None else facts.distinct == 1
    only = column.value(0) if is_constant and facts.missing == 0 else None
    texts = facts.distinct if column.form == "text" else None
    return ColumnSummary(rows, facts.missing, only, texts, facts.is_exact)


def _notes(plan: ProfilePass, state: ProfileState) -> Iterator[str]:
    for field in plan.fields:
        counts = state.counts[field.name]
        if field.form == "integer" and counts.are_keys(state.rows):
            yield f"column {field.name!r}: whole numbers beyond 2**53 read as categories"
    if plan.options.derive:
        for field in plan.fields:
            parts = state.counts[field.name].parts
            if parts is not None and parts.are_many_keys and field.form == "integer":
                yield _not_counted(field.name, "whether a value occurs twice")
            elif parts is not None and parts.texts is not None and not parts.texts.has_room:
                yield _not_counted(field.name, "misspellings, parts of dates and what occurs twice")
    for field in plan.fields:
        decision = state.counts[field.name].decision()
        if decision is not None:
            yield f"column {field.name!r} {decision.note}"
    for field in plan.fields:
        if state.counts[field.name].infinite:
            yield infinities_note(field.name, state.counts[field.name].infinite)
    hashes = state.sketch.hashes
    if _is_uneven(state):
        yield (
            f"some rows are repeated very often, others are not; the sample is drawn from "
            f"{len(hashes):,} of about {estimated_count(hashes):,} distinct rows, and may hold too "
            "many or too few copies"
        )


def _not_counted(name: str, what: str) -> str:
    return (
        f"column {name!r}: more than {MOST_TEXTS:,} distinct values, too many to tell {what} "
        "where the table is streamed"
    )


def _is_uneven(state: ProfileState) -> bool:
    """Return whether the rows in the sketch have far more or fewer copies than all have."""
    kept = int(state.sketch.copies.sum())
    if kept == state.rows:
        return False
    share = (kept / len(state.sketch.hashes)) / (state.rows / estimated_count(state.sketch.hashes))
    return not 1 / _UNEVEN < share < _UNEVEN
