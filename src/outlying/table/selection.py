"""Which columns take part, and why the others do not."""

from __future__ import annotations

import dataclasses

import numpy as np

from outlying.errors import ColumnError
from outlying.options import Options
from outlying.table.columns import CategoricalColumn, Column, NumericColumn
from outlying.table.table import SkippedColumn, Table
from outlying.table.values import Value, text_of

#: A text column with a larger share of distinct values names rows rather than groups them.
IDENTIFIER_SHARE = 0.9
#: Fewer known values than this say nothing about being an identifier.
IDENTIFIER_ROWS = 20
#: A column with more distinct texts divides rows too finely.
MOST_TEXTS = 100_000


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Selection:
    """The columns that take part, in the order of the source, and those that do not."""

    columns: tuple[Column, ...]
    skipped: tuple[SkippedColumn, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Grounds:
    """What decides whether a column takes part, whoever has counted it."""

    rows: int
    missing: int
    only: Value  # the value of all rows; None: they have several, or not all have one
    texts: int | None  # how many there are; None: the column holds something else
    is_exact: bool = True  # whether they were counted, not estimated


def select(table: Table, options: Options) -> Selection:
    """Choose the columns to compare; an error if none is left."""
    return some(chosen(table, options))


def some(selection: Selection) -> Selection:
    """Refuse a selection without columns."""
    if not selection.columns:
        skipped = selection.skipped
        why = "; ".join(f"{item.name!r} {item.reason}" for item in skipped) or "all are excluded"
        raise ColumnError(f"no column is left to compare: {why}")
    return selection


def chosen(table: Table, options: Options) -> Selection:
    """Choose the columns to compare, be it none."""
    declared = dict(options.types)
    asked = [column for column in table.columns if is_asked_for(column.name, options)]
    reasons = {c.name: reason_to_skip(_grounds(c), c.name in declared) for c in asked}
    skipped = [item for item in table.skipped if is_asked_for(item.name, options)]
    skipped += [SkippedColumn(name, reason) for name, reason in reasons.items() if reason]
    used = tuple(column for column in asked if not reasons[column.name])
    return Selection(used, tuple(skipped))


def optional(table: Table, options: Options) -> set[str]:
    """Name the columns that a new object need not have: those that are not compared."""
    declared = dict(options.types)
    unasked = {name for name in table.names if not is_asked_for(name, options)}
    return unasked | {c.name for c in table.columns if is_too_fine(_grounds(c), c.name in declared)}


def is_asked_for(name: str, options: Options) -> bool:
    """Return whether the user wants a column compared."""
    return name not in options.exclude and (options.columns is None or name in options.columns)


def reason_to_skip(grounds: Grounds, is_declared: bool, *, is_streamed: bool = False) -> str:
    """Say why a column takes no part; nothing where it does.

    A type that the user has declared overrides what is said about texts; but not where the table
    is streamed and counts of so many texts would not fit into memory.
    """
    if grounds.missing == grounds.rows:
        return "has no value in any row"
    if grounds.only is not None:
        return f"has the same value in every row: {text_of(grounds.only)}"
    if is_streamed and is_declared and (grounds.texts or 0) > MOST_TEXTS:
        return (
            f"has {_number(grounds)} distinct texts, too many to compare where the table is "
            f"streamed (at most {MOST_TEXTS:,}, whatever type is declared)"
        )
    return _about_texts(grounds) if is_too_fine(grounds, is_declared) else ""


def _about_texts(grounds: Grounds) -> str:
    if _is_identifier(grounds):
        why = "is an identifier: (nearly) every row has a text of its own"
    else:
        why = f"has {_number(grounds)} distinct texts, too many to compare"
    return f"{why} (declare its type as categorical to use it all the same)"


def _number(grounds: Grounds) -> str:
    if grounds.texts is None or grounds.is_exact:
        return f"{grounds.texts:,}"
    return f"about {float(f'{grounds.texts:.3g}'):,.0f}"


def is_too_fine(grounds: Grounds, is_declared: bool) -> bool:
    """Return whether a column names rows rather than groups them."""
    many = (grounds.texts or 0) > MOST_TEXTS
    return not is_declared and (many or _is_identifier(grounds))


def _is_identifier(grounds: Grounds) -> bool:
    known = grounds.rows - grounds.missing
    return known >= IDENTIFIER_ROWS and (grounds.texts or 0) > IDENTIFIER_SHARE * known


def _grounds(column: Column) -> Grounds:
    missing = int(np.count_nonzero(column.missing()))
    is_constant = missing == 0 and len(column) > 0 and _is_constant(column)
    texts = None
    if isinstance(column, CategoricalColumn) and column.form == "text":
        texts = len(column.labels)
    return Grounds(len(column), missing, column.value(0) if is_constant else None, texts)


def _is_constant(column: Column) -> bool:
    cells = column.values if isinstance(column, NumericColumn) else column.codes
    return bool((cells == cells[0]).all())
