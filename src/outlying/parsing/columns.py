"""Tables as they are compared: types that the user declared, texts read as what they show to be."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, TypeGuard

import numpy as np

from outlying.errors import ColumnError, InfiniteValueError, RowAt
from outlying.options import ColumnType, Options
from outlying.parsing.decision import Decision, decide
from outlying.parsing.reading import FORMS, Declared, Reading
from outlying.parsing.tally import Tally, declared_kind
from outlying.table.columns import (
    CategoricalColumn,
    Column,
    NumericColumn,
    WrittenTexts,
    frozen,
    infinities_note,
)
from outlying.table.selection import (
    MOST_ASKED,
    check_width,
    compared,
    is_compared,
    optional_columns,
)
from outlying.table.table import Table, is_part_name
from outlying.table.values import EXPECTS, is_gap, text_of


def as_declared(table: Table, options: Options) -> Table:
    """Apply the user's types, and refuse infinite values or count them as missing."""
    check_width(sum(1 for _ in compared(table, options)), MOST_ASKED)
    return _finite(as_read(table, options), options)


def as_read(table: Table, options: Options) -> Table:
    """Apply the user's types, and read texts as what they show to be; infinite values stay."""
    declared = dict(options.types)
    unread = {skipped.name for skipped in table.skipped}
    for name in options.named:
        if name not in unread and not is_part_name(name, table.names):
            table.column(name)
    columns, notes = [], list(table.notes)
    knows_types = not all(map(_is_of_texts, table.columns))
    for column in table.columns:
        read, note = column, None
        if column.name in declared or is_compared(column.name, table, options):
            read, note = _as_read(column, declared.get(column.name), knows_types=knows_types)
        columns.append(read)
        notes += [] if note is None else [f"column {column.name!r} {note}"]
    return dataclasses.replace(table, columns=tuple(columns), notes=tuple(notes))


def _is_of_texts(column: Column) -> TypeGuard[CategoricalColumn]:
    return not column.is_numeric and column.form == "text" and not column.are_of_numbers


def _as_read(
    column: Column, kind: ColumnType | None, *, knows_types: bool
) -> tuple[Column, str | None]:
    """Read a column as it is declared; texts also as what they show to be, and say so."""
    if not _is_of_texts(column):
        return (column if kind is None else column.retyped(kind)), None
    if kind == "categorical":
        return column, None
    return _read_texts(column, kind, knows_types=knows_types) or (column, None)


def decision_on(
    column: CategoricalColumn, kind: ColumnType | None, *, knows_types: bool = True
) -> Decision | None:
    """Return how the texts of a column in memory are to be read; None: as they are.

    A table that holds nothing but texts does not know types.
    """
    tally = Tally(declared_kind(kind), knows_types=knows_types)
    texts: tuple[str, ...] = column.labels  # type: ignore[assignment]
    tally.add(texts, lambda: np.bincount(column.codes[column.codes >= 0], minlength=len(texts)))
    return decide(tally)


def _read_texts(
    column: CategoricalColumn, kind: ColumnType | None, *, knows_types: bool
) -> tuple[NumericColumn, str | None] | None:
    """Read texts as what they are or were declared to be, and say how; None: they stay texts."""
    decision, declared = decision_on(column, kind, knows_types=knows_types), declared_kind(kind)
    if decision is not None:
        reading = decision.reading
    elif declared is not None:
        reading = Reading.declared(declared)
    else:
        return None
    numbers = np.append(reading.numbers([str(label) for label in column.labels]), np.nan)
    if declared is not None:
        is_wrong = np.isnan(numbers) & ~np.array([*map(is_gap, map(str, column.labels)), True])
        for row in np.flatnonzero(is_wrong[column.codes])[:1].tolist():
            raise not_read(column.name, declared, str(column.value(row)), RowAt(row))
    written = WrittenTexts(column, reading)
    values = frozen(numbers[column.codes])
    read = NumericColumn(column.name, reading.form, values, written=written)
    return read, None if decision is None else decision.note


def not_read(column: str, declared: Declared, text: str, row: str | RowAt) -> ColumnError:
    """Return the error about a text that is not what its column was declared to hold."""
    form = FORMS[declared]
    return ColumnError(
        f"column {column!r} was to be read as {form}, but ",
        row,
        f" holds {text_of(text)!r}; allowed there: {EXPECTS[form]}",
    )


def with_object(table: Table, values: Mapping[str, Any], options: Options) -> Table:
    """Add a new object as the last row of a table that is as declared."""
    joined = table.with_object(values, optional_columns(table, options))
    try:
        return _finite(joined, options)
    except InfiniteValueError as error:  # all rows but the last one are known to be finite
        raise InfiniteValueError(error.column, None) from None


def _finite(table: Table, options: Options) -> Table:
    """Refuse infinite values in what is compared, or count them as missing and say so."""
    columns, notes = [], list(table.notes)
    for column in table.columns:
        kept, count = column, 0
        if is_compared(column.name, table, options):
            as_missing = options.infinite == "missing"
            kept, count = column.without_infinities(as_missing=as_missing)
        if count:
            notes.append(infinities_note(column.name, count))
        columns.append(kept)
    return dataclasses.replace(table, columns=tuple(columns), notes=tuple(notes))
