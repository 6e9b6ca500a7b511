"""Columns that are no evidence: names and numbers of rows, copies, labels of rows asked for.

A copy is exact: the same values, the same up to a factor and a shift, other names of the same
categories, or their numbers in the order of the alphabet. One that differs in a single row is a
broken relation, and the best evidence there is. A label is handed over with the table and seems to
say which rows are asked for; a column in which one row differs from all others may be one, too.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from outlying.table.columns import CategoricalColumn, Column, NumericColumn
from outlying.table.table import SkippedColumn, SkipReason, Table
from outlying.table.values import TIMES, Codes, Floats, Rows

#: Fewer rows may hold 1, 2, 3, or what goes together, by chance.
LEAST_ROWS = 20
#: Fewer distinct values divide rows into two groups, which several columns may do by chance.
LEAST_VALUES = 3

_TOLERANCE = 1e-9  # of the range: what rounding may change
_LOOKED_AT = 64  # rows that tell most columns apart
_DIGITS = 6
#: Names that pandas and Arrow give to an index, too; "Unnamed: 2" is a column without a header.
_UNNAMED = re.compile(r" *|Unnamed: 0|__index_level_[0-9]+__")
#: A single row may be the only one with a value; that is a finding, not a label.
_LEAST_LABELLED = 2


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


def row_numbers(name: str) -> SkippedColumn:
    """Say of a column that it counts the rows."""
    return SkippedColumn(name, "counts the rows", SkipReason.ROW_NUMBER)


def is_unnamed(name: str) -> bool:
    """Return whether a column has no name of its own: that of an index that was written out."""
    return _UNNAMED.fullmatch(name) is not None


def row_names(name: str) -> SkippedColumn:
    """Say of a column that it names the rows."""
    what = "has no name of its own" if is_unnamed(name) else "is the index"
    return SkippedColumn(name, f"{what} and names the rows", SkipReason.ROW_NUMBER)


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
        said = (
            "holds the same values as {}" if self.is_same else "says the same as {} in other words"
        )
        if self.tolerance:
            said = "is {} on another scale"
        if self.is_code:
            said = "only numbers the texts of {}"
        return SkippedColumn(self.name, said.format(repr(self.original)), SkipReason.COPY)

    def holds(self, copy: Column, original: Column) -> bool:
        """Return whether the relation holds in all rows of these columns."""
        if copy.is_numeric and original.is_numeric:
            expected = original.values * self.factor + self.shift
            differs = ~(np.abs(copy.values - expected) <= self.tolerance)
            return not (differs & ~(copy.missing() & original.missing())).any()
        if copy.is_numeric and not original.is_numeric:
            numbers = _numbers_of(copy, original) if self.is_code else None
            return numbers is not None and _are_ordered([*numbers.values()])
        if copy.is_numeric or original.is_numeric:
            return False
        if not np.array_equal(copy.missing(), original.missing()):
            return False
        if self.is_same:
            return bool((_labels_of(copy) == _labels_of(original)).all())
        return _are_renamed(copy, original)


def _labels_of(column: CategoricalColumn) -> np.ndarray[tuple[int], np.dtype[np.object_]]:
    return np.array([*column.labels, None], dtype=object)[column.codes]


def _are_renamed(one: CategoricalColumn, other: CategoricalColumn) -> bool:
    pairs = np.unique(one.codes.astype(np.int64) * (len(other.labels) + 1) + other.codes)
    known = len(pairs) - int(bool(one.missing().any()))
    return known == len(one.labels) == len(other.labels)


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


def _are_ordered(numbers: Sequence[float]) -> bool:
    return bool((np.diff(numbers) > 0).all())


def are_codes(numbers: Mapping[str, float]) -> bool:
    """Return whether numbers, in the order of their texts, merely count these, from 0 or from 1.

    Numbers in another order, as those of months, say more than the texts do. So do those that the
    texts hold themselves (Grade 3, 3rd): that the alphabet has the same order is no accident.
    """
    values = [*numbers.values()]
    if len(values) < LEAST_VALUES or values[0] not in (0, 1) or (np.diff(values) != 1).any():
        return False
    return not all(_is_in(number, text) for text, number in numbers.items())


def _is_in(number: float, text: str) -> bool:
    return re.search(rf"(?<![0-9])0*{number:.0f}(?![0-9])", text) is not None


def copies_in(columns: Sequence[Column], *, are_drawn: bool = False) -> list[Copy]:
    """Return which columns are copies of others; of each kind the first in the table stays.

    Of rows that were `drawn` from a larger table, which may be.
    """
    if not columns or len(columns[0]) < LEAST_ROWS:
        return []
    found = _copies_of_their_kind(columns)
    names = {copy.name for copy in found}
    left = [column for column in columns if column.name not in names]
    originals: dict[object, list[CategoricalColumn]] = {}
    for column in left:
        if not column.is_numeric and column.form == "text" and not column.are_of_numbers:
            originals.setdefault(_look(column.codes), []).append(column)
    for column in left:
        if column.is_numeric and column.form == "integer" and column.written is None:
            alike = originals.get(_look(column.values), [])
            codes = (_code(column, item, are_drawn) for item in alike)
            found += [copy for copy in codes if copy is not None][:1]
    return found


def _code(column: NumericColumn, original: CategoricalColumn, are_drawn: bool) -> Copy | None:
    """Return that a column numbers the texts of another one; None: it does not."""
    numbers = _numbers_of(column, original)
    if numbers is None or len(numbers) < LEAST_VALUES:
        return None
    if not (_are_ordered([*numbers.values()]) if are_drawn else are_codes(numbers)):
        return None
    return Copy(column.name, original.name, is_same=False, is_code=True)


def _copies_of_their_kind(columns: Sequence[Column]) -> list[Copy]:
    """Return which numbers are copies of numbers, and categories of categories."""
    copies: list[Copy] = []
    groups: dict[object, list[Column]] = {}
    for column in columns:
        key = _key(column)
        originals = [] if key is None else groups.setdefault(key, [])
        copy = next(filter(None, (_copy(column, item) for item in originals)), None)
        if copy is None:
            originals.append(column)
        else:
            copies.append(copy)
    return copies


def _key(column: Column) -> object:
    """Return what a column has in common with its copies, from a few rows; None: it has no range.

    Numbers are scaled to between 0 and 1, and may have either sign.
    """
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


def _copy(column: Column, original: Column) -> Copy | None:
    """Return how a column follows from another one; None: it does not."""
    if column.is_numeric and original.is_numeric:
        return _scaled_copy(column, original)
    if column.is_numeric or original.is_numeric:
        return None
    is_same = column.labels == original.labels
    if not is_same and len(column.labels) < LEAST_VALUES:
        return None
    copy = Copy(column.name, original.name, is_same)
    if is_same and not copy.holds(column, original):
        copy = dataclasses.replace(copy, is_same=False)
    enough = copy.is_same or len(column.labels) >= LEAST_VALUES
    return copy if enough and copy.holds(column, original) else None


def _scaled_copy(column: NumericColumn, original: NumericColumn) -> Copy | None:
    same = Copy(column.name, original.name, is_same=True)
    if same.holds(column, original):
        return same
    x, y = original.values, column.values
    least, most = int(np.nanargmin(x)), int(np.nanargmax(x))
    factor = (y[most] - y[least]) / (x[most] - x[least])
    if not np.isfinite(factor) or factor == 0:
        return None
    slack = _TOLERANCE * abs(float(y[most] - y[least]))
    shift = float(y[least] - factor * x[least])
    copy = Copy(column.name, original.name, False, float(factor), shift, slack)
    has_values = ((x != x[least]) & (x != x[most]) & ~np.isnan(x)).any()
    return copy if has_values and copy.holds(column, original) else None


# --- labels of the rows asked for ----------------------------------------------------------------


def label_columns(table: Table, rows: list[int] | None) -> tuple[str, ...]:
    """Return the columns of two values of which the rarer one is that of exactly these rows."""
    asked = np.unique(np.array(rows or (), dtype=np.int64))
    if not _LEAST_LABELLED <= len(asked) < table.rows / 2:
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
    usual = 1 if few.same(1).sum() > 1 else 0
    for some in (few, column):
        others = np.flatnonzero(~some.same(usual))
        if len(others) > 1:
            return None
    return int(others[0]) if len(others) else None


# --- names of rows -------------------------------------------------------------------------------

#: A name that is shared by more than one row in ten is none.
LEAST_DISTINCT = 0.9
_FIRST_ROWS = 5_000  # rows that show most columns not to be keys
_KEY_DIGITS = 4
_MOST_PAIRED = 6  # columns of which two may name rows together
_KEY = re.compile(
    r"(^|[ _.-])(id|key|code|name|no|nr|num|number|uuid|ref)$|[a-z](Id|ID|No|Nr)$", re.A
)


def naming_columns(table: Table, skipped: Sequence[SkippedColumn]) -> tuple[str, ...]:
    """Return the columns whose values name a row of a table in memory; none where nothing does.

    An index comes first; then a text that is different in (nearly) every row; then whole numbers
    that are, if they are called a key, or come first and are equally long; then numbers that count
    the rows; then a category and a moment or a whole number, such as country and year, that name
    rows together.
    """
    if table.index:
        return table.index
    names = set(table.names)
    why = {item.name: item.why for item in skipped if item.name in names}
    texts = [name for name in table.names if why.get(name) is SkipReason.IDENTIFIER]
    if texts:
        return (min(texts, key=lambda name: _KEY.search(name) is None),)
    if table.rows < LEAST_ROWS:
        return tuple(name for name in table.names if why.get(name) is SkipReason.ROW_NUMBER)[:1]
    for place, column in enumerate(table.columns):
        is_called_so = _KEY.search(column.name) is not None and not is_unnamed(column.name)
        may_be_key = is_called_so or (place == 0 and _are_as_long(column))
        if may_be_key and _is_whole(column) and _are_nearly_distinct(column):
            return (column.name,)
    counted = [name for name in table.names if why.get(name) is SkipReason.ROW_NUMBER]
    return tuple(counted[:1]) or _named_together(table)


def _named_together(table: Table) -> tuple[str, ...]:
    first = table.columns[:_MOST_PAIRED]
    texts = [column for column in first if not column.is_numeric and column.form == "text"]
    moments = [
        column for column in first if _is_whole(column) or column.form in ("date", "datetime")
    ]
    for text in texts:
        for moment in moments:
            if _are_distinct([text, moment]):
                return text.name, moment.name
    return ()


def _are_as_long(column: Column) -> bool:
    """Return whether all numbers have as many digits, as those that are given to things do."""
    if not _is_whole(column) or not column.is_numeric:
        return False
    low, high = float(np.nanmin(column.values)), float(np.nanmax(column.values))
    return low >= 1 and len(f"{low:.0f}") == len(f"{high:.0f}") >= _KEY_DIGITS


def _is_whole(column: Column) -> bool:
    return column.is_numeric and column.form == "integer"


def _are_nearly_distinct(column: Column) -> bool:
    """Return whether hardly two rows hold the same number: a key may be given twice by mistake."""
    if not column.is_numeric or bool(column.missing().any()):
        return False
    return len(np.unique(column.values)) >= LEAST_DISTINCT * len(column)


def _are_distinct(columns: Sequence[Column]) -> bool:
    """Return whether no two rows hold the same values, and none lacks one."""
    if any(bool(column.missing().any()) for column in columns):
        return False
    rows = len(columns[0])
    for some in (slice(0, _FIRST_ROWS), slice(0, rows)):
        cells = [
            column.values[some] if column.is_numeric else column.codes[some] for column in columns
        ]
        if len(np.unique(np.stack([np.asarray(own, float) for own in cells]), axis=1).T) < min(
            rows, some.stop
        ):
            return False
    return True
