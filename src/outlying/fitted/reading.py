"""New rows read as those of a model were: column by column, whatever their own table looks like."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from outlying import sentences as say
from outlying.errors import ColumnError
from outlying.options import Options
from outlying.parsing.reading import Reading
from outlying.table.columns import (
    CategoricalColumn,
    Column,
    NumericColumn,
    categorical_column,
    frozen,
)
from outlying.table.selection import optional_columns
from outlying.table.table import Table
from outlying.table.values import TIMES, Form, label_text, text_of

#: Where more of the texts of a column of numbers are none, the column is another one.
MOST_UNREAD = 0.2
#: Forms whose numbers mean the same.
_ALIKE: tuple[tuple[Form, ...], ...] = (("number", "integer"), ("date", "datetime"))


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class NewTable:
    """New rows in the columns of a model, and what keeps them from being judged."""

    table: Table
    faults: tuple[str, ...]  # columns that are missing, or others

    def checked(self) -> Table:
        """Return the table; an error names all columns that do not fit."""
        if self.faults:
            faults = "; ".join(self.faults)
            raise ColumnError(f"{self.table.source}: cannot be compared with the model: {faults}")
        return self.table


def read_as(base: Table, given: Table, options: Options) -> NewTable:
    """Read the columns of new rows as those of a table that was read as declared."""
    optional, known = optional_columns(base, options), {item.name: item for item in given.columns}
    columns, faults, notes = list[Column](), list[str](), list(given.notes)
    for own in base.columns:
        column, fault = known.get(own.name), None
        if column is None:
            fault = "is missing"
        elif not column.missing().all():
            read = _read(own, column)
            if not isinstance(read, str):
                kept, infinite = read.without_infinities(as_missing=True)
                columns.append(kept)
                notes += filter(None, (infinite, _unread_note(kept)))
                continue
            fault = read
        columns.append(_empty(own, given.rows))
        if fault is not None and own.name not in optional:
            faults.append(f"column {own.name!r} {fault}")
    others = [name for name in known if name not in set(base.names)]
    if others:
        notes.append(say.NOT_IN_MODEL.format(columns=", ".join(map(repr, others))))
    table = dataclasses.replace(
        given, columns=tuple(columns), skipped=base.skipped, notes=tuple(notes), index=base.index
    )
    return NewTable(table, tuple(faults))


def _empty(own: Column, rows: int) -> Column:
    if own.is_numeric:
        return NumericColumn(own.name, own.form, frozen(np.full(rows, np.nan)))
    return dataclasses.replace(own, codes=frozen(np.full(rows, -1, dtype=np.int32)), labels=())


def _read(own: Column, given: Column) -> Column | str:
    """Return a column in the kind of another one, or say why it is none of that kind."""
    if own.is_numeric and not given.is_numeric and given.form == "text":
        return _parsed(own, given)
    if not own.is_numeric and given.is_numeric:
        return _as_labels(own, given)
    are_alike = any({own.form, given.form} <= set(item) for item in _ALIKE)
    if own.form != given.form and not are_alike:
        return f"holds {_noun(given)}, not {_noun(own)} as in the model"
    if given.is_numeric or own.is_numeric:
        return dataclasses.replace(given, form=own.form if own.form in TIMES else given.form)
    return dataclasses.replace(given, are_of_numbers=own.are_of_numbers)


def _parsed(own: NumericColumn, given: CategoricalColumn) -> Column | str:
    """Read texts as the model reads its own; a few that do not fit are odd, many are a change."""
    if own.written is not None:
        reading: Any = own.written.reading
    elif own.form in ("time", "duration"):
        reading = Reading(own.form)
    else:
        reading = Reading.declared("datetime" if own.form in TIMES else "numeric")
    read = given.parsed(reading, own.form)
    wrong = read.unread_rows()
    if len(wrong) > MOST_UNREAD * (len(wrong) + np.count_nonzero(~read.missing())):
        first = text_of(str(given.labels[given.codes[wrong].min()]))
        return f"holds texts such as {first!r}, not {_noun(own)} as in the model"
    return read


def _as_labels(own: CategoricalColumn, given: NumericColumn) -> Column | str:
    """Read numbers as labels, where some labels of the model are numbers, too."""
    known = {number: str(label) for label in own.labels if (number := _number(label)) is not None}
    if own.form != "text" or given.form in TIMES or not known:
        return f"holds {_noun(given)}, not {_noun(own)} as in the model"
    distinct, first, codes = np.unique(given.values, return_index=True, return_inverse=True)
    values = [given.value(row) for row in first.tolist()]
    labels = [
        None if value is None else known.get(number, label_text(value))
        for number, value in zip(distinct.tolist(), values, strict=True)
    ]
    cells = [labels[code] for code in codes.tolist()]
    return categorical_column(own.name, cells, are_of_numbers=own.are_of_numbers)


def _number(label: object) -> float | None:
    try:
        return float(str(label))
    except ValueError:
        return None


def _noun(column: Column) -> str:
    if column.form in ("number", "integer"):
        return "numbers"
    return "texts" if column.form == "text" else f"values of type {column.form}"


def _unread_note(column: Column) -> str | None:
    rows = column.unread_rows() if column.is_numeric else np.arange(0)
    if not len(rows):
        return None
    first, noun = text_of(column.cell(int(rows[0]))), _noun(column)[:-1]
    said = say.NOT_READ[len(rows) > 1].format(rows=len(rows), noun=noun, text=first)
    return say.COLUMN_HOLDS.format(column=repr(column.name), said=said)
