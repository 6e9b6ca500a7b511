"""The first pass: what a table holds, and a sample of its rows.

Between the passes the ordinary search runs on the sample. It is the one that
`sampling.sample_rows` takes from the same table in memory, and typed by the same rules.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from outlying.options import Options
from outlying.search.model import MOST_ROWS
from outlying.sources.arrow_arrays import of_numbers
from outlying.sources.arrow_types import Field, arrow, form_of, plain_texts
from outlying.sources.columns import skipped, unique_names
from outlying.sources.passes import Batch
from outlying.stream.bottom_k import RowSketch
from outlying.stream.column_facts import ColumnCounts
from outlying.table.columns import Rows
from outlying.table.row_hash import salted_sums, splitmix64
from outlying.table.sampling import SKETCH_SIZE
from outlying.table.selection import MOST_ASKED, Selection, check_width, is_asked_for, not_empty
from outlying.table.table import SkippedColumn, Table, is_part_name
from outlying.table.values import EXPECTS

if TYPE_CHECKING:
    import pyarrow


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
    for name in (*options.declared, *options.exclude, *(options.columns or ())):
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
