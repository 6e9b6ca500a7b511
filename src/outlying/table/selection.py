"""Which columns take part, and why the others do not."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Iterator

import numpy as np

from outlying.errors import ColumnError, Setting
from outlying.options import Options
from outlying.table.columns import Column
from outlying.table.evidence import (
    Copy,
    copies_in,
    counts_rows,
    is_unnamed,
    row_names,
    row_numbers,
)
from outlying.table.table import SkippedColumn, SkipReason, Table
from outlying.table.values import Value, text_of

#: A text column with a larger share of distinct values identifies rows rather than groups them.
IDENTIFIER_SHARE = 0.9
#: Fewer known values than this say nothing about being an identifier.
IDENTIFIER_ROWS = 20
#: A column with more distinct texts divides rows too finely.
MOST_TEXTS = 100_000
#: More columns than this are not compared: time and memory grow with the square of their number.
MOST_COLUMNS = 1_000
#: Of more columns it is not even found out whether some say nothing and need not be compared.
MOST_ASKED = 5_000
#: More columns than this are not read from a file of delimited text.
MOST_FIELDS = 10_000

_NAMED = 5  # columns in a message


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Selection:
    """The columns that take part, in the order of the source, and those that do not.

    Of columns that do not, parts may: `derived` are computed from others (`derived`).
    """

    columns: tuple[Column, ...]
    skipped: tuple[SkippedColumn, ...]
    derived: tuple[Column, ...] = ()

    @property
    def parts(self) -> tuple[Column, ...]:
        """What is derived from single columns."""
        return tuple(item for item in self.derived if item.origin and not item.origin.given)

    @property
    def relations(self) -> tuple[Column, ...]:
        """What columns say of others."""
        return tuple(item for item in self.derived if item.origin and item.origin.given)


@dataclasses.dataclass(frozen=True, slots=True)
class ColumnSummary:
    """What decides whether a column takes part, counted in memory or over a stream."""

    rows: int
    missing: int
    only: Value  # the value of all rows; None where they differ, or not all have one
    texts: int | None  # how many distinct ones; None where the column holds no texts
    is_exact: bool = True  # whether the texts were counted, not estimated

    @classmethod
    def of(cls, column: Column) -> ColumnSummary:
        """Summarise a column in memory."""
        missing = int(np.count_nonzero(column.missing()))
        only = column.value(0) if column.is_constant() else None
        texts = None if column.is_numeric or column.form != "text" else len(column.labels)
        return cls(len(column), missing, only, texts)

    @property
    def is_identifier(self) -> bool:
        """Whether (nearly) every row has a text of its own."""
        known = self.rows - self.missing
        return known >= IDENTIFIER_ROWS and (self.texts or 0) > IDENTIFIER_SHARE * known

    @property
    def has_groups(self) -> bool:
        """Whether rows share texts, which then are no names of theirs."""
        is_known = self.texts is not None and self.rows - self.missing >= IDENTIFIER_ROWS
        return is_known and not self.is_identifier

    @property
    def has_too_many_texts(self) -> bool:
        """Whether there are more distinct texts than a column can be compared by."""
        return (self.texts or 0) > MOST_TEXTS

    @property
    def texts_in_words(self) -> str:
        """The number of distinct texts; where estimated, with three digits."""
        count = self.texts or 0
        return f"{count:,}" if self.is_exact else f"about {float(f'{count:.3g}'):,.0f}"


def select(table: Table, options: Options) -> Selection:
    """Return the columns to compare; an error if none is left."""
    return not_empty(select_any(table, options))


def not_empty(selection: Selection) -> Selection:
    """Refuse a selection without columns."""
    if not selection.columns and not selection.derived:
        skipped = selection.skipped
        named = [f"{item.name!r} {item.reason}" for item in skipped[:_NAMED]]
        if len(skipped) > _NAMED:
            named.append(f"{len(skipped) - _NAMED:,} more")
        raise ColumnError(f"no column is left to compare: {'; '.join(named) or 'all are excluded'}")
    return selection


def check_width(columns: int, most: int = MOST_COLUMNS) -> None:
    """Refuse more columns than can be compared in reasonable time and memory."""
    if columns > most:
        raise ColumnError(
            f"{columns:,} columns would be compared; at most {most:,} can be: choose some with ",
            Setting("columns"),
            ", or leave some out with ",
            Setting("exclude"),
        )


def select_any(
    table: Table, options: Options, counting: Collection[str] | None = None
) -> Selection:
    """Return the columns to compare; there may be none.

    `counting` are those that count the rows, where a new object among these is not to decide it.
    """
    declared = options.declared
    used, skipped = [], [item for item in table.skipped if is_asked_for(item.name, options)]
    skipped += [row_names(name) for name in table.index if is_asked_for(name, options)]
    for column in compared(table, options):
        summary = ColumnSummary.of(column)
        skip = skipped_column(column.name, summary, is_declared=column.name in declared)
        if skip is None:
            used.append(column)
        else:
            skipped.append(skip)
    if counting is None:
        counting = {column.name for column in used if counts_rows(column)} - declared
        counting = set() if len(counting) == len(used) else counting  # what else is there?
    others = [column for column in used if column.name not in counting]
    skipped += [row_numbers(column.name) for column in used if column.name in counting]
    return without_copies(Selection(tuple(others), tuple(skipped)), copies_in(others), options)


def without_copies(selection: Selection, copies: Iterable[Copy], options: Options) -> Selection:
    """Leave out columns that say nothing beside others, but not those whose type is declared."""
    declared = options.declared
    found = {copy.name: copy.skipped() for copy in copies if copy.name not in declared}
    used = tuple(column for column in selection.columns if column.name not in found)
    return dataclasses.replace(
        selection, columns=used, skipped=(*selection.skipped, *found.values())
    )


def optional_columns(table: Table, options: Options) -> set[str]:
    """Return the columns that a new object need not have: those that are not compared."""
    declared = options.declared
    asked = list(compared(table, options))
    unasked = set(table.names).difference(column.name for column in asked)
    return unasked | {
        column.name
        for column in asked
        if is_too_fine(ColumnSummary.of(column), is_declared=column.name in declared)
        or (column.name not in declared and (_names_rows(column) or counts_rows(column)))
    }


def _names_rows(column: Column) -> bool:
    return is_unnamed(column.name) and not ColumnSummary.of(column).has_groups


def compared(table: Table, options: Options) -> Iterator[Column]:
    """Return the columns that are compared if they say anything: not the index."""
    return (column for column in table.columns if is_compared(column.name, table, options))


def is_compared(name: str, table: Table, options: Options) -> bool:
    """Return whether a column is compared if it says anything."""
    return name not in table.index and is_asked_for(name, options)


def is_asked_for(name: str, options: Options) -> bool:
    """Return whether the user wants a column compared."""
    return name not in options.exclude and (options.columns is None or name in options.columns)


def is_too_fine(summary: ColumnSummary, *, is_declared: bool) -> bool:
    """Return whether a column identifies rows rather than groups them.

    Not where the user has declared its type.
    """
    return not is_declared and (summary.has_too_many_texts or summary.is_identifier)


def skipped_column(
    name: str, summary: ColumnSummary, *, is_declared: bool, is_streamed: bool = False
) -> SkippedColumn | None:
    """Return why a column takes no part; None where it does.

    A type that the user has declared overrides what is said about texts; but not where the table
    is streamed and counts of so many texts would not fit into memory.
    """
    texts = summary.texts_in_words
    if summary.missing == summary.rows:
        return SkippedColumn(name, "is empty in every row", SkipReason.EMPTY)
    if summary.only is not None:
        reason = f"is {text_of(summary.only)} in every row"
        return SkippedColumn(name, reason, SkipReason.CONSTANT)
    if is_unnamed(name) and not is_declared and not summary.has_groups:
        return row_names(name)
    is_many = summary.has_too_many_texts and (is_declared or not summary.is_identifier)
    if is_streamed and is_many:
        reason = (
            f"has {texts} different texts, too many to compare in a stream (at most "
            f"{MOST_TEXTS:,}, whatever type is declared)"
        )
        return SkippedColumn(name, reason, SkipReason.TOO_MANY_IN_STREAM)
    if not is_too_fine(summary, is_declared=is_declared):
        return None
    if summary.is_identifier:
        nearly = "" if summary.texts == summary.rows - summary.missing else "nearly "
        return SkippedColumn(name, f"differs in {nearly}every row", SkipReason.IDENTIFIER)
    reason = f"has {texts} different texts, too many to compare"
    return SkippedColumn(name, reason, SkipReason.TOO_MANY_TEXTS)
