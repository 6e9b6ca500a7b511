"""Which columns take part, and why the others do not."""

from __future__ import annotations

import dataclasses

import numpy as np

from outlying.errors import ColumnError
from outlying.options import Options
from outlying.table import CategoricalColumn, Column, NumericColumn, SkippedColumn, Table
from outlying.values import text_of

#: A text column with a larger share of distinct values names rows rather than groups them.
IDENTIFIER_SHARE = 0.9
#: Fewer known values than this say nothing about being an identifier.
IDENTIFIER_ROWS = 20


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Selection:
    """The columns that take part, in the order of the source, and those that do not."""

    columns: tuple[Column, ...]
    skipped: tuple[SkippedColumn, ...]


def select(table: Table, options: Options) -> Selection:
    """Choose the columns to compare; an error if none is left."""
    selection = chosen(table, options)
    if not selection.columns:
        skipped = selection.skipped
        why = "; ".join(f"{item.name!r} {item.reason}" for item in skipped) or "all are excluded"
        raise ColumnError(f"no column is left to compare: {why}")
    return selection


def chosen(table: Table, options: Options) -> Selection:
    """Choose the columns to compare, be it none."""
    asked = [column for column in table.columns if is_asked_for(column.name, options)]
    reasons = {column.name: _reason_to_skip(column, options) for column in asked}
    skipped = [item for item in table.skipped if is_asked_for(item.name, options)]
    skipped += [SkippedColumn(name, reason) for name, reason in reasons.items() if reason]
    used = tuple(column for column in asked if not reasons[column.name])
    return Selection(used, tuple(skipped))


def optional(table: Table, options: Options) -> set[str]:
    """Name the columns that a new object need not have: those that are not compared."""
    unasked = {name for name in table.names if not is_asked_for(name, options)}
    return unasked | {c.name for c in table.columns if _is_identifier(c, options)}


def is_asked_for(name: str, options: Options) -> bool:
    """Tell whether the user wants a column compared."""
    return name not in options.exclude and (options.columns is None or name in options.columns)


def _reason_to_skip(column: Column, options: Options) -> str:
    missing = column.missing()
    if missing.all():
        return "has no value in any row"
    if not missing.any() and _is_constant(column):
        return f"has the same value in every row: {text_of(column.value(0))}"
    if _is_identifier(column, options):
        return (
            "is an identifier: (nearly) every row has a text of its own "
            "(declare its type as categorical to use it all the same)"
        )
    return ""


def _is_constant(column: Column) -> bool:
    cells = column.values if isinstance(column, NumericColumn) else column.codes
    return bool((cells == cells[0]).all())


def _is_identifier(column: Column, options: Options) -> bool:
    if not isinstance(column, CategoricalColumn) or column.form != "text":
        return False
    known = int(np.count_nonzero(column.codes >= 0))
    many = known >= IDENTIFIER_ROWS and len(column.labels) > IDENTIFIER_SHARE * known
    return many and column.name not in dict(options.types)
