"""From arrays to columns, and from columns to a table: the rules that all sources share.

A source decides what a column holds; what that means for the column is decided here, once, so
that the same values give the same column wherever they come from.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from outlying.errors import ColumnError, SourceError, shown
from outlying.table.columns import (
    CategoricalColumn,
    Column,
    Floats,
    Mask,
    NumericColumn,
    categorical_column,
    frozen,
    integer_column,
)
from outlying.table.table import FrameLibrary, SkippedColumn, Table
from outlying.table.values import LARGEST_EXACT_INTEGER, Form, is_missing, whole_text

_FIRST = 1000  # rows to look at before all


@dataclasses.dataclass(frozen=True, slots=True)
class Reading:
    """What became of one column of the source, and what a reader should know about it."""

    column: Column | SkippedColumn
    note: str | None = None
    """Without the name of the column, which `table_of` puts in front."""

    @property
    def has_gaps(self) -> bool:
        """Return whether a value is missing in the column."""
        column = self.column
        return not isinstance(column, SkippedColumn) and bool(column.missing().any())

    def with_note(self, note: str | None) -> Reading:
        """Add a note to the one there may be."""
        return Reading(self.column, "; ".join(filter(None, (self.note, note))) or None)


def table_of(
    source: str,
    readings: Sequence[Reading],
    notes: Iterable[str] = (),
    frame_library: FrameLibrary = "pandas",
    index: Sequence[Column] = (),
) -> Table:
    """Put the columns together; a table without rows or usable columns is refused.

    `index` are columns that name the rows.
    """
    columns = tuple(r.column for r in readings if not isinstance(r.column, SkippedColumn))
    skipped = tuple(r.column for r in readings if isinstance(r.column, SkippedColumn))
    if not readings:
        raise SourceError(f"{source}: there are no columns; a table needs at least one")
    if not columns:
        reasons = "; ".join(f"{column.name!r} {column.reason}" for column in skipped[:5])
        raise SourceError(f"{source}: no column can be used: {reasons}")
    rows = len(columns[0])
    if rows == 0:
        raise SourceError(f"{source}: there are no rows, only column names")
    said = [f"column {r.column.name!r}: {r.note}" for r in readings if r.note is not None]
    named = tuple(column.name for column in index)
    return Table((*index, *columns), rows, source, skipped, (*notes, *said), frame_library, named)


def unique_names(source: str, names: Iterable[object]) -> list[str]:
    """Turn column names into texts; two columns of one name could not be told apart later."""
    places: dict[str, int] = {}
    for place, name in enumerate((_text(name, str) for name in names), start=1):
        if name in places:
            raise ColumnError(
                f"{source}: columns {places[name]} and {place} are both called {name!r}; "
                "rename one of them, every column needs a name of its own"
            )
        places[name] = place
    return list(places)


def skip(name: str, what: str) -> Reading:
    """Leave a column out because of what it holds."""
    return Reading(skipped(name, what))


def skipped(name: str, what: str) -> SkippedColumn:
    """Say of a column that what it holds cannot be compared."""
    return SkippedColumn(name, f"holds {what}, which cannot be compared")


def read_integers(name: str, values: npt.NDArray[Any], missing: Mask | None = None) -> Reading:
    """Read whole numbers, and say so when they are too long to be quantities."""
    column = integer_column(name, values, missing)
    if column.is_numeric:
        return Reading(column)
    return Reading(column, "whole numbers beyond 2**53 read as categories")


def read_reals(name: str, values: npt.NDArray[Any], missing: Mask | None = None) -> Reading:
    """Read numbers that need not be whole.

    Classic pandas holds whole numbers with gaps as floating point, where Parquet or CSV keep
    whole numbers. For the same answer from all of them, a column with gaps whose known numbers
    are all whole counts as whole numbers, whichever source it comes from. Without gaps the type
    of the source decides: there, no library needs to change it.
    """
    return read_own_reals(name, _with_gaps(values, missing))


def read_own_reals(name: str, numbers: Floats) -> Reading:
    """Read numbers from an array that nobody else has, NaN where one is missing."""
    return Reading(NumericColumn(name, _form_of_reals(numbers), frozen(numbers)))


def _form_of_reals(numbers: Floats) -> Form:
    gaps = np.isnan(numbers)
    if not gaps.any() or not _are_whole(numbers[:_FIRST]):
        return "number"
    known = numbers[~gaps]
    if len(known) == 0 or np.abs(known).max() > LARGEST_EXACT_INTEGER:
        return "number"
    return "integer" if _are_whole(known) else "number"


def _are_whole(numbers: Floats) -> bool:
    """Return whether all numbers are whole, those that are missing apart."""
    return bool(np.all((numbers == np.floor(numbers)) | np.isnan(numbers)))


def read_labels(
    name: str, values: Iterable[object], missing: Mask | None = None, form: Form = "text"
) -> Reading:
    """Read categories; those that are no texts (say, the numbers of a Categorical) become some."""
    cells = list(values)
    if missing is not None:
        for row in np.flatnonzero(missing):
            cells[row] = None
    kind = bool if form == "boolean" else str
    labels = _distinct(cells, kind)
    if labels is None:
        cells = [None if is_missing(cell) else _text(cell, kind) for cell in cells]
        labels = {cell: cell for cell in cells}
    return Reading(categorical_column(name, cells, form, labels))


def _text(cell: Any, kind: type) -> Any:
    """Turn what is no text into one, whatever its class makes of that."""
    if isinstance(cell, int) and kind is str and not isinstance(cell, bool):
        return whole_text(cell)
    try:
        return kind(cell)
    except Exception:  # a class of the user's
        return shown(cell)


def read_coded(name: str, codes: npt.NDArray[Any], labels: list[Any]) -> Reading:
    """Read texts that come as codes into distinct labels; -1 is missing."""
    if not all(type(label) is str for label in labels):
        return read_labels(name, np.array([*labels, None], dtype=object)[codes].tolist())
    ordered = sorted(labels)
    place = {label: number for number, label in enumerate(ordered)}
    ranks = np.array([*(place[label] for label in labels), -1], dtype=np.int32)
    return Reading(CategoricalColumn(name, "text", frozen(ranks[codes]), tuple(ordered)))


def _distinct(cells: list[object], kind: type) -> dict[Any, Any] | None:
    """Return the label of each distinct cell, None where it is missing.

    Nothing where cells are of other types: 1, 1.0 and True are equal, but not the same label.
    """
    try:
        labels = {cell: None if is_missing(cell) else cell for cell in set(cells)}
    except Exception:  # not hashable, or whatever a class of the user's raises
        return None
    return labels if all(type(x) is kind for x in labels.values() if x is not None) else None


def read_form(
    name: str, form: Form, values: npt.NDArray[Any], missing: Mask | None = None
) -> Reading:
    """Read numbers that are already what the core computes with for this form."""
    return Reading(NumericColumn(name, form, frozen(_with_gaps(values, missing))))


def _with_gaps(values: npt.NDArray[Any], missing: Mask | None) -> Floats:
    with np.errstate(over="ignore"):  # a longer number may be beyond these: it becomes infinite
        numbers = np.array(values, dtype=np.float64)
    if missing is not None:
        numbers[missing] = np.nan
    return numbers
