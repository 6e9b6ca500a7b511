"""The first pass: what a table holds, a sample of its rows, and the rows to be explained.

Between the passes the ordinary search runs on the sample. It is the one that `sampling.drawn` takes
from the same table in memory, and typed by the same rules.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from outlying.options import Options
from outlying.sources.columns import skipped, unique_names
from outlying.sources.passes import Batch
from outlying.sources.types.arrow import Field, arrow, form_of, plain_texts
from outlying.sources.types.arrow_numpy import of_numbers
from outlying.stream.profile.bottom_k import Kinds
from outlying.stream.profile.column_facts import Tally
from outlying.stream.profile.lookup import MOST_ROWS, Columns, Meaning, Sought
from outlying.table.columns import Rows
from outlying.table.row_hash import Hashes, salted_sums, splitmix64
from outlying.table.sampling import SKETCH_SIZE
from outlying.table.selection import Selection, is_asked_for, not_empty
from outlying.table.table import SkippedColumn
from outlying.table.values import EXPECTS

if TYPE_CHECKING:
    import pyarrow

#: So many rows are drawn from a table.
SAMPLE = 16_384


@dataclasses.dataclass(slots=True)
class ProfileState:
    """What was seen of some rows."""

    tallies: dict[str, Tally]
    kinds: Kinds
    found: Kinds  # known by the number of their where; where it stands for many, by their marks
    rows: int = 0
    fitting: int = 0  # rows that fit a where


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class ProfilePass:
    """The plan of the first pass: how columns are read, what is looked for, how much is kept."""

    options: Options
    fields: tuple[Field, ...]  # in the order of the source
    unread: tuple[SkippedColumn, ...]
    sought: Sought | None = None
    most: int = SKETCH_SIZE
    sample: int = SAMPLE

    @classmethod
    def of(
        cls,
        source: str,
        schema: pyarrow.Schema,
        options: Options,
        *,
        where: object = None,
        meaning: Meaning = "one",
        skipped: Iterable[SkippedColumn] = (),
    ) -> ProfilePass:
        """Plan by the types of the columns; a feeder may have left out some before.

        A where names one row; several name one each (`meaning="each"`); or one stands for every
        row with its values (`meaning="every"`).
        """
        fields, unusable = fields_of(source, schema, options)
        unread = (*skipped, *unusable)
        columns = Columns(fields, unread)
        _check_names(columns, options)
        sought = None if where is None else Sought.of(meaning, where, columns)
        names = set() if sought is None else sought.names
        needed = tuple(field for field in fields if field.is_compared or field.name in names)
        plan = cls(options, needed, unread, sought)
        if not plan.compared:
            not_empty(Selection((), plan.unusable))
        return plan

    @property
    def columns(self) -> list[str]:
        """The columns to be read."""
        return [field.name for field in self.fields]

    @property
    def compared(self) -> list[Field]:
        """The columns that are compared, not only looked at to find rows."""
        return [field for field in self.fields if field.is_compared]

    @property
    def unusable(self) -> tuple[SkippedColumn, ...]:
        """The columns that would be compared if they could be read."""
        return tuple(column for column in self.unread if is_asked_for(column.name, self.options))

    def start(self) -> ProfileState:
        """Return the state of no rows."""
        wheres = 0 if self.sought is None else len(self.sought.wheres)
        tallies = {field.name: Tally() for field in self.fields}
        return ProfileState(tallies, Kinds(self.most), Kinds(max(wheres, MOST_ROWS)))

    def add(self, state: ProfileState, batch: Batch) -> ProfileState:
        """Take in a batch of rows."""
        rows = batch.num_rows
        if rows == 0:
            return state
        arrays = {field.name: _takeable(batch.column(field.name)) for field in self.fields}
        cells = {f.name: state.tallies[f.name].add(f, arrays[f.name]) for f in self.fields}
        marks = splitmix64(salted_sums([cells[field.name] for field in self.compared], rows))
        state.rows += rows
        state.kinds.add(marks, lambda places: _rows(self.compared, arrays, places))
        if self.sought is not None:
            for places, numbers in self.sought.hits(cells, rows):
                self._keep(state, places, self._names(numbers, marks[places]), arrays)
        return state

    def merge(self, state: ProfileState, other: ProfileState) -> ProfileState:
        """Put what was seen of two parts of the table together."""
        state.rows += other.rows
        state.fitting += other.fitting
        for name, tally in other.tallies.items():
            state.tallies[name].merge(tally)
        state.kinds.merge(other.kinds)
        state.found.merge(other.found)
        return state

    @property
    def _is_for_many(self) -> bool:
        return self.sought is not None and self.sought.meaning == "every"

    def _names(self, numbers: Hashes, marks: Hashes) -> Hashes:
        """Choose by what found rows are known.

        Those of one where that stands for many differ in columns that are compared, or not at all.
        """
        return marks if self._is_for_many else numbers

    def _keep(
        self, state: ProfileState, places: Rows, known_by: Hashes, arrays: Mapping[str, Any]
    ) -> None:
        """Keep rows that were found; of far too many, which will be refused, only the number."""
        state.fitting += len(places)
        if not self._is_for_many or state.fitting <= MOST_ROWS:
            state.found.add(known_by, lambda some: _rows(self.fields, arrays, places[some]))


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
    return fields, unusable


def _check_names(columns: Columns, options: Options) -> None:
    """Refuse options that name a column which does not exist."""
    unread = {column.name for column in columns.table.skipped}
    for name in (*dict(options.types), *options.exclude, *(options.columns or ())):
        if name not in unread:
            columns.table.column(name)


def _takeable(array: Any) -> Any:
    """Return an array from which single cells can be taken; the library cannot do so from views."""
    pa = arrow()
    return array.cast(pa.large_string()) if pa.types.is_string_view(array.type) else array


def _rows(fields: Sequence[Field], arrays: Mapping[str, Any], places: Rows) -> pyarrow.Table:
    """Copy some rows; texts of all kinds become plain ones."""
    chosen = of_numbers(places)
    taken = {field.name: arrays[field.name].take(chosen) for field in fields}
    texts = {field.name: plain_texts(taken[field.name]) for field in fields if field.form == "text"}
    return arrow().table(taken | texts)
