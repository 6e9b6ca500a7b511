"""The first pass: what a table holds, and a sample of its rows, which later passes are planned by.

The sample is the one that `table.row_hash.sample_rows` takes from the same table in memory.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from outlying import sentences as say
from outlying.derived.choosing import (
    Facts,
    by_all_rows,
    chosen,
    find_relations,
    joined,
    past_of,
    with_parts,
)
from outlying.errors import InfiniteValueError, NoRowsError
from outlying.options import Options
from outlying.parsing import pa
from outlying.search.model import MOST_ROWS
from outlying.sources.arrow_arrays import form_of, plain_texts
from outlying.sources.columns import Field, skipped, unique_names
from outlying.sources.passes import Batch
from outlying.stream.counting import (
    ColumnCounts,
    ColumnTotals,
    Sketch,
    facts_of,
    taken,
    typed_by_all_rows,
)
from outlying.table.columns import Column, Derivation, Rows, infinities_note
from outlying.table.row_hash import SKETCH_SIZE, salted_sums, splitmix64, systematic_sample
from outlying.table.selection import (
    MOST_ASKED,
    MOST_TEXTS,
    ColumnSummary,
    Copy,
    Selection,
    check_width,
    is_asked_for,
    is_too_fine,
    not_empty,
    skipped_column,
)
from outlying.table.table import SkippedColumn, SkipReason, Table, is_part_name
from outlying.table.targets import Key
from outlying.table.values import EXPECTS, Value

#: Stands for all labels that no row drawn has: no text, as Unicode keeps it free.
OTHER_LABEL = "\U0010ffff"
_UNEVEN = 1.1  # distinct rows with so many more or fewer copies than all have are not typical


@dataclasses.dataclass(slots=True)
class ProfileState:
    """What was seen of some rows."""

    counts: dict[str, ColumnCounts]
    sketch: Sketch
    rows: int = 0

    def merge(self, other: ProfileState) -> None:
        """Take in what was seen of other rows."""
        self.rows += other.rows
        for name, counts in other.counts.items():
            self.counts[name].merge(counts)
        self.sketch.merge(other.sketch)


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
        table = Table(tuple(field.empty() for field in fields), 0, "", tuple(unread))
        known = {column.name for column in unread}
        for name in options.named:
            if name not in known and not is_part_name(name, table.names):
                table.column(name)  # or there is none
        compared = tuple(field for field in fields if field.is_compared)
        knows_types = any(field.form != "text" for field in fields)
        size = max(SKETCH_SIZE, most)
        plan = cls(options, compared, tuple(unread), size, most, knows_types=knows_types)
        if not compared:
            not_empty(Selection((), plan.unusable))
        return plan

    @property
    def unusable(self) -> tuple[SkippedColumn, ...]:
        """The columns that would be compared if they could be read."""
        return tuple(column for column in self.unread if is_asked_for(column.name, self.options))

    def start(self) -> ProfileState:
        """Return the state of no rows."""
        counts = {f.name: ColumnCounts.of(f, knows_types=self.knows_types) for f in self.fields}
        return ProfileState(counts, Sketch(self.sketch_size))

    def add(self, state: ProfileState, batch: Batch) -> ProfileState:
        """Take in a batch of rows."""
        if not batch.num_rows:
            return state
        arrays = takeable(batch, self.fields)
        cells = [state.counts[f.name].add(f, arrays[f.name]) for f in self.fields]
        state.rows += batch.num_rows
        hashes = splitmix64(salted_sums(cells, batch.num_rows))
        state.sketch.add(hashes, lambda places: copied(self.fields, arrays, places))
        return state

    def merge(self, state: ProfileState, other: ProfileState) -> ProfileState:
        """Put what was seen of two parts of the table together."""
        state.merge(other)
        return state


def fields_of(
    source: str, schema: pa.Schema, options: Options
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


def takeable(batch: Batch, fields: Iterable[Field]) -> dict[str, Any]:
    """Return arrays from which single cells can be taken; the library cannot do so from views."""
    arrays = {field.name: batch.column(field.name) for field in fields}
    return {
        name: array.cast(pa.large_string()) if pa.types.is_string_view(array.type) else array
        for name, array in arrays.items()
    }


def copied(fields: Sequence[Field], arrays: Mapping[str, Any], places: Rows) -> pa.Table:
    """Copy some rows; texts of all kinds become plain ones."""
    found = taken(pa.table({field.name: arrays[field.name] for field in fields}), places)
    columns = [
        plain_texts(column) if field.form == "text" else column
        for field, column in zip(fields, found.columns, strict=True)
    ]
    return pa.table(columns, names=found.column_names)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """What a table holds, and some of its rows in memory."""

    options: Options
    table: Table  # the rows drawn, then those that were looked for, in the order of the wheres
    rows: int  # of the whole table
    drawn: int
    fields: tuple[Field, ...]  # how the columns of the table are read in another pass
    facts: Mapping[str, ColumnTotals]
    part_facts: Mapping[str, Facts]
    skipped: tuple[SkippedColumn, ...]
    sample: pa.Table  # the rows drawn, as they were read
    other_values: tuple[Mapping[str, Value], ...] = ()  # what rows looked for hold in other columns
    copies: tuple[Copy, ...] = ()  # columns that say nothing beside others
    derivations: tuple[Derivation, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether no row was left out."""
        return self.drawn == self.rows

    def with_columns(self, columns: tuple[Column, ...]) -> Profile:
        """Return the profile with other rows in memory."""
        table = dataclasses.replace(self.table, columns=columns, rows=len(columns[0]))
        return dataclasses.replace(self, table=table)

    def only(self, row: int) -> Profile:
        """Return the rows drawn with only one of those behind them."""
        rows = np.append(np.arange(self.drawn), row)
        return self.with_columns(tuple(column.taken(rows) for column in self.table.columns))

    def with_rows(self, found: pa.Table, others: Sequence[Field]) -> Profile:
        """Put rows that were looked for behind those drawn; they may hold other columns, too."""
        whole = self.with_columns(_columns(self.fields, [self.sample, found]))
        return dataclasses.replace(whole, other_values=tuple(values_of(others, found)))

    def with_notes(self, notes: Iterable[str]) -> Profile:
        """Put notes before those on the table."""
        table = dataclasses.replace(self.table, notes=(*notes, *self.table.notes))
        return dataclasses.replace(self, table=table)

    def with_relations(self) -> Profile:
        """Add the relations between columns that take part, as the rows drawn show them."""
        names, rows = self.table.names, np.arange(self.drawn)
        found = find_relations(self.selection.columns, names, self.options, rows)
        return dataclasses.replace(self, derivations=(*self.derivations, *found))

    def with_past(self, rows: Sequence[pa.Table]) -> Profile:
        """Add what the past of rows says of them, given all rows of the columns that take part."""
        columns = _columns([f for f in self.fields if f.name in rows[0].column_names], rows)
        found = by_all_rows(columns, self.derivations)
        past = past_of(columns, self.table.names, self.options, found)
        return dataclasses.replace(self, derivations=(*found, *past))

    def values(self, place: int) -> dict[str, Value]:
        """Return all that is known of a row that was looked for, by its place among these."""
        others = self.other_values[place] if self.other_values else {}
        return {**others, **self.table.values(self.drawn + place)}

    def key(self, values: Mapping[str, Value], where: Iterable[str] = ()) -> Key:
        """Name a row by what was looked for, as the table holds it, and by identifiers."""
        naming = (SkipReason.IDENTIFIER, SkipReason.ROW_NUMBER)
        identifiers = [item.name for item in self.skipped if item.why in naming]
        return tuple((name, values[name]) for name in dict.fromkeys((*where, *identifiers)))

    def too_fine(self) -> set[str]:
        """Name the columns that name rows rather than group them."""
        declared = self.options.declared
        return {
            own.name
            for own in self.table.columns
            if is_too_fine(
                _summary(own, self.facts[own.name], self.rows), is_declared=own.name in declared
            )
        }

    def seen_by(
        self, new: Sequence[Column]
    ) -> tuple[tuple[SkippedColumn, ...], tuple[Derivation, ...]]:
        """Return which columns are left out, and what is derived, once there is the `new` row."""
        known = {column.name: column for column in self.table.columns}
        own = {column.name: column for column in new}
        unread = [item for item in self.skipped if item.name not in known]
        facts = {name: self.facts[name].joined(item, known[name]) for name, item in own.items()}
        counting = {item.name: item for item in self.skipped if item.why is SkipReason.ROW_NUMBER}
        names = {name for copy in self.copies for name in (copy.name, copy.original)}
        longer = {name: known[name].with_value(own[name].cell(0)) for name in names}
        copies = (c.skipped() for c in self.copies if c.holds(longer[c.name], longer[c.original]))
        others = _left_out(self.options, self.rows + 1, self.table.columns, facts)
        others = (item for item in others if item.name not in counting)
        left_out = (*unread, *others, *counting.values(), *copies)
        parts = {
            name: joined(found, own[name]) for name, found in self.part_facts.items() if name in own
        }
        unused = {item.name for item in left_out}
        relations = [
            item
            for item in self.derivations
            if item.given and unused.isdisjoint((item.parent, *item.given))
        ]
        return left_out, (*_derivations(new, left_out, parts, self.options), *relations)

    @property
    def used(self) -> tuple[Column, ...]:
        """The columns that take part, be it by what is derived from them."""
        unused = {column.name for column in self.skipped}
        return tuple(column for column in self.table.columns if column.name not in unused)

    @property
    def selection(self) -> Selection:
        """The columns that take part, chosen by what all rows hold; there may be none."""
        columns = {column.name: column for column in self.table.columns}
        derived = tuple(item.column(columns) for item in self.derivations)
        return with_parts(Selection(self.used, self.skipped), derived)

    @property
    def known_selection(self) -> Selection:
        """The same, with one more label where there are some that no row drawn has."""
        whole = self.selection
        return dataclasses.replace(whole, columns=tuple(map(self._with_other, whole.columns)))

    def _with_other(self, column: Column) -> Column:
        distinct = self.facts[column.name].distinct or 0
        if column.is_numeric or distinct <= len(column.labels):
            return column
        other = not any(column.labels) if column.form == "boolean" else OTHER_LABEL
        return dataclasses.replace(column, labels=(*column.labels, other))


def finish(plan: ProfilePass, state: ProfileState, empty: Table) -> Profile:
    """Make a table in memory of what was kept, typed by all rows; `empty` is it without rows."""
    if state.rows == 0:
        raise NoRowsError(f"{empty.source}: there are no rows, only column names")
    for field in plan.fields:
        if state.counts[field.name].infinite and plan.options.infinite == "error":
            raise InfiniteValueError(field.name, None, "in some row")
    fields = tuple(typed_by_all_rows(f, state.counts[f.name], state.rows) for f in plan.fields)
    places = systematic_sample(state.sketch.hashes, state.sketch.copies, plan.sample_size)
    sample = taken(state.sketch.rows, places)
    columns = _columns(fields, [sample])
    notes = tuple(_notes(plan, state))
    table = dataclasses.replace(empty, columns=columns, rows=len(places), notes=notes)
    facts = {field.name: facts_of(field, state.counts[field.name], state.rows) for field in fields}
    parts = {f.name: state.counts[f.name].part_facts(f, state.rows) for f in fields}
    known = {name: found for name, found in parts.items() if found is not None}
    left_out = (*plan.unusable, *_left_out(plan.options, state.rows, columns, facts))
    derivations = tuple(_derivations(columns, left_out, known, plan.options))
    drawn = len(places), fields, facts, known, left_out, sample
    return Profile(plan.options, table, state.rows, *drawn, derivations=derivations)


def _derivations(
    columns: Sequence[Column],
    left_out: Sequence[SkippedColumn],
    facts: Mapping[str, Facts],
    options: Options,
) -> Iterator[Derivation]:
    unused = {item.name for item in left_out}
    used = tuple(column for column in columns if column.name not in unused)
    return chosen(columns, Selection(used, tuple(left_out)), facts, options)


def _columns(fields: Sequence[Field], tables: Sequence[pa.Table]) -> tuple[Column, ...]:
    names = [field.name for field in fields]
    rows = pa.concat_tables([table.select(names) for table in tables])
    columns = (field.column(rows.column(field.name)) for field in fields)
    return tuple(
        column
        if column.is_numeric
        else dataclasses.replace(column, are_of_numbers=field.are_labels_of_numbers)
        for field, column in zip(fields, columns, strict=True)
    )


def values_of(fields: Sequence[Field], rows: pa.Table) -> Iterator[dict[str, Value]]:
    """Return what rows hold."""
    columns = [field.column(rows.column(field.name)) for field in fields]
    for row in range(len(rows)):
        yield {column.name: column.cell(row) for column in columns}


def _left_out(
    options: Options, rows: int, columns: Sequence[Column], facts: Mapping[str, ColumnTotals]
) -> Iterator[SkippedColumn]:
    """Leave out columns by the same rules and in the same words as in memory."""
    for column in columns:
        summary, is_declared = _summary(column, facts[column.name], rows), options.declared
        skip = skipped_column(
            column.name, summary, is_declared=column.name in is_declared, is_streamed=True
        )
        if skip is not None:
            yield skip


def _summary(column: Column, facts: ColumnTotals, rows: int) -> ColumnSummary:
    is_constant = facts.low == facts.high if facts.distinct is None else facts.distinct == 1
    only = column.value(0) if is_constant and facts.missing == 0 else None
    texts = facts.distinct if column.form == "text" else None
    return ColumnSummary(rows, facts.missing, only, texts, facts.is_exact)


def _notes(plan: ProfilePass, state: ProfileState) -> Iterator[str]:
    counts = [(field, state.counts[field.name]) for field in plan.fields]
    for field, own in counts:
        if field.form == "integer" and own.are_keys(state.rows):
            yield say.COLUMN_HOLDS.format(column=repr(field.name), said=say.LONG_NUMBERS)
    for field, own in counts:
        if plan.options.derive and field.form == "text" and not own.labels.is_whole:
            said = say.TOO_MANY_LABELS.format(most=MOST_TEXTS)
            yield say.COLUMN_HOLDS.format(column=repr(field.name), said=said)
    for field, own in counts:
        decision = own.decision()
        if decision is not None:
            yield say.COLUMN_WAS.format(column=repr(field.name), said=decision.note)
    for field, own in counts:
        if own.infinite:
            yield infinities_note(field.name, own.infinite)
    sketch = state.sketch
    share = int(sketch.copies.sum()) / len(sketch.hashes) * sketch.distinct / state.rows
    if not sketch.is_whole and not 1 / _UNEVEN < share < _UNEVEN:
        yield say.COPIES_IN_SAMPLE.format(sampled=len(sketch.hashes), distinct=sketch.distinct)
