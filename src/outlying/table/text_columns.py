"""Columns of texts that are numbers or dates written for people, read in memory."""

from __future__ import annotations

import numpy as np

from outlying.errors import ColumnError, RowAt
from outlying.options import ColumnType
from outlying.table.columns import (
    CategoricalColumn,
    Mask,
    NumericColumn,
    WrittenTexts,
    frozen,
)
from outlying.table.values import EXPECTS, is_gap, text_of
from outlying.table.written.decision import Decision, decide
from outlying.table.written.reading import FORMS, Wanted, declared_reading
from outlying.table.written.tally import Tally


def wanted_of(kind: ColumnType | None) -> Wanted | None:
    """Return what texts are declared to be, if anything but texts."""
    return None if kind is None or kind == "categorical" else kind


def tally_for(
    kind: ColumnType | None, *, has_ends: bool = False, knows_types: bool = True
) -> Tally:
    """Return a tally of no rows, for a column that may be declared to be something."""
    return Tally(wanted_of(kind), has_ends, knows_types)


def decision_on(
    column: CategoricalColumn, kind: ColumnType | None, *, knows_types: bool = True
) -> Decision | None:
    """Return how the texts of a column in memory are to be read; None: as they are."""
    tally = tally_for(kind, knows_types=knows_types)
    texts: tuple[str, ...] = column.labels  # type: ignore[assignment]
    tally.add(texts, lambda: np.bincount(column.codes[column.codes >= 0], minlength=len(texts)))
    return decide(tally)


def read_texts(
    column: CategoricalColumn, kind: ColumnType | None, *, knows_types: bool = True
) -> tuple[NumericColumn, str | None] | None:
    """Read texts as what they are or were declared to be, and say how; None: they stay texts.

    A table that holds nothing but texts does not know types.
    """
    decision, wanted = decision_on(column, kind, knows_types=knows_types), wanted_of(kind)
    if decision is None and wanted is None:
        return None
    reading = decision.reading if decision is not None else declared_reading(wanted or "numeric")
    texts: tuple[str, ...] = column.labels  # type: ignore[assignment]
    numbers = reading.numbers(texts)
    if wanted is not None:
        _refuse_misfits(column, wanted, np.isnan(numbers))
    values = np.append(numbers, np.nan)[column.codes]
    written = WrittenTexts(column, reading)
    read = NumericColumn(column.name, reading.form, frozen(values), written=written)
    return read, None if decision is None else decision.note


def _refuse_misfits(column: CategoricalColumn, wanted: Wanted, unread: Mask) -> None:
    """Refuse what does not fit the declared type, by the first such row."""
    is_wrong = [
        bool(gap) and not is_gap(str(x)) for x, gap in zip(column.labels, unread, strict=True)
    ]
    if any(is_wrong):
        row = int(np.flatnonzero(np.append(is_wrong, False)[column.codes])[0])
        raise not_read(column.name, wanted, str(column.value(row)), RowAt(row))


def not_read(column: str, wanted: Wanted, text: str, row: str | RowAt) -> ColumnError:
    """Return the error about a text that is not what its column was declared to hold."""
    form = FORMS[wanted]
    return ColumnError(
        f"column {column!r} was to be read as {form}, but ",
        row,
        f" holds {text_of(text)!r}; allowed there: {EXPECTS[form]}",
    )
