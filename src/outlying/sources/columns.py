"""From Arrow arrays to columns, and from columns to a table: the rules that all sources share.

A source brings Arrow arrays; what that means for a column is decided here, once, so that the same
values give the same column wherever they come from.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from outlying.errors import ColumnError, SourceError, shown
from outlying.parallel import thread_map, usable_workers
from outlying.parsing.plain import TEXT, PlainTally, decide
from outlying.sources import arrow_types as types
from outlying.table.columns import (
    Column,
    Floats,
    NumericColumn,
    frozen,
    integer_column,
)
from outlying.table.table import FrameLibrary, SkippedColumn, Table
from outlying.table.values import LARGEST_EXACT_INTEGER, TIMES, Form, text_of, whole_text

NO_HEADER = "no header line found: columns are named column0, column1, ..."

_FIRST = 1000  # rows to look at before all
_MANY = 100_000  # cells that are worth several threads


@dataclasses.dataclass(frozen=True, slots=True)
class Reading:
    """What became of one column of the source, and what a reader should know about it."""

    column: Column | SkippedColumn
    note: str | None = None
    """Without the name of the column, which `table_of` puts in front."""


@dataclasses.dataclass(frozen=True, slots=True)
class Made:
    """An array that is to become a column, and what a reader should know about it."""

    array: Any
    note: str | None = None
    are_keys: bool = False  # texts that are whole numbers, too long for quantities


def read_all(
    columns: dict[str, Made | str], *, knows_types: bool | None = None, commas: bool = False
) -> list[Reading]:
    """Read columns, by several threads where they are large; a text says why one cannot be used.

    A table that holds nothing but texts knows no types: they are found in the texts, unless the
    source says otherwise. Arrays go when their columns are there: `columns` is empty then.
    """
    if knows_types is None:
        knows_types = not all(map(is_of_texts, columns.values()))
    texts = [] if knows_types else [name for name, made in columns.items() if is_of_texts(made)]
    cells = sum(len(made.array) for made in columns.values() if isinstance(made, Made))
    threads = min(usable_workers(None), len(columns)) if cells > _MANY else 1

    def read_one(name: str) -> Reading:
        made = columns.pop(name)
        if isinstance(made, str):
            return Reading(skipped(name, made))
        kind = kinds.get(name, TEXT)
        array = kind.read(made.array)
        note, are_keys = made.note, made.are_keys or kind.are_keys
        del made
        reading = from_arrow(name, array, are_keys=are_keys)
        notes = dict.fromkeys((note, reading.note, kind.note))
        return Reading(reading.column, "; ".join(filter(None, notes)) or None)

    with thread_map(max(1, threads)) as mapped:
        tallies = list(mapped(lambda name: PlainTally.of(columns[name].array), texts))  # type: ignore[union-attr]
        kinds = dict(zip(texts, decide(tallies, commas=commas), strict=True))
        return list(mapped(read_one, list(columns)))


def is_of_texts(made: Made | str) -> bool:
    """Return whether an array holds texts of which nothing is known: mixed values were typed."""
    if isinstance(made, str) or made.are_keys or made.note is not None:
        return False
    return types.is_plain_text(made.array.type)


def from_arrow(name: str, array: types.Array, *, are_keys: bool = False) -> Reading:
    """Make a column of an Arrow array: the one place that decides what its type means.

    `are_keys`: texts are whole numbers, too long for quantities.
    """
    form = types.form_of(array.type)
    if form == "integer":
        column = integer_column(name, *types.whole(array))
        note = None if column.is_numeric else "whole numbers beyond 2**53 read as categories"
        return Reading(column, note)
    if form == "number":
        numbers = types.numbers(array, "number")
        return Reading(NumericColumn(name, _form_of_reals(numbers), frozen(numbers)))
    if form in TIMES:
        return Reading(NumericColumn(name, form, frozen(types.numbers(array, form))))
    if form in ("text", "boolean"):
        column = types.categories(array, form).column(name)  # type: ignore[arg-type]
        return Reading(dataclasses.replace(column, are_of_numbers=are_keys))
    return Reading(skipped(name, form))


def _form_of_reals(numbers: Floats) -> Form:
    """Return whether numbers that need not be whole count as whole ones.

    Classic pandas holds whole numbers with gaps as floating point, where Parquet or CSV keep
    whole numbers. For the same answer from all of them, a column with gaps whose known numbers
    are all whole counts as whole numbers, whichever source it comes from. Without gaps the type
    of the source decides: there, no library needs to change it.
    """
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
    left_out = tuple(r.column for r in readings if isinstance(r.column, SkippedColumn))
    if not readings:
        raise SourceError(f"{source}: there are no columns; a table needs at least one")
    if not columns:
        reasons = "; ".join(f"{column.name!r} {column.reason}" for column in left_out[:5])
        raise SourceError(f"{source}: no column can be used: {reasons}")
    rows = len(columns[0])
    if rows == 0:
        raise SourceError(f"{source}: there are no rows, only column names")
    said = [f"column {r.column.name!r}: {r.note}" for r in readings if r.note is not None]
    named = tuple(column.name for column in index)
    return Table((*index, *columns), rows, source, left_out, (*notes, *said), frame_library, named)


_TOTALS = re.compile(
    r"(?:grand |sub)?totals?|sums?|gesamt(?:summe)?|summe|total (?:general|général)|totale|totaal|"
    r"suma|итого"
)
_LEAST_SUMMANDS = 3


def without_totals(table: Table) -> Table:
    """Leave out a last row that adds up those above it: a word says so, and a column of numbers."""
    last = table.rows - 1
    if last < _LEAST_SUMMANDS:
        return table
    texts = ((column.name, column.value(last)) for column in table.columns)
    named = [(name, x) for name, x in texts if isinstance(x, str) and _is_word_for_totals(x)]
    sums = [column for column in table.columns if _adds_up(column, last)]
    if not named or not sums:
        return table
    rows = np.arange(last)
    cells = f"{sums[0].name} = {text_of(sums[0].value(last))}"
    note = f"the last row left out, as it holds totals: {named[0][0]} = {named[0][1]!r}, {cells}"
    columns = tuple(column.taken(rows) for column in table.columns)
    return dataclasses.replace(table, columns=columns, rows=last, notes=(*table.notes, note))


def _is_word_for_totals(text: str) -> bool:
    return _TOTALS.fullmatch(text.strip(" :*").casefold()) is not None


def _adds_up(column: Column, last: int) -> bool:
    """Return whether the last number is the sum of all others, but for rounding."""
    if not column.is_numeric or column.form not in ("number", "integer"):
        return False
    known = column.values[:last][np.isfinite(column.values[:last])]
    least = np.abs(known).sum() * 1e-9
    has_summands = np.count_nonzero(known) >= _LEAST_SUMMANDS
    return bool(has_summands and abs(column.values[last] - known.sum()) <= max(least, 1e-9))


def unique_names(source: str, names: Iterable[object]) -> list[str]:
    """Turn column names into texts; two columns of one name could not be told apart later."""
    places: dict[str, int] = {}
    for place, name in enumerate(map(text_of_any, names), start=1):
        if name in places:
            raise ColumnError(
                f"{source}: columns {places[name]} and {place} are both called {name!r}; "
                "rename one of them, every column needs a name of its own"
            )
        places[name] = place
    return list(places)


def text_of_any(cell: Any) -> str:
    """Turn what is no text into one, whatever its class makes of that."""
    if isinstance(cell, int) and not isinstance(cell, bool):
        return whole_text(cell)
    try:
        return str(cell)
    except Exception:  # a class of the user's
        return shown(cell)


def skipped(name: str, what: str) -> SkippedColumn:
    """Say of a column that what it holds cannot be compared."""
    return SkippedColumn(name, f"holds {what}, which cannot be compared")
