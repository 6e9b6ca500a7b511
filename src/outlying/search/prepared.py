"""A table in memory made ready to be judged: its columns chosen, its model made."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np

from outlying.options import Options
from outlying.search.attributes import Attribute, attribute_of
from outlying.search.cells import Numbers
from outlying.search.evaluation import Groups
from outlying.search.evidence import Evidence
from outlying.search.model import BATCH, MOST_ROWS, Model, numbers_of
from outlying.search.scoring import Progress
from outlying.search.threads import Once
from outlying.table.columns import Rows
from outlying.table.sampling import sample_rows
from outlying.table.selection import Selection, check_width, compared
from outlying.table.table import Table


def knows_column(own: Attribute, new: Attribute, row: int) -> bool:
    """Return whether a model with one attribute can judge a row of another, the same with a row.

    It cannot where the row is the first to lack a value; whether it may, the column itself says.
    """
    if (own.column.name, own.kind) != (new.column.name, new.kind):
        return False
    is_part = own.column.origin is not None
    return is_part or not new.column.is_missing(row) or bool(own.column.missing().any())


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """A table whose columns are chosen and prepared."""

    table: Table
    options: Options
    selection: Selection
    attributes: tuple[Attribute, ...]  # by name, so that the order of columns decides nothing
    drawn: Rows | None  # the rows that the model is made of, ascending; None for all
    total: int  # rows that these stand for
    _once: Once = dataclasses.field(default_factory=Once)

    @classmethod
    def of(
        cls,
        table: Table,
        options: Options,
        selection: Selection,
        *,
        has_new: bool = False,
        total: int | None = None,
    ) -> Prepared:
        """Prepare chosen columns; of a large table, rows are drawn by what they hold.

        They are drawn without a new object, which is its last row, and this one joins them.
        `total` says how many rows there are where the table itself was drawn of them.
        """
        columns = (*selection.columns, *selection.derived)
        check_width(len(columns))
        drawn = None
        if table.rows > MOST_ROWS and not options.exact:
            known = table.rows - has_new
            asked = (column.first(known) for column in compared(table, options))
            rows = np.sort(sample_rows(asked, known, MOST_ROWS))
            drawn = np.append(rows, known) if has_new else rows
        ordered = sorted(columns, key=lambda column: column.name)
        attributes = tuple(attribute_of(column, drawn) for column in ordered)
        return cls(table, options, selection, attributes, drawn, total or table.rows)

    def model(self, threads: int = 1) -> Model:
        """Return what rows are judged by, made once."""
        given = self.attributes, self.drawn, self.total, self.options, threads
        return self._once("model", lambda: Model(*given))

    def evidence(self, threads: int = 1, progress: Progress | None = None) -> Evidence:
        """Return what counts against the rows of the model, judged once."""
        return self._once("evidence", lambda: self._judged(self.model(threads), progress))

    @staticmethod
    def _judged(model: Model, progress: Progress | None) -> Evidence:
        model.progress = progress  # of whoever waits for it, also if another one has given up
        return model.evidence

    @property
    def groups(self) -> Groups:
        """The rows of the table by the conditions of the model."""
        return self._once("groups", lambda: Groups(self.attributes, self.model()))

    def evidence_of(
        self, rows: Rows, threads: int = 1, progress: Progress | None = None
    ) -> Evidence:
        """Return what counts against some rows, whether or not the model is made of them."""
        known = self.evidence(threads, progress)
        if self.drawn is None:
            return known.of_rows(rows)
        places = np.minimum(np.searchsorted(self.drawn, rows), len(self.drawn) - 1)
        is_known = self.drawn[places] == rows
        if is_known.all():
            return known.of_rows(places)
        numbers = [numbers_of(item, rows[~is_known]) for item in self.attributes]
        others = self.model().judged(numbers, progress)
        return known.of_rows(places[is_known]).interleaved(is_known, others)

    def all_evidence(
        self, threads: int = 1, progress: Progress | None = None
    ) -> Iterator[tuple[Rows, Evidence]]:
        """Return what counts against all rows, some of them at a time."""
        if self.drawn is None:
            yield np.arange(self.table.rows), self.evidence(threads, progress)
            return
        for start in range(0, self.table.rows, BATCH):
            rows = np.arange(start, min(start + BATCH, self.table.rows))
            yield rows, self.evidence_of(rows, threads, progress)

    def knows(self, other: Prepared, row: int) -> bool:
        """Return whether a row of the same table with a new object can be judged by this model.

        It cannot where other columns take part then, or where it is the first to lack a value.
        """
        if len(self.attributes) != len(other.attributes):
            return False
        pairs = zip(self.attributes, other.attributes, strict=True)
        return all(knows_column(own, new, row) for own, new in pairs)

    def numbers_of(self, other: Prepared, row: int) -> list[Numbers]:
        """Return the numbers of a row of another table on the scales of this one."""
        pairs = zip(self.attributes, other.attributes, strict=True)
        return [own.number_of(new.column, row) for own, new in pairs]
