"""Columns that seem to say which rows are asked for: their labels, handed over with the table.

And columns in which a single row differs from all others: evidence for that row, or its label.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from outlying.table.columns import Column, Rows
from outlying.table.evidence import LEAST_ROWS
from outlying.table.table import Table

#: A single row may be the only one with a value; that is a finding, not a label.
_LEAST_ROWS = 2
_LOOKED_AT = 64  # rows that tell most columns to be no such


def label_columns(table: Table, rows: list[int] | None) -> tuple[str, ...]:
    """Return the columns of two values of which the rarer one is that of exactly these rows."""
    asked = np.unique(np.array(rows or (), dtype=np.int64))
    if not _LEAST_ROWS <= len(asked) < table.rows / 2:
        return ()
    return tuple(column.name for column in table.columns if _tells_apart(column, asked))


def _tells_apart(column: Column, asked: Rows) -> bool:
    cells = column.content()[1]
    own = cells[asked]
    if not (own == own[0]).all():  # a missing number is not equal to itself
        return False
    others = np.delete(cells, asked)
    return bool((others == others[0]).all() and others[0] != own[0])


def lone_rows(table: Table) -> dict[str, int]:
    """Return the columns that are the same in all rows but one, and which row that is."""
    if table.rows < LEAST_ROWS:
        return {}
    found = ((column.name, _lone_row(column)) for column in table.columns)
    return {name: row for name, row in found if row is not None}


def lone_values(table: Table, lone: Iterable[str]) -> frozenset[str]:
    """Return those columns of lone rows in which all other rows have no value."""
    return frozenset(name for name in lone if table.column(name).missing().sum() > 1)


def _lone_row(column: Column) -> int | None:
    """Return the only row that differs; None where several do, or none."""
    few = column.first(_LOOKED_AT)
    usual = 1 if few.same(1, np.arange(len(few))).sum() > 1 else 0
    for some in (few, column):
        others = np.flatnonzero(~some.same(usual, np.arange(len(some))))
        if len(others) > 1:
            return None
    return int(others[0]) if len(others) else None
