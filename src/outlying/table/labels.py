"""Columns that seem to say which rows are asked for: their labels, handed over with the table."""

from __future__ import annotations

import numpy as np

from outlying.table.columns import Column, Rows
from outlying.table.table import Table

#: A single row may be the only one with a value; that is a finding, not a label.
_LEAST_ROWS = 2


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
