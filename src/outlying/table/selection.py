"""Which columns take part, and why the others do not: no groups, numbers of rows, copies.

A copy is exact: the same values, the same up to a factor and a shift, other names of the same
categories, or their numbers in the order of the alphabet. One that differs in a single row is a
broken relation, and the best evidence there is.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np

from outlying.errors import ColumnError, Setting
from outlying.options import Options
from outlying.table.columns import CategoricalColumn, Column, NumericColumn
from outlying.table.table import SkippedColumn, SkipReason, Table
from outlying.table.values import TIMES, Codes, Floats, Rows, Value, text_of

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
#: Fewer rows may hold 1, 2, 3, or what goes together, by chance.
LEAST_ROWS = 20
#: Fewer distinct values divide rows into two groups, which several columns may do by chance.
LEAST_VALUES = 3

_NAMED = 5  # columns in a message
_TOLERANCE = 1e-9  # of the range: what rounding may change
_LOOKED_AT = 64  # rows that tell most columns apart
_DIGITS = 6
#: Names that pandas and Arrow give to an index, too; "Unnamed: 2" is a column without a header.
_UNNAMED = re.compile(r" *|Unnamed: 0|__index_level_[0-9]+__")


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Selection:
    """The columns that take part, in the order of the source; others; and what is derived."""

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
        is_constant = len(column) > 0 and not column.is_missing(0) and column.same(0).all()
        only = column.value(0) if is_constant else None
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
    """Return the columns to compare; there may be none. `counting` are known to count rows."""
    declared = options.declared
    used, skipped = [], [item for item in table.skipped if is_asked_for(item.name, options)]
    skipped += [_row_names(name) for name in table.index if is_asked_for(name, options)]
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
    copies = {copy.name: copy for copy in copies_in(others) if copy.name not in declared}
    skipped += [copy.skipped() for copy in copies.values()]
    return Selection(tuple(c for c in others if c.name not in copies), tuple(skipped))


def optional_columns(table: Table, options: Options) -> set[str]:
    """Return the columns that a new object need not have: those that are not compared."""
    declared = options.declared

    def says_nothing(column: Column) -> bool:
        summary, is_declared = ColumnSummary.of(column), column.name in declared
        names_rows = is_unnamed(column.name) and not summary.has_groups
        return is_too_fine(summary, is_declared=is_declared) or (
            not is_declared and (names_rows or counts_rows(column))
        )

    asked = {column.name for column in compared(table, options) if not says_nothing(column)}
    return set(table.names) - asked


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
    """Return whether a column identifies rows, and the user has not declared its type."""
    return not is_declared and (summary.has_too_many_texts or summary.is_identifier)


def skipped_column(
    name: str, summary: ColumnSummary, *, is_declared: bool, is_streamed: bool = False
) -> SkippedColumn | None:
    """Return why a column takes no part; None where it does, as most of a declared type do."""
    if summary.missing == summary.rows:
        return SkippedColumn(name, "is empty in every row", SkipReason.EMPTY)
    if summary.only is not None:
        reason = f"is {text_of(summary.only)} in every row"
        return SkippedColumn(name, reason, SkipReason.CONSTANT)
    if is_unnamed(name) and not is_declared and not summary.has_groups:
        return _row_names(name)
    count = summary.texts or 0
    texts = f"{count:,}" if summary.is_exact else f"about {float(f'{count:.3g}'):,.0f}"
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


# --- columns that name or count the rows ---------------------------------------------------------


def is_unnamed(name: str) -> bool:
    """Return whether a column has no name of its own: that of an index that was written out."""
    return _UNNAMED.fullmatch(name) is not None


def _row_names(name: str) -> SkippedColumn:
    what = "has no name of its own" if is_unnamed(name) else "is the index"
    return SkippedColumn(name, f"{what} and names the rows", SkipReason.ROW_NUMBER)


def row_numbers(name: str) -> SkippedColumn:
    """Say of a column that it counts the rows."""
    return SkippedColumn(name, "counts the rows", SkipReason.ROW_NUMBER)


def may_count_rows(column: Column, rows: int, low: float, high: float) -> bool:
    """Return whether the range of a column is that of row numbers, from 0 or from 1."""
    is_whole = column.is_numeric and column.form == "integer" and column.written is None
    return is_whole and rows >= LEAST_ROWS and low in (0, 1) and high == low + rows - 1


def counts_rows(column: Column) -> bool:
    """Return whether a column holds the numbers of the rows, in whatever order."""
    if not column.is_numeric or column.missing().any() or not len(column):
        return False
    low, high = float(column.values.min()), float(column.values.max())
    if not may_count_rows(column, len(column), low, high):
        return False
    return bool((np.bincount((column.values - low).astype(np.int64)) == 1).all())


@dataclasses.dataclass(frozen=True, slots=True)
class Copy:
    """A column that tells nothing beside another one, and how its cells follow from it."""

    name: str
    original: str
    is_same: bool  # value by value
    factor: float = 1.0
    shift: float = 0.0
    tolerance: float = 0.0
    is_code: bool = False  # whether it numbers the categories of the other one

    def skipped(self) -> SkippedColumn:
        """Say why the column takes no part."""
        original = repr(self.original)
        if self.tolerance:
            reason = f"is {original} on another scale"
        elif self.is_code:
            reason = f"only numbers the texts of {original}"
        elif self.is_same:
            reason = f"holds the same values as {original}"
        else:
            reason = f"says the same as {original} in other words"
        return SkippedColumn(self.name, reason, SkipReason.COPY)

    def holds(self, copy: Column, original: Column) -> bool:
        """Return whether the relation holds in all rows of these columns."""
        gaps = copy.missing()
        if copy.is_numeric and original.is_numeric:
            expected = original.values * self.factor + self.shift
            is_right = np.abs(copy.values - expected) <= self.tolerance
            return bool((is_right | (gaps & original.missing())).all())
        if not np.array_equal(gaps, original.missing()) or original.is_numeric:
            return False
        if copy.is_numeric:
            numbers = _numbers_of(copy, original)
            return numbers is not None and _are_ascending(numbers)
        if self.is_same:
            one, other = (
                np.array([*column.labels, None], dtype=object)[column.codes]
                for column in (copy, original)
            )
            return bool((one == other).all())
        pairs = np.unique(copy.codes.astype(np.int64) * (len(original.labels) + 1) + original.codes)
        return len(pairs) - int(gaps.any()) == len(copy.labels) == len(original.labels)


def copies_in(columns: Sequence[Column], *, are_drawn: bool = False) -> list[Copy]:
    """Return which columns are copies of others (of rows drawn, may be); the first one stays."""
    if not columns or len(columns[0]) < LEAST_ROWS:
        return []
    copies: list[Copy] = []
    left: list[Column] = []
    by_look: dict[object, list[Column]] = {}
    for column in columns:
        key = _key(column)
        alike = [] if key is None else by_look.setdefault(key, [])
        copy = next(filter(None, (_copy_of_its_kind(column, other) for other in alike)), None)
        if copy is None:
            left.append(column)
            alike.append(column)
        else:
            copies.append(copy)
    for column in left:
        if column.is_numeric and column.form == "integer" and column.written is None:
            alike = by_look.get(("text", _look(column.values)), [])
            codes = (_code(column, item, are_drawn) for item in alike if not item.is_numeric)
            copies += [copy for copy in codes if copy is not None][:1]
    return copies


def _key(column: Column) -> object:
    """Return what a column has in common with its copies, on any scale; None: it has no range."""
    if not column.is_numeric:
        return column.form, _look(column.codes)
    low, high = np.fmin.reduce(column.values), np.fmax.reduce(column.values)
    with np.errstate(over="ignore"):
        span = high - low
    if not (low < high and np.isfinite(span)):
        return None
    some = (column.values[_looked_at(len(column))] - low) / span
    ends = np.nan_to_num(np.abs(some - 0.5), nan=-1.0)
    return column.form in TIMES, tuple(np.round(ends, _DIGITS).tolist())


def _looked_at(rows: int) -> Rows:
    return np.linspace(0, rows - 1, _LOOKED_AT).astype(np.int64)


def _look(cells: Codes | Floats) -> tuple[int, ...]:
    """Return how values follow each other in a few rows, whatever they are."""
    number: dict[float, int] = {-1: -1}  # missing; the others in the order in which they appear
    some = np.nan_to_num(cells[_looked_at(len(cells))], nan=-1).tolist()
    return tuple(number.setdefault(value, len(number) - 1) for value in some)


def _copy_of_its_kind(column: Column, original: Column) -> Copy | None:
    """Return how numbers follow from numbers, or categories from categories; None: they do not."""
    same = Copy(column.name, original.name, is_same=True)
    if column.is_numeric and original.is_numeric:
        return same if same.holds(column, original) else _scaled_copy(column, original)
    if column.is_numeric or original.is_numeric:
        return None
    if column.labels == original.labels and same.holds(column, original):
        return same
    renamed = dataclasses.replace(same, is_same=False)
    has_enough = len(column.labels) >= LEAST_VALUES
    return renamed if has_enough and renamed.holds(column, original) else None


def _scaled_copy(column: NumericColumn, original: NumericColumn) -> Copy | None:
    x, y = original.values, column.values
    least, most = int(np.nanargmin(x)), int(np.nanargmax(x))
    factor = (y[most] - y[least]) / (x[most] - x[least])
    if not np.isfinite(factor) or factor == 0:
        return None
    tolerance = _TOLERANCE * abs(float(y[most] - y[least]))
    shift = float(y[least] - factor * x[least])
    copy = Copy(column.name, original.name, False, float(factor), shift, tolerance)
    has_values = ((x != x[least]) & (x != x[most]) & ~np.isnan(x)).any()
    return copy if has_values and copy.holds(column, original) else None


def _code(column: NumericColumn, original: CategoricalColumn, are_drawn: bool) -> Copy | None:
    numbers = None if original.are_of_numbers else _numbers_of(column, original)
    if numbers is None or len(numbers) < LEAST_VALUES:
        return None
    if not (_are_ascending(numbers) if are_drawn else are_codes(numbers)):
        return None
    return Copy(column.name, original.name, is_same=False, is_code=True)


def _numbers_of(column: NumericColumn, texts: CategoricalColumn) -> dict[str, float] | None:
    """Return the number that stands beside each text, in their order; None: several do."""
    if not np.array_equal(column.missing(), texts.missing()):
        return None
    known = texts.codes >= 0
    codes, values = texts.codes[known], column.values[known]
    numbers = np.full(len(texts.labels), np.nan)
    numbers[codes] = values
    if not bool((numbers[codes] == values).all()):
        return None
    pairs = zip(texts.labels, numbers.tolist(), strict=True)
    return {str(text): number for text, number in pairs if not math.isnan(number)}


def _are_ascending(numbers: Mapping[str, float]) -> bool:
    return bool((np.diff([*numbers.values()]) > 0).all())


def are_codes(numbers: Mapping[str, float]) -> bool:
    """Return whether numbers, in the order of their texts, merely count these, from 0 or from 1.

    Not those in another order, as of months, nor those that the texts hold (Grade 3, 3rd).
    """
    values = [*numbers.values()]
    if len(values) < LEAST_VALUES or values[0] not in (0, 1) or (np.diff(values) != 1).any():
        return False
    pairs = numbers.items()
    return not all(re.search(rf"(?<![0-9])0*{n:.0f}(?![0-9])", text) for text, n in pairs)
