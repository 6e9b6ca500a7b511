"""Which columns name the rows of a table: an index, a key, a name; or two that do so together."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from outlying.table.columns import Column
from outlying.table.evidence import is_unnamed
from outlying.table.table import SkippedColumn, SkipReason, Table

#: Fewer rows may differ in a column by chance.
LEAST_ROWS = 20
#: A name that is shared by more than one row in ten is none.
LEAST_DISTINCT = 0.9
_LOOKED_AT = 5_000  # rows that show most columns not to be keys
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
    for some in (slice(0, _LOOKED_AT), slice(0, rows)):
        cells = [
            column.values[some] if column.is_numeric else column.codes[some] for column in columns
        ]
        if len(np.unique(np.stack([np.asarray(own, float) for own in cells]), axis=1).T) < min(
            rows, some.stop
        ):
            return False
    return True
